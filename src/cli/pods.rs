//! `drainboard pods`: the pods, once.

use super::args::OutputFormat;
use super::exit::{CliError, Outcome};
use super::{collect, output};
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Watched};
use crate::store::view::TableKind;
use chrono::Utc;

/// Prints the pods.
///
/// # Errors
/// No usable kubeconfig, context or credentials; the pods cannot be read; or the output is gone.
pub async fn run(options: SourcesOptions, format: OutputFormat) -> Result<Outcome, CliError> {
    let demand = Demand {
        nodes: false,
        containers: true,
        history: false,
    };
    let mut collected = collect::about(Watched::Pods, options, demand).await?;
    output::print_table(
        &mut collected.store,
        TableKind::Pods,
        format == OutputFormat::Wide,
        Utc::now(),
    )?;
    Ok(Outcome::Fine)
}
