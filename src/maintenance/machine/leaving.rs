//! The pods that must leave: which they are, how their evictions went, and why they are still there.

use super::{Turn, seconds};
use crate::domain::budget::DisruptionBudget;
use crate::domain::pod::Pod;
use crate::domain::{Name, Timestamp};
use crate::maintenance::effect::{Effect, Eviction};
use crate::maintenance::event::Happening;
use crate::maintenance::pods::{Loss, OwnerKey, PodRef, Refusal, Verdict, verdict};
use crate::maintenance::state::{Leaving, LeavingStatus};
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::time::Duration;

/// A refused eviction is tried again after this long even if no change was seen.
const AGAIN: TimeDelta = TimeDelta::seconds(5);
/// Two evictions of one pod are never closer than this.
pub(super) const APART: TimeDelta = TimeDelta::seconds(1);

impl Leaving {
    pub(super) fn is_there(&self) -> bool {
        self.status != LeavingStatus::Gone
    }

    /// Whether it is on its way out already.
    const fn stops(&self) -> bool {
        matches!(self.status, LeavingStatus::Stopping | LeavingStatus::Stuck(_))
    }
}

impl Turn<'_> {
    /// The one place where evictions are sent.
    pub(super) fn evict(&mut self, pod: PodRef) {
        self.state.flight.sent.insert(pod.uid.clone(), self.at);
        self.effects.push(Effect::Evict {
            pod,
            grace_seconds: self.state.options.grace_seconds,
        });
    }

    /// When this pod may be evicted (again) at the earliest.
    pub(super) fn earliest(&self, uid: &Name) -> Timestamp {
        let sent = self.state.flight.sent.get(uid);
        sent.map_or(self.at, |sent| (*sent + APART).max(self.at))
    }

    /// Learns which pods must leave and which are gone. A watch that has not told of a pod yet does not prove that it
    /// is gone, nor does a list that was `asked` for before the pod was heard of.
    pub(super) fn fold_pods(&mut self, pods: &[Pod], asked: Option<Timestamp>) {
        for pod in pods {
            match verdict(pod, &self.state.options, self.at) {
                Verdict::Leaves(loss) => self.must_leave(pod, asked, loss, None),
                Verdict::Refused(refusal) => self.must_leave(pod, asked, None, Some(refusal)),
                Verdict::Stays(_) => {
                    self.state.leaving.remove(&pod.uid);
                }
            }
        }
        let there = |uid: &Name| pods.iter().any(|pod| pod.uid == *uid);
        let lists = self.state.flight.lists;
        let proves = |leaving: &Leaving| match asked {
            Some(_) => leaving.lists_before < lists,
            None => leaving.observed,
        };
        let gone: Vec<Name> = self
            .state
            .leaving
            .iter()
            .filter(|(uid, leaving)| leaving.is_there() && proves(leaving) && !there(uid))
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in gone {
            self.gone(&uid);
        }
    }

    fn must_leave(
        &mut self,
        pod: &Pod,
        asked: Option<Timestamp>,
        loss: Option<Loss>,
        refusal: Option<Refusal>,
    ) {
        let (at, earliest) = (self.at, self.earliest(&pod.uid));
        let first_sent = self.state.flight.told.evicting_since(&pod.uid);
        let lists_before = self.state.flight.lists;
        let entry = self.state.leaving.entry(pod.uid.clone());
        let leaving = entry.or_insert_with(|| Leaving {
            pod: PodRef::of(pod),
            owner: OwnerKey::of(pod),
            loss,
            status: LeavingStatus::Waiting,
            since: at,
            first_sent,
            next_try: Some(earliest),
            refusal: None,
            budgets: Vec::new(),
            budgets_changed: None,
            observed: false,
            lists_before,
        });
        leaving.observed |= asked.is_none();
        if !leaving.is_there() && asked.is_none() {
            // Only a fresh list shows that it is not gone after all.
            return;
        }
        if pod.deleted_at.is_some() {
            // Somebody deleted it already: it is waited for, not evicted again.
            leaving.next_try = None;
            if !leaving.stops() {
                self.set(&pod.uid, LeavingStatus::Stopping);
            }
            return;
        }
        let was_refused = std::mem::replace(&mut leaving.refusal, refusal);
        if let Some(refusal) = refusal {
            leaving.next_try = None;
            self.set(&pod.uid, LeavingStatus::Refused(refused(refusal)));
            if was_refused.is_none() {
                self.hurry_list();
            }
            return;
        }
        // A list that is newer than the accepted eviction shows that nothing came of that.
        let stops_not = leaving.stops() && asked.is_some_and(|asked| asked > leaving.since);
        if was_refused.is_some() || !leaving.is_there() || stops_not {
            leaving.next_try = Some(earliest);
            self.set(&pod.uid, LeavingStatus::Waiting);
        }
    }

    /// Evictions that an earlier run of the program sent, of pods that are gone by now.
    pub(super) fn account_for_earlier_evictions(&mut self, pods: &[Pod]) {
        for pod in self.state.flight.told.unaccounted() {
            let known = self.state.leaving.contains_key(&pod.uid);
            if known || pods.iter().any(|there| there.uid == pod.uid) {
                continue;
            }
            self.tell(Happening::Evicted { pod, seconds: None });
        }
    }

    fn gone(&mut self, uid: &Name) {
        self.set(uid, LeavingStatus::Gone);
        let Some(leaving) = self.state.leaving.get_mut(uid) else {
            return;
        };
        leaving.next_try = None;
        let pod = leaving.pod.clone();
        let took = leaving.first_sent.map(|sent| seconds(self.at - sent));
        self.tell(Happening::Evicted { pod, seconds: took });
        if !self.state.leaving.values().any(Leaving::is_there) {
            self.hurry_list();
        }
    }

    pub(super) fn evicted(&mut self, pod: &PodRef, eviction: Eviction) {
        // It may have waited for its turn: the second counts from the answer.
        let sent = self.state.flight.sent.insert(pod.uid.clone(), self.at);
        if self.state.flight.recreating.remove(&pod.uid) {
            return self.recreated(pod, eviction);
        }
        let (at, earliest) = (self.at, self.earliest(&pod.uid));
        let Some(leaving) = self.state.leaving.get_mut(&pod.uid) else {
            return;
        };
        let left = matches!(eviction, Eviction::Gone | Eviction::Replaced);
        if !leaving.is_there() || (leaving.stops() && !left) {
            return;
        }
        let moved = leaving
            .budgets_changed
            .is_some_and(|changed| Some(changed) > sent);
        let later = |pause: TimeDelta, retry_after: Option<Duration>| {
            let asked = retry_after.and_then(|asked| TimeDelta::from_std(asked).ok());
            at + asked.map_or(pause, |asked| asked.max(pause))
        };
        // A budget that moved while the eviction was under way may allow it by now.
        let on_budget = |retry_after| {
            if moved {
                earliest
            } else {
                later(AGAIN, retry_after)
            }
        };
        let (status, next) = match eviction {
            Eviction::Gone | Eviction::Replaced => return self.gone(&pod.uid),
            Eviction::Accepted => (LeavingStatus::Stopping, None),
            Eviction::Blocked { message, retry_after } => {
                (LeavingStatus::Blocked(message), Some(on_budget(retry_after)))
            }
            Eviction::SeveralBudgets(message) => {
                let reason = format!(
                    "{message}: the server refuses any eviction of a pod with two budgets; change the selector of one"
                );
                (LeavingStatus::Blocked(reason), Some(on_budget(None)))
            }
            Eviction::Throttled { retry_after } => {
                let reason = "the API server asks for fewer requests".to_owned();
                (LeavingStatus::Delayed(reason), Some(later(APART, retry_after)))
            }
            Eviction::NamespaceTerminating => (LeavingStatus::NamespaceTerminating, Some(later(AGAIN, None))),
            Eviction::Retry(problem) => (LeavingStatus::Delayed(problem), Some(later(APART, None))),
            Eviction::Refused(problem) => (LeavingStatus::Refused(problem), None),
        };
        if leaving.refusal.is_some() && status != LeavingStatus::Stopping {
            return;
        }
        leaving.next_try = next;
        let refused = matches!(status, LeavingStatus::Refused(_));
        self.set(&pod.uid, status);
        if refused {
            self.hurry_list();
        }
    }

    /// Pods that were evicted and cannot be stopped.
    pub(super) fn find_stuck(&mut self, unkillable: &BTreeMap<Name, String>, silent: bool) {
        let stopping = self.state.leaving.iter().filter(|(_, leaving)| leaving.stops());
        let statuses: Vec<_> = stopping
            .map(|(uid, _)| {
                let reason = match unkillable.get(uid) {
                    Some(said) => Some(format!(
                        "the kubelet cannot remove it: {said}; a forced deletion only cleans the API, restart the node"
                    )),
                    None => silent.then(|| {
                        "the node does not answer, so nothing confirms that it stopped; a forced deletion only cleans \
                         the API, --skip-wait-for-delete-timeout does not wait for it"
                            .to_owned()
                    }),
                };
                (uid.clone(), reason.map_or(LeavingStatus::Stopping, LeavingStatus::Stuck))
            })
            .collect();
        for (uid, status) in statuses {
            self.set(&uid, status);
        }
    }

    /// A budget that moved is tried at once, whatever Retry-After said, but not twice within a second.
    pub(super) fn fold_budgets(&mut self, pods: &[Pod], budgets: &[DisruptionBudget]) {
        for pod in pods {
            let earliest = self.earliest(&pod.uid);
            let Some(leaving) = self.state.leaving.get_mut(&pod.uid) else {
                continue;
            };
            let protecting = || budgets.iter().filter(|budget| budget.protects(pod));
            if protecting().eq(&leaving.budgets) {
                continue;
            }
            leaving.budgets = protecting().cloned().collect();
            leaving.budgets_changed = Some(self.at);
            if let (LeavingStatus::Blocked(_), Some(next)) = (&leaving.status, &mut leaving.next_try) {
                *next = (*next).min(earliest);
            }
        }
    }

    /// The new status of a pod that leaves. What keeps it there is told.
    fn set(&mut self, uid: &Name, status: LeavingStatus) {
        let at = self.at;
        let Some(leaving) = self
            .state
            .leaving
            .get_mut(uid)
            .filter(|leaving| leaving.status != status)
        else {
            return;
        };
        // A blocked pod stays blocked since its first refusal, whatever the numbers in the text do.
        if std::mem::discriminant(&leaving.status) != std::mem::discriminant(&status) {
            leaving.since = at;
        }
        leaving.status = status;
        let delayed = matches!(leaving.status, LeavingStatus::Delayed(_));
        if let Some(reason) = leaving.status.reason().filter(|_| !delayed) {
            let (pod, reason) = (leaving.pod.clone(), reason.to_owned());
            self.tell(Happening::Blocked { pod, reason });
        }
    }
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
