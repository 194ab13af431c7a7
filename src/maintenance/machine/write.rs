//! Writes to the node: one at a time, and again after a failure.

use super::{RETRY, Turn};
use crate::maintenance::effect::{Effect, WriteError};
use crate::maintenance::event::Ending;
use crate::maintenance::state::Step;

impl Turn<'_> {
    /// Sends a write unless one is under way or must wait.
    pub(super) fn write(&mut self, effect: impl FnOnce(&mut Self) -> Option<Effect>) {
        if self.state.flight.writing || self.state.flight.write_at.is_some() {
            return;
        }
        if let Some(effect) = effect(self) {
            self.state.flight.writing = true;
            self.effects.push(effect);
        }
    }

    /// Notes that a write ended. True when it succeeded; a refusal ends the maintenance.
    pub(super) fn written(&mut self, result: Result<(), WriteError>) -> bool {
        self.state.flight.writing = false;
        match result {
            Ok(()) => {
                self.state.flight.trouble = None;
                true
            }
            Err(WriteError::Retry(problem)) => {
                self.retry_write(problem);
                false
            }
            Err(WriteError::Moved(how)) => {
                self.state.flight.trouble = None;
                self.state.flight.write_at = Some(self.at + RETRY);
                self.wait_for(how);
                false
            }
            Err(WriteError::Refused(reason)) => {
                self.end(Ending::Refused, reason);
                false
            }
        }
    }

    pub(super) fn retry_write(&mut self, problem: String) {
        self.state.flight.write_at = Some(self.at + RETRY);
        self.state.flight.trouble = Some(problem);
    }

    /// Saves the record if it has news. Not while the node may be uncordoned already: that stands in its record.
    pub(super) fn save_news(&mut self) {
        if !self.state.flight.unsaved || self.state.flight.uncordon_sent {
            return;
        }
        self.write(|turn| {
            turn.state.flight.unsaved = false;
            turn.state.record.clone().map(Box::new).map(Effect::Save)
        });
    }

    pub(super) fn saved(&mut self, result: Result<(), WriteError>) {
        let lost = result.is_err();
        if !self.written(result) {
            self.state.flight.unsaved |= lost;
            return;
        }
        if self.state.step == Step::Drain && self.state.flight.drained && !self.state.flight.abandoned {
            self.state.flight.drained = false;
            self.enter_restart();
        }
    }
}
