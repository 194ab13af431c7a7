//! Finds the exporter's pods.

use crate::domain::Name;
use crate::domain::measurement::NodeKey;
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::Failure;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Port of `windows_exporter`.
const PORT: u16 = 9182;

/// Labels of its pods: the Helm chart's, and those of plain `DaemonSets`.
const SELECTORS: [&str; 2] = [
    "app.kubernetes.io/name in (prometheus-windows-exporter, windows-exporter)",
    "app in (prometheus-windows-exporter, windows-exporter)",
];

/// A pod of the exporter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExporterPod {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Where it runs.
    pub node: Name,
    /// Address of the node.
    pub host_ip: String,
    /// Port that serves the metrics.
    pub port: u16,
}

impl ExporterPod {
    /// The names under which a sample of its node may be known.
    pub fn keys(&self) -> Vec<NodeKey> {
        let mut keys = vec![
            NodeKey::Name(self.node.clone()),
            NodeKey::Pod(self.namespace.as_str().into(), self.name.as_str().into()),
        ];
        keys.extend(self.host_ip.parse().ok().map(NodeKey::Address));
        keys
    }
}

#[derive(Deserialize)]
struct List<T> {
    #[serde(default = "Vec::new")]
    items: Vec<T>,
    #[serde(default)]
    metadata: ListMeta,
}

#[derive(Default, Deserialize)]
struct ListMeta {
    #[serde(default, rename = "continue")]
    next: String,
}

#[derive(Deserialize)]
struct Pod {
    metadata: Meta,
    spec: PodSpec,
    #[serde(default)]
    status: PodStatus,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    namespace: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodSpec {
    #[serde(default)]
    node_name: String,
    #[serde(default)]
    containers: Vec<Container>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodStatus {
    #[serde(default)]
    phase: String,
    #[serde(default, rename = "hostIP")]
    host_ip: String,
}

#[derive(Deserialize)]
struct Container {
    #[serde(default)]
    ports: Vec<ContainerPort>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerPort {
    container_port: u16,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct DaemonSet {
    metadata: Meta,
    spec: DaemonSetSpec,
}

#[derive(Deserialize)]
struct DaemonSetSpec {
    selector: Selector,
    template: Template,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    #[serde(default)]
    match_labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Template {
    spec: PodSpec,
}

/// Lists the running exporter pods: by their labels, else those of `DaemonSets` that serve the exporter's port.
///
/// # Errors
/// Pods cannot be listed.
pub async fn exporter_pods(api: &HttpTransport) -> Result<Vec<ExporterPod>, Failure> {
    for selector in SELECTORS {
        let pods = list_pods(api, "/api/v1/pods", selector).await?;
        if !pods.is_empty() {
            return Ok(pods);
        }
    }
    let mut pods = Vec::new();
    for daemon_set in by_port(api).await? {
        let path = format!("/api/v1/namespaces/{}/pods", daemon_set.metadata.namespace);
        let labels: Vec<String> = daemon_set
            .spec
            .selector
            .match_labels
            .iter()
            .map(|(label, value)| format!("{label}={value}"))
            .collect();
        pods.extend(list_pods(api, &path, &labels.join(",")).await?);
    }
    Ok(pods)
}

async fn by_port(api: &HttpTransport) -> Result<Vec<DaemonSet>, Failure> {
    let daemon_sets: Vec<DaemonSet> = list(api, "/apis/apps/v1/daemonsets", "").await?;
    Ok(daemon_sets
        .into_iter()
        .filter(|one| !one.spec.selector.match_labels.is_empty())
        .filter(|one| ports(&one.spec.template.spec).any(|port| port.container_port == PORT))
        .collect())
}

async fn list_pods(api: &HttpTransport, path: &str, selector: &str) -> Result<Vec<ExporterPod>, Failure> {
    let pods: Vec<Pod> = list(api, path, selector).await?;
    let running = pods
        .into_iter()
        .filter(|pod| pod.status.phase == "Running" && !pod.spec.node_name.is_empty());
    Ok(running
        .map(|pod| {
            let port = port_of(&pod.spec);
            ExporterPod {
                namespace: pod.metadata.namespace,
                name: pod.metadata.name,
                node: Name::from(pod.spec.node_name),
                host_ip: pod.status.host_ip,
                port,
            }
        })
        .collect())
}

async fn list<T: for<'de> Deserialize<'de>>(
    api: &HttpTransport,
    path: &str,
    selector: &str,
) -> Result<Vec<T>, Failure> {
    let mut items = Vec::new();
    let mut next = String::new();
    loop {
        let mut parameters = vec![("limit", "500")];
        if !selector.is_empty() {
            parameters.push(("labelSelector", selector));
        }
        if !next.is_empty() {
            parameters.push(("continue", &next));
        }
        let page: List<T> = api.get(path, &parameters).await?.json()?;
        items.extend(page.items);
        if page.metadata.next.is_empty() {
            return Ok(items);
        }
        next = page.metadata.next;
    }
}

fn ports(spec: &PodSpec) -> impl Iterator<Item = &ContainerPort> {
    spec.containers.iter().flat_map(|container| &container.ports)
}

/// The exporter's own port, else the one that is named for metrics.
fn port_of(spec: &PodSpec) -> u16 {
    ports(spec)
        .find(|port| port.container_port == PORT)
        .or_else(|| ports(spec).find(|port| matches!(port.name.as_str(), "metrics" | "http-metrics")))
        .map_or(PORT, |port| port.container_port)
}
