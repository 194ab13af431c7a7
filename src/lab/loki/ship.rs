//! The Alloy of the Windows nodes: ships what their containers write, and the System records of their event logs.
//! The Linux nodes have none in the article.

use super::database::{Database, Labels};
use crate::domain::object::Os;
use crate::domain::{Name, Timestamp};
use crate::lab::event_log::line;
use crate::lab::kubelet::logs::Log;
use crate::lab::machine::Stage;
use crate::lab::world::{RunningContainer, RunningPod, World};
use chrono::{TimeDelta, Utc};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Between two shipments.
const PERIOD: Duration = Duration::from_millis(500);

/// How far back the logs go when the lab begins; what a container wrote at its start is there in any case.
const PAST: TimeDelta = TimeDelta::hours(1);

/// Between two outpourings of a flood, and their size: 10 MB a second.
const FLOOD_PERIOD: Duration = Duration::from_millis(50);
const FLOOD_BYTES: usize = 500_000;

/// The application whose pod floods.
const FLOODING: &str = "hello-win";

/// The `DaemonSet` that ships.
const COLLECTOR: &str = "alloy-windows";

/// Ships from the world to the database.
pub struct Shipper {
    world: World,
    database: Database,
    /// What was shipped of each run of a container, by its id.
    shipped: HashMap<Name, Shipped>,
    /// Records shipped of each node's event log.
    records: HashMap<Name, usize>,
    /// UID of Loki's pod, whose volume is gone with it.
    loki: Option<Name>,
}

/// What was shipped of a run of a container.
#[derive(Default)]
struct Shipped {
    /// Lines that come all the time.
    regular: usize,
    /// The others: what is told of a mount may be older than lines shipped already.
    told: HashSet<(Timestamp, String)>,
}

impl Shipper {
    /// Nothing is shipped yet.
    pub fn new(world: World, database: Database) -> Self {
        Self {
            world,
            database,
            shipped: HashMap::new(),
            records: HashMap::new(),
            loki: None,
        }
    }

    /// Ships without end.
    pub async fn run(mut self) {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut flood = tokio::time::interval(FLOOD_PERIOD);
        flood.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut flooded = Vec::new();
        let mut lines = 0;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    self.ship(Utc::now());
                    flooded = self.flooded();
                }
                _ = flood.tick(), if !flooded.is_empty() => {
                    for pod in &flooded {
                        lines = self.flood(pod, lines);
                    }
                }
            }
        }
    }

    /// The pods whose program has gone mad: one on each node that was asked to play that.
    fn flooded(&self) -> Vec<Arc<RunningPod>> {
        let machines = self.world.machines();
        let mad = machines
            .iter()
            .filter(|machine| machine.armed.flood && machine.stage == Stage::Up);
        mad.filter_map(|machine| {
            let pods = self.world.pods_on(&machine.name);
            pods.into_iter().find(|pod| &*pod.app == FLOODING)
        })
        .collect()
    }

    /// What it writes in one period; `number` counts its lines.
    fn flood(&self, pod: &RunningPod, mut number: u64) -> u64 {
        let Some(container) = pod.containers.first() else {
            return number;
        };
        let now = Utc::now();
        let (time, mut at, mut bytes) = (now.to_rfc3339(), nanos(now), 0);
        let mut lines = Vec::new();
        while bytes < FLOOD_BYTES {
            let level = if number.is_multiple_of(1_000) {
                "ERROR"
            } else {
                "INFO"
            };
            let line = format!(
                r#"{{"time":"{time}","level":"{level}","msg":"connection refused, trying again at once","attempt":{number},"url":"http://orders.shop.svc.cluster.local:8080/v1/orders"}}"#
            );
            bytes += line.len();
            lines.push((at, line));
            (at, number) = (at + 1, number + 1);
        }
        self.database.push(&stream_of(pod, container), lines);
        number
    }

    /// Ships what was written until `now`.
    pub fn ship(&mut self, now: Timestamp) {
        let loki = self.world.pod("monitoring", "loki-0").map(|pod| pod.uid.clone());
        let Some(uid) = loki else { return };
        if self.loki.replace(uid.clone()).is_some_and(|before| before != uid) {
            self.database.clear();
        }
        for machine in self.world.machines() {
            let pods = self.world.pods_on(&machine.name);
            let ships = machine.os == Os::Windows
                && machine.stage == Stage::Up
                && pods.iter().any(|pod| &*pod.app == COLLECTOR);
            if !ships {
                continue;
            }
            let mounts = self.world.mounts_on(&machine.name);
            for pod in &pods {
                for container in &pod.containers {
                    self.ship_container(&Log::of(pod, container, &mounts, now), pod, container, now);
                }
            }
            let records = self.world.event_log(&machine.name);
            let shipped = self.records.entry(machine.name.clone()).or_default();
            // Alloy gives a record the time at which it reads it.
            let fresh = records.iter().enumerate().skip(*shipped).map(|(number, record)| {
                let at = nanos(now) + i64::try_from(number).unwrap_or(0);
                (at, line(record, &machine.name, number))
            });
            let labels = labels(&[
                ("job", "windows-events"),
                ("node", &machine.name),
                ("service_name", "windows-events"),
            ]);
            self.database.push(&labels, fresh);
            *shipped = records.len();
        }
    }

    fn ship_container(
        &mut self,
        log: &Log<'_>,
        pod: &RunningPod,
        container: &RunningContainer,
        now: Timestamp,
    ) {
        let first_time = !self.shipped.contains_key(&container.id);
        let shipped = self.shipped.entry(container.id.clone()).or_default();
        let mut lines: Vec<(i64, String)> = Vec::new();
        for (at, text) in log.told() {
            if shipped.told.insert((at, text.to_owned())) {
                lines.push((nanos(at), text.to_owned()));
            }
        }
        let begin = now - PAST;
        for (at, text) in log.regular(shipped.regular) {
            shipped.regular += 1;
            if !first_time || at >= begin {
                lines.push((nanos(at), text));
            }
        }
        if lines.is_empty() {
            return;
        }
        lines.sort_by_key(|(at, _)| *at);
        self.database.push(&stream_of(pod, container), lines);
    }
}

/// The labels of a container's lines, as the article's Alloy sets them.
fn stream_of(pod: &RunningPod, container: &RunningContainer) -> Labels {
    let file = format!(
        r"C:\var\log\pods\{}_{}_{}\{}\0.log",
        pod.namespace, pod.name, pod.uid, container.name
    );
    let klog = matches!(&*pod.app, "csi-smb-node-win" | "kube-proxy-windows");
    labels(&[
        ("app", &pod.app),
        ("container", &container.name),
        ("filename", &file),
        ("namespace", &pod.namespace),
        ("node", &pod.node),
        ("pod", &pod.name),
        ("service_name", &pod.app),
        ("stream", if klog { "stderr" } else { "stdout" }),
    ])
}

fn nanos(at: Timestamp) -> i64 {
    at.timestamp_nanos_opt().unwrap_or(0)
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}
