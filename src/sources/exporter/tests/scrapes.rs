use crate::domain::measurement::{ContainerQuantity, NodeKey, NodeQuantity, Quantity};
use crate::domain::reading::Source;
use crate::sources::bench::{Bench, Fake, Reply, reason};
use crate::sources::event::SourcePhase;
use crate::sources::exporter::run;
use crate::sources::prometheus::health::Health;
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::watch;

const EXPOSITION: &str = include_str!("../../../../tests/data/exposition/0.31.txt");
const METRICS: &str = "/api/v1/namespaces/monitoring/pods/exporter-l45kh:9182/proxy/metrics";

/// The article's exporter: four processors, 5.4 % busy; its counters go on with each scrape.
fn exporter(fake: &Fake) {
    let scrapes = AtomicU32::new(0);
    fake.on(METRICS, move |_| {
        let seconds = f64::from(scrapes.fetch_add(1, Ordering::Relaxed));
        let grown = |start: f64, share: f64| start + seconds * share;
        let text = EXPOSITION
            .replace("} 9460\n", &format!("}} {}\n", grown(9460.0, 0.946)))
            .replace(
                "mode=\"user\"} 200\n",
                &format!("mode=\"user\"}} {}\n", grown(200.0, 0.054)),
            )
            .replace("} 12.5\n", &format!("}} {}\n", grown(12.5, 0.001)));
        Reply::of(
            200,
            "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
            text,
        )
    });
}

fn pod() -> serde_json::Value {
    json!({"metadata": {"namespace": "monitoring", "name": "exporter-l45kh"},
        "spec": {"nodeName": "k8s-lab-win-1", "containers": [{"name": "windows-exporter",
            "ports": [{"containerPort": 9182, "name": "metrics"}]}]},
        "status": {"phase": "Running", "hostIP": "192.168.10.25"}})
}

/// The API server knows the pod by the label of the Helm chart.
fn labelled_pod(fake: &Fake) {
    fake.on("/api/v1/pods", |asked| {
        let charts = asked.parameters["labelSelector"].starts_with("app.kubernetes.io/name in");
        let items = if charts { vec![pod()] } else { Vec::new() };
        Reply::json(&json!({"kind": "PodList", "items": items}))
    });
}

async fn bench() -> Bench {
    Bench::new(Source::Exporter).await
}

fn start(bench: &Bench, health: Health) -> watch::Sender<Health> {
    let sender = watch::Sender::new(health);
    tokio::spawn(run(bench.context.clone(), sender.subscribe()));
    sender
}

fn down() -> Health {
    Health::Down("no service of this cluster looks like a Prometheus".to_owned())
}

fn fresh() -> Health {
    let key = NodeKey::Address("192.168.10.25".parse().unwrap());
    Health::Answering(HashMap::from([(key, chrono::Utc::now())]))
}

#[tokio::test]
async fn without_prometheus_the_exporter_itself_is_asked_and_cpu_is_there_in_the_first_round() {
    let mut bench = bench().await;
    labelled_pod(&bench.fake);
    exporter(&bench.fake);
    let _health = start(&bench, down());

    let round = bench.round().await;
    let node = |quantity| {
        let found = round.nodes.iter().find(|one| one.quantity == quantity);
        found.map(|one| (one.node.clone(), one.sample.value))
    };
    let win_1 = NodeKey::Name("k8s-lab-win-1".into());
    assert_eq!(node(NodeQuantity::Commit), Some((win_1, 5_368_709_120.0)));
    let cpu = node(NodeQuantity::CpuRatio).unwrap().1;
    // 340 privileged seconds stand still, so only idle and user grow.
    assert!((cpu - 0.054).abs() < 1e-6, "{cpu}");
    let cores = round
        .containers
        .iter()
        .find(|one| one.quantity == ContainerQuantity::CpuCores)
        .unwrap();
    assert!((cores.sample.value - 0.001).abs() < 1e-6, "{cores:?}");
    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    assert_eq!(
        state.reached,
        "1 of 1 exporter pods through the API server (version 0.31.8), because no service of this cluster looks \
         like a Prometheus"
    );
}

#[tokio::test]
async fn it_rests_while_prometheus_is_fresh_and_steps_in_when_that_fails() {
    let mut bench = bench().await;
    labelled_pod(&bench.fake);
    exporter(&bench.fake);
    let health = start(&bench, fresh());
    let state = bench.state("off", |state| state.phase == SourcePhase::Off).await;
    assert!(
        state
            .reached
            .starts_with("not needed: Prometheus has fresh samples"),
        "{}",
        state.reached
    );
    assert_eq!(state.last_error, None);

    health.send_replace(down());
    bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;

    health.send_replace(fresh());
    bench.refresh();
    let round = bench
        .until("nothing left of its own", |payload| match payload {
            crate::sources::event::Payload::Measurements(round) if round.nodes.is_empty() => Some(round),
            _ => None,
        })
        .await;
    assert_eq!(round.missing, []);
}

#[tokio::test]
async fn a_node_whose_samples_are_old_in_prometheus_is_scraped() {
    let mut bench = bench().await;
    labelled_pod(&bench.fake);
    exporter(&bench.fake);
    let key = NodeKey::Pod("monitoring".into(), "exporter-l45kh".into());
    let dead = chrono::Utc::now() - chrono::TimeDelta::seconds(200);
    let _health = start(&bench, Health::Answering(HashMap::from([(key, dead)])));
    assert!(!bench.round().await.nodes.is_empty());
}

#[tokio::test]
async fn an_exporter_without_known_labels_is_found_by_its_daemonsets_port() {
    let mut bench = bench().await;
    exporter(&bench.fake);
    bench
        .fake
        .on("/api/v1/pods", |_| Reply::json(&json!({"items": []})));
    bench.fake.on("/apis/apps/v1/daemonsets", |_| {
        Reply::json(
            &json!({"items": [{"metadata": {"namespace": "monitoring", "name": "win-metrics"},
            "spec": {"selector": {"matchLabels": {"k8s-app": "win-metrics"}},
                "template": {"spec": {"containers": [{"ports": [{"containerPort": 9182}]}]}}}}]}),
        )
    });
    bench.fake.on("/api/v1/namespaces/monitoring/pods", |asked| {
        let ours = asked.parameters["labelSelector"] == "k8s-app=win-metrics";
        Reply::json(&json!({"items": if ours { vec![pod()] } else { Vec::new() }}))
    });
    let _health = start(&bench, down());
    assert!(!bench.round().await.nodes.is_empty());
}

#[tokio::test]
async fn no_right_to_use_the_pods_proxy_is_a_reason_at_each_value() {
    let mut bench = bench().await;
    labelled_pod(&bench.fake);
    bench.fake.on(METRICS, |_| {
        Reply::api_error(
            403,
            r#"pods "exporter-l45kh:9182" is forbidden: cannot get resource "pods/proxy""#,
        )
    });
    let _health = start(&bench, down());
    let missing = bench.round().await.missing;
    let why = reason(&missing, Quantity::Node(NodeQuantity::Commit));
    assert!(
        why.contains("answered 403") && why.contains("pods/proxy"),
        "{why}"
    );
    let state = bench
        .state("failed", |state| state.phase == SourcePhase::Failed)
        .await;
    let next_step = state.last_error.unwrap().next_step;
    assert!(next_step.contains("verb get on pods/proxy"), "{next_step}");
}

#[tokio::test]
async fn something_else_on_the_port_is_not_taken_for_an_exporter() {
    let mut bench = bench().await;
    labelled_pod(&bench.fake);
    bench
        .fake
        .on(METRICS, |_| Reply::of(200, "text/plain", "go_goroutines 3\n"));
    let _health = start(&bench, down());
    let state = bench
        .state("failed", |state| state.phase == SourcePhase::Failed)
        .await;
    let what = state.last_error.unwrap().what;
    assert!(what.contains("without a series of windows_exporter"), "{what}");
}

#[tokio::test]
async fn a_cluster_without_exporter_says_how_to_get_one() {
    let mut bench = bench().await;
    for path in ["/api/v1/pods", "/apis/apps/v1/daemonsets"] {
        bench.fake.on(path, |_| Reply::json(&json!({"items": []})));
    }
    let _health = start(&bench, down());
    let missing = bench.round().await.missing;
    assert_eq!(
        reason(&missing, Quantity::Services),
        "no running pod looks like windows_exporter"
    );
    let state = bench.state("off", |state| state.phase == SourcePhase::Off).await;
    assert!(
        state
            .last_error
            .unwrap()
            .next_step
            .contains("windowsMonitoring.enabled=true")
    );
}

#[tokio::test]
async fn a_cluster_without_windows_nodes_lacks_nothing() {
    let mut bench = bench().await;
    for path in ["/api/v1/pods", "/apis/apps/v1/daemonsets", "/api/v1/nodes"] {
        bench.fake.on(path, |_| Reply::json(&json!({"items": []})));
    }
    let _health = start(&bench, down());
    assert_eq!(bench.round().await.missing, []);
    let state = bench.state("off", |state| state.phase == SourcePhase::Off).await;
    assert_eq!(
        (state.reached.as_str(), state.last_error),
        ("this cluster has no Windows node", None)
    );
}
