//! The node's network pods: which they are, and whether they started anew after the boot.
//!
//! After a boot the kubelet is back before Calico and kube-proxy have recreated the HNS network, and a pod that starts
//! in between has no network for the rest of its life. No clock of the node is trusted for that: each container must
//! have an id that was not seen while the old boot id was reported.

use super::pods::OwnerKey;
use crate::domain::Name;
use crate::domain::pod::{Container, ContainerKind, Pod};
use crate::domain::selector::LabelSelector;
use std::collections::BTreeSet;

/// Parts of the names of `DaemonSets` that make or serve the network of a node.
const KNOWN: [&str; 13] = [
    "calico-node",
    "canal",
    "kube-proxy",
    "flannel",
    "antrea",
    "azure-cns",
    "azure-cni",
    "azure-npm",
    "ovnkube",
    "ovs-",
    "cilium",
    "kube-router",
    "weave-net",
];

/// Whether the pod belongs to the node's network: by the selector if there is one, else a `DaemonSet`'s by its name.
pub fn is_network_pod(pod: &Pod, selector: Option<&LabelSelector>) -> bool {
    if let Some(selector) = selector {
        return selector.selects(&pod.labels);
    }
    pod.owner.as_ref().is_some_and(|owner| {
        &*owner.kind == "DaemonSet" && KNOWN.iter().any(|part| owner.name.contains(part))
    })
}

/// Containers that go on running: not the init containers, which end.
fn lasting(pod: &Pod) -> impl Iterator<Item = &Container> {
    pod.containers
        .iter()
        .filter(|container| container.kind != ContainerKind::Init)
}

/// Ids of the containers of network pods, and the controllers of these.
pub fn seen<'a>(
    pods: impl Iterator<Item = &'a Pod>,
    selector: Option<&LabelSelector>,
) -> (BTreeSet<Name>, BTreeSet<OwnerKey>) {
    let mut ids = BTreeSet::new();
    let mut owners = BTreeSet::new();
    for pod in pods.filter(|pod| is_network_pod(pod, selector)) {
        ids.extend(
            lasting(pod)
                .map(|container| container.container_id.clone())
                .filter(|id| !id.is_empty()),
        );
        owners.extend(OwnerKey::of(pod));
    }
    (ids, owners)
}

/// A network pod after the boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPod {
    /// `namespace/name`, or the controller whose pod is missing.
    pub name: String,
    /// Containers with a new id that are ready.
    pub fresh: usize,
    /// Containers in all; 0 when the pod is missing.
    pub of: usize,
}

impl NetworkPod {
    /// Whether all of it started anew and is ready.
    pub const fn is_ready(&self) -> bool {
        self.of > 0 && self.fresh == self.of
    }
}

/// How the network pods are, measured at the ids and controllers from before the boot. Empty when there are none.
pub fn after_boot(
    pods: &[Pod],
    selector: Option<&LabelSelector>,
    old_ids: &BTreeSet<Name>,
    owners: &BTreeSet<OwnerKey>,
) -> Vec<NetworkPod> {
    let mut found = BTreeSet::new();
    let mut network: Vec<NetworkPod> = pods
        .iter()
        .filter(|pod| is_network_pod(pod, selector))
        .map(|pod| {
            found.extend(OwnerKey::of(pod));
            let is_fresh = |container: &&Container| {
                container.ready
                    && !container.container_id.is_empty()
                    && !old_ids.contains(&container.container_id)
            };
            let leaving = pod.deleted_at.is_some();
            NetworkPod {
                name: format!("{}/{}", pod.namespace, pod.name),
                fresh: if leaving {
                    0
                } else {
                    lasting(pod).filter(is_fresh).count()
                },
                of: lasting(pod).count(),
            }
        })
        .collect();
    network.extend(owners.difference(&found).map(|owner| NetworkPod {
        name: format!("{}/{}", owner.namespace, owner.name),
        fresh: 0,
        of: 0,
    }));
    network
}
