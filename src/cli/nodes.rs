//! `drainboard nodes`: the nodes, once.

use super::args::OutputFormat;
use super::exit::{CliError, Outcome};
use super::json::{self, Document, Measured};
use super::{collect, output};
use crate::domain::Timestamp;
use crate::domain::node_state::Readiness;
use crate::domain::object::Os;
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Watched};
use crate::store::facts::NodeFacts;
use crate::store::view::TableKind;
use chrono::Utc;
use serde::Serialize;
use std::collections::BTreeMap;

/// Prints the nodes.
///
/// # Errors
/// No usable kubeconfig, context or credentials; the nodes cannot be read; or the output is gone.
pub async fn run(options: SourcesOptions, format: OutputFormat) -> Result<Outcome, CliError> {
    let demand = Demand {
        nodes: true,
        containers: false,
        // Sparklines stand in the table only.
        history: format != OutputFormat::Json,
        event_log: None,
        smb: false,
    };
    let mut collected = collect::about(Watched::Nodes, options, demand).await?;
    let now = Utc::now();
    if format == OutputFormat::Json {
        output::print_json(&document(&collected.store.node_facts(now), now))?;
    } else {
        output::print_table(
            &mut collected.store,
            TableKind::Nodes,
            format == OutputFormat::Wide,
            now,
        )?;
    }
    Ok(Outcome::Fine)
}

/// The nodes as JSON.
pub fn document(nodes: &[NodeFacts], now: Timestamp) -> Document<Item> {
    Document {
        items: nodes.iter().map(|node| Item::of(node, now)).collect(),
    }
}

/// A node as JSON.
#[derive(Debug, Serialize)]
pub struct Item {
    name: String,
    /// `windows` or `linux`.
    os: Option<&'static str>,
    /// Whether the Ready condition is `True`.
    ready: bool,
    /// Whether the node is not cordoned.
    schedulable: bool,
    /// Build of Windows, e.g. 26100; null on Linux.
    windows_build: Option<u32>,
    /// Revision of that build, e.g. 33438.
    revision: Option<u32>,
    kernel_version: String,
    /// An opaque string.
    boot_id: String,
    /// Null unless this boot came from a restart before which nobody drained the node.
    restarted_without_drain: Option<Restart>,
    cpu_percent: Measured<f64>,
    commit_bytes: Measured<u64>,
    commit_limit_bytes: Measured<u64>,
    commit_ratio: Measured<f64>,
    working_set_bytes: Measured<u64>,
    services: BTreeMap<&'static str, Measured<&'static str>>,
}

/// A restart without drain as JSON.
#[derive(Debug, Serialize)]
pub struct Restart {
    /// Boot id before.
    before: String,
    /// Boot id after.
    after: String,
    /// When the latter was seen first, RFC 3339.
    seen_at: Timestamp,
}

impl Item {
    fn of(node: &NodeFacts, now: Timestamp) -> Self {
        Self {
            name: node.name.to_string(),
            os: node.os.map(Os::name),
            ready: node.state.readiness == Readiness::Ready,
            schedulable: !node.state.cordoned,
            windows_build: node.windows_version.map(|version| version.build.build),
            revision: node.windows_version.map(|version| version.revision),
            kernel_version: node.kernel_version.to_string(),
            boot_id: node.boot_id.to_string(),
            restarted_without_drain: node.restarted_without_drain.as_ref().map(|restart| Restart {
                before: restart.before.to_string(),
                after: restart.after.to_string(),
                seen_at: restart.seen_at,
            }),
            cpu_percent: json::percent(&node.cpu_ratio, now),
            commit_bytes: json::bytes(&node.commit, now),
            commit_limit_bytes: json::bytes(&node.commit_limit, now),
            commit_ratio: json::ratio(&node.commit_ratio, now),
            working_set_bytes: json::bytes(&node.working_set, now),
            services: node
                .services
                .iter()
                .map(|(service, state)| (*service, json::state(state, now, |state| state.state.name())))
                .collect(),
        }
    }
}
