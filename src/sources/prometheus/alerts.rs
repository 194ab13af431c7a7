//! Which alerts fire, for a round of nodes that they block.

use super::Options;
use super::connection::Connection;
use super::matcher::Matcher;
use super::wire::{self, Alert};
use crate::sources::event::Problem;
use crate::sources::transport::failure::clean;
use std::collections::BTreeSet;
use std::time::Duration;

/// Alerts that are named; the others are counted.
const NAMED: usize = 8;

/// Labels that say where an alert fires, the most telling first.
const WHERE: [&str; 5] = ["pod", "node", "instance", "namespace", "service"];

/// The alerts of these matchers that fire now: name and place of each. Prometheus is looked for as the samples' is.
///
/// # Errors
/// The matchers are none; no Prometheus was found, or it did not answer: then nothing is known about alerts.
pub async fn firing(
    client: &kube::Client,
    timeout: Duration,
    options: &Options,
    matchers: &str,
) -> Result<Vec<String>, Problem> {
    let wanted = Matcher::of_alerts(matchers).map_err(|error| Problem {
        what: error.to_string(),
        next_step: "correct --block-on-alerts".to_owned(),
    })?;
    let connection = Connection::open(client, timeout, options).await;
    let connection = connection.map_err(|failure| failure.problem)?;
    let answer = connection
        .alerts(&wanted)
        .await
        .map_err(|failure| failure.problem)?;
    let alerts = wire::alerts(&answer).map_err(|failure| failure.problem)?;
    let names: BTreeSet<String> = alerts.iter().map(name).collect();
    let more = names.len().saturating_sub(NAMED);
    let mut named: Vec<String> = names.into_iter().take(NAMED).collect();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    Ok(named)
}

/// `KubePodCrashLooping of hello-win-1`.
fn name(alert: &Alert) -> String {
    let label = |name: &str| alert.metric.get(name).filter(|value| !value.is_empty());
    let name = label("alertname").map_or("an alert without name", String::as_str);
    match WHERE.iter().find_map(|place| label(place)) {
        Some(place) => clean(&format!("{name} of {place}")),
        None => clean(name),
    }
}
