//! One maintenance under way.

use super::clock::until;
use super::journal::{Journal, Line};
use crate::domain::{Name, Timestamp};
use crate::maintenance::boots::UndrainedRestart;
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::event::{Event, Happening};
use crate::maintenance::input::{Heard, Input};
use crate::maintenance::machine;
use crate::maintenance::options::Options;
use crate::maintenance::record::Record;
use crate::maintenance::state::{State, Step};
use crate::sources::kubernetes::maintain::{Executor, Identity};
use crate::sources::kubernetes::survey::{self, Intent};
use crate::store::Store;
use chrono::Utc;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Lines of a restart by command or pod that one run of the program writes into the journal.
const OUTPUT_LINES: usize = 500;

/// Whom a maintenance is done for, and with what.
#[derive(Clone)]
pub struct Setup {
    /// Client of the cluster.
    pub client: kube::Client,
    /// Longest wait for an answer.
    pub request_timeout: Duration,
    /// URL of the API server: names the journal.
    pub server: String,
    /// User and host.
    pub by: String,
    /// What the operator asked for.
    pub options: Options,
    /// Lease and record of somebody else are taken over, knowingly.
    pub take_over: bool,
    /// Nodes that restarted without drain, by name.
    pub restarts: BTreeMap<Name, UndrainedRestart>,
}

impl Setup {
    /// What a preflight of this node wants to know, for the maintenance of this id.
    pub fn intent(&self, node: Name, id: String, dry_run: bool) -> Intent {
        Intent {
            restarted_without_drain: self.restarts.get(&node).map(ToString::to_string),
            node,
            options: self.options.clone(),
            identity: id,
            take_over: self.take_over,
            pool_label: self.options.pool_label.clone(),
            dry_run,
        }
    }
}

/// A maintenance under way.
pub struct Session {
    /// Taken out for the moment of a step.
    state: Option<State>,
    setup: Setup,
    executor: Executor,
    answers: mpsc::UnboundedReceiver<Answer>,
    answer: mpsc::UnboundedSender<Answer>,
    output: mpsc::UnboundedReceiver<String>,
    surveys: JoinSet<()>,
    journal: Result<Journal, String>,
    /// The record that was noted last.
    noted: Option<Record>,
    /// Lines of the restart by command or pod that the journal still takes.
    output_left: usize,
}

/// What woke a session.
#[derive(Debug)]
pub enum Woken {
    /// Something to step with.
    Heard(Heard),
    /// A line of the restart by command or pod; it is in the journal.
    Output(String),
}

impl Session {
    /// Begins a maintenance of this node.
    pub fn start(node: Name, setup: Setup) -> (Self, Vec<Event>) {
        let at = Utc::now();
        let id = format!("{:x}-{:x}", at.timestamp_millis(), std::process::id());
        let journal = Journal::open(&setup.server, &node).map_err(|error| error.to_string());
        let (state, effects) = machine::start(node, setup.options.clone(), id, setup.by.clone(), at);
        Self::with(state, effects, journal, setup, at)
    }

    /// Goes on with the maintenance of this record.
    pub fn resume(node: Name, record: Record, mut setup: Setup) -> (Self, Vec<Event>) {
        let at = Utc::now();
        record.kept.restore(&mut setup.options);
        let journal = Journal::open(&setup.server, &node).map_err(|error| error.to_string());
        let told = journal.as_ref().map(|journal| journal.events(&record.id));
        let told = told.map(Result::unwrap_or_default).unwrap_or_default();
        let restart_began = record.reboot_started;
        let (state, effects) = machine::resume(node, record, setup.options.clone(), &told, at);
        let (mut session, events) = Self::with(state, effects, journal, setup, at);
        if restart_began {
            session.executor.pick_up_restart();
        }
        (session, events)
    }

    fn with(
        state: State,
        effects: Vec<Effect>,
        journal: Result<Journal, String>,
        setup: Setup,
        at: Timestamp,
    ) -> (Self, Vec<Event>) {
        let (answer, answers) = mpsc::unbounded_channel();
        let (lines, output) = mpsc::unbounded_channel();
        let identity = Identity {
            id: state.id.clone(),
            by: state.by.clone(),
            run: run(),
        };
        let executor = Executor::new(
            setup.client.clone(),
            setup.request_timeout,
            state.node.clone(),
            identity,
            state.options.clone(),
            setup.take_over,
            setup.options.pool_label.clone(),
            answer.clone(),
            lines,
        );
        let mut session = Self {
            state: None,
            setup,
            executor,
            answers,
            answer,
            output,
            surveys: JoinSet::new(),
            journal,
            noted: None,
            output_left: OUTPUT_LINES,
        };
        let events = session.perform(&state, effects, at);
        session.state = Some(state);
        (session, events)
    }

    /// Where it stands.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.state.as_ref().is_none_or(|state| state.step == Step::Over)
    }

    /// Leaves it where it is. Changes that were asked for are made.
    pub async fn finish(self) {
        self.executor.finish().await;
    }

    /// Why the journal is not written, if it is not.
    pub fn journal_problem(&self) -> Option<&str> {
        self.journal.as_ref().err().map(String::as_str)
    }

    /// Waits for the next thing that concerns it, apart from observations and the operator. Cancel safe.
    pub async fn wake(&mut self) -> Woken {
        let wake = self.state.as_ref().and_then(machine::next_wake);
        tokio::select! {
            Some(answer) = self.answers.recv() => {
                // What was said before the end is told before it.
                if matches!(answer, Answer::RebootCommand(_)) && let Ok(line) = self.output.try_recv() {
                    // It is our own queue.
                    let _ = self.answer.send(answer);
                    self.keep_output(&line);
                    return Woken::Output(line);
                }
                Woken::Heard(Heard::Answered(answer))
            }
            Some(line) = self.output.recv() => {
                self.keep_output(&line);
                Woken::Output(line)
            }
            () = until(wake) => Woken::Heard(Heard::Tick),
        }
    }

    /// Shows it how the cluster looks now. Answers what happened.
    pub fn observe(&mut self, store: &Store) -> Vec<Event> {
        let Some(state) = &self.state else {
            return Vec::new();
        };
        let record = state.record.iter();
        let wanted: Vec<_> = record
            .flat_map(|record| record.ready_before.iter().map(|(owner, _)| owner.clone()))
            .collect();
        match store.observe(&state.node, &wanted) {
            Some(observation) => self.hear(Heard::Observed(Box::new(observation))),
            None => match store.blindness() {
                Some(problem) => self.hear(Heard::Blind(problem.what.clone())),
                None => Vec::new(),
            },
        }
    }

    /// Steps with what was heard. Answers what happened.
    pub fn hear(&mut self, what: Heard) -> Vec<Event> {
        let at = Utc::now();
        let Some(state) = self.state.take() else {
            return Vec::new();
        };
        let (state, effects) = machine::step(state, Input { at, what });
        let events = self.perform(&state, effects, at);
        self.state = Some(state);
        events
    }

    /// The journal comes first, then the cluster.
    fn perform(&mut self, state: &State, effects: Vec<Effect>, at: Timestamp) -> Vec<Event> {
        let mut events = Vec::new();
        for effect in effects {
            match effect {
                Effect::Tell(what) => events.push(self.tell(state, what, at)),
                Effect::Survey => self.survey(state),
                effect => {
                    if let Effect::Cordon(record) | Effect::Save(record) | Effect::Uncordon { record, .. } =
                        &effect
                    {
                        events.extend(self.keep(state, record, at));
                    }
                    self.executor.perform(effect);
                }
            }
        }
        if state.step == Step::Over {
            self.executor.rest();
        }
        events
    }

    fn tell(&mut self, state: &State, what: Happening, at: Timestamp) -> Event {
        let event = Event {
            what,
            at,
            node: state.node.clone(),
        };
        let line = Line::Happened {
            id: state.id.clone(),
            event: event.clone(),
        };
        // Said once, by the record that could not be written; the annotation on the node holds the thread.
        let _ = self.write(&line);
        event
    }

    /// Notes a record, unless it is the one that was noted last: a write that is tried again says nothing new.
    fn keep(&mut self, state: &State, record: &Record, at: Timestamp) -> Option<Event> {
        if self.noted.as_ref() == Some(record) {
            return None;
        }
        self.noted = Some(record.clone());
        let error = self.write(&Line::Record(Box::new(record.clone()))).err()?;
        Some(Event {
            what: Happening::Note {
                text: format!(
                    "the journal is not saved ({error}); the annotation on the node still holds the thread"
                ),
            },
            at,
            node: state.node.clone(),
        })
    }

    fn write(&mut self, line: &Line) -> Result<(), String> {
        let journal = self.journal.as_mut().map_err(|problem| problem.clone())?;
        journal.append(line).map_err(|error| error.to_string())
    }

    /// A command that talks without end must not fill the disk.
    fn keep_output(&mut self, text: &str) {
        let Some(state) = &self.state else { return };
        let Some(left) = self.output_left.checked_sub(1) else {
            return;
        };
        self.output_left = left;
        let line = Line::Output {
            id: state.id.clone(),
            at: Utc::now(),
            text: if left == 0 {
                "(what follows is not kept)".to_owned()
            } else {
                text.to_owned()
            },
        };
        // As with what is told: said once, by the record.
        let _ = self.write(&line);
    }

    fn survey(&mut self, state: &State) {
        let intent = self.setup.intent(state.node.clone(), state.id.clone(), false);
        let (answer, client, timeout) = (
            self.answer.clone(),
            self.setup.client.clone(),
            self.setup.request_timeout,
        );
        self.surveys.spawn(async move {
            let preflight = survey::survey(client, timeout, &intent).await;
            // The session is gone when the program ends.
            let _ = answer.send(Answer::Surveyed(preflight));
        });
    }

    /// What happened in it so far, in this and earlier runs of the program.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn history(&self) -> io::Result<Vec<Event>> {
        match (&self.journal, &self.state) {
            (Ok(journal), Some(state)) => journal.events(&state.id),
            (Err(problem), _) => Err(io::Error::other(problem.clone())),
            (_, None) => Ok(Vec::new()),
        }
    }
}

/// This run of the program: `host:process id`.
fn run() -> String {
    let host = hostname::get().map_or_else(
        |_| "unknown".to_owned(),
        |host| host.to_string_lossy().into_owned(),
    );
    format!("{host}:{}", std::process::id())
}
