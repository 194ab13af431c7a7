//! Preflight and cordon: until the cordon nothing of the cluster is changed.

use super::Turn;
use crate::maintenance::effect::{Effect, LockError, SurveyError, WriteError};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::options::Kept;
use crate::maintenance::preflight::{Fate, Note, Preflight, Weight};
use crate::maintenance::record::{Reached, Record};
use crate::maintenance::state::{Question, Step};
use std::collections::BTreeSet;

impl Turn<'_> {
    /// Asks again after the API server was lost.
    pub(super) fn go_on_surveying(&mut self) {
        if self.state.preflight.is_none() {
            self.write(|_| Some(Effect::Survey));
        }
    }

    pub(super) fn surveyed(&mut self, surveyed: Result<Box<Preflight>, SurveyError>) {
        if self.state.step != Step::Preflight {
            return;
        }
        self.state.flight.writing = false;
        let preflight = match surveyed {
            Ok(preflight) => *preflight,
            Err(SurveyError::Failed(problem)) => return self.retry_write(problem),
            Err(SurveyError::Refused(problem)) => {
                let reason = format!("the preflight could not be made: {problem}");
                return self.end(Ending::Refused, reason);
            }
        };
        self.state.flight.trouble = None;
        let weight = preflight.weight();
        let leaving = preflight
            .pods
            .iter()
            .filter(|(_, fate)| matches!(fate, Fate::Leaves(_)))
            .count();
        let mut notes: Vec<&Note> = preflight.notes.iter().collect();
        notes.sort_by_key(|note| std::cmp::Reverse(note.weight));
        let worst = notes.first().map(|note| note.sentence());
        self.tell(Happening::Preflight {
            leaving,
            staying: preflight.pods.len() - leaving,
            notes: notes.iter().map(|note| note.sentence()).collect(),
            blocked: weight >= Weight::Blocks,
        });
        self.state.preflight = Some(preflight);
        if weight == Weight::Refuses {
            self.end(Ending::Refused, worst.unwrap_or_default());
        } else if self.state.options.yes {
            self.begin();
        } else if self.state.options.attended {
            self.state.question = Some(Question::Begin);
            self.wait_for("your decision to begin");
        } else {
            let reason = "nobody is there to confirm it: --yes does that beforehand".to_owned();
            self.end(Ending::Refused, reason);
        }
    }

    /// Confirmed: from here on the cluster is changed.
    pub(super) fn begin(&mut self) {
        let Some(preflight) = &self.state.preflight else {
            return;
        };
        let before = &preflight.node;
        let mut older_boot_ids = BTreeSet::new();
        let mut network_ids = BTreeSet::new();
        for (boot_id, mut seen) in std::mem::take(&mut self.state.flight.unconfirmed) {
            network_ids.append(&mut seen.network_ids);
            if !boot_id.is_empty() && boot_id != before.boot_id {
                older_boot_ids.insert(boot_id);
            }
        }
        self.state.record = Some(Record {
            id: self.state.id.clone(),
            by: self.state.by.clone(),
            started_at: self.state.started_at,
            purpose: self.state.options.purpose,
            reached: Reached::Drain,
            reached_at: self.at,
            node_uid: before.uid.clone(),
            boot_id: before.boot_id.clone(),
            older_boot_ids,
            new_boot_id: None,
            kernel_version: before.kernel_version.clone(),
            kubelet_version: before.kubelet_version.clone(),
            was_cordoned: before.cordoned,
            reboot_started: false,
            network_ids,
            new_network_ids: BTreeSet::new(),
            network_owners: BTreeSet::new(),
            kept: Kept::of(&self.state.options),
            ready_before: preflight.ready.clone(),
        });
        self.state.question = None;
        self.wait_for("the Lease of the node's pool");
        self.enter(Step::Cordon);
    }

    pub(super) fn locked(&mut self, locked: Result<(), LockError>) {
        self.state.flight.writing = false;
        if self.state.flight.abandoned {
            // Whoever has it now: giving up needs no Lease.
            self.state.flight.locked = locked.is_ok();
            return;
        }
        match locked {
            Ok(()) => {
                self.state.flight.trouble = None;
                self.state.flight.locked = true;
            }
            Err(LockError::Failed(problem)) => self.retry_write(problem),
            Err(LockError::Refused(reason)) => self.end(Ending::Refused, reason),
            Err(LockError::Held { by, age_seconds }) => {
                let stays = match self.state.step {
                    Step::Cordon => String::new(),
                    _ => format!("; node {} stays as it is", self.state.node),
                };
                let reason = format!(
                    "the pool's Lease is held by {by} (renewed {age_seconds} s ago): wait for that, or take it over with \
                     --take-over if it was given up{stays}"
                );
                self.end(Ending::Refused, reason);
            }
        }
    }

    /// Somebody took the Lease over: two must not work on the nodes of one pool. What is left to do after the uncordon needs
    /// no Lease.
    pub(super) fn lease_lost(&mut self, by: &str) {
        let flight = &self.state.flight;
        if self.state.step >= Step::PodsBack || flight.abandoned || flight.clearing {
            return;
        }
        let reason = format!(
            "{by} took the pool's Lease over, so this maintenance stops: {}",
            self.left_behind()
        );
        self.end(Ending::Aborted, reason);
    }

    pub(super) fn go_on_cordoning(&mut self) {
        self.wait_for("the node to be cordoned");
        self.write(|turn| {
            let record = turn.state.record.as_mut()?;
            record.reached_at = turn.at;
            turn.state.flight.cordon_sent = true;
            turn.state.record.clone().map(Box::new).map(Effect::Cordon)
        });
    }

    pub(super) fn cordoned(&mut self, result: Result<(), WriteError>) {
        // An attempt before this one that was not answered may have cordoned the node.
        let first = self.state.flight.trouble.is_none();
        if matches!(result, Err(WriteError::Refused(_))) && first {
            self.state.flight.cordon_sent = false;
        }
        if !self.written(result) || self.state.step != Step::Cordon {
            return;
        }
        let record = self.state.record.as_ref();
        let already = record.is_some_and(|record| record.was_cordoned);
        self.tell(Happening::Cordoned { already });
        self.enter_drain();
    }
}
