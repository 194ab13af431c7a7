//! `drainboard nodes`: the nodes, once.

use super::args::OutputFormat;
use super::exit::{CliError, Outcome};
use super::{collect, output};
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Watched};
use crate::store::view::TableKind;
use chrono::Utc;

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
    };
    let mut collected = collect::about(Watched::Nodes, options, demand).await?;
    output::print_table(
        &mut collected.store,
        TableKind::Nodes,
        format == OutputFormat::Wide,
        Utc::now(),
    )?;
    Ok(Outcome::Fine)
}
