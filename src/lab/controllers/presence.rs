//! DaemonSets and `StatefulSets`: a pod that went away comes back.

use super::action::Action;
use super::replicas::pod_from;
use super::snapshot::{Snapshot, active, finished};
use super::workloads::carries;
use crate::lab::manifest::tolerate_as_daemon;
use k8s_openapi::api::apps::v1::{DaemonSet, StatefulSet};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

/// Pods to create.
pub fn decide(snapshot: &Snapshot) -> Vec<Action> {
    let daemons = snapshot.daemon_sets.iter().flat_map(|set| daemons(set, snapshot));
    let members = snapshot
        .stateful_sets
        .iter()
        .flat_map(|set| members(set, snapshot));
    daemons.chain(members).collect()
}

/// One pod for each node of the set's system that has none, not even one that is still stopping. The real
/// controller leaves the binding to the scheduler; the outcome is the same.
fn daemons(set: &DaemonSet, snapshot: &Snapshot) -> Vec<Action> {
    let selector = set
        .spec
        .template
        .spec
        .as_ref()
        .and_then(|spec| spec.node_selector.clone())
        .unwrap_or_default();
    let uid = set.metadata.uid.as_deref().unwrap_or_default();
    let present: Vec<_> = snapshot
        .owned_by(uid)
        .filter(|pod| !finished(pod))
        .filter_map(node_of)
        .collect();
    snapshot
        .nodes
        .iter()
        .filter(|node| carries(node, &selector))
        .filter_map(|node| node.metadata.name.as_deref())
        .filter(|name| !present.contains(name))
        .filter_map(|name| {
            let mut pod = pod_from("DaemonSet", &set.metadata, &set.spec.template)?;
            pod["spec"]["nodeName"] = name.into();
            tolerate_as_daemon(&mut pod["spec"]);
            Some(Action::Create(pod))
        })
        .collect()
}

/// The members whose name is free.
fn members(set: &StatefulSet, snapshot: &Snapshot) -> Vec<Action> {
    let Some(name) = set.metadata.name.as_deref() else {
        return Vec::new();
    };
    let uid = set.metadata.uid.as_deref().unwrap_or_default();
    let spec = &set.spec;
    let taken: Vec<_> = snapshot
        .owned_by(uid)
        .filter(|pod| active(pod) || pod.metadata.deletion_timestamp.is_some())
        .filter_map(|pod| pod.metadata.name.as_deref())
        .collect();
    (0..spec.replicas.unwrap_or(1))
        .map(|ordinal| format!("{name}-{ordinal}"))
        .filter(|member| !taken.contains(&member.as_str()))
        .filter_map(|member| {
            let mut pod: Value = pod_from("StatefulSet", &set.metadata, &spec.template)?;
            pod["metadata"]["name"] = member.as_str().into();
            pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = json!(member);
            Some(Action::Create(pod))
        })
        .collect()
}

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::article;
    use super::*;

    fn without(name: &str) -> Snapshot {
        let mut snapshot = article();
        snapshot
            .pods
            .retain(|pod| pod.metadata.name.as_deref() != Some(name));
        snapshot
    }

    fn created(snapshot: &Snapshot) -> Value {
        let mut actions = decide(snapshot);
        assert_eq!(actions.len(), 1, "{actions:?}");
        match actions.pop() {
            Some(Action::Create(pod)) => pod,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_articles_cluster_is_complete() {
        assert_eq!(decide(&article()), []);
    }

    #[test]
    fn a_deleted_calico_pod_comes_back_on_its_node_though_that_is_cordoned() {
        let pod = created(&without("calico-node-windows-q54h2"));
        assert_eq!(pod["spec"]["nodeName"], "k8s-lab-win-1");
        assert!(
            pod["spec"]["tolerations"]
                .to_string()
                .contains("node.kubernetes.io/unschedulable")
        );
    }

    #[test]
    fn prometheus_comes_back_under_its_name() {
        let pod = created(&without("prometheus-kps-prometheus-0"));
        assert_eq!(pod["metadata"]["name"], "prometheus-kps-prometheus-0");
        assert!(pod["spec"].get("nodeName").is_none(), "the scheduler binds it");
    }
}
