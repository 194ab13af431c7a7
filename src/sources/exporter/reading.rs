//! What one scrape of an exporter says about its node.

use super::collectors::Collectors;
use super::exposition::{Sample, parse};
use super::names::{
    BUILD_INFO, COLLECTOR_SUCCESS, COLLECTOR_TIMEOUT, CONTAINER_COLLECTOR, CONTAINER_FAMILIES, Formula,
    NODE_FAMILIES, SERVICE_COLLECTOR, SERVICE_PROCESS, SERVICE_STATE,
};
use crate::domain::cpu_time::{CpuSeconds, busy_ratio};
use crate::domain::measurement::{
    ContainerKey, ContainerMeasurement, ContainerQuantity, Measurements, Missing, NodeKey, NodeMeasurement,
    NodeQuantity, Quantity, Sample as Measured, ServiceMeasurement, ServiceState, WATCHED_SERVICES,
};
use crate::domain::{Name, Timestamp};
use crate::sources::unix_time::time;
use std::collections::{HashMap, HashSet};

/// One scrape, with the counters that the next one is compared with.
#[derive(Clone, Debug, Default)]
pub struct Scrape {
    gauges: HashMap<NodeQuantity, f64>,
    cpu: Option<CpuSeconds>,
    /// Logical processors: cores that report idle time.
    cpus: f64,
    services: Vec<(Name, ServiceState, Option<f64>)>,
    containers: Vec<ContainerScrape>,
    /// What the exporter says of itself.
    pub collectors: Collectors,
    /// Lines that could not be read.
    pub malformed: usize,
    /// Whether the answer was cut off.
    pub truncated: bool,
}

#[derive(Clone, Debug)]
struct ContainerScrape {
    key: ContainerKey,
    values: Vec<(ContainerQuantity, f64)>,
    cpu_seconds: Option<f64>,
}

impl Scrape {
    /// Reads an exposition.
    pub fn read(text: &str) -> Self {
        let exposition = parse(text, |name| name.starts_with("windows_"));
        let mut scrape = Self {
            malformed: exposition.malformed,
            truncated: exposition.truncated,
            ..Self::default()
        };
        scrape.read_cpu(&exposition.samples);
        scrape.read_gauges(&exposition.samples);
        scrape.read_services(&exposition.samples);
        scrape.read_containers(&exposition.samples);
        scrape.read_collectors(&exposition.samples);
        scrape
    }

    fn read_gauges(&mut self, samples: &[Sample<'_>]) {
        let plain = |name: &str| find(samples, name, |sample| sample.labels.get("volume").is_empty());
        let of_system_volume = |name: &str| {
            find(samples, name, |sample| {
                sample.labels.get("volume").eq_ignore_ascii_case("C:")
            })
        };
        for family in &NODE_FAMILIES {
            let value = family.chain.iter().find_map(|formula| match *formula {
                Formula::Gauge(name) => plain(name),
                Formula::Difference(whole, part) => Some(plain(whole)? - plain(part)?),
                Formula::SystemVolumeShare(part, whole) => {
                    Some(of_system_volume(part)? / of_system_volume(whole)?)
                }
                // Needs two scrapes.
                Formula::BusyShare(_) => None,
            });
            if let Some(value) = value.filter(|value| value.is_finite()) {
                self.gauges.insert(family.quantity, value);
            }
        }
    }

    fn read_cpu(&mut self, samples: &[Sample<'_>]) {
        let counters = NODE_FAMILIES.iter().flat_map(|family| family.chain);
        let Some(name) = counters.into_iter().find_map(|formula| match *formula {
            Formula::BusyShare(name) => Some(name),
            _ => None,
        }) else {
            return;
        };
        let of_mode = |mode: &str| -> Vec<f64> {
            samples
                .iter()
                .filter(|sample| sample.name == name && sample.labels.get("mode") == mode)
                .map(|sample| sample.value)
                .collect()
        };
        let (idle, user, privileged) = (of_mode("idle"), of_mode("user"), of_mode("privileged"));
        if idle.is_empty() {
            return;
        }
        // Cores of a machine are few enough.
        #[allow(clippy::cast_precision_loss)]
        {
            self.cpus = idle.len() as f64;
        }
        self.cpu = Some(CpuSeconds {
            idle: idle.iter().sum(),
            user: user.iter().sum(),
            privileged: privileged.iter().sum(),
        });
    }

    fn read_services(&mut self, samples: &[Sample<'_>]) {
        for service in WATCHED_SERVICES {
            let named = |sample: &&Sample<'_>| sample.labels.get("name").eq_ignore_ascii_case(service);
            let state = samples
                .iter()
                .filter(named)
                .filter(|sample| sample.name == SERVICE_STATE && sample.value > 0.0)
                .find_map(|sample| ServiceState::from_name(sample.labels.get("state")));
            let started_at = samples
                .iter()
                .filter(named)
                .find(|sample| sample.name == SERVICE_PROCESS)
                .map(|sample| sample.value);
            if let Some(state) = state {
                self.services.push((Name::from(service), state, started_at));
            }
        }
    }

    fn read_containers(&mut self, samples: &[Sample<'_>]) {
        let mut places: HashMap<ContainerKey, usize> = HashMap::new();
        for sample in samples {
            let Some(family) = CONTAINER_FAMILIES
                .iter()
                .find(|family| family.series == sample.name)
            else {
                continue;
            };
            let Some(key) = container_key(sample).filter(|_| sample.value.is_finite()) else {
                continue;
            };
            let place = *places.entry(key.clone()).or_insert_with(|| {
                self.containers.push(ContainerScrape {
                    key,
                    values: Vec::new(),
                    cpu_seconds: None,
                });
                self.containers.len() - 1
            });
            let container = &mut self.containers[place];
            if family.counter {
                container.cpu_seconds = Some(sample.value);
            } else {
                container.values.push((family.quantity, sample.value));
            }
        }
    }

    fn read_collectors(&mut self, samples: &[Sample<'_>]) {
        for sample in samples {
            let collector = sample.labels.get("collector");
            match sample.name {
                BUILD_INFO => self.collectors.set_version(sample.labels.get("version")),
                COLLECTOR_SUCCESS => self.collectors.set_success(collector, sample.value > 0.0),
                COLLECTOR_TIMEOUT => self.collectors.set_timeout(collector, sample.value > 0.0),
                _ => {}
            }
        }
    }

    /// Whether this is an exporter of Windows at all.
    pub fn is_windows_exporter(&self) -> bool {
        !self.gauges.is_empty() || self.cpu.is_some() || self.collectors != Collectors::default()
    }

    /// Adds this scrape, taken at `at`, to a round; CPU comes from the difference to the `earlier` one.
    pub fn add_to(&self, round: &mut Measurements, node: &NodeKey, at: Timestamp, earlier: Option<&Self>) {
        let sample = |value| Measured { value, at };
        let mut found: HashSet<Quantity> = HashSet::new();
        let cpu = self
            .busy_ratio(earlier)
            .map(|ratio| (NodeQuantity::CpuRatio, ratio));
        let gauges = self.gauges.iter().map(|(quantity, value)| (*quantity, *value));
        for (quantity, value) in gauges.chain(cpu) {
            found.insert(Quantity::Node(quantity));
            round.nodes.push(NodeMeasurement {
                node: node.clone(),
                quantity,
                sample: sample(value),
            });
        }
        for (service, state, started_at) in &self.services {
            found.insert(Quantity::Services);
            round.services.push(ServiceMeasurement {
                node: node.clone(),
                service: service.clone(),
                state: *state,
                started_at: started_at.and_then(time),
                at,
            });
        }
        let elapsed = self.seconds_since(earlier);
        for container in &self.containers {
            let cores = container
                .cpu_seconds
                .zip(earlier.and_then(|earlier| earlier.cpu_seconds_of(&container.key)))
                .map(|(now, before)| now - before)
                .filter(|grown| *grown >= 0.0)
                .zip(elapsed)
                .map(|(grown, elapsed)| (ContainerQuantity::CpuCores, grown / elapsed));
            for (quantity, value) in container.values.iter().copied().chain(cores) {
                found.insert(Quantity::Container(quantity));
                round.containers.push(ContainerMeasurement {
                    container: container.key.clone(),
                    quantity,
                    sample: sample(value),
                });
            }
        }
        self.add_missing(round, node, &found);
    }

    fn add_missing(&self, round: &mut Measurements, node: &NodeKey, found: &HashSet<Quantity>) {
        let expected = NODE_FAMILIES
            .iter()
            .map(|family| (Quantity::Node(family.quantity), family.collector))
            .chain([(Quantity::Services, SERVICE_COLLECTOR)])
            .chain(
                CONTAINER_FAMILIES
                    .iter()
                    .map(|family| (Quantity::Container(family.quantity), CONTAINER_COLLECTOR)),
            );
        // CPU that waits for its second scrape is no missing collector.
        let waits = |quantity: Quantity| match quantity {
            Quantity::Node(NodeQuantity::CpuRatio) => self.cpu.is_some(),
            Quantity::Container(_) => !self.containers.is_empty(),
            _ => false,
        };
        for (quantity, collector) in expected {
            if !found.contains(&quantity) && !waits(quantity) {
                round.missing.push(Missing {
                    quantity,
                    node: Some(node.clone()),
                    reason: self.collectors.why_missing(collector),
                });
            }
        }
    }

    fn busy_ratio(&self, earlier: Option<&Self>) -> Option<f64> {
        busy_ratio(&earlier?.cpu?, &self.cpu?)
    }

    /// Seconds between two scrapes as the node's own processor time counts them: free of what the way there
    /// and back took.
    fn seconds_since(&self, earlier: Option<&Self>) -> Option<f64> {
        let total = |cpu: &CpuSeconds| cpu.idle + cpu.user + cpu.privileged;
        let passed = total(&self.cpu?) - total(&earlier?.cpu?);
        Some(passed / self.cpus).filter(|seconds| *seconds > 0.0 && seconds.is_finite())
    }

    fn cpu_seconds_of(&self, key: &ContainerKey) -> Option<f64> {
        let container = self.containers.iter().find(|container| container.key == *key)?;
        container.cpu_seconds
    }
}

fn find(samples: &[Sample<'_>], name: &str, accept: impl Fn(&Sample<'_>) -> bool) -> Option<f64> {
    samples
        .iter()
        .find(|sample| sample.name == name && accept(sample))
        .map(|sample| sample.value)
        .filter(|value| value.is_finite())
}

/// By id where there is one; names came to these series with 0.31 and stay empty for a container that the
/// exporter saw too early.
fn container_key(sample: &Sample<'_>) -> Option<ContainerKey> {
    let label = |name| {
        let value = sample.labels.get(name);
        (!value.is_empty()).then(|| Name::from(value))
    };
    label("container_id").map(ContainerKey::Id).or_else(|| {
        Some(ContainerKey::Named {
            namespace: label("namespace")?,
            pod: label("pod")?,
            container: label("container")?,
        })
    })
}
