//! `drainboard maintain`: the guided maintenance without screens, for runbooks.

pub mod args;
mod ask;
mod choose;
mod conduct;
mod dry_run;
mod print;
mod round;
mod status;

use super::exit::{CliError, Outcome};
use super::{output, signals};
use crate::domain::Name;
use crate::domain::text::sanitise;
use crate::maintenance::event::Ending;
use crate::maintenance::round::plan::Terms;
use crate::runner::boots::Memory;
use crate::runner::report::{self, Report};
use crate::runner::round::{News, RoundRun};
use crate::runner::round_journal::OpenRound;
use crate::runner::session::{Session, Setup};
use crate::sources::event::Problem;
use crate::sources::{self, SourcesOptions, prometheus};
use crate::store::Store;
use args::MaintainArgs;
use ask::Ask;
use chrono::Utc;
use conduct::Conductor;
use print::Printer;
use round::Rounds;
use std::io::{self, IsTerminal};
use std::path::Path;

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
    let terms = args.terms()?;
    // What happens to a node is seen in all namespaces.
    options.namespace = None;
    let request_timeout = options.request_timeout;
    let prometheus = options.prometheus.clone();
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
        let nodes = choose::nodes(args, &setup, &store).await?;
        let printer = Printer::new(args.output);
        if args.dry_run {
            let outcome = dry_run::run(&nodes, &setup, args.output).await?;
            if is_round(&nodes, &terms) {
                round::foresee(nodes, terms, &setup, &prometheus, &printer).await?;
            }
            return Ok(outcome);
        }
        let conductor = Conductor {
            running: &mut running,
            store: &mut store,
            cancel: &cancel,
            printer,
            ask: Ask::default(),
            setup,
        };
        let mut work = Work {
            args,
            conductor,
            memory,
        };
        if args.abandon {
            work.abandon(&nodes).await
        } else if args.resume {
            work.resume(&nodes, terms, prometheus).await
        } else if is_round(&nodes, &terms) {
            let setup = &work.conductor.setup;
            let (run, news) = RoundRun::start(nodes, terms, setup, prometheus, io::stdin().is_terminal());
            work.round(run, news).await
        } else {
            work.each(&nodes).await
        }
    })
    .await;
    running.shutdown().await;
    result
}

/// One node without anything that stands between nodes is none.
fn is_round(nodes: &[Name], terms: &Terms) -> bool {
    nodes.len() > 1 || *terms != Terms::default()
}

/// What is to be done, and with what.
struct Work<'a> {
    args: &'a MaintainArgs,
    conductor: Conductor<'a>,
    memory: Memory,
}

impl Work<'_> {
    async fn round(&mut self, run: RoundRun, news: News) -> Result<Outcome, CliError> {
        let rounds = Rounds {
            conductor: &mut self.conductor,
            run,
            memory: &mut self.memory,
        };
        rounds.conduct(news, self.args).await
    }

    /// The nodes one after another, each for itself; the first that does not end well is the last.
    async fn each(&mut self, nodes: &[Name]) -> Result<Outcome, CliError> {
        for node in nodes {
            let outcome = one(&mut self.conductor, self.args, node, nodes.len() == 1).await?;
            self.memory.share(self.conductor.store, Utc::now());
            if outcome != Outcome::Fine {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Fine)
    }

    /// Goes on with a round; one node that is named goes on by itself.
    async fn resume(
        &mut self,
        nodes: &[Name],
        terms: Terms,
        prometheus: prometheus::Options,
    ) -> Result<Outcome, CliError> {
        if nodes.len() == 1 {
            return self.each(nodes).await;
        }
        let server = self.conductor.setup.server.clone();
        match OpenRound::find(&server, nodes).map_err(|error| not_readable(&error))? {
            Some(open) => {
                open.plan.restore(&mut self.conductor.setup.options);
                let (setup, store) = (&self.conductor.setup, &*self.conductor.store);
                let (run, news) =
                    RoundRun::resume(open, terms, setup, prometheus, store, io::stdin().is_terminal());
                self.round(run, news).await
            }
            None if nodes.is_empty() => {
                output::say(
                    "drainboard: this machine knows no round that is under way; `drainboard maintain --status` lists the \
                     nodes in work, and --resume with a node goes on with that one",
                );
                Ok(Outcome::Refused)
            }
            None => {
                output::say(
                    "drainboard: this machine knows no round of these nodes: only those that are in work are gone on with",
                );
                self.each(nodes).await
            }
        }
    }

    /// Gives up what is under way on the nodes, and the round of them if this machine knows one.
    async fn abandon(&mut self, nodes: &[Name]) -> Result<Outcome, CliError> {
        let server = self.conductor.setup.server.clone();
        let open = match nodes {
            [_] => None,
            _ => OpenRound::find(&server, nodes).map_err(|error| not_readable(&error))?,
        };
        let mut nodes = nodes.to_vec();
        if nodes.is_empty() {
            let Some(open) = &open else {
                output::say("drainboard: this machine knows no round that is under way");
                return Ok(Outcome::Refused);
            };
            let found = open.found(&server, self.conductor.store);
            let in_work = |node: &&Name| found.get(*node).is_some_and(|found| found.in_work);
            nodes = open.plan.nodes.iter().filter(in_work).cloned().collect();
        }
        let outcome = self.each(&nodes).await?;
        if let (Some(open), Outcome::Fine) = (open, outcome) {
            open.abandon(Utc::now())?;
            output::say("drainboard: the round is given up");
        }
        Ok(outcome)
    }
}

fn not_readable(error: &io::Error) -> CliError {
    CliError::Unreadable(Problem {
        what: format!("the round cannot be gone on with: {error}"),
        next_step: "end the other run first, or see whether the state directory can be read".to_owned(),
    })
}

async fn one(
    conductor: &mut Conductor<'_>,
    args: &MaintainArgs,
    node: &Name,
    alone: bool,
) -> Result<Outcome, CliError> {
    let (mut session, events) = if args.resume || args.abandon {
        let Some(record) = conductor.record_of(node)? else {
            output::say(&format!("drainboard: no maintenance is under way on node {node}"));
            // Of several nodes some may be done already; alone it is a mistake.
            let mistaken = args.resume && alone;
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
        Session::resume(node.clone(), record, setup)
    } else {
        Session::start(node.clone(), conductor.setup.clone())
    };
    let ending = conductor.conduct(&mut session, &events, args.abandon).await;
    if let (Ok(_), Some(path)) = (&ending, &args.report)
        && let Err(error) = write_report(&session, path)
    {
        output::say(&format!(
            "drainboard: the report was not written to {}: {error}",
            path.display()
        ));
    }
    // The Lease is given back, and what was asked for last is written.
    session.finish().await;
    // Given up is what was asked for.
    Ok(match ending? {
        Ending::Aborted if args.abandon => Outcome::Fine,
        ending => ending.into(),
    })
}

fn write_report(session: &Session, path: &Path) -> io::Result<()> {
    match Report::of(session)? {
        Some(one) => report::write(path, &one, || one.markdown()),
        None => Ok(()),
    }
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
