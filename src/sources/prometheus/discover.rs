//! Finds the Prometheus of a cluster among its services.

use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::Failure;
use crate::sources::transport::route::Route;
use serde::Deserialize;

/// A service that looks like a Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The way to it.
    pub route: Route,
}

/// Labels of the services, in the order in which they are preferred: the service of kube-prometheus-stack (its
/// name varies with the release), the operator's headless `prometheus-operated`, and plain installations.
const SELECTORS: [&str; 4] = [
    "app=kube-prometheus-stack-prometheus",
    "operated-prometheus=true",
    "app.kubernetes.io/name=prometheus",
    "app=prometheus,component=server",
];

/// Names of the port that serves the API, in the order in which they are preferred.
const PORT_NAMES: [&str; 4] = ["http-web", "web", "http", "https"];

/// The port of Prometheus itself.
const PORT: u16 = 9090;

#[derive(Deserialize)]
struct ServiceList {
    #[serde(default)]
    items: Vec<Service>,
}

#[derive(Deserialize)]
struct Service {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    namespace: String,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    ports: Vec<Port>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    #[serde(default)]
    name: String,
    #[serde(rename = "port")]
    number: u16,
    #[serde(default)]
    app_protocol: String,
}

/// Lists the services that look like a Prometheus, the preferred ones first.
///
/// # Errors
/// Services cannot be listed.
pub async fn candidates(api: &HttpTransport) -> Result<Vec<Candidate>, Failure> {
    let lists = SELECTORS.map(|selector| services(api, selector));
    let mut found: Vec<Candidate> = Vec::new();
    for list in futures::future::join_all(lists).await {
        for candidate in list?.into_iter().filter_map(candidate) {
            if !found.contains(&candidate) {
                found.push(candidate);
            }
        }
    }
    Ok(found)
}

async fn services(api: &HttpTransport, selector: &str) -> Result<Vec<Service>, Failure> {
    let answer = api
        .get(
            "/api/v1/services",
            &[("labelSelector", selector), ("limit", "100")],
        )
        .await?;
    answer.json::<ServiceList>().map(|list| list.items)
}

fn candidate(service: Service) -> Option<Candidate> {
    let ports = &service.spec.ports;
    let by_name = PORT_NAMES
        .iter()
        .find_map(|name| ports.iter().find(|port| port.name == *name));
    let port = by_name.or_else(|| ports.iter().find(|port| port.number == PORT))?;
    let https = port.name == "https" || port.app_protocol.eq_ignore_ascii_case("https");
    Some(Candidate {
        route: Route::Service {
            namespace: service.metadata.namespace,
            name: service.metadata.name,
            scheme: if https { "https" } else { "http" },
            port: if port.name.is_empty() {
                port.number.to_string()
            } else {
                port.name.clone()
            },
        },
    })
}
