//! How a node stands: what decides over what may be done with it.

use super::Store;
use super::cluster::record;
use crate::domain::Name;
use crate::maintenance::record::Record;

/// How a node stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The node.
    pub node: Name,
    /// UID: a node that was deleted and joined again is another node.
    pub uid: Name,
    /// No new pods come to it.
    pub cordoned: bool,
    /// It restarted without drain: Ready, and may be far from healthy.
    pub restarted_without_drain: bool,
    /// The maintenance that is under way on it, or why its record cannot be read.
    pub record: Option<Result<Box<Record>, String>>,
}

impl Store {
    /// How this node stands; `None` if there is no such node.
    pub fn standing(&self, node: &Name) -> Option<Standing> {
        let node = self.cluster.node(node)?;
        Some(Standing {
            node: node.name.clone(),
            uid: node.uid.clone(),
            cordoned: node.unschedulable,
            restarted_without_drain: self.cluster.restarted_without_drain(node).is_some(),
            record: record(node).map(|record| record.map(Box::new).map_err(|error| error.to_string())),
        })
    }
}
