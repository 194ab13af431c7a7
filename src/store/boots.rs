//! Boots of the nodes: what is seen of them now, and which restarts are known to have come without a drain.

use super::Store;
use super::cluster::Cluster;
use super::observe::is_about;
use crate::domain::node::Node;
use crate::domain::object::{ClusterEvent, Os};
use crate::domain::pod::{ContainerState, Pod};
use crate::domain::{Name, Timestamp};
use crate::maintenance::boots::{Sighting, Stay, UndrainedRestart};
use crate::maintenance::network::is_network_pod;
use crate::maintenance::pods::ended;
use crate::maintenance::record::Record;
use crate::sources::event::{WatchState, Watched};
use chrono::TimeDelta;
use std::collections::{BTreeMap, HashMap};

/// A pod that started so long before the node's network pods came up with the boot and not when one of these was replaced
/// some day. The article's node needed 18 s, a minute after the crash.
const BOOTING: TimeDelta = TimeDelta::minutes(5);

/// What the pods of a node tell of its boot.
#[derive(Default)]
struct Pods {
    stays: Vec<Stay>,
    network_since: Option<Timestamp>,
    sandbox_changed_at: Option<Timestamp>,
}

impl Store {
    /// Counts up whenever a node may have restarted, or may have been restarted properly.
    pub const fn boots_version(&self) -> u64 {
        self.cluster.boots_version
    }

    /// The nodes and what decides over their boots, at `now`; `None` while the nodes are not known.
    pub fn sightings(&self, now: Timestamp) -> Option<Vec<Sighting>> {
        let cluster = &self.cluster;
        if !self.is_live(Watched::Nodes) {
            return None;
        }
        let pods_known = self.knows_all_pods();
        let mut pods = pods_by_node(cluster);
        let sightings = cluster.nodes.iter().map(|at| {
            let node = at.row;
            let of_node = pods.remove(&node.name).unwrap_or_default();
            Sighting {
                node: node.uid.clone(),
                boot_id: node.boot_id.clone(),
                alive_at: cluster.renewed_at(&node.name).map_or(now, |at| at.min(now)),
                vouched: is_vouched(node),
                pods_known,
                too_early: node.os == Some(Os::Windows) && of_node.started_too_early(),
                pods: of_node.stays,
                sandbox_changed_at: of_node.sandbox_changed_at,
            }
        });
        Some(sightings.collect())
    }

    /// Whether all pods of all nodes are known.
    pub fn knows_all_pods(&self) -> bool {
        let scope = self.scope();
        self.is_live(Watched::Pods) && scope.namespace.is_none() && scope.pod_selector.is_empty()
    }

    pub(super) fn is_live(&self, watched: Watched) -> bool {
        matches!(self.cluster.watches.get(&watched), Some(WatchState::Live))
    }

    /// Takes over which nodes (UID) restarted without drain. Answers whether something visible changed.
    pub fn learn_restarts(&mut self, restarts: BTreeMap<Name, UndrainedRestart>) -> bool {
        if self.cluster.restarts == restarts {
            return false;
        }
        self.cluster.restarts = restarts;
        self.orders.all_nodes_changed();
        true
    }

    /// The nodes that restarted without drain, by name.
    pub fn restarted_without_drain(&self) -> BTreeMap<Name, UndrainedRestart> {
        let cluster = &self.cluster;
        let nodes = cluster.nodes.iter();
        nodes
            .filter_map(|at| Some((at.name.clone(), cluster.restarted_without_drain(at.row)?.clone())))
            .collect()
    }
}

impl Cluster {
    /// No rows. What is remembered of nodes is found by their UIDs, and good in any cluster.
    pub fn emptied(self) -> Self {
        let mut empty = Self::default();
        empty.restarts = self.restarts;
        empty.boots_version = self.boots_version + 1;
        empty
    }

    /// The restart without drain that this boot of the node came from.
    pub fn restarted_without_drain(&self, node: &Node) -> Option<&UndrainedRestart> {
        self.restarts
            .get(&node.uid)
            .filter(|restart| restart.after == node.boot_id)
    }

    /// Pods of a Windows node that a drain would take and that run since before its network pods do: they have no network.
    pub fn older_than_network(&self, node: &Node) -> Vec<&Pod> {
        if node.os != Some(Os::Windows) {
            return Vec::new();
        }
        let pods: Vec<&Pod> = self.pods_of(&node.name).into_iter().map(|at| at.row).collect();
        let network = pods.iter().filter(|pod| is_network_pod(pod, None));
        let Some(network_since) = network.filter_map(|pod| running_since(pod)).max() else {
            return Vec::new();
        };
        let is_older = |pod: &&Pod| {
            // That of a HostProcess pod is the node's own.
            let needs_one = leaves_with_drain(pod) && !pod.host_process;
            needs_one && running_since(pod).is_some_and(|since| since < network_since)
        };
        pods.into_iter().filter(is_older).collect()
    }

    /// Events that tell that a pod of this node runs in another sandbox than before, each with its pod, newest first.
    pub fn sandbox_changes(&self, node: &Name) -> Vec<(&Pod, &ClusterEvent)> {
        let mut changes: Vec<(&Pod, &ClusterEvent)> = self
            .all_sandbox_changes()
            .filter(|(pod, _)| pod.node.as_ref() == Some(node))
            .collect();
        changes.sort_by_key(|(_, event)| std::cmp::Reverse(event.last_seen));
        changes
    }

    fn all_sandbox_changes(&self) -> impl Iterator<Item = (&Pod, &ClusterEvent)> {
        let events = self
            .events
            .iter()
            .filter(|event| &*event.reason == "SandboxChanged");
        events.filter_map(|event| {
            let id = (event.about_namespace.clone(), event.about_name.clone());
            let pod = self.pods.find(&id)?;
            (leaves_with_drain(pod) && is_about(event, pod)).then_some((pod, event))
        })
    }
}

impl Pods {
    fn started_too_early(&self) -> bool {
        self.network_since.is_some_and(|network| {
            let too_early = network - BOOTING..network;
            self.stays.iter().any(|stay| too_early.contains(&stay.since))
        })
    }
}

fn pods_by_node(cluster: &Cluster) -> HashMap<Name, Pods> {
    let mut by_node: HashMap<Name, Pods> = HashMap::new();
    for at in cluster.pods.iter() {
        let pod = at.row;
        let Some(node) = &pod.node else { continue };
        if leaves_with_drain(pod) {
            // Without a start the kubelet has not taken it yet.
            let Some(since) = pod.started_at else { continue };
            let until = pod.deleted_at;
            by_node
                .entry(node.clone())
                .or_default()
                .stays
                .push(Stay { since, until });
        } else if is_network_pod(pod, None) {
            let of_node = by_node.entry(node.clone()).or_default();
            of_node.network_since = of_node.network_since.max(running_since(pod));
        }
    }
    for (pod, event) in cluster.all_sandbox_changes() {
        if let Some(of_node) = pod.node.as_ref().and_then(|node| by_node.get_mut(node)) {
            of_node.sandbox_changed_at = of_node.sandbox_changed_at.max(event.last_seen);
        }
    }
    by_node
}

/// Whether a drain would take the pod off the node.
fn leaves_with_drain(pod: &Pod) -> bool {
    let owner = pod.owner.as_ref();
    !pod.mirror && !ended(pod) && owner.is_none_or(|owner| &*owner.kind != "DaemonSet")
}

/// Since when all of its containers that run do so.
fn running_since(pod: &Pod) -> Option<Timestamp> {
    let since = pod
        .containers
        .iter()
        .filter_map(|container| match container.state {
            ContainerState::Running(since) => since,
            ContainerState::Unreported | ContainerState::Waiting(_) | ContainerState::Terminated(_) => None,
        });
    since.max()
}

/// Whether a maintenance prepared this boot, or found everything well at it. A record that cannot be read is that of a newer
/// version, which will tell.
fn is_vouched(node: &Node) -> bool {
    match node.maintenance.as_deref().map(Record::parse) {
        Some(Ok(record)) if record.vouches_for(&node.boot_id) => true,
        Some(Err(_)) => true,
        _ => node.proven_boot.as_ref() == Some(&node.boot_id),
    }
}
