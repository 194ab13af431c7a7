//! Deployments, DaemonSets, `StatefulSets` and static pods with the pods that they have.

use super::container::Container;
use crate::domain::object::Os;
use std::net::Ipv4Addr;

/// Which controller a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    /// A Deployment with one `ReplicaSet`; the text is its `pod-template-hash`.
    Deployment(&'static str),
    /// A DaemonSet.
    DaemonSet,
    /// A `StatefulSet`.
    StatefulSet,
    /// A static pod of the node: the API holds its mirror.
    StaticPod,
}

/// What makes pods fit a namespace at the `restricted` level of Pod Security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confinement {
    /// They do not.
    None,
    /// Windows pods of the RuntimeClass, running as an ordinary user.
    RuntimeClass,
    /// Linux pods without privileges.
    Restricted,
}

/// A volume of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volume {
    /// A `PersistentVolumeClaim`.
    Claim(&'static str),
    /// `emptyDir`: its data goes with the pod.
    EmptyDir,
}

impl Volume {
    /// Whether its data is lost when the pod leaves the node.
    pub fn is_empty_dir(self) -> bool {
        self == Self::EmptyDir
    }
}

/// A pod that exists from the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSeed {
    /// Name.
    pub name: String,
    /// Its node.
    pub node: &'static str,
    /// `status.podIP`.
    pub address: Ipv4Addr,
    /// Minutes since it was created and started.
    pub age_minutes: u32,
    /// Restarts of all its containers together.
    pub restarts: u32,
}

/// A workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Namespace.
    pub namespace: &'static str,
    /// Name.
    pub name: &'static str,
    /// Controller.
    pub kind: WorkloadKind,
    /// Operating system of its pods.
    pub os: Os,
    /// Its pods are in the node's network.
    pub host_network: bool,
    /// Volumes by name.
    pub volumes: Vec<(&'static str, Volume)>,
    /// Pods that exist from the beginning.
    pub pods: Vec<PodSeed>,
    pub(super) app: &'static str,
    pub(super) labels: Vec<(&'static str, &'static str)>,
    pub(super) containers: Vec<Container>,
    pub(super) init_containers: Vec<Container>,
    pub(super) host_process_user: Option<&'static str>,
    pub(super) confinement: Confinement,
    pub(super) critical: bool,
}

impl Workload {
    fn new(namespace: &'static str, name: &'static str, kind: WorkloadKind) -> Self {
        Self {
            namespace,
            name,
            kind,
            os: Os::Linux,
            host_network: kind == WorkloadKind::StaticPod,
            volumes: Vec::new(),
            pods: Vec::new(),
            app: name,
            labels: Vec::new(),
            containers: Vec::new(),
            init_containers: Vec::new(),
            host_process_user: None,
            confinement: Confinement::None,
            critical: false,
        }
    }

    /// A Deployment whose `ReplicaSet` has this hash.
    pub fn deployment(namespace: &'static str, name: &'static str, hash: &'static str) -> Self {
        Self::new(namespace, name, WorkloadKind::Deployment(hash))
    }

    /// A DaemonSet.
    pub fn daemon_set(namespace: &'static str, name: &'static str) -> Self {
        Self::new(namespace, name, WorkloadKind::DaemonSet)
    }

    /// A `StatefulSet`.
    pub fn stateful_set(namespace: &'static str, name: &'static str) -> Self {
        Self::new(namespace, name, WorkloadKind::StatefulSet)
    }

    /// A static pod.
    pub fn static_pod(namespace: &'static str, name: &'static str) -> Self {
        Self::new(namespace, name, WorkloadKind::StaticPod)
    }

    /// Its pods go to Windows nodes through the RuntimeClass and run as an ordinary user.
    #[must_use]
    pub fn windows_class(mut self) -> Self {
        self.os = Os::Windows;
        self.confinement = Confinement::RuntimeClass;
        self
    }

    /// Its pods are HostProcess pods of Windows nodes, running as `user`.
    #[must_use]
    pub fn host_process(mut self, user: &'static str) -> Self {
        self.os = Os::Windows;
        self.host_network = true;
        self.host_process_user = Some(user);
        self
    }

    /// Its pods are in the node's network.
    #[must_use]
    pub fn host_network(mut self) -> Self {
        self.host_network = true;
        self
    }

    /// Another `app.kubernetes.io/name` than the workload's name.
    #[must_use]
    pub fn named(mut self, app: &'static str) -> Self {
        self.app = app;
        self
    }

    /// A label of the pods.
    #[must_use]
    pub fn label(mut self, key: &'static str, value: &'static str) -> Self {
        self.labels.push((key, value));
        self
    }

    /// Its Linux pods fit a namespace at the `restricted` level of Pod Security.
    #[must_use]
    pub fn restricted(mut self) -> Self {
        self.confinement = Confinement::Restricted;
        self
    }

    /// Priority of node-critical pods.
    #[must_use]
    pub fn critical(mut self) -> Self {
        self.critical = true;
        self
    }

    /// Adds a container.
    #[must_use]
    pub fn container(mut self, container: Container) -> Self {
        self.containers.push(container);
        self
    }

    /// Adds an init container.
    #[must_use]
    pub fn init_container(mut self, container: Container) -> Self {
        self.init_containers.push(container);
        self
    }

    /// Adds a volume.
    #[must_use]
    pub fn volume(mut self, name: &'static str, volume: Volume) -> Self {
        self.volumes.push((name, volume));
        self
    }

    /// A pod whose name is the controller's name and a suffix.
    #[must_use]
    pub fn pod(
        self,
        suffix: &str,
        node: &'static str,
        address: [u8; 4],
        age_minutes: u32,
        restarts: u32,
    ) -> Self {
        let name = match self.kind {
            WorkloadKind::Deployment(hash) => format!("{}-{hash}-{suffix}", self.name),
            _ => format!("{}-{suffix}", self.name),
        };
        self.pod_named(name, node, address, age_minutes, restarts)
    }

    /// A pod with this name.
    #[must_use]
    pub fn pod_named(
        mut self,
        name: String,
        node: &'static str,
        address: [u8; 4],
        age_minutes: u32,
        restarts: u32,
    ) -> Self {
        self.pods.push(PodSeed {
            name,
            node,
            address: address.into(),
            age_minutes,
            restarts,
        });
        self
    }

    /// Label `app.kubernetes.io/name` of its pods.
    pub fn app(&self) -> &'static str {
        self.app
    }
}
