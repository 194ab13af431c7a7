//! `metrics.k8s.io`, through the API server.

use super::peer::{Peer, eventually, items, names};
use drainboard::domain::quantity::Quantity;
use serde_json::{Value, json};

const METRICS: &str = "/apis/metrics.k8s.io/v1beta1";

fn amount(usage: &Value, of: &str) -> f64 {
    usage[of]
        .as_str()
        .unwrap()
        .parse::<Quantity>()
        .unwrap()
        .fraction()
}

fn measured(item: &Value, kind: &str) {
    assert_eq!(item["kind"], kind);
    assert_eq!(item["apiVersion"], "metrics.k8s.io/v1beta1");
    let text = |field: &str| item[field].as_str().unwrap();
    chrono::DateTime::parse_from_rfc3339(text("timestamp")).unwrap();
    assert!(text("window").ends_with('s'), "{item}");
}

pub async fn nodes_and_pods_have_usages(peer: &Peer) {
    // An aggregated API is there when the API server has found out that it answers.
    let nodes = eventually(|| async {
        let answer = peer.get(&format!("{METRICS}/nodes")).await;
        if answer.code == 200 {
            Ok(answer.json())
        } else {
            Err(format!("{}: {}", answer.code, answer.text))
        }
    })
    .await;
    assert_eq!(nodes["kind"], "NodeMetricsList");
    assert_eq!(items(&nodes).len(), 4);
    for node in items(&nodes) {
        measured(node, "NodeMetrics");
        assert!(amount(&node["usage"], "memory") > 0.0, "{node}");
        assert!(amount(&node["usage"], "cpu") > 0.0, "{node}");
    }
    let one = peer.get(&format!("{METRICS}/nodes/k8s-lab-win-1")).await.json();
    measured(&one, "NodeMetrics");

    let hello = eventually(|| async {
        let path =
            format!("{METRICS}/namespaces/win-demo/pods?labelSelector=app.kubernetes.io/name%3Dhello-win");
        let pods = peer.get(&path).await.json();
        if items(&pods).len() == 2 {
            Ok(pods)
        } else {
            Err(format!("metrics of {:?}", names(&pods)))
        }
    })
    .await;
    assert_eq!(hello["kind"], "PodMetricsList");
    for pod in items(&hello) {
        measured(pod, "PodMetrics");
        assert_eq!(pod["metadata"]["namespace"], "win-demo");
        let container = &pod["containers"][0];
        assert_eq!(container["name"], "hello");
        // The article: top 41, exporter 42. kubectl cuts off what is no whole MiB.
        let mebibytes = (amount(&container["usage"], "memory") / 1_048_576.0).floor();
        assert!((mebibytes - 41.0).abs() < 0.1, "{container}");
        amount(&container["usage"], "cpu");
    }
}

pub async fn an_unknown_node_has_none(peer: &Peer) {
    let answer = peer.get(&format!("{METRICS}/nodes/gone")).await;
    let (code, reason, _) = answer.refusal();
    assert_eq!((code, reason.as_str()), (404, "NotFound"));
    assert_eq!(answer.details()["name"], json!("gone"));
}

pub async fn a_metrics_server_that_is_off_is_unavailable(peer: &Peer) {
    // First the connection is refused, then the API server knows that the service is not there: both are 503.
    let answer = peer.get(&format!("{METRICS}/nodes")).await;
    assert_eq!(answer.code, 503, "{}", answer.text);
}
