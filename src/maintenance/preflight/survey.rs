//! What a preflight looks at: everything was read just now, nothing comes from a watch.

use super::permissions::Access;
use crate::domain::Name;
use crate::domain::budget::DisruptionBudget;
use crate::domain::host_process::PodSecurity;
use crate::domain::node::{Node, Toleration};
use crate::domain::pod::{Pod, Resources};
use crate::domain::selector::LabelSelector;
use crate::maintenance::effect::Eviction;
use crate::maintenance::pods::PodRef;
use std::collections::BTreeMap;

/// What could be read, or why not. What is unknown becomes a note, never a silent gap.
pub type Known<T> = Result<T, String>;

/// The cluster before a maintenance of one node.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Name of the node.
    pub node: Name,
    /// All nodes.
    pub nodes: Vec<Place>,
    /// All pods.
    pub pods: Vec<Pod>,
    /// Where the node's pods may run, by UID.
    pub wishes: Known<BTreeMap<Name, Wishes>>,
    /// All disruption budgets.
    pub budgets: Known<Vec<DisruptionBudget>>,
    /// All `RuntimeClass`es by name.
    pub runtime_classes: Known<BTreeMap<Name, RuntimeClass>>,
    /// Services of type `NodePort` or with node ports.
    pub node_ports: Known<Vec<NodePort>>,
    /// Version of the API server, e.g. `v1.37.2`.
    pub server_version: Known<Name>,
    /// What the namespace of the HostProcess pod says of Pod Security; `None` where no such pod is wanted.
    pub pod_security: Option<Known<PodSecurity>>,
    /// What was asked of the API server about our own rights, and its answers.
    pub permissions: Vec<(Access, Known<bool>)>,
    /// How the server answered to evictions that it was asked to try only (`--dry-run`).
    pub dry_run_evictions: Vec<(PodRef, Eviction)>,
    /// What was seen of a restart outside of any maintenance, in words.
    pub restarted_without_drain: Option<String>,
    /// Id of the maintenance that asks.
    pub identity: String,
    /// `--take-over`: another maintenance of the node or of its pool does not stand against it.
    pub take_over: bool,
    /// `--pool-label`: label whose value tells pools apart, besides the Windows build.
    pub pool_label: Option<String>,
}

/// A node with what decides where pods can go.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The row.
    pub node: Node,
    /// Labels.
    pub labels: Box<[(Name, Name)]>,
    /// `status.images`: the kubelet reports at most 50.
    pub images: Box<[Image]>,
}

/// An image in a node's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// All its names, with tag or digest.
    pub names: Box<[Name]>,
    /// Bytes, as the kubelet reports them.
    pub bytes: u64,
}

/// Where a pod may run, as its spec says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// `spec.nodeSelector`, with what its `RuntimeClass` added at admission.
    pub node_selector: Box<[(Name, Name)]>,
    /// `spec.tolerations`.
    pub tolerations: Box<[Toleration]>,
    /// Required node affinity: one of these must match; empty for none.
    pub node_terms: Box<[LabelSelector]>,
    /// `spec.overhead`.
    pub overhead: Resources,
    /// What else the scheduler looks at, which is not judged here.
    pub unjudged: Box<[&'static str]>,
}

/// The scheduling part of a `RuntimeClass`: it is merged into every pod that is created with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeClass {
    /// `scheduling.nodeSelector`.
    pub node_selector: Box<[(Name, Name)]>,
    /// `scheduling.tolerations`.
    pub tolerations: Box<[Toleration]>,
}

/// A Service that is open on a port of every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePort {
    /// Namespace.
    pub namespace: Name,
    /// Name.
    pub name: Name,
    /// `spec.selector`; `None` for one without.
    pub selector: Option<LabelSelector>,
    /// Ports of the nodes.
    pub ports: Box<[u16]>,
}

impl Survey {
    /// The node itself.
    pub fn here(&self) -> Option<&Place> {
        self.nodes.iter().find(|place| place.node.name == self.node)
    }

    /// The other nodes.
    pub fn elsewhere(&self) -> impl Iterator<Item = &Place> {
        self.nodes.iter().filter(|place| place.node.name != self.node)
    }
}

impl Place {
    /// Value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels
            .iter()
            .find(|(label, _)| &**label == name)
            .map(|(_, value)| &**value)
    }
}
