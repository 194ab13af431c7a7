//! `drainboard lab`: simulated nodes on a test cluster that is marked for it, and what is played on them.

use super::args::{AttachArgs, LabCommand};
use super::exit::{CliError, Outcome};
use super::{output, signals};
use crate::lab::attach::{AttachOptions, attach};
use crate::lab::client::LabClient;
use crate::lab::play::{Verb, ask};
use crate::lab::synthetic::Size;
use crate::sources::SourcesOptions;
use crate::sources::kubernetes::config::{self, Choice};

/// Runs a lab command: `attach` until a signal ends it, the others until what they ask for has begun.
///
/// # Errors
/// The server is not marked as a lab, or cannot be used; the node is unknown, or plays something already.
pub async fn run(command: &LabCommand, options: SourcesOptions) -> Result<Outcome, CliError> {
    let (verb, node) = match command {
        LabCommand::Attach(arguments) => return attach_nodes(arguments, options).await,
        LabCommand::Reboot(of) => (Verb::Reboot, &of.node),
        LabCommand::Update(of) => (Verb::Update, &of.node),
        LabCommand::Crash(of) => (Verb::Crash, &of.node),
        LabCommand::SlowDisk(of) => (Verb::SlowDisk, &of.node),
        LabCommand::Stuck(of) => (Verb::Stuck, &of.node),
        LabCommand::Flood(of) => (Verb::Flood, &of.node),
    };
    play(verb, node, options).await
}

async fn attach_nodes(arguments: &AttachArgs, options: SourcesOptions) -> Result<Outcome, CliError> {
    let Some(kubeconfig) = options.kubeconfig else {
        return Err(CliError::Usage(
            "lab attach needs --kubeconfig FILE: it never takes a cluster by default".to_owned(),
        ));
    };
    let attached = AttachOptions {
        kubeconfig,
        context: options.context,
        size: size(arguments)?,
        windows_nodes: arguments.windows_nodes,
        windows_max_pods: arguments.windows_max_pods,
        speed: arguments.speed,
        churn: arguments.churn,
    };
    let cancel = signals::cancelled_by_signals()?;
    attach(attached, cancel, || output::say("drainboard lab: all pods run")).await?;
    Ok(Outcome::Fine)
}

/// Asks the lab behind the kubeconfig, whichever process that is.
async fn play(verb: Verb, node: &str, options: SourcesOptions) -> Result<Outcome, CliError> {
    if options.kubeconfig.is_none() && std::env::var_os("KUBECONFIG").is_none_or(|list| list.is_empty()) {
        return Err(CliError::Usage(format!(
            "lab {verb} needs --kubeconfig FILE or KUBECONFIG, as `demo --serve` wrote it: it never takes a cluster by \
             default"
        )));
    }
    let session = config::open(Choice {
        kubeconfig: options.kubeconfig,
        context: options.context,
        connect_timeout: options.request_timeout,
        interactive: options.interactive,
    })
    .await?;
    let client = LabClient::new(session.client);
    ask(&client, &session.server, node, verb, options.request_timeout).await?;
    output::say(&match verb {
        Verb::Reboot => format!("node {node} restarts"),
        Verb::Update => format!("node {node} has installed its updates and restarts"),
        Verb::Crash => format!("node {node} has lost its power"),
        Verb::SlowDisk => format!("the next restart of node {node} meets a slow disk"),
        Verb::Flood => format!("a program on node {node} logs 10 MB a second until its next restart"),
        Verb::Stuck => format!("deleted pods of node {node} hang until its next restart"),
    });
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
