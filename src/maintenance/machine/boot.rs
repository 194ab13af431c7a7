//! Which boot an observation is of. Boot ids are opaque and have no order, and a watch can be late: what was seen once is
//! remembered, and a restart is believed to a fresh look only.

use super::Turn;
use crate::domain::Name;
use crate::maintenance::network;
use crate::maintenance::observation::Observation;
use crate::maintenance::record::Record;
use crate::maintenance::state::Step;
use std::collections::BTreeSet;

const CONFIRMING: &str = "a fresh look at the boot id of the node";

/// What the boot id of an observation says.
pub(super) enum Boot {
    /// Nothing yet, and what it waits for.
    Unknown(&'static str),
    /// It has not restarted yet, or the observation is late.
    Over,
    /// The node has restarted. The pods of this look are older than that, another one is under way.
    Restarted,
    /// The newest one.
    New,
}

impl Turn<'_> {
    /// Remembers boots and network containers of a look at the node that decides nothing by itself.
    pub(super) fn remember(&mut self, observation: &Observation) {
        let Some(node) = &observation.node else { return };
        let same = |record: &Record| record.node_uid == node.uid;
        match self.state.step {
            Step::Preflight => {
                let selector = self.state.options.network_selector.as_ref();
                let (ids, _) = network::seen(observation.pods.iter(), selector);
                let early = self.state.flight.unconfirmed.entry(node.boot_id.clone());
                early.or_default().network_ids.extend(ids);
            }
            _ if !self.state.record.as_ref().is_some_and(same) => {}
            Step::Cordon => self.remember_network(observation),
            Step::Drain if !self.state.flight.drained => self.remember_network(observation),
            Step::PodsBack | Step::Over => {}
            Step::Drain | Step::Restart | Step::Revision | Step::Network | Step::Uncordon => {
                self.boot(observation, false);
            }
        }
    }

    /// Which boot this is. Remembers it, and the network containers that were seen under it.
    pub(super) fn boot(&mut self, observation: &Observation, fresh: bool) -> Boot {
        let Some(boot_id) = observation.node.as_ref().map(|node| &node.boot_id) else {
            return Boot::Unknown("the node");
        };
        if boot_id.is_empty() {
            return Boot::Unknown("the node to report its boot id");
        }
        let confirmed = fresh.then(|| self.settle_unconfirmed(boot_id));
        let Some(record) = &self.state.record else {
            return Boot::Unknown("the node");
        };
        if record.is_over(boot_id) {
            self.remember_network(observation);
            return Boot::Over;
        }
        if record.new_boot_id.as_ref() == Some(boot_id) {
            self.remember_new_network(observation);
            if self.state.flight.unconfirmed.is_empty() {
                return Boot::New;
            }
            return Boot::Unknown(CONFIRMING);
        }
        self.hurry_list();
        if let Some(seen_by_watch) = confirmed {
            self.restarts(boot_id, seen_by_watch);
            self.remember_new_network(observation);
            return Boot::Restarted;
        }
        let selector = self.state.options.network_selector.as_ref();
        let (ids, _) = network::seen(observation.pods.iter(), selector);
        let unconfirmed = self.state.flight.unconfirmed.entry(boot_id.clone());
        unconfirmed.or_default().network_ids.extend(ids);
        Boot::Unknown(CONFIRMING)
    }

    /// What ran before this restart proves nothing any more, be it that of an earlier restart.
    fn restarts(&mut self, boot_id: &Name, network_ids: BTreeSet<Name>) {
        let Some(record) = &mut self.state.record else {
            return;
        };
        if let Some(earlier) = record.new_boot_id.replace(boot_id.clone()) {
            record.older_boot_ids.insert(earlier);
        }
        record.network_ids.append(&mut record.new_network_ids);
        record.new_network_ids = network_ids;
        for since in self.state.flight.suspects.values_mut() {
            *since = None;
        }
        self.state.flight.unsaved = true;
    }

    /// A list that was asked for after a watch had shown another boot id: either it is still that one, or the watch was
    /// late. Returns the network containers that a watch showed under this boot id.
    fn settle_unconfirmed(&mut self, boot_id: &Name) -> BTreeSet<Name> {
        let mut network_ids = BTreeSet::new();
        let Some(record) = &mut self.state.record else {
            return network_ids;
        };
        let flight = &mut self.state.flight;
        for (seen, unconfirmed) in std::mem::take(&mut flight.unconfirmed) {
            if seen == *boot_id {
                network_ids = unconfirmed.network_ids;
            } else if unconfirmed.asked {
                record.older_boot_ids.insert(seen);
                record.network_ids.extend(unconfirmed.network_ids);
                flight.unsaved = true;
            } else {
                flight.unconfirmed.insert(seen, unconfirmed);
            }
        }
        network_ids
    }
}
