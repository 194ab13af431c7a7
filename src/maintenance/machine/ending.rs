//! How a maintenance ends.

use super::Turn;
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::state::{LeavingStatus, Step};

impl Turn<'_> {
    /// It ends here, with everything left as it is now. The record stays on the node, so that it can be resumed.
    pub(super) fn end(&mut self, ending: Ending, reason: String) {
        let step = self.state.step;
        if self.state.record.is_none() || step == Step::Cordon {
            // Nothing was changed, so nothing has to be remembered.
            if self.state.flight.locked {
                self.effects.push(Effect::Unlock);
            }
            self.state.record = None;
        }
        self.tell(Happening::Failed {
            step,
            reason: reason.clone(),
            ending,
        });
        self.state.question = None;
        self.state.waiting_for.clear();
        self.state.ending = Some((ending, reason));
        self.enter(Step::Over);
    }

    pub(super) fn time_is_up(&mut self) {
        let node = self.state.node.clone();
        let reason = match self.state.step {
            Step::Drain => format!(
                "the drain of node {node} took longer than --timeout: {}; it stays cordoned, go on with --resume",
                self.still_there()
            ),
            Step::PodsBack => format!(
                "node {node} is back, but not all pods are ready again: {}; look at them, or go on waiting with --resume",
                self.state.waiting_for
            ),
            _ => format!(
                "node {node} did not come back within the time for the restart: waiting for {}; it stays cordoned, look at \
                 its console and go on with --resume",
                self.state.waiting_for
            ),
        };
        self.end(Ending::TimedOut, reason);
    }

    /// The pods that have not left, with why.
    pub(super) fn still_there(&self) -> String {
        let left = self.state.leaving.values();
        let left: Vec<String> = left
            .filter(|pod| pod.status != LeavingStatus::Gone)
            .map(|pod| match pod.status.reason() {
                Some(reason) => format!("{} ({reason})", pod.pod),
                None => pod.pod.to_string(),
            })
            .collect();
        left.join(", ")
    }

    /// The operator gives up: the annotation goes, the cordon and what has left already stay as they are.
    pub(super) fn abandon(&mut self) {
        if self.state.record.is_none() || self.state.step <= Step::Cordon {
            return self.end(
                Ending::Aborted,
                "abandoned before anything was changed".to_owned(),
            );
        }
        let gone = self.state.leaving.values();
        let gone = gone.filter(|pod| pod.status == LeavingStatus::Gone).count();
        let left = match self.state.step {
            Step::PodsBack => "the node is uncordoned; not all pods are ready again".to_owned(),
            Step::Drain => format!("the node stays cordoned and half drained: {gone} pods are gone"),
            _ => "the node stays cordoned and drained; `kubectl uncordon` gives it back".to_owned(),
        };
        self.state.flight.abandoned = Some(format!("abandoned: {left}"));
    }

    /// The annotation is gone.
    pub(super) fn cleared(&mut self) {
        if let Some(reason) = self.state.flight.abandoned.take() {
            return self.end(Ending::Aborted, reason);
        }
        self.tell(Happening::Done {
            seconds: super::seconds(self.at - self.state.started_at),
        });
        self.state.waiting_for.clear();
        self.state.ending = Some((Ending::Done, String::new()));
        self.enter(Step::Over);
    }
}
