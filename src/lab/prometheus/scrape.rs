//! Scraping: the targets with the labels that kube-prometheus-stack gives them, the rules that it records, and
//! the hour before the lab began.

use super::series::{Database, Labels};
use crate::domain::Timestamp;
use crate::domain::object::Os;
use crate::lab::backends::Backends;
use crate::lab::exporter::{EXPORTER_PORT, Exposition, Family, collect};
use crate::lab::machine::{Machine, Stage};
use crate::lab::world::{RunningPod, World};
use chrono::{TimeDelta, Utc};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Between two scrapes of a target.
pub const SCRAPE_INTERVAL: Duration = Duration::from_secs(15);

/// Distance of the samples of the hour before the lab began.
const PAST_STEP: TimeDelta = TimeDelta::seconds(60);
/// The rates of the first answer reach back this far, so that part is sampled as often as it will be.
const DENSE_PAST: TimeDelta = TimeDelta::minutes(5);

/// Scrapes every Windows node of a world into a database.
pub struct Scraper {
    /// The machines and pods.
    pub world: World,
    /// Whether an exporter answers at an address.
    pub backends: Backends,
    /// Where samples go.
    pub database: Database,
}

impl Scraper {
    /// Tells the hour before `until`, as if everything that runs now had been scraped since it started.
    pub fn tell_the_past(&self, until: Timestamp) {
        let interval = TimeDelta::from_std(SCRAPE_INTERVAL).unwrap_or(PAST_STEP);
        let mut at = until - TimeDelta::hours(1);
        while at < until {
            self.scrape_all(at);
            at += if at < until - DENSE_PAST {
                PAST_STEP
            } else {
                interval
            };
        }
        self.scrape_all(until);
    }

    /// Scrapes until `cancel` fires.
    pub async fn run(self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(SCRAPE_INTERVAL);
        ticks.tick().await;
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => self.scrape_all(Utc::now()),
            }
        }
    }

    fn scrape_all(&self, at: Timestamp) {
        for machine in self.world.machines() {
            if machine.os == Os::Windows {
                self.scrape(&machine, at);
            }
        }
    }

    fn scrape(&self, machine: &Machine, at: Timestamp) {
        let address = SocketAddr::new(IpAddr::V4(machine.address), EXPORTER_PORT);
        let pods: Vec<_> = self
            .world
            .pods_on(&machine.name)
            .iter()
            .filter_map(|pod| as_of(pod, at))
            .collect();
        let target = target_labels(machine, &pods, address);
        let answers = machine.stage == Stage::Up && self.backends.find(&address).is_some();
        let mut families = if answers {
            collect(machine, &pods, at, |_| true).into_families()
        } else {
            Vec::new()
        };
        let mut up = Exposition::default();
        up.gauge("up", "")
            .value(if families.is_empty() { 0.0 } else { 1.0 });
        families.extend(up.into_families());
        let recorded = record(&families);
        let parts = [
            (&target, families.as_slice()),
            (&recorded_target(&target), recorded.as_slice()),
        ];
        self.database.ingest(at.timestamp_millis(), &target, &parts);
    }
}

/// The pod as it was at `at`: containers that had started by then.
fn as_of(pod: &Arc<RunningPod>, at: Timestamp) -> Option<Arc<RunningPod>> {
    if pod.containers.iter().all(|container| container.started_at <= at) {
        return Some(Arc::clone(pod));
    }
    let containers: Vec<_> = pod
        .containers
        .iter()
        .filter(|container| container.started_at <= at)
        .cloned()
        .collect();
    (!containers.is_empty()).then(|| {
        Arc::new(RunningPod {
            containers,
            ..(**pod).clone()
        })
    })
}

fn target_labels(machine: &Machine, pods: &[Arc<RunningPod>], address: SocketAddr) -> Labels {
    let exporter = pods
        .iter()
        .find(|pod| &*pod.app == "prometheus-windows-exporter")
        .map_or_else(
            || format!("windows-exporter-{}", machine.name),
            |pod| pod.name.to_string(),
        );
    [
        ("container", "windows-exporter"),
        ("endpoint", "metrics"),
        ("instance", &address.to_string()),
        ("job", "windows-exporter"),
        ("namespace", "monitoring"),
        ("pod", &exporter),
        ("service", "kps-prometheus-windows-exporter"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// Recorded container series keep the target's labels, but carry the container's own namespace, pod and name.
fn recorded_target(target: &Labels) -> Labels {
    let mut labels = target.clone();
    for name in ["container", "namespace", "pod"] {
        labels.remove(name);
    }
    labels
}

/// `kps-windows.pod.rules`: raw container series joined with `kube_pod_container_info`.
const RECORDED: [(&str, &str); 4] = [
    ("windows_container_available", "windows_pod_container_available"),
    (
        "windows_container_memory_usage_commit_bytes",
        "windows_container_memory_usage",
    ),
    (
        "windows_container_memory_usage_private_working_set_bytes",
        "windows_container_private_working_set_usage",
    ),
    (
        "windows_container_cpu_usage_seconds_total",
        "windows_container_total_runtime",
    ),
];

fn record(families: &[Family]) -> Vec<Family> {
    let mut recorded = Exposition::default();
    for (raw, name) in RECORDED {
        let Some(family) = families.iter().find(|family| family.name == raw) else {
            continue;
        };
        let rule = recorded.gauge(name, "");
        for sample in &family.samples {
            let labels: Vec<_> = sample
                .labels
                .iter()
                .map(|(label, value)| (*label, value.as_str()))
                .collect();
            rule.sample(&labels, sample.value);
        }
    }
    recorded.into_families()
}
