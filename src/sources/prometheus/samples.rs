//! From the rows of an answer to samples: values paired with the times of their raw series, instances mapped to
//! nodes, the newest sample of two that tell of one thing.

use super::catalogue::TIME_SUFFIX;
use super::fleet::{Fleet, Owner, owner};
use super::wire::{Labels, Number, Row, Series, Vector};
use crate::domain::measurement::{
    ContainerKey, ContainerMeasurement, NodeHistory, NodeKey, NodeMeasurement, NodeQuantity, Sample,
    ServiceMeasurement, ServiceState,
};
use crate::domain::{Name, Timestamp};
use crate::sources::exporter::names::{CONTAINER_FAMILIES, NODE_FAMILIES};
use crate::sources::unix_time::time;
use chrono::TimeDelta;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Turns the server's times into ours. Ages are differences on the server's own clock (time of evaluation minus
/// time of the sample), so a server whose clock is wrong still tells the right ages.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    skew: TimeDelta,
}

impl Clock {
    /// From the time of evaluation in an answer, and our time when it came.
    pub fn new(rows: &[Row<'_>], now: Timestamp) -> Self {
        let evaluated = rows.iter().find_map(|row| row.value.map(|(at, _)| at));
        let skew = evaluated
            .and_then(time)
            .map_or(TimeDelta::zero(), |evaluated| now - evaluated);
        Self { skew }
    }

    /// Our time as the server's clock shows it.
    pub fn theirs(self, ours: Timestamp) -> Timestamp {
        ours - self.skew
    }

    fn ours(self, seconds: f64) -> Option<Timestamp> {
        time(seconds)?.checked_add_signed(self.skew)
    }
}

/// What was odd about an answer, for the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Instances that are no Windows node of this cluster.
    pub foreign: BTreeSet<String>,
    /// Jobs that scrape one and the same node, by node.
    pub doubled: BTreeSet<String>,
    /// Clusters that claim one and the same node address.
    pub clusters: BTreeSet<String>,
    /// The server's own warnings.
    pub warnings: BTreeSet<String>,
}

impl Oddities {
    /// Takes over another answer's.
    pub fn extend(&mut self, other: Self) {
        self.foreign.extend(other.foreign);
        self.doubled.extend(other.doubled);
        self.clusters.extend(other.clusters);
        self.warnings.extend(other.warnings);
    }
}

/// Samples of nodes out of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSamples {
    /// Samples.
    pub nodes: Vec<NodeMeasurement>,
    /// Nodes that more than one cluster claims: nothing is told of them.
    pub ambiguous: HashSet<NodeKey>,
    /// What was odd.
    pub oddities: Oddities,
}

/// The newest sample of a thing, and who told it.
struct Newest<'a> {
    sample: Sample,
    job: Cow<'a, str>,
    cluster: Cow<'a, str>,
}

/// A series without its `quantity`: who tells of what.
type Identity<'a> = Labels<'a>;

/// Pairs each value with its sample time: by series, then by quantity.
fn paired<'a>(rows: Vec<Row<'a>>) -> HashMap<Identity<'a>, HashMap<Cow<'a, str>, f64>> {
    let mut found: HashMap<Identity<'a>, HashMap<Cow<'a, str>, f64>> = HashMap::new();
    for row in rows {
        let Some(value) = row.value.and_then(|(_, number)| number.finite()) else {
            continue;
        };
        let mut labels = row.metric;
        let quantity = std::mem::take(&mut labels.quantity);
        found.entry(labels).or_default().insert(quantity, value);
    }
    found
}

/// Reads the answer to the query `Nodes`.
pub fn nodes(vector: Vector<'_>, fleet: Option<&Fleet>, now: Timestamp) -> NodeSamples {
    let clock = Clock::new(&vector.rows, now);
    let mut result = NodeSamples::default();
    result.oddities.warnings.extend(vector.warnings);
    let mut newest: HashMap<(NodeKey, NodeQuantity), Newest<'_>> = HashMap::new();
    for (labels, values) in paired(vector.rows) {
        let node = match owner(&labels, fleet) {
            Owner::Ours(node) => node,
            Owner::Foreign => {
                result.oddities.foreign.insert(labels.instance.into_owned());
                continue;
            }
        };
        for family in &NODE_FAMILIES {
            let timed = values
                .get(family.key)
                .zip(values.get(format!("{}{TIME_SUFFIX}", family.key).as_str()));
            let sample = timed.and_then(|(value, at)| {
                Some(Sample {
                    value: *value,
                    at: clock.ours(*at)?,
                })
            });
            let Some(sample) = sample else { continue };
            let candidate = Newest {
                sample,
                job: labels.job.clone(),
                cluster: labels.cluster.clone(),
            };
            let key = (node.clone(), family.quantity);
            match newest.remove(&key) {
                Some(held) => {
                    note_double(&node, &held, &candidate, &mut result);
                    newest.insert(key, newer(held, candidate));
                }
                None => {
                    newest.insert(key, candidate);
                }
            }
        }
    }
    result.nodes = newest
        .into_iter()
        .filter(|((node, _), _)| !result.ambiguous.contains(node))
        .map(|((node, quantity), newest)| NodeMeasurement {
            node,
            quantity,
            sample: newest.sample,
        })
        .collect();
    result
}

fn newer<'a>(one: Newest<'a>, other: Newest<'a>) -> Newest<'a> {
    let order = one.sample.at.cmp(&other.sample.at);
    // At one and the same time the larger value, so that the order of an answer decides nothing.
    let order = order.then(one.sample.value.total_cmp(&other.sample.value));
    if order.is_lt() { other } else { one }
}

/// A restarted exporter shows up twice for a moment, with the same job: that is no oddity.
fn note_double(node: &NodeKey, held: &Newest<'_>, other: &Newest<'_>, result: &mut NodeSamples) {
    if held.cluster != other.cluster {
        result.ambiguous.insert(node.clone());
        for cluster in [&held.cluster, &other.cluster] {
            let shown = if cluster.is_empty() {
                "(none)"
            } else {
                cluster.as_ref()
            };
            result.oddities.clusters.insert(shown.to_owned());
        }
    } else if held.job != other.job {
        let jobs = BTreeSet::from([held.job.as_ref(), other.job.as_ref()]);
        let jobs: Vec<&str> = jobs.into_iter().collect();
        result
            .oddities
            .doubled
            .insert(format!("{} (jobs {})", shown(node), jobs.join(", ")));
    }
}

/// A node key in words.
pub fn shown(node: &NodeKey) -> String {
    match node {
        NodeKey::Name(name) => name.to_string(),
        NodeKey::Address(address) => address.to_string(),
        NodeKey::Pod(namespace, pod) => format!("pod {namespace}/{pod}"),
    }
}

/// Reads the answer to the query `Services`. Nodes that are ambiguous in `nodes` are left out.
pub fn services(
    vector: Vector<'_>,
    fleet: Option<&Fleet>,
    nodes: &NodeSamples,
    now: Timestamp,
) -> Vec<ServiceMeasurement> {
    #[derive(Default)]
    struct Told {
        state: Option<ServiceState>,
        started_at: Option<f64>,
        at: Option<f64>,
    }
    let clock = Clock::new(&vector.rows, now);
    let mut told: HashMap<Labels<'_>, Told> = HashMap::new();
    for row in vector.rows {
        let Some(value) = row.value.and_then(|(_, number)| number.finite()) else {
            continue;
        };
        let mut labels = row.metric;
        let quantity = std::mem::take(&mut labels.quantity);
        let state = std::mem::take(&mut labels.state);
        let entry = told.entry(labels).or_default();
        match quantity.as_ref() {
            "state" => entry.state = ServiceState::from_name(&state),
            "started_at" => entry.started_at = Some(value),
            _ => entry.at = Some(value),
        }
    }
    let mut newest: HashMap<(NodeKey, String), ServiceMeasurement> = HashMap::new();
    for (labels, told) in told {
        let Owner::Ours(node) = owner(&labels, fleet) else {
            continue;
        };
        let (Some(state), Some(at)) = (told.state, told.at.and_then(|at| clock.ours(at))) else {
            continue;
        };
        if nodes.ambiguous.contains(&node) {
            continue;
        }
        let service = labels.name.to_lowercase();
        let measurement = ServiceMeasurement {
            node: node.clone(),
            service: Name::from(service.as_str()),
            state,
            started_at: told.started_at.and_then(time),
            at,
        };
        let held = newest
            .entry((node, service))
            .or_insert_with(|| measurement.clone());
        if held.at < measurement.at {
            *held = measurement;
        }
    }
    newest.into_values().collect()
}

/// Reads the answer to the query `Containers`.
pub fn containers(vector: Vector<'_>, now: Timestamp) -> Vec<ContainerMeasurement> {
    let clock = Clock::new(&vector.rows, now);
    let time_key = format!("{}{TIME_SUFFIX}", CONTAINER_FAMILIES[0].key);
    let mut samples = Vec::new();
    for (labels, values) in paired(vector.rows) {
        let Some(at) = values.get(time_key.as_str()).and_then(|at| clock.ours(*at)) else {
            continue;
        };
        let Some(container) = container_key(&labels) else {
            continue;
        };
        for family in &CONTAINER_FAMILIES {
            if let Some(value) = values.get(family.key) {
                samples.push(ContainerMeasurement {
                    container: container.clone(),
                    quantity: family.quantity,
                    sample: Sample { value: *value, at },
                });
            }
        }
    }
    samples
}

/// By id where there is one: the id is the same in the Kubernetes API, and in no other cluster.
fn container_key(labels: &Labels<'_>) -> Option<ContainerKey> {
    if !labels.container_id.is_empty() {
        return Some(ContainerKey::Id(Name::from(labels.container_id.as_ref())));
    }
    let name = |text: &Cow<'_, str>| (!text.is_empty()).then(|| Name::from(text.as_ref()));
    Some(ContainerKey::Named {
        namespace: name(&labels.exported_namespace)?,
        pod: name(&labels.exported_pod)?,
        container: name(&labels.exported_container)?,
    })
}

/// Reads the answer to the range query `NodeHistory`. Of two series for one thing the one that ends later counts.
pub fn history(
    series: Vec<Series<'_>>,
    fleet: Option<&Fleet>,
    step_seconds: u32,
    skew: Clock,
) -> Vec<NodeHistory> {
    let mut found: HashMap<(NodeKey, NodeQuantity), Vec<Sample>> = HashMap::new();
    for one in series {
        let Owner::Ours(node) = owner(&one.metric, fleet) else {
            continue;
        };
        let Some(family) = NODE_FAMILIES
            .iter()
            .find(|family| family.key == one.metric.quantity)
        else {
            continue;
        };
        let points: Vec<Sample> = one
            .values
            .iter()
            .filter_map(|(at, number): &(f64, Number)| {
                Some(Sample {
                    value: number.finite()?,
                    at: skew.ours(*at)?,
                })
            })
            .collect();
        let held = found.entry((node, family.quantity)).or_default();
        if held.last().map(|sample| sample.at) < points.last().map(|sample| sample.at) {
            *held = points;
        }
    }
    found
        .into_iter()
        .map(|((node, quantity), points)| NodeHistory {
            node,
            quantity,
            points,
            step_seconds,
        })
        .collect()
}
