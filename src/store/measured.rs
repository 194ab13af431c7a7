//! Rounds of samples, one per source, joined to nodes and containers.
//!
//! A round replaces the source's previous round whole. Nodes are found by name, by `InternalIP`, or by the
//! exporter pod that runs on them; never by host name. Containers are in [`containers`](super::containers).

use super::containers::Containers;
use super::fold::Id;
use crate::domain::Name;
use crate::domain::measurement::{
    Measurements, NodeHistory, NodeKey, NodeQuantity, Quantity, Sample, ServiceMeasurement,
};
use crate::domain::pod::Pod;
use crate::domain::reading::Absence;
use std::collections::HashMap;
use std::hash::Hash;

/// Tells what a sample is about, as far as the cluster is known now.
pub trait Finder {
    /// The node's name; `None` if no node, or more than one, answers to this key.
    fn node_of(&self, key: &NodeKey) -> Option<Name>;
    /// The slot of the pod's row.
    fn slot_of(&self, pod: &Id) -> Option<u32>;
}

/// Samples of one node from one source.
#[derive(Clone, Debug, Default)]
pub struct NodeSamples {
    values: HashMap<NodeQuantity, Sample>,
    services: Vec<ServiceMeasurement>,
    missing: HashMap<Quantity, Absence>,
}

/// One round of one source.
#[derive(Default)]
pub struct Round {
    /// As the source named them; kept, because a node or exporter pod may become known after the round.
    raw: HashMap<NodeKey, NodeSamples>,
    /// Some are named by the exporter's pod.
    by_pod: bool,
    nodes: HashMap<Name, NodeSamples>,
    /// Samples of containers.
    pub containers: Containers,
    missing: HashMap<Quantity, Absence>,
}

impl Round {
    /// Sorts a source's answer by what it is about.
    pub fn new(measurements: Measurements, finder: &impl Finder) -> Self {
        let mut round = Self::default();
        for measurement in measurements.nodes {
            let held = round.raw.entry(measurement.node).or_default();
            let value = held.values.get(&measurement.quantity).copied();
            held.values
                .insert(measurement.quantity, measurement.sample.or_newer(value));
        }
        for service in measurements.services {
            round
                .raw
                .entry(service.node.clone())
                .or_default()
                .services
                .push(service);
        }
        for missing in measurements.missing {
            match missing.node {
                Some(node) => {
                    let held = round.raw.entry(node).or_default();
                    held.missing.insert(missing.quantity, missing.reason);
                }
                None => {
                    round.missing.insert(missing.quantity, missing.reason);
                }
            }
        }
        round.containers = Containers::new(measurements.containers, finder);
        round.by_pod = round.raw.keys().any(|key| matches!(key, NodeKey::Pod(..)));
        round.resolve(finder);
        round
    }

    /// Finds the nodes again, after nodes, their addresses or exporter pods changed.
    pub fn resolve(&mut self, finder: &impl Finder) {
        self.nodes.clear();
        for (key, samples) in &self.raw {
            let Some(node) = finder.node_of(key) else { continue };
            let held = self.nodes.entry(node).or_default();
            for (quantity, sample) in &samples.values {
                let known = held.values.get(quantity).copied();
                held.values.insert(*quantity, sample.or_newer(known));
            }
            for service in &samples.services {
                let known = held
                    .services
                    .iter()
                    .position(|other| other.service == service.service);
                match known {
                    Some(index) if held.services[index].at < service.at => {
                        held.services[index] = service.clone();
                    }
                    Some(_) => {}
                    None => held.services.push(service.clone()),
                }
            }
            held.missing.extend(
                samples
                    .missing
                    .iter()
                    .map(|(quantity, why)| (*quantity, why.clone())),
            );
        }
    }

    /// Whether samples are named by this pod, and so need to know its node.
    pub fn awaits(&self, pod: &Pod) -> bool {
        self.by_pod
            && self
                .raw
                .contains_key(&NodeKey::Pod(pod.namespace.clone(), pod.name.clone()))
    }

    /// The node's sample of this quantity.
    pub fn node(&self, node: &Name, quantity: NodeQuantity) -> Option<Sample> {
        self.nodes.get(node)?.values.get(&quantity).copied()
    }

    /// States of the node's services.
    pub fn services(&self, node: &Name) -> &[ServiceMeasurement] {
        self.nodes.get(node).map_or(&[], |samples| &samples.services)
    }

    /// Why the source says that it has not got this quantity: for this node, else at all.
    pub fn missing(&self, node: Option<&Name>, quantity: Quantity) -> Option<&Absence> {
        node.and_then(|node| self.nodes.get(node)?.missing.get(&quantity))
            .or_else(|| self.missing.get(&quantity))
    }
}

/// Series of a source by node and quantity.
#[derive(Default)]
pub struct Histories {
    raw: Vec<NodeHistory>,
    found: HashMap<(Name, NodeQuantity), usize>,
}

impl Histories {
    /// The source's series.
    pub fn new(raw: Vec<NodeHistory>, finder: &impl Finder) -> Self {
        let mut histories = Self {
            raw,
            found: HashMap::new(),
        };
        histories.resolve(finder);
        histories
    }

    /// Finds the nodes again.
    pub fn resolve(&mut self, finder: &impl Finder) {
        self.found = index_by(self.raw.iter(), |history| {
            Some((finder.node_of(&history.node)?, history.quantity))
        });
    }

    /// Points of the node's series in time order; empty if there is none.
    pub fn points(&self, node: &Name, quantity: NodeQuantity) -> &[Sample] {
        self.found
            .get(&(node.clone(), quantity))
            .and_then(|index| self.raw.get(*index))
            .map_or(&[], |history| &history.points)
    }
}

fn index_by<'a, T: 'a, K: Eq + Hash>(
    items: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> Option<K>,
) -> HashMap<K, usize> {
    items
        .enumerate()
        .filter_map(|(index, item)| Some((key(item)?, index)))
        .collect()
}
