//! Stories of the executor, on the embedded lab over HTTP.

mod evictions;
mod leases;
mod lists;
mod nodes;
mod reboot_commands;
mod reboot_pods;

use super::{Executor, Identity};
use crate::domain::Name;
use crate::lab::apiserver::User;
use crate::lab::embedded::{Lab, LabOptions};
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::options::{Options, Purpose, Reboot};
use crate::maintenance::pods::PodRef;
use crate::maintenance::record::{ANNOTATION, Reached, Record};
use crate::sources::kubernetes::config::{self, Choice};
use crate::sources::kubernetes::http::ApiServer;
use chrono::Utc;
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A busy machine is slow, not broken.
const PATIENCE: Duration = Duration::from_mins(1);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The lab, and somebody who looks at it past the executor.
struct Scene {
    lab: Lab,
    api: ApiServer,
}

/// An executor with what it says.
struct Operator {
    executor: Executor,
    answers: mpsc::UnboundedReceiver<Answer>,
    output: mpsc::UnboundedReceiver<String>,
}

/// What an operator sits down with.
struct Seat {
    node: &'static str,
    id: &'static str,
    /// Which run of the program; one of its own by default.
    run: Option<&'static str>,
    user: User,
    take_over: bool,
    pool_label: Option<&'static str>,
    reboot: Option<Reboot>,
    purpose: Purpose,
    request_timeout: Duration,
}

impl Default for Seat {
    fn default() -> Self {
        Self {
            node: crate::lab::article::WINDOWS_NODE,
            id: "m-1",
            run: None,
            user: User::Admin,
            take_over: false,
            pool_label: None,
            reboot: None,
            purpose: Purpose::Update,
            request_timeout: REQUEST_TIMEOUT,
        }
    }
}

/// A run of the program that has not ended.
fn run(id: &str) -> String {
    format!("desk-{id}:{}", std::process::id())
}

/// A client of the server that this kubeconfig names, as the program makes one.
pub async fn client(kubeconfig: &str, connect_timeout: Duration) -> kube::Client {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), kubeconfig).unwrap();
    let choice = Choice {
        kubeconfig: Some(file.path().to_owned()),
        connect_timeout,
        ..Choice::default()
    };
    config::open(choice).await.unwrap().client
}

impl Scene {
    async fn start() -> Self {
        Self::at_speed(1.0).await
    }

    async fn at_speed(speed: f64) -> Self {
        let options = LabOptions {
            speed,
            ..LabOptions::default()
        };
        let lab = Lab::start(options).await.unwrap();
        let client = client(lab.kubeconfig(), REQUEST_TIMEOUT).await;
        let api = ApiServer::new(client, REQUEST_TIMEOUT, Arc::default());
        Self { lab, api }
    }

    async fn operator(&self, seat: Seat) -> Operator {
        let (answers, heard) = mpsc::unbounded_channel();
        let (output, lines) = mpsc::unbounded_channel();
        let executor = Executor::new(
            client(&self.lab.api().kubeconfig(seat.user), REQUEST_TIMEOUT).await,
            seat.request_timeout,
            seat.node.into(),
            Identity {
                id: seat.id.to_owned(),
                by: format!("ops@{}", seat.id),
                run: seat.run.map_or_else(|| run(seat.id), str::to_owned),
            },
            Options {
                reboot: seat.reboot,
                purpose: seat.purpose,
                ..Options::default()
            },
            seat.take_over,
            seat.pool_label.map(str::to_owned),
            answers,
            output,
        );
        Operator {
            executor,
            answers: heard,
            output: lines,
        }
    }

    async fn get(&self, path: &str) -> Value {
        let reply = self.api.exchange(Method::GET, path, None).await.unwrap();
        reply.json().unwrap()
    }

    async fn node(&self, name: &str) -> Value {
        self.get(&format!("/api/v1/nodes/{name}")).await
    }

    /// A merge patch of a node by another program.
    async fn patch(&self, node: &str, manager: &str, change: &Value) {
        let path = format!("/api/v1/nodes/{node}?fieldManager={manager}");
        let body = Some(super::ask::body(super::ask::MERGE_PATCH, change));
        let reply = self.api.exchange(Method::PATCH, &path, body).await.unwrap();
        reply.json::<Value>().unwrap();
    }

    /// The record of a maintenance `id` of this node as it is now.
    async fn record(&self, node: &str, id: &str) -> Box<Record> {
        let object = self.node(node).await;
        let text = |pointer: &str| Name::from(object.pointer(pointer).unwrap().as_str().unwrap());
        Box::new(Record {
            id: id.to_owned(),
            by: format!("ops@{id}"),
            started_at: Utc::now(),
            reached_at: Utc::now(),
            older_boot_ids: std::collections::BTreeSet::new(),
            new_boot_id: None,
            kept: crate::maintenance::options::Kept::default(),
            new_network_ids: std::collections::BTreeSet::new(),
            purpose: Purpose::Update,
            reached: Reached::Drain,
            node_uid: text("/metadata/uid"),
            boot_id: text("/status/nodeInfo/bootID"),
            kernel_version: text("/status/nodeInfo/kernelVersion"),
            kubelet_version: text("/status/nodeInfo/kubeletVersion"),
            was_cordoned: object["spec"]["unschedulable"] == true,
            reboot_started: false,
            network_ids: std::collections::BTreeSet::default(),
            network_owners: std::collections::BTreeSet::default(),
            ready_before: Vec::new(),
        })
    }

    async fn pod(&self, namespace: &str, name: &str) -> PodRef {
        let pod = self
            .get(&format!("/api/v1/namespaces/{namespace}/pods/{name}"))
            .await;
        PodRef {
            namespace: namespace.into(),
            name: name.into(),
            uid: pod["metadata"]["uid"].as_str().unwrap().into(),
        }
    }
}

impl Operator {
    fn perform(&mut self, effect: Effect) {
        self.executor.perform(effect);
    }

    async fn hears(&mut self) -> Answer {
        tokio::time::timeout(PATIENCE, self.answers.recv())
            .await
            .expect("nothing was answered")
            .unwrap()
    }

    async fn does(&mut self, effect: Effect) -> Answer {
        self.perform(effect);
        self.hears().await
    }
}

/// The record in a node's annotation.
fn written(node: &Value) -> Option<Record> {
    let text = node["metadata"]["annotations"][ANNOTATION].as_str()?;
    Some(Record::parse(text).unwrap())
}

/// Waits until it holds.
async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let waited = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(
        tokio::time::timeout(PATIENCE, waited).await.is_ok(),
        "it never came to: {what}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_made_in_the_order_in_which_they_were_asked_for() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let record = scene.record(Seat::default().node, "m-1").await;
    let mut later = record.clone();
    later.reached = Reached::Restart;
    for effect in [
        Effect::Lock,
        Effect::Cordon(record),
        Effect::Save(later.clone()),
        Effect::Clear { proven_boot: None },
    ] {
        operator.perform(effect);
    }
    assert_eq!(operator.hears().await, Answer::Locked(Ok(())));
    assert_eq!(operator.hears().await, Answer::Cordoned(Ok(())));
    assert_eq!(operator.hears().await, Answer::Saved(Ok(())));
    assert_eq!(operator.hears().await, Answer::Cleared(Ok(())));
    let node = scene.node(Seat::default().node).await;
    assert_eq!(node["spec"]["unschedulable"], true, "the cordon stays");
    assert_eq!(written(&node), None);
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/drainboard-10.0.26100";
    let lease = scene.get(lease).await;
    assert_eq!(lease["spec"].get("holderIdentity"), None, "{lease}");
    assert_eq!(json!(null), lease["spec"]["renewTime"]);
    scene.lab.stop().await;
}
