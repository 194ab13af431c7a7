//! Namespaces with their labels, the RuntimeClass, priorities and budgets.

use super::{RUNTIME_CLASS, WINDOWS_BUILD};
use serde_json::{Value, json};

/// Namespaces, with the Pod Security level that the article gives them.
pub fn namespaces() -> Vec<Value> {
    let privileged = json!({"pod-security.kubernetes.io/enforce": "privileged"});
    let namespace = |name: &str, labels: Value| {
        let mut labels = labels;
        labels["kubernetes.io/metadata.name"] = name.into();
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    };
    vec![
        namespace("default", json!({})),
        namespace("kube-system", json!({})),
        namespace("kube-public", json!({})),
        namespace("kube-node-lease", json!({})),
        namespace("calico-system", privileged.clone()),
        namespace("tigera-operator", privileged.clone()),
        namespace("monitoring", privileged),
        namespace("storage-credentials", json!({})),
        namespace(
            "demo",
            json!({"pod-security.kubernetes.io/enforce": "restricted"}),
        ),
        namespace(
            "win-demo",
            json!({"pod-security.kubernetes.io/enforce": "restricted"}),
        ),
    ]
}

/// The account that pods run with when they name none: the API server refuses pods of a namespace without it.
pub fn default_service_account(namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": namespace, "name": "default"}})
}

/// Cluster-wide classes: how Windows pods reach their node, and who goes first.
pub fn classes() -> Vec<Value> {
    let priority = |name: &str, value: u32| {
        json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": name}, "value": value,
        })
    };
    vec![
        json!({
            "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
            "metadata": {"name": RUNTIME_CLASS},
            "handler": "runhcs-wcow-process",
            "scheduling": {
                "nodeSelector": {
                    "kubernetes.io/os": "windows",
                    "kubernetes.io/arch": "amd64",
                    "node.kubernetes.io/windows-build": WINDOWS_BUILD,
                },
                "tolerations": [
                    {"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"},
                ],
            },
        }),
        priority("system-cluster-critical", 2_000_000_000),
        priority("system-node-critical", 2_000_001_000),
    ]
}

/// Budgets: the Linux `hello` keeps one pod; `hello-win` has none, so that its only node can be drained.
pub fn budgets() -> Vec<Value> {
    vec![json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"namespace": "demo", "name": "hello"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "hello"}}},
    })]
}
