//! The guided maintenance on the real control plane: real scheduler, real controllers, real evictions.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::lab::{Lab, lab_kubeconfig, part};
use crate::parts::{PATIENCE, User, kubeconfig};
use crate::read_only::{lines_so_far, requests_of_the_admin};

const NODE: &str = "k8s-lab-win-1";
const SECOND: &str = "k8s-lab-win-2";

/// `drainboard maintain`, under way.
struct Maintenance {
    child: Child,
    lines: Receiver<String>,
    heard: Vec<Value>,
}

impl Maintenance {
    /// Begins one of the node. The lab plays the operator's hand: it installs and restarts.
    fn begin() -> Self {
        let state = tempfile::tempdir().expect("a state directory").keep();
        let mut child = Command::new(env!("CARGO_BIN_EXE_drainboard"))
            .arg("--kubeconfig")
            .arg(kubeconfig(User::Admin))
            .args([
                "--request-timeout",
                "10s",
                "maintain",
                NODE,
                "--yes",
                "--delete-emptydir-data",
                "-o",
                "json",
            ])
            .arg(format!(
                "--reboot-command={} --kubeconfig {} --request-timeout 120s lab update {{node}}",
                env!("CARGO_BIN_EXE_drainboard"),
                lab_kubeconfig().display()
            ))
            .env_remove("KUBECONFIG")
            .env("XDG_STATE_HOME", state)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("drainboard maintain");
        let (sender, lines) = channel();
        let stdout = child.stdout.take().expect("its stdout");
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self {
            child,
            lines,
            heard: Vec::new(),
        }
    }

    /// Waits for an event that `is` the one, and answers it.
    fn until(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let event: Value = serde_json::from_str(&line).expect("a JSON line");
                    self.heard.push(event.clone());
                    if is(&event) {
                        return event;
                    }
                }
                Err(silence) => {
                    let said = self.said();
                    let after = begun.elapsed();
                    panic!(
                        "never {what} ({silence} after {after:?}): {:#?}\n{said}",
                        self.heard
                    );
                }
            }
        }
    }

    fn until_named(&mut self, name: &str) -> Value {
        self.until(name, |event| event["event"] == name)
    }

    /// Waits for its end.
    fn ends_well(&mut self) {
        self.until_named("done");
        let status = self.child.wait().expect("its end");
        assert!(status.success(), "{status}: {}", self.said());
    }

    fn said(&mut self) -> String {
        let read = |stderr: ChildStderr| std::io::read_to_string(stderr).unwrap_or_default();
        let _ = self.child.kill();
        self.child.stderr.take().map(read).unwrap_or_default()
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As the user that plays the lab, whose requests are not in the audit log.
async fn lab_client() -> Client {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let file = kube::config::Kubeconfig::read_from(lab_kubeconfig()).expect("the lab's kubeconfig");
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await;
    Client::try_from(config.expect("a usable kubeconfig")).expect("a client")
}

async fn cordon(client: &Client, node: &str, cordoned: bool) {
    let patch = json!({"spec": {"unschedulable": cordoned}});
    let nodes = Api::<Node>::all(client.clone());
    nodes
        .patch(node, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .expect("a cordon");
}

/// Pods of `win-demo`: name, ready, restarts.
async fn win_demo(client: &Client) -> Vec<(String, bool, i32)> {
    let pods = Api::<Pod>::namespaced(client.clone(), "win-demo");
    let pods = pods.list(&ListParams::default()).await.expect("pods");
    pods.items
        .into_iter()
        .map(|pod| {
            let containers = pod
                .status
                .unwrap_or_default()
                .container_statuses
                .unwrap_or_default();
            let ready = !containers.is_empty() && containers.iter().all(|container| container.ready);
            (
                pod.metadata.name.expect("a name"),
                ready,
                containers.iter().map(|container| container.restart_count).sum(),
            )
        })
        .collect()
}

/// Waits until the seven pods are ready.
async fn settled(client: &Client) {
    let begun = Instant::now();
    loop {
        let ready = win_demo(client)
            .await
            .iter()
            .filter(|(_, ready, _)| *ready)
            .count();
        if ready == 7 {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{ready} of 7 pods are ready");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

async fn seven_ready_pods(client: &Client) {
    let pods = win_demo(client).await;
    assert!(
        pods.len() == 7 && pods.iter().all(|(_, ready, restarts)| *ready && *restarts == 0),
        "{pods:?}"
    );
}

fn time(event: &Value) -> DateTime<Utc> {
    event["at"]
        .as_str()
        .and_then(|at| at.parse().ok())
        .expect("a time")
}

fn asked_at(request: &Value) -> DateTime<Utc> {
    request["requestReceivedTimestamp"]
        .as_str()
        .and_then(|at| at.parse().ok())
        .expect("a time")
}

/// What the audit log says of a maintenance: no pod deleted; evictions with a UID and no grace period; the uncordon
/// after the network gate.
fn nothing_improper(requests: &[Value], events: &[Value]) {
    let of = |verb: &str, resource: &str, subresource: &str| {
        let (verb, resource, subresource) = (verb.to_owned(), resource.to_owned(), subresource.to_owned());
        requests.iter().filter(move |request| {
            request["verb"] == *verb
                && request["objectRef"]["resource"] == *resource
                && request["objectRef"]["subresource"].as_str().unwrap_or_default() == subresource
        })
    };
    assert_eq!(
        of("delete", "pods", "").count() + of("deletecollection", "pods", "").count(),
        0
    );
    let evictions: Vec<&Value> = of("create", "pods", "eviction").collect();
    assert!(
        evictions.len() >= 7,
        "only {} evictions were seen",
        evictions.len()
    );
    for eviction in &evictions {
        let options = &eviction["requestObject"]["deleteOptions"];
        assert!(options["preconditions"]["uid"].is_string(), "{eviction:#}");
        assert!(options["gracePeriodSeconds"].is_null(), "{eviction:#}");
    }
    // Never twice within a second, however the server answers.
    let mut by_pod = std::collections::BTreeMap::<String, Vec<DateTime<Utc>>>::new();
    for eviction in &evictions {
        let uid = eviction["requestObject"]["deleteOptions"]["preconditions"]["uid"].to_string();
        by_pod.entry(uid).or_default().push(asked_at(eviction));
    }
    for times in by_pod.values_mut() {
        times.sort_unstable();
        for pair in times.windows(2) {
            // The server notes when it received a request; the pause is between two sendings.
            assert!((pair[1] - pair[0]).num_milliseconds() > 900, "{times:?}");
        }
    }
    let gate = events
        .iter()
        .find(|event| event["event"] == "network_ready")
        .expect("network_ready");
    let uncordons: Vec<&Value> = of("patch", "nodes", "")
        .filter(|patch| {
            let spec = &patch["requestObject"]["spec"];
            spec.as_object()
                .is_some_and(|spec| spec.contains_key("unschedulable"))
                && spec["unschedulable"] != true
        })
        .collect();
    assert_eq!(uncordons.len(), 1, "{uncordons:#?}");
    assert!(
        asked_at(uncordons[0]) >= time(gate),
        "uncordoned before the network gate held"
    );
}

#[tokio::test]
async fn a_budget_lets_the_second_pod_leave_when_a_second_node_has_its_replacement() {
    let lab = Lab::attach_with(&["--speed", "4", "--windows-nodes", "2"]);
    let client = lab_client().await;
    settled(&client).await;
    cordon(&client, SECOND, true).await;
    let budgets = Api::<PodDisruptionBudget>::namespaced(client.clone(), "win-demo");
    let budget: PodDisruptionBudget = serde_json::from_value(json!({
        "metadata": {"name": "hello-win"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "hello-win"}}},
    }))
    .expect("a budget");
    budgets
        .create(&PostParams::default(), &budget)
        .await
        .expect("a budget");

    let from = lines_so_far();
    let mut maintenance = Maintenance::begin();
    let preflight = maintenance.until_named("preflight");
    assert_eq!(
        (&preflight["leaving"], &preflight["staying"]),
        (&json!(7), &json!(5)),
        "{preflight}"
    );
    let blocked = maintenance.until("hello-win blocked", |event| {
        event["event"] == "blocked"
            && event["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("hello-win"))
    });
    assert!(
        blocked["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("hello-win")),
        "{blocked}"
    );
    let uid = blocked["uid"].as_str().expect("a UID").to_owned();

    // The other six leave; the blocked one stays while nothing takes its replacement.
    tokio::time::sleep(Duration::from_secs(3)).await;
    cordon(&client, SECOND, false).await;
    let allowed_at = loop {
        let status = budgets
            .get("hello-win")
            .await
            .expect("the budget")
            .status
            .expect("its status");
        if status.disruptions_allowed.is_some_and(|allowed| allowed > 0) {
            break Utc::now();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    maintenance.until("the blocked pod gone", |event| {
        event["event"] == "evicted" && event["uid"] == uid.as_str()
    });
    maintenance.until_named("drained");
    maintenance.ends_well();

    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard);
    let accepted = requests
        .iter()
        .filter(|request| request["objectRef"]["subresource"] == "eviction")
        .filter(|request| request["responseStatus"]["code"] == 201)
        .find(|request| request["requestObject"]["deleteOptions"]["preconditions"]["uid"] == uid.as_str())
        .expect("the eviction that was accepted");
    let after = asked_at(accepted) - allowed_at;
    println!(
        "the second pod's eviction came {} ms after the budget was seen to allow it",
        after.num_milliseconds()
    );
    assert!(after.num_milliseconds() < 3_000, "{after}");

    budgets
        .delete("hello-win", &DeleteParams::default())
        .await
        .expect("a deletion");
    let nodes = Api::<Node>::all(client.clone());
    nodes
        .delete(SECOND, &DeleteParams::default())
        .await
        .expect("a deletion");
    drop(lab);
}

#[tokio::test]
async fn the_api_server_is_gone_in_each_step() {
    let _lab = Lab::attach_with(&["--speed", "4"]);
    let client = lab_client().await;
    settled(&client).await;
    let from = lines_so_far();
    let mut maintenance = Maintenance::begin();
    for step in ["evicting", "awaiting_reboot", "boot_id_changed", "uncordoned"] {
        maintenance.until_named(step);
        part("stop", "kube-apiserver");
        std::thread::sleep(Duration::from_secs(3));
        part("start", "kube-apiserver");
    }
    maintenance.ends_well();
    nothing_improper(&requests_of_the_admin(from), &maintenance.heard);
    seven_ready_pods(&client).await;
}
