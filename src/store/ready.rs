//! How many pods of each controller are ready, counted as pods come and go: a maintenance asks for it at every change.

use crate::domain::pod::Pod;
use crate::maintenance::pods::{OwnerKey, is_ready};
use std::collections::HashMap;

/// Ready pods by controller, on any node.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReadyPods(HashMap<OwnerKey, u32>);

impl ReadyPods {
    /// A pod looked like this before, and looks like that now.
    pub fn changed(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        let (before, after) = (
            before.filter(|pod| is_ready(pod)),
            after.filter(|pod| is_ready(pod)),
        );
        let owner = |pod: Option<&Pod>| pod.and_then(|pod| pod.owner.clone());
        if owner(before) == owner(after) {
            return;
        }
        if let Some(owner) = before.and_then(OwnerKey::of)
            && let Some(count) = self.0.get_mut(&owner)
        {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&owner);
            }
        }
        if let Some(owner) = after.and_then(OwnerKey::of) {
            *self.0.entry(owner).or_default() += 1;
        }
    }

    /// Ready pods of this controller.
    pub fn of(&self, owner: &OwnerKey) -> u32 {
        self.0.get(owner).copied().unwrap_or(0)
    }
}
