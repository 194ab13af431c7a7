//! The drain: eviction with kubectl's rules and better manners.

use super::{RETRY, Turn, seconds};
use crate::domain::budget::DisruptionBudget;
use crate::domain::node::ConditionStatus;
use crate::domain::pod::Pod;
use crate::domain::{Name, Timestamp};
use crate::maintenance::effect::{Effect, Eviction, Fresh};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::network;
use crate::maintenance::observation::Observation;
use crate::maintenance::pods::{OwnerKey, PodRef, Refusal, Verdict, verdict};
use crate::maintenance::record::Reached;
use crate::maintenance::state::{Leaving, LeavingStatus, Step};
use chrono::TimeDelta;
use std::time::Duration;

/// A refused eviction is tried again after this long even if no change was seen.
const AGAIN: TimeDelta = TimeDelta::seconds(5);
/// Two evictions of one pod are never closer than this.
const APART: TimeDelta = TimeDelta::seconds(1);
/// The pods are listed afresh this often while the drain goes on, in case a watch has died unnoticed.
const RELIST: TimeDelta = TimeDelta::seconds(10);

impl Turn<'_> {
    pub(super) fn enter_drain(&mut self) {
        self.enter(Step::Drain);
        self.wait_for("the list of the node's pods");
        self.list();
    }

    fn list(&mut self) {
        self.state.flight.listing = true;
        self.state.flight.list_at = None;
        self.effects.push(Effect::ListPods);
    }

    pub(super) fn listed(&mut self, fresh: Result<Box<Fresh>, String>) {
        self.state.flight.listing = false;
        if self.state.step != Step::Drain {
            return;
        }
        let fresh = match fresh {
            Ok(fresh) => fresh,
            Err(problem) => {
                self.wait_for(format!("the API server: {problem}"));
                self.state.flight.list_at = Some(self.at + RETRY);
                return;
            }
        };
        self.state.flight.list_at = Some(self.at + RELIST);
        self.fold_pods(&fresh.pods, false);
        if self.all_gone() {
            self.drained(&fresh);
        }
    }

    pub(super) fn observed_drain(&mut self, observation: &Observation) {
        self.fold_pods(&observation.pods, true);
        let silent = observation.node.as_ref().is_some_and(|node| {
            let ready = node
                .conditions
                .iter()
                .find(|condition| &*condition.kind == "Ready");
            ready.is_some_and(|ready| ready.status == ConditionStatus::Unknown)
        });
        let at = self.at;
        for (uid, leaving) in &mut self.state.leaving {
            if !matches!(leaving.status, LeavingStatus::Stopping | LeavingStatus::Stuck(_)) {
                continue;
            }
            let stuck = match observation.unkillable.get(uid) {
                Some(said) => Some(format!(
                    "the kubelet cannot remove it: {said}; a forced deletion only cleans the API, restart the node"
                )),
                None => silent.then(|| {
                    "the node does not answer, so nothing confirms that it stopped; a forced deletion only cleans the API"
                        .to_owned()
                }),
            };
            let status = stuck.map_or(LeavingStatus::Stopping, LeavingStatus::Stuck);
            set(leaving, status, at);
        }
        for leaving in self.state.leaving.values_mut() {
            let (LeavingStatus::Blocked(_), Some(before)) = (&leaving.status, &leaving.budgets) else {
                continue;
            };
            let Some(pod) = observation.pods.iter().find(|pod| pod.uid == leaving.pod.uid) else {
                continue;
            };
            let now = protecting(pod, &observation.budgets);
            if now == *before {
                continue;
            }
            // The budget moved: try at once, whatever Retry-After said, but not twice within a second.
            let earliest = leaving.last_sent.map_or(at, |sent| (sent + APART).max(at));
            if let Some(next) = &mut leaving.next_try {
                *next = (*next).min(earliest);
            }
            leaving.budgets = Some(now);
        }
        self.remember_budgets(&observation.pods, &observation.budgets);
    }

    /// Blocked pods learn which budgets decide over them.
    fn remember_budgets(&mut self, pods: &[Pod], budgets: &[DisruptionBudget]) {
        for leaving in self.state.leaving.values_mut() {
            if leaving.budgets.is_some() || !matches!(leaving.status, LeavingStatus::Blocked(_)) {
                continue;
            }
            if let Some(pod) = pods.iter().find(|pod| pod.uid == leaving.pod.uid) {
                leaving.budgets = Some(protecting(pod, budgets));
            }
        }
    }

    /// Learns which pods must leave and which are gone. A watch (`watched`) that has not told of a pod yet does not
    /// prove that it is gone.
    fn fold_pods(&mut self, pods: &[Pod], watched: bool) {
        for pod in pods {
            match verdict(pod, &self.state.options, self.at) {
                Verdict::Leaves(loss) => self.must_leave(pod, watched, loss, None),
                Verdict::Refused(refusal) => self.must_leave(pod, watched, None, Some(refused(refusal))),
                Verdict::Stays(_) => {
                    self.state.leaving.remove(&pod.uid);
                }
            }
        }
        let there = |uid: &Name| pods.iter().any(|pod| pod.uid == *uid);
        let gone: Vec<Name> = self
            .state
            .leaving
            .iter()
            .filter(|(uid, leaving)| {
                leaving.status != LeavingStatus::Gone && (leaving.observed || !watched) && !there(uid)
            })
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in gone {
            self.gone(&uid);
        }
    }

    fn must_leave(
        &mut self,
        pod: &Pod,
        watched: bool,
        loss: Option<crate::maintenance::pods::Loss>,
        refused: Option<String>,
    ) {
        let at = self.at;
        let leaving = self
            .state
            .leaving
            .entry(pod.uid.clone())
            .or_insert_with(|| Leaving {
                pod: PodRef::of(pod),
                owner: OwnerKey::of(pod),
                loss,
                status: LeavingStatus::Waiting,
                since: at,
                first_sent: None,
                last_sent: None,
                next_try: Some(at),
                budgets: None,
                observed: false,
            });
        leaving.observed |= watched;
        if let Some(reason) = refused {
            leaving.next_try = None;
            set(leaving, LeavingStatus::Refused(reason), at);
        } else if pod.deleted_at.is_some() {
            // Somebody deleted it already: it is waited for, not evicted again.
            leaving.next_try = None;
            if !matches!(leaving.status, LeavingStatus::Stuck(_) | LeavingStatus::Gone) {
                set(leaving, LeavingStatus::Stopping, at);
            }
        } else if leaving.status == LeavingStatus::Gone && !watched {
            // A fresh list shows it: it is not gone after all.
            leaving.next_try = Some(at);
            set(leaving, LeavingStatus::Waiting, at);
        }
    }

    fn gone(&mut self, uid: &Name) {
        let at = self.at;
        let Some(leaving) = self.state.leaving.get_mut(uid) else {
            return;
        };
        leaving.next_try = None;
        set(leaving, LeavingStatus::Gone, at);
        let pod = leaving.pod.clone();
        let took = leaving.first_sent.map_or(0.0, |sent| seconds(at - sent));
        self.tell(Happening::Evicted { pod, seconds: took });
        if self.all_gone() {
            // A fresh list has the last word.
            self.state.flight.list_at = Some(at);
        }
    }

    pub(super) fn evicted(&mut self, pod: &PodRef, eviction: Eviction) {
        if self.state.flight.recreating.remove(&pod.uid) {
            return self.recreated(pod, eviction);
        }
        let at = self.at;
        let Some(leaving) = self.state.leaving.get_mut(&pod.uid) else {
            return;
        };
        if leaving.status == LeavingStatus::Gone {
            return;
        }
        let later = |pause: TimeDelta, retry_after: Option<Duration>| {
            let asked = retry_after.and_then(|asked| TimeDelta::from_std(asked).ok());
            Some(at + asked.map_or(pause, |asked| asked.max(pause)))
        };
        match eviction {
            Eviction::Accepted => set(leaving, LeavingStatus::Stopping, at),
            Eviction::Gone | Eviction::Replaced => self.gone(&pod.uid),
            Eviction::Blocked { message, retry_after } => {
                leaving.next_try = later(AGAIN, retry_after);
                leaving.budgets = None;
                let status = LeavingStatus::Blocked(message.clone());
                let news = leaving.status != status;
                set(leaving, status, at);
                if news {
                    self.tell(Happening::Blocked {
                        pod: pod.clone(),
                        reason: message,
                    });
                }
            }
            Eviction::SeveralBudgets(message) => {
                leaving.next_try = later(AGAIN, None);
                let reason = format!(
                    "{message}: the server refuses any eviction of a pod with two budgets; change the selector of one"
                );
                let status = LeavingStatus::Blocked(reason.clone());
                let news = leaving.status != status;
                set(leaving, status, at);
                if news {
                    self.tell(Happening::Blocked {
                        pod: pod.clone(),
                        reason,
                    });
                }
            }
            Eviction::Throttled { retry_after } => {
                leaving.next_try = later(APART, retry_after);
                let reason = "the API server asks for fewer requests".to_owned();
                set(leaving, LeavingStatus::Delayed(reason), at);
            }
            Eviction::NamespaceTerminating => {
                leaving.next_try = later(AGAIN, None);
                set(leaving, LeavingStatus::NamespaceTerminating, at);
            }
            Eviction::Retry(problem) => {
                leaving.next_try = later(APART, None);
                set(leaving, LeavingStatus::Delayed(problem), at);
            }
            Eviction::Refused(problem) => {
                leaving.next_try = None;
                set(leaving, LeavingStatus::Refused(problem), at);
            }
        }
    }

    pub(super) fn go_on_draining(&mut self) {
        let at = self.at;
        if self.state.flight.drained {
            return self.save_news();
        }
        let grace_seconds = self.state.options.grace_seconds;
        let mut sent = Vec::new();
        for leaving in self.state.leaving.values_mut() {
            if leaving.next_try.is_none_or(|next| next > at) {
                continue;
            }
            leaving.next_try = None;
            leaving.last_sent = Some(at);
            if leaving.first_sent.is_none() {
                leaving.first_sent = Some(at);
                sent.push(Effect::Tell(Happening::Evicting {
                    pod: leaving.pod.clone(),
                }));
            }
            sent.push(Effect::Evict {
                pod: leaving.pod.clone(),
                grace_seconds,
            });
        }
        self.effects.extend(sent);
        let mut open = self
            .state
            .leaving
            .values()
            .filter(|pod| pod.status != LeavingStatus::Gone);
        let stopped_by_refusal = !self.state.leaving.is_empty()
            && open.clone().count() > 0
            && open.all(|pod| matches!(pod.status, LeavingStatus::Refused(_)));
        if stopped_by_refusal {
            let reason = format!(
                "pods that may not be evicted are left: {}; the node stays cordoned",
                self.still_there()
            );
            return self.end(Ending::Refused, reason);
        }
        let due = self.state.flight.list_at.is_some_and(|list_at| list_at <= at);
        if due && !self.state.flight.listing {
            self.list();
        }
        self.say_what_is_left();
    }

    fn say_what_is_left(&mut self) {
        if self.state.step != Step::Drain {
            return;
        }
        let all = self.state.leaving.len();
        let gone = self.state.leaving.values();
        let gone = gone.filter(|pod| pod.status == LeavingStatus::Gone).count();
        if all > 0 && gone < all {
            self.wait_for(format!("{gone} of {all} pods gone"));
        }
    }

    fn all_gone(&self) -> bool {
        self.state
            .leaving
            .values()
            .all(|pod| pod.status == LeavingStatus::Gone)
    }

    /// A fresh list has nothing left to evict. What was seen of the node just now is what the restart is measured at.
    fn drained(&mut self, fresh: &Fresh) {
        let Some(node) = &fresh.node else {
            let reason = format!("node {} is not there any more", self.state.node);
            return self.end(Ending::Aborted, reason);
        };
        let (ids, owners) = network::seen(fresh.pods.iter(), self.state.options.network_selector.as_ref());
        let Some(record) = &mut self.state.record else {
            return;
        };
        if node.uid != record.node_uid {
            return;
        }
        let restarted = node.boot_id != record.boot_id;
        record.reached = Reached::Restart;
        record.boot_id = node.boot_id.clone();
        record.network_ids = ids;
        record.network_owners = owners;
        self.state.flight.unsaved = true;
        self.state.flight.drained = true;
        self.state.flight.list_at = None;
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

fn set(leaving: &mut Leaving, status: LeavingStatus, at: Timestamp) {
    if leaving.status != status {
        // A blocked pod stays blocked since its first refusal, whatever the numbers in the text do.
        let same_kind = std::mem::discriminant(&leaving.status) == std::mem::discriminant(&status);
        if !same_kind {
            leaving.since = at;
        }
        leaving.status = status;
    }
}

fn protecting(pod: &Pod, budgets: &[DisruptionBudget]) -> Vec<DisruptionBudget> {
    budgets
        .iter()
        .filter(|budget| budget.protects(pod))
        .cloned()
        .collect()
}

fn refused(refusal: Refusal) -> String {
    match refusal {
        Refusal::EmptyDir => {
            "it has an emptyDir volume, whose data would be lost: --delete-emptydir-data allows that"
        }
        Refusal::Uncontrolled => "no controller would bring it back: --force allows that",
    }
    .to_owned()
}
