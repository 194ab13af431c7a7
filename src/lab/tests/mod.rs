//! Stories of the embedded lab, told by a client of its API server.

use super::article::WINDOWS_NODE;
use super::embedded::{Lab, LabOptions, Switch, client_of};
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::time::Duration;

mod bad_luck;
mod loki;
mod restarts;
mod verbs;

/// Much faster than the article, so that a story takes seconds.
const SPEED: f64 = 50.0;
/// A busy machine is slow, not broken.
const PATIENCE: Duration = Duration::from_mins(2);

async fn lab() -> (Lab, Client) {
    lab_at(SPEED).await
}

async fn lab_at(speed: f64) -> (Lab, Client) {
    let lab = Lab::start(LabOptions {
        speed,
        ..LabOptions::default()
    })
    .await
    .unwrap();
    let client = client_of(lab.kubeconfig()).await.unwrap();
    (lab, client)
}

/// Waits until `condition` holds of the pods of a namespace.
async fn until(client: &Client, namespace: &str, what: &str, condition: impl Fn(&[Pod]) -> bool) -> Vec<Pod> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let waited = async {
        loop {
            let all = pods.list(&ListParams::default()).await.unwrap().items;
            if condition(&all) {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("it never came to: {what}"))
}

fn name(pod: &Pod) -> &str {
    pod.metadata.name.as_deref().unwrap()
}

fn ready(pod: &Pod) -> bool {
    super::controllers::ready(pod)
}

fn waits_for_a_node(pod: &Pod) -> bool {
    pod.spec.as_ref().unwrap().node_name.is_none()
        && pod
            .status
            .as_ref()
            .and_then(|status| status.conditions.as_ref())
            .is_some_and(|all| {
                all.iter()
                    .any(|condition| condition.reason.as_deref() == Some("Unschedulable"))
            })
}

async fn cordon(client: &Client, on: bool) {
    let nodes: Api<Node> = Api::all(client.clone());
    let change = json!({"spec": {"unschedulable": on}});
    nodes
        .patch(WINDOWS_NODE, &PatchParams::default(), &Patch::Merge(change))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_seven_pods_of_a_drained_node_wait_as_pending_and_are_ready_again_after_uncordon() {
    let (lab, client) = lab().await;
    let before = until(&client, "win-demo", "seven ready pods", |pods| {
        pods.len() == 7 && pods.iter().all(ready)
    })
    .await;
    let old: Vec<_> = before.iter().map(|pod| name(pod).to_owned()).collect();
    assert!(old.contains(&"hello-win-759c899954-tkfg6".to_owned()));
    assert!(old.contains(&"hello-win-759c899954-tq5nc".to_owned()));

    cordon(&client, true).await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), "win-demo");
    for pod in &old {
        pods.evict(pod, &kube::api::EvictParams::default()).await.unwrap();
    }
    until(&client, "win-demo", "seven new pods without a node", |pods| {
        pods.len() == 7
            && pods
                .iter()
                .all(|pod| waits_for_a_node(pod) && !old.iter().any(|old| old == name(pod)))
    })
    .await;

    cordon(&client, false).await;
    until(&client, "win-demo", "seven ready pods on the node", |pods| {
        pods.len() == 7 && pods.iter().all(ready)
    })
    .await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_hostprocess_pod_is_back_and_ready_under_a_new_name() {
    let (lab, client) = lab().await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), "calico-system");
    pods.delete("calico-node-windows-q54h2", &DeleteParams::default())
        .await
        .unwrap();
    until(
        &client,
        "calico-system",
        "a new calico-node-windows, ready",
        |pods| {
            let windows: Vec<_> = pods
                .iter()
                .filter(|pod| name(pod).starts_with("calico-node-windows-"))
                .collect();
            windows.len() == 1 && ready(windows[0]) && name(windows[0]) != "calico-node-windows-q54h2"
        },
    )
    .await;
    let sets: Api<DaemonSet> = Api::namespaced(client, "calico-system");
    let set = sets.get("calico-node-windows").await.unwrap();
    assert_eq!(set.status.unwrap().desired_number_scheduled, 1);
    lab.stop().await;
}

/// A request to Prometheus through the service proxy: code and body.
async fn ask_prometheus(client: &Client, query: &str) -> Result<Value, kube::Error> {
    let encoded: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
    let path = format!(
        "/api/v1/namespaces/monitoring/services/kps-prometheus:http-web/proxy/api/v1/query?query={encoded}"
    );
    let text = client
        .request_text(http::Request::get(path).body(Vec::new()).unwrap())
        .await?;
    Ok(serde_json::from_str(&text).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_answers_through_the_service_proxy_until_it_is_switched_off() {
    use crate::sources::prometheus::catalogue::{QueryName, query};
    use crate::sources::prometheus::matcher::Matcher;
    let (lab, client) = lab().await;
    let nodes = query(QueryName::Nodes, &Matcher::default()).promql;
    let answer = ask_prometheus(&client, &nodes).await.unwrap();
    assert_eq!(answer["status"], "success");
    let commit = answer["data"]["result"]
        .as_array()
        .unwrap()
        .iter()
        .find(|series| series["metric"]["quantity"] == "commit")
        .unwrap();
    assert_eq!(commit["metric"]["instance"], "192.168.10.25:9182");

    let refused = ask_prometheus(&client, "sum(up)").await;
    assert!(refused.is_err(), "there is no PromQL engine: {refused:?}");

    lab.set(Switch::Prometheus, false);
    assert!(ask_prometheus(&client, &nodes).await.is_err());
    lab.set(Switch::Prometheus, true);
    assert!(ask_prometheus(&client, &nodes).await.is_ok());
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exporter_answers_through_the_pod_proxy_until_it_is_switched_off() {
    let (lab, client) = lab().await;
    let scrape = || {
        let path = "/api/v1/namespaces/monitoring/pods/kps-prometheus-windows-exporter-l45kh:9182/proxy/metrics?collect[]=os";
        client.request_text(http::Request::get(path).body(Vec::new()).unwrap())
    };
    let text = scrape().await.unwrap();
    assert!(
        text.contains(r#"revision="33438""#) && !text.contains("windows_cpu_time_total"),
        "{text}"
    );
    lab.set(Switch::Exporter, false);
    assert!(scrape().await.is_err());
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_metrics_api_reports_41_mib_for_hello_win_and_nothing_for_hostprocess_pods() {
    let (lab, client) = lab().await;
    let get = |path: &'static str| {
        let client = client.clone();
        async move {
            client
                .request::<Value>(http::Request::get(path).body(Vec::new()).unwrap())
                .await
        }
    };
    let path = "/apis/metrics.k8s.io/v1beta1/namespaces/win-demo/pods?labelSelector=app.kubernetes.io/name%3Dhello-win";
    let list = get(path).await.unwrap();
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    for pod in items {
        let memory = pod["containers"][0]["usage"]["memory"].as_str().unwrap();
        let kib: u64 = memory.strip_suffix("Ki").unwrap().parse().unwrap();
        assert_eq!(kib / 1024, 41, "as `kubectl top` cuts it");
    }
    let calico = get("/apis/metrics.k8s.io/v1beta1/namespaces/calico-system/pods/calico-node-windows-q54h2")
        .await
        .unwrap();
    assert_eq!(calico["containers"][0]["usage"]["memory"], "0");
    lab.set(Switch::MetricsApi, false);
    assert!(get("/apis/metrics.k8s.io/v1beta1/nodes").await.is_err());
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_of_hello_win_come_through_the_api_server() {
    let (lab, client) = lab().await;
    let pods: Api<Pod> = Api::namespaced(client, "win-demo");
    let options = kube::api::LogParams {
        tail_lines: Some(3),
        ..kube::api::LogParams::default()
    };
    let text = pods.logs("hello-win-759c899954-tq5nc", &options).await.unwrap();
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        let parsed: Value = serde_json::from_str(line).unwrap();
        assert_eq!(parsed["msg"], "request served");
    }
    lab.stop().await;
}
