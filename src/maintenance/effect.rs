//! What a maintenance wants done outside, and how that is answered.

use super::event::Happening;
use super::pods::PodRef;
use super::preflight::Preflight;
use super::record::Record;
use crate::domain::Name;
use crate::domain::node::Node;
use crate::domain::pod::Pod;
use std::time::Duration;

/// Something to be done outside, in this order. Each is answered once, by an [`Answer`] of its own kind, as long as the
/// program lives: a request that gets no answer in time is answered with `Retry`, and may have been performed.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Look at everything that decides whether the node can be taken out ([`Answer::Surveyed`]).
    Survey,
    /// Take the pool's Lease ([`Answer::Locked`]).
    Lock,
    /// Cordon the node and write the record, in one request that fails on another UID ([`Answer::Cordoned`]).
    Cordon(Box<Record>),
    /// Write the record to the node's annotation ([`Answer::Saved`]).
    Save(Box<Record>),
    /// List the node's pods, then get the node: not from a watch, not from a cache ([`Answer::Listed`]).
    ListPods,
    /// Evict this incarnation of the pod ([`Answer::Evicted`]). `grace_seconds` is sent only if the operator asked
    /// for it.
    Evict {
        /// Which.
        pod: PodRef,
        /// `--grace-period`.
        grace_seconds: Option<u32>,
    },
    /// Restart the node by what was configured, command or pod ([`Answer::RebootCommand`]).
    RunRebootCommand,
    /// Uncordon the node and write the record, if a fresh look shows that the node, its boot and the cordon are still
    /// the ones of this proof ([`Answer::Uncordoned`]). Another boot is a `Retry`: the gates are asked again. A node
    /// that is uncordoned already is fine.
    Uncordon {
        /// What is written with it.
        record: Box<Record>,
        /// The boot id at which all gates held.
        boot_id: Name,
    },
    /// Remove the annotation, leave the cordon as it is, and give the Lease back ([`Answer::Cleared`]). An annotation
    /// that is gone already is fine.
    Clear {
        /// The boot id at which all gates held, to be left on the node ([`super::record::PROVEN_BOOT`]).
        proven_boot: Option<Name>,
    },
    /// Give the Lease back if it is ours, after a [`Effect::Lock`] that may still be under way: nothing was changed. Not
    /// answered.
    Unlock,
    /// Tell the operator and the journal.
    Tell(Happening),
}

/// The node and its pods, asked of the API server just now. The node was read after its pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Fresh {
    /// `None`: there is no such node.
    pub node: Option<Node>,
    /// All pods bound to it.
    pub pods: Vec<Pod>,
}

/// How an effect ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To [`Effect::Survey`].
    Surveyed(Result<Box<Preflight>, SurveyError>),
    /// To [`Effect::Lock`].
    Locked(Result<(), LockError>),
    /// To nothing that was asked: the Lease was to be renewed, and somebody else has it. No change is made any more.
    LeaseLost {
        /// Holder identity.
        by: String,
    },
    /// To [`Effect::Cordon`].
    Cordoned(Result<(), WriteError>),
    /// To [`Effect::Save`].
    Saved(Result<(), WriteError>),
    /// To [`Effect::ListPods`].
    Listed(Result<Box<Fresh>, String>),
    /// To [`Effect::Evict`].
    Evicted(PodRef, Eviction),
    /// To [`Effect::RunRebootCommand`]: its exit code, or why nothing was started that restarts the node.
    RebootCommand(Result<i32, String>),
    /// To [`Effect::Uncordon`].
    Uncordoned(Result<(), WriteError>),
    /// To [`Effect::Clear`].
    Cleared(Result<(), WriteError>),
}

/// Why the preflight was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurveyError {
    /// The API server went away; it is tried again.
    Failed(String),
    /// It answers, but nodes or pods cannot be read.
    Refused(String),
}

/// Why the Lease of the pool was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockError {
    /// Somebody else has it: who, with which node, and how long ago it was renewed.
    Held {
        /// Holder identity.
        by: String,
        /// Seconds since the renewal was written, by the API object's own time.
        age_seconds: u64,
    },
    /// The API server could not be asked; it is tried again.
    Failed(String),
    /// Never: the permission is missing, the node is not there.
    Refused(String),
}

/// Why a change of the node was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// Not answered, or an error that may pass; it is tried again.
    Retry(String),
    /// The node changed under way; it is decided anew.
    Moved(String),
    /// Never: another node has the name, the cordon is somebody else's, the permission is missing.
    Refused(String),
}

/// How the API server answered an eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Accepted: the pod is being deleted.
    Accepted,
    /// 404: it is gone already.
    Gone,
    /// 409 on the UID: another pod has the name now.
    Replaced,
    /// 429 with the cause `DisruptionBudget`.
    Blocked {
        /// What the server says of it.
        message: String,
        /// `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// 429 without that cause: the server asks for fewer requests.
    Throttled {
        /// `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// 403 with the cause `NamespaceTerminating`: the namespace is being deleted, and the pod with it.
    NamespaceTerminating,
    /// 500 `more than one PodDisruptionBudget`: never allowed by the server, until a budget is changed.
    SeveralBudgets(String),
    /// Not answered, or an error that may pass.
    Retry(String),
    /// Refused for good: the permission is missing, the request is invalid.
    Refused(String),
}
