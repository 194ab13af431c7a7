//! Back to work: uncordon, and wait until the pods are as ready as before.

use super::Turn;
use crate::domain::Name;
use crate::maintenance::effect::{Effect, Eviction};
use crate::maintenance::event::Happening;
use crate::maintenance::observation::Observation;
use crate::maintenance::pods::PodRef;
use crate::maintenance::record::Reached;
use crate::maintenance::state::Step;

impl Turn<'_> {
    pub(super) fn enter_uncordon(&mut self) {
        self.state.flight.gates_at = Some(self.at);
        self.wait_for("the node to be uncordoned");
        self.enter(Step::Uncordon);
    }

    /// The operator knows that this update needs no restart.
    pub(super) fn finish_without_restart(&mut self) {
        let Some(record) = &self.state.record else { return };
        self.state.boot_id = Some(record.boot_id.clone());
        self.tell(Happening::Note {
            text: "finished without a restart, knowingly: no new boot id, no revision and no network were waited for".to_owned(),
        });
        self.enter_uncordon();
    }

    pub(super) fn go_on_uncordoning(&mut self) {
        let was_cordoned = self
            .state
            .record
            .as_ref()
            .is_some_and(|record| record.was_cordoned);
        self.write(|turn| {
            if was_cordoned {
                return Some(Effect::Clear);
            }
            let mut record = turn.state.record.clone()?;
            record.reached = Reached::PodsBack;
            let boot_id = turn.state.boot_id.clone()?;
            Some(Effect::Uncordon {
                record: Box::new(record),
                boot_id,
            })
        });
        if was_cordoned {
            self.wait_for(
                "the record to be removed; the node was cordoned before and stays yours to uncordon",
            );
        }
    }

    pub(super) fn uncordoned(&mut self) {
        if let Some(record) = &mut self.state.record {
            record.reached = Reached::PodsBack;
        }
        let held = self.state.flight.gates_at.unwrap_or(self.at);
        self.tell(Happening::Uncordoned {
            after_milliseconds: (self.at - held).num_milliseconds(),
        });
        self.enter_pods_back();
    }

    pub(super) fn enter_pods_back(&mut self) {
        self.wait_for("the pods to be ready again");
        self.enter(Step::PodsBack);
    }

    pub(super) fn observed_pods_back(&mut self, observation: &Observation) {
        self.state.ready.clone_from(&observation.ready);
        self.state
            .without_network
            .clone_from(&observation.probes_time_out);
        let Some(record) = &self.state.record else { return };
        let missing: Vec<String> = record
            .ready_before
            .iter()
            .filter_map(|(owner, before)| {
                let ready = observation.ready.get(owner).copied().unwrap_or(0);
                (ready < *before).then(|| {
                    format!(
                        "{} {}/{} {ready} of {before}",
                        owner.kind, owner.namespace, owner.name
                    )
                })
            })
            .collect();
        self.state.flight.pods_are_back = missing.is_empty();
        let cordoned = observation.node.as_ref().is_some_and(|node| node.unschedulable);
        self.state.waiting_for = match (missing.is_empty(), cordoned) {
            (true, _) => "the record to be removed".to_owned(),
            (false, true) => format!("{} (the node was cordoned again)", missing.join(", ")),
            (false, false) => missing.join(", "),
        };
    }

    pub(super) fn go_on_waiting_for_pods(&mut self) {
        if !self.state.flight.pods_are_back {
            return;
        }
        self.write(|turn| {
            let before: u32 = turn
                .state
                .record
                .iter()
                .flat_map(|record| &record.ready_before)
                .map(|(_, n)| n)
                .sum();
            if !turn.state.flight.told_back {
                turn.state.flight.told_back = true;
                let owners = turn.state.record.iter().flat_map(|record| &record.ready_before);
                let ready = owners.filter_map(|(owner, _)| turn.state.ready.get(owner)).sum();
                let seconds = turn.seconds_since(Step::PodsBack);
                turn.tell(Happening::PodsReady {
                    ready,
                    before,
                    seconds,
                });
            }
            Some(Effect::Clear)
        });
    }

    /// The operator does not wait for the rest.
    pub(super) fn stop_waiting(&mut self) {
        self.state.flight.pods_are_back = true;
    }

    /// Evicts a pod that came back without network: its sandbox has none for the rest of its life.
    pub(super) fn recreate(&mut self, uid: &Name) {
        let Some((pod, _)) = self.state.without_network.get(uid) else {
            return;
        };
        let pod = pod.clone();
        if self.state.flight.recreating.insert(uid.clone()) {
            self.effects.push(Effect::Evict {
                pod,
                grace_seconds: self.state.options.grace_seconds,
            });
        }
    }

    pub(super) fn recreated(&mut self, pod: &PodRef, eviction: Eviction) {
        let text = match eviction {
            Eviction::Accepted | Eviction::Gone | Eviction::Replaced => {
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
