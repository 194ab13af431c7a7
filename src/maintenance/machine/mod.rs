//! The state machine: pure and by value.

mod drain;
mod ending;
mod restart;
mod return_to_work;
#[cfg(test)]
mod tests;

use super::effect::{Answer, Effect, LockError, WriteError};
use super::event::{Ending, Happening};
use super::input::{Command, Heard, Input};
use super::observation::Observation;
use super::options::Options;
use super::preflight::{Fate, Preflight, Weight};
use super::record::{Reached, Record};
use super::state::{Flight, Question, State, Step, StepTime};
use crate::domain::node::Node;
use crate::domain::{Name, Timestamp};
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};

/// Pause before a write or a list that failed is tried again.
const RETRY: TimeDelta = TimeDelta::seconds(1);

/// Begins a maintenance of this node.
pub fn start(node: Name, options: Options, id: String, by: String, at: Timestamp) -> (State, Vec<Effect>) {
    let state = State {
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
    (state, vec![Effect::Survey])
}

/// Goes on with a maintenance whose record was found on the node. What is not in the record is looked up in the cluster.
pub fn resume(node: Name, record: Record, options: Options, at: Timestamp) -> (State, Vec<Effect>) {
    let (mut state, _) = start(node, options, record.id.clone(), record.by.clone(), at);
    state.started_at = record.started_at;
    state.options.purpose = record.purpose;
    let reached = record.reached;
    state.record = Some(record);
    let mut turn = Turn::new(&mut state, at);
    match reached {
        Reached::Drain => turn.enter_drain(),
        Reached::Restart => turn.enter_restart(),
        Reached::PodsBack => turn.enter_pods_back(),
    }
    let effects = turn.effects;
    (state, effects)
}

/// Folds one input.
pub fn step(mut state: State, input: Input) -> (State, Vec<Effect>) {
    let mut turn = Turn::new(&mut state, input.at);
    match input.what {
        Heard::Observed(observation) => turn.observed(&observation),
        Heard::Answered(answer) => turn.answered(answer),
        Heard::Tick => {}
        Heard::Operator(command) => turn.commanded(command),
    }
    turn.go_on();
    let effects = turn.effects;
    (state, effects)
}

/// When [`Heard::Tick`] must come at the latest; `None` while only the outside can change something.
pub fn next_wake(state: &State) -> Option<Timestamp> {
    if state.step == Step::Over {
        return None;
    }
    let tries = state.leaving.values().filter_map(|pod| pod.next_try);
    [state.flight.list_at, state.flight.write_at, deadline(state)]
        .into_iter()
        .flatten()
        .chain(tries)
        .min()
}

/// When the time limit of the current step ends.
pub fn deadline(state: &State) -> Option<Timestamp> {
    let (first, limit) = match state.step {
        Step::Drain => (Step::Drain, state.options.drain_timeout?),
        Step::Restart | Step::Revision | Step::Network => (Step::Restart, state.options.restart_timeout),
        Step::PodsBack => (Step::PodsBack, state.options.pods_timeout),
        Step::Preflight | Step::Cordon | Step::Uncordon | Step::Over => return None,
    };
    if state.question.is_some() {
        return None;
    }
    let began = state.times.iter().rev().find(|time| time.step == first)?.from;
    TimeDelta::from_std(limit).ok().map(|limit| began + limit)
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

    fn tell(&mut self, happening: Happening) {
        self.effects.push(Effect::Tell(happening));
    }

    fn wait_for(&mut self, what: impl Into<String>) {
        self.state.waiting_for = what.into();
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

    /// Seconds since this step last began; 0 if it never did in this run of the program.
    fn seconds_since(&self, step: Step) -> f64 {
        let began = self.state.times.iter().rev().find(|time| time.step == step);
        began.map_or(0.0, |time| seconds(self.at - time.from))
    }

    fn observed(&mut self, observation: &Observation) {
        if self.state.step == Step::Over || !self.still_ours(observation) {
            return;
        }
        match self.state.step {
            Step::Drain => self.observed_drain(observation),
            Step::Restart => self.observed_restart(observation),
            Step::Revision | Step::Network | Step::Uncordon => self.observed_gates(observation),
            Step::PodsBack => self.observed_pods_back(observation),
            Step::Preflight | Step::Cordon | Step::Over => {}
        }
    }

    /// Whether the node and the cordon are still those of this maintenance. If not, it ends here.
    fn still_ours(&mut self, observation: &Observation) -> bool {
        let Some(record) = self.state.record.as_ref() else {
            return true;
        };
        let Some(node) = &observation.node else {
            return true;
        };
        if node.uid != record.node_uid {
            let reason = format!(
                "node {} was deleted and joined again: it is another node now, and its cordon is not ours",
                node.name
            );
            self.end(Ending::Refused, reason);
            return false;
        }
        match node.maintenance.as_deref().map(Record::parse) {
            Some(Ok(theirs)) if theirs.id == record.id => {
                self.state.flight.annotation_seen = true;
                if node.unschedulable || record.was_cordoned || theirs.reached == Reached::PodsBack {
                    return true;
                }
                let reason = format!(
                    "somebody uncordoned node {} while it was being worked on; it is left as it is",
                    node.name
                );
                self.end(Ending::Aborted, reason);
                false
            }
            Some(Ok(theirs)) if self.state.flight.annotation_seen => {
                let reason = format!("{} took node {} over", theirs.by, node.name);
                self.end(Ending::Aborted, reason);
                false
            }
            None if self.state.flight.annotation_seen => {
                let reason = format!(
                    "somebody abandoned this maintenance from elsewhere: the annotation of node {} is gone",
                    node.name
                );
                self.end(Ending::Aborted, reason);
                false
            }
            // A watch that is late does not show it yet.
            _ => true,
        }
    }

    fn answered(&mut self, answer: Answer) {
        if self.state.step == Step::Over {
            return;
        }
        match answer {
            Answer::Surveyed(Ok(preflight)) => self.surveyed(*preflight),
            Answer::Surveyed(Err(problem)) => {
                self.end(
                    Ending::Refused,
                    format!("the preflight could not be made: {problem}"),
                );
            }
            Answer::Locked(locked) => self.locked(locked),
            Answer::Cordoned(result) => {
                if self.written(result) && self.state.step == Step::Cordon {
                    let already = self
                        .state
                        .record
                        .as_ref()
                        .is_some_and(|record| record.was_cordoned);
                    self.tell(Happening::Cordoned { already });
                    self.enter_drain();
                }
            }
            Answer::Saved(result) => {
                if self.written(result) {
                    self.saved();
                }
            }
            Answer::Listed(fresh) => self.listed(fresh),
            Answer::Evicted(pod, eviction) => self.evicted(&pod, eviction),
            Answer::RebootCommand(result) => self.reboot_command_ended(result),
            Answer::Uncordoned(result) => {
                if self.written(result) && self.state.step == Step::Uncordon {
                    self.uncordoned();
                }
            }
            Answer::Cleared(result) => {
                if self.written(result) {
                    self.cleared();
                }
            }
        }
    }

    /// Notes that a write ended. True when it succeeded; a refusal ends the maintenance.
    fn written(&mut self, result: Result<(), WriteError>) -> bool {
        self.state.flight.writing = false;
        match result {
            Ok(()) => {
                self.state.flight.write_at = None;
                true
            }
            Err(WriteError::Retry(problem)) => {
                self.state.flight.write_at = Some(self.at + RETRY);
                self.wait_for(format!("the API server: {problem}"));
                false
            }
            Err(WriteError::Refused(reason)) => {
                self.end(Ending::Refused, reason);
                false
            }
        }
    }

    /// Sends a write unless one is under way or must wait.
    fn write(&mut self, effect: impl FnOnce(&mut Self) -> Option<Effect>) {
        if self.state.flight.writing || self.state.flight.write_at.is_some_and(|at| at > self.at) {
            return;
        }
        if let Some(effect) = effect(self) {
            self.state.flight.writing = true;
            self.state.flight.write_at = None;
            self.effects.push(effect);
        }
    }

    /// Whatever can be done now without hearing anything new.
    fn go_on(&mut self) {
        if let Some(deadline) = deadline(self.state)
            && self.at >= deadline
        {
            self.time_is_up();
        }
        if self.state.flight.abandoned.is_some() {
            return self.write(|_| Some(Effect::Clear));
        }
        match self.state.step {
            Step::Cordon => self.write(|turn| {
                if turn.state.flight.locked {
                    turn.state
                        .record
                        .clone()
                        .map(|record| Effect::Cordon(Box::new(record)))
                } else {
                    Some(Effect::Lock)
                }
            }),
            Step::Drain => self.go_on_draining(),
            Step::Restart | Step::Revision | Step::Network => self.save_news(),
            Step::Uncordon => self.go_on_uncordoning(),
            Step::PodsBack => self.go_on_waiting_for_pods(),
            Step::Preflight | Step::Over => {}
        }
    }

    fn surveyed(&mut self, preflight: Preflight) {
        if self.state.step != Step::Preflight {
            return;
        }
        let weight = preflight.weight();
        let counted = |leaves: bool| {
            let fates = preflight.pods.iter();
            fates
                .filter(|(_, fate)| matches!(fate, Fate::Leaves(_)) == leaves)
                .count()
        };
        let mut notes = preflight.notes.clone();
        notes.sort_by_key(|note| std::cmp::Reverse(note.weight));
        self.tell(Happening::Preflight {
            leaving: counted(true),
            staying: counted(false),
            notes: notes.iter().map(super::preflight::Note::sentence).collect(),
            blocked: weight >= Weight::Blocks,
        });
        let worst = notes.first().map(super::preflight::Note::sentence);
        self.state.preflight = Some(preflight);
        self.state.waiting_for.clear();
        if weight == Weight::Refuses {
            self.end(Ending::Refused, worst.unwrap_or_default());
        } else if self.state.options.yes {
            self.begin();
        } else {
            self.state.question = Some(Question::Begin);
            self.wait_for("your decision to begin");
        }
    }

    /// Confirmed: from here on the cluster is changed.
    fn begin(&mut self) {
        let Some(preflight) = &self.state.preflight else {
            return;
        };
        let before = &preflight.node;
        self.state.record = Some(Record {
            id: self.state.id.clone(),
            by: self.state.by.clone(),
            started_at: self.state.started_at,
            purpose: self.state.options.purpose,
            reached: Reached::Drain,
            node_uid: before.uid.clone(),
            boot_id: before.boot_id.clone(),
            kernel_version: before.kernel_version.clone(),
            kubelet_version: before.kubelet_version.clone(),
            was_cordoned: before.cordoned,
            reboot_started: false,
            network_ids: BTreeSet::new(),
            network_owners: BTreeSet::new(),
            ready_before: preflight.ready.clone(),
        });
        self.state.question = None;
        self.wait_for("the Lease of the node's pool");
        self.enter(Step::Cordon);
    }

    fn locked(&mut self, locked: Result<(), LockError>) {
        self.state.flight.writing = false;
        match locked {
            Ok(()) => self.state.flight.locked = true,
            Err(LockError::Failed(problem)) => {
                self.state.flight.write_at = Some(self.at + RETRY);
                self.wait_for(format!("the API server: {problem}"));
            }
            Err(LockError::Refused(reason)) => self.end(Ending::Refused, reason),
            Err(LockError::Held { by, age_seconds }) => {
                let reason = format!(
                    "another node of the pool is being worked on by {by} (renewed {age_seconds} s ago): wait for that, or \
                     take the Lease over with --take-over if it was given up"
                );
                self.end(Ending::Refused, reason);
            }
        }
    }

    fn commanded(&mut self, command: Command) {
        match (command, self.state.step) {
            (_, Step::Over) => {}
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

    /// Saves the record if it has news.
    fn save_news(&mut self) {
        if self.state.flight.unsaved {
            self.write(|turn| {
                turn.state.flight.unsaved = false;
                turn.state
                    .record
                    .clone()
                    .map(|record| Effect::Save(Box::new(record)))
            });
        }
    }
}

/// Seconds of a difference, with fractions.
fn seconds(difference: TimeDelta) -> f64 {
    difference.as_seconds_f64()
}

/// Whether the node's Ready condition is `True`.
fn is_ready(node: &Node) -> bool {
    use crate::domain::node::ConditionStatus;
    node.conditions
        .iter()
        .any(|condition| &*condition.kind == "Ready" && condition.status == ConditionStatus::True)
}
