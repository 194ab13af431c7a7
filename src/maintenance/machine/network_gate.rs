//! The last gate: a ready node whose network pods started anew after the boot.

use super::{Turn, ready};
use crate::domain::Name;
use crate::domain::node::{ConditionStatus, Node};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::network;
use crate::maintenance::observation::Observation;
use crate::maintenance::state::Step;
use chrono::TimeDelta;

/// A container that a watch showed under the old boot id may be a new one all the same: the watch of the pods can be
/// ahead of that of the node. If it still runs this long after the boot, on a ready node, it is: the kubelet has told
/// what became of the old ones by then.
const SURELY_NEW: TimeDelta = TimeDelta::minutes(2);

impl Turn<'_> {
    /// Network containers under a boot id that does not count, as a watch shows them.
    pub(super) fn remember_network(&mut self, observation: &Observation) {
        let selector = self.state.options.network_selector.as_ref();
        let (ids, owners) = network::seen(observation.pods.iter(), selector);
        let Some(record) = &mut self.state.record else {
            return;
        };
        // Whatever boot is seen while pods still leave, none of them is the restart that counts.
        let draining = self.state.step <= Step::Drain && !self.state.flight.drained;
        let boot_id = observation.node.as_ref().map(|node| &node.boot_id);
        let boot_id = boot_id.filter(|boot_id| !boot_id.is_empty());
        let Some(boot_id) = boot_id.filter(|boot_id| draining || record.is_over(boot_id)) else {
            return;
        };
        if *boot_id != record.boot_id {
            record.older_boot_ids.insert(boot_id.clone());
        }
        let known = record.network_owners.len();
        record.network_owners.extend(owners);
        self.state.flight.unsaved |= record.network_owners.len() > known;
        for id in ids {
            if record.network_ids.insert(id.clone()) {
                self.state.flight.suspects.insert(id, None);
                self.state.flight.unsaved = true;
            }
        }
    }

    /// Network containers as a list showed them before it showed the node still in the boot that has to change.
    pub(super) fn prove_network(&mut self, fresh: &Observation) {
        let selector = self.state.options.network_selector.as_ref();
        let (ids, owners) = network::seen(fresh.pods.iter(), selector);
        self.state.flight.suspects.retain(|id, _| !ids.contains(id));
        if let Some(record) = &mut self.state.record {
            record.network_ids.extend(ids);
            record.network_owners = owners;
        }
    }

    /// Network containers under the new boot id: if the node restarts once more, they are old as well.
    pub(super) fn remember_new_network(&mut self, observation: &Observation) {
        let selector = self.state.options.network_selector.as_ref();
        let (ids, _) = network::seen(observation.pods.iter(), selector);
        let at = self.at;
        let is_ready = observation.node.as_ref().and_then(ready) == Some(ConditionStatus::True);
        let Some(record) = &mut self.state.record else {
            return;
        };
        let flight = &mut self.state.flight;
        let before = (record.new_network_ids.len(), record.network_ids.len());
        flight.suspects.retain(|id, since| {
            if !is_ready || !ids.contains(id) {
                *since = None;
                return true;
            }
            let sure_at = *since.get_or_insert(at) + SURELY_NEW;
            if sure_at > at {
                flight.list_at = Some(flight.list_at.map_or(sure_at, |list_at| list_at.min(sure_at)));
                return true;
            }
            record.network_ids.remove(id);
            false
        });
        record.new_network_ids.extend(ids);
        flight.unsaved |= before != (record.new_network_ids.len(), record.network_ids.len());
    }

    pub(super) fn enter_network(&mut self) {
        self.wait_for("the node's network pods");
        self.enter(Step::Network);
    }

    pub(super) fn check_network(&mut self, node: &Node, observation: &Observation) {
        let Some(record) = &self.state.record else { return };
        self.state.network = network::after_boot(
            &observation.pods,
            self.state.options.network_selector.as_ref(),
            &record.network_ids,
            &record.network_owners,
        );
        if ready(node) != Some(ConditionStatus::True) {
            self.wait_for("the node to be Ready");
            return self.back_to_network();
        }
        if self.state.network.is_empty() && !self.state.options.no_network_gate {
            return self.no_network_pods(&node.name);
        }
        let late = self.state.network.iter().filter(|pod| !pod.is_ready());
        let late: Vec<String> = late
            .map(|pod| match pod.of {
                0 => format!("{} (no pod)", pod.name),
                of => format!("{} ({} of {of} containers new and ready)", pod.name, pod.fresh),
            })
            .collect();
        if !late.is_empty() {
            self.wait_for(late.join(", "));
            return self.back_to_network();
        }
        if self.state.step == Step::Network {
            self.tell(Happening::NetworkReady {
                pods: self.state.network.iter().map(|pod| pod.name.clone()).collect(),
                seconds: self.seconds_since(Step::Revision),
            });
            self.enter_uncordon();
        }
    }

    fn no_network_pods(&mut self, node: &Name) {
        if self.state.options.attended {
            self.wait_for(
                "network pods: none is known on this node; abandon, or start again with --network-selector",
            );
            return self.back_to_network();
        }
        let reason = format!(
            "no network pods are known on node {node}: name them with --network-selector, or go on without that gate with \
             --no-network-gate; the node stays cordoned"
        );
        self.end(Ending::Refused, reason);
    }

    /// A gate that held does not hold any more. An uncordon that is under way may succeed all the same.
    pub(super) fn back_to_network(&mut self) {
        if self.state.step == Step::Uncordon {
            self.enter(Step::Network);
        }
    }
}
