//! `drainboard maintain`: the guided maintenance without screens, for runbooks.

pub mod args;
mod ask;
mod conduct;
mod dry_run;
mod print;
mod status;

use super::exit::{CliError, Outcome};
use super::{output, signals};
use crate::domain::Name;
use crate::domain::text::sanitise;
use crate::maintenance::event::Ending;
use crate::runner::boots::Memory;
use crate::runner::session::{Session, Setup};
use crate::sources::{self, SourcesOptions};
use crate::store::Store;
use args::MaintainArgs;
use chrono::Utc;
use conduct::Conductor;
use print::Printer;
use std::io::{self, IsTerminal};

impl From<Ending> for Outcome {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Done => Self::Fine,
            Ending::Blocked => Self::Blocked,
            Ending::TimedOut => Self::TimedOut,
            Ending::Refused => Self::Refused,
            Ending::Aborted => Self::Aborted,
            Ending::NotUpdated => Self::NotUpdated,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Wrong usage; no usable kubeconfig, context or credentials; the nodes cannot be read; the output is gone.
pub async fn run(
    args: &MaintainArgs,
    mut options: SourcesOptions,
    read_only: bool,
) -> Result<Outcome, CliError> {
    if args.status {
        return status::run(options, args.output).await;
    }
    let mut maintenance = args.options()?;
    maintenance.attended = !args.yes && io::stdin().is_terminal();
    if read_only && !args.dry_run {
        output::say("drainboard: started with --read-only: nothing is changed on the cluster");
        return Ok(Outcome::Refused);
    }
    let confirms = args.yes || args.dry_run || args.abandon || args.resume;
    if !confirms && !io::stdin().is_terminal() {
        return Err(CliError::Usage(
            "maintain asks before it changes anything, and nobody is there to answer: --yes confirms beforehand, \
             --dry-run only looks"
                .to_owned(),
        ));
    }
    // What happens to a node is seen in all namespaces.
    options.namespace = None;
    let request_timeout = options.request_timeout;
    let mut running = sources::start(options).await?;
    let mut store = Store::new();
    let cancel = signals::cancelled_by_signals()?;
    let result = Box::pin(async {
        let client = conduct::first_look(&mut running, &mut store, request_timeout).await?;
        let server = store.scope().server.to_string();
        let mut memory = Memory::of(&server);
        memory.share(&mut store, Utc::now());
        let setup = Setup {
            client,
            request_timeout,
            restarts: store.restarted_without_drain(),
            server,
            by: by(),
            options: maintenance,
            take_over: args.take_over,
        };
        if args.dry_run {
            return dry_run::run(&args.nodes, &setup, args.output).await;
        }
        let mut conductor = Conductor {
            running: &mut running,
            store: &mut store,
            cancel: &cancel,
            printer: Printer::new(args.output),
            setup,
        };
        for node in &args.nodes {
            let outcome = one(&mut conductor, args, node).await?;
            memory.share(conductor.store, Utc::now());
            if outcome != Outcome::Fine {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Fine)
    })
    .await;
    running.shutdown().await;
    result
}

async fn one(conductor: &mut Conductor<'_>, args: &MaintainArgs, node: &str) -> Result<Outcome, CliError> {
    let node = Name::from(node);
    let (session, events) = if args.resume || args.abandon {
        let Some(record) = conductor.record_of(&node)? else {
            output::say(&format!("drainboard: no maintenance is under way on node {node}"));
            // Of several nodes some may be done already; alone it is a mistake.
            let mistaken = args.resume && args.nodes.len() == 1;
            return Ok(if mistaken { Outcome::Refused } else { Outcome::Fine });
        };
        if args.abandon && record.by != conductor.setup.by && !args.yes {
            output::say(&format!(
                "drainboard: the maintenance of node {node} is that of {}, begun at {}: --abandon --yes gives it up all the \
                 same",
                sanitise(&record.by),
                record.started_at.format("%Y-%m-%d %H:%M UTC")
            ));
            return Ok(Outcome::Refused);
        }
        let mut setup = conductor.setup.clone();
        // Whoever resumes has confirmed once already.
        setup.options.yes = true;
        Session::resume(node, record, setup)
    } else {
        Session::start(node, conductor.setup.clone())
    };
    let outcome = conductor
        .conduct(session, events, args.abandon, args.report.as_deref())
        .await?;
    // Given up is what was asked for.
    Ok(match outcome {
        Outcome::Aborted if args.abandon => Outcome::Fine,
        outcome => outcome,
    })
}

/// User and host, as far as they are known.
pub fn by() -> String {
    let user = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|variable| std::env::var(variable).ok().filter(|user| !user.is_empty()))
        .unwrap_or_else(|| "somebody".to_owned());
    match hostname::get() {
        Ok(host) => format!("{user}@{}", host.to_string_lossy()),
        Err(_) => user,
    }
}
