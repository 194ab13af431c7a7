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
use std::collections::HashMap;
use std::time::Duration;

/// Between two shipments.
const PERIOD: Duration = Duration::from_millis(500);

/// How far back the logs go when the lab begins.
const PAST: TimeDelta = TimeDelta::hours(2);

/// The `DaemonSet` that ships.
const COLLECTOR: &str = "alloy-windows";

/// Ships from the world to the database.
pub struct Shipper {
    world: World,
    database: Database,
    /// Lines shipped of each run of a container, by its id.
    shipped: HashMap<Name, usize>,
    /// Records shipped of each node's event log.
    records: HashMap<Name, usize>,
    /// UID of Loki's pod, whose volume is gone with it.
    loki: Option<Name>,
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
        loop {
            ticks.tick().await;
            self.ship(Utc::now());
        }
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
            for pod in &pods {
                for container in &pod.containers {
                    self.ship_container(pod, container, now);
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

    fn ship_container(&mut self, pod: &RunningPod, container: &RunningContainer, now: Timestamp) {
        let log = Log::of(pod, container);
        let written = log.written(now);
        let first = *self
            .shipped
            .entry(container.id.clone())
            .or_insert_with(|| log.first_since(now - PAST).min(written));
        if first >= written {
            return;
        }
        let file = format!(
            r"C:\var\log\pods\{}_{}_{}\{}\0.log",
            pod.namespace, pod.name, pod.uid, container.name
        );
        let klog = |app: &str| matches!(app, "csi-smb-node-win" | "kube-proxy-windows");
        let labels = labels(&[
            ("app", &pod.app),
            ("container", &container.name),
            ("filename", &file),
            ("namespace", &pod.namespace),
            ("node", &pod.node),
            ("pod", &pod.name),
            ("service_name", &pod.app),
            ("stream", if klog(&pod.app) { "stderr" } else { "stdout" }),
        ]);
        let lines = (first..written).map(|number| (nanos(log.time_of(number)), log.text_of(number)));
        self.database.push(&labels, lines);
        self.shipped.insert(container.id.clone(), written);
    }
}

/// Writes about `bytes_per_second` into the log of one container, without end: a program that has gone mad.
pub async fn flood(database: Database, pod: RunningPod, bytes_per_second: u32) {
    const TICKS: u32 = 20;
    let labels = labels(&[
        ("app", &pod.app),
        ("container", "flood"),
        ("namespace", &pod.namespace),
        ("node", &pod.node),
        ("pod", &pod.name),
        ("service_name", &pod.app),
        ("stream", "stdout"),
    ]);
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / TICKS);
    let mut number: u64 = 0;
    loop {
        ticks.tick().await;
        let mut left = i64::from(bytes_per_second / TICKS);
        let mut at = nanos(Utc::now());
        let mut lines = Vec::new();
        while left > 0 {
            let level = if number.is_multiple_of(1000) {
                "ERROR"
            } else {
                "INFO"
            };
            let line = format!(
                r#"{{"time":"{}","level":"{level}","msg":"retry in a loop without a pause","attempt":{number},"error":"connection refused","url":"http://orders.shop.svc.cluster.local:8080/v1/orders"}}"#,
                Utc::now().to_rfc3339()
            );
            left -= i64::try_from(line.len()).unwrap_or(left);
            lines.push((at, line));
            at += 1;
            number += 1;
        }
        database.push(&labels, lines);
    }
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
