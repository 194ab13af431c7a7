//! What the operator asked for.

use crate::domain::host_process::HostPod;
use std::fmt;
use std::time::Duration;

/// What a maintenance is for. Only an update asks whether the revision grew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Updates are installed and the node is restarted.
    #[default]
    Update,
    /// The node is restarted.
    Restart,
    /// A node that restarted without drain is drained and restarted properly.
    Cleanup,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Update, Self::Restart, Self::Cleanup];

    /// The word on the command line and on the screens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Restart => "restart",
            Self::Cleanup => "cleanup",
        }
    }
}

/// How this program restarts a node itself, where the operator wants that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reboot {
    /// `--reboot-command`, in words; `{node}` and `{address}` are replaced.
    Command(Vec<String>),
    /// `--reboot-pod`: a short-lived HostProcess pod on the node.
    Pod(HostPod),
}

/// As the screens say it.
impl fmt::Display for Reboot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(words) => f.write_str(&words.join(" ")),
            Self::Pod(pod) => pod.fmt(f),
        }
    }
}

/// Options of one maintenance; the drain's mean what kubectl's of the same name mean.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Why.
    pub purpose: Purpose,
    /// `--yes`: confirmations are given beforehand. Nothing else is.
    pub yes: bool,
    /// Somebody is there to decide. Without anybody, a question ends the maintenance with the node as it is.
    pub attended: bool,
    /// `--grace-period`: seconds that each pod gets; `None` leaves it to the pod.
    pub grace_seconds: Option<u32>,
    /// `--timeout`: longest drain; `None` for no end.
    pub drain_timeout: Option<Duration>,
    /// `--force`: pods without a controller go too. Nothing brings them back.
    pub force: bool,
    /// `--delete-emptydir-data`: pods with an emptyDir go too, and its data with them.
    pub delete_emptydir_data: bool,
    /// `--pod-selector`: only these pods leave.
    pub pod_selector: Option<LabelSelector>,
    /// `--skip-wait-for-delete-timeout`: pods whose deletion is older are not waited for.
    pub skip_wait_for_delete: Option<Duration>,
    /// How this program restarts the node; `None` leaves it to the operator's hand.
    pub reboot: Option<Reboot>,
    /// Longest time from "drained" until the node's network is ready. A slow disk took 15 minutes.
    pub restart_timeout: Duration,
    /// `--accept-same-revision`: an update after which the revision is the same is fine.
    pub accept_same_revision: bool,
    /// `--no-restart`: the update needs no restart; the gates of the restart are skipped knowingly.
    pub no_restart: bool,
    /// `--network-selector`: which pods are the node's network.
    pub network_selector: Option<LabelSelector>,
    /// `--no-network-gate`: the node has no network pods; do not wait for any.
    pub no_network_gate: bool,
    /// Longest wait for the pods to be as ready as before.
    pub pods_timeout: Duration,
    /// `--pool-label`: label whose value divides the nodes of one build into pools.
    pub pool_label: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            purpose: Purpose::Update,
            yes: false,
            attended: false,
            grace_seconds: None,
            drain_timeout: None,
            force: false,
            delete_emptydir_data: false,
            pod_selector: None,
            skip_wait_for_delete: None,
            reboot: None,
            restart_timeout: Duration::from_mins(30),
            accept_same_revision: false,
            no_restart: false,
            network_selector: None,
            no_network_gate: false,
            pods_timeout: Duration::from_mins(10),
            pool_label: None,
        }
    }
}

/// Options that must be the same after a restart of the program: they decide which pods leave, and what proves that the
/// network is back. Part of the record. How the node is restarted is not: a command
/// may hold what is nobody else's business.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kept {
    grace_seconds: Option<u32>,
    force: bool,
    delete_emptydir_data: bool,
    pod_selector: Option<LabelSelector>,
    skip_wait_for_delete: Option<Duration>,
    network_selector: Option<LabelSelector>,
    no_network_gate: bool,
    pool_label: Option<String>,
}

impl Kept {
    /// Those of these options.
    pub fn of(options: &Options) -> Self {
        Self {
            grace_seconds: options.grace_seconds,
            force: options.force,
            delete_emptydir_data: options.delete_emptydir_data,
            pod_selector: options.pod_selector.clone(),
            skip_wait_for_delete: options.skip_wait_for_delete,
            network_selector: options.network_selector.clone(),
            no_network_gate: options.no_network_gate,
            pool_label: options.pool_label.clone(),
        }
    }

    /// Puts them back. What is allowed more now counts; selectors stay what they were, because what was seen so far was
    /// seen through them.
    pub fn restore(&self, options: &mut Options) {
        options.grace_seconds = options.grace_seconds.or(self.grace_seconds);
        options.force |= self.force;
        options.delete_emptydir_data |= self.delete_emptydir_data;
        options.pod_selector.clone_from(&self.pod_selector);
        options.skip_wait_for_delete = options.skip_wait_for_delete.or(self.skip_wait_for_delete);
        options.network_selector.clone_from(&self.network_selector);
        options.no_network_gate |= self.no_network_gate;
        options.pool_label.clone_from(&self.pool_label);
    }
}

pub use crate::domain::selector::LabelSelector;
