//! A pod, with what the program shows or decides on and nothing more.

use super::object::Os;
use super::{Name, Timestamp};
use std::net::IpAddr;

/// A pod row, about 1 KB with its containers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    /// `metadata.uid`.
    pub uid: Name,
    /// Namespace.
    pub namespace: Name,
    /// Name.
    pub name: Name,
    /// `spec.nodeName`; `None` while Pending.
    pub node: Option<Name>,
    /// `spec.os.name`, where the pod says it.
    pub os: Option<Os>,
    /// `status.phase`.
    pub phase: Phase,
    /// The word in kubectl's STATUS column (`Running`, `Init:0/2`, `CrashLoopBackOff`, `Terminating`, …).
    pub state: Name,
    /// `status.reason` (`Evicted`, `NodeLost`, …), empty if none.
    pub reason: Name,
    /// Ready containers, sidecars included as kubectl counts them.
    pub ready: u16,
    /// Containers in READY's denominator.
    pub ready_of: u16,
    /// Restarts as kubectl counts them.
    pub restarts: u32,
    /// When the newest restart happened.
    pub last_restart_at: Option<Timestamp>,
    /// `metadata.creationTimestamp`.
    pub created_at: Option<Timestamp>,
    /// `status.startTime`.
    pub started_at: Option<Timestamp>,
    /// `metadata.deletionTimestamp`.
    pub deleted_at: Option<Timestamp>,
    /// `status.podIP`.
    pub ip: Option<IpAddr>,
    /// Controlling owner.
    pub owner: Option<Owner>,
    /// HostProcess pod (`windowsOptions.hostProcess`, pod or any container).
    pub host_process: bool,
    /// `kubernetes.io/config.mirror`: a static pod's mirror.
    pub mirror: bool,
    /// Has an emptyDir volume: its data is lost when the pod leaves the node.
    pub empty_dir: bool,
    /// `spec.runtimeClassName`.
    pub runtime_class: Option<Name>,
    /// Names of the claims (PVC) it mounts.
    pub claims: Box<[Name]>,
    /// Labels.
    pub labels: Box<[(Name, Name)]>,
    /// Init containers, sidecars and containers, in order of the spec.
    pub containers: Box<[Container]>,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Accepted, not all containers started.
    Pending,
    /// Bound and started.
    Running,
    /// All containers ended with success.
    Succeeded,
    /// All containers ended, at least one with failure.
    Failed,
    /// The state could not be obtained.
    Unknown,
}

impl Phase {
    /// The API's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
        }
    }
}

/// The controller that owns a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Kind (`ReplicaSet`, `DaemonSet`, …).
    pub kind: Name,
    /// Name.
    pub name: Name,
}

/// Which list of the spec a container comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKind {
    /// Ends before the containers start.
    Init,
    /// Init container with `restartPolicy: Always`.
    Sidecar,
    /// An ordinary container.
    App,
}

/// A container of a pod: spec and status joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// Name.
    pub name: Name,
    /// Image as written in the spec.
    pub image: Name,
    /// Init, sidecar or ordinary.
    pub kind: ContainerKind,
    /// `containerID` with its scheme (`containerd://…`), empty before it exists. Key of the raw series.
    pub container_id: Name,
    /// `resources.requests`: only the scheduler reads them, nothing reaches the Windows kernel.
    pub requests: Resources,
    /// `resources.limits`.
    pub limits: Resources,
    /// `ready`.
    pub ready: bool,
    /// `restartCount`.
    pub restarts: u32,
    /// What it does now.
    pub state: ContainerState,
    /// How its previous run ended (`lastState.terminated`).
    pub last_termination: Option<Box<Termination>>,
}

/// CPU and memory of a container's requests or limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Thousandths of a CPU.
    pub cpu_millicores: Option<u64>,
    /// Bytes.
    pub memory_bytes: Option<u64>,
}

/// State of a container.
#[derive(Clone, Debug, PartialEq)]
pub enum ContainerState {
    /// No status yet.
    Unreported,
    /// Waiting, with the reason (`ContainerCreating`, `CrashLoopBackOff`, …).
    Waiting(Name),
    /// Running since.
    Running(Option<Timestamp>),
    /// Ended.
    Terminated(Box<Termination>),
}

/// The end of a container's run.
#[derive(Clone, Debug, PartialEq)]
pub struct Termination {
    /// Exit code as the API shows it: signed 32 bits, so NTSTATUS and HRESULT codes are negative.
    pub exit_code: i32,
    /// Signal, on Linux.
    pub signal: Option<i32>,
    /// `reason` (`Error`, `Completed`, `OOMKilled`, …), may be empty.
    pub reason: Name,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// What only the pod page shows; fetched when the page is opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodDetail {
    /// `spec.terminationGracePeriodSeconds`.
    pub grace_period_seconds: Option<u64>,
    /// Per container: probes and volume mounts, in words.
    pub containers: Box<[ContainerDetail]>,
    /// Volumes in words: name, and what it is (`emptyDir`, `claim reports`, `csi smb.csi.k8s.io`, …).
    pub volumes: Box<[(Name, Name)]>,
}

/// Details of one container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerDetail {
    /// Container name.
    pub name: Box<str>,
    /// Probes in words, e.g. `liveness http /healthz :http every 10 s, timeout 3 s, 3 failures`.
    pub probes: Box<[Box<str>]>,
    /// Mounts: path and volume name.
    pub mounts: Box<[(Box<str>, Box<str>)]>,
}
