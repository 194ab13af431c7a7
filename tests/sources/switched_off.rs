//! What measures is switched off in turn: nothing becomes zero, and the reason names the source and the way out.

use crate::desk::{ABSENT, Desk, WIN, article, is_absent};
use axum::Router;
use axum::body::Body;
use axum::http::Request as HttpRequest;
use axum::response::IntoResponse;
use axum::routing::get;
use chrono::{TimeDelta, Utc};
use drainboard::domain::reading::Source;
use drainboard::lab::embedded::Switch;
use drainboard::lab::metrics_api;
use drainboard::sources::event::Request;
use drainboard::store::view::{TableKind, TableQuery};
use drainboard::tui::Pane;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

const NODES: TableKind = TableKind::Nodes;
const PODS: TableKind = TableKind::Pods;

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_off_hands_over_to_the_exporter_and_both_off_leave_a_reason() {
    let lab = article().await;
    let mut desk = Desk::at(&lab).await;

    lab.set(Switch::Prometheus, false);
    desk.asks(Request::Refresh);
    desk.sees("that Prometheus is down and the exporter stands in", |desk| {
        desk.badge(Source::Prometheus).glyph == "✖" && desk.badge(Source::Exporter).glyph == "●"
    })
    .await;
    assert!(desk.cell(NODES, WIN, "commit").contains("31 %"));
    assert!(desk.problem(Source::Prometheus).contains('→'));
    assert!(desk.frame(&Pane::Nodes).contains("Prometheus ✖"));
    assert_eq!(
        desk.windows_node().await["commit_bytes"]["source"],
        "windows_exporter"
    );

    lab.set(Switch::Exporter, false);
    desk.asks(Request::Refresh);
    desk.sees("that the exporter is down, too", |desk| {
        desk.badge(Source::Exporter).glyph == "✖"
    })
    .await;
    assert!(desk.problem(Source::Exporter).contains('→'));
    // What was measured stays with its age, and looks old in time.
    let later = Utc::now() + TimeDelta::minutes(10);
    let last = desk
        .store
        .node_facts(later)
        .into_iter()
        .find(|node| &*node.name == WIN);
    let commit = last.unwrap().commit;
    assert!(commit.is_stale(later) && commit.value().is_some(), "{commit:?}");
    desk.leaves().await;

    // A program that starts now has never seen it.
    let mut desk = Desk::with(lab.kubeconfig()).await;
    desk.sees("both failures, the pods, and what metrics.k8s.io tells", |desk| {
        desk.badge(Source::Prometheus).glyph == "✖"
            && desk.badge(Source::Exporter).glyph == "✖"
            && desk.cell(PODS, "hello-win", "ws") == "41Mi"
            && desk.cell(NODES, WIN, "ws") != ABSENT
    })
    .await;
    let reason = desk.commit_reason();
    assert!(
        reason.contains("windows_exporter") && reason.contains('→'),
        "{reason}"
    );
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    desk.expects_absent_to_be_absent(PODS, "commit", "0%");
    assert!(
        desk.summary(NODES).contains("commit – (0 of 1)"),
        "{}",
        desk.summary(NODES)
    );

    let node = desk.windows_node().await;
    for field in ["commit_bytes", "commit_limit_bytes", "commit_ratio"] {
        is_absent(&node, field, &["windows_exporter", "→"]);
    }
    is_absent(&node["services"], "kubelet", &["windows_exporter", "→"]);
    assert_eq!(node["cpu_percent"]["source"], "metrics.k8s.io");
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exporter_off_is_a_dead_target_of_prometheus_too() {
    let lab = article().await;
    let mut desk = Desk::at(&lab).await;
    lab.set(Switch::Exporter, false);
    desk.asks(Request::Refresh);
    // Prometheus marks the series of a target that it cannot scrape as ended with its next scrape.
    desk.sees("that the figures of the dead target are gone, and why", |desk| {
        desk.cell(NODES, WIN, "commit") == ABSENT && desk.badge(Source::Exporter).glyph == "✖"
    })
    .await;
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    let reason = desk.commit_reason();
    assert!(reason.contains("kps-prometheus-windows-exporter"), "{reason}");
    assert!(
        desk.problem(Source::Exporter)
            .contains("kps-prometheus-windows-exporter")
    );
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_k8s_io_off_takes_what_only_it_knows() {
    let lab = article().await;
    let mut desk = Desk::at(&lab).await;
    lab.set(Switch::MetricsApi, false);
    desk.asks(Request::Refresh);
    desk.sees("that metrics-server is down", |desk| {
        desk.badge(Source::MetricsApi).glyph == "✖"
    })
    .await;
    assert!(
        desk.problem(Source::MetricsApi)
            .contains("kubectl get apiservice")
    );
    assert!(desk.frame(&Pane::Nodes).contains("metrics ✖"));

    // A program that starts now has never heard it.
    let mut late = Desk::with(lab.kubeconfig()).await;
    late.sees("the rest of the figures", |desk| {
        desk.cell(NODES, WIN, "commit").contains("31 %")
            && desk.cell(PODS, "hello-win", "ws") == "42Mi"
            && desk.badge(Source::MetricsApi).glyph == "✖"
    })
    .await;
    late.expects_absent_to_be_absent(NODES, "ws", "0Mi");
    late.expects_absent_to_be_absent(NODES, "cpu", "0%");
    late.expects_absent_to_be_absent(PODS, "ws", "0Mi");
    late.expects_absent_to_be_absent(PODS, "cpu", "0%");
    assert!(
        late.summary(NODES).contains("working set – (0 of 4)"),
        "{}",
        late.summary(NODES)
    );

    let nodes = late.items("nodes").await;
    for node in &nodes {
        is_absent(node, "working_set_bytes", &["metrics.k8s.io", "→"]);
    }
    let pods = late.items("pods").await;
    let linux = pods
        .iter()
        .find(|pod| pod["os"] == "linux" && pod["phase"] == "Running");
    let container = &linux.unwrap()["containers"][0];
    is_absent(container, "cpu_cores", &["metrics.k8s.io", "→"]);
    is_absent(container, "commit_bytes", &["not on this operating system"]);
    desk.leaves().await;
    late.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_node_without_a_value_makes_the_sum_three_of_four() {
    let lab = article().await;
    let real = metrics_api::router(lab.world().clone());
    let without_one = Router::new().fallback(get(move |request: HttpRequest<Body>| {
        let real = real.clone();
        async move {
            let answer = real.oneshot(request).await.into_response();
            let bytes = answer.into_body().collect().await.unwrap().to_bytes();
            let mut list: Value = serde_json::from_slice(&bytes).unwrap();
            if let Some(items) = list["items"].as_array_mut() {
                items.retain(|item| item["metadata"]["name"] != "k8s-lab-node-2");
            }
            axum::Json(list)
        }
    }));
    lab.api()
        .aggregated()
        .register(metrics_api::GROUP, metrics_api::VERSION, without_one);
    let mut desk = Desk::at(&lab).await;
    assert_eq!(desk.cell(NODES, "k8s-lab-node-2", "ws"), ABSENT);
    assert_ne!(desk.cell(NODES, "k8s-lab-node-1", "ws"), ABSENT);
    desk.expects_absent_to_be_absent(NODES, "ws", "1Gi");
    desk.expects_absent_to_be_absent(NODES, "cpu", "3%");
    assert!(
        desk.summary(NODES).contains("(3 of 4)"),
        "{}",
        desk.summary(NODES)
    );
    let above = TableQuery {
        filter: "ws>=1Mi".to_owned(),
        ..TableQuery::default()
    };
    assert_eq!(desk.names(NODES, &above).len(), 3, "what is there does match");
    let nodes = desk.items("nodes").await;
    let lacking = nodes
        .iter()
        .find(|node| node["name"] == "k8s-lab-node-2")
        .unwrap();
    is_absent(lacking, "working_set_bytes", &["no sample"]);
    desk.leaves().await;
    lab.stop().await;
}
