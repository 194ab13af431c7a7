//! The preflight of the article's cluster, on the embedded lab over HTTP.

use super::{ApiServer, Intent, survey};
use crate::lab::apiserver::User;
use crate::lab::article::{NODE_1, WINDOWS_NODE};
use crate::lab::embedded::{Lab, LabOptions};
use crate::maintenance::options::Options;
use crate::maintenance::preflight::{Fate, Preflight, Weight};
use crate::sources::event::Scope;
use crate::sources::kubernetes::maintain::ask::{JSON, body};
use crate::sources::kubernetes::maintain::tests::client;
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
const BUDGETS: &str = "/apis/policy/v1/namespaces/win-demo/poddisruptionbudgets";
/// A busy machine is slow, not broken.
const PATIENCE: Duration = Duration::from_mins(1);

struct Scene {
    lab: Lab,
    client: kube::Client,
}

impl Scene {
    async fn begins() -> Self {
        let lab = Lab::start(LabOptions::default()).await.unwrap();
        let client = client(lab.kubeconfig(), REQUEST_TIMEOUT).await;
        let scene = Self { lab, client };
        scene
            .until("every pod is ready", || async {
                let pods = scene.get("/api/v1/pods").await;
                let mut pods = pods["items"].as_array().unwrap().iter();
                pods.all(|pod| {
                    let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
                    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
                })
            })
            .await;
        scene.healthy("demo", "hello").await;
        scene
    }

    /// Waits until the budget's controller has seen both of its pods healthy.
    async fn healthy(&self, namespace: &str, budget: &str) {
        let path = format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{budget}");
        self.until("the budget is healthy", || async {
            self.get(&path).await["status"]["currentHealthy"] == 2
        })
        .await;
    }

    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let waiting = async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(
            tokio::time::timeout(PATIENCE, waiting).await.is_ok(),
            "never: {what}"
        );
    }

    async fn preflight(&self, intent: &Intent) -> Preflight {
        *survey(self.client.clone(), REQUEST_TIMEOUT, intent)
            .await
            .unwrap()
    }

    fn api(&self) -> ApiServer {
        ApiServer::new(self.client.clone(), REQUEST_TIMEOUT, Arc::new(Scope::default()))
    }

    /// Keeps so many of `hello-win`, and waits until the controller knows.
    async fn budget(&self, least: u32) {
        let budget = json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": "win-demo", "name": "hello-win"},
            "spec": {"minAvailable": least, "selector": {"matchLabels": {"app.kubernetes.io/name": "hello-win"}}},
        });
        let api = self.api();
        let created = api
            .exchange(Method::POST, BUDGETS, Some(body(JSON, &budget)))
            .await
            .unwrap();
        assert_eq!(created.code, 201);
        self.healthy("win-demo", "hello-win").await;
    }

    async fn get(&self, path: &str) -> Value {
        serde_json::from_slice(&self.api().get(path).await.unwrap()).unwrap()
    }
}

fn intent(node: &str) -> Intent {
    Intent {
        node: node.into(),
        options: Options::default(),
        identity: "m-1".to_owned(),
        take_over: false,
        pool_label: None,
        dry_run: false,
        restarted_without_drain: None,
    }
}

#[track_caller]
fn says(preflight: &Preflight, weight: Weight, words: &[&str]) {
    let mut notes = preflight.notes.iter();
    let found =
        notes.any(|note| note.weight == weight && words.iter().all(|word| note.sentence().contains(word)));
    assert!(found, "no {weight:?} with {words:?} in\n{:#?}", preflight.notes);
}

#[tokio::test]
async fn the_articles_windows_node_loses_seven_pods_to_pending_and_nothing_for_good() {
    let scene = Scene::begins().await;
    let found = scene.preflight(&intent(WINDOWS_NODE)).await;
    let of = |leaves: bool| {
        let pods = found.pods.iter();
        pods.filter(|(_, fate)| matches!(fate, Fate::Leaves(_)) == leaves)
            .count()
    };
    assert_eq!((of(true), of(false)), (7, 5));
    assert!(
        found
            .pods
            .iter()
            .all(|(_, fate)| matches!(fate, Fate::Leaves(None) | Fate::Stays(_)))
    );
    says(
        &found,
        Weight::Info,
        &["7 pods are evicted", "not touched: 5 DaemonSet pods"],
    );
    says(
        &found,
        Weight::Warning,
        &[
            "k8s-lab-win-1 is the only Windows node: 7 pods wait as Pending until it is back",
            "win-demo/aspnetapp, win-demo/hello-win, win-demo/reports, win-demo/reports-writer",
        ],
    );
    says(
        &found,
        Weight::Info,
        &[
            "2 network pods",
            "calico-system/calico-node-windows",
            "kube-system/kube-proxy-windows",
        ],
    );
    assert_eq!(found.weight(), Weight::Warning, "{:#?}", found.notes);
    let warnings = found.notes.iter().filter(|note| note.weight == Weight::Warning);
    assert_eq!(warnings.count(), 1, "{:#?}", found.notes);
    assert_eq!(
        (&*found.node.boot_id, &*found.node.kernel_version),
        ("11", "10.0.26100.33438")
    );
    let ready: Vec<(&str, u32)> = found
        .ready
        .iter()
        .map(|(owner, ready)| (&*owner.name, *ready))
        .collect();
    assert_eq!(
        ready,
        [
            ("aspnetapp", 2),
            ("hello-win", 2),
            ("reports", 2),
            ("reports-writer", 1),
        ]
    );
    scene.lab.stop().await;
}

#[tokio::test]
async fn a_linux_node_takes_logs_and_metrics_of_the_windows_nodes_with_it() {
    let scene = Scene::begins().await;
    let options = Options {
        delete_emptydir_data: true,
        ..Options::default()
    };
    let found = scene
        .preflight(&Intent {
            options,
            ..intent(NODE_1)
        })
        .await;
    says(
        &found,
        Weight::Warning,
        &["monitoring/loki-0", "emptyDir and is gone"],
    );
    says(
        &found,
        Weight::Warning,
        &["monitoring/prometheus-kps-prometheus-0", "no metrics"],
    );
    says(
        &found,
        Weight::Warning,
        &["node port 31100 (monitoring/loki-gateway)", "192.168.10.24"],
    );
    says(&found, Weight::Info, &["find room elsewhere", "k8s-lab-node-2"]);
    assert_eq!(found.weight(), Weight::Warning, "{:#?}", found.notes);

    let careful = scene.preflight(&intent(NODE_1)).await;
    says(&careful, Weight::Refuses, &["emptyDir", "--delete-emptydir-data"]);
    scene.lab.stop().await;
}

#[tokio::test]
async fn a_budget_of_one_of_two_on_the_only_windows_node_can_never_be_drained() {
    let scene = Scene::begins().await;
    scene.budget(1).await;
    let found = scene.preflight(&intent(WINDOWS_NODE)).await;
    says(
        &found,
        Weight::Blocks,
        &[
            "budget win-demo/hello-win (minAvailable 1): 2 pods on this node, 1 disruption allowed now (2 of 2 healthy, 1 needed)",
            "2 of them fit on no other node",
        ],
    );
    scene.lab.stop().await;
}

/// Public report 31 before it happens: the server's own answer, and nothing is changed by asking.
#[tokio::test]
async fn evictions_are_tried_without_effect() {
    let scene = Scene::begins().await;
    scene.budget(2).await;
    let found = scene
        .preflight(&Intent {
            dry_run: true,
            ..intent(WINDOWS_NODE)
        })
        .await;
    says(&found, Weight::Blocks, &["minAvailable 2", "can never allow"]);
    says(
        &found,
        Weight::Blocks,
        &[
            "win-demo/hello-win-759c899954-tkfg6, win-demo/hello-win-759c899954-tq5nc",
            "disruption budget hello-win",
        ],
    );
    let pods = scene.get("/api/v1/namespaces/win-demo/pods").await;
    let pods = pods["items"].as_array().unwrap();
    assert_eq!(pods.len(), 7);
    assert!(
        pods.iter()
            .all(|pod| pod["metadata"]["deletionTimestamp"].is_null())
    );
    let node = scene.get(&format!("/api/v1/nodes/{WINDOWS_NODE}")).await;
    assert!(node["spec"]["unschedulable"].is_null());
    scene.lab.stop().await;
}

#[tokio::test]
async fn missing_rights_are_named_before_anything_begins() {
    let scene = Scene::begins().await;
    let client = client(&scene.lab.api().kubeconfig(User::FewRights), REQUEST_TIMEOUT).await;
    let found = survey(client, REQUEST_TIMEOUT, &intent(WINDOWS_NODE))
        .await
        .unwrap();
    says(
        &found,
        Weight::Refuses,
        &["you may not create pods/eviction in namespace win-demo"],
    );
    says(
        &found,
        Weight::Refuses,
        &["you may not patch nodes k8s-lab-win-1"],
    );
    says(
        &found,
        Weight::Refuses,
        &["you may not create leases in namespace kube-system"],
    );
    for unknown in ["disruption budgets", "RuntimeClasses", "node ports"] {
        says(&found, Weight::Warning, &[unknown, "could not be judged", "403"]);
    }
    scene.lab.stop().await;
}

#[tokio::test]
async fn a_node_that_is_not_there_is_refused() {
    let scene = Scene::begins().await;
    let found = scene.preflight(&intent("k8s-lab-win-9")).await;
    says(&found, Weight::Refuses, &["there is no node k8s-lab-win-9"]);
    scene.lab.stop().await;
}
