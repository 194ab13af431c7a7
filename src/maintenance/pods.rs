//! What a drain does with each pod: the filters of `kubectl drain`, in its order.

use super::options::Options;
use crate::domain::pod::{Owner, Phase, Pod};
use crate::domain::{Name, Timestamp};
use serde::{Deserialize, Serialize};

/// Names a pod, and by its UID one incarnation of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PodRef {
    /// Namespace.
    pub namespace: Name,
    /// Name.
    pub name: Name,
    /// `metadata.uid`.
    pub uid: Name,
}

impl PodRef {
    /// This pod.
    pub fn of(pod: &Pod) -> Self {
        Self {
            namespace: pod.namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid.clone(),
        }
    }
}

/// `namespace/name`.
impl std::fmt::Display for PodRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What keeps pods running, as the operator knows it: the `Deployment` rather than its `ReplicaSet`, because a rollout
/// while the node is away leaves the old `ReplicaSet` without pods for good.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OwnerKey {
    /// Namespace.
    pub namespace: Name,
    /// `Deployment`, `StatefulSet`, …
    pub kind: Name,
    /// Name.
    pub name: Name,
}

impl OwnerKey {
    /// What keeps this pod running.
    pub fn of(pod: &Pod) -> Option<Self> {
        let owner = pod.owner.as_ref()?;
        let (kind, name) = match deployment(pod, owner) {
            Some(name) => (Name::from("Deployment"), Name::from(name)),
            None => (owner.kind.clone(), owner.name.clone()),
        };
        Some(Self {
            namespace: pod.namespace.clone(),
            kind,
            name,
        })
    }
}

/// The `Deployment` of a pod: the name of its `ReplicaSet` is that of the `Deployment` and the hash that the pod
/// carries as a label.
fn deployment<'a>(pod: &Pod, owner: &'a Owner) -> Option<&'a str> {
    if &*owner.kind != "ReplicaSet" {
        return None;
    }
    let (_, hash) = pod
        .labels
        .iter()
        .find(|(label, _)| &**label == "pod-template-hash")?;
    owner.name.strip_suffix(&**hash)?.strip_suffix('-')
}

/// What a drain does with a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is evicted. The warning says what is lost with it.
    Leaves(Option<Loss>),
    /// It stays, and the node counts as drained with it.
    Stays(Stays),
    /// The drain is refused while it is there.
    Refused(Refusal),
}

/// What is lost when a pod leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its emptyDir volumes.
    EmptyDir,
    /// The pod itself: no controller brings it back.
    Uncontrolled,
    /// Both.
    Both,
}

/// Why a pod stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// Its `DaemonSet` would bring it back at once, cordoned or not.
    DaemonSet,
    /// A static pod: only the node itself can end it.
    Mirror,
    /// `--pod-selector` does not select it.
    NotSelected,
    /// Its deletion is older than `--skip-wait-for-delete-timeout`.
    LongDeleted,
}

/// Why a drain is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has an emptyDir, and `--delete-emptydir-data` was not given.
    EmptyDir,
    /// It has no controller, and `--force` was not given.
    Uncontrolled,
}

/// Whether the pod has ended: nothing is lost with it.
pub const fn ended(pod: &Pod) -> bool {
    matches!(pod.phase, Phase::Succeeded | Phase::Failed)
}

/// Whether the pod serves: it runs, all its containers are ready, and nobody deleted it.
pub fn is_ready(pod: &Pod) -> bool {
    pod.phase == Phase::Running && pod.ready == pod.ready_of && pod.deleted_at.is_none()
}

/// What a drain with these options does with this pod at `now`.
pub fn verdict(pod: &Pod, options: &Options, now: Timestamp) -> Verdict {
    if let (Some(limit), Some(deleted)) = (options.skip_wait_for_delete, pod.deleted_at)
        && (now - deleted).to_std().is_ok_and(|age| age > limit)
    {
        return Verdict::Stays(Stays::LongDeleted);
    }
    if options
        .pod_selector
        .as_ref()
        .is_some_and(|selector| !selector.selects(&pod.labels))
    {
        return Verdict::Stays(Stays::NotSelected);
    }
    if pod
        .owner
        .as_ref()
        .is_some_and(|owner| &*owner.kind == "DaemonSet")
        && !ended(pod)
    {
        return Verdict::Stays(Stays::DaemonSet);
    }
    if pod.mirror {
        return Verdict::Stays(Stays::Mirror);
    }
    if ended(pod) {
        return Verdict::Leaves(None);
    }
    if pod.empty_dir && !options.delete_emptydir_data {
        return Verdict::Refused(Refusal::EmptyDir);
    }
    if pod.owner.is_none() && !options.force {
        return Verdict::Refused(Refusal::Uncontrolled);
    }
    Verdict::Leaves(match (pod.empty_dir, pod.owner.is_none()) {
        (true, true) => Some(Loss::Both),
        (true, false) => Some(Loss::EmptyDir),
        (false, true) => Some(Loss::Uncontrolled),
        (false, false) => None,
    })
}
