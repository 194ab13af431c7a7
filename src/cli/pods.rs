//! `drainboard pods`: the pods, once.

use super::args::OutputFormat;
use super::exit::{CliError, Outcome};
use super::json::{self, Document, Measured};
use super::{collect, output};
use crate::domain::Timestamp;
use crate::domain::cpu_maximum::CpuMaximum;
use crate::domain::object::Os;
use crate::domain::pod::ContainerKind;
use crate::domain::reading::{Absence, Reading};
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Watched};
use crate::store::facts::{ContainerFacts, PodFacts};
use crate::store::view::TableKind;
use chrono::Utc;
use serde::Serialize;

/// Prints the pods.
///
/// # Errors
/// No usable kubeconfig, context or credentials; the pods cannot be read; or the output is gone.
pub async fn run(options: SourcesOptions, format: OutputFormat) -> Result<Outcome, CliError> {
    let demand = Demand {
        nodes: false,
        containers: true,
        history: false,
        event_log: None,
        smb: false,
    };
    let mut collected = collect::about(Watched::Pods, options, demand).await?;
    let now = Utc::now();
    if format == OutputFormat::Json {
        output::print_json(&document(&collected.store.pod_facts(now), now))?;
    } else {
        output::print_table(
            &mut collected.store,
            TableKind::Pods,
            format == OutputFormat::Wide,
            now,
        )?;
    }
    Ok(Outcome::Fine)
}

/// The pods as JSON.
pub fn document(pods: &[PodFacts], now: Timestamp) -> Document<Item> {
    Document {
        items: pods.iter().map(|pod| Item::of(pod, now)).collect(),
    }
}

/// A pod as JSON.
#[derive(Debug, Serialize)]
pub struct Item {
    namespace: String,
    name: String,
    /// Null while the pod is not bound.
    node: Option<String>,
    /// `windows` or `linux`; null while neither the pod nor its node says it.
    os: Option<&'static str>,
    /// `status.phase`.
    phase: &'static str,
    /// The word in kubectl's STATUS column.
    state: String,
    /// As in kubectl's READY column: `1/1`.
    ready: String,
    restarts: u32,
    /// Containers and sidecars, in the order of the spec.
    containers: Vec<ContainerItem>,
}

/// A container as JSON.
#[derive(Debug, Serialize)]
pub struct ContainerItem {
    name: String,
    commit_bytes: Measured<u64>,
    working_set_bytes: Measured<u64>,
    /// Null without a limit.
    memory_limit_bytes: Option<u64>,
    commit_to_limit: Measured<f64>,
    cpu_cores: Measured<f64>,
    /// Null without a limit.
    cpu_limit_millicores: Option<u64>,
    /// Ten-thousandths of the node; null without a limit and on Linux.
    cpu_maximum: Option<u16>,
    /// Percent of the node; null without a limit and on Linux.
    cpu_maximum_percent: Option<f64>,
}

impl Item {
    fn of(pod: &PodFacts, now: Timestamp) -> Self {
        Self {
            namespace: pod.namespace.to_string(),
            name: pod.name.to_string(),
            node: pod.node.as_ref().map(ToString::to_string),
            os: pod.os.map(Os::name),
            phase: pod.phase.name(),
            state: pod.state.to_string(),
            ready: format!("{}/{}", pod.ready, pod.ready_of),
            restarts: pod.restarts,
            containers: pod
                .containers
                .iter()
                .filter(|container| container.kind != ContainerKind::Init)
                .map(|container| ContainerItem::of(container, now))
                .collect(),
        }
    }
}

impl ContainerItem {
    fn of(container: &ContainerFacts, now: Timestamp) -> Self {
        let no_limit = Reading::Absent(Absence::NoLimit);
        // A limit of 0 is none.
        let memory_limit_bytes = container.memory_limit.filter(|&limit| limit > 0);
        let commit_to_limit = match memory_limit_bytes {
            // On Linux too: the missing limit is what the operator can mend.
            None => &no_limit,
            Some(_) => &container.commit_to_limit,
        };
        Self {
            name: container.name.to_string(),
            commit_bytes: json::bytes(&container.commit, now),
            working_set_bytes: json::bytes(&container.working_set, now),
            memory_limit_bytes,
            commit_to_limit: json::ratio(commit_to_limit, now),
            cpu_cores: json::cores(&container.cpu_cores, now),
            cpu_limit_millicores: container.cpu_limit_millicores.filter(|&limit| limit > 0),
            cpu_maximum: container.cpu_maximum.map(CpuMaximum::ten_thousandths),
            cpu_maximum_percent: container.cpu_maximum.map(CpuMaximum::percent),
        }
    }
}
