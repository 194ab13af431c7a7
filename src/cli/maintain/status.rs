//! `maintain --status`: what is under way.

use super::args::EventFormat;
use crate::cli::collect;
use crate::cli::exit::{CliError, Outcome};
use crate::cli::output;
use crate::domain::text::sanitise;
use crate::maintenance::record::Record;
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Watched};
use chrono::Utc;
use serde_json::json;

/// Lists the records on the nodes.
///
/// # Errors
/// The nodes cannot be read, or the output is gone.
pub async fn run(options: SourcesOptions, format: EventFormat) -> Result<Outcome, CliError> {
    let collected = collect::about(Watched::Nodes, options, Demand::default()).await?;
    let now = Utc::now();
    let mut any = false;
    for node in collected.store.nodes_in_work() {
        any = true;
        let record = node.maintenance.as_deref().unwrap_or_default();
        let line = match (Record::parse(record), format) {
            (Ok(record), EventFormat::Json) => {
                json!({"node": node.name, "record": record, "boot_id": node.boot_id, "unschedulable": node.unschedulable})
                    .to_string()
            }
            (Ok(record), EventFormat::Text) => format!(
                "{}  {} at {:?}, by {}, {} min ago; boot id {} before, {} now",
                node.name,
                record.purpose.name(),
                record.reached,
                sanitise(&record.by),
                (now - record.started_at).num_minutes(),
                sanitise(&record.boot_id),
                sanitise(&node.boot_id)
            ),
            (Err(error), EventFormat::Json) => {
                json!({"node": node.name, "error": sanitise(&error.to_string())}).to_string()
            }
            (Err(error), EventFormat::Text) => {
                let error = error.to_string();
                format!("{}  its record cannot be read: {}", node.name, sanitise(&error))
            }
        };
        output::print(&(line + "\n"))?;
    }
    if !any && format == EventFormat::Text {
        output::print("no maintenance is under way\n")?;
    }
    Ok(Outcome::Fine)
}
