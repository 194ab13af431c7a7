//! What became of a maintenance in the simulated cluster.

use super::executor::json;
use super::world::World;
use crate::domain::Timestamp;
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::event::{Ending, Event, Happening};
use crate::maintenance::input::Heard;
use crate::maintenance::record::{Reached, Record};
use crate::maintenance::state::Step;

impl World {
    pub fn is_over(&self) -> bool {
        self.state.step == Step::Over
    }

    pub fn ending(&self) -> (Ending, &str) {
        let (ending, reason) = self.state.ending.as_ref().expect("it is over");
        (*ending, reason)
    }

    /// Names of the events, in order.
    pub fn events(&self) -> Vec<String> {
        let name = |event: &Event| {
            serde_json::to_value(event).unwrap()["event"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        self.journal.iter().map(name).collect()
    }

    pub fn told(&self, event: &str) -> bool {
        self.events().iter().any(|one| one == event)
    }

    /// Everything that was told, as JSON lines.
    pub fn lines(&self) -> String {
        let line = |event: &Event| serde_json::to_string(event).unwrap();
        self.journal.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub fn happened(&self, is: impl Fn(&Happening) -> bool) -> usize {
        self.journal.iter().filter(|event| is(&event.what)).count()
    }

    /// When these effects were sent.
    pub fn sent(&self, is: impl Fn(&Effect) -> bool) -> Vec<Timestamp> {
        self.effects
            .iter()
            .filter(|(_, effect)| is(effect))
            .map(|(at, _)| *at)
            .collect()
    }

    pub fn evictions_of(&self, pod: &str) -> Vec<Timestamp> {
        self.sent(|effect| matches!(effect, Effect::Evict { pod: one, .. } if &*one.name == pod))
    }

    pub fn uncordons(&self) -> usize {
        self.sent(|effect| matches!(effect, Effect::Uncordon { .. }))
            .len()
    }

    pub fn index(&self, is: impl Fn(&Effect) -> bool) -> Option<usize> {
        self.pending.iter().position(|one| is(&one.effect))
    }

    pub fn record_is_there(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.maintenance.is_some())
    }

    pub fn record(&self) -> Record {
        Record::parse(self.node.as_ref().unwrap().maintenance.as_deref().unwrap()).unwrap()
    }

    /// Somebody takes the Lease over, and the renewal of ours meets it.
    pub fn renewal_fails(&mut self) {
        self.lease = Some("grace@ws2".to_owned());
        if self.state.flight.locked {
            self.hear(Heard::Answered(Answer::LeaseLost {
                by: "grace@ws2".to_owned(),
            }));
        }
    }

    /// Somebody writes a record of theirs on the node.
    pub fn take_over(&mut self) {
        let mut record = self.record();
        record.id = "m-2".to_owned();
        record.by = "grace@ws2".to_owned();
        record.reached = Reached::Drain;
        self.node().maintenance = Some(json(&record));
    }
}
