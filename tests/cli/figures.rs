//! Given the cluster of the article, the operator sees its figures, from whichever source is there.

use crate::operator::{Ended, Operator};
use drainboard::lab::embedded::{Lab, LabOptions, Switch};
use serde_json::{Value, json};

/// The article's cluster, and an operator whose kubeconfig names it.
struct Article {
    lab: Lab,
    operator: Operator,
}

impl Article {
    async fn begin() -> Self {
        let lab = Lab::start(LabOptions::default()).await.unwrap();
        let operator = Operator::new();
        operator.file("config", lab.kubeconfig());
        Self { lab, operator }
    }

    async fn drainboard<const N: usize>(&self, words: [&str; N]) -> Ended {
        let mut all = vec!["--kubeconfig", "config", "--request-timeout", "60s"];
        all.extend(words);
        self.operator.drainboard_with(&all).await
    }

    async fn items(&self, what: &str) -> Vec<Value> {
        let ended = self.drainboard([what, "-o", "json"]).await;
        assert_eq!(ended.code, 0, "{}", ended.err);
        let document: Value = serde_json::from_str(&ended.out).unwrap();
        document["items"].as_array().unwrap().clone()
    }

    async fn windows_node(&self) -> Value {
        let nodes = self.items("nodes").await;
        named(&nodes, "k8s-lab-win-1").clone()
    }

    async fn hello_win(&self) -> Value {
        let pods = self.items("pods").await;
        let pod = pods
            .iter()
            .find(|pod| pod["name"].as_str().unwrap().starts_with("hello-win-"));
        pod.unwrap()["containers"][0].clone()
    }
}

fn named<'a>(items: &'a [Value], name: &str) -> &'a Value {
    items.iter().find(|item| item["name"] == name).unwrap()
}

/// A value of a reading that came from this source, rounded to two decimals.
#[track_caller]
fn value(reading: &Value, source: &str) -> f64 {
    assert_eq!(reading["source"], source, "{reading}");
    (reading["value"].as_f64().unwrap() * 100.0).round() / 100.0
}

const MIB: f64 = 1_048_576.0;

/// A reading in bytes as whole MiB.
#[track_caller]
fn mib(reading: &Value, source: &str) -> f64 {
    assert_eq!(reading["unit"], "bytes", "{reading}");
    (value(reading, source) / MIB).round()
}

/// The figures that a Windows node has from any source that measures it.
#[track_caller]
fn is_the_article_s_node(node: &Value, source: &str) {
    let cpu = value(&node["cpu_percent"], source);
    assert_eq!(format!("{cpu:.1} %"), "5.4 %");
    assert_eq!(value(&node["commit_ratio"], source), 0.31);
    assert_eq!(node["services"]["kubelet"]["value"], "running");
    assert_eq!(node["services"]["containerd"]["value"], "running");
    assert_eq!(node["windows_build"], 26100);
    assert_eq!(node["revision"], 33438);
    assert_eq!(node["boot_id"], "11");
    assert_eq!(
        (&node["ready"], &node["schedulable"]),
        (&json!(true), &json!(true))
    );
}

#[track_caller]
fn is_the_article_s_hello(container: &Value, source: &str) {
    assert_eq!(mib(&container["commit_bytes"], source), 98.0);
    assert_eq!(mib(&container["working_set_bytes"], source), 42.0);
    assert_eq!(value(&container["commit_to_limit"], source), 0.38);
    assert_eq!(container["memory_limit_bytes"], 268_435_456);
    assert_eq!(container["cpu_limit_millicores"], 500);
    assert_eq!(container["cpu_maximum"], 1250);
    assert_eq!(container["cpu_maximum_percent"], 12.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_gives_the_figures_of_the_article() {
    let article = Article::begin().await;
    is_the_article_s_node(&article.windows_node().await, "prometheus");
    is_the_article_s_hello(&article.hello_win().await, "prometheus");
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_prometheus_the_exporter_gives_them() {
    let article = Article::begin().await;
    article.lab.set(Switch::Prometheus, false);
    is_the_article_s_node(&article.windows_node().await, "windows_exporter");
    is_the_article_s_hello(&article.hello_win().await, "windows_exporter");
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_metrics_api_alone_commit_is_absent_and_not_zero() {
    let article = Article::begin().await;
    article.lab.set(Switch::Prometheus, false);
    article.lab.set(Switch::Exporter, false);
    let hello = article.hello_win().await;
    // kubectl top drops what is beyond whole MiB.
    let top = value(&hello["working_set_bytes"], "metrics.k8s.io") / MIB;
    assert_eq!(top.floor(), 41.0);
    for field in ["commit_bytes", "commit_to_limit"] {
        assert!(hello[field]["absent"].is_string(), "{hello}");
        assert_eq!(hello[field]["value"], Value::Null);
    }
    assert_eq!(
        hello["cpu_maximum"], 1250,
        "the API server alone knows the limits"
    );
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nothing_but_the_api_server_everything_measured_is_absent_with_its_reason() {
    let article = Article::begin().await;
    for switch in [Switch::Prometheus, Switch::Exporter, Switch::MetricsApi] {
        article.lab.set(switch, false);
    }
    let node = article.windows_node().await;
    for field in [
        "cpu_percent",
        "commit_bytes",
        "commit_limit_bytes",
        "commit_ratio",
        "working_set_bytes",
    ] {
        assert!(!node[field]["absent"].as_str().unwrap().is_empty(), "{node}");
    }
    assert!(node["services"]["kubelet"]["absent"].is_string(), "{node}");
    assert_eq!(node["revision"], 33438);
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_json_has_the_documented_shape() {
    let article = Article::begin().await;
    let nodes = article.items("nodes").await;
    let pods = article.items("pods").await;
    let hello = pods
        .iter()
        .find(|pod| pod["name"] == "hello-win-759c899954-tq5nc");
    let document = json!({
        "windows node": shape(named(&nodes, "k8s-lab-win-1")),
        "linux node": shape(named(&nodes, "k8s-lab-node-1")),
        "windows pod": shape(hello.unwrap()),
    });
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
    article.lab.stop().await;
}

/// A document with the moving numbers of readings replaced by their type.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("age_seconds") => {
            assert!(fields["age_seconds"].is_u64());
            let kind = if fields["value"].is_string() {
                "word"
            } else {
                "number"
            };
            json!(format!("{kind} in {} from {}", fields["unit"], fields["source"]))
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), shape(value)))
            .collect(),
        Value::Array(items) => items.iter().map(shape).collect(),
        other => other.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_scopes_the_pods() {
    let article = Article::begin().await;
    let ended = article.drainboard(["pods", "-n", "win-demo", "-o", "json"]).await;
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let pods = document["items"].as_array().unwrap();
    assert_eq!(pods.len(), 7);
    assert!(pods.iter().all(|pod| pod["namespace"] == "win-demo"));
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_show_the_same_figures_as_the_json() {
    let article = Article::begin().await;
    let nodes = article.drainboard(["nodes"]).await;
    let line = nodes
        .out
        .lines()
        .find(|line| line.contains("k8s-lab-win-1"))
        .unwrap();
    for word in ["Ready", "26100", "33438", "5.4 %", "31 %"] {
        assert!(line.contains(word), "{word}: {}", nodes.out);
    }
    let pods = article.drainboard(["pods", "-o", "wide"]).await;
    let line = pods.out.lines().find(|line| line.contains("hello-win")).unwrap();
    for word in ["1/1", "Running", "1250", "12.5 %", "38 %", "98Mi", "42Mi"] {
        assert!(line.contains(word), "{word}: {}", pods.out);
    }
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_is_content_with_the_article_s_cluster() {
    let article = Article::begin().await;
    let ended = article.drainboard(["check"]).await;
    assert_eq!(ended.code, 0, "{}", ended.out);
    article.lab.set(Switch::MetricsApi, false);
    let ended = article.drainboard(["check"]).await;
    assert_eq!(ended.code, 1, "{}", ended.out);
    assert!(ended.out.contains("metrics.k8s.io: failed"), "{}", ended.out);
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_has_exactly_its_lines_and_no_escapes() {
    let article = Article::begin().await;
    for (size, height, pane, word) in [
        ("120x40", 40, "nodes", "5.4 %"),
        ("80x24", 24, "pods", "COMMIT ÷ LIMIT"),
        ("60x15", 15, "node/k8s-lab-win-1", "k8s-lab-win-1"),
    ] {
        let ended = article.drainboard(["--snapshot", size, "--pane", pane]).await;
        assert_eq!(ended.code, 0, "{}", ended.err);
        assert_eq!(ended.out.lines().count(), height, "{}", ended.out);
        assert!(!ended.out.contains('\u{1b}'));
        assert!(ended.out.contains(word), "{}", ended.out);
    }
    article.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_needs_no_cluster() {
    let ended = Operator::new()
        .drainboard_with(&["demo", "--snapshot", "120x40", "--request-timeout", "60s"])
        .await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(
        ended.out.contains("DEMO") && ended.out.contains("k8s-lab-win-1"),
        "{}",
        ended.out
    );
}
