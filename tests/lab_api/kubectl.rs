//! A real `kubectl` against the embedded API server: `DRAINBOARD_KUBECTL`, or the first one in `PATH`.

use crate::support::{client, node, pod, run_pod, within};
use axum::Router;
use axum::routing::get;
use drainboard::lab::apiserver::{ApiServer, ApiServerOptions, User};
use drainboard::lab::backends::Backends;
use http::header::CONTENT_TYPE;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use std::env;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio::process::Command;

/// `kubectl` with a kubeconfig of the server and a home of its own.
struct Kubectl {
    program: PathBuf,
    home: TempDir,
}

impl Kubectl {
    /// Nothing when this machine has no `kubectl`; the test then says so and checks nothing.
    fn find(server: &ApiServer, user: User) -> Option<Self> {
        let named = env::var_os("DRAINBOARD_KUBECTL").map(PathBuf::from);
        let in_path = || {
            let path = env::var_os("PATH")?;
            env::split_paths(&path)
                .map(|folder| folder.join("kubectl"))
                .find(|program| program.is_file())
        };
        let Some(program) = named.or_else(in_path) else {
            println!("not checked: no kubectl in DRAINBOARD_KUBECTL or PATH");
            return None;
        };
        let home = TempDir::new().unwrap();
        std::fs::write(home.path().join("kubeconfig"), server.kubeconfig(user)).unwrap();
        Some(Self { program, home })
    }

    async fn run(&self, arguments: &str) -> (bool, String, String) {
        let output = Command::new(&self.program)
            .args(arguments.split_whitespace())
            .env("HOME", self.home.path())
            .env("KUBECONFIG", self.home.path().join("kubeconfig"))
            .kill_on_drop(true)
            .output();
        let output = within(&format!("kubectl {arguments}"), output).await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    }

    /// What it prints, with runs of spaces made one, so that column widths do not matter.
    async fn told(&self, arguments: &str) -> String {
        let (success, out, error) = self.run(arguments).await;
        assert!(success, "kubectl {arguments}: {error}");
        let lines = out
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What it says when it fails.
    async fn refused(&self, arguments: &str) -> String {
        let (success, out, error) = self.run(arguments).await;
        assert!(!success, "kubectl {arguments} succeeded: {out}");
        error
    }
}

/// A Windows node with a kubelet, a pod that a `ReplicaSet` owns, and metrics.
async fn cluster() -> (ApiServer, Client) {
    let backends = Backends::default();
    let kubelet = Router::new().route(
        "/containerLogs/{namespace}/{pod}/{container}",
        get(async || "{\"msg\":\"hello from Windows\"}\n"),
    );
    backends.register("192.168.10.25:10250".parse().unwrap(), kubelet);
    let server = ApiServer::start(ApiServerOptions {
        backends,
        ..ApiServerOptions::default()
    })
    .await
    .unwrap();
    server
        .aggregated()
        .register("metrics.k8s.io", "v1beta1", metrics());
    let admin = client(&server, User::Admin).await;
    let mut windows = node("win-1");
    windows
        .labels_mut()
        .insert("node.kubernetes.io/windows-build".into(), "10.0.26100".into());
    let status = windows.status.as_mut().unwrap();
    let resources = json!({ "cpu": "4", "memory": "8Gi", "pods": "110" });
    status.allocatable = serde_json::from_value(resources.clone()).unwrap();
    status.capacity = serde_json::from_value(resources).unwrap();
    Api::<Node>::all(admin.clone())
        .create(&PostParams::default(), &windows)
        .await
        .unwrap();
    let mut hello = pod("hello", Some("win-1"), &json!({ "app": "hello" }));
    let owner = json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "hello", "uid": "1", "controller": true }]);
    hello.metadata.owner_references = serde_json::from_value(owner).unwrap();
    run_pod(&admin, hello, "172.21.41.16").await;
    (server, admin)
}

fn metrics() -> Router {
    let answer = |body: Value| get(async move || ([(CONTENT_TYPE, "application/json")], body.to_string()));
    let base = "/apis/metrics.k8s.io/v1beta1";
    let resource = |name: &str, kind: &str, namespaced: bool| json!({ "name": name, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get", "list"] });
    let list = |kind: &str, item: Value| json!({ "kind": kind, "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [item] });
    let stamp = json!({ "timestamp": "2026-11-07T10:00:00Z", "window": "20s" });
    let with_stamp = |mut item: Value| {
        item["timestamp"] = stamp["timestamp"].clone();
        item["window"] = stamp["window"].clone();
        item
    };
    let of_node =
        with_stamp(json!({ "metadata": { "name": "win-1" }, "usage": { "cpu": "200m", "memory": "2Gi" } }));
    let of_pod = with_stamp(json!({
        "metadata": { "name": "hello", "namespace": "default" },
        "containers": [{ "name": "app", "usage": { "cpu": "0", "memory": "41Mi" } }],
    }));
    Router::new()
        .route(
            base,
            answer(json!({
                "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1",
                "resources": [resource("nodes", "NodeMetrics", false), resource("pods", "PodMetrics", true)],
            })),
        )
        .route(&format!("{base}/nodes"), answer(list("NodeMetricsList", of_node)))
        .route(
            &format!("{base}/namespaces/default/pods"),
            answer(list("PodMetricsList", of_pod)),
        )
}

/// Ends each pod that is marked for deletion, as its kubelet would.
async fn play_kubelet(client: Client) {
    use futures::StreamExt;
    let pods: Api<Pod> = Api::all(client.clone());
    let mut changes = std::pin::pin!(watcher(pods, watcher::Config::default()).applied_objects());
    while let Some(Ok(pod)) = changes.next().await {
        if pod.metadata.deletion_timestamp.is_some() {
            let own: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap());
            own.delete(&pod.name_any(), &DeleteParams::default().grace_period(0))
                .await
                .unwrap();
        }
    }
}

#[tokio::test]
async fn tables_look_as_those_of_a_cluster() {
    let (server, _admin) = cluster().await;
    let Some(kubectl) = Kubectl::find(&server, User::Admin) else {
        return;
    };
    let nodes = kubectl
        .told("get nodes -L kubernetes.io/os,node.kubernetes.io/windows-build")
        .await;
    let (header, row) = nodes.split_once('\n').unwrap();
    assert_eq!(header, "NAME STATUS ROLES AGE VERSION OS WINDOWS-BUILD");
    assert!(
        row.starts_with("win-1 Ready <none> ") && row.ends_with(" v1.37.2 windows 10.0.26100"),
        "{row}"
    );
    let pods = kubectl
        .told("get pods -A -o wide --field-selector spec.nodeName=win-1")
        .await;
    let (header, row) = pods.split_once('\n').unwrap();
    assert_eq!(
        header,
        "NAMESPACE NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES"
    );
    assert!(row.starts_with("default hello 1/1 Running 0 "), "{row}");
    assert!(row.ends_with(" 172.21.41.16 win-1 <none> <none>"), "{row}");
    assert_eq!(
        kubectl
            .told("get node win-1 -o jsonpath={.status.nodeInfo.bootID}")
            .await,
        "11"
    );
}

#[tokio::test]
async fn describe_top_and_logs_answer() {
    let (server, _admin) = cluster().await;
    let Some(kubectl) = Kubectl::find(&server, User::Admin) else {
        return;
    };
    let described = kubectl.told("describe node win-1").await;
    assert!(
        described.contains("Kernel Version: 10.0.26100.33438"),
        "{described}"
    );
    assert!(
        described.contains("Non-terminated Pods: (1 in total)"),
        "{described}"
    );
    assert!(kubectl.told("describe pod hello").await.contains("Node: win-1/"));
    assert_eq!(
        kubectl.told("top pods").await,
        "NAME CPU(cores) MEMORY(bytes)\nhello 0m 41Mi"
    );
    assert!(
        kubectl
            .told("top nodes")
            .await
            .ends_with("win-1 200m 5% 2048Mi 25%")
    );
    assert_eq!(
        kubectl.told("logs hello --tail=1").await,
        "{\"msg\":\"hello from Windows\"}"
    );
}

#[tokio::test]
async fn label_annotate_cordon_and_uncordon_write() {
    let (server, admin) = cluster().await;
    let Some(kubectl) = Kubectl::find(&server, User::Admin) else {
        return;
    };
    assert_eq!(
        kubectl.told("label node win-1 pool=blue").await,
        "node/win-1 labeled"
    );
    assert_eq!(
        kubectl.told("annotate node win-1 note=seen").await,
        "node/win-1 annotated"
    );
    assert_eq!(kubectl.told("cordon win-1").await, "node/win-1 cordoned");
    let nodes: Api<Node> = Api::all(admin);
    let cordoned = nodes.get("win-1").await.unwrap();
    assert_eq!(
        (
            cordoned.labels()["pool"].as_str(),
            cordoned.annotations()["note"].as_str()
        ),
        ("blue", "seen")
    );
    assert_eq!(cordoned.spec.unwrap().unschedulable, Some(true));
    assert_eq!(kubectl.told("uncordon win-1").await, "node/win-1 uncordoned");
}

#[tokio::test]
async fn drain_with_the_articles_flags_empties_the_node() {
    let (server, admin) = cluster().await;
    let Some(kubectl) = Kubectl::find(&server, User::Admin) else {
        return;
    };
    let kubelet = tokio::spawn(play_kubelet(admin.clone()));
    let drained = kubectl
        .told("drain win-1 --ignore-daemonsets --delete-emptydir-data --timeout=10m")
        .await;
    kubelet.abort();
    assert!(
        drained.contains("node/win-1 cordoned") && drained.ends_with("node/win-1 drained"),
        "{drained}"
    );
    assert!(
        Api::<Pod>::default_namespaced(admin)
            .get_opt("hello")
            .await
            .unwrap()
            .is_none()
    );
    let evictions = server
        .audit()
        .entries()
        .into_iter()
        .filter(|one| one.path.ends_with("/pods/hello/eviction"));
    assert_eq!(evictions.count(), 1);
}

#[tokio::test]
async fn drain_waits_for_a_budget_and_gives_up_in_time() {
    let (server, admin) = cluster().await;
    let Some(kubectl) = Kubectl::find(&server, User::Admin) else {
        return;
    };
    let budgets: Api<PodDisruptionBudget> = Api::default_namespaced(admin.clone());
    let budget = json!({ "metadata": { "name": "hello" }, "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "hello" } } } });
    budgets
        .create(&PostParams::default(), &serde_json::from_value(budget).unwrap())
        .await
        .unwrap();
    let status = json!({ "status": { "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0 } });
    budgets
        .patch_status("hello", &PatchParams::default(), &Patch::Merge(&status))
        .await
        .unwrap();
    let refused = kubectl
        .refused("drain win-1 --ignore-daemonsets --delete-emptydir-data --timeout=3s")
        .await;
    assert!(
        refused.contains("Cannot evict pod as it would violate the pod's disruption budget."),
        "{refused}"
    );
    assert!(
        Api::<Pod>::default_namespaced(admin)
            .get("hello")
            .await
            .unwrap()
            .metadata
            .deletion_timestamp
            .is_none()
    );
}

#[tokio::test]
async fn watch_delete_and_rights() {
    let (server, admin) = cluster().await;
    let Some(kubectl) = Kubectl::find(&server, User::Admin) else {
        return;
    };
    let kubelet = tokio::spawn(play_kubelet(admin));
    let (deleted, watched) = tokio::join!(
        kubectl.told("delete pod hello"),
        kubectl.told("wait --for=delete pod/hello --timeout=60s")
    );
    kubelet.abort();
    assert!(deleted.starts_with("pod \"hello\" deleted"), "{deleted}");
    assert!(
        watched.is_empty() || watched == "pod/hello condition met",
        "{watched}"
    );
    assert_eq!(kubectl.told("auth can-i create pods/eviction").await, "yes");
    let Some(reader) = Kubectl::find(&server, User::ReadOnly) else {
        return;
    };
    let refused = reader.refused("label node win-1 pool=blue").await;
    assert!(
        refused.contains("User \"lab-viewer\" cannot patch resource \"nodes\""),
        "{refused}"
    );
    let Some(expired) = Kubectl::find(&server, User::Expired) else {
        return;
    };
    assert!(
        expired
            .refused("get nodes")
            .await
            .contains("You must be logged in to the server")
    );
}
