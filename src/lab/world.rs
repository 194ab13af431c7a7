//! What runs where at this moment. The fake kubelets write it; exporters, metrics, Prometheus and logs read it.

use crate::domain::object::Os;
use crate::domain::{Name, Timestamp};
use std::collections::{BTreeMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The word for an operating system in labels and specs.
pub const fn os_name(os: Os) -> &'static str {
    match os {
        Os::Windows => "windows",
        Os::Linux => "linux",
    }
}

/// The machine behind a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Name of the Node object.
    pub name: Name,
    /// `InternalIP`.
    pub address: Ipv4Addr,
    /// Operating system.
    pub os: Os,
    /// Logical CPUs.
    pub cpus: u32,
    /// RAM in bytes.
    pub memory_bytes: u64,
    /// Commit limit in bytes: RAM plus page file; only Windows has one.
    pub commit_limit_bytes: u64,
    /// `status.nodeInfo.kernelVersion`.
    pub kernel_version: Name,
    /// `status.nodeInfo.bootID`: a counter on Windows, a UUID on Linux.
    pub boot_id: Name,
    /// When it booted.
    pub booted_at: Timestamp,
    /// When it joined the cluster: the creation time of its Node object, which a real API server overrides.
    pub joined_at: Timestamp,
    /// Runs the control plane.
    pub control_plane: bool,
    /// First three bytes of its pods' addresses.
    pub pod_subnet: [u8; 3],
    /// Most pods it takes.
    pub max_pods: u32,
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

#[derive(Default)]
struct Inner {
    machines: BTreeMap<Name, Arc<Machine>>,
    pods: BTreeMap<(Name, Name), Arc<RunningPod>>,
    addresses: HashSet<Ipv4Addr>,
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
            .map(|machine| (machine.name.clone(), Arc::new(machine)))
            .collect();
        world
    }

    /// The machine of a node.
    pub fn machine(&self, name: &str) -> Option<Arc<Machine>> {
        self.read().machines.get(name).cloned()
    }

    /// All machines, by name.
    pub fn machines(&self) -> Vec<Arc<Machine>> {
        self.read().machines.values().cloned().collect()
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
        inner.addresses.insert(pod.address);
        inner
            .pods
            .insert((pod.namespace.clone(), pod.name.clone()), Arc::new(pod));
    }

    /// A pod's containers run no more. A pod of the same name with another UID is left alone.
    pub fn stopped(&self, namespace: &str, name: &str, uid: &str) {
        let mut inner = self.write();
        let key = (namespace.into(), name.into());
        if inner.pods.get(&key).is_some_and(|pod| &*pod.uid == uid)
            && let Some(pod) = inner.pods.remove(&key)
        {
            inner.addresses.remove(&pod.address);
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
    use chrono::{TimeDelta, Utc};

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
    fn a_pod_that_stopped_frees_its_address_and_a_successor_of_the_same_name_stays() {
        let world = World::new(machines(Utc::now()));
        let machine = world.machine("k8s-lab-win-1").unwrap();
        let address = world.take_address(&machine).unwrap();
        let pod = RunningPod {
            address,
            ..hello_win()
        };
        world.started(pod);
        world.stopped("win-demo", "hello-win-759c899954-tq5nc", "another-uid");
        assert_eq!(world.pods_on("k8s-lab-win-1").len(), 1);
        world.stopped("win-demo", "hello-win-759c899954-tq5nc", "u");
        assert!(world.pods().is_empty());
        assert_eq!(world.take_address(&machine), Some(address));
    }
}
