//! Proxies to services and pods, with and without somebody behind them.

use super::peer::{Peer, names, refusal};
use super::prometheus::PROMETHEUS;
use serde_json::json;

const SERVICES: &str = "/api/v1/namespaces/default/services";

pub async fn a_service_without_endpoints_is_unavailable(peer: &Peer) {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "contract-nobody" },
        "spec": { "selector": { "app": "contract-nobody" }, "ports": [{ "name": "web", "port": 80 }] },
    });
    peer.post(SERVICES, &service).await.json();
    for port in ["web", "80"] {
        let answer = peer
            .get(&format!("{SERVICES}/contract-nobody:{port}/proxy/metrics"))
            .await;
        assert_eq!(
            answer.refusal(),
            refusal(
                503,
                "ServiceUnavailable",
                "no endpoints available for service \"contract-nobody\""
            ),
            "{port}"
        );
    }
    let answer = peer.get(&format!("{SERVICES}/contract-nobody:81/proxy/")).await;
    assert_eq!(
        answer.refusal(),
        refusal(
            503,
            "ServiceUnavailable",
            "no service port 81 found for service \"contract-nobody\""
        )
    );
    peer.delete(&format!("{SERVICES}/contract-nobody")).await.json();
    let answer = peer.get(&format!("{SERVICES}/contract-nobody:80/proxy/")).await;
    assert_eq!(
        answer.refusal(),
        refusal(404, "NotFound", "services \"contract-nobody\" not found")
    );
}

/// The proxy path of the exporter's pod on the Windows node.
async fn exporter(peer: &Peer, port: u16) -> String {
    let pods = peer
        .get(
            "/api/v1/namespaces/monitoring/pods?labelSelector=app.kubernetes.io/name%3Dprometheus-windows-exporter\
             &fieldSelector=spec.nodeName%3Dk8s-lab-win-1",
        )
        .await
        .json();
    let pods = names(&pods);
    assert_eq!(pods.len(), 1, "{pods:?}");
    format!("/api/v1/namespaces/monitoring/pods/{}:{port}/proxy", pods[0])
}

pub async fn the_exporter_is_reached_through_its_pod(peer: &Peer) {
    let exporter = exporter(peer, 9182).await;
    let text = peer.get(&format!("{exporter}/metrics")).await;
    assert_eq!(text.code, 200, "{}", text.text);
    for series in [
        "windows_exporter_build_info{",
        "windows_memory_committed_bytes ",
        "windows_memory_commit_limit ",
        "windows_cpu_time_total{",
        "windows_service_state{",
        "windows_container_memory_usage_commit_bytes{",
    ] {
        assert!(
            text.text.lines().any(|line| line.starts_with(series)),
            "{series} is missing"
        );
    }
    // The query travels with the path.
    let few = peer
        .get(&format!("{exporter}/metrics?collect%5B%5D=memory"))
        .await;
    assert!(few.text.contains("windows_memory_commit_limit "));
    assert!(!few.text.contains("windows_service_state{"));
}

pub async fn a_port_where_nobody_listens_is_refused(peer: &Peer) {
    let nobody = exporter(peer, 9183).await;
    let answer = peer.get(&format!("{nobody}/metrics")).await;
    assert_eq!(
        answer.refusal(),
        refusal(
            503,
            "ServiceUnavailable",
            "error trying to reach service: dial tcp 192.168.10.25:9183: connect: connection refused"
        )
    );
}

pub async fn a_prometheus_that_is_off_is_refused(peer: &Peer) {
    let answer = peer.get(&format!("{PROMETHEUS}/api/v1/status/buildinfo")).await;
    let (code, reason, message) = answer.refusal();
    assert_eq!((code, reason.as_str()), (503, "ServiceUnavailable"));
    assert_eq!(
        message,
        "error trying to reach service: dial tcp 172.21.211.30:9090: connect: connection refused"
    );
}

pub async fn an_exporter_that_is_off_is_refused(peer: &Peer) {
    let exporter = exporter(peer, 9182).await;
    let answer = peer.get(&format!("{exporter}/metrics")).await;
    assert_eq!(
        answer.refusal(),
        refusal(
            503,
            "ServiceUnavailable",
            "error trying to reach service: dial tcp 192.168.10.25:9182: connect: connection refused"
        )
    );
}
