//! The joined truth about nodes and pods, whole: for pages and for the command line. Tables build only the
//! cells that are on screen.

use super::Store;
use super::cluster::windows_version;
use super::columns::nodes::NodeRow;
use super::fold::At;
use super::join::Joins;
use crate::domain::cpu_maximum::CpuMaximum;
use crate::domain::measurement::{ContainerQuantity, NodeQuantity, ServiceMeasurement};
use crate::domain::node::Node;
use crate::domain::node_state::NodeState;
use crate::domain::object::Os;
use crate::domain::pod::{Container, ContainerKind, ContainerState, Phase, Pod};
use crate::domain::reading::{Absence, Reading};
use crate::domain::windows_version::WindowsVersion;
use crate::domain::{Name, Timestamp, memory};
use crate::maintenance::boots::UndrainedRestart;

/// A node with all that is joined to it.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// Name.
    pub name: Name,
    /// Operating system.
    pub os: Option<Os>,
    /// Readiness, cordon and what makes the node doubtful.
    pub state: NodeState,
    /// Version of Windows from the kernel version; `None` on Linux.
    pub windows_version: Option<WindowsVersion>,
    /// By how many revisions it is behind the newest of its build in the fleet.
    pub revisions_behind: Option<u32>,
    /// Version of the kubelet.
    pub kubelet_version: Name,
    /// Kernel version as the node reports it.
    pub kernel_version: Name,
    /// Boot id, an opaque string; may be empty.
    pub boot_id: Name,
    /// The restart without drain that this boot came from, if it did.
    pub restarted_without_drain: Option<UndrainedRestart>,
    /// When it booted.
    pub booted_at: Reading<Timestamp>,
    /// CPU in use, 0..1 of the whole node.
    pub cpu_ratio: Reading<f64>,
    /// Committed memory, bytes.
    pub commit: Reading<f64>,
    /// Commit limit, bytes.
    pub commit_limit: Reading<f64>,
    /// Committed ÷ commit limit.
    pub commit_ratio: Reading<f64>,
    /// Commit that is left, bytes.
    pub commit_left: Reading<f64>,
    /// Physical memory as the exporter measures it, bytes.
    pub physical_memory: Reading<f64>,
    /// Page file, bytes: about the commit limit without RAM.
    pub page_file: Reading<f64>,
    /// Working set, bytes.
    pub working_set: Reading<f64>,
    /// Free part of volume C:, 0..1.
    pub system_disk_free: Reading<f64>,
    /// States of the services that decide over a Windows node.
    pub services: Vec<(&'static str, Reading<ServiceMeasurement>)>,
    /// Pods that have not ended, in the namespaces that are watched, or why they are not known.
    pub pods: Result<usize, Absence>,
    /// Seconds since the watch saw the lease renewed, or why that is not known.
    pub lease_age_seconds: Result<u64, Absence>,
    /// First `InternalIP`.
    pub internal_ip: Option<std::net::IpAddr>,
    /// When the Node object was created.
    pub created_at: Option<Timestamp>,
    /// Roles.
    pub roles: Box<[Name]>,
    /// Architecture: `amd64`, `arm64`, …
    pub architecture: Name,
    /// Container runtime.
    pub container_runtime: Name,
}

/// A pod with all that is joined to it.
#[derive(Clone, Debug)]
pub struct PodFacts {
    /// Namespace.
    pub namespace: Name,
    /// Name.
    pub name: Name,
    /// UID.
    pub uid: Name,
    /// Node; `None` while it is not bound.
    pub node: Option<Name>,
    /// Operating system: what the pod says, else its node's.
    pub os: Option<Os>,
    /// HostProcess pod.
    pub host_process: bool,
    /// `status.phase`.
    pub phase: Phase,
    /// kubectl's STATUS word.
    pub state: Name,
    /// Ready containers.
    pub ready: u16,
    /// Of so many.
    pub ready_of: u16,
    /// Restarts.
    pub restarts: u32,
    /// When the newest restart happened.
    pub last_restart_at: Option<Timestamp>,
    /// When the Pod object was created.
    pub created_at: Option<Timestamp>,
    /// Address.
    pub ip: Option<std::net::IpAddr>,
    /// Its containers, in order of the spec.
    pub containers: Vec<ContainerFacts>,
}

/// A container with all that is joined to it.
#[derive(Clone, Debug)]
pub struct ContainerFacts {
    /// Name.
    pub name: Name,
    /// Init, sidecar or ordinary.
    pub kind: ContainerKind,
    /// What it does now.
    pub state: ContainerState,
    /// Committed memory, bytes.
    pub commit: Reading<f64>,
    /// Highest commit since it started, bytes.
    pub commit_peak: Reading<f64>,
    /// Working set, bytes.
    pub working_set: Reading<f64>,
    /// CPU in use, cores.
    pub cpu_cores: Reading<f64>,
    /// Memory limit, bytes.
    pub memory_limit: Option<u64>,
    /// Commit ÷ limit.
    pub commit_to_limit: Reading<f64>,
    /// CPU limit, thousandths of a CPU.
    pub cpu_limit_millicores: Option<u64>,
    /// What the CPU limit became on Windows; `None` on Linux, without a limit, and while the node's CPUs are not
    /// known.
    pub cpu_maximum: Option<CpuMaximum>,
}

impl Store {
    /// Facts of all nodes, by name.
    pub fn node_facts(&self, now: Timestamp) -> Vec<NodeFacts> {
        let joins = self.joins(now);
        let mut facts: Vec<NodeFacts> = self
            .cluster
            .nodes
            .iter()
            .map(|node| joins.node_facts(node.row))
            .collect();
        facts.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        facts
    }

    /// Facts of all pods, by namespace and name.
    pub fn pod_facts(&self, now: Timestamp) -> Vec<PodFacts> {
        let joins = self.joins(now);
        let mut facts: Vec<PodFacts> = self.cluster.pods.iter().map(|pod| joins.pod_facts(pod)).collect();
        facts.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        facts
    }
}

impl Joins<'_> {
    /// All facts of a node.
    pub fn node_facts(&self, node: &Node) -> NodeFacts {
        let commit = self.node(node, NodeQuantity::Commit);
        let commit_limit = self.node(node, NodeQuantity::CommitLimit);
        let physical_memory = self.node(node, NodeQuantity::PhysicalMemory);
        let version = windows_version(node);
        NodeFacts {
            name: node.name.clone(),
            os: node.os,
            state: NodeRow { joins: *self, node }.state(),
            windows_version: version,
            revisions_behind: version.map(|version| self.cluster.revisions_behind(version)),
            kubelet_version: node.kubelet_version.clone(),
            kernel_version: node.kernel_version.clone(),
            boot_id: node.boot_id.clone(),
            restarted_without_drain: self.cluster.restarted_without_drain(node).cloned(),
            booted_at: self.booted_at(node),
            cpu_ratio: self.node(node, NodeQuantity::CpuRatio),
            commit_ratio: memory::node_commit_ratio(&commit, &commit_limit),
            commit_left: memory::commit_left(&commit, &commit_limit),
            page_file: memory::page_file(&commit_limit, &physical_memory),
            commit,
            commit_limit,
            physical_memory,
            working_set: self.node(node, NodeQuantity::WorkingSet),
            system_disk_free: self.node(node, NodeQuantity::SystemDiskFree),
            services: self.services(node),
            pods: self.cluster.pod_count(&node.name),
            lease_age_seconds: self.cluster.lease_age(&node.name, self.now),
            internal_ip: node.internal_ips.first().copied(),
            created_at: node.created_at,
            roles: node.roles.clone(),
            architecture: node.architecture.clone(),
            container_runtime: node.container_runtime.clone(),
        }
    }

    /// All facts of a pod.
    pub fn pod_facts(&self, pod: At<'_, Pod>) -> PodFacts {
        PodFacts {
            namespace: pod.namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid.clone(),
            node: pod.node.clone(),
            os: self.cluster.os_of(&pod),
            host_process: pod.host_process,
            phase: pod.phase,
            state: pod.state.clone(),
            ready: pod.ready,
            ready_of: pod.ready_of,
            restarts: pod.restarts,
            last_restart_at: pod.last_restart_at,
            created_at: pod.created_at,
            ip: pod.ip,
            containers: pod
                .containers
                .iter()
                .map(|container| self.container_facts(pod, container))
                .collect(),
        }
    }

    /// All facts of a container.
    pub fn container_facts(&self, pod: At<'_, Pod>, container: &Container) -> ContainerFacts {
        let windows = self.cluster.os_of(&pod) == Some(Os::Windows);
        let cpu_limit_millicores = container.limits.cpu_millicores;
        ContainerFacts {
            name: container.name.clone(),
            kind: container.kind,
            state: container.state.clone(),
            commit: self.container(pod, container, ContainerQuantity::Commit),
            commit_peak: self.container(pod, container, ContainerQuantity::CommitPeak),
            working_set: self.container(pod, container, ContainerQuantity::WorkingSet),
            cpu_cores: self.container(pod, container, ContainerQuantity::CpuCores),
            memory_limit: container.limits.memory_bytes,
            commit_to_limit: self.commit_to_limit(pod, container),
            cpu_limit_millicores,
            cpu_maximum: self
                .cpus_of(&pod)
                .ok()
                .filter(|_| windows)
                .and_then(|cpus| CpuMaximum::of(cpu_limit_millicores, cpus)),
        }
    }
}
