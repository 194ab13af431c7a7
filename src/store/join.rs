//! The join of rows and samples: which source's sample of a quantity counts, and why there is none.
//!
//! Order of preference: a fresh sample of Prometheus, of the exporter, of `metrics.k8s.io`; if none is fresh,
//! the newest of the stale ones. What `metrics.k8s.io` knows is working set and CPU; commit exists on Windows only.

use super::cluster::Cluster;
use super::feeds::{Current, Feed};
use super::fold::At;
use crate::domain::measurement::{
    ContainerQuantity, NodeQuantity, Quantity, Sample, ServiceMeasurement, WATCHED_SERVICES,
};
use crate::domain::memory;
use crate::domain::node::Node;
use crate::domain::object::Os;
use crate::domain::pod::{Container, ContainerKind, ContainerState, Pod};
use crate::domain::reading::{Absence, Reading, Source};
use crate::domain::{Name, Timestamp};
use crate::sources::event::Watched;

/// Why a HostProcess container has no value in `metrics.k8s.io`, which reports zeros for it.
pub const HOST_PROCESS: &str = "HostProcess pods report no usage there";

const WINDOWS_ONLY: &[Source] = &[Source::Prometheus, Source::Exporter];
const WINDOWS_USAGE: &[Source] = &[Source::Prometheus, Source::Exporter, Source::MetricsApi];
const API_ONLY: &[Source] = &[Source::MetricsApi];

/// Everything that a reading is joined from, at one point in time.
#[derive(Clone, Copy)]
pub struct Joins<'a> {
    /// The rows.
    pub cluster: &'a Cluster,
    /// The samples.
    pub feeds: Current<'a>,
    /// Now.
    pub now: Timestamp,
}

/// A sum over the containers of a pod, with how many of them it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// The sum over the containers that have a sample, as old as the oldest of them; absent if none has one.
    pub reading: Reading<f64>,
    /// Containers with a sample.
    pub known: usize,
    /// Containers that should have one.
    pub of: usize,
}

impl<'a> Joins<'a> {
    /// A measured quantity of a node: bytes, ratio 0..1, or seconds since 1970.
    pub fn node(&self, node: &Node, quantity: NodeQuantity) -> Reading<f64> {
        let sources = match (node.os, quantity) {
            (Some(Os::Windows), NodeQuantity::CpuRatio) => WINDOWS_USAGE,
            (_, NodeQuantity::WorkingSet | NodeQuantity::CpuCores | NodeQuantity::CpuRatio) => API_ONLY,
            (Some(Os::Windows), _) => WINDOWS_ONLY,
            (Some(Os::Linux), _) => return Reading::Absent(Absence::NotOnThisOs),
            (None, _) => return Reading::Absent(Absence::NoSample),
        };
        self.prefer(
            sources,
            Some(&node.name),
            Quantity::Node(quantity),
            |source, feed| match as_told_by(source, quantity) {
                NodeQuantity::CpuCores if quantity == NodeQuantity::CpuRatio => Ok(feed
                    .round
                    .node(&node.name, NodeQuantity::CpuCores)
                    .and_then(|cores| of_all(cores, node))),
                told => Ok(feed.round.node(&node.name, told)),
            },
        )
    }

    /// Points of the last hour: of Prometheus, which alone remembers.
    pub fn history(&self, node: &Name, quantity: NodeQuantity) -> &'a [Sample] {
        self.feeds
            .of(Source::Prometheus)
            .map_or(&[], |feed| feed.histories.points(node, quantity))
    }

    /// Committed ÷ commit limit of a node.
    pub fn node_commit_ratio(&self, node: &Node) -> Reading<f64> {
        let commit = self.node(node, NodeQuantity::Commit);
        memory::node_commit_ratio(&commit, &self.node(node, NodeQuantity::CommitLimit))
    }

    /// When the node booted, as its exporter measured it.
    pub fn booted_at(&self, node: &Node) -> Reading<Timestamp> {
        match self.node(node, NodeQuantity::BootTime) {
            Reading::Absent(reason) => Reading::Absent(reason),
            Reading::Present {
                value,
                source,
                sampled_at,
            } => match timestamp(value) {
                Some(value) => Reading::Present {
                    value,
                    source,
                    sampled_at,
                },
                None => Reading::Absent(Absence::NoSample),
            },
        }
    }

    /// State of a service of a Windows node (`kubelet`), with when its process started.
    pub fn service(&self, node: &Node, service: &str) -> Reading<ServiceMeasurement> {
        match node.os {
            Some(Os::Windows) => {}
            Some(Os::Linux) => return Reading::Absent(Absence::NotOnThisOs),
            None => return Reading::Absent(Absence::NoSample),
        }
        let find = |feed: &Feed| {
            let services = feed.round.services(&node.name);
            services.iter().find(|found| &*found.service == service).cloned()
        };
        // Only source and age decide here; the state itself is no number.
        let chosen = self.prefer(WINDOWS_ONLY, Some(&node.name), Quantity::Services, |_, feed| {
            Ok(find(feed).map(|found| Sample {
                value: 0.0,
                at: found.at,
            }))
        });
        match chosen {
            Reading::Absent(reason) => Reading::Absent(reason),
            Reading::Present {
                source, sampled_at, ..
            } => match self.feeds.of(source).and_then(find) {
                Some(value) => Reading::Present {
                    value,
                    source,
                    sampled_at,
                },
                None => Reading::Absent(Absence::NoSample),
            },
        }
    }

    /// The services that decide over a Windows node, in a fixed order.
    pub fn services(&self, node: &Node) -> Vec<(&'static str, Reading<ServiceMeasurement>)> {
        WATCHED_SERVICES
            .into_iter()
            .map(|service| (service, self.service(node, service)))
            .collect()
    }

    /// A measured quantity of a container: bytes, or cores.
    pub fn container(
        &self,
        pod: At<'_, Pod>,
        container: &Container,
        quantity: ContainerQuantity,
    ) -> Reading<f64> {
        let only_windows = matches!(
            quantity,
            ContainerQuantity::Commit | ContainerQuantity::CommitPeak
        );
        let sources = match self.cluster.os_of(pod.row) {
            Some(Os::Windows) if only_windows => WINDOWS_ONLY,
            Some(Os::Windows) => WINDOWS_USAGE,
            Some(Os::Linux) if only_windows => return Reading::Absent(Absence::NotOnThisOs),
            None if only_windows => return Reading::Absent(Absence::NoSample),
            Some(Os::Linux) | None => API_ONLY,
        };
        self.prefer(
            sources,
            pod.node.as_ref(),
            Quantity::Container(quantity),
            |source, feed| match feed.round.containers.sample(pod, container, quantity) {
                Some(Sample { value: 0.0, .. }) if pod.host_process && source == Source::MetricsApi => {
                    Err(Absence::NotCollected(HOST_PROCESS.into()))
                }
                sample => Ok(sample),
            },
        )
    }

    /// Commit ÷ limit of a container.
    pub fn commit_to_limit(&self, pod: At<'_, Pod>, container: &Container) -> Reading<f64> {
        let commit = self.container(pod, container, ContainerQuantity::Commit);
        if let Some(Absence::NotOnThisOs) = commit.absence() {
            return commit;
        }
        memory::commit_to_limit(&commit, container.limits.memory_bytes)
    }

    /// A quantity summed over the containers of a pod that run. A container without a sample makes
    /// the sum partial, which `known` and `of` tell.
    pub fn pod(&self, pod: At<'_, Pod>, quantity: ContainerQuantity) -> Total {
        let mut total = Total {
            reading: Reading::Absent(Absence::NoSample),
            known: 0,
            of: 0,
        };
        for container in &pod.row.containers {
            if !counts(container) {
                continue;
            }
            total.of += 1;
            let reading = self.container(pod, container, quantity);
            if reading.value().is_some() {
                total.known += 1;
            }
            total.reading = plus(total.reading, reading);
        }
        total
    }

    /// The container of a pod that is nearest to its commit limit, with its ratio. If none has a ratio: the first
    /// reason, with [`Absence::NoLimit`] before any other, because that one is the operator's to mend.
    pub fn worst_commit(&self, pod: At<'_, Pod>) -> Reading<f64> {
        let mut worst = Reading::Absent(Absence::NoSample);
        for (index, container) in pod
            .containers
            .iter()
            .filter(|container| counts(container))
            .enumerate()
        {
            let ratio = self.commit_to_limit(pod, container);
            let better = match (&worst, &ratio) {
                (Reading::Present { value: a, .. }, Reading::Present { value: b, .. }) => b > a,
                (Reading::Absent(_), Reading::Present { .. }) => true,
                (Reading::Present { .. }, Reading::Absent(_)) => false,
                (Reading::Absent(_), Reading::Absent(reason)) => index == 0 || *reason == Absence::NoLimit,
            };
            if better {
                worst = ratio;
            }
        }
        worst
    }

    /// Whole CPUs of the pod's node, or why they are not known.
    pub fn cpus_of(&self, pod: &Pod) -> Result<u64, Absence> {
        let Some(name) = &pod.node else {
            return Err(Absence::NoSample);
        };
        match self.cluster.node(name) {
            Some(node) => {
                let millicores = node.capacity.cpu_millicores.ok_or(Absence::NoSample)?;
                Ok(crate::domain::cpu_maximum::whole_cpus(millicores))
            }
            None => Err(self
                .cluster
                .watch_absence(Watched::Nodes)
                .unwrap_or(Absence::NoSample)),
        }
    }

    /// Chooses among the sources, best first. `sample` answers with a source's sample, or with a reason of its
    /// own why the source's sample does not count.
    fn prefer(
        &self,
        sources: &[Source],
        node: Option<&Name>,
        quantity: Quantity,
        sample: impl Fn(Source, &Feed) -> Result<Option<Sample>, Absence>,
    ) -> Reading<f64> {
        let mut newest: Option<(Source, Sample)> = None;
        let mut own_reason = None;
        for source in sources {
            let Some(feed) = self.feeds.of(*source) else {
                continue;
            };
            match sample(*source, feed) {
                Ok(Some(sample)) => {
                    if !reading(*source, sample).is_stale(self.now) {
                        return reading(*source, sample);
                    }
                    if newest.is_none_or(|(_, other)| other.at < sample.at) {
                        newest = Some((*source, sample));
                    }
                }
                Ok(None) => {}
                Err(reason) => own_reason = own_reason.or(Some(reason)),
            }
        }
        if let Some((source, sample)) = newest {
            return reading(source, sample);
        }
        if let Some(reason) = own_reason {
            return Reading::Absent(reason);
        }
        let reasons = sources.iter().map(|source| self.reason(*source, node, quantity));
        let most_telling = reasons.max_by_key(|(telling, _)| *telling);
        Reading::Absent(most_telling.map_or(Absence::NoSample, |(_, reason)| reason))
    }

    /// Why this source has no sample, and how much that tells.
    fn reason(&self, source: Source, node: Option<&Name>, quantity: Quantity) -> (Telling, Absence) {
        let Some(feed) = self.feeds.of(source) else {
            return (Telling::NotYet, Absence::NotYet);
        };
        let told = match quantity {
            Quantity::Node(quantity) => Quantity::Node(as_told_by(source, quantity)),
            other => other,
        };
        match (feed.absence(source), feed.round.missing(node, told)) {
            (Some(Absence::NotYet), _) => (Telling::NotYet, Absence::NotYet),
            (Some(reason @ Absence::NotCollected(_)), _) => (Telling::Off, reason),
            (Some(reason), _) if source == Source::Exporter => (Telling::Exporter, reason),
            (Some(reason), _) => (Telling::Down, reason),
            (None, Some(reason)) if source == Source::Exporter => (Telling::Exporter, reason.clone()),
            (None, Some(reason)) => (Telling::Missing, reason.clone()),
            (None, None) => (Telling::NoSample, Absence::NoSample),
        }
    }
}

/// The quantity as this source tells it: `metrics.k8s.io` knows cores and not how many the node has.
const fn as_told_by(source: Source, quantity: NodeQuantity) -> NodeQuantity {
    match (source, quantity) {
        (Source::MetricsApi, NodeQuantity::CpuRatio) => NodeQuantity::CpuCores,
        (_, quantity) => quantity,
    }
}

/// Cores in use as part of all cores of the node.
#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn of_all(cores: Sample, node: &Node) -> Option<Sample> {
    let millicores = node.capacity.cpu_millicores.filter(|all| *all > 0)?;
    Some(Sample {
        value: cores.value * 1000.0 / millicores as f64,
        at: cores.at,
    })
}

/// How much the reason of one source tells, where several have none: least first. Of equals the later source's
/// counts, which is the last resort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Telling {
    NotYet,
    /// The source does not exist here, or is not needed while another answers.
    Off,
    NoSample,
    Down,
    /// A source that answers says what is missing and how to get it.
    Missing,
    /// The exporter is asked directly only where Prometheus has nothing fresh: what it says then, or that it
    /// does not answer, is the cause of what Prometheus misses.
    Exporter,
}

/// Whether a container holds memory and CPU: one that waits or has ended does not, and nothing is missing then.
fn counts(container: &Container) -> bool {
    match container.state {
        ContainerState::Running(_) => true,
        ContainerState::Unreported => container.kind != ContainerKind::Init,
        ContainerState::Waiting(_) | ContainerState::Terminated(_) => false,
    }
}

fn reading(source: Source, sample: Sample) -> Reading<f64> {
    Reading::Present {
        value: sample.value,
        source,
        sampled_at: sample.at,
    }
}

/// Sum of two readings; an absent one does not count, two absent ones are the first's reason.
fn plus(sum: Reading<f64>, next: Reading<f64>) -> Reading<f64> {
    match (sum, next) {
        (
            Reading::Present {
                value: a,
                source,
                sampled_at: first,
            },
            Reading::Present {
                value: b,
                sampled_at: second,
                ..
            },
        ) => Reading::Present {
            value: a + b,
            source,
            sampled_at: first.min(second),
        },
        (Reading::Absent(_), next @ Reading::Present { .. }) | (Reading::Absent(Absence::NoSample), next) => {
            next
        }
        (sum, _) => sum,
    }
}

/// Seconds since 1970 as a time.
fn timestamp(seconds: f64) -> Option<Timestamp> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float beyond i64 saturates and is no time"
    )]
    Timestamp::from_timestamp_millis((seconds * 1000.0) as i64)
}
