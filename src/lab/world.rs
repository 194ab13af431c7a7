//! What runs where at this moment. The fake kubelets write it; exporters, metrics, Prometheus and logs read it.

use super::event_log::Record;
use super::machine::Machine;
use crate::domain::object::Os;
use crate::domain::{Name, Timestamp};
use chrono::Utc;
use std::collections::{BTreeMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::watch;

/// The word for an operating system in labels and specs.
pub const fn os_name(os: Os) -> &'static str {
    match os {
        Os::Windows => "windows",
        Os::Linux => "linux",
    }
}

/// A pod whose containers run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningPod {
    /// Namespace.
    pub namespace: Name,
    /// Name.
    pub name: Name,
    /// `metadata.uid`.
    pub uid: Name,
    /// Name of the node.
    pub node: Name,
    /// Operating system of the node.
    pub os: Os,
    /// Label `app.kubernetes.io/name`, or the pod's name: which figures and log lines it has.
    pub app: Name,
    /// Its processes run on the host itself.
    pub host_process: bool,
    /// Labels.
    pub labels: Arc<BTreeMap<String, String>>,
    /// Its address.
    pub address: Ipv4Addr,
    /// Claims that it mounts.
    pub claims: Arc<[Name]>,
    /// Its containers, init containers left out.
    pub containers: Vec<RunningContainer>,
}

/// A container that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningContainer {
    /// Name.
    pub name: Name,
    /// `containerd://…`.
    pub id: Name,
    /// When this run started.
    pub started_at: Timestamp,
    /// Image as in the spec.
    pub image: Name,
    /// `limits.memory` in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// `limits.cpu` in thousandths of a CPU.
    pub cpu_limit_millicores: Option<u64>,
}

/// A claim in a pod, as long as the pod runs: what the node plugin of the claim's driver has done.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// Name of the node.
    pub node: Name,
    /// UID of the pod.
    pub pod: Name,
    /// Claim: namespace, name.
    pub claim: (Name, Name),
    /// When the pod's containers were started.
    pub from: Timestamp,
    /// When they were stopped.
    pub until: Option<Timestamp>,
}

/// Mounts that are remembered.
const MOUNTS: usize = 1000;

#[derive(Default)]
struct Inner {
    mounts: Vec<Mount>,
    machines: BTreeMap<Name, watch::Sender<Arc<Machine>>>,
    pods: BTreeMap<(Name, Name), Arc<RunningPod>>,
    /// UID and text: what pods that ran to their end wrote.
    logs: BTreeMap<(Name, Name), (Name, String)>,
    addresses: HashSet<Ipv4Addr>,
    event_logs: BTreeMap<Name, Vec<Record>>,
}

/// The shared picture. Cheap to clone; all clones are one world.
#[derive(Clone, Default)]
pub struct World {
    inner: Arc<RwLock<Inner>>,
}

impl World {
    /// A world with these machines and no pods.
    pub fn new(machines: impl IntoIterator<Item = Machine>) -> Self {
        let world = Self::default();
        world.write().machines = machines
            .into_iter()
            .map(|machine| (machine.name.clone(), watch::Sender::new(Arc::new(machine))))
            .collect();
        world
    }

    /// The machine of a node, as it stands now.
    pub fn machine(&self, name: &str) -> Option<Arc<Machine>> {
        let inner = self.read();
        inner
            .machines
            .get(name)
            .map(|machine| Arc::clone(&machine.borrow()))
    }

    /// All machines, by name, as they stand now.
    pub fn machines(&self) -> Vec<Arc<Machine>> {
        let inner = self.read();
        inner
            .machines
            .values()
            .map(|machine| Arc::clone(&machine.borrow()))
            .collect()
    }

    /// The machine of a node, now and whenever it changes.
    pub fn follow(&self, name: &str) -> Option<watch::Receiver<Arc<Machine>>> {
        self.read().machines.get(name).map(watch::Sender::subscribe)
    }

    /// Changes the machine of a node, and tells all who follow it.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Machine)) {
        if let Some(machine) = self.read().machines.get(name) {
            machine.send_modify(|machine| change(Arc::make_mut(machine)));
        }
    }

    /// Writes records into the event log of a node.
    pub fn record(&self, node: &str, records: impl IntoIterator<Item = Record>) {
        self.write()
            .event_logs
            .entry(node.into())
            .or_default()
            .extend(records);
    }

    /// The event log of a node.
    pub fn event_log(&self, node: &str) -> Vec<Record> {
        self.read().event_logs.get(node).cloned().unwrap_or_default()
    }

    /// All running pods, by namespace and name.
    pub fn pods(&self) -> Vec<Arc<RunningPod>> {
        self.read().pods.values().cloned().collect()
    }

    /// The running pods of a node.
    pub fn pods_on(&self, node: &str) -> Vec<Arc<RunningPod>> {
        self.read()
            .pods
            .values()
            .filter(|pod| &*pod.node == node)
            .cloned()
            .collect()
    }

    /// One running pod.
    pub fn pod(&self, namespace: &str, name: &str) -> Option<Arc<RunningPod>> {
        self.read().pods.get(&(namespace.into(), name.into())).cloned()
    }

    /// A pod's containers run from now on.
    pub fn started(&self, pod: RunningPod) {
        let mut inner = self.write();
        let from = pod.containers.iter().map(|container| container.started_at).min();
        if let Some(from) = from {
            for claim in pod.claims.iter() {
                let mount = Mount {
                    node: pod.node.clone(),
                    pod: pod.uid.clone(),
                    claim: (pod.namespace.clone(), claim.clone()),
                    from,
                    until: None,
                };
                // A pod is told of whenever its status is.
                if !inner.mounts.contains(&mount) {
                    inner.mounts.push(mount);
                }
            }
        }
        let over = inner.mounts.len().saturating_sub(MOUNTS);
        inner.mounts.drain(..over);
        inner
            .pods
            .insert((pod.namespace.clone(), pod.name.clone()), Arc::new(pod));
    }

    /// The mounts of a node, those that have ended too, in the order in which they began.
    pub fn mounts_on(&self, node: &str) -> Vec<Mount> {
        let inner = self.read();
        let of_node = |mount: &&Mount| &*mount.node == node;
        inner.mounts.iter().filter(of_node).cloned().collect()
    }

    /// A pod's containers run no more. A pod of the same name with another UID is left alone.
    pub fn stopped(&self, namespace: &str, name: &str, uid: &str) {
        let mut inner = self.write();
        let key = (namespace.into(), name.into());
        if inner.pods.get(&key).is_some_and(|pod| &*pod.uid == uid) {
            inner.pods.remove(&key);
            let ended = inner.mounts.iter_mut().filter(|mount| &*mount.pod == uid);
            for mount in ended {
                mount.until.get_or_insert_with(Utc::now);
            }
        }
    }

    /// A pod that ran to its end wrote this line; it can be read until the pod is removed.
    pub fn leave_log(&self, namespace: &str, name: &str, uid: &str, line: &str) {
        let log = (uid.into(), format!("{line}\n"));
        self.write().logs.insert((namespace.into(), name.into()), log);
    }

    /// What a pod that ran to its end wrote.
    pub fn log_left(&self, namespace: &str, name: &str) -> Option<String> {
        let inner = self.read();
        let (_, text) = inner.logs.get(&(namespace.into(), name.into()))?;
        Some(text.clone())
    }

    /// The pod is removed, and its log with it. That of a successor of the same name is left alone.
    pub fn forget_log(&self, namespace: &str, name: &str, uid: &str) {
        let mut inner = self.write();
        let key = (namespace.into(), name.into());
        if inner.logs.get(&key).is_some_and(|(of, _)| &**of == uid) {
            inner.logs.remove(&key);
        }
    }

    /// A free address in the pod subnet of this machine, from now on taken; `None` when all are taken.
    pub fn take_address(&self, machine: &Machine) -> Option<Ipv4Addr> {
        let [a, b, c] = machine.pod_subnet;
        let mut inner = self.write();
        let free = (2..=254)
            .map(|last| Ipv4Addr::new(a, b, c, last))
            .find(|address| !inner.addresses.contains(address))?;
        inner.addresses.insert(free);
        Some(free)
    }

    /// Marks an address as taken.
    pub fn keep_address(&self, address: Ipv4Addr) {
        self.write().addresses.insert(address);
    }

    /// Marks an address as free again.
    pub fn release_address(&self, address: Ipv4Addr) {
        self.write().addresses.remove(&address);
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lab::article::machines;
    use crate::lab::machine::Stage;
    use chrono::TimeDelta;

    /// A running pod of hello-win as the article has it.
    pub fn hello_win() -> RunningPod {
        RunningPod {
            namespace: "win-demo".into(),
            name: "hello-win-759c899954-tq5nc".into(),
            uid: "u".into(),
            node: "k8s-lab-win-1".into(),
            os: Os::Windows,
            app: "hello-win".into(),
            host_process: false,
            labels: Arc::default(),
            address: Ipv4Addr::new(172, 21, 41, 18),
            claims: Arc::default(),
            containers: vec![RunningContainer {
                name: "hello".into(),
                id: "containerd://1".into(),
                started_at: Utc::now() - TimeDelta::seconds(65),
                image: "ghcr.io/example/hello:1.3".into(),
                memory_limit_bytes: Some(256 << 20),
                cpu_limit_millicores: Some(500),
            }],
        }
    }

    #[test]
    fn a_pod_that_stopped_leaves_a_successor_of_the_same_name_alone() {
        let world = World::new(machines(Utc::now()));
        world.started(hello_win());
        world.stopped("win-demo", "hello-win-759c899954-tq5nc", "another-uid");
        assert_eq!(world.pods_on("k8s-lab-win-1").len(), 1);
        world.stopped("win-demo", "hello-win-759c899954-tq5nc", "u");
        assert!(world.pods().is_empty());
    }

    #[test]
    fn an_address_is_given_to_one_pod_at_a_time() {
        let world = World::new(machines(Utc::now()));
        let machine = world.machine("k8s-lab-win-1").unwrap();
        let first = world.take_address(&machine).unwrap();
        assert_ne!(world.take_address(&machine), Some(first));
        world.release_address(first);
        assert_eq!(world.take_address(&machine), Some(first));
    }

    #[test]
    fn whoever_follows_a_machine_sees_its_change() {
        let world = World::new(machines(Utc::now()));
        let mut machine = world.follow("k8s-lab-win-1").unwrap();
        assert_eq!(machine.borrow_and_update().stage, Stage::Up);
        world.change("k8s-lab-win-1", |machine| machine.stage = Stage::Down);
        assert!(machine.has_changed().unwrap());
        assert_eq!(machine.borrow().stage, Stage::Down);
        assert_eq!(world.machine("k8s-lab-win-1").unwrap().stage, Stage::Down);
    }
}
