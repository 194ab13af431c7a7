//! Cordon and uncordon.

use super::peer::{Peer, eventually, refusal};
use serde_json::{Value, json};

const NODE: &str = "/api/v1/nodes/k8s-lab-win-1";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

fn taints(node: &Value) -> Vec<String> {
    let mut taints: Vec<String> = node["spec"]["taints"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|taint| {
            let text = |field: &str| taint[field].as_str().unwrap_or_default();
            format!("{}={}:{}", text("key"), text("value"), text("effect"))
        })
        .collect();
    taints.sort_unstable();
    taints
}

async fn until_tainted(peer: &Peer, expected: &[&str]) -> Value {
    eventually(|| async {
        let node = peer.get(NODE).await.json();
        let found = taints(&node);
        if found == expected {
            Ok(node)
        } else {
            Err(format!("taints {found:?}, expected {expected:?}"))
        }
    })
    .await
}

pub async fn a_cordoned_node_is_marked_and_tainted(peer: &Peer) {
    let before = peer.get(NODE).await.json();
    assert_eq!(taints(&before), ["os=windows:NoSchedule"]);

    let cordon = json!({ "spec": { "unschedulable": true } });
    let dry = peer.patch(&format!("{NODE}?dryRun=All"), &cordon).await.json();
    assert_eq!(dry["spec"]["unschedulable"], true);
    assert!(peer.get(NODE).await.json()["spec"].get("unschedulable").is_none());

    let answer = peer.patch(NODE, &cordon).await.json();
    assert_eq!(answer["spec"]["unschedulable"], true);
    assert_ne!(
        answer["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    let node = until_tainted(
        peer,
        &[
            "node.kubernetes.io/unschedulable=:NoSchedule",
            "os=windows:NoSchedule",
        ],
    )
    .await;
    let taint = node["spec"]["taints"]
        .as_array()
        .unwrap()
        .iter()
        .find(|taint| taint["key"] == "node.kubernetes.io/unschedulable")
        .unwrap();
    assert!(taint["timeAdded"].is_string(), "{taint}");
    let table = peer.get_as(TABLE, NODE).await.json();
    assert_eq!(table["rows"][0]["cells"][1], "Ready,SchedulingDisabled");

    // kubectl sends false, kube sends null: both leave no trace.
    for uncordon in [json!(false), Value::Null] {
        peer.patch(NODE, &cordon).await.json();
        let patch = json!({ "spec": { "unschedulable": uncordon } });
        let answer = peer.patch(NODE, &patch).await.json();
        assert!(
            answer["spec"].get("unschedulable").is_none(),
            "{}",
            answer["spec"]
        );
    }
    until_tainted(peer, &["os=windows:NoSchedule"]).await;
}

/// The managers of `spec.unschedulable`.
fn cordoned_by(node: &Value) -> Vec<&str> {
    let entries = node["metadata"]["managedFields"].as_array();
    entries
        .into_iter()
        .flatten()
        .filter(|entry| entry["fieldsV1"]["f:spec"]["f:unschedulable"].is_object())
        .filter_map(|entry| entry["manager"].as_str())
        .collect()
}

pub async fn whoever_changed_a_field_last_is_its_manager(peer: &Peer) {
    let change = |manager: &'static str, on: Value| async move {
        let patch = json!({ "spec": { "unschedulable": on } });
        peer.patch(&format!("{NODE}?fieldManager={manager}"), &patch)
            .await
            .json()
    };
    let node = change("drainboard", json!(true)).await;
    assert_eq!(cordoned_by(&node), ["drainboard"]);
    let node = change("kubectl", json!(true)).await;
    assert_eq!(cordoned_by(&node), ["drainboard"], "it was set to what it was");
    let node = change("kubectl", Value::Null).await;
    assert!(cordoned_by(&node).is_empty());
    let node = change("kubectl", json!(true)).await;
    assert_eq!(cordoned_by(&node), ["kubectl"]);
    change("kubectl", Value::Null).await;
    until_tainted(peer, &["os=windows:NoSchedule"]).await;
}

pub async fn a_patch_for_another_node_or_version_changes_nothing(peer: &Peer) {
    let patch = json!({ "metadata": { "uid": "another" }, "spec": { "unschedulable": true } });
    let answer = peer.patch(NODE, &patch).await;
    assert_eq!(
        answer.refusal(),
        refusal(
            422,
            "Invalid",
            "Node \"k8s-lab-win-1\" is invalid: metadata.uid: Invalid value: \"another\": field is immutable"
        )
    );
    let patch = json!({ "metadata": { "uid": "another", "resourceVersion": "1" }, "spec": { "unschedulable": true } });
    let answer = peer.patch(NODE, &patch).await;
    assert_eq!(answer.code, 409, "{}", answer.text);
    assert!(peer.get(NODE).await.json()["spec"].get("unschedulable").is_none());
}
