//! Runs one maintenance to its end: folds what the sources say, shows it to the session, prints what happens.

use super::ask::Ask;
use super::print::Printer;
use crate::cli::collect::unreadable;
use crate::cli::exit::CliError;
use crate::cli::output;
use crate::domain::Name;
use crate::domain::text::sanitise;
use crate::maintenance::event::{Ending, Event};
use crate::maintenance::input::{Command, Heard};
use crate::maintenance::record::Record;
use crate::maintenance::state::{Question, State, Step};
use crate::runner::session::{Session, Setup, Woken};
use crate::sources::Running;
use crate::sources::event::{Problem, SourceEvent, Watched};
use crate::store::Store;
use chrono::Utc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Most source events that are folded before the session looks.
const BATCH: usize = 256;

/// Waits until the first lists are there, and answers the client of the cluster that they are of.
///
/// # Errors
/// The nodes or the pods cannot be read.
pub async fn first_look(
    running: &mut Running,
    store: &mut Store,
    timeout: Duration,
) -> Result<kube::Client, CliError> {
    let looking = async {
        while let Some(event) = running.events.recv().await {
            store.apply(event, Utc::now());
            if let Some(problem) = [Watched::Nodes, Watched::Pods]
                .into_iter()
                .find_map(|watched| unreadable(store, watched))
            {
                return Err(problem);
            }
            if store.is_observable() {
                break;
            }
        }
        Ok(())
    };
    match tokio::time::timeout(timeout, looking).await {
        Ok(looked) => looked?,
        Err(_) => {
            return Err(Problem {
                what: format!(
                    "the API server did not send its nodes and pods within {} s",
                    timeout.as_secs_f32()
                ),
                next_step: "raise --request-timeout, or see what is slow with `drainboard check`".to_owned(),
            }
            .into());
        }
    }
    let client = running.client.borrow().clone();
    client.ok_or_else(|| {
        CliError::Unreadable(Problem {
            what: "the connection to the API server was closed".to_owned(),
            next_step: "try again".to_owned(),
        })
    })
}

/// What one maintenance after another is run with.
pub struct Conductor<'a> {
    /// The sources.
    pub running: &'a mut Running,
    /// What they said.
    pub store: &'a mut Store,
    /// SIGINT, SIGTERM, SIGHUP.
    pub cancel: &'a CancellationToken,
    /// Where events go.
    pub printer: Printer,
    /// Who answers questions.
    pub ask: Ask,
    /// What sessions are made with.
    pub setup: Setup,
}

impl Conductor<'_> {
    /// The record on the node; `None` if nothing is under way there.
    ///
    /// # Errors
    /// There is no such node, or its annotation cannot be read.
    pub fn record_of(&self, node: &Name) -> Result<Option<Record>, CliError> {
        let unreadable = |what: String, next_step: &str| {
            CliError::Unreadable(Problem {
                what,
                next_step: next_step.to_owned(),
            })
        };
        let observation = self.store.observe(node, &[]);
        let Some(found) = observation.and_then(|observation| observation.node) else {
            return Err(unreadable(
                format!("there is no node {node}"),
                "`drainboard nodes` lists them",
            ));
        };
        found
            .maintenance
            .as_deref()
            .map(Record::parse)
            .transpose()
            .map_err(|error| {
                unreadable(
                    format!(
                        "the record of the maintenance on node {node} cannot be read: {}",
                        sanitise(&error.to_string())
                    ),
                    "it may be of a newer drainboard; `kubectl annotate` removes drainboard.io/maintenance",
                )
            })
    }

    /// Runs it to its end, and answers how it ended.
    ///
    /// # Errors
    /// The output is gone.
    pub async fn conduct(
        &mut self,
        session: &mut Session,
        events: &[Event],
        abandon: bool,
    ) -> Result<Ending, CliError> {
        self.printer.events(events)?;
        if let Some(problem) = session.journal_problem() {
            output::say(&format!("the journal is not saved: {problem}"));
        }
        if abandon {
            let events = session.hear(Heard::Operator(Command::Abandon));
            self.printer.events(&events)?;
        }
        let events = session.observe(self.store);
        self.printer.events(&events)?;
        self.drive(session).await
    }

    /// Folds, observes, asks and prints until it is over, or the operator leaves.
    async fn drive(&mut self, session: &mut Session) -> Result<Ending, CliError> {
        let mut leaving = false;
        while !session.is_over() {
            let events = tokio::select! {
                () = self.cancel.cancelled(), if !leaving => {
                    let begun = session.state().is_some_and(|state| state.step > Step::Cordon);
                    if begun {
                        return Ok(interrupted(session));
                    }
                    // Nothing is left behind that was not begun: neither a Lease nor a cordon without a drain.
                    leaving = true;
                    session.hear(Heard::Operator(Command::Abandon))
                }
                event = self.running.events.recv() => {
                    let Some(event) = event else { break };
                    self.fold(event);
                    session.observe(self.store)
                }
                woken = session.wake() => match woken {
                    Woken::Heard(heard) => session.hear(heard),
                    Woken::Output(line) => {
                        self.printer.output(&line)?;
                        Vec::new()
                    }
                },
                typed = self.ask.answer() => match typed_answer(session, &typed) {
                    Typed::Decides(command) => session.hear(Heard::Operator(command)),
                    Typed::Leaves(ending) => return Ok(ending),
                    Typed::Nothing => Vec::new(),
                },
            };
            self.printer.events(&events)?;
            if let Some(state) = session.state() {
                self.printer.waiting(state)?;
                ask_if_asked(&mut self.ask, state);
            }
        }
        let ending = session.state().and_then(|state| state.ending.as_ref());
        Ok(ending.map_or(Ending::Aborted, |(ending, _)| *ending))
    }

    /// Folds this event and those that wait behind it.
    pub fn fold(&mut self, event: SourceEvent) {
        let now = Utc::now();
        self.store.apply(event, now);
        for _ in 0..BATCH {
            let Ok(event) = self.running.events.try_recv() else {
                break;
            };
            self.store.apply(event, now);
        }
    }
}

/// Puts the question that is open, or that of the reboot command, to the operator.
fn ask_if_asked(ask: &mut Ask, state: &State) {
    let node = &state.node;
    let may_run = state.options.reboot.is_some() && !state.options.yes;
    let started = state.record.as_ref().is_some_and(|record| record.reboot_started);
    match state.question {
        Some(Question::Begin) => ask.once(&format!("type {node} to begin")),
        Some(Question::SameRevision) => ask.once(&format!(
            "its revision is the same: type {node} to accept that and give it back, anything else to leave it cordoned"
        )),
        None if state.step == Step::Restart && may_run && !started => {
            ask.once(&format!("type {node} to restart it from here"));
        }
        None => {}
    }
}

/// What a typed line means.
enum Typed {
    Decides(Command),
    Leaves(Ending),
    Nothing,
}

/// The node's name confirms; anything else does not.
fn typed_answer(session: &Session, typed: &str) -> Typed {
    let Some(state) = session.state() else {
        return Typed::Nothing;
    };
    let confirmed = typed.trim() == &*state.node;
    match (state.question, state.step, confirmed) {
        (Some(Question::Begin), _, true) => Typed::Decides(Command::Begin),
        (Some(Question::Begin), _, false) => Typed::Decides(Command::Abandon),
        (Some(Question::SameRevision), _, true) => Typed::Decides(Command::AcceptSameRevision),
        (Some(Question::SameRevision), _, false) => {
            output::say(&format!(
                "drainboard: not accepted; node {node} stays cordoned: install, restart, and go on with `drainboard \
                 maintain {node} --resume`",
                node = state.node
            ));
            Typed::Leaves(Ending::NotUpdated)
        }
        (None, Step::Restart, true) => Typed::Decides(Command::RunRebootCommand),
        (None, Step::Restart, false) => {
            output::say("not confirmed: it is not restarted from here; restart the node by hand");
            Typed::Nothing
        }
        (None, _, _) => Typed::Nothing,
    }
}

fn interrupted(session: &Session) -> Ending {
    if let Some(state) = session.state() {
        output::say(&match &state.record {
            Some(_) => format!(
                "drainboard: interrupted; node {node} stays as it is, go on with `drainboard maintain {node} --resume`",
                node = state.node
            ),
            None => "drainboard: interrupted before anything was changed".to_owned(),
        });
    }
    Ending::Aborted
}
