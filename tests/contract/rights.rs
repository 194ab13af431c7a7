//! Users who may not.

use super::peer::{Peer, ask, get, refusal};
use http::Method;
use serde_json::json;

pub async fn a_wrong_token_is_not_authorized(peer: &Peer) {
    for path in [
        "/api/v1/nodes",
        "/apis/metrics.k8s.io/v1beta1/nodes",
        "/version",
        "/nowhere",
    ] {
        let answer = get(&peer.stranger, path).await;
        assert_eq!(
            answer.refusal(),
            refusal(401, "Unauthorized", "Unauthorized"),
            "{path}"
        );
    }
}

pub async fn a_user_with_few_rights_is_told_what_he_lacks(peer: &Peer) {
    let user = peer.limited_name;
    let pods = get(&peer.limited, "/api/v1/namespaces/win-demo/pods")
        .await
        .json();
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(7));
    for (method, path, told, details) in [
        (
            Method::GET,
            "/api/v1/nodes",
            "nodes is forbidden: User \"USER\" cannot list resource \"nodes\" in API group \"\" at the cluster scope",
            json!({ "kind": "nodes" }),
        ),
        (
            Method::GET,
            "/api/v1/pods",
            "pods is forbidden: User \"USER\" cannot list resource \"pods\" in API group \"\" at the cluster scope",
            json!({ "kind": "pods" }),
        ),
        (
            Method::GET,
            "/api/v1/nodes?watch=true",
            "nodes is forbidden: User \"USER\" cannot watch resource \"nodes\" in API group \"\" at the cluster scope",
            json!({ "kind": "nodes" }),
        ),
        (
            Method::GET,
            "/apis/coordination.k8s.io/v1/leases",
            "leases.coordination.k8s.io is forbidden: User \"USER\" cannot list resource \"leases\" in API group \
             \"coordination.k8s.io\" at the cluster scope",
            json!({ "group": "coordination.k8s.io", "kind": "leases" }),
        ),
        (
            Method::DELETE,
            "/api/v1/namespaces/win-demo/pods/a",
            "pods \"a\" is forbidden: User \"USER\" cannot delete resource \"pods\" in API group \"\" in the namespace \
             \"win-demo\"",
            json!({ "name": "a", "kind": "pods" }),
        ),
        (
            Method::POST,
            "/api/v1/namespaces/win-demo/pods/a/eviction",
            "pods \"a\" is forbidden: User \"USER\" cannot create resource \"pods/eviction\" in API group \"\" in the \
             namespace \"win-demo\"",
            json!({ "name": "a", "kind": "pods" }),
        ),
        (
            Method::GET,
            "/apis/metrics.k8s.io/v1beta1/nodes",
            "nodes.metrics.k8s.io is forbidden: User \"USER\" cannot list resource \"nodes\" in API group \
             \"metrics.k8s.io\" at the cluster scope",
            json!({ "group": "metrics.k8s.io", "kind": "nodes" }),
        ),
        (
            Method::GET,
            "/api/v1/namespaces/monitoring/services/kps-prometheus:http-web/proxy/api/v1/query",
            "services \"kps-prometheus:http-web\" is forbidden: User \"USER\" cannot get resource \"services/proxy\" in \
             API group \"\" in the namespace \"monitoring\"",
            json!({ "name": "kps-prometheus:http-web", "kind": "services" }),
        ),
    ] {
        let answer = ask(&peer.limited, method, path, &[], Vec::new()).await;
        assert_eq!(
            answer.refusal(),
            refusal(403, "Forbidden", &told.replace("USER", user))
        );
        assert_eq!(answer.details(), details, "{path}");
    }
}
