//! How a maintenance ends.

use super::Turn;
use crate::maintenance::effect::{Effect, WriteError};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::state::{Leaving, LeavingStatus, Step};

impl Turn<'_> {
    /// It ends here, with everything left as it is now. The record stays on the node, so that it can be resumed.
    pub(super) fn end(&mut self, ending: Ending, mut reason: String) {
        let step = self.state.step;
        if self.nothing_was_changed() {
            // Nothing has to be remembered.
            if self.state.flight.locked || step == Step::Cordon && self.state.flight.writing {
                self.effects.push(Effect::Unlock);
            }
            self.state.record = None;
        } else if step == Step::Cordon && !self.state.flight.abandoned {
            reason.push_str("; a cordon was sent and not answered: look whether the node is cordoned");
        }
        self.tell(Happening::Failed {
            step,
            reason: reason.clone(),
            ending,
        });
        self.state.question = None;
        self.state.ending = Some((ending, reason));
        self.enter(Step::Over);
    }

    const fn nothing_was_changed(&self) -> bool {
        self.state.record.is_none()
            || matches!(self.state.step, Step::Cordon) && !self.state.flight.cordon_sent
    }

    pub(super) fn time_is_up(&mut self) {
        let mut ending = Ending::TimedOut;
        let node = self.state.node.clone();
        let waiting = self.state.waiting_for.clone();
        let reason = match self.state.step {
            Step::Cordon => format!("node {node} was not cordoned within --timeout: waiting for {waiting}"),
            Step::Drain => {
                let mut open = self.state.leaving.values().filter(|pod| pod.is_there());
                let blocked = |pod: &Leaving| matches!(pod.status, LeavingStatus::Blocked(_));
                if open.clone().next().is_some() && open.all(blocked) {
                    ending = Ending::Blocked;
                }
                let left = self.still_there();
                let left = if left.is_empty() { waiting } else { left };
                format!(
                    "the drain of node {node} took longer than --timeout: {left}; it stays cordoned, go on with --resume"
                )
            }
            Step::Uncordon => format!(
                "node {node} is back, but was not uncordoned in time: waiting for {waiting}; go on with --resume"
            ),
            Step::PodsBack => format!(
                "node {node} is back, but not all pods are ready again: {waiting}; look at them, or go on waiting with \
                 --resume"
            ),
            _ => format!(
                "node {node} did not come back within the time for the restart: waiting for {waiting}; it stays cordoned, \
                 look at its console and go on with --resume"
            ),
        };
        self.end(ending, reason);
    }

    /// The pods that have not left, with why.
    pub(super) fn still_there(&self) -> String {
        let left = self.state.leaving.values().filter(|pod| pod.is_there());
        let left: Vec<String> = left
            .map(|pod| match pod.status.reason() {
                Some(reason) => format!("{} ({reason})", pod.pod),
                None => pod.pod.to_string(),
            })
            .collect();
        left.join(", ")
    }

    /// The operator gives up: the annotation goes, the cordon and what has left already stay as they are.
    pub(super) fn abandon(&mut self) {
        if self.state.record.is_none() {
            return self.end(
                Ending::Aborted,
                "abandoned before anything was changed".to_owned(),
            );
        }
        self.state.flight.abandoned = true;
        self.state.question = None;
        self.wait_for("the record to be removed");
    }

    /// What is under way is waited for: it decides over what is left behind.
    pub(super) fn go_on_abandoning(&mut self) {
        if self.nothing_was_changed() {
            return self.end(
                Ending::Aborted,
                "abandoned before anything was changed".to_owned(),
            );
        }
        self.write(|_| Some(Effect::Clear { proven_boot: None }));
    }

    pub(super) fn left_behind(&self) -> String {
        let flight = &self.state.flight;
        let node = &self.state.node;
        let gone = flight.told.evicted();
        let is_there = |pod: &&Leaving| pod.is_there();
        let left = self.state.leaving.values().filter(is_there).count();
        let was_cordoned = self
            .state
            .record
            .as_ref()
            .is_some_and(|record| record.was_cordoned);
        let back = if was_cordoned {
            "it was cordoned before".to_owned()
        } else {
            format!("`kubectl uncordon {node}` gives it back")
        };
        match self.state.step {
            Step::PodsBack if flight.pods_are_back => format!("node {node} is uncordoned"),
            Step::PodsBack => format!("node {node} is uncordoned; not all pods are ready again"),
            Step::Cordon => format!("node {node} may be cordoned; nothing was evicted"),
            Step::Drain if flight.drained => format!("node {node} stays cordoned and drained; {back}"),
            Step::Drain => format!(
                "node {node} stays cordoned and half drained: {gone} pods are gone, {left} are still there; {back}"
            ),
            _ if flight.uncordon_sent => {
                format!("an uncordon was sent and not answered: look whether node {node} is uncordoned")
            }
            _ if flight.reboot_running || flight.reboot_wanted => {
                format!("node {node} stays cordoned and drained, and its reboot command was started; {back}")
            }
            _ => format!("node {node} stays cordoned and drained; {back}"),
        }
    }

    /// The annotation is gone.
    pub(super) fn cleared(&mut self, result: Result<(), WriteError>) {
        if !self.written(result) {
            return;
        }
        if self.state.flight.abandoned {
            let reason = format!("abandoned: {}", self.left_behind());
            return self.end(Ending::Aborted, reason);
        }
        if self.state.step == Step::Uncordon {
            self.tell(Happening::LeftCordoned);
        }
        self.tell(Happening::Done {
            seconds: super::seconds(self.at - self.state.started_at),
        });
        self.state.ending = Some((Ending::Done, String::new()));
        self.enter(Step::Over);
    }
}
