//! A round of nodes: one after another, with what must hold between them. Pure and by value, as the maintenance of one
//! node is: [`step`] folds what was heard and answers what is to be done. What must survive are the [`plan::Plan`] and
//! the events, in the journal of the rounds; [`resume`] goes on from them.

pub mod event;
pub mod forecast;
pub mod plan;
mod resume;
#[cfg(test)]
mod tests;

use super::event::Ending;
use super::pods::PodRef;
use crate::domain::{Name, Timestamp};
use chrono::TimeDelta;
use event::{Reason, RoundEnding, RoundHappening};
use forecast::beginning;
use plan::Plan;
use std::collections::BTreeSet;

pub use resume::{Found, resume};

/// How long an answer about alerts counts, and the rest before they are asked for again.
const ALERTS_REST: TimeDelta = TimeDelta::seconds(15);

/// A node of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeOfRound {
    /// Its name.
    pub node: Name,
    /// Where it is.
    pub standing: Standing,
}

/// Where a node of a round is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Not begun.
    Ahead,
    /// Begun, and not done.
    Begun,
    /// Done.
    Done {
        /// How long it took; `None`: it ended while the round was not looking.
        seconds: Option<f64>,
    },
}

/// Where a round is.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Before the next node.
    Gates,
    /// A node is worked on.
    Working {
        /// Which.
        node: Name,
        /// Since when.
        since: Timestamp,
    },
    /// A node is done, and watched for a while.
    Soaking {
        /// Which.
        node: Name,
        /// How long.
        until: Timestamp,
        /// Pods (UID) that were seen ready meanwhile.
        ready: BTreeSet<Name>,
        /// The node as it was seen first meanwhile, once it was ready: its boot id.
        boot_id: Option<Name>,
    },
    /// The operator has to confirm that it goes on.
    Paused,
    /// It is over.
    Over(RoundEnding),
}

/// What the round knows of the alerts that block it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Alerts {
    /// They were asked for, and nobody answered yet.
    asked: bool,
    /// The last answer.
    answer: Option<(Timestamp, Result<Vec<String>, String>)>,
}

/// A round of nodes. Changed by [`step`] only.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// What was asked for.
    pub plan: Plan,
    /// Its nodes, in the order in which they are done.
    pub nodes: Vec<NodeOfRound>,
    /// Where it is.
    pub stage: Stage,
    /// Seconds that a node took in earlier maintenances.
    pub earlier: Option<f64>,
    /// What it waits for, as it was told.
    pub waiting: Option<RoundHappening>,
    /// The forecast of the end, as it was told.
    pub forecast_told: Option<Timestamp>,
    /// Somebody is there to confirm the pause.
    attended: bool,
    /// The pause was confirmed.
    confirmed: bool,
    alerts: Alerts,
}

/// One thing heard.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Time went on.
    Tick,
    /// The node that was to be begun has this boot id, and is begun.
    Begun {
        /// Boot id.
        boot_id: Name,
    },
    /// The maintenance of the node ended.
    Ended {
        /// How.
        ending: Ending,
        /// From its start on.
        seconds: f64,
        /// Names it.
        maintenance: String,
    },
    /// The alerts that match and fire, or why that is not known.
    Alerts(Result<Vec<String>, String>),
    /// How the node that soaks is, and the pods of the controllers whose pods had left it.
    Seen {
        /// Ready.
        node_ready: bool,
        /// Its boot id.
        boot_id: Name,
        /// Pods that are not being deleted, and whether they are ready.
        pods: Vec<(PodRef, bool)>,
    },
    /// The operator confirms the pause.
    GoOn,
    /// The operator ends it.
    Stop,
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Begin the maintenance of this node, or go on with it if the round had begun it before; answered by
    /// [`Heard::Begun`], then [`Heard::Ended`].
    Begin {
        /// Which.
        node: Name,
        /// The round had begun it before.
        again: bool,
    },
    /// Ask for the alerts that fire; answered by [`Heard::Alerts`].
    AskAlerts,
    /// Tell the operator and the journal; about this node.
    Tell(RoundHappening, Option<Name>),
}

/// Begins a round. `earlier` are the seconds that a node took before; with `attended` somebody is there to confirm.
pub fn start(plan: Plan, earlier: Option<f64>, attended: bool, at: Timestamp) -> (Round, Vec<Effect>) {
    let nodes = plan.nodes.iter().map(|node| NodeOfRound {
        node: node.clone(),
        standing: Standing::Ahead,
    });
    let round = Round {
        nodes: nodes.collect(),
        plan,
        stage: Stage::Gates,
        earlier,
        waiting: None,
        forecast_told: None,
        attended,
        confirmed: false,
        alerts: Alerts::default(),
    };
    set_out(round, at)
}

/// The first turn: how it stands, and on.
fn set_out(mut round: Round, at: Timestamp) -> (Round, Vec<Effect>) {
    let mut turn = Turn::new(&mut round, at);
    turn.tell_standing();
    turn.go_on();
    let effects = turn.effects;
    (round, effects)
}

/// Folds one thing heard.
pub fn step(mut round: Round, heard: Heard, at: Timestamp) -> (Round, Vec<Effect>) {
    let mut turn = Turn::new(&mut round, at);
    turn.hear(heard);
    turn.go_on();
    let effects = turn.effects;
    (round, effects)
}

/// When [`Heard::Tick`] must come at the latest; `None` while only the outside can change something.
pub fn next_wake(round: &Round) -> Option<Timestamp> {
    match &round.stage {
        Stage::Soaking { until, .. } => Some(*until),
        Stage::Gates => {
            if let Some(RoundHappening::Waiting {
                reason: Reason::Window | Reason::Forecast,
                until,
                ..
            }) = &round.waiting
            {
                return *until;
            }
            let answer = round.alerts.answer.as_ref().filter(|_| !round.alerts.asked);
            answer.map(|(answered, _)| *answered + ALERTS_REST)
        }
        Stage::Working { .. } | Stage::Paused | Stage::Over(_) => None,
    }
}

impl Round {
    /// The nodes that are done.
    pub fn done(&self) -> Vec<Name> {
        let done = self
            .nodes
            .iter()
            .filter(|node| matches!(node.standing, Standing::Done { .. }));
        done.map(|node| node.node.clone()).collect()
    }

    /// The nodes that are not done, the one that is worked on among them.
    pub fn left(&self) -> Vec<Name> {
        let left = self
            .nodes
            .iter()
            .filter(|node| !matches!(node.standing, Standing::Done { .. }));
        left.map(|node| node.node.clone()).collect()
    }

    /// Whether it has ended.
    pub const fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over(_))
    }

    fn soak(&self) -> TimeDelta {
        let soak = self
            .plan
            .terms
            .soak
            .and_then(|soak| TimeDelta::from_std(soak).ok());
        soak.unwrap_or_default()
    }

    fn pause_is_due(&self) -> bool {
        self.plan.terms.pause_after_first
            && !self.confirmed
            && !self.done().is_empty()
            && !self.left().is_empty()
    }

    /// Which one of the round it is, from 1.
    fn number(&self, node: &Name) -> usize {
        1 + self.nodes.iter().take_while(|one| one.node != *node).count()
    }
}

/// One call of [`step`].
struct Turn<'a> {
    round: &'a mut Round,
    at: Timestamp,
    effects: Vec<Effect>,
}

impl<'a> Turn<'a> {
    const fn new(round: &'a mut Round, at: Timestamp) -> Self {
        Self {
            round,
            at,
            effects: Vec::new(),
        }
    }

    fn tell(&mut self, what: RoundHappening, node: Option<Name>) {
        self.effects.push(Effect::Tell(what, node));
    }

    fn tell_standing(&mut self) {
        self.round.forecast_told = self.round.forecast(self.at);
        let round = &*self.round;
        let standing = RoundHappening::Round {
            nodes: round.nodes.iter().map(|node| node.node.clone()).collect(),
            done: round.done().len(),
            forecast_end: round.forecast_told,
            node_seconds: round.expected().map(TimeDelta::as_seconds_f64),
        };
        let next = round.left().into_iter().next();
        self.tell(standing, next);
    }

    /// Tells what is waited for, when that is news.
    fn wait(&mut self, reason: Reason, until: Option<Timestamp>, text: String, node: Option<Name>) {
        let waiting = RoundHappening::Waiting { reason, until, text };
        if self.round.waiting.as_ref() != Some(&waiting) {
            self.round.waiting = Some(waiting.clone());
            self.tell(waiting, node);
        }
    }

    fn hear(&mut self, heard: Heard) {
        match (heard, &mut self.round.stage) {
            (Heard::Stop, stage) if !matches!(stage, Stage::Over(_)) => {
                self.stop(RoundEnding::Aborted, "ended by the operator".to_owned());
            }
            (Heard::Begun { boot_id }, Stage::Working { node, since }) => {
                *since = self.at;
                let node = node.clone();
                let begun = RoundHappening::NodeBegun {
                    number: self.round.number(&node),
                    of: self.round.nodes.len(),
                    boot_id,
                };
                self.tell(begun, Some(node));
            }
            (
                Heard::Ended {
                    ending,
                    seconds,
                    maintenance,
                },
                Stage::Working { node, .. },
            ) => {
                let node = node.clone();
                self.ended(&node, ending, seconds, maintenance);
            }
            (Heard::GoOn, Stage::Paused) => {
                self.round.confirmed = true;
                self.round.stage = Stage::Gates;
                let next = self.round.left().into_iter().next();
                self.tell(RoundHappening::GoesOn, next);
            }
            (Heard::Alerts(answer), _) => {
                self.round.alerts = Alerts {
                    asked: false,
                    answer: Some((self.at, answer)),
                };
            }
            (
                Heard::Seen {
                    node_ready,
                    boot_id,
                    pods,
                },
                Stage::Soaking { .. },
            ) => self.seen(node_ready, boot_id, &pods),
            _ => {}
        }
    }

    fn ended(&mut self, node: &Name, ending: Ending, seconds: f64, maintenance: String) {
        let told = RoundHappening::NodeEnded {
            ending,
            seconds,
            maintenance,
        };
        self.tell(told, Some(node.clone()));
        if ending != Ending::Done {
            let reason = format!("node {node} did not end well");
            return self.stop(ending.into(), reason);
        }
        if let Some(one) = self.round.nodes.iter_mut().find(|one| one.node == *node) {
            one.standing = Standing::Done {
                seconds: Some(seconds),
            };
        }
        self.round.stage = Stage::Soaking {
            node: node.clone(),
            until: self.at + self.round.soak(),
            ready: BTreeSet::new(),
            boot_id: None,
        };
        self.tell_standing();
    }

    /// What was ready must stay so as long as it is there.
    fn seen(&mut self, node_ready: bool, boot_id: Name, pods: &[(PodRef, bool)]) {
        let Stage::Soaking {
            node,
            ready,
            boot_id: seen,
            ..
        } = &mut self.round.stage
        else {
            return;
        };
        let lost = pods
            .iter()
            .find(|(pod, is_ready)| !is_ready && ready.contains(&pod.uid));
        let trouble = match (lost, &*seen) {
            (_, Some(before)) if *before != boot_id => Some(format!("node {node} restarted once more")),
            (_, Some(_)) if !node_ready => Some(format!("node {node} is not ready any more")),
            (Some((pod, _)), _) => Some(format!("pod {pod} is not ready any more")),
            (None, _) => None,
        };
        if let Some(trouble) = trouble {
            let reason =
                format!("{trouble}, in the soak time after node {node}: look at it before the next one");
            return self.stop(RoundEnding::Unsettled, reason);
        }
        if node_ready {
            seen.get_or_insert(boot_id);
        }
        ready.extend(
            pods.iter()
                .filter(|(_, is_ready)| *is_ready)
                .map(|(pod, _)| pod.uid.clone()),
        );
    }

    fn stop(&mut self, ending: RoundEnding, reason: String) {
        let last = match &self.round.stage {
            Stage::Working { node, .. } | Stage::Soaking { node, .. } => Some(node.clone()),
            _ => None,
        };
        let (done, left) = (self.round.done(), self.round.left());
        let node = last.or_else(|| left.first().cloned());
        let stopped = RoundHappening::RoundStopped {
            ending,
            reason,
            done,
            left,
        };
        self.round.waiting = None;
        self.round.stage = Stage::Over(ending);
        self.tell(stopped, node);
    }

    /// Whatever can be done now without hearing anything new.
    fn go_on(&mut self) {
        if let Stage::Soaking { node, until, .. } = &self.round.stage {
            let (node, until) = (node.clone(), *until);
            if self.at < until {
                let text = format!(
                    "node {node} and the pods that had left it have to stay well for {} s (--soak)",
                    self.round.soak().num_seconds()
                );
                return self.wait(Reason::Soak, Some(until), text, Some(node));
            }
            self.round.stage = Stage::Gates;
        }
        if self.round.stage == Stage::Gates && self.round.pause_is_due() {
            self.pause();
        }
        if self.round.stage == Stage::Gates {
            self.pass_gates();
        }
    }

    fn pause(&mut self) {
        if !self.round.attended {
            let reason =
                "--pause-after-first, and nobody is there to confirm: look at the node first".to_owned();
            return self.stop(RoundEnding::Paused, reason);
        }
        self.round.stage = Stage::Paused;
        let next = self.round.left().into_iter().next();
        let text =
            "the first node is done: look at it, and confirm that the round goes on (--pause-after-first)";
        self.wait(Reason::Pause, None, text.to_owned(), next);
    }

    fn pass_gates(&mut self) {
        let Some(next) = self.round.left().into_iter().next() else {
            self.round.waiting = None;
            self.round.stage = Stage::Over(RoundEnding::Done);
            let seconds = (self.at - self.round.plan.started_at).as_seconds_f64();
            return self.tell(RoundHappening::RoundDone { seconds }, None);
        };
        let begun = |one: &NodeOfRound| one.node == next && one.standing == Standing::Begun;
        let again = self.round.nodes.iter().any(begun);
        // A node that is cordoned and half drained is better gone on with than left so.
        let may = again || self.window_is_open(&next) && self.alerts_are_silent(&next);
        if !may {
            return;
        }
        self.round.waiting = None;
        self.round.alerts = Alerts::default();
        if let Some(one) = self.round.nodes.iter_mut().find(|one| one.node == next) {
            one.standing = Standing::Begun;
        }
        self.round.stage = Stage::Working {
            node: next.clone(),
            since: self.at,
        };
        self.effects.push(Effect::Begin { node: next, again });
    }

    /// Whether the node may be begun now, and would be done before the window closes.
    fn window_is_open(&mut self, next: &Name) -> bool {
        let Some(window) = self.round.plan.terms.window.clone() else {
            return true;
        };
        let took = self.round.expected();
        let Some(opening) = window.opening(self.at) else {
            self.stop(
                RoundEnding::Refused,
                format!("the window {window} does not open for months"),
            );
            return false;
        };
        let Some(begin) = beginning(Some(&window), took.unwrap_or_default(), self.at) else {
            let minutes = took.unwrap_or_default().num_minutes();
            let reason = format!(
                "by the forecast a node takes {minutes} min, and no window {window} is that long: give a longer one with \
                 --window"
            );
            self.stop(RoundEnding::Refused, reason);
            return false;
        };
        if begin <= self.at {
            let over = |waiting: &RoundHappening| {
                matches!(
                    waiting,
                    RoundHappening::Waiting {
                        reason: Reason::Window | Reason::Forecast,
                        ..
                    }
                )
            };
            if self.round.waiting.as_ref().is_some_and(over) {
                self.round.waiting = None;
            }
            return true;
        }
        let opens = window.clock(begin);
        let (reason, text) = if opening.from > self.at {
            (
                Reason::Window,
                format!("the window {window} opens {opens}; node {next} is next"),
            )
        } else {
            let end = window.clock(self.at + took.unwrap_or_default());
            let closes = window.clock(opening.to);
            let text = format!(
                "node {next} would be done about {end} by the forecast, and the window closes {closes}: it is begun {opens}"
            );
            (Reason::Forecast, text)
        };
        // The text names no moment of this very call: it must not change with each look.
        let already = matches!(
            &self.round.waiting,
            Some(RoundHappening::Waiting { reason: told, until, .. }) if *told == reason && *until == Some(begin)
        );
        if !already {
            self.wait(reason, Some(begin), text, Some(next.clone()));
        }
        false
    }

    /// Whether Prometheus says that no alert fires that blocks.
    fn alerts_are_silent(&mut self, next: &Name) -> bool {
        let Some(matchers) = self.round.plan.terms.alerts.clone() else {
            return true;
        };
        let fresh = |(answered, _): &&(Timestamp, _)| self.at - *answered < ALERTS_REST;
        let answer = self.round.alerts.answer.as_ref();
        match answer.filter(fresh) {
            Some((_, Ok(firing))) if firing.is_empty() => return true,
            Some(_) => {}
            None if self.round.alerts.asked => {}
            None => {
                self.round.alerts.asked = true;
                self.effects.push(Effect::AskAlerts);
            }
        }
        let (reason, text) = match self.round.alerts.answer.as_ref().map(|(_, answer)| answer) {
            Some(Ok(firing)) if !firing.is_empty() => (
                Reason::Alerts,
                format!("alerts fire ({matchers}): {}", firing.join(", ")),
            ),
            Some(Err(problem)) => (
                Reason::AlertsUnknown,
                format!("whether alerts fire ({matchers}) is not known, and that blocks: {problem}"),
            ),
            // Not answered yet: nothing to tell.
            _ => return false,
        };
        self.wait(reason, None, text, Some(next.clone()));
        false
    }
}
