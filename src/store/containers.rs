//! Samples of containers of one round, found by the slot of their pod's row.
//!
//! A round may be told before the pod's row is there, or outlive it: samples of pods without a row wait under the
//! pod's name until a row comes. Where a source knows a container by its id only, its samples are found by that.

use super::fold::{At, Id, Object};
use super::measured::Finder;
use crate::domain::Name;
use crate::domain::measurement::{ContainerKey, ContainerMeasurement, ContainerQuantity, Sample};
use crate::domain::pod::{Container, Pod};
use std::collections::{HashMap, HashSet};

/// Samples of one container.
#[derive(Clone, Copy, Debug, Default)]
struct ContainerSamples {
    commit: Option<Sample>,
    commit_peak: Option<Sample>,
    working_set: Option<Sample>,
    cpu_cores: Option<Sample>,
}

impl ContainerSamples {
    fn of(&mut self, quantity: ContainerQuantity) -> &mut Option<Sample> {
        match quantity {
            ContainerQuantity::Commit => &mut self.commit,
            ContainerQuantity::CommitPeak => &mut self.commit_peak,
            ContainerQuantity::WorkingSet => &mut self.working_set,
            ContainerQuantity::CpuCores => &mut self.cpu_cores,
        }
    }

    const fn get(&self, quantity: ContainerQuantity) -> Option<Sample> {
        match quantity {
            ContainerQuantity::Commit => self.commit,
            ContainerQuantity::CommitPeak => self.commit_peak,
            ContainerQuantity::WorkingSet => self.working_set,
            ContainerQuantity::CpuCores => self.cpu_cores,
        }
    }

    fn all(&self) -> [Option<Sample>; 4] {
        [self.commit, self.commit_peak, self.working_set, self.cpu_cores]
    }

    /// Whether the values are those of `before`, which were not old.
    fn alike(&self, before: &Self, is_old: &impl Fn(Sample) -> bool) -> bool {
        self.all().into_iter().zip(before.all()).all(|pair| match pair {
            (Some(after), Some(before)) => after.value.to_bits() == before.value.to_bits() && !is_old(before),
            (None, None) => true,
            _ => false,
        })
    }
}

/// What is held of one container, and where the next container of its pod is.
struct Held {
    name: Name,
    samples: ContainerSamples,
    next: u32,
}

/// No container.
const NOWHERE: u32 = u32::MAX;

/// Samples of all containers of one round.
#[derive(Default)]
pub struct Containers {
    held: Vec<Held>,
    /// Slot of the pod's row → its first container.
    by_slot: Vec<u32>,
    /// First containers of pods that have no row.
    waiting: HashMap<Id, u32>,
    ids: HashMap<Name, ContainerSamples>,
}

impl Containers {
    /// Sorts samples by what they are about.
    pub fn new(measurements: Vec<ContainerMeasurement>, finder: &impl Finder) -> Self {
        let mut containers = Self::default();
        // Each source names containers anew; they have few names.
        let mut names: HashSet<Name> = HashSet::new();
        let mut last = None;
        for measurement in measurements {
            let samples = match measurement.container {
                ContainerKey::Named {
                    namespace,
                    pod,
                    container,
                } => {
                    let id = (Some(namespace), pod);
                    let slot = match &last {
                        Some((same, slot)) if *same == id => *slot,
                        _ => finder.slot_of(&id),
                    };
                    let samples = containers.of_container(&id, slot, &container, &mut names);
                    last = Some((id, slot));
                    samples
                }
                ContainerKey::Id(id) => containers.ids.entry(id).or_default(),
            };
            let held = samples.of(measurement.quantity);
            *held = Some(measurement.sample.or_newer(*held));
        }
        containers.held.shrink_to_fit();
        containers
    }

    fn of_container(
        &mut self,
        id: &Id,
        slot: Option<u32>,
        container: &Name,
        names: &mut HashSet<Name>,
    ) -> &mut ContainerSamples {
        let first = match slot {
            Some(slot) => self.first(slot),
            None => self.waiting.get(id).copied().unwrap_or(NOWHERE),
        };
        let (mut at, mut last) = (first, NOWHERE);
        while let Some(held) = self.held.get(at as usize) {
            if held.name == *container {
                return &mut self.held[at as usize].samples;
            }
            (at, last) = (held.next, at);
        }
        let name = names.get(container).unwrap_or(container).clone();
        names.insert(name.clone());
        // As many containers as there are numbers do not fit into memory.
        let new = u32::try_from(self.held.len()).unwrap_or(NOWHERE);
        match (self.held.get_mut(last as usize), slot) {
            (Some(last), _) => last.next = new,
            (None, Some(slot)) => self.seat(slot, new),
            (None, None) => {
                self.waiting.insert(id.clone(), new);
            }
        }
        let held = self.held.push_mut(Held {
            name,
            samples: ContainerSamples::default(),
            next: NOWHERE,
        });
        &mut held.samples
    }

    /// First container of the pod in this slot.
    fn first(&self, slot: u32) -> u32 {
        self.by_slot.get(slot as usize).copied().unwrap_or(NOWHERE)
    }

    fn seat(&mut self, slot: u32, first: u32) {
        let index = slot as usize;
        if index >= self.by_slot.len() {
            self.by_slot.resize(index + 1, NOWHERE);
        }
        self.by_slot[index] = first;
    }

    /// A pod got a row.
    pub fn pod_came(&mut self, pod: At<'_, Pod>) {
        if self.waiting.is_empty() {
            return;
        }
        if let Some(first) = self.waiting.remove(&pod.row.id()) {
            self.seat(pod.slot, first);
        }
    }

    /// A pod lost its row.
    pub fn pod_went(&mut self, pod: At<'_, Pod>) {
        let first = self.first(pod.slot);
        if first != NOWHERE {
            self.seat(pod.slot, NOWHERE);
            self.waiting.insert(pod.row.id(), first);
        }
    }

    /// What is held of the containers of the pod in this slot.
    fn of_slot(&self, slot: u32) -> impl Iterator<Item = &Held> {
        let at = |index: u32| self.held.get(index as usize);
        std::iter::successors(at(self.first(slot)), move |held| at(held.next))
    }

    /// The container's sample of this quantity. A sample older than the pod is of an earlier pod of the same
    /// name (`StatefulSet`) and does not count.
    pub fn sample(
        &self,
        pod: At<'_, Pod>,
        container: &Container,
        quantity: ContainerQuantity,
    ) -> Option<Sample> {
        let named = self.of_slot(pod.slot).find(|held| held.name == container.name);
        let named = named.and_then(|held| held.samples.get(quantity));
        let sample = named.or_else(|| self.ids.get(&container.container_id)?.get(quantity))?;
        (pod.created_at.is_none_or(|created| sample.at >= created)).then_some(sample)
    }

    /// Tells `changed` the slots of those of all `pods` of which this round and the one before it, `old`, have
    /// other values, or of which the old ones were too old to be preferred.
    pub fn compare<'p>(
        &self,
        old: &Self,
        pods: impl Iterator<Item = At<'p, Pod>>,
        is_old: impl Fn(Sample) -> bool,
        mut changed: impl FnMut(u32),
    ) {
        let slots = self.by_slot.len().max(old.by_slot.len());
        for slot in (0u32..).take(slots) {
            let (mut before, mut after) = (old.of_slot(slot), self.of_slot(slot));
            let same = loop {
                match (before.next(), after.next()) {
                    (Some(before), Some(after)) => {
                        if before.name != after.name || !after.samples.alike(&before.samples, &is_old) {
                            break false;
                        }
                    }
                    (None, None) => break true,
                    _ => break false,
                }
            };
            if !same {
                changed(slot);
            }
        }
        let same = |id: &Name| match (self.ids.get(id), old.ids.get(id)) {
            (Some(after), Some(before)) => after.alike(before, &is_old),
            _ => false,
        };
        let ids = self.ids.keys().chain(old.ids.keys());
        let other: HashSet<&Name> = ids.filter(|id| !same(id)).collect();
        if other.is_empty() {
            return;
        }
        for pod in pods {
            let mut ids = pod.row.containers.iter().map(|container| &container.container_id);
            if ids.any(|id| other.contains(id)) {
                changed(pod.slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;
    use crate::domain::measurement::NodeKey;
    use crate::domain::object::{Change, ObjectKey};
    use crate::store::fold::{Folded, Touched};
    use crate::store::tests::cluster::pod;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    impl Finder for Folded<Pod> {
        fn node_of(&self, _: &NodeKey) -> Option<Name> {
            None
        }

        fn slot_of(&self, pod: &Id) -> Option<u32> {
            self.slot(pod)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Come(u8),
        Go(u8),
        Round(Vec<(u8, i8)>),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0u8..6).prop_map(Step::Come),
            (0u8..6).prop_map(Step::Go),
            prop::collection::vec((0u8..6, 0i8..3), 0..6).prop_map(Step::Round),
        ]
    }

    fn name(number: u8) -> String {
        format!("web-{number}")
    }

    fn round(values: &[(u8, i8)], pods: &Folded<Pod>) -> Containers {
        let measurements = values.iter().map(|(number, value)| ContainerMeasurement {
            container: ContainerKey::Named {
                namespace: "shop".into(),
                pod: name(*number).into(),
                container: "hello".into(),
            },
            quantity: ContainerQuantity::Commit,
            sample: Sample {
                value: f64::from(*value),
                at: Timestamp::MAX_UTC,
            },
        });
        Containers::new(measurements.collect(), pods)
    }

    proptest! {
        /// Whether the round or the pod's row is there first, and whichever slots the rows take: the pod's
        /// samples are those of its name in the last round, and a round tells which pods have other ones.
        #[test]
        fn samples_are_found_by_slot_as_by_name(steps in prop::collection::vec(step(), 0..40)) {
            let mut pods = Folded::default();
            let mut containers = Containers::default();
            let mut plain: BTreeMap<String, f64> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Come(number) => {
                        let row = pod("shop", &name(number), None, None);
                        pods.apply(Change::Upsert(row), &mut |touched: Touched<'_, Pod>| {
                            if let (None, Some(row)) = (touched.before, touched.after) {
                                containers.pod_came(At { slot: touched.slot, row });
                            }
                        });
                    }
                    Step::Go(number) => {
                        let key = ObjectKey {
                            namespace: Some("shop".into()),
                            name: name(number).into(),
                            uid: pod("shop", &name(number), None, None).uid,
                        };
                        pods.apply(Change::Delete(key), &mut |touched: Touched<'_, Pod>| {
                            if let Some(row) = touched.before {
                                containers.pod_went(At { slot: touched.slot, row });
                            }
                        });
                    }
                    Step::Round(values) => {
                        let new = round(&values, &pods);
                        let before = std::mem::take(&mut plain);
                        for (number, value) in &values {
                            plain.entry(name(*number)).or_insert(f64::from(*value));
                        }
                        let mut told = Vec::new();
                        new.compare(&containers, pods.iter(), |_| false, |slot| told.push(slot));
                        let mut other: Vec<u32> = pods
                            .iter()
                            .filter(|pod| before.get(&*pod.name) != plain.get(&*pod.name))
                            .map(|pod| pod.slot)
                            .collect();
                        told.sort_unstable();
                        other.sort_unstable();
                        prop_assert_eq!(told, other);
                        containers = new;
                    }
                }
                for pod in pods.iter() {
                    let container = &pod.row.containers[0];
                    let sample = containers.sample(pod, container, ContainerQuantity::Commit);
                    prop_assert_eq!(sample.map(|sample| sample.value), plain.get(&*pod.name).copied());
                }
            }
        }
    }

    #[test]
    fn a_round_that_names_containers_by_id_tells_which_pods_have_other_values() {
        let mut pods = Folded::default();
        for number in 0..3 {
            let mut row = pod("shop", &name(number), None, None);
            row.containers[0].container_id = format!("containerd://{number}").into();
            pods.apply(Change::Upsert(row), &mut |_: Touched<'_, Pod>| {});
        }
        let round = |values: &[(u8, f64)]| {
            let measurements = values.iter().map(|(number, value)| ContainerMeasurement {
                container: ContainerKey::Id(format!("containerd://{number}").into()),
                quantity: ContainerQuantity::Commit,
                sample: Sample {
                    value: *value,
                    at: Timestamp::MAX_UTC,
                },
            });
            Containers::new(measurements.collect(), &pods)
        };
        let (old, new) = (
            round(&[(0, 1.0), (1, 1.0)]),
            round(&[(0, 1.0), (1, 2.0), (2, 1.0)]),
        );
        let mut told = Vec::new();
        new.compare(&old, pods.iter(), |_| false, |slot| told.push(slot));
        assert_eq!(told, [1, 2]);
    }
}
