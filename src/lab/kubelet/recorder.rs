//! Events that a kubelet records about one object: one Event for each reason and message, counted up.

use super::facts::PodFacts;
use super::means::Means;
use crate::lab::client::{Merge, ObjectPath};
use crate::lab::error::LabError;
use crate::lab::machine::Machine;
use crate::lab::text::{api_time, hex64};
use chrono::Utc;
use serde_json::{Value, json};
use std::collections::HashMap;

/// `type` of an Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Normal,
    Warning,
}

/// Records the events of one object.
pub struct Recorder {
    means: Means,
    host: String,
    about: Value,
    counts: HashMap<String, (ObjectPath, u32)>,
}

impl Recorder {
    /// Events about a pod.
    pub fn of_pod(means: Means, pod: &PodFacts) -> Self {
        let about = json!({
            "apiVersion": "v1", "kind": "Pod",
            "namespace": pod.namespace, "name": pod.name, "uid": pod.uid,
        });
        Self::new(means, &pod.node, about)
    }

    /// Events about a node: they stand in the namespace `default`, with the node's name for its UID.
    pub fn of_node(means: Means, machine: &Machine) -> Self {
        let about = json!({"apiVersion": "v1", "kind": "Node", "name": machine.name, "uid": machine.name});
        Self::new(means, &machine.name, about)
    }

    fn new(means: Means, host: &str, about: Value) -> Self {
        Self {
            means,
            host: host.to_owned(),
            about,
            counts: HashMap::new(),
        }
    }

    /// Records that this happened now. An event that cannot be written is lost, as a kubelet's are.
    pub async fn tell(&mut self, severity: Severity, reason: &str, message: &str) {
        if let Err(error) = self.record(severity, reason, message).await {
            tracing::debug!(reason, %error, "an event is lost");
        }
    }

    async fn record(&mut self, severity: Severity, reason: &str, message: &str) -> Result<(), LabError> {
        let key = format!("{reason} {message}");
        if let Some((path, count)) = self.counts.get_mut(&key) {
            *count += 1;
            let change = json!({"count": *count, "lastTimestamp": api_time(Utc::now())});
            let client = &self.means.client;
            let counted = self.means.once(client.patch(path, Merge::Plain, &change)).await;
            match counted {
                // Its time in the API is over: it is told anew.
                Err(error) if error.has_status(404) => {}
                other => return other.map(drop),
            }
        }
        let event = self.event(severity, reason, message);
        self.means.once(self.means.client.create(&event)).await?;
        self.counts.insert(key, (ObjectPath::of(&event)?, 1));
        Ok(())
    }

    fn event(&self, severity: Severity, reason: &str, message: &str) -> Value {
        let now = Utc::now();
        let name = self.about["name"].as_str().unwrap_or_default();
        let unique = hex64(&format!("{}{reason}{message}{now}", self.about["uid"]));
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {
                "namespace": self.about["namespace"].as_str().unwrap_or("default"),
                "name": format!("{name}.{}", unique.get(..16).unwrap_or_default()),
            },
            "involvedObject": self.about,
            "type": match severity {
                Severity::Normal => "Normal",
                Severity::Warning => "Warning",
            },
            "reason": reason, "message": message, "count": 1,
            "firstTimestamp": api_time(now), "lastTimestamp": api_time(now),
            "source": {"component": "kubelet", "host": self.host},
            "reportingComponent": "kubelet", "reportingInstance": self.host,
        })
    }
}
