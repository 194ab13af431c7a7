//! Rounds of samples, one per source, joined to nodes and containers.
//!
//! A round replaces the source's previous round whole. Nodes are found by name, by `InternalIP`, or by the
//! exporter pod that runs on them; never by host name. Containers are found by their names, else by id.

use crate::domain::Name;
use crate::domain::measurement::{
    ContainerKey, ContainerQuantity, Measurements, NodeHistory, NodeKey, NodeQuantity, Quantity, Sample,
    ServiceMeasurement,
};
use crate::domain::pod::{Container, Pod};
use crate::domain::reading::Absence;
use std::collections::HashMap;
use std::hash::Hash;

/// Tells which node a sample is about, as far as the cluster is known now.
pub trait NodeFinder {
    /// The node's name; `None` if no node, or more than one, answers to this key.
    fn node_of(&self, key: &NodeKey) -> Option<Name>;
}

/// Samples of one node from one source.
#[derive(Clone, Debug, Default)]
pub struct NodeSamples {
    values: HashMap<NodeQuantity, Sample>,
    services: Vec<ServiceMeasurement>,
    missing: HashMap<Quantity, Absence>,
}

/// Samples of one container from one source.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContainerSamples {
    commit: Option<Sample>,
    commit_peak: Option<Sample>,
    working_set: Option<Sample>,
    cpu_cores: Option<Sample>,
}

impl ContainerSamples {
    fn slot(&mut self, quantity: ContainerQuantity) -> &mut Option<Sample> {
        match quantity {
            ContainerQuantity::Commit => &mut self.commit,
            ContainerQuantity::CommitPeak => &mut self.commit_peak,
            ContainerQuantity::WorkingSet => &mut self.working_set,
            ContainerQuantity::CpuCores => &mut self.cpu_cores,
        }
    }

    /// The sample of this quantity.
    pub fn get(mut self, quantity: ContainerQuantity) -> Option<Sample> {
        *self.slot(quantity)
    }
}

/// Two instances may tell of one object (a scrape configured twice, a target that moved): the newer counts.
fn newer(held: Option<Sample>, sample: Sample) -> Sample {
    held.filter(|held| held.at >= sample.at).unwrap_or(sample)
}

/// One round of one source.
#[derive(Default)]
pub struct Round {
    /// As the source named them; kept, because a node or exporter pod may become known after the round.
    raw: HashMap<NodeKey, NodeSamples>,
    /// Some are named by the exporter's pod.
    by_pod: bool,
    nodes: HashMap<Name, NodeSamples>,
    pods: HashMap<(Name, Name), Vec<(Name, ContainerSamples)>>,
    ids: HashMap<Name, ContainerSamples>,
    missing: HashMap<Quantity, Absence>,
}

impl Round {
    /// Sorts a source's answer by what it is about.
    pub fn new(measurements: Measurements, finder: &impl NodeFinder) -> Self {
        let mut round = Self::default();
        for measurement in measurements.nodes {
            let held = round.raw.entry(measurement.node).or_default();
            let value = held.values.get(&measurement.quantity).copied();
            held.values
                .insert(measurement.quantity, newer(value, measurement.sample));
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
        for measurement in measurements.containers {
            let samples = match measurement.container {
                ContainerKey::Named {
                    namespace,
                    pod,
                    container,
                } => of_container(round.pods.entry((namespace, pod)).or_default(), container),
                ContainerKey::Id(id) => round.ids.entry(id).or_default(),
            };
            let held = samples.slot(measurement.quantity);
            *held = Some(newer(*held, measurement.sample));
        }
        round.by_pod = round.raw.keys().any(|key| matches!(key, NodeKey::Pod(..)));
        round.resolve(finder);
        round
    }

    /// Finds the nodes again, after nodes, their addresses or exporter pods changed.
    pub fn resolve(&mut self, finder: &impl NodeFinder) {
        self.nodes.clear();
        for (key, samples) in &self.raw {
            let Some(node) = finder.node_of(key) else { continue };
            let held = self.nodes.entry(node).or_default();
            for (quantity, sample) in &samples.values {
                let known = held.values.get(quantity).copied();
                held.values.insert(*quantity, newer(known, *sample));
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

    /// Tells `changed` the pods (namespace, name) of which this round and the one before it, `old`, have other
    /// values, or of which the old ones were too old to be preferred. Answers `false` where containers are named
    /// by id, so that it cannot tell.
    pub fn compare(
        &self,
        old: &Self,
        is_old: impl Fn(Sample) -> bool,
        mut changed: impl FnMut(Name, Name),
    ) -> bool {
        if !self.ids.is_empty() || !old.ids.is_empty() {
            return false;
        }
        for (pod, samples) in &self.pods {
            let same = old
                .pods
                .get(pod)
                .is_some_and(|before| alike(before, samples, &is_old));
            if !same {
                changed(pod.0.clone(), pod.1.clone());
            }
        }
        for pod in old.pods.keys().filter(|pod| !self.pods.contains_key(pod)) {
            changed(pod.0.clone(), pod.1.clone());
        }
        true
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

    /// All samples of a pod's containers by container name. Look them up once a pod, not once a value.
    pub fn pod(&self, pod: &Pod) -> &[(Name, ContainerSamples)] {
        if self.pods.is_empty() {
            return &[];
        }
        self.pods
            .get(&(pod.namespace.clone(), pod.name.clone()))
            .map_or(&[], Vec::as_slice)
    }

    /// The container's sample of this quantity. A sample older than the pod is of an earlier pod of the same
    /// name (`StatefulSet`) and does not count.
    pub fn container(&self, pod: &Pod, container: &Container, quantity: ContainerQuantity) -> Option<Sample> {
        let named = self.pod(pod).iter().find(|(name, _)| *name == container.name);
        let named = named.and_then(|(_, samples)| samples.get(quantity));
        let sample = named.or_else(|| self.ids.get(&container.container_id)?.get(quantity))?;
        (pod.created_at.is_none_or(|created| sample.at >= created)).then_some(sample)
    }

    /// Why the source says that it has not got this quantity: for this node, else at all.
    pub fn missing(&self, node: Option<&Name>, quantity: Quantity) -> Option<&Absence> {
        node.and_then(|node| self.nodes.get(node)?.missing.get(&quantity))
            .or_else(|| self.missing.get(&quantity))
    }
}

/// Whether the containers of a pod have the values that they had, which were not old.
fn alike(
    before: &[(Name, ContainerSamples)],
    after: &[(Name, ContainerSamples)],
    is_old: impl Fn(Sample) -> bool,
) -> bool {
    const QUANTITIES: [ContainerQuantity; 4] = [
        ContainerQuantity::Commit,
        ContainerQuantity::CommitPeak,
        ContainerQuantity::WorkingSet,
        ContainerQuantity::CpuCores,
    ];
    before.len() == after.len()
        && before.iter().zip(after).all(|((one, before), (other, after))| {
            one == other
                && QUANTITIES
                    .iter()
                    .all(|quantity| match (before.get(*quantity), after.get(*quantity)) {
                        (Some(before), Some(after)) => {
                            before.value.to_bits() == after.value.to_bits() && !is_old(before)
                        }
                        (None, None) => true,
                        _ => false,
                    })
        })
}

fn of_container(samples: &mut Vec<(Name, ContainerSamples)>, container: Name) -> &mut ContainerSamples {
    let known = samples.iter().position(|(name, _)| *name == container);
    let index = known.unwrap_or_else(|| {
        samples.reserve_exact(1);
        samples.push((container, ContainerSamples::default()));
        samples.len() - 1
    });
    &mut samples[index].1
}

/// Series of a source by node and quantity.
#[derive(Default)]
pub struct Histories {
    raw: Vec<NodeHistory>,
    found: HashMap<(Name, NodeQuantity), usize>,
}

impl Histories {
    /// The source's series.
    pub fn new(raw: Vec<NodeHistory>, finder: &impl NodeFinder) -> Self {
        let mut histories = Self {
            raw,
            found: HashMap::new(),
        };
        histories.resolve(finder);
        histories
    }

    /// Finds the nodes again.
    pub fn resolve(&mut self, finder: &impl NodeFinder) {
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
