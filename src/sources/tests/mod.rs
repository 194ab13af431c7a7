//! Stories: given this API server, when this happens, the operator sees that.

mod bad_days;
mod credentials;
mod fake_api;
mod lab;
mod operator;
mod watching;

use serde_json::{Value, json};

/// A running pod with one container.
fn pod(namespace: &str, name: &str) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-of-{name}"),
            "creationTimestamp": "2026-11-30T08:00:00Z"},
        "spec": {"nodeName": "k8s-lab-win-1", "containers": [{"name": "main", "image": "example/main:1"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": "2026-11-30T08:00:05Z"}}}]},
    })
}

fn node(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "uid": format!("uid-of-{name}"), "labels": {"kubernetes.io/os": "windows"}},
        "status": {"addresses": [{"type": "InternalIP", "address": "192.168.10.31"}],
            "images": [
                {"names": ["example/web@sha256:1", "example/web:1.3"], "sizeBytes": 1024},
            ]},
    })
}
