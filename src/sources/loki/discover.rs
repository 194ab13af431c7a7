//! Finds the Loki of a cluster among its services.

use crate::sources::services::{self, Pick, Service};
use crate::sources::transport::HttpTransport;
use crate::sources::transport::failure::Failure;
use crate::sources::transport::route::{Backend, Route};

/// Labels of Loki's charts (`loki`, `loki-distributed`, `loki-stack`), then names for installations without them.
const PICKS: [Pick; 7] = [
    Pick::Labels("app.kubernetes.io/name=loki"),
    Pick::Labels("app.kubernetes.io/name=loki-distributed"),
    Pick::Labels("app=loki"),
    Pick::Name("loki-gateway"),
    Pick::Name("loki"),
    Pick::Name("loki-read"),
    Pick::Name("loki-query-frontend"),
];

/// Names of the port that serves the API, in the order in which they are preferred.
const PORT_NAMES: [&str; 4] = ["http-metrics", "http", "https", "http-gateway"];

/// The port of Loki itself, and of its gateway.
const PORTS: [u16; 2] = [3100, 80];

/// The ways to the services that look like a Loki: those that answer every question first.
///
/// # Errors
/// Services cannot be listed.
pub async fn candidates(api: &HttpTransport) -> Result<Vec<Route>, Failure> {
    let found = services::find(api, &PICKS)
        .await
        .map_err(|failure| services::with_address(failure, Backend::Loki))?;
    let mut ranked: Vec<(u8, Route)> = found
        .iter()
        .filter_map(|service| {
            let route = service.route(&PORT_NAMES, &PORTS, Backend::Loki)?;
            Some((rank(service)?, route))
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    Ok(ranked.into_iter().map(|(_, route)| route).collect())
}

/// Lower is better; `None` for parts of a Loki that answer no queries.
fn rank(service: &Service) -> Option<u8> {
    let name = service.name();
    // A second, headless service stands beside many of them.
    if name.ends_with("-headless") || name.ends_with("-memberlist") {
        return None;
    }
    let part = service
        .label("app.kubernetes.io/component")
        .or_else(|| name.strip_prefix("loki-"));
    match part {
        Some("gateway") => Some(0),
        Some("query-frontend") => Some(1),
        Some("single-binary") | None => Some(2),
        Some("read") => Some(3),
        Some("querier") => Some(4),
        Some(
            "write" | "backend" | "canary" | "distributor" | "ingester" | "ruler" | "compactor"
            | "index-gateway" | "query-scheduler" | "pattern-ingester" | "bloom-gateway",
        ) => None,
        Some(part) if part.contains("cache") || part.contains("memberlist") => None,
        Some(_) => Some(5),
    }
}
