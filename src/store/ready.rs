//! How many pods of each workload are ready, counted as pods come and go: a maintenance asks for it at every change.

use crate::domain::pod::Pod;
use crate::maintenance::pods::{OwnerKey, is_ready};
use std::collections::HashMap;

/// Ready pods by workload, on any node.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReadyPods(HashMap<OwnerKey, u32>);

impl ReadyPods {
    /// A pod looked like this before, and looks like that now.
    pub fn changed(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        let owner = |pod: Option<&Pod>| pod.filter(|pod| is_ready(pod)).and_then(OwnerKey::of);
        let (before, after) = (owner(before), owner(after));
        if before == after {
            return;
        }
        if let Some(owner) = before
            && let Some(count) = self.0.get_mut(&owner)
        {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&owner);
            }
        }
        if let Some(owner) = after {
            *self.0.entry(owner).or_default() += 1;
        }
    }

    /// Ready pods of this workload.
    pub fn of(&self, owner: &OwnerKey) -> u32 {
        self.0.get(owner).copied().unwrap_or(0)
    }
}
