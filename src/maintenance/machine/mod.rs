//! The state machine: pure and by value.

mod begin;
mod boot;
mod drain;
mod ending;
mod leaving;
mod network_gate;
mod ours;
mod restart;
mod return_to_work;
#[cfg(test)]
mod tests;
mod write;

use super::effect::{Answer, Effect};
use super::event::{Event, Happening};
use super::input::{Command, Heard, Input};
use super::observation::Observation;
use super::options::Options;
use super::record::{Reached, Record};
use super::state::{Doubt, Flight, Question, State, Step, StepTime};
use super::told::Told;
use crate::domain::node::Node;
use crate::domain::{Name, Timestamp};
use chrono::TimeDelta;
use std::collections::BTreeMap;

/// Pause before a write or a list that failed is tried again.
const RETRY: TimeDelta = TimeDelta::seconds(1);

/// Begins a maintenance of this node.
pub fn start(node: Name, options: Options, id: String, by: String, at: Timestamp) -> (State, Vec<Effect>) {
    let mut state = State {
        node,
        options,
        step: Step::Preflight,
        times: vec![StepTime {
            step: Step::Preflight,
            from: at,
            to: None,
        }],
        started_at: at,
        id,
        by,
        preflight: None,
        record: None,
        leaving: BTreeMap::new(),
        boot_id: None,
        network: Vec::new(),
        ready: BTreeMap::new(),
        without_network: BTreeMap::new(),
        waiting_for: "looking at what would happen".to_owned(),
        question: None,
        ending: None,
        flight: Flight::default(),
    };
    state.flight.writing = true;
    (state, vec![Effect::Survey])
}

/// Goes on with a maintenance whose record was found on the node. What is not in the record is looked up in the cluster.
/// What its `journal` has (all its events, or none if it is not here) is not told again.
pub fn resume(
    node: Name,
    record: Record,
    options: Options,
    journal: &[Event],
    at: Timestamp,
) -> (State, Vec<Effect>) {
    let mut options = options;
    record.kept.restore(&mut options);
    let (mut state, _) = start(node, options, record.id.clone(), record.by.clone(), at);
    state.started_at = record.started_at;
    state.options.purpose = record.purpose;
    state.times.clear();
    state.flight.writing = false;
    state.flight.told = Told::from_journal(journal);
    state.flight.annotation_seen = true;
    state.flight.limit_from = Some(at);
    let (reached, reached_at) = (record.reached, record.reached_at);
    let already = record.was_cordoned;
    let new_boot_id = record.new_boot_id.clone();
    state.record = Some(record);
    let mut turn = Turn::new(&mut state, at);
    match reached {
        Reached::Drain => {
            turn.tell(Happening::Cordoned { already });
            turn.enter_drain();
        }
        Reached::Restart => turn.enter_restart(),
        Reached::PodsBack => {
            // It was uncordoned at this boot.
            turn.state.boot_id = new_boot_id;
            turn.tell(Happening::Uncordoned {
                after_milliseconds: None,
            });
            turn.enter_pods_back();
        }
    }
    if let Some(first) = turn.state.times.first_mut() {
        first.from = reached_at;
    }
    turn.go_on();
    let effects = turn.finish();
    (state, effects)
}

/// Folds one input.
pub fn step(mut state: State, input: Input) -> (State, Vec<Effect>) {
    if state.step == Step::Over {
        return (state, Vec::new());
    }
    let mut turn = Turn::new(&mut state, input.at);
    match input.what {
        Heard::Observed(observation) => {
            turn.state.flight.blind = None;
            turn.observed(&observation);
        }
        Heard::Blind(why) => turn.state.flight.blind = Some(why),
        Heard::Answered(answer) => turn.answered(answer),
        Heard::Tick => {}
        Heard::Operator(command) => turn.commanded(command),
    }
    turn.go_on();
    let effects = turn.finish();
    (state, effects)
}

/// When [`Heard::Tick`] must come at the latest; `None` while only the outside can change something.
pub fn next_wake(state: &State) -> Option<Timestamp> {
    if state.step == Step::Over {
        return None;
    }
    let flight = &state.flight;
    let list_at = flight
        .list_at
        .filter(|_| flight.listing.is_none() && !flight.abandoned);
    let tries = state.leaving.values().filter_map(|pod| pod.next_try);
    [list_at, flight.write_at, deadline(state)]
        .into_iter()
        .flatten()
        .chain(tries.filter(|_| may_evict(state)))
        .min()
}

/// When the time limit of the current step ends.
pub fn deadline(state: &State) -> Option<Timestamp> {
    let (first, limit) = match state.step {
        Step::Cordon | Step::Drain => (state.step, state.options.drain_timeout?),
        Step::Restart | Step::Revision | Step::Network => (Step::Restart, state.options.restart_timeout),
        Step::Uncordon => (Step::Uncordon, state.options.restart_timeout),
        Step::PodsBack => (Step::PodsBack, state.options.pods_timeout),
        Step::Preflight | Step::Over => return None,
    };
    if state.question.is_some() || state.flight.abandoned || state.flight.drained {
        return None;
    }
    let began = state.times.iter().rev().find(|time| time.step == first)?.from;
    let from = state.flight.limit_from.map_or(began, |from| from.max(began));
    TimeDelta::from_std(limit).ok().map(|limit| from + limit)
}

/// Whether pods may be evicted now for the drain.
fn may_evict(state: &State) -> bool {
    let flight = &state.flight;
    state.step == Step::Drain
        && flight.locked
        && flight.doubt == Doubt::None
        && !flight.drained
        && !flight.abandoned
}

/// One call of [`step`]: the state, the time, and the effects so far.
struct Turn<'a> {
    state: &'a mut State,
    at: Timestamp,
    effects: Vec<Effect>,
}

impl<'a> Turn<'a> {
    const fn new(state: &'a mut State, at: Timestamp) -> Self {
        Self {
            state,
            at,
            effects: Vec::new(),
        }
    }

    /// Tells it, unless it was told before and happens once.
    fn tell(&mut self, happening: Happening) {
        if self.state.flight.told.is_news(&happening, self.at) {
            self.effects.push(Effect::Tell(happening));
        }
    }

    fn wait_for(&mut self, what: impl Into<String>) {
        self.state.flight.waiting = what.into();
    }

    fn finish(mut self) -> Vec<Effect> {
        let flight = &self.state.flight;
        let trouble = flight.trouble.as_ref().or(flight.blind.as_ref()).cloned();
        if self.state.step == Step::Over {
            self.state.waiting_for = String::new();
            return self.effects;
        }
        self.tell_of_api(trouble.as_ref());
        self.state.waiting_for = match trouble {
            Some(trouble) => format!("the API server: {trouble}"),
            None => self.state.flight.waiting.clone(),
        };
        self.effects
    }

    /// Tells once that the API server is lost, and once that it is back.
    fn tell_of_api(&mut self, trouble: Option<&String>) {
        let (at, step) = (self.at, self.state.step);
        match (trouble, self.state.flight.lost_at) {
            (Some(cause), None) => {
                self.state.flight.lost_at = Some(at);
                let cause = cause.clone();
                self.tell(Happening::ApiLost { step, cause });
            }
            (None, Some(lost_at)) => {
                self.state.flight.lost_at = None;
                let seconds = seconds(at - lost_at);
                self.tell(Happening::ApiRegained { step, seconds });
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Goes to this step; its time begins now.
    fn enter(&mut self, step: Step) {
        let at = self.at;
        if let Some(last) = self.state.times.last_mut() {
            last.to = Some(at);
        }
        self.state.step = step;
        if step != Step::Over {
            self.state.times.push(StepTime {
                step,
                from: at,
                to: None,
            });
        }
    }

    /// Seconds since this step last began.
    fn seconds_since(&self, step: Step) -> f64 {
        let began = self.state.times.iter().rev().find(|time| time.step == step);
        began.map_or(0.0, |time| seconds(self.at - time.from))
    }

    fn observed(&mut self, observation: &Observation) {
        let flight = &self.state.flight;
        if flight.abandoned || flight.clearing {
            return;
        }
        if self.state.step <= Step::Cordon || !self.still_ours(observation) {
            return self.remember(observation);
        }
        match self.state.step {
            Step::Drain => self.observed_drain(observation),
            Step::Restart | Step::Revision | Step::Network | Step::Uncordon => {
                self.observed_restart(observation, false);
            }
            Step::PodsBack => self.observed_pods_back(observation),
            Step::Preflight | Step::Cordon | Step::Over => {}
        }
    }

    fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Surveyed(surveyed) => self.surveyed(surveyed),
            Answer::Locked(locked) => self.locked(locked),
            Answer::LeaseLost { by } => self.lease_lost(&by),
            Answer::Cordoned(result) => self.cordoned(result),
            Answer::Saved(result) => self.saved(result),
            Answer::Listed(fresh) => self.listed(fresh),
            Answer::Evicted(pod, eviction) => self.evicted(&pod, eviction),
            Answer::RebootCommand(result) => self.reboot_command_ended(result),
            Answer::Uncordoned(result) => self.uncordon_ended(result),
            Answer::Cleared(result) => self.cleared(result),
        }
    }

    fn commanded(&mut self, command: Command) {
        match (command, self.state.step) {
            (Command::Abandon, _) => self.abandon(),
            (Command::Begin, Step::Preflight) if self.state.question == Some(Question::Begin) => self.begin(),
            (Command::RunRebootCommand, Step::Restart) => self.run_reboot_command(),
            (Command::AcceptSameRevision, Step::Revision) => self.accept_same_revision(),
            (Command::FinishWithoutRestart, Step::Restart) => self.finish_without_restart(),
            (Command::Recreate(uid), Step::PodsBack) => self.recreate(&uid),
            (Command::StopWaiting, Step::PodsBack) => self.stop_waiting(),
            _ => {}
        }
    }

    /// Whatever can be done now without hearing anything new.
    fn go_on(&mut self) {
        let at = self.at;
        if self.state.step == Step::Over {
            return;
        }
        if self.state.flight.write_at.is_some_and(|write_at| write_at <= at) {
            self.state.flight.write_at = None;
        }
        if deadline(self.state).is_some_and(|deadline| at >= deadline) {
            return self.time_is_up();
        }
        if self.state.flight.abandoned {
            return self.go_on_abandoning();
        }
        if self.state.flight.listing.is_none()
            && self.state.flight.list_at.is_some_and(|list_at| list_at <= at)
        {
            self.list();
        }
        if self.state.flight.doubt != Doubt::None {
            return;
        }
        if (Step::Cordon..=Step::Uncordon).contains(&self.state.step) && !self.state.flight.locked {
            return self.write(|_| Some(Effect::Lock));
        }
        match self.state.step {
            Step::Cordon => self.go_on_cordoning(),
            Step::Drain => self.go_on_draining(),
            Step::Restart => self.go_on_restarting(),
            Step::Revision | Step::Network => self.save_news(),
            Step::Uncordon => self.go_on_uncordoning(),
            Step::PodsBack => self.go_on_waiting_for_pods(),
            Step::Preflight => self.go_on_surveying(),
            Step::Over => {}
        }
    }
}

/// Seconds of a difference, with fractions.
fn seconds(difference: TimeDelta) -> f64 {
    difference.as_seconds_f64()
}

/// The Ready condition of the node, if it has one.
fn ready(node: &Node) -> Option<crate::domain::node::ConditionStatus> {
    let ready = node.conditions.iter().find(|one| &*one.kind == "Ready");
    ready.map(|ready| ready.status)
}
