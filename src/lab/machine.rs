//! The machines behind the nodes.

use crate::domain::object::Os;
use crate::domain::{Name, Timestamp};
use chrono::TimeDelta;
use std::net::Ipv4Addr;

/// The machine behind a node: what it is, and how it stands at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Name of the Node object.
    pub name: Name,
    /// `InternalIP`.
    pub address: Ipv4Addr,
    /// Operating system.
    pub os: Os,
    /// Logical CPUs.
    pub cpus: u32,
    /// RAM in bytes.
    pub memory_bytes: u64,
    /// Commit limit in bytes: RAM plus page file; only Windows has one.
    pub commit_limit_bytes: u64,
    /// When it joined the cluster: the creation time of its Node object, which a real API server overrides.
    pub joined_at: Timestamp,
    /// Runs the control plane.
    pub control_plane: bool,
    /// First three bytes of its pods' addresses.
    pub pod_subnet: [u8; 3],
    /// Most pods it takes.
    pub max_pods: u32,
    /// Its last boot.
    pub boot: Boot,
    /// How much of it runs.
    pub stage: Stage,
    /// The bad luck that waits in it.
    pub armed: Armed,
    /// Updates are installed and take effect with a restart that the node is told to make (`RebootRequired`).
    pub reboot_required: bool,
    /// `shutdown.exe /r /t` was called: it restarts then.
    pub restarts_at: Option<Timestamp>,
}

/// A boot of a machine, and what is as it is since then.
#[derive(Clone, Debug, PartialEq)]
pub struct Boot {
    /// `status.nodeInfo.bootID`: a counter on Windows, a UUID on Linux.
    pub id: Name,
    /// `status.nodeInfo.kernelVersion`: an update takes effect with a boot.
    pub kernel_version: Name,
    /// When the operating system started.
    pub at: Timestamp,
    /// When containerd started.
    pub containerd_at: Timestamp,
    /// When the kubelet started.
    pub kubelet_at: Timestamp,
    /// The power had gone before it, without a shutdown: what ran then cannot be removed before the next boot.
    pub after_power_cut: bool,
}

impl Boot {
    /// A boot on a fast disk after a proper shutdown: containerd 3 s, the kubelet 5 s after it.
    pub fn proper(id: impl Into<Name>, kernel_version: impl Into<Name>, at: Timestamp) -> Self {
        Self {
            id: id.into(),
            kernel_version: kernel_version.into(),
            at,
            containerd_at: at + TimeDelta::seconds(3),
            kubelet_at: at + TimeDelta::seconds(5),
            after_power_cut: false,
        }
    }
}

/// How much of a machine runs; a later stage has what the earlier ones have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Off or booting: nothing answers, no container runs, the kubelet is silent.
    Down,
    /// The kubelet reports and starts pods, but on Windows the HostProcess pods, and with them the pod network, are
    /// not back yet: a sandbox that is created now stays without network.
    Reporting,
    /// Everything runs.
    Up,
}

/// What will go wrong on a machine, until its next restart is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Armed {
    /// Its next start of containerd and kubelet takes a quarter of an hour.
    pub slow_disk: bool,
    /// Sandboxes of deleted pods cannot be removed.
    pub stuck_deletions: bool,
    /// A program logs 10 MB a second.
    pub flood: bool,
}
