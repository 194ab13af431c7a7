//! From the parsed command line to its command.

use super::args::{ClusterArgs, Command, CommandLine};
use super::exit::{CliError, Outcome};
use super::{check, nodes, pods};
use crate::sources::SourcesOptions;

/// Runs what the command line asks for.
///
/// # Errors
/// Wrong usage, or what the command says.
pub async fn run(line: CommandLine) -> Result<Outcome, CliError> {
    line.check()?;
    let options = sources_options(&line.cluster);
    match line.command {
        Some(Command::Nodes(print)) => nodes::run(options, print.output).await,
        Some(Command::Pods(print)) => pods::run(options, print.output).await,
        Some(Command::Check) => check::run(options).await,
        Some(Command::Demo(_) | Command::Lab(_)) | None => Ok(Outcome::Usage),
    }
}

fn sources_options(cluster: &ClusterArgs) -> SourcesOptions {
    SourcesOptions {
        kubeconfig: cluster.kubeconfig.clone(),
        context: cluster.context.clone(),
        namespace: cluster.namespace.clone(),
        pod_selector: String::new(),
        request_timeout: cluster.request_timeout,
        interactive: true,
    }
}
