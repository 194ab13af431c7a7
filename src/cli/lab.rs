//! `drainboard lab`: simulated nodes on a test cluster that is marked for it.

use super::args::{AttachArgs, LabCommand};
use super::exit::{CliError, Outcome};
use super::{output, signals};
use crate::lab::attach::{AttachOptions, attach};
use crate::lab::synthetic::Size;
use crate::sources::SourcesOptions;

/// Runs a lab command until a signal ends it.
///
/// # Errors
/// The server is not marked as a lab, or cannot be used.
pub async fn run(command: &LabCommand, options: SourcesOptions) -> Result<Outcome, CliError> {
    let LabCommand::Attach(arguments) = command;
    let Some(kubeconfig) = options.kubeconfig else {
        return Err(CliError::Usage(
            "lab needs --kubeconfig FILE: it never takes a cluster by default".to_owned(),
        ));
    };
    let attached = AttachOptions {
        kubeconfig,
        context: options.context,
        size: size(arguments)?,
        speed: arguments.speed,
        churn: arguments.churn,
    };
    let cancel = signals::cancelled_by_signals()?;
    attach(attached, cancel, || output::say("drainboard lab: all pods run")).await?;
    Ok(Outcome::Fine)
}

/// Without numbers it is the article's cluster.
fn size(arguments: &AttachArgs) -> Result<Option<Size>, CliError> {
    match (arguments.nodes, arguments.pods) {
        (None, None) => Ok(None),
        (Some(nodes), Some(pods)) if nodes > 0 && pods / 250 <= nodes => Ok(Some(Size { nodes, pods })),
        (Some(_), Some(_)) => Err(CliError::Usage(
            "a simulated node takes up to 250 pods: ask for more --nodes or fewer --pods".to_owned(),
        )),
        _ => Err(CliError::Usage(
            "--nodes and --pods go together; without both it is the cluster of the article".to_owned(),
        )),
    }
}
