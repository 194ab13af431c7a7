//! `metrics.k8s.io/v1beta1` as metrics-server answers it: what `kubectl top` shows.

use super::apiserver::{label_selector, selects};
use super::exporter::who;
use super::figures;
use super::machine::{Machine, Stage};
use super::text::api_time;
use super::world::{RunningPod, World};
use crate::domain::Timestamp;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::sync::Arc;

/// API group.
pub const GROUP: &str = "metrics.k8s.io";
/// Version.
pub const VERSION: &str = "v1beta1";

/// Seconds between two rounds of metrics-server, and the window of its rates.
const RESOLUTION_SECONDS: i64 = 15;

/// The API, with whole paths.
pub fn router(world: World) -> Router {
    Router::new()
        .route("/apis/metrics.k8s.io/v1beta1", get(resources))
        .route("/apis/metrics.k8s.io/v1beta1/nodes", get(nodes))
        .route("/apis/metrics.k8s.io/v1beta1/nodes/{name}", get(node))
        .route("/apis/metrics.k8s.io/v1beta1/pods", get(all_pods))
        .route(
            "/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods",
            get(pods),
        )
        .route(
            "/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods/{name}",
            get(pod),
        )
        .with_state(world)
}

async fn resources() -> Json<Value> {
    let resource = |name: &str, kind: &str, namespaced: bool| json!({"name": name, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get", "list"]});
    Json(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": format!("{GROUP}/{VERSION}"),
        "resources": [resource("nodes", "NodeMetrics", false), resource("pods", "PodMetrics", true)],
    }))
}

/// When metrics-server last asked the kubelets.
fn last_round(now: Timestamp) -> Timestamp {
    let seconds = now.timestamp();
    DateTime::from_timestamp(seconds - seconds.rem_euclid(RESOLUTION_SECONDS), 0).unwrap_or(now)
}

/// CPU as metrics-server writes it. A process that hardly runs does not move the counter of Windows between two
/// rounds: `kubectl top` shows 0m for hello-win.
fn cores(cores: f64) -> String {
    if cores < 0.0005 {
        "0".to_owned()
    } else {
        format!("{:.0}n", cores * 1e9)
    }
}

fn kibibytes(bytes: f64) -> String {
    format!("{:.0}Ki", bytes / 1024.0)
}

fn node_metrics(machine: &Machine, now: Timestamp) -> Value {
    let at = last_round(now);
    let figures = figures::node(machine, at);
    json!({
        "kind": "NodeMetrics", "apiVersion": format!("{GROUP}/{VERSION}"),
        "metadata": {"name": machine.name, "creationTimestamp": api_time(now)},
        "timestamp": api_time(at),
        "window": format!("{RESOLUTION_SECONDS}s"),
        "usage": {
            "cpu": cores(figures.cpu_ratio * f64::from(machine.cpus)),
            "memory": kibibytes(figures.working_set_bytes),
        },
    })
}

fn pod_metrics(pod: &RunningPod, now: Timestamp) -> Value {
    let at = last_round(now);
    let containers = pod.containers.iter().map(|container| {
        // the kubelet's statistics do not see HostProcess containers: zero, which is not a measurement
        let (cpu, memory) = if pod.host_process {
            ("0".to_owned(), "0".to_owned())
        } else {
            let figures = figures::container(who(pod, container), at);
            (cores(figures.cpu_cores), kibibytes(figures.top_working_set_bytes))
        };
        json!({"name": container.name, "usage": {"cpu": cpu, "memory": memory}})
    });
    json!({
        "kind": "PodMetrics", "apiVersion": format!("{GROUP}/{VERSION}"),
        "metadata": {
            "namespace": pod.namespace, "name": pod.name, "labels": *pod.labels,
            "creationTimestamp": api_time(now),
        },
        "timestamp": api_time(at),
        "window": format!("{RESOLUTION_SECONDS}s"),
        "containers": containers.collect::<Vec<_>>(),
    })
}

/// A pod has metrics once it has lived through a round.
fn measured(pod: &RunningPod, now: Timestamp) -> bool {
    let at = last_round(now);
    pod.containers.iter().all(|container| container.started_at <= at)
}

fn list(kind: &str, items: &[Value]) -> Json<Value> {
    Json(json!({
        "kind": kind, "apiVersion": format!("{GROUP}/{VERSION}"), "metadata": {}, "items": items,
    }))
}

fn not_found(resource: &str, name: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotFound", "code": 404,
        "message": format!("{resource}.{GROUP} \"{name}\" not found"),
        "details": {"name": name, "group": GROUP, "kind": resource},
    });
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

/// metrics-server tells of no node whose kubelet does not answer.
fn answers(machine: &Machine) -> bool {
    machine.stage >= Stage::Reporting
}

async fn nodes(State(world): State<World>) -> Json<Value> {
    let now = Utc::now();
    let machines = world.machines();
    let items = machines
        .iter()
        .filter(|machine| answers(machine))
        .map(|machine| node_metrics(machine, now));
    list("NodeMetricsList", &items.collect::<Vec<_>>())
}

async fn node(State(world): State<World>, Path(name): Path<String>) -> Response {
    match world.machine(&name).filter(|machine| answers(machine)) {
        Some(machine) => Json(node_metrics(&machine, Utc::now())).into_response(),
        None => not_found("nodes", &name),
    }
}

async fn all_pods(State(world): State<World>, RawQuery(query): RawQuery) -> Response {
    list_pods(&world, None, query.as_deref())
}

async fn pods(
    State(world): State<World>,
    Path(namespace): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    list_pods(&world, Some(&namespace), query.as_deref())
}

fn list_pods(world: &World, namespace: Option<&str>, query: Option<&str>) -> Response {
    let text = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(key, _)| key == "labelSelector")
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default();
    let selector = match label_selector(&text) {
        Ok(selector) => selector,
        Err(failure) => return failure.into_response(),
    };
    let now = Utc::now();
    let wanted = |pod: &&Arc<RunningPod>| {
        namespace.is_none_or(|namespace| &*pod.namespace == namespace) && measured(pod, now)
    };
    let pods = world.pods();
    let items = pods
        .iter()
        .filter(wanted)
        .map(|pod| pod_metrics(pod, now))
        .filter(|metrics| selects(&selector, metrics));
    list("PodMetricsList", &items.collect::<Vec<_>>()).into_response()
}

async fn pod(State(world): State<World>, Path((namespace, name)): Path<(String, String)>) -> Response {
    let now = Utc::now();
    match world.pod(&namespace, &name).filter(|pod| measured(pod, now)) {
        Some(pod) => Json(pod_metrics(&pod, now)).into_response(),
        None => not_found("pods", &format!("{namespace}/{name}")),
    }
}
