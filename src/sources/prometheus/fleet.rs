//! Which instances of a Prometheus are nodes of this cluster.

use super::wire::Labels;
use crate::domain::Name;
use crate::domain::measurement::NodeKey;
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::Failure;
use serde::Deserialize;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

/// The Windows nodes of this cluster, as the API server lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fleet {
    addresses: HashSet<IpAddr>,
    names: HashSet<Name>,
}

/// Whose samples a series holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A node of this cluster, or of one that cannot be checked.
    Ours(NodeKey),
    /// An instance that is no Windows node of this cluster.
    Foreign,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeList {
    #[serde(default)]
    metadata: ListMeta,
    #[serde(default)]
    items: Vec<NodeItem>,
}

#[derive(Deserialize, Default)]
struct ListMeta {
    #[serde(default, rename = "continue")]
    next: String,
}

#[derive(Deserialize)]
struct NodeItem {
    metadata: NodeMeta,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Deserialize)]
struct NodeMeta {
    name: String,
}

#[derive(Deserialize, Default)]
struct NodeStatus {
    #[serde(default)]
    addresses: Vec<NodeAddress>,
}

#[derive(Deserialize)]
struct NodeAddress {
    #[serde(rename = "type")]
    kind: String,
    address: String,
}

impl Fleet {
    /// Lists the Windows nodes, page by page.
    pub async fn read(api: &HttpTransport) -> Result<Self, Failure> {
        let mut fleet = Self::default();
        let mut next = String::new();
        loop {
            let mut parameters = vec![("labelSelector", "kubernetes.io/os=windows"), ("limit", "500")];
            if !next.is_empty() {
                parameters.push(("continue", &next));
            }
            let answer = api.get("/api/v1/nodes", &parameters).await?;
            let list: NodeList = answer.json()?;
            fleet.add(list.items);
            if list.metadata.next.is_empty() {
                return Ok(fleet);
            }
            next = list.metadata.next;
        }
    }

    fn add(&mut self, items: Vec<NodeItem>) {
        for item in items {
            self.names.insert(Name::from(item.metadata.name));
            self.addresses.extend(
                item.status
                    .addresses
                    .iter()
                    .filter(|address| address.kind == "InternalIP")
                    .filter_map(|address| address.address.parse::<IpAddr>().ok()),
            );
        }
    }

    /// Whether this cluster has no Windows node.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The addresses of its nodes.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.iter().copied()
    }
}

/// Finds out which node a series is about: by the address of the instance, else by a `node` label or an instance
/// that relabelling made a node's name, else by the target's pod. Without a fleet nothing can be called foreign.
pub fn owner(labels: &Labels<'_>, fleet: Option<&Fleet>) -> Owner {
    let instance = labels.instance.as_ref();
    if let Some(address) = address_of(instance) {
        return match fleet {
            Some(fleet) if !fleet.addresses.contains(&address) => by_name(&labels.node, fleet),
            _ => Owner::Ours(NodeKey::Address(address)),
        };
    }
    let host = instance.rsplit_once(':').map_or(instance, |(host, _)| host);
    match fleet {
        Some(fleet) => match by_name(&labels.node, fleet) {
            Owner::Foreign => match by_name(host, fleet) {
                Owner::Foreign => by_pod(labels),
                ours @ Owner::Ours(_) => ours,
            },
            ours @ Owner::Ours(_) => ours,
        },
        None if !labels.node.is_empty() => Owner::Ours(NodeKey::Name(Name::from(labels.node.as_ref()))),
        None => by_pod(labels),
    }
}

fn by_name(name: &str, fleet: &Fleet) -> Owner {
    match fleet.names.get(name) {
        Some(name) => Owner::Ours(NodeKey::Name(name.clone())),
        None => Owner::Foreign,
    }
}

fn by_pod(labels: &Labels<'_>) -> Owner {
    if labels.namespace.is_empty() || labels.pod.is_empty() {
        return Owner::Foreign;
    }
    let (namespace, pod) = (labels.namespace.as_ref(), labels.pod.as_ref());
    Owner::Ours(NodeKey::Pod(namespace.into(), pod.into()))
}

fn address_of(instance: &str) -> Option<IpAddr> {
    let with_port = instance.parse::<SocketAddr>().map(|address| address.ip());
    with_port.or_else(|_| instance.parse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> Fleet {
        Fleet {
            addresses: HashSet::from(["192.168.10.25".parse().unwrap()]),
            names: HashSet::from([Name::from("k8s-lab-win-1")]),
        }
    }

    fn labels(instance: &'static str, node: &'static str, pod: &'static str) -> Labels<'static> {
        Labels {
            instance: instance.into(),
            node: node.into(),
            namespace: "monitoring".into(),
            pod: pod.into(),
            ..Labels::default()
        }
    }

    #[test]
    fn instances_are_mapped_by_address_then_by_what_relabelling_left() {
        let win_1 = Owner::Ours(NodeKey::Name("k8s-lab-win-1".into()));
        let fleet = fleet();
        let find = |instance, node, pod| owner(&labels(instance, node, pod), Some(&fleet));
        assert_eq!(
            find("192.168.10.25:9182", "", "exporter-x"),
            Owner::Ours(NodeKey::Address("192.168.10.25".parse().unwrap()))
        );
        assert_eq!(find("k8s-lab-win-1:9182", "", ""), win_1);
        assert_eq!(find("10.9.8.7:9182", "k8s-lab-win-1", ""), win_1);
        assert_eq!(
            find("WIN-HOST", "", "exporter-x"),
            Owner::Ours(NodeKey::Pod("monitoring".into(), "exporter-x".into()))
        );
    }

    #[test]
    fn another_clusters_instance_is_foreign_and_a_host_name_alone_maps_to_nothing() {
        let fleet = fleet();
        assert_eq!(
            owner(&labels("10.0.0.4:9182", "", "exporter-y"), Some(&fleet)),
            Owner::Foreign
        );
        assert_eq!(
            owner(&labels("K8S-LAB-WIN-1.local:9182", "", ""), Some(&fleet)),
            Owner::Foreign
        );
    }
}
