//! Where a maintenance stands.

use super::event::Ending;
use super::network::NetworkPod;
use super::options::Options;
use super::pods::{Loss, OwnerKey, PodRef, Refusal};
use super::preflight::Preflight;
use super::record::Record;
use super::told::Told;
use crate::domain::budget::DisruptionBudget;
use crate::domain::{Name, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The steps, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// What would happen, and what stands against it.
    Preflight,
    /// No new pods.
    Cordon,
    /// The pods leave.
    Drain,
    /// The operator installs and restarts; a new boot id proves it.
    Restart,
    /// An update must have raised the revision.
    Revision,
    /// The network pods must have started anew.
    Network,
    /// New pods again.
    Uncordon,
    /// As many ready pods as before.
    PodsBack,
    /// It is over.
    Over,
}

impl Step {
    /// All steps of the workflow, in order.
    pub const ALL: [Self; 8] = [
        Self::Preflight,
        Self::Cordon,
        Self::Drain,
        Self::Restart,
        Self::Revision,
        Self::Network,
        Self::Uncordon,
        Self::PodsBack,
    ];

    /// The word on the screens.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Preflight => "Preflight",
            Self::Cordon => "Cordon",
            Self::Drain => "Drain",
            Self::Restart => "Restart",
            Self::Revision => "Revision",
            Self::Network => "Network",
            Self::Uncordon => "Uncordon",
            Self::PodsBack => "Pods back",
            Self::Over => "Over",
        }
    }
}

/// A pod that must leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaving {
    /// Which.
    pub pod: PodRef,
    /// Who brings it back.
    pub owner: Option<OwnerKey>,
    /// What is lost with it.
    pub loss: Option<Loss>,
    /// Where it is on its way.
    pub status: LeavingStatus,
    /// Since when.
    pub since: Timestamp,
    /// When its first eviction was sent.
    pub first_sent: Option<Timestamp>,
    /// When the next eviction may be sent; `None` while one is under way or none is needed.
    pub(super) next_try: Option<Timestamp>,
    /// The rule of the drain that it falls under, if it may not be evicted.
    pub(super) refusal: Option<Refusal>,
    /// The budgets that decide over it, as last observed.
    pub(super) budgets: Vec<DisruptionBudget>,
    /// When these last changed.
    pub(super) budgets_changed: Option<Timestamp>,
    /// How many lists had been asked for when it was first heard of: none of these proves that it is gone.
    pub(super) lists_before: u32,
    /// A watch has told of it, so that the watch may also tell that it is gone.
    pub(super) observed: bool,
}

/// Where a pod is on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeavingStatus {
    /// Its eviction has not been answered yet.
    Waiting,
    /// A budget does not allow it, or two protect it. The text has the numbers.
    Blocked(String),
    /// The server asks for fewer requests, or did not answer.
    Delayed(String),
    /// Its namespace is being deleted.
    NamespaceTerminating,
    /// Evicted; it stops.
    Stopping,
    /// It cannot be stopped: what the kubelet says.
    Stuck(String),
    /// Refused for good.
    Refused(String),
    /// Gone.
    Gone,
}

impl LeavingStatus {
    /// Why the pod is still there, where there is more to say than its state.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Blocked(reason) | Self::Delayed(reason) | Self::Stuck(reason) | Self::Refused(reason) => {
                Some(reason)
            }
            Self::NamespaceTerminating => Some("its namespace is being deleted"),
            Self::Waiting | Self::Stopping | Self::Gone => None,
        }
    }
}

/// When a step began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTime {
    /// Which.
    pub step: Step,
    /// When it began.
    pub from: Timestamp,
    /// When it ended.
    pub to: Option<Timestamp>,
}

/// A maintenance of one node. Changed by [`super::machine::step`] only.
#[derive(Clone, Debug)]
pub struct State {
    /// The node.
    pub node: Name,
    /// What the operator asked for.
    pub options: Options,
    /// Where it is.
    pub step: Step,
    /// When each step began and ended.
    pub times: Vec<StepTime>,
    /// When it was started.
    pub started_at: Timestamp,
    /// Id and owner of this maintenance.
    pub id: String,
    /// User and host.
    pub by: String,
    /// What the preflight found.
    pub preflight: Option<Preflight>,
    /// What must survive; `None` before the cordon.
    pub record: Option<Record>,
    /// The pods that leave, by UID.
    pub leaving: BTreeMap<Name, Leaving>,
    /// The boot id of the restarted node.
    pub boot_id: Option<Name>,
    /// How the network pods are, after the boot.
    pub network: Vec<NetworkPod>,
    /// Ready pods of each controller now.
    pub ready: BTreeMap<OwnerKey, u32>,
    /// Pods whose probes time out after the uncordon (UID), with the probe's words.
    pub without_network: BTreeMap<Name, (PodRef, String)>,
    /// What it waits for, in words; empty when it works.
    pub waiting_for: String,
    /// A question that only the operator can answer.
    pub question: Option<Question>,
    /// How it ended.
    pub ending: Option<(Ending, String)>,
    pub(super) flight: Flight,
}

impl State {
    /// Whether the API server is lost for now, as was told.
    pub const fn api_is_lost(&self) -> bool {
        self.flight.lost_at.is_some()
    }
}

/// A decision that only the operator can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Begin, after the preflight?
    Begin,
    /// The revision did not grow: accept that?
    SameRevision,
}

/// Whether the node may be somebody else's now. Nothing is changed until a list that was asked for afterwards tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It is ours.
    #[default]
    None,
    /// It may be lost.
    Raised,
    /// The list that tells is under way.
    Asked,
}

/// A boot id that is either newer than the newest, or that of a watch that is late.
#[derive(Clone, Debug, Default)]
pub(super) struct Unconfirmed {
    /// A list was asked for since.
    pub asked: bool,
    /// Network containers that were seen under it.
    pub network_ids: BTreeSet<Name>,
}

/// Effects that are under way, and what was seen of the cluster so far. None of it need survive.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent: which effects are under way"
)]
pub(super) struct Flight {
    /// What was told.
    pub told: Told,
    /// What it waits for, apart from troubles with the API server.
    pub waiting: String,
    /// The API server did not do what was asked last, and why.
    pub trouble: Option<String>,
    /// The watches tell nothing, and why.
    pub blind: Option<String>,
    /// Since when the API server is told to be lost.
    pub lost_at: Option<Timestamp>,
    /// The Lease of the pool is ours.
    pub locked: bool,
    /// A list of pods is under way since.
    pub listing: Option<Timestamp>,
    /// How many lists were asked for.
    pub lists: u32,
    /// When the pods are listed again.
    pub list_at: Option<Timestamp>,
    /// An observation looked as if the node were not ours any more.
    pub doubt: Doubt,
    /// A write to the node is under way.
    pub writing: bool,
    /// When the write that failed is tried again.
    pub write_at: Option<Timestamp>,
    /// The record has news that are not saved yet.
    pub unsaved: bool,
    /// A cordon was sent, and was not refused: the node may be cordoned.
    pub cordon_sent: bool,
    /// An uncordon was sent, and was not refused: the node may be uncordoned.
    pub uncordon_sent: bool,
    /// The work is done: the annotation is being removed.
    pub clearing: bool,
    /// A fresh list had nothing left; that is being saved.
    pub drained: bool,
    /// The operator gave up; the annotation is being removed.
    pub abandoned: bool,
    /// The reboot command is to be started once that is on record.
    pub reboot_wanted: bool,
    /// The reboot command is under way.
    pub reboot_running: bool,
    /// The time limit of a step is counted from here if that is later than its beginning.
    pub limit_from: Option<Timestamp>,
    /// Network containers that only a watch showed under a boot id that is over: either they ran then, or the watch of
    /// the node was later than that of the pods. With the time since when they run under the new boot id.
    pub suspects: BTreeMap<Name, Option<Timestamp>>,
    /// Boot ids that only a watch showed so far; during the preflight, all that it showed.
    pub unconfirmed: BTreeMap<Name, Unconfirmed>,
    /// The annotation of this maintenance was seen on the node.
    pub annotation_seen: bool,
    /// When the last gate held.
    pub gates_at: Option<Timestamp>,
    /// As many pods are ready as before, or the operator does not wait for the rest.
    pub pods_are_back: bool,
    /// When an eviction of a pod (UID) was last sent or answered: no two within a second.
    pub sent: BTreeMap<Name, Timestamp>,
    /// Pods without network (UID) that may be evicted.
    pub recreatable: BTreeSet<Name>,
    /// Those that are being evicted.
    pub recreating: BTreeSet<Name>,
}
