//! What must survive of a maintenance: the annotation on the node and the lines of the journal.

use super::options::{Kept, Purpose};
use super::pods::OwnerKey;
use crate::domain::{Name, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Annotation of the node that holds the record as JSON. It is there as long as the maintenance is under way.
pub const ANNOTATION: &str = "drainboard.io/maintenance";

/// Annotation of the node with the boot id at which a maintenance of it ended well: a restart that was prepared, also for
/// those who did not see the maintenance.
pub const PROVEN_BOOT: &str = "drainboard.io/proven-boot";

/// Steps that must be told apart after a restart of the program. The others follow from the cluster itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// Cordoned: pods may be evicted.
    Drain,
    /// Drained: the restart is awaited.
    Restart,
    /// Uncordoned: the pods are awaited.
    PodsBack,
}

impl Reached {
    /// The word on the screens.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Restart => "restart",
            Self::PodsBack => "pods back",
        }
    }
}

/// A maintenance that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Names this maintenance.
    pub id: String,
    /// Who started it: user and host.
    pub by: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// What for.
    pub purpose: Purpose,
    /// Where it is.
    pub reached: Reached,
    /// Since when, by our clock.
    pub reached_at: Timestamp,
    /// UID of the node: a node that was deleted and joined again is another node.
    pub node_uid: Name,
    /// Boot id before the restart: the one that has to change.
    pub boot_id: Name,
    /// Other boot ids that are over: from before `boot_id`, and of restarts that another one followed.
    #[serde(default)]
    pub older_boot_ids: BTreeSet<Name>,
    /// The newest boot id after the restart; `None` until one was seen.
    #[serde(default)]
    pub new_boot_id: Option<Name>,
    /// Kernel version before; on Windows it ends with the revision.
    pub kernel_version: Name,
    /// Version of the kubelet before.
    pub kubelet_version: Name,
    /// It was cordoned before: uncordoning stays with the operator.
    pub was_cordoned: bool,
    /// A reboot command was started, so that it is never started twice by itself.
    #[serde(default)]
    pub reboot_started: bool,
    /// Container ids of the network pods that were seen while a boot id was reported that is over.
    pub network_ids: BTreeSet<Name>,
    /// Those seen under `new_boot_id`: if the node restarts once more, they prove nothing either.
    #[serde(default)]
    pub new_network_ids: BTreeSet<Name>,
    /// Controllers that had network pods on the node.
    pub network_owners: BTreeSet<OwnerKey>,
    /// Options that go on counting.
    #[serde(default)]
    pub kept: Kept,
    /// Controllers with pods that leave, and how many of their pods were ready on any node.
    pub ready_before: Vec<(OwnerKey, u32)>,
}

impl Record {
    /// Reads the annotation.
    ///
    /// # Errors
    /// It is not a record of this program, or of a newer one.
    pub fn parse(annotation: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(annotation)
    }

    /// Whether the node was drained before it restarted with this boot id.
    pub fn vouches_for(&self, boot_id: &Name) -> bool {
        match self.reached {
            Reached::Drain => false,
            Reached::Restart => !self.is_over(boot_id),
            Reached::PodsBack => self.new_boot_id.as_ref() == Some(boot_id),
        }
    }

    /// Whether this boot id is over, or has to change: whoever reports it is late.
    pub fn is_over(&self, boot_id: &Name) -> bool {
        self.boot_id == *boot_id || self.older_boot_ids.contains(boot_id)
    }
}
