//! Which boot an observation is of. Boot ids are opaque and have no order, and a watch can be late: what was seen once is
//! remembered, and a second restart is believed to a fresh look only.

use super::Turn;
use crate::domain::Name;
use crate::maintenance::network;
use crate::maintenance::observation::Observation;

/// What the boot id of an observation says.
pub(super) enum Boot {
    /// Nothing yet, and what it waits for.
    Unknown(&'static str),
    /// It has not restarted yet, or the observation is late.
    Over,
    /// The newest one.
    New,
}

impl Turn<'_> {
    /// Which boot this is. Remembers it, and the network containers that were seen under it.
    pub(super) fn boot(&mut self, observation: &Observation, fresh: bool) -> Boot {
        let (Some(node), Some(_)) = (&observation.node, &self.state.record) else {
            return Boot::Unknown("the node");
        };
        let boot_id = &node.boot_id;
        if boot_id.is_empty() {
            return Boot::Unknown("the node to report its boot id");
        }
        if fresh {
            self.settle_unconfirmed(boot_id);
        }
        let Some(record) = &mut self.state.record else {
            return Boot::Unknown("the node");
        };
        if record.is_over(boot_id) {
            self.remember_network(observation);
            return Boot::Over;
        }
        if record.new_boot_id.as_ref() != Some(boot_id) {
            if record.new_boot_id.is_some() && !fresh {
                let selector = self.state.options.network_selector.as_ref();
                let (ids, _) = network::seen(observation.pods.iter(), selector);
                let unconfirmed = self.state.flight.unconfirmed.entry(boot_id.clone());
                unconfirmed.or_default().network_ids.extend(ids);
                self.hurry_list();
                return Boot::Unknown("a fresh look at the boot id of the node");
            }
            // What ran before this restart proves nothing any more, be it that of an earlier restart.
            if let Some(earlier) = record.new_boot_id.replace(boot_id.clone()) {
                record.older_boot_ids.insert(earlier);
            }
            record.network_ids.append(&mut record.new_network_ids);
            for since in self.state.flight.suspects.values_mut() {
                *since = None;
            }
            self.state.flight.unsaved = true;
        }
        self.remember_new_network(observation);
        Boot::New
    }

    /// A list that was asked for after a watch had shown another boot id: either it is still that one, or the watch was
    /// late.
    fn settle_unconfirmed(&mut self, boot_id: &Name) {
        let Some(record) = &mut self.state.record else {
            return;
        };
        let flight = &mut self.state.flight;
        for (seen, unconfirmed) in std::mem::take(&mut flight.unconfirmed) {
            if !unconfirmed.asked {
                flight.unconfirmed.insert(seen, unconfirmed);
            } else if seen != *boot_id {
                record.older_boot_ids.insert(seen);
                record.network_ids.extend(unconfirmed.network_ids);
                flight.unsaved = true;
            }
        }
    }
}
