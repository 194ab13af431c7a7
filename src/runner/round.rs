//! A round under way: ties [`round::step`] to its journal, to Prometheus and to what the store shows. Whoever drives it
//! runs the sessions of its nodes and tells it how they ended.

use super::clock::until;
use super::journal;
use super::round_journal::{OpenRound, RoundJournal};
use super::session::{Session, Setup};
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::Ending;
use crate::maintenance::options::Kept;
use crate::maintenance::pods::OwnerKey;
use crate::maintenance::round::event::{RoundEvent, RoundHappening};
use crate::maintenance::round::forecast::middle;
use crate::maintenance::round::plan::{Plan, Terms};
use crate::maintenance::round::{self, Effect, Heard, Round, Stage};
use crate::sources::prometheus;
use crate::store::Store;
use chrono::Utc;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::JoinSet;

/// How often the pods are looked at in the soak time: that takes a look at every pod.
const LOOK: Duration = Duration::from_secs(1);

/// A round under way.
pub struct RoundRun {
    round: Round,
    /// What happened in it so far, in this and earlier runs of the program.
    events: Vec<RoundEvent>,
    journal: Result<RoundJournal, String>,
    client: kube::Client,
    request_timeout: Duration,
    prometheus: prometheus::Options,
    asking: JoinSet<Result<Vec<String>, String>>,
    workloads: BTreeSet<OwnerKey>,
    looked_at: Option<Timestamp>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct News {
    /// What happened, to be shown.
    pub events: Vec<RoundEvent>,
    /// The node that is to be begun now; true where the round had begun it before.
    pub begin: Option<(Name, bool)>,
}

impl RoundRun {
    /// Begins a round over these nodes, in this order.
    pub fn start(
        nodes: Vec<Name>,
        terms: Terms,
        setup: &Setup,
        prometheus: prometheus::Options,
        attended: bool,
    ) -> (Self, News) {
        let at = Utc::now();
        let plan = Plan {
            id: format!("{:x}-{:x}", at.timestamp_millis(), std::process::id()),
            by: setup.by.clone(),
            started_at: at,
            purpose: setup.options.purpose,
            kept: Kept::of(&setup.options),
            terms,
            nodes,
        };
        let journal = RoundJournal::open(&setup.server, &plan.id).and_then(|mut journal| {
            journal.plan(&plan)?;
            Ok(journal)
        });
        let earlier = middle(journal::durations(&setup.server));
        let (round, effects) = round::start(plan, earlier, attended, at);
        let journal = journal.map_err(|error| error.to_string());
        Self::with(round, effects, (Vec::new(), journal), setup, prometheus, at)
    }

    /// Goes on with a round. What is asked for now counts beside what was asked for when it was begun.
    pub fn resume(
        open: OpenRound,
        terms: Terms,
        setup: &Setup,
        prometheus: prometheus::Options,
        store: &Store,
        attended: bool,
    ) -> (Self, News) {
        let at = Utc::now();
        let found = open.found(&setup.server, store);
        let workloads = open.workloads(&setup.server);
        let (mut plan, events, mut journal) = open.into_parts();
        plan.terms = terms.or(plan.terms);
        let journal = journal
            .plan(&plan)
            .map(|()| journal)
            .map_err(|error| error.to_string());
        let earlier = middle(journal::durations(&setup.server));
        let (round, effects) = round::resume(plan, &events, &found, earlier, attended, at);
        let (mut run, news) = Self::with(round, effects, (events, journal), setup, prometheus, at);
        run.workloads = workloads;
        (run, news)
    }

    fn with(
        round: Round,
        effects: Vec<Effect>,
        (events, journal): (Vec<RoundEvent>, Result<RoundJournal, String>),
        setup: &Setup,
        prometheus: prometheus::Options,
        at: Timestamp,
    ) -> (Self, News) {
        let mut run = Self {
            round,
            events,
            journal,
            client: setup.client.clone(),
            request_timeout: setup.request_timeout,
            prometheus,
            asking: JoinSet::new(),
            workloads: BTreeSet::new(),
            looked_at: None,
        };
        let news = run.perform(effects, at);
        (run, news)
    }

    /// Where it stands.
    pub const fn round(&self) -> &Round {
        &self.round
    }

    /// What happened so far, in this and earlier runs of the program.
    pub fn history(&self) -> &[RoundEvent] {
        &self.events
    }

    /// Why its journal is not written, if it is not: then it cannot be gone on with as a round.
    pub fn journal_problem(&self) -> Option<&str> {
        self.journal.as_ref().err().map(String::as_str)
    }

    /// Steps with what was heard.
    pub fn hear(&mut self, heard: Heard) -> News {
        let at = Utc::now();
        let (round, effects) = round::step(self.round.clone(), heard, at);
        self.round = round;
        self.perform(effects, at)
    }

    /// The maintenance of the node ended so, as far as this session drove it.
    pub fn ended(&mut self, session: &Session, ending: Ending) -> News {
        let Some(state) = session.state() else {
            return News::default();
        };
        let owners = state.record.iter().flat_map(|record| &record.ready_before);
        self.workloads = owners.map(|(owner, _)| owner.clone()).collect();
        self.hear(Heard::Ended {
            ending,
            seconds: (Utc::now() - state.started_at).as_seconds_f64(),
            maintenance: state.id.clone(),
        })
    }

    /// Shows it how the cluster looks now: in the soak time, and not more often than is worth it.
    pub fn observe(&mut self, store: &Store) -> News {
        let Stage::Soaking { node, .. } = &self.round.stage else {
            return News::default();
        };
        let now = Utc::now();
        let soon = |looked: &Timestamp| (now - *looked).to_std().is_ok_and(|since| since < LOOK);
        if self.looked_at.as_ref().is_some_and(soon) {
            return News::default();
        }
        let (Some(node), Some(pods)) = (store.node(node), store.workloads(&self.workloads)) else {
            return News::default();
        };
        self.looked_at = Some(now);
        self.hear(Heard::Seen {
            node_ready: is_ready(node),
            boot_id: node.boot_id.clone(),
            pods,
        })
    }

    /// Waits for the next thing that concerns it, apart from observations, sessions and the operator. Cancel safe.
    pub async fn wake(&mut self) -> Heard {
        let mut wake = round::next_wake(&self.round);
        if let (Stage::Soaking { .. }, Ok(look)) = (&self.round.stage, chrono::TimeDelta::from_std(LOOK)) {
            // What changed within a second of the last look is looked at by then.
            wake = Some(wake.map_or(Utc::now() + look, |at| at.min(Utc::now() + look)));
        }
        tokio::select! {
            Some(asked) = self.asking.join_next() => {
                Heard::Alerts(asked.unwrap_or_else(|error| Err(error.to_string())))
            }
            () = until(wake) => Heard::Tick,
        }
    }

    fn perform(&mut self, effects: Vec<Effect>, at: Timestamp) -> News {
        let mut news = News::default();
        for effect in effects {
            match effect {
                Effect::Tell(what, node) => {
                    let event = RoundEvent { what, at, node };
                    self.note(&event);
                    news.events.push(event.clone());
                    self.events.push(event);
                }
                Effect::AskAlerts => self.ask_alerts(),
                Effect::Begin { node, again } => news.begin = Some((node, again)),
            }
        }
        news
    }

    /// What a waiting round says again and again is not needed to go on.
    fn note(&mut self, event: &RoundEvent) {
        if matches!(event.what, RoundHappening::Waiting { .. }) {
            return;
        }
        if let Ok(journal) = &mut self.journal
            && let Err(error) = journal.event(event)
        {
            self.journal = Err(error.to_string());
        }
    }

    fn ask_alerts(&mut self) {
        let matchers = self.round.plan.terms.alerts.clone().unwrap_or_default();
        let (client, timeout, options) = (self.client.clone(), self.request_timeout, self.prometheus.clone());
        self.asking.spawn(async move {
            let firing = prometheus::alerts::firing(&client, timeout, &options, &matchers).await;
            firing.map_err(|problem| problem.to_string())
        });
    }
}

fn is_ready(node: &Node) -> bool {
    let ready = node
        .conditions
        .iter()
        .find(|condition| &*condition.kind == "Ready");
    ready.is_some_and(|ready| ready.status == ConditionStatus::True)
}
