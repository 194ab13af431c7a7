//! The maintenance that the screens drive: ties it to the client of the cluster, and keeps what happened.

use super::event_loop::Workshop;
use super::maintain::{Order, Underway};
use super::ui::Message;
use super::watchman::Watchman;
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::{Ending, Event};
use crate::maintenance::input::Heard;
use crate::maintenance::options::Options;
use crate::maintenance::record::Record;
use crate::maintenance::round::event::{Reason, RoundHappening};
use crate::maintenance::round::{self, Round};
use crate::maintenance::state::{Question, State};
use crate::runner::round::{News, RoundRun};
use crate::runner::session::{Session, Setup, Woken};
use crate::sources::kubernetes::maintain::set_cordon;
use crate::sources::prometheus;
use crate::store::Store;
use crate::store::view::Role;
use chrono::Utc;
use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Lines of what happened that are kept for the page; the journal has them all.
const LOG: usize = 200;

/// Longest wait for the last changes when the program ends. None of them is missed: the Lease runs out by itself, and
/// what is resumed is measured at the cluster.
const PARTING: Duration = Duration::from_secs(5);

/// How maintenances are done that are begun on the screens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// What each begins with.
    pub options: Options,
    /// User and host.
    pub by: String,
    /// Longest wait for an answer of the API server.
    pub request_timeout: Duration,
    /// What is seen of the boots of the nodes is kept for later commands; else it ends with the program.
    pub remembers_boots: bool,
}

/// A round, and what it has to be told and to do next.
struct RoundUnderWay {
    run: RoundRun,
    /// What each node is begun with.
    options: Options,
    /// The node that is to be begun at the next look at the cluster.
    due: Option<(Name, bool)>,
    changed: bool,
}

/// The maintenance under way, if any, and the small changes that need none.
pub struct Sessions {
    client: watch::Receiver<Option<kube::Client>>,
    terms: Terms,
    session: Option<Session>,
    round: Option<RoundUnderWay>,
    log: VecDeque<(Timestamp, String)>,
    changed: bool,
    /// Small changes, and the last writes of what is over; each may have something to say.
    small: JoinSet<Option<Message>>,
    watchman: Watchman,
}

impl Sessions {
    /// Nothing under way.
    pub fn new(client: watch::Receiver<Option<kube::Client>>, terms: Terms) -> Self {
        Self {
            client,
            watchman: Watchman::new(terms.remembers_boots),
            terms,
            session: None,
            round: None,
            log: VecDeque::new(),
            changed: false,
            small: JoinSet::new(),
        }
    }

    /// Ends what is under way where it is; changes that were asked for are made, if the API server answers soon.
    pub async fn finish(mut self) {
        self.put_away();
        let last = async {
            while self.small.join_next().await.is_some() {}
            self.watchman.finish().await;
        };
        if tokio::time::timeout(PARTING, last).await.is_err() {
            tracing::warn!("the last changes were not answered in time");
        }
    }

    /// Makes room for another session. What the old one asked for last is still written.
    fn put_away(&mut self) {
        if let Some(session) = self.session.take() {
            self.small.spawn(async move {
                session.finish().await;
                None
            });
        }
    }

    fn client(&self) -> Result<kube::Client, String> {
        let client = self.client.borrow().clone();
        client.ok_or_else(|| "the cluster cannot be reached: i tells why".to_owned())
    }

    fn setup(&self, store: &Store, options: Options, take_over: bool) -> Result<Setup, String> {
        Ok(Setup {
            client: self.client()?,
            request_timeout: self.terms.request_timeout,
            server: store.scope().server.to_string(),
            by: self.terms.by.clone(),
            options,
            take_over,
            restarts: store.restarted_without_drain(),
        })
    }

    fn set_out(&mut self, (session, events): (Session, Vec<Event>)) {
        self.put_away();
        self.log.clear();
        // What happened before this run of the program is in the journal, and so is what happened just now.
        self.note(session.history().unwrap_or(events));
        self.session = Some(session);
    }

    /// The maintenance ended just now: the round goes on from there.
    fn node_ended(&mut self) -> Option<Message> {
        let (Some(session), Some(round)) = (&self.session, &mut self.round) else {
            return None;
        };
        let (ending, _) = session.state()?.ending.as_ref()?;
        let news = round.run.ended(session, *ending);
        self.take(news)
    }

    /// Takes what came of the round; its end and its pause are told the operator wherever he is.
    fn take(&mut self, news: News) -> Option<Message> {
        let mut said = None;
        for event in news.events {
            let role = match &event.what {
                RoundHappening::RoundDone { .. } => Some(Role::Ok),
                RoundHappening::RoundStopped { .. } => Some(Role::Error),
                RoundHappening::Waiting {
                    reason: Reason::Pause,
                    ..
                } => Some(Role::Warn),
                _ => None,
            };
            let text = event.what.to_string();
            if let Some(role) = role {
                said = Some(message(text.clone(), role));
            }
            self.write(event.at, text);
        }
        if let Some(round) = &mut self.round {
            round.due = news.begin.or(round.due.take());
            round.changed = true;
        }
        said
    }

    /// Begins the node that is due.
    fn begin_node(&mut self, store: &Store) {
        let Some(round) = &mut self.round else { return };
        let Some((node, again)) = round.due.take() else {
            return;
        };
        let options = round.options.clone();
        let found = store.node(&node);
        let begun = round.run.hear(round::Heard::Begun {
            boot_id: found.map(|found| found.boot_id.clone()).unwrap_or_default(),
        });
        self.take(begun);
        let record = found
            .filter(|_| again)
            .and_then(|found| Record::parse(found.maintenance.as_deref()?).ok());
        match (self.setup(store, options, false), record) {
            (Ok(setup), Some(record)) => self.set_out(Session::resume(node, record, setup)),
            (Ok(setup), None) => self.set_out(Session::start(node, setup)),
            (Err(problem), _) => {
                self.write(Utc::now(), problem);
                self.hear_round(round::Heard::Stop);
            }
        }
    }

    fn hear_round(&mut self, heard: round::Heard) -> Option<Message> {
        let news = self.round.as_mut()?.run.hear(heard);
        self.take(news)
    }

    fn note(&mut self, events: Vec<Event>) {
        for event in events {
            let words = event.what.to_string();
            let first = words.lines().next().unwrap_or_default().to_owned();
            self.write(event.at, first);
        }
        self.changed = true;
    }

    fn write(&mut self, at: Timestamp, line: String) {
        if self.log.len() == LOG {
            self.log.pop_front();
        }
        self.log.push_back((at, line));
    }

    fn state(&self) -> Option<&State> {
        self.session.as_ref().and_then(Session::state)
    }

    /// Tells it what was heard; an ending and a question are told the operator wherever he is.
    fn hear(&mut self, heard: Heard) -> Option<Message> {
        let session = self.session.as_mut()?;
        let asked = session.state().and_then(|state| state.question);
        let was_over = session.is_over();
        let events = session.hear(heard);
        self.note(events);
        let state = self.state()?;
        let said = match (&state.ending, state.question) {
            (Some((ending, reason)), _) if !was_over => Some(ended(&state.node, *ending, reason)),
            (None, Some(question)) if asked != Some(question) => Some(asks(&state.node, question)),
            _ => None,
        };
        let of_round = if was_over { None } else { self.node_ended() };
        of_round.or(said)
    }

    fn cordon(&mut self, node: Name, uid: Name, cordoned: bool) -> Result<(), String> {
        let client = self.client()?;
        let timeout = self.terms.request_timeout;
        self.small.spawn(async move {
            let done = if cordoned { "cordoned" } else { "uncordoned" };
            let said = match set_cordon(client, timeout, node.clone(), uid, cordoned).await {
                Ok(()) => message(format!("{node} is {done}"), Role::Ok),
                Err(problem) => message(format!("{node} is not {done}: {problem}"), Role::Error),
            };
            Some(said)
        });
        Ok(())
    }
}

fn message(text: String, role: Role) -> Message {
    Message { text, role }
}

fn ended(node: &Name, ending: Ending, reason: &str) -> Message {
    match ending {
        Ending::Done => message(format!("{node}: the maintenance is done"), Role::Ok),
        _ => message(format!("{node}: {reason}"), Role::Error),
    }
}

fn asks(node: &Name, question: Question) -> Message {
    let text = match question {
        Question::Begin => format!("{node}: the preflight is made, enter begins"),
        Question::SameRevision => format!("{node} restarted and its revision is the same: a decides, or A"),
    };
    message(text, Role::Warn)
}

impl Workshop<Store> for Sessions {
    fn order(&mut self, order: Order, store: &Store) -> Result<(), String> {
        match order {
            Order::Start {
                node,
                options,
                take_over,
            } => {
                let setup = self.setup(store, *options, take_over)?;
                self.set_out(Session::start(node, setup));
            }
            Order::Resume { node, record } => {
                let options = Options {
                    attended: true,
                    ..self.terms.options.clone()
                };
                let setup = self.setup(store, options, false)?;
                self.set_out(Session::resume(node, *record, setup));
            }
            Order::Round {
                nodes,
                options,
                terms,
            } => {
                let setup = self.setup(store, (*options).clone(), false)?;
                // Alerts are asked for on the command line only: what tells where Prometheus is stays with its source.
                let (run, news) =
                    RoundRun::start(nodes, *terms, &setup, prometheus::Options::default(), true);
                self.round = Some(RoundUnderWay {
                    run,
                    options: *options,
                    due: None,
                    changed: true,
                });
                self.take(news);
            }
            Order::GoOn => {
                self.hear_round(round::Heard::GoOn);
            }
            Order::StopRound => {
                self.hear_round(round::Heard::Stop);
            }
            Order::Decide(command) => {
                self.hear(Heard::Operator(command));
            }
            Order::Cordon { node, uid, cordoned } => self.cordon(node, uid, cordoned)?,
        }
        Ok(())
    }

    fn observe(&mut self, store: &Store) {
        if let Some(session) = &mut self.session {
            let was_over = session.is_over();
            let events = session.observe(store);
            self.note(events);
            if !was_over {
                self.node_ended();
            }
        }
        if let Some(round) = &mut self.round {
            let news = round.run.observe(store);
            if news.begin.is_some() || !news.events.is_empty() {
                self.take(news);
            }
        }
        self.begin_node(store);
    }

    fn remember(&mut self, store: &mut Store) -> bool {
        self.watchman.remember(store, Utc::now())
    }

    async fn work(&mut self) -> Option<Message> {
        let session = self.session.as_mut();
        let wake = async {
            match session {
                Some(session) if !session.is_over() => session.wake().await,
                _ => pending().await,
            }
        };
        let round = self.round.as_mut();
        let turn = async {
            match round {
                Some(round) if !round.run.round().is_over() => round.run.wake().await,
                _ => pending().await,
            }
        };
        tokio::select! {
            heard = turn => self.hear_round(heard),
            woken = wake => match woken {
                Woken::Heard(heard) => self.hear(heard),
                Woken::Output(line) => {
                    self.write(Utc::now(), line);
                    self.changed = true;
                    None
                }
            },
            Some(done) = self.small.join_next() => match done {
                Ok(said) => said,
                Err(error) => Some(message(format!("a change failed: {error}"), Role::Error)),
            },
            () = self.watchman.noted() => None,
        }
    }

    fn round_news(&mut self) -> Option<Arc<Round>> {
        let round = self.round.as_mut()?;
        std::mem::take(&mut round.changed).then(|| Arc::new(round.run.round().clone()))
    }

    fn news(&mut self) -> Option<Arc<Underway>> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let state = self.state()?.clone();
        Some(Arc::new(Underway {
            state,
            log: self.log.iter().cloned().collect(),
        }))
    }
}
