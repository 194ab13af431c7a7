//! SMB mappings: one row for each mapping of a Windows node, joined from volumes, claims, pods, drivers, the log of the
//! node plugin and the kubelet's events; and what is wrong with any of it.

mod board;
mod logs;
mod rows;
mod warnings;

pub use board::Board;

use crate::domain::object::{Change, ClusterEvent};
use crate::domain::reading::{Absence, Reading};
use crate::domain::smb::failure::Failure;
use crate::domain::smb::log::Privacy;
use crate::domain::smb::remote::RemotePath;
use crate::domain::smb::warning::Warned;
use crate::domain::{Name, Timestamp};
use crate::sources::event::Watched;
use crate::store::Store;
use std::collections::BTreeSet;

/// A mapping of a node, with all that is joined to it.
#[derive(Clone, Debug, PartialEq)]
pub struct SmbMapping {
    /// Node.
    pub node: Name,
    /// Share with directory.
    pub remote: RemotePath,
    /// Its volumes, or why they are not known.
    pub volumes: Result<Vec<MappedVolume>, Absence>,
    /// Pods of the node that use it, by namespace and name; or why they are not known.
    pub pods: Result<Vec<MappedPod>, Absence>,
    /// `DOMAIN\user`, as the plugin logged it: the Secret is never read.
    pub account: Reading<Name>,
    /// Whether encryption was demanded, as the plugin logged it.
    pub privacy: Reading<Privacy>,
    /// Since when its volume is staged, as the plugin logged it.
    pub staged_at: Reading<Timestamp>,
    /// How it stands.
    pub state: MappingState,
    /// When that was told last; `None` where nothing has told it.
    pub state_at: Option<Timestamp>,
    /// Who told it.
    pub told_by: ToldBy,
    /// When the plugin last found it unusable (`Disconnected`).
    pub invalid_at: Option<Timestamp>,
    /// What is wrong with it, or worth knowing; the worst first.
    pub warnings: Vec<Warned>,
}

/// A volume behind a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedVolume {
    /// Name of the `PersistentVolume`.
    pub name: Name,
    /// Its claim: namespace, name.
    pub claim: Option<(Name, Name)>,
    /// `status.phase` of the claim; `None` while that is not known.
    pub claim_phase: Option<Name>,
    /// `status.phase`.
    pub phase: Name,
    /// Its class.
    pub class: Option<Name>,
    /// SHA-256 of its handle: below this directory a node stages it.
    pub hash: Name,
}

/// A pod that uses a mapping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedPod {
    /// Namespace.
    pub namespace: Name,
    /// Name.
    pub name: Name,
    /// Whether a container of it runs, so that the volume is mounted.
    pub runs: bool,
}

/// How a mapping stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingState {
    /// Pods want it, and nothing was told of it yet.
    Wanted,
    /// An attempt is under way.
    Begun,
    /// It is mapped.
    Mapped,
    /// The last attempt failed; so many in a row.
    Failed(Failure, u32),
    /// It was removed.
    Removed,
    /// It is still there after its last pod.
    LeftBehind,
}

impl MappingState {
    /// The word on the screens and in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Wanted => "wanted",
            Self::Begun => "mapping",
            Self::Mapped => "mapped",
            Self::Failed(..) => "failed",
            Self::Removed => "removed",
            Self::LeftBehind => "left behind",
        }
    }
}

/// Who told how a mapping stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    /// A line of the node plugin.
    Log,
    /// A container that runs: its volumes are mounted.
    Pod,
    /// An event of the kubelet.
    Event,
    /// Nobody.
    Nobody,
}

impl ToldBy {
    /// The word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Pod => "pod",
            Self::Event => "event",
            Self::Nobody => "nobody",
        }
    }
}

impl Store {
    /// The mappings of all Windows nodes, by node and path.
    pub fn smb_mappings(&self) -> &[SmbMapping] {
        &self.smb.mappings
    }

    /// How many mappings there are; `None` while what they are joined from is not there.
    pub(super) fn smb_count(&self) -> Option<usize> {
        let needed = [Watched::Nodes, Watched::Pods, Watched::PersistentVolumes];
        let known = needed
            .into_iter()
            .all(|watched| self.cluster.watch_absence(watched).is_none());
        (known || !self.smb.mappings.is_empty()).then_some(self.smb.mappings.len())
    }

    /// A mapping.
    pub fn smb_mapping(&self, node: &Name, remote: &str) -> Option<&SmbMapping> {
        self.smb.mapping(node, remote)
    }

    /// All that is wrong, or worth knowing, about SMB and NFS on Windows nodes; the worst first.
    pub fn smb_warnings(&self) -> Vec<&Warned> {
        let of_mappings = self.smb.mappings.iter().flat_map(|mapping| &mapping.warnings);
        let mut all: Vec<&Warned> = self.smb.warnings.iter().chain(of_mappings).collect();
        all.sort_by(|a, b| warnings::worst_first(a, b));
        all
    }

    /// Joins the mappings anew if something that they hang on has changed.
    pub(super) fn mend_smb(&mut self, now: Timestamp) {
        if !std::mem::take(&mut self.cluster.storage.changed) {
            return;
        }
        let scope = self.scope();
        let all_pods = scope.namespace.is_none() && scope.pod_selector.is_empty();
        self.smb.join(&self.cluster, all_pods, now);
        let order = &mut self.orders.smb;
        order.clear();
        for slot in 0..self.smb.mappings.len() {
            order.moved(u32::try_from(slot).unwrap_or(u32::MAX));
        }
    }
}

/// Whether an event tells of a volume that cannot be mounted. One that expires takes nothing back by itself.
pub fn is_evidence(change: &Change<ClusterEvent>) -> bool {
    match change {
        Change::Upsert(event) => rows::MOUNT_REASONS.contains(&&*event.reason),
        Change::Delete(_) | Change::Synced | Change::Restart => false,
    }
}

/// Names once each, in order.
fn distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}
