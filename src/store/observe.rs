//! What a maintenance of one node decides on, out of what the watches told.

use super::Store;
use super::cluster::Cluster;
use crate::domain::Name;
use crate::domain::node::Node;
use crate::domain::object::ClusterEvent;
use crate::domain::pod::Pod;
use crate::domain::text::{sanitise, truncate};
use crate::maintenance::observation::Observation;
use crate::maintenance::pods::{OwnerKey, PodRef, ended, is_ready};
use crate::sources::event::{Problem, WatchState, Watched};
use std::collections::BTreeSet;

/// Longest text of an event that is passed on, in cells: what failed stands at the end of a kubelet's sentences.
const LONGEST_TEXT: usize = 400;

impl Store {
    /// Whether [`Store::observe`] has something to say.
    pub fn is_observable(&self) -> bool {
        let budgets = self.cluster.watches.get(&Watched::Budgets);
        let awaited = matches!(budgets, None | Some(WatchState::Loading));
        self.is_live(Watched::Nodes) && self.knows_all_pods() && !awaited
    }

    /// Why the watches of nodes and pods tell nothing, if one of them fails.
    pub fn blindness(&self) -> Option<&Problem> {
        [Watched::Nodes, Watched::Pods]
            .iter()
            .find_map(|watched| match self.cluster.watches.get(watched) {
                Some(WatchState::Failed(problem) | WatchState::Forbidden(problem)) => Some(problem),
                Some(WatchState::Loading | WatchState::Live) | None => None,
            })
    }

    /// Nodes that carry the record of a maintenance, by name.
    pub fn nodes_in_work(&self) -> Vec<&Node> {
        let mut nodes: Vec<&Node> = self
            .cluster
            .nodes
            .iter()
            .map(|at| at.row)
            .filter(|node| node.maintenance.is_some())
            .collect();
        nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        nodes
    }

    /// This node.
    pub fn node(&self, name: &Name) -> Option<&Node> {
        self.cluster.node(name)
    }

    /// How many pods that have not ended are on the node; `None` while that is not known.
    pub fn pods_on(&self, node: &Name) -> Option<usize> {
        self.cluster.pod_count(node).ok()
    }

    /// Pods of these controllers on any node that should run: not ended, not being deleted; and whether they are ready.
    /// `None` while the watches do not tell. Looks at every pod there is.
    pub fn workloads(&self, owners: &BTreeSet<OwnerKey>) -> Option<Vec<(PodRef, bool)>> {
        if !self.is_observable() {
            return None;
        }
        let pods = self.cluster.pods.iter().map(|at| at.row);
        let meant = pods.filter(|pod| {
            pod.deleted_at.is_none()
                && !ended(pod)
                && OwnerKey::of(pod).is_some_and(|owner| owners.contains(&owner))
        });
        Some(meant.map(|pod| (PodRef::of(pod), is_ready(pod))).collect())
    }

    /// How the cluster looks to a maintenance of `node`, with the ready pods of the controllers in `wanted` too.
    ///
    /// `None` while the watches of nodes and pods are not both live, or do not look at everything (one namespace, a
    /// pod selector): if one of them lags behind the other, pods of a new boot would be taken for pods of the old one.
    /// Budgets are awaited once; where they may not be read, there are none.
    pub fn observe(&self, node: &Name, wanted: &[OwnerKey]) -> Option<Observation> {
        if !self.is_observable() {
            return None;
        }
        let cluster = &self.cluster;
        let pods = cluster.pods_of(node);
        let owners: BTreeSet<OwnerKey> = pods
            .iter()
            .filter_map(|at| OwnerKey::of(at.row))
            .chain(wanted.iter().cloned())
            .collect();
        let told = |tell: fn(&Cluster, &Pod) -> Option<String>| {
            pods.iter()
                .filter_map(move |at| Some((at.row, tell(cluster, at.row)?)))
        };
        let mut budgets: Vec<_> = cluster.budgets.iter().map(|at| at.row.clone()).collect();
        budgets.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Some(Observation {
            node: cluster.node(node).cloned(),
            ready: owners
                .into_iter()
                .map(|owner| (owner.clone(), cluster.ready.of(&owner)))
                .collect(),
            budgets,
            unkillable: told(unkillable)
                .map(|(pod, said)| (pod.uid.clone(), said))
                .collect(),
            probes_time_out: told(probe_timeout)
                .map(|(pod, said)| (pod.uid.clone(), (PodRef::of(pod), said)))
                .collect(),
            pods: pods.into_iter().map(|at| at.row.clone()).collect(),
        })
    }
}

/// What the kubelet says of a deleted pod that it cannot stop.
fn unkillable(cluster: &Cluster, pod: &Pod) -> Option<String> {
    pod.deleted_at?;
    newest(cluster, pod, |event| &*event.reason == "FailedKillPod")
}

/// What the probe says of a pod that should be ready and may have no network. The probes of a `HostProcess` pod go over
/// the node's own network.
fn probe_timeout(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let waits = pod.deleted_at.is_none() && !ended(pod) && !is_ready(pod) && !pod.host_process;
    if !waits {
        return None;
    }
    newest(cluster, pod, |event| {
        let says = |words| event.message.contains(words);
        // The time limit of a command says nothing of the network.
        let timeout = says("context deadline exceeded") || says("Client.Timeout") || says("i/o timeout");
        &*event.reason == "Unhealthy" && timeout && !says("exec in container")
    })
}

/// The newest message about this pod for which `is_meant` holds, fit for a terminal.
fn newest(cluster: &Cluster, pod: &Pod, is_meant: impl Fn(&ClusterEvent) -> bool) -> Option<String> {
    let event = cluster
        .events
        .about("Pod", Some(&pod.namespace), &pod.name)
        .into_iter()
        .find(|event| is_about(event, pod) && is_meant(event))?;
    Some(truncate(&sanitise(&event.message), LONGEST_TEXT).into_owned())
}

/// Whether the event is about this incarnation of the pod: its UID decides, else whether it is newer than the pod.
pub(super) fn is_about(event: &ClusterEvent, pod: &Pod) -> bool {
    match &event.about_uid {
        Some(uid) => *uid == pod.uid,
        None => event.last_seen >= pod.created_at,
    }
}
