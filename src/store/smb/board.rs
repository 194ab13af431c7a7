//! The joined mappings, and what they are joined from besides the objects.

use super::logs::Logs;
use super::{SmbMapping, rows, warnings};
use crate::domain::smb::warning::Warned;
use crate::domain::{Name, Timestamp};
use crate::sources::event::PluginLogs;
use crate::store::cluster::Cluster;

/// The mappings of all Windows nodes.
#[derive(Default)]
pub struct Board {
    /// By node and path.
    pub mappings: Vec<SmbMapping>,
    /// About nodes and pods.
    pub warnings: Vec<Warned>,
    logs: Logs,
}

impl Board {
    /// Takes what the plugins logged.
    pub fn take(&mut self, round: PluginLogs) {
        self.logs.take(round);
    }

    /// Joins everything anew. `all_pods` says that the pods of all namespaces are known.
    pub fn join(&mut self, cluster: &Cluster, all_pods: bool, now: Timestamp) {
        self.mappings = rows::join(cluster, &self.logs, all_pods, now);
        for mapping in &mut self.mappings {
            mapping.warnings = warnings::of_mapping(cluster, &self.logs, mapping);
        }
        self.warnings = warnings::of_nodes(cluster, all_pods);
        self.warnings.extend(warnings::of_nfs(cluster));
        self.warnings.sort_by(warnings::worst_first);
    }

    /// A mapping.
    pub fn mapping(&self, node: &Name, remote: &str) -> Option<&SmbMapping> {
        self.mappings.get(self.slot(node, remote)?)
    }

    /// Where a mapping stands in `mappings`.
    pub fn slot(&self, node: &Name, remote: &str) -> Option<usize> {
        self.mappings
            .iter()
            .position(|mapping| mapping.node == *node && mapping.remote.as_str() == remote)
    }

    /// Mappings of a node.
    pub fn of_node(&self, node: &Name) -> impl Iterator<Item = &SmbMapping> {
        self.mappings.iter().filter(move |mapping| mapping.node == *node)
    }
}
