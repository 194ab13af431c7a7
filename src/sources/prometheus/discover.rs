//! Finds the Prometheus of a cluster among its services.

use crate::sources::services::{self, Pick};
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::Failure;
use crate::sources::transport::route::{Backend, Route};

/// Labels of the services, in the order in which they are preferred: the service of kube-prometheus-stack (its
/// name varies with the release), the operator's headless `prometheus-operated`, and plain installations.
const PICKS: [Pick; 4] = [
    Pick::Labels("app=kube-prometheus-stack-prometheus"),
    Pick::Labels("operated-prometheus=true"),
    Pick::Labels("app.kubernetes.io/name=prometheus"),
    Pick::Labels("app=prometheus,component=server"),
];

/// Names of the port that serves the API, in the order in which they are preferred.
const PORT_NAMES: [&str; 4] = ["http-web", "web", "http", "https"];

/// The port of Prometheus itself.
const PORT: u16 = 9090;

/// The ways to the services that look like a Prometheus, the preferred ones first.
///
/// # Errors
/// Services cannot be listed.
pub async fn candidates(api: &HttpTransport) -> Result<Vec<Route>, Failure> {
    let found = services::find(api, &PICKS)
        .await
        .map_err(|failure| services::with_address(failure, Backend::Prometheus))?;
    Ok(found
        .iter()
        .filter_map(|service| service.route(&PORT_NAMES, &[PORT], Backend::Prometheus))
        .collect())
}
