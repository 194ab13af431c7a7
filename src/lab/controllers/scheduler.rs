//! The scheduler: node selector, cordon, taints, readiness; the node with the fewest pods wins. A pod that fits
//! nowhere gets the condition and the event that the real one writes.

use super::action::Action;
use super::snapshot::{Snapshot, finished};
use super::workloads::carries;
use crate::domain::Timestamp;
use crate::lab::client::{Merge, ObjectPath};
use crate::lab::text::{api_time, hex64};
use k8s_openapi::api::core::v1::{Node, Pod, PodSpec, Taint, Toleration};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bindings for pods that fit, and the news for those that do not.
pub fn decide(snapshot: &Snapshot, now: Timestamp) -> Vec<Action> {
    let mut load = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| !finished(pod)) {
        if let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) {
            *load.entry(node).or_insert(0_usize) += 1;
        }
    }
    let mut actions = Vec::new();
    for pod in &snapshot.pods {
        let Some(spec) = pod.spec.as_ref().filter(|spec| is_ours(pod, spec)) else {
            continue;
        };
        let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
        let mut best: Option<(&str, usize)> = None;
        for node in &snapshot.nodes {
            let name = node.metadata.name.as_deref().unwrap_or_default();
            if let Some(reason) = refusal(node, spec) {
                *refusals.entry(reason).or_insert(0) += 1;
                continue;
            }
            let pods = load.get(name).copied().unwrap_or(0);
            if best.is_none_or(|(_, fewest)| pods < fewest) {
                best = Some((name, pods));
            }
        }
        match best {
            Some((node, pods)) => {
                load.insert(node, pods + 1);
                actions.extend(bind(pod, node, now).into_iter().flatten());
            }
            None => actions.extend(
                unschedulable(pod, &refusals, snapshot.nodes.len(), now)
                    .into_iter()
                    .flatten(),
            ),
        }
    }
    actions
}

fn is_ours(pod: &Pod, spec: &PodSpec) -> bool {
    let scheduler = spec.scheduler_name.as_deref().unwrap_or("default-scheduler");
    spec.node_name.is_none() && pod.metadata.deletion_timestamp.is_none() && scheduler == "default-scheduler"
}

/// Why the node does not take the pod, in the words of the real scheduler.
fn refusal(node: &Node, spec: &PodSpec) -> Option<String> {
    let node_spec = node.spec.clone().unwrap_or_default();
    let tolerations = spec.tolerations.clone().unwrap_or_default();
    if node_spec.unschedulable == Some(true) {
        let cordon = Taint {
            key: "node.kubernetes.io/unschedulable".to_owned(),
            effect: "NoSchedule".to_owned(),
            ..Taint::default()
        };
        if !tolerates(&tolerations, &cordon) {
            return Some("node(s) were unschedulable".to_owned());
        }
    }
    if !carries(node, &spec.node_selector.clone().unwrap_or_default()) {
        return Some("node(s) didn't match Pod's node affinity/selector".to_owned());
    }
    node_spec
        .taints
        .iter()
        .flatten()
        .filter(|taint| taint.effect != "PreferNoSchedule")
        .find(|taint| !tolerates(&tolerations, taint))
        .map(|taint| {
            let value = taint.value.as_deref().unwrap_or_default();
            format!("node(s) had untolerated taint {{{}: {value}}}", taint.key)
        })
}

fn tolerates(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|toleration| {
        let effect = toleration.effect.as_deref().unwrap_or_default();
        let key = toleration.key.as_deref().unwrap_or_default();
        let exists = toleration.operator.as_deref() == Some("Exists");
        (effect.is_empty() || effect == taint.effect)
            && (key == taint.key || (key.is_empty() && exists))
            && (exists
                || toleration.value.as_deref().unwrap_or_default()
                    == taint.value.as_deref().unwrap_or_default())
    })
}

fn bind(pod: &Pod, node: &str, now: Timestamp) -> Option<[Action; 2]> {
    let namespace = pod.metadata.namespace.clone()?;
    let name = pod.metadata.name.clone()?;
    let text = format!("Successfully assigned {namespace}/{name} to {node}");
    Some([
        Action::Bind {
            namespace,
            name,
            node: node.to_owned(),
        },
        Action::Create(event(pod, "Normal", "Scheduled", &text, now)),
    ])
}

fn unschedulable(
    pod: &Pod,
    refusals: &BTreeMap<String, usize>,
    nodes: usize,
    now: Timestamp,
) -> Option<[Action; 2]> {
    let mut reasons: Vec<_> = refusals
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    reasons.sort_unstable();
    let message = format!(
        "0/{nodes} nodes are available: {}. no new claims to deallocate, preemption: 0/{nodes} nodes are available: \
         {nodes} Preemption is not helpful for scheduling.",
        reasons.join(", ")
    );
    if told(pod).is_some_and(|told| told == message) {
        return None;
    }
    let path = ObjectPath::pod(pod.metadata.namespace.as_deref()?, pod.metadata.name.as_deref()?);
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        "lastTransitionTime": api_time(now),
    });
    Some([
        Action::Status(path, Merge::Plain, json!({"conditions": [condition]})),
        Action::Create(event(pod, "Warning", "FailedScheduling", &message, now)),
    ])
}

/// The message of the condition that was written last.
fn told(pod: &Pod) -> Option<&str> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions
        .iter()
        .find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")?
        .message
        .as_deref()
}

fn event(pod: &Pod, kind: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    let meta = &pod.metadata;
    let name = meta.name.as_deref().unwrap_or_default();
    let seed = format!("{name}{reason}{message}{now}");
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {
            "namespace": meta.namespace,
            "name": format!("{name}.{}", hex64(&seed).get(..16).unwrap_or_default()),
        },
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod",
            "namespace": meta.namespace, "name": name, "uid": meta.uid,
        },
        "type": kind, "reason": reason, "message": message, "count": 1,
        "firstTimestamp": api_time(now), "lastTimestamp": api_time(now),
        "source": {"component": "default-scheduler"},
        "reportingComponent": "default-scheduler",
    })
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::article;
    use super::*;
    use crate::lab::article::WINDOWS_NODE;
    use chrono::Utc;

    /// The first pod of hello-win without its node, as a replacement is created.
    fn with_waiting_pod() -> Snapshot {
        let mut snapshot = article();
        let pod = snapshot
            .pods
            .iter_mut()
            .find(|pod| pod.metadata.name.as_deref() == Some("hello-win-759c899954-tkfg6"))
            .unwrap();
        let spec = pod.spec.as_mut().unwrap();
        spec.node_name = None;
        spec.node_selector = Some(
            [
                ("kubernetes.io/os", "windows"),
                ("node.kubernetes.io/windows-build", "10.0.26100"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        );
        spec.tolerations = Some(vec![Toleration {
            key: Some("os".to_owned()),
            value: Some("windows".to_owned()),
            effect: Some("NoSchedule".to_owned()),
            ..Toleration::default()
        }]);
        snapshot
    }

    fn windows_node(snapshot: &mut Snapshot) -> &mut Node {
        snapshot
            .nodes
            .iter_mut()
            .find(|node| node.metadata.name.as_deref() == Some(WINDOWS_NODE))
            .unwrap()
    }

    #[test]
    fn a_windows_pod_goes_to_the_windows_node() {
        let actions = decide(&with_waiting_pod(), Utc::now());
        assert!(matches!(&actions[0], Action::Bind { node, .. } if node == WINDOWS_NODE));
    }

    #[test]
    fn while_the_only_windows_node_is_cordoned_the_pod_waits_and_says_why_once() {
        let mut snapshot = with_waiting_pod();
        windows_node(&mut snapshot).spec.as_mut().unwrap().unschedulable = Some(true);
        let actions = decide(&snapshot, Utc::now());
        let [Action::Status(_, _, status), Action::Create(event)] = actions.as_slice() else {
            panic!("{actions:?}");
        };
        let message = event["message"].as_str().unwrap();
        assert!(
            message.starts_with(
                "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match Pod's node \
                 affinity/selector."
            ),
            "{message}"
        );
        let pod = snapshot
            .pods
            .iter_mut()
            .find(|pod| pod.metadata.name.as_deref() == Some("hello-win-759c899954-tkfg6"))
            .unwrap();
        pod.status = serde_json::from_value(status.clone()).unwrap();
        assert_eq!(decide(&snapshot, Utc::now()), []);
    }

    #[test]
    fn without_its_toleration_the_pod_is_told_about_the_taint() {
        let mut snapshot = with_waiting_pod();
        for pod in &mut snapshot.pods {
            pod.spec.as_mut().unwrap().tolerations = None;
        }
        let actions = decide(&snapshot, Utc::now());
        assert!(
            actions.iter().any(|action| matches!(action, Action::Create(event)
                if event["message"].as_str().unwrap().contains("untolerated taint {os: windows}"))),
            "{actions:?}"
        );
    }
}
