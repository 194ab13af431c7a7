//! Node lifecycle: a node whose Lease is not renewed becomes Unknown; a cordon becomes a taint.

use super::action::Action;
use super::snapshot::Snapshot;
use crate::domain::Timestamp;
use crate::lab::client::{Merge, ObjectPath};
use crate::lab::text::api_time;
use crate::lab::timings::Timings;
use chrono::DateTime;
use k8s_openapi::api::core::v1::{Node, Taint};
use serde_json::{Value, json};

const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Conditions to turn Unknown, and taints to set and take away.
pub fn decide(snapshot: &Snapshot, timings: Timings, now: Timestamp) -> Vec<Action> {
    let mut actions = Vec::new();
    for node in &snapshot.nodes {
        let Some(name) = node.metadata.name.as_deref() else {
            continue;
        };
        let mut ready = ready_status(node).unwrap_or("Unknown").to_owned();
        if ready != "Unknown" && silent(name, snapshot, timings, now) {
            "Unknown".clone_into(&mut ready);
            actions.push(lost(name, now));
        }
        actions.extend(taints(node, name, &ready, now));
    }
    actions
}

fn ready_status(node: &Node) -> Option<&str> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")
        .map(|condition| condition.status.as_str())
}

/// Whether the node's Lease is older than the grace period. A node without Lease is new.
fn silent(name: &str, snapshot: &Snapshot, timings: Timings, now: Timestamp) -> bool {
    let renewed = snapshot
        .leases
        .iter()
        .find(|lease| {
            lease.metadata.name.as_deref() == Some(name)
                && lease.metadata.namespace.as_deref() == Some("kube-node-lease")
        })
        .and_then(|lease| lease.spec.as_ref()?.renew_time.as_ref())
        .and_then(|time| DateTime::from_timestamp_micros(time.0.as_microsecond()));
    renewed.is_some_and(|renewed| {
        (now - renewed)
            .to_std()
            .is_ok_and(|age| age > timings.node_monitor_grace())
    })
}

fn lost(name: &str, now: Timestamp) -> Action {
    let conditions: Vec<_> = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"]
        .into_iter()
        .map(|kind| {
            json!({
                "type": kind,
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": api_time(now),
            })
        })
        .collect();
    Action::Status(
        ObjectPath::node(name),
        Merge::Strategic,
        json!({"conditions": conditions}),
    )
}

fn taints(node: &Node, name: &str, ready: &str, now: Timestamp) -> Option<Action> {
    let spec = node.spec.clone().unwrap_or_default();
    let has = spec.taints.unwrap_or_default();
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    if spec.unschedulable == Some(true) {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let reason = match ready {
        "True" => None,
        "False" => Some(NOT_READY),
        _ => Some(UNREACHABLE),
    };
    if let Some(key) = reason {
        wanted.extend([(key, "NoSchedule"), (key, "NoExecute")]);
    }
    let ours = |taint: &Taint| [UNSCHEDULABLE, UNREACHABLE, NOT_READY].contains(&taint.key.as_str());
    let current: Vec<_> = has
        .iter()
        .filter(|taint| ours(taint))
        .map(|taint| (taint.key.as_str(), taint.effect.as_str()))
        .collect();
    let same = current.len() == wanted.len() && wanted.iter().all(|taint| current.contains(taint));
    (!same).then(|| {
        let kept = has.iter().filter(|taint| !ours(taint)).map(|taint| json!(taint));
        let new = wanted
            .iter()
            .map(|(key, effect)| json!({"key": key, "effect": effect, "timeAdded": api_time(now)}));
        let taints: Vec<Value> = kept.chain(new).collect();
        let change = json!({"spec": {"taints": taints}});
        Action::Patch(ObjectPath::node(name), Merge::Plain, change)
    })
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::article;
    use super::*;
    use chrono::{TimeDelta, Utc};

    #[test]
    fn a_node_that_renews_its_lease_is_left_alone() {
        assert_eq!(decide(&article(), Timings::new(1.0), Utc::now()), []);
    }

    #[test]
    fn a_node_is_ready_for_50_s_after_its_last_renewal_and_unknown_after_that() {
        let snapshot = article();
        let at = |seconds| {
            decide(
                &snapshot,
                Timings::new(1.0),
                Utc::now() + TimeDelta::seconds(seconds),
            )
        };
        assert_eq!(at(49), []);
        let late = at(52);
        assert!(
            late.iter()
                .any(|action| matches!(action, Action::Status(_, _, status)
            if status["conditions"][0]["status"] == "Unknown"))
        );
        assert!(
            late.iter()
                .any(|action| matches!(action, Action::Patch(_, _, change)
            if change.to_string().contains(UNREACHABLE)))
        );
    }

    #[test]
    fn a_cordon_becomes_a_taint_beside_the_nodes_own() {
        let mut snapshot = article();
        let node = snapshot
            .nodes
            .iter_mut()
            .find(|node| node.metadata.name.as_deref() == Some("k8s-lab-win-1"))
            .unwrap();
        node.spec.as_mut().unwrap().unschedulable = Some(true);
        let actions = decide(&snapshot, Timings::new(1.0), Utc::now());
        let [Action::Patch(_, _, change)] = actions.as_slice() else {
            panic!("{actions:?}");
        };
        let keys: Vec<_> = change["spec"]["taints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|taint| taint["key"].as_str().unwrap())
            .collect();
        assert_eq!(keys, ["os", UNSCHEDULABLE]);
    }
}
