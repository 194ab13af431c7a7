//! The article's cluster at some speed, an operator, and what the cluster says when it is asked directly.

use crate::operator::{Ended, Operator};
use drainboard::lab::embedded::{Lab, LabOptions};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::Value;

pub const NODE: &str = "k8s-lab-win-1";

pub struct Scene {
    lab: Lab,
    pub operator: Operator,
    pub client: Client,
}

impl Scene {
    pub async fn at_speed(speed: f64) -> Self {
        Self::with_windows_nodes(1, speed).await
    }

    /// With so many Windows nodes: `k8s-lab-win-1`, `k8s-lab-win-2`, …
    pub async fn with_windows_nodes(windows_nodes: u8, speed: f64) -> Self {
        Self::with(LabOptions {
            speed,
            windows_nodes,
            ..LabOptions::default()
        })
        .await
    }

    pub async fn with(options: LabOptions) -> Self {
        let lab = Lab::start(options).await.unwrap();
        let operator = Operator::new();
        operator.file("config", lab.kubeconfig());
        let kubeconfig = Kubeconfig::from_yaml(lab.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .unwrap();
        Self {
            lab,
            operator,
            client: Client::try_from(config).unwrap(),
        }
    }

    pub async fn stop(self) {
        self.lab.stop().await;
    }

    /// `drainboard maintain` with these words.
    pub async fn maintain(&self, words: &[&str]) -> Ended {
        let mut all = vec!["--kubeconfig", "config", "--request-timeout", "60s", "maintain"];
        all.extend(words);
        self.operator.drainboard_with(&all).await
    }

    /// The same, started: somebody else ends it.
    pub fn starts(&self, words: &[&str]) -> std::process::Child {
        std::process::Command::new(env!("CARGO_BIN_EXE_drainboard"))
            .args(["--kubeconfig", "config", "--request-timeout", "60s", "maintain"])
            .args(words)
            .current_dir(self.operator.path())
            .env_clear()
            .env("HOME", self.operator.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    }

    /// The words that let the lab play the operator's hand: install updates and restart.
    pub fn reboot_command(verb: &str) -> String {
        format!(
            "--reboot-command={} --kubeconfig config --request-timeout 60s lab {verb} {{node}}",
            env!("CARGO_BIN_EXE_drainboard")
        )
    }

    pub async fn node(&self) -> Node {
        self.node_of(NODE).await
    }

    pub async fn node_of(&self, node: &str) -> Node {
        Api::<Node>::all(self.client.clone()).get(node).await.unwrap()
    }

    pub async fn boot_id(&self) -> String {
        self.boot_id_of(NODE).await
    }

    pub async fn boot_id_of(&self, node: &str) -> String {
        self.node_of(node)
            .await
            .status
            .unwrap()
            .node_info
            .unwrap()
            .boot_id
    }

    pub async fn is_cordoned(&self) -> bool {
        self.is_cordoned_of(NODE).await
    }

    pub async fn is_cordoned_of(&self, node: &str) -> bool {
        self.node_of(node)
            .await
            .spec
            .unwrap()
            .unschedulable
            .unwrap_or(false)
    }

    /// The record on the node.
    pub async fn record(&self) -> Option<Value> {
        self.record_of(NODE).await
    }

    pub async fn record_of(&self, node: &str) -> Option<Value> {
        let annotations = self.node_of(node).await.metadata.annotations.unwrap_or_default();
        let record = annotations.get("drainboard.io/maintenance")?;
        Some(serde_json::from_str(record).unwrap())
    }

    /// Pods of `win-demo`: name, ready, restarts.
    pub async fn win_demo(&self) -> Vec<(String, bool, i32)> {
        let pods = Api::<Pod>::namespaced(self.client.clone(), "win-demo");
        let pods = pods.list(&ListParams::default()).await.unwrap();
        pods.items
            .into_iter()
            .map(|pod| {
                let status = pod.status.unwrap_or_default();
                let containers = status.container_statuses.unwrap_or_default();
                (
                    pod.metadata.name.unwrap(),
                    !containers.is_empty() && containers.iter().all(|container| container.ready),
                    containers.iter().map(|container| container.restart_count).sum(),
                )
            })
            .collect()
    }

    /// Leases that drainboard holds.
    pub async fn locks(&self) -> Vec<String> {
        let leases = Api::<Lease>::namespaced(self.client.clone(), "kube-system");
        let leases = leases.list(&ListParams::default()).await.unwrap();
        leases
            .items
            .into_iter()
            .filter_map(|lease| {
                let holder = lease.spec?.holder_identity.filter(|holder| !holder.is_empty())?;
                lease
                    .metadata
                    .name
                    .filter(|name| name.starts_with("drainboard"))
                    .map(|name| format!("{name} {holder}"))
            })
            .collect()
    }
}

/// The JSON lines of a maintenance.
#[track_caller]
pub fn events(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Names of these events, in order.
pub fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect()
}

/// The first event of this name.
#[track_caller]
pub fn first<'a>(events: &'a [Value], name: &str) -> &'a Value {
    events
        .iter()
        .find(|event| event["event"] == name)
        .unwrap_or_else(|| panic!("no {name} among {:?}", names(events)))
}
