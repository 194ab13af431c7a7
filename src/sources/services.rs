//! Finds a backend among the cluster's services: by labels, by name, and by the port that it serves on.

use super::transport::HttpTransport;
use super::transport::failure::{Failure, FailureKind};
use super::transport::route::{Backend, Route};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How services are picked by the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// By this label selector.
    Labels(&'static str),
    /// By this name, in whatever namespace.
    Name(&'static str),
}

/// A service, as far as it tells how it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Service {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Meta {
    name: String,
    namespace: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct Spec {
    #[serde(default)]
    ports: Vec<Port>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    #[serde(default)]
    name: String,
    #[serde(rename = "port")]
    number: u16,
    #[serde(default)]
    app_protocol: String,
}

#[derive(Deserialize)]
struct ServiceList {
    #[serde(default)]
    items: Vec<Service>,
}

/// Lists the services that any of `picks` takes, each once, in the order of the picks.
///
/// # Errors
/// Services cannot be listed.
pub async fn find(api: &HttpTransport, picks: &[Pick]) -> Result<Vec<Service>, Failure> {
    let lists = picks.iter().map(|pick| list(api, *pick));
    let mut found: Vec<Service> = Vec::new();
    for list in futures::future::join_all(lists).await {
        for service in list? {
            if !found.iter().any(|other| other.is(&service)) {
                found.push(service);
            }
        }
    }
    Ok(found)
}

async fn list(api: &HttpTransport, pick: Pick) -> Result<Vec<Service>, Failure> {
    let field;
    let selector = match pick {
        Pick::Labels(labels) => ("labelSelector", labels),
        Pick::Name(name) => {
            field = format!("metadata.name={name}");
            ("fieldSelector", field.as_str())
        }
    };
    let answer = api.get("/api/v1/services", &[selector, ("limit", "100")]).await?;
    answer.json::<ServiceList>().map(|list| list.items)
}

impl Service {
    fn is(&self, other: &Self) -> bool {
        self.metadata.namespace == other.metadata.namespace && self.metadata.name == other.metadata.name
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The value of one of its labels.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.metadata.labels.get(name).map(String::as_str)
    }

    /// The way to it through the API server: to the first of its ports that has one of these names, else one of
    /// these numbers. `None` if it has neither.
    pub fn route(&self, names: &[&str], numbers: &[u16], backend: Backend) -> Option<Route> {
        let ports = &self.spec.ports;
        let by_name = || {
            names
                .iter()
                .find_map(|name| ports.iter().find(|port| port.name == *name))
        };
        let by_number = || {
            numbers
                .iter()
                .find_map(|number| ports.iter().find(|port| port.number == *number))
        };
        let port = by_name().or_else(by_number)?;
        let https = port.name == "https" || port.app_protocol.eq_ignore_ascii_case("https");
        Some(Route::Service {
            namespace: self.metadata.namespace.clone(),
            name: self.metadata.name.clone(),
            scheme: if https { "https" } else { "http" },
            port: if port.name.is_empty() {
                port.number.to_string()
            } else {
                port.name.clone()
            },
            backend,
        })
    }
}

/// Why the services could not be looked through, for this backend.
pub fn with_address(mut failure: Failure, backend: Backend) -> Failure {
    failure.problem.what = format!(
        "cannot look for {backend} among the services: {}",
        failure.problem.what
    );
    if failure.kind == FailureKind::Forbidden {
        failure.problem.next_step = format!(
            "ask for a ClusterRole with verb list on services, or give an address with {}",
            backend.flag()
        );
    }
    failure
}
