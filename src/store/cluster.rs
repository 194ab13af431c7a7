//! What the Kubernetes API told: rows of nodes, pods, leases, DaemonSets and budgets, with the joins between them
//! that are kept up to date as the rows change instead of being searched for.

use super::events::EventLog;
use super::feeds::Feeds;
use super::fold::{At, Folded, Id, Touched};
use super::measured::Finder;
use super::order::Order;
use super::ready::ReadyPods;
use super::storage::Storage;
use crate::domain::budget::DisruptionBudget;
use crate::domain::measurement::NodeKey;
use crate::domain::node::Node;
use crate::domain::node_state::LEASE_AMBER_SECONDS;
use crate::domain::object::{Change, DaemonSet, NodeLease, Os};
use crate::domain::pod::{Phase, Pod};
use crate::domain::reading::Absence;
use crate::domain::windows_version::{NewestRevisions, WindowsVersion};
use crate::domain::{Name, Timestamp};
use crate::maintenance::boots::UndrainedRestart;
use crate::maintenance::record::Record;
use crate::sources::event::{WatchState, Watched};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Sort orders of the tables, which hear of each row that changes.
#[derive(Default)]
pub struct Orders {
    /// Of the node table.
    pub nodes: Order,
    /// Of the pod table.
    pub pods: Order,
    /// Of the table of updates, whose rows are the nodes too.
    pub updates: Order,
    /// Of the table of SMB mappings.
    pub smb: Order,
}

impl Orders {
    /// A node's content changed.
    pub fn node_changed(&mut self, slot: u32) {
        self.nodes.changed(slot);
        self.updates.changed(slot);
    }

    /// A node appeared, vanished, or gave its slot to another.
    pub fn node_moved(&mut self, slot: u32) {
        self.nodes.moved(slot);
        self.updates.moved(slot);
    }

    /// Something that all nodes depend on changed.
    pub fn all_nodes_changed(&mut self) {
        self.nodes.all_changed();
        self.updates.all_changed();
    }
}

/// What a batch of changes did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Something on a screen may look different.
    pub visible: bool,
    /// Samples must find their nodes again.
    pub rejoin: bool,
}

/// Pods of one node.
#[derive(Default)]
struct PodsOfNode {
    slots: Vec<u32>,
    /// Those that have not ended: what `kubectl describe node` counts.
    running: usize,
}

/// The rows.
#[derive(Default)]
pub struct Cluster {
    /// Nodes.
    pub nodes: Folded<Node>,
    /// Pods.
    pub pods: Folded<Pod>,
    /// DaemonSets.
    pub daemonsets: Folded<DaemonSet>,
    /// Events.
    pub events: EventLog,
    /// Disruption budgets.
    pub budgets: Folded<DisruptionBudget>,
    /// Volumes, claims, classes, drivers, and who uses them.
    pub storage: Storage,
    /// How many pods of each controller are ready.
    pub ready: ReadyPods,
    /// How each watch is.
    pub watches: BTreeMap<Watched, WatchState>,
    /// Restarts without drain that are remembered, by UID of the node.
    pub restarts: BTreeMap<Name, UndrainedRestart>,
    /// Counts up whenever what decides over the boot of a node changed on the node itself.
    pub boots_version: u64,
    leases: Folded<NodeLease>,
    /// When we *saw* the renewal, by our own clock: the node's clock may be off.
    renewal_seen: HashMap<Name, Timestamp>,
    of_node: HashMap<Name, PodsOfNode>,
    /// `None` where two nodes have the address: a wrong join is worse than none.
    by_address: HashMap<IpAddr, Option<Name>>,
    newest_revisions: NewestRevisions,
}

/// Whether all containers have ended.
pub const fn ended(pod: &Pod) -> bool {
    matches!(pod.phase, Phase::Succeeded | Phase::Failed)
}

impl Cluster {
    /// Folds changes of nodes.
    pub fn apply_nodes(&mut self, changes: Vec<Change<Node>>, orders: &mut Orders) -> Effect {
        let mut effect = Effect::default();
        let of_node = &self.of_node;
        let boots_version = &mut self.boots_version;
        let storage_changed = &mut self.storage.changed;
        for change in changes {
            self.nodes.apply(change, &mut |touched: Touched<'_, Node>| {
                effect.visible = true;
                let same = |alike: fn(&Node, &Node) -> bool| match (touched.before, touched.after) {
                    (Some(before), Some(after)) => alike(before, after),
                    _ => false,
                };
                if !same(|before, after| {
                    (&before.uid, &before.boot_id, &before.proven_boot)
                        == (&after.uid, &after.boot_id, &after.proven_boot)
                }) {
                    *boots_version += 1;
                }
                if !same(|before, after| before.os == after.os && before.taints == after.taints) {
                    *storage_changed = true;
                }
                if same(|before, after| before.internal_ips == after.internal_ips) {
                    orders.node_changed(touched.slot);
                } else {
                    effect.rejoin = true;
                    orders.node_moved(touched.slot);
                }
                if same(|before, after| before.os == after.os && before.capacity == after.capacity) {
                    return;
                }
                let node = touched.after.or(touched.before);
                let pods = node.and_then(|node| of_node.get(&node.name));
                for slot in pods.into_iter().flat_map(|pods| &pods.slots) {
                    orders.pods.changed(*slot);
                }
            });
        }
        if effect.rejoin {
            self.index_addresses();
        }
        if effect.visible {
            let newest: NewestRevisions = self
                .nodes
                .iter()
                .filter_map(|node| windows_version(node.row))
                .collect();
            if newest != self.newest_revisions {
                // By how much a node is behind hangs on the others.
                orders.updates.all_changed();
                self.newest_revisions = newest;
            }
        }
        effect
    }

    fn index_addresses(&mut self) {
        self.by_address.clear();
        for node in self.nodes.iter() {
            for address in &node.internal_ips {
                self.by_address
                    .entry(*address)
                    .and_modify(|name| *name = None)
                    .or_insert_with(|| Some(node.name.clone()));
            }
        }
    }

    /// Folds changes of pods. Their samples are found by the rows, so the feeds hear of those that come and go.
    pub fn apply_pods(
        &mut self,
        changes: Vec<Change<Pod>>,
        orders: &mut Orders,
        feeds: &mut Feeds,
    ) -> Effect {
        let mut effect = Effect::default();
        let of_node = &mut self.of_node;
        let nodes = &self.nodes;
        let ready = &mut self.ready;
        let storage = &mut self.storage;
        for change in changes {
            self.pods.apply(change, &mut |touched: Touched<'_, Pod>| {
                effect.visible = true;
                if touched.before.is_some() && touched.after.is_some() {
                    orders.pods.changed(touched.slot);
                } else {
                    orders.pods.moved(touched.slot);
                }
                ready.changed(touched.before, touched.after);
                storage.pod_changed(&touched);
                let slot = touched.slot;
                match (touched.before, touched.after) {
                    (None, Some(row)) => feeds.pod_moved(At { slot, row }, true),
                    (Some(row), None) => feeds.pod_moved(At { slot, row }, false),
                    _ => {}
                }
                let place = |pod: Option<&Pod>| pod.map(|pod| (pod.node.clone(), ended(pod)));
                if place(touched.before) == place(touched.after) {
                    return;
                }
                for (pod, added) in [(touched.before, false), (touched.after, true)] {
                    let Some(pod) = pod else { continue };
                    effect.rejoin |= feeds.await_pod(pod);
                    let Some(node) = &pod.node else { continue };
                    count(of_node, node, touched.slot, ended(pod), added);
                    if let Some(slot) = nodes.slot(&(None, node.clone())) {
                        orders.node_changed(slot);
                    }
                }
            });
        }
        effect
    }

    /// Folds changes of leases, seen at `now`. A renewal of a node that was not late changes no screen.
    pub fn apply_leases(
        &mut self,
        changes: Vec<Change<NodeLease>>,
        orders: &mut Orders,
        now: Timestamp,
    ) -> Effect {
        let mut effect = Effect::default();
        let seen = &mut self.renewal_seen;
        let nodes = &self.nodes;
        for change in changes {
            self.leases.apply(change, &mut |touched: Touched<'_, NodeLease>| {
                let Some(lease) = touched.after.or(touched.before) else {
                    return;
                };
                let renewal =
                    |lease: Option<&NodeLease>| lease.map(|lease| (lease.uid.clone(), lease.renew_time));
                let before = seen.get(&lease.node).copied();
                if touched.after.is_none() {
                    seen.remove(&lease.node);
                } else if renewal(touched.before) != renewal(touched.after) {
                    seen.insert(lease.node.clone(), now);
                }
                effect.visible |= touched.after.is_none()
                    || before.is_none_or(|seen| seconds(now - seen) >= LEASE_AMBER_SECONDS);
                if let Some(slot) = nodes.slot(&(None, lease.node.clone())) {
                    orders.node_changed(slot);
                }
            });
        }
        effect
    }

    /// Folds changes of DaemonSets.
    pub fn apply_daemonsets(&mut self, changes: Vec<Change<DaemonSet>>) -> Effect {
        let mut effect = Effect::default();
        for change in changes {
            self.daemonsets.apply(change, &mut |_| {
                effect.visible = true;
                self.storage.changed = true;
            });
        }
        effect
    }

    /// Folds changes of disruption budgets.
    pub fn apply_budgets(&mut self, changes: Vec<Change<DisruptionBudget>>) -> Effect {
        let mut effect = Effect::default();
        for change in changes {
            self.budgets.apply(change, &mut |_| effect.visible = true);
        }
        effect
    }

    /// The node of this name.
    pub fn node(&self, name: &Name) -> Option<&Node> {
        self.nodes.find(&(None, name.clone()))
    }

    /// The pod of this name.
    pub fn pod(&self, id: &Id) -> Option<At<'_, Pod>> {
        self.pods.at(self.pods.slot(id)?)
    }

    /// Pods of the node that have not ended, or why their number is not known.
    pub fn pod_count(&self, node: &Name) -> Result<usize, Absence> {
        match self.watch_absence(Watched::Pods) {
            Some(reason) => Err(reason),
            None => Ok(self.of_node.get(node).map_or(0, |pods| pods.running)),
        }
    }

    /// Pods of the node, ended ones too, by namespace and name.
    pub fn pods_of(&self, node: &Name) -> Vec<At<'_, Pod>> {
        let slots = self.of_node.get(node).map_or(&[][..], |pods| &pods.slots);
        let mut pods: Vec<At<'_, Pod>> = slots.iter().filter_map(|slot| self.pods.at(*slot)).collect();
        pods.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        pods
    }

    /// Operating system of a pod: what it says, else that of its node.
    pub fn os_of(&self, pod: &Pod) -> Option<Os> {
        if pod.host_process {
            return Some(Os::Windows);
        }
        pod.os.or_else(|| self.node(pod.node.as_ref()?)?.os)
    }

    /// When the watch saw the node's lease renewed, or why that is not known.
    pub fn renewal_seen(&self, node: &Name) -> Result<Timestamp, Absence> {
        if let Some(reason) = self.watch_absence(Watched::Leases) {
            return Err(reason);
        }
        self.renewal_seen.get(node).copied().ok_or(Absence::NoSample)
    }

    /// Seconds since then.
    pub fn lease_age(&self, node: &Name, now: Timestamp) -> Result<u64, Absence> {
        self.renewal_seen(node).map(|seen| seconds(now - seen))
    }

    /// When the node renewed its lease, by its own clock.
    pub fn renewed_at(&self, node: &Name) -> Option<Timestamp> {
        self.leases.find(&(None, node.clone()))?.renew_time
    }

    /// By how many revisions the node is behind the newest of its build in the fleet.
    pub fn revisions_behind(&self, version: WindowsVersion) -> u32 {
        self.newest_revisions.behind(version)
    }

    /// Why rows of this watch are not there; `None` when they are (even if the watch is failing now).
    pub fn watch_absence(&self, watched: Watched) -> Option<Absence> {
        match self.watches.get(&watched) {
            None | Some(WatchState::Loading) => Some(Absence::NotYet),
            Some(WatchState::Live) => None,
            Some(WatchState::Forbidden(problem)) => Some(Absence::Forbidden(problem.to_string().into())),
            Some(WatchState::Failed(problem)) => {
                let empty = match watched {
                    Watched::Nodes => self.nodes.len() == 0,
                    Watched::Pods => self.pods.len() == 0,
                    Watched::Leases => self.renewal_seen.is_empty(),
                    Watched::DaemonSets => self.daemonsets.len() == 0,
                    Watched::Events => self.events.len() == 0,
                    Watched::Budgets => self.budgets.len() == 0,
                    Watched::PersistentVolumes => self.storage.volumes.len() == 0,
                    Watched::VolumeClaims => self.storage.claims.len() == 0,
                    Watched::StorageClasses => self.storage.classes.len() == 0,
                    Watched::CsiNodes => self.storage.csi_nodes.len() == 0,
                    Watched::CsiDrivers => self.storage.csi_drivers.len() == 0,
                };
                empty.then(|| Absence::SourceDown(problem.to_string().into()))
            }
        }
    }
}

/// The node's version of Windows; `None` on Linux and where the kernel version is no such version.
pub fn windows_version(node: &Node) -> Option<WindowsVersion> {
    (node.os == Some(Os::Windows))
        .then(|| node.kernel_version.parse().ok())
        .flatten()
}

/// The record of the maintenance that is under way on the node, or why this version of the program cannot read it.
pub fn record(node: &Node) -> Option<Result<Record, serde_json::Error>> {
    node.maintenance.as_deref().map(Record::parse)
}

/// Whole seconds of a difference of times, 0 if it is negative.
pub fn seconds(difference: chrono::TimeDelta) -> u64 {
    u64::try_from(difference.num_seconds()).unwrap_or(0)
}

fn count(of_node: &mut HashMap<Name, PodsOfNode>, node: &Name, slot: u32, ended: bool, added: bool) {
    let pods = of_node.entry(node.clone()).or_default();
    if added {
        pods.slots.push(slot);
        pods.running += usize::from(!ended);
    } else {
        pods.slots.retain(|other| *other != slot);
        pods.running -= usize::from(!ended);
        if pods.slots.is_empty() {
            of_node.remove(node);
        }
    }
}

impl Finder for Cluster {
    fn node_of(&self, key: &NodeKey) -> Option<Name> {
        match key {
            NodeKey::Name(name) => self.node(name).map(|node| node.name.clone()),
            NodeKey::Address(address) => self.by_address.get(address).cloned().flatten(),
            NodeKey::Pod(namespace, name) => {
                let pod = self.pods.find(&(Some(namespace.clone()), name.clone()))?;
                pod.node.clone()
            }
        }
    }

    fn slot_of(&self, pod: &Id) -> Option<u32> {
        self.pods.slot(pod)
    }
}
