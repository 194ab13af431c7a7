//! The drain: eviction with kubectl's rules and better manners.

use super::{RETRY, Turn, may_evict, ready};
use crate::domain::Timestamp;
use crate::domain::node::ConditionStatus;
use crate::maintenance::effect::{Effect, Fresh};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::observation::Observation;
use crate::maintenance::record::Reached;
use crate::maintenance::state::{Doubt, LeavingStatus, Step};
use chrono::TimeDelta;

/// The pods are listed afresh this often while the drain goes on, in case a watch has died unnoticed.
const RELIST: TimeDelta = TimeDelta::seconds(10);

impl Turn<'_> {
    pub(super) fn enter_drain(&mut self) {
        self.enter(Step::Drain);
        self.wait_for("the list of the node's pods");
        self.state.flight.list_at = Some(self.at);
    }

    pub(super) fn list(&mut self) {
        self.state.flight.listing = Some(self.at);
        self.state.flight.lists += 1;
        self.state.flight.list_at = None;
        if self.state.flight.doubt == Doubt::Raised {
            self.state.flight.doubt = Doubt::Asked;
        }
        for unconfirmed in self.state.flight.unconfirmed.values_mut() {
            unconfirmed.asked = true;
        }
        self.effects.push(Effect::ListPods);
    }

    /// A fresh list has the last word: it is asked for now.
    pub(super) fn hurry_list(&mut self) {
        self.state.flight.list_at = Some(self.at);
    }

    pub(super) fn listed(&mut self, fresh: Result<Box<Fresh>, String>) {
        let flight = &mut self.state.flight;
        let Some(asked) = flight.listing.take() else {
            return;
        };
        if flight.abandoned || flight.clearing {
            return;
        }
        let fresh = match fresh {
            Ok(fresh) => fresh,
            Err(problem) => {
                flight.trouble = Some(problem);
                flight.list_at = Some(self.at + RETRY);
                return;
            }
        };
        flight.trouble = None;
        let observation = Observation {
            node: fresh.node,
            pods: fresh.pods,
            ..Observation::default()
        };
        if !self.looked_at(observation.node.as_ref()) {
            return self.remember(&observation);
        }
        match self.state.step {
            Step::Drain if self.state.flight.drained => {
                self.boot(&observation, true);
            }
            Step::Drain => self.fold_list(&observation, asked),
            Step::Restart | Step::Revision | Step::Network | Step::Uncordon => {
                self.observed_restart(&observation, true);
            }
            Step::Preflight | Step::Cordon | Step::PodsBack | Step::Over => {}
        }
    }

    fn fold_list(&mut self, fresh: &Observation, asked: Timestamp) {
        let relist = self.at + RELIST;
        self.state.flight.list_at.get_or_insert(relist);
        self.account_for_earlier_evictions(&fresh.pods);
        self.fold_pods(&fresh.pods, Some(asked));
        let left = self.still_there();
        let mut open = self.state.leaving.values().filter(|pod| pod.is_there());
        let lists = self.state.flight.lists;
        if left.is_empty() && self.state.leaving.values().any(|pod| pod.lists_before >= lists) {
            // A pod was heard of after this list was asked for, and the watch that told of it may have gone back.
            self.hurry_list();
        } else if left.is_empty() {
            self.drained(fresh);
        } else if open.all(|pod| matches!(pod.status, LeavingStatus::Refused(_))) {
            let reason = format!("pods that may not be evicted are left: {left}; the node stays cordoned");
            self.end(Ending::Refused, reason);
        }
    }

    pub(super) fn observed_drain(&mut self, observation: &Observation) {
        self.remember(observation);
        if self.state.flight.drained {
            return;
        }
        self.fold_pods(&observation.pods, None);
        let node = observation.node.as_ref();
        let silent = node.and_then(ready) == Some(ConditionStatus::Unknown);
        self.find_stuck(&observation.unkillable, silent);
        self.fold_budgets(&observation.pods, &observation.budgets);
    }

    pub(super) fn go_on_draining(&mut self) {
        let at = self.at;
        if self.state.flight.drained {
            return self.save_news();
        }
        if may_evict(self.state) {
            let due = self.state.leaving.values_mut();
            let due = due.filter(|leaving| leaving.next_try.is_some_and(|next| next <= at));
            let pods: Vec<_> = due
                .map(|leaving| {
                    leaving.next_try = None;
                    leaving.first_sent.get_or_insert(at);
                    leaving.pod.clone()
                })
                .collect();
            for pod in pods {
                self.tell(Happening::Evicting { pod: pod.clone() });
                self.evict(pod);
            }
        }
        let all = self.state.leaving.len();
        let open = self.state.leaving.values().filter(|pod| pod.is_there()).count();
        if open > 0 {
            self.wait_for(format!("{} of {all} pods gone", all - open));
        } else {
            self.wait_for("the list of the node's pods");
        }
    }

    /// A fresh list has nothing left to evict. What was seen of the node just now is what the restart is measured at.
    fn drained(&mut self, fresh: &Observation) {
        let (Some(node), Some(record)) = (&fresh.node, &mut self.state.record) else {
            return;
        };
        record.reached = Reached::Restart;
        record.reached_at = self.at;
        let restarted = !node.boot_id.is_empty() && node.boot_id != record.boot_id;
        if restarted {
            let before = std::mem::replace(&mut record.boot_id, node.boot_id.clone());
            record.older_boot_ids.insert(before);
        }
        self.prove_network(fresh);
        let flight = &mut self.state.flight;
        flight.unsaved = true;
        flight.drained = true;
        flight.list_at = None;
        let pods = flight.told.evicted();
        let seconds = self.seconds_since(Step::Drain);
        self.tell(Happening::Drained { pods, seconds });
        self.wait_for("the record to be saved");
        if restarted {
            self.tell(Happening::Note {
                text: "the node restarted while it was being drained: that restart does not count, its pods lost their \
                       sandboxes; restart it now that it is empty"
                    .to_owned(),
            });
        }
    }
}
