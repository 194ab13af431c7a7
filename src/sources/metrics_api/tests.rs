//! Stories: given this metrics API, the operator sees that.

use super::run;
use crate::domain::measurement::{ContainerKey, ContainerQuantity, NodeKey, NodeQuantity, Quantity};
use crate::domain::reading::Source;
use crate::sources::bench::{Bench, Reply, reason};
use crate::sources::event::SourcePhase;
use serde_json::json;

const NODES: &str = "/apis/metrics.k8s.io/v1beta1/nodes";
const PODS: &str = "/apis/metrics.k8s.io/v1beta1/pods";

fn nodes(bench: &Bench) {
    bench.fake.on(NODES, |_| {
        Reply::json(&json!({"kind": "NodeMetricsList", "items": [{
            "metadata": {"name": "k8s-lab-node-1"}, "timestamp": "2026-12-01T04:00:10Z", "window": "20s",
            "usage": {"cpu": "156340127n", "memory": "1893420Ki"}}]}))
    });
}

fn pods(bench: &Bench, path: &str) {
    bench.fake.on(path, |_| {
        Reply::json(&json!({"kind": "PodMetricsList", "items": [{
            "metadata": {"namespace": "win-demo", "name": "hello-win-tkfg6"},
            "timestamp": "2026-12-01T04:00:05Z", "window": "10s",
            "containers": [{"name": "hello-win", "usage": {"cpu": "1m", "memory": "41Mi"}},
                {"name": "odd", "usage": {"cpu": "many", "memory": "1Mi"}}]}]}))
    });
}

async fn bench() -> Bench {
    Bench::new(Source::MetricsApi).await
}

#[tokio::test]
async fn what_kubectl_top_shows_comes_with_the_time_of_its_window() {
    let mut bench = bench().await;
    nodes(&bench);
    pods(&bench, PODS);
    tokio::spawn(run(bench.context.clone(), None));

    let round = bench.round().await;
    let node = |quantity| {
        let one = round.nodes.iter().find(|one| one.quantity == quantity).unwrap();
        assert_eq!(one.node, NodeKey::Name("k8s-lab-node-1".into()));
        (one.sample.value, one.sample.at.to_rfc3339())
    };
    let at = "2026-12-01T04:00:10+00:00".to_owned();
    assert_eq!(node(NodeQuantity::CpuCores), (0.156_340_127, at.clone()));
    assert_eq!(node(NodeQuantity::WorkingSet), (1_893_420.0 * 1024.0, at));
    let hello = ContainerKey::Named {
        namespace: "win-demo".into(),
        pod: "hello-win-tkfg6".into(),
        container: "hello-win".into(),
    };
    let of_hello: Vec<(ContainerQuantity, f64)> = round
        .containers
        .iter()
        .filter(|one| one.container == hello)
        .map(|one| (one.quantity, one.sample.value))
        .collect();
    assert_eq!(
        of_hello,
        [
            (ContainerQuantity::CpuCores, 0.001),
            (ContainerQuantity::WorkingSet, 42_991_616.0)
        ]
    );
    assert_eq!(round.containers.len(), 3, "an amount that is none hides no other");
}

#[tokio::test]
async fn one_namespace_is_asked_for_alone() {
    let mut bench = bench().await;
    nodes(&bench);
    pods(&bench, "/apis/metrics.k8s.io/v1beta1/namespaces/win-demo/pods");
    tokio::spawn(run(bench.context.clone(), Some("win-demo".into())));
    assert!(!bench.round().await.containers.is_empty());
}

#[tokio::test]
async fn a_cluster_without_metrics_server_says_so() {
    let mut bench = bench().await;
    tokio::spawn(run(bench.context.clone(), None));
    let missing = bench.round().await.missing;
    let why = reason(&missing, Quantity::Container(ContainerQuantity::WorkingSet));
    assert!(
        why.starts_with("this cluster has no metrics.k8s.io → install"),
        "{why}"
    );
    let state = bench.state("off", |state| state.phase == SourcePhase::Off).await;
    assert!(
        state
            .last_error
            .unwrap()
            .next_step
            .contains("install metrics-server")
    );
}

#[tokio::test]
async fn a_metrics_server_that_is_down_and_comes_back() {
    let mut bench = bench().await;
    for path in [NODES, PODS] {
        bench
            .fake
            .on(path, |_| Reply::of(503, "text/plain", "service unavailable"));
    }
    tokio::spawn(run(bench.context.clone(), None));
    let state = bench
        .state("failed", |state| state.phase == SourcePhase::Failed)
        .await;
    let problem = state.last_error.unwrap();
    assert!(problem.what.contains("answered 503"), "{}", problem.what);
    assert!(
        problem
            .next_step
            .contains("kubectl get apiservice v1beta1.metrics.k8s.io")
    );

    nodes(&bench);
    pods(&bench, PODS);
    bench.refresh();
    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    assert_eq!(state.last_error, None);
}

#[tokio::test]
async fn who_may_read_nodes_but_not_pods_sees_the_nodes() {
    let mut bench = bench().await;
    nodes(&bench);
    bench.fake.on(PODS, |_| {
        Reply::api_error(403, "pods.metrics.k8s.io is forbidden")
    });
    tokio::spawn(run(bench.context.clone(), None));

    let round = bench.round().await;
    assert!(!round.nodes.is_empty());
    let why = reason(&round.missing, Quantity::Container(ContainerQuantity::CpuCores));
    assert!(why.contains("pods.metrics.k8s.io is forbidden"), "{why}");
    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    let next_step = state.last_error.unwrap().next_step;
    assert!(
        next_step.contains("verb list on pods of group metrics.k8s.io"),
        "{next_step}"
    );
}
