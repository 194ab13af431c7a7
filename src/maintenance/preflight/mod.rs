//! What would happen, and what stands against it, before anything changes.

mod assess;
mod budgets;
mod fit;
mod host_process;
mod images;
mod monitoring;
mod network_pods;
mod node;
mod notes;
pub mod permissions;
mod placement;
mod pods;
pub mod survey;
#[cfg(test)]
mod tests;

pub use assess::assess;

use super::pods::{Loss, OwnerKey, PodRef, Refusal, Stays};
use crate::domain::Name;

/// The result of a preflight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preflight {
    /// The node as it was found.
    pub node: NodeBefore,
    /// Every pod of the node, with what becomes of it.
    pub pods: Vec<(PodRef, Fate)>,
    /// Controllers of the pods that leave, and how many of their pods are ready on any node.
    pub ready: Vec<(OwnerKey, u32)>,
    /// What the operator must know, worst first.
    pub notes: Vec<Note>,
}

/// What of the node must be remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeBefore {
    /// UID.
    pub uid: Name,
    /// Boot id.
    pub boot_id: Name,
    /// Kernel version.
    pub kernel_version: Name,
    /// Version of the kubelet.
    pub kubelet_version: Name,
    /// It is cordoned already.
    pub cordoned: bool,
}

/// What becomes of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Evicted.
    Leaves(Option<Loss>),
    /// Stays.
    Stays(Stays),
    /// The drain is refused because of it.
    Refused(Refusal),
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Good to know.
    Info,
    /// Something gets worse.
    Warning,
    /// The drain will stop here until something changes.
    Blocks,
    /// It must not begin.
    Refuses,
}

/// Something the operator must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub weight: Weight,
    /// What, on what object, with the numbers.
    pub text: String,
    /// What to do about it; may be empty.
    pub remedy: String,
}

impl Note {
    /// What and remedy in one sentence.
    pub fn sentence(&self) -> String {
        if self.remedy.is_empty() {
            self.text.clone()
        } else {
            format!("{} → {}", self.text, self.remedy)
        }
    }
}

impl Preflight {
    /// The heaviest note.
    pub fn weight(&self) -> Weight {
        self.notes
            .iter()
            .map(|note| note.weight)
            .max()
            .unwrap_or(Weight::Info)
    }
}
