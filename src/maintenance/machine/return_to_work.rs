//! Back to work: uncordon, and wait until the pods are as ready as before.

use super::Turn;
use super::leaving::APART;
use crate::domain::Name;
use crate::maintenance::effect::{Effect, Eviction, WriteError};
use crate::maintenance::event::Happening;
use crate::maintenance::observation::Observation;
use crate::maintenance::pods::{OwnerKey, PodRef, Verdict, verdict};
use crate::maintenance::record::{Reached, Record};
use crate::maintenance::state::{LeavingStatus, Step};

impl Turn<'_> {
    pub(super) fn enter_uncordon(&mut self) {
        self.state.flight.gates_at = Some(self.at);
        let was_cordoned = self
            .state
            .record
            .as_ref()
            .is_some_and(|record| record.was_cordoned);
        self.wait_for(if was_cordoned {
            "the record to be removed; the node was cordoned before and stays yours to uncordon"
        } else {
            "the node to be uncordoned"
        });
        self.enter(Step::Uncordon);
    }

    /// The operator knows that this update needs no restart.
    pub(super) fn finish_without_restart(&mut self) {
        let Some(record) = &self.state.record else { return };
        let started =
            record.reboot_started || self.state.flight.reboot_wanted || self.state.flight.reboot_running;
        let text = if started {
            "a reboot command was started: the node may restart at any moment, so it cannot be finished without a restart"
        } else {
            self.state.boot_id = Some(record.boot_id.clone());
            self.enter_uncordon();
            "finished without a restart, knowingly: no new boot id, no revision and no network were waited for"
        };
        self.tell(Happening::Note {
            text: text.to_owned(),
        });
    }

    pub(super) fn go_on_uncordoning(&mut self) {
        self.write(|turn| {
            let mut record = turn.state.record.clone()?;
            if record.was_cordoned {
                turn.state.flight.clearing = true;
                return Some(turn.clear());
            }
            let boot_id = turn.state.boot_id.clone()?;
            record.reached = Reached::PodsBack;
            record.reached_at = turn.at;
            turn.state.flight.uncordon_sent = true;
            Some(Effect::Uncordon {
                record: Box::new(record),
                boot_id,
            })
        });
    }

    pub(super) fn uncordon_ended(&mut self, result: Result<(), WriteError>) {
        if self.state.step == Step::PodsBack {
            // A watch has shown it already.
            self.state.flight.writing = false;
        } else if self.written(result) {
            // It may have come while a gate was lost again: the node is uncordoned all the same.
            self.uncordoned();
        }
    }

    pub(super) fn uncordoned(&mut self) {
        if let Some(record) = &mut self.state.record {
            record.reached = Reached::PodsBack;
            record.reached_at = self.at;
        }
        self.state.flight.uncordon_sent = false;
        self.state.flight.unsaved = false;
        let held = self.state.flight.gates_at;
        self.tell(Happening::Uncordoned {
            after_milliseconds: held.map(|held| (self.at - held).num_milliseconds()),
        });
        self.enter_pods_back();
    }

    pub(super) fn enter_pods_back(&mut self) {
        self.wait_for("the pods to be ready again");
        self.enter(Step::PodsBack);
    }

    pub(super) fn observed_pods_back(&mut self, observation: &Observation) {
        if self.is_older_than_uncordon(observation) {
            return;
        }
        self.note_another_restart(observation);
        self.find_pods_without_network(observation);
        self.state.ready.clone_from(&observation.ready);
        let Some(record) = &self.state.record else { return };
        let ready = |owner: &OwnerKey| observation.ready.get(owner).copied().unwrap_or(0);
        let missing = record.ready_before.iter().filter_map(|(owner, before)| {
            let ready = ready(owner);
            let OwnerKey {
                namespace,
                kind,
                name,
            } = owner;
            (ready < *before).then(|| format!("{kind} {namespace}/{name} {ready} of {before}"))
        });
        let missing = missing.collect::<Vec<_>>().join(", ");
        if !missing.is_empty() {
            let cordoned = observation.node.as_ref().is_some_and(|node| node.unschedulable);
            let again = if cordoned {
                " (the node was cordoned again)"
            } else {
                ""
            };
            return self.wait_for(format!("{missing}{again}"));
        }
        let happening = Happening::PodsReady {
            ready: record.ready_before.iter().map(|(owner, _)| ready(owner)).sum(),
            before: record.ready_before.iter().map(|(_, before)| before).sum(),
            seconds: self.seconds_since(Step::PodsBack),
        };
        self.tell(happening);
        self.state.flight.pods_are_back = true;
        self.wait_for("the record to be removed");
    }

    /// A watch that is late still shows the node before the uncordon, or pods that have left.
    fn is_older_than_uncordon(&self, observation: &Observation) -> bool {
        let record = observation
            .node
            .as_ref()
            .and_then(|node| Record::parse(node.maintenance.as_deref()?).ok());
        let left = |uid: &Name| {
            let leaving = self.state.leaving.get(uid);
            leaving.is_some_and(|leaving| leaving.status == LeavingStatus::Gone)
        };
        record.is_none_or(|record| record.reached != Reached::PodsBack)
            || observation.pods.iter().any(|pod| left(&pod.uid))
    }

    /// A restart that nobody waits for: what starts before the network pods has no network.
    fn note_another_restart(&mut self, observation: &Observation) {
        let (Some(node), Some(record)) = (&observation.node, &mut self.state.record) else {
            return;
        };
        let known = record.new_boot_id.as_ref() == Some(&node.boot_id);
        if node.boot_id.is_empty() || known || record.is_over(&node.boot_id) {
            return;
        }
        if let Some(earlier) = record.new_boot_id.replace(node.boot_id.clone()) {
            record.older_boot_ids.insert(earlier);
        }
        let text = format!(
            "node {} restarted again after the uncordon, with its pods on it: those that start before its network pods \
             have no network",
            node.name
        );
        self.tell(Happening::Note { text });
    }

    fn find_pods_without_network(&mut self, observation: &Observation) {
        self.state
            .without_network
            .clone_from(&observation.probes_time_out);
        let there = observation.pods.iter().filter(|pod| pod.deleted_at.is_none());
        let may_leave = there.filter(|pod| {
            let verdict = verdict(pod, &self.state.options, self.at);
            matches!(verdict, Verdict::Leaves(_)) && observation.probes_time_out.contains_key(&pod.uid)
        });
        self.state.flight.recreatable = may_leave.map(|pod| pod.uid.clone()).collect();
    }

    /// The record goes; what it proved stays.
    fn clear(&self) -> Effect {
        let before = self.state.record.as_ref().map(|record| &record.boot_id);
        let proven = self.state.boot_id.as_ref();
        Effect::Clear {
            proven_boot: proven.filter(|boot_id| Some(*boot_id) != before).cloned(),
        }
    }

    pub(super) fn go_on_waiting_for_pods(&mut self) {
        if self.state.flight.pods_are_back {
            self.write(|turn| {
                turn.state.flight.clearing = true;
                Some(turn.clear())
            });
        }
    }

    /// The operator does not wait for the rest.
    pub(super) fn stop_waiting(&mut self) {
        if self.state.flight.pods_are_back {
            return;
        }
        self.state.flight.pods_are_back = true;
        let text = format!("not waited for any longer: {}", self.state.flight.waiting);
        self.tell(Happening::Note { text });
        self.wait_for("the record to be removed");
    }

    /// Evicts a pod that came back without network: its sandbox has none for the rest of its life.
    pub(super) fn recreate(&mut self, uid: &Name) {
        let Some((pod, _)) = self.state.without_network.get(uid) else {
            return;
        };
        let pod = pod.clone();
        let again_at = self.state.flight.sent.get(uid).map(|sent| *sent + APART);
        if self.state.flight.recreating.contains(uid) || again_at.is_some_and(|again| again > self.at) {
            return;
        }
        if self.state.flight.recreatable.contains(uid) {
            self.state.flight.recreating.insert(uid.clone());
            self.evict(pod);
        } else {
            let text = format!("{pod} is not evicted: a drain with these options would not evict it either");
            self.tell(Happening::Note { text });
        }
    }

    pub(super) fn recreated(&mut self, pod: &PodRef, eviction: Eviction) {
        let text = match eviction {
            Eviction::Accepted | Eviction::Gone | Eviction::Replaced => {
                self.state.flight.recreatable.remove(&pod.uid);
                format!("{pod} came up without network and is created anew")
            }
            Eviction::Blocked { message, .. } => format!("{pod} came up without network, but {message}"),
            Eviction::SeveralBudgets(problem) | Eviction::Retry(problem) | Eviction::Refused(problem) => {
                format!("{pod} could not be evicted: {problem}")
            }
            Eviction::Throttled { .. } => {
                format!("{pod} could not be evicted now: the API server asks for fewer requests")
            }
            Eviction::NamespaceTerminating => format!("{pod} goes with its namespace"),
        };
        self.tell(Happening::Note { text });
    }
}
