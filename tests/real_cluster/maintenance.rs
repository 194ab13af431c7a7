//! A maintenance under way on the real control plane, and what the cluster says when it is asked directly.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::drainboard::drainboard;
use crate::lab::lab_kubeconfig;
use crate::parts::{PATIENCE, User, kubeconfig};

pub const NODE: &str = "k8s-lab-win-1";
pub const SECOND: &str = "k8s-lab-win-2";

/// `drainboard maintain`, under way.
pub struct Maintenance {
    child: Child,
    lines: Receiver<String>,
    pub heard: Vec<Value>,
    /// How many of them were waited for.
    read: usize,
}

impl Maintenance {
    /// Begins one of the article's node. The lab plays the operator's hand: it installs and restarts.
    pub fn begin() -> Self {
        let reboot = format!(
            "--reboot-command={} --kubeconfig {} --request-timeout 300s lab update {{node}}",
            env!("CARGO_BIN_EXE_drainboard"),
            lab_kubeconfig().display()
        );
        Self::of(NODE, &[&reboot])
    }

    /// Begins one of this node with these words.
    pub fn of(node: &str, words: &[&str]) -> Self {
        let state = tempfile::tempdir().expect("a state directory").keep();
        let mut child = Command::new(env!("CARGO_BIN_EXE_drainboard"))
            .arg("--kubeconfig")
            .arg(kubeconfig(User::Admin))
            .args(["--request-timeout", "10s", "maintain", node])
            .args(["--yes", "--delete-emptydir-data", "-o", "json"])
            .args(words)
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
            read: 0,
        }
    }

    /// Waits for an event that `is` the one, and answers it.
    pub fn until(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        if let Some(event) = self.heard[self.read..].iter().position(&is) {
            self.read += event + 1;
            return self.heard[self.read - 1].clone();
        }
        let begun = Instant::now();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let event: Value = serde_json::from_str(&line).expect("a JSON line");
                    self.heard.push(event.clone());
                    if is(&event) {
                        self.read = self.heard.len();
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

    pub fn until_named(&mut self, name: &str) -> Value {
        self.until(name, |event| event["event"] == name)
    }

    /// Waits until the API server was told to be lost and back so many times, or all is done: a short outage may fall
    /// between two requests. What else is told meanwhile stays to be waited for.
    pub fn until_back_after_outages(&mut self, times: usize) {
        let read = self.read;
        while self.events("api_regained").len() < times && self.events("done").is_empty() {
            self.read = self.heard.len();
            self.until("api_regained or done", |event| {
                event["event"] == "api_regained" || event["event"] == "done"
            });
        }
        self.read = read;
    }

    /// Waits for its end.
    pub fn ends_well(&mut self) {
        self.until_named("done");
        self.ends_with(0);
    }

    /// Waits for its end with this code.
    pub fn ends_with(&mut self, code: i32) {
        let status = self.child.wait().expect("its end");
        assert_eq!(status.code(), Some(code), "{}", self.said());
    }

    /// What was heard of this name.
    pub fn events(&self, name: &str) -> Vec<&Value> {
        self.heard.iter().filter(|event| event["event"] == name).collect()
    }

    /// Neither hears nor does anything while this goes on.
    pub async fn unaware(&self, of: impl Future<Output = ()>) {
        let signal = |name: &str| {
            let process = self.child.id().to_string();
            let sent = Command::new("kill").args(["-s", name, &process]).status();
            assert!(sent.expect("kill").success());
        };
        signal("STOP");
        of.await;
        signal("CONT");
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
pub async fn lab_client() -> Client {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let file = kube::config::Kubeconfig::read_from(lab_kubeconfig()).expect("the lab's kubeconfig");
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await;
    Client::try_from(config.expect("a usable kubeconfig")).expect("a client")
}

pub async fn cordon(client: &Client, node: &str, cordoned: bool) {
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

/// Waits until the seven pods are ready, and no other is left.
pub async fn settled(client: &Client) {
    let begun = Instant::now();
    loop {
        let pods = win_demo(client).await;
        if pods.len() == 7 && pods.iter().all(|(_, ready, _)| *ready) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "not seven ready pods: {pods:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

pub async fn seven_ready_pods(client: &Client) {
    let pods = win_demo(client).await;
    assert!(
        pods.len() == 7 && pods.iter().all(|(_, ready, restarts)| *ready && *restarts == 0),
        "{pods:?}"
    );
}

/// Gives the maintenance of the article's node up and the node back, so that the next story finds its pods running.
pub async fn given_back(client: &Client) {
    let given_up = drainboard(User::Admin, &["maintain", NODE, "--abandon", "--yes"]);
    let said = String::from_utf8_lossy(&given_up.stderr);
    assert!(given_up.status.success(), "{}: {said}", given_up.status);
    cordon(client, NODE, false).await;
    settled(client).await;
}

/// Whether the node takes no pods.
pub async fn is_cordoned(client: &Client, node: &str) -> bool {
    let node = Api::<Node>::all(client.clone())
        .get(node)
        .await
        .expect("the node");
    node.spec.and_then(|spec| spec.unschedulable).unwrap_or(false)
}
