//! Status of Deployments, DaemonSets and `StatefulSets`.

use super::action::Action;
use super::replicas::count;
use super::snapshot::{Snapshot, active, controller_uid, ready};
use crate::lab::client::{Merge, ObjectPath};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Statuses that are not what the pods say.
pub fn decide(snapshot: &Snapshot) -> Vec<Action> {
    let mut actions = Vec::new();
    for deployment in &snapshot.deployments {
        let sets = snapshot
            .replica_sets
            .iter()
            .filter(|set| controller_uid(&set.metadata) == deployment.metadata.uid.as_deref());
        let pods: Vec<_> = sets
            .filter_map(|set| set.metadata.uid.as_deref())
            .flat_map(|uid| snapshot.owned_by(uid))
            .filter(|pod| active(pod))
            .collect();
        let wanted = deployment.spec.replicas.unwrap_or(1);
        let ready = ready_of(&pods);
        let available = if ready >= wanted { "True" } else { "False" };
        let status = json!({
            "replicas": count(pods.len()),
            "updatedReplicas": count(pods.len()),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "unavailableReplicas": (wanted - ready).max(0),
            "observedGeneration": deployment.metadata.generation,
            "conditions": [{
                "type": "Available",
                "status": available,
                "reason": if ready >= wanted { "MinimumReplicasAvailable" } else { "MinimumReplicasUnavailable" },
                "message": format!("Deployment has {ready} of {wanted} replicas available."),
            }],
        });
        actions.extend(changed(
            "deployments",
            &deployment.metadata,
            &json!(deployment.status),
            status,
        ));
    }
    for set in &snapshot.daemon_sets {
        let pods = pods_of(snapshot, &set.metadata);
        let selector = set
            .spec
            .template
            .spec
            .as_ref()
            .and_then(|spec| spec.node_selector.clone())
            .unwrap_or_default();
        let desired = count(
            snapshot
                .nodes
                .iter()
                .filter(|node| carries(node, &selector))
                .count(),
        );
        let ready = ready_of(&pods);
        let status = json!({
            "desiredNumberScheduled": desired,
            "currentNumberScheduled": count(pods.len()),
            "updatedNumberScheduled": count(pods.len()),
            "numberMisscheduled": 0,
            "numberReady": ready,
            "numberAvailable": ready,
            "numberUnavailable": (desired - ready).max(0),
            "observedGeneration": set.metadata.generation,
        });
        actions.extend(changed("daemonsets", &set.metadata, &json!(set.status), status));
    }
    for set in &snapshot.stateful_sets {
        let pods = pods_of(snapshot, &set.metadata);
        let ready = ready_of(&pods);
        let status = json!({
            "replicas": count(pods.len()),
            "currentReplicas": count(pods.len()),
            "updatedReplicas": count(pods.len()),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": set.metadata.generation,
        });
        actions.extend(changed("statefulsets", &set.metadata, &json!(set.status), status));
    }
    actions
}

fn pods_of<'a>(snapshot: &'a Snapshot, owner: &'a ObjectMeta) -> Vec<&'a Pod> {
    let uid = owner.uid.as_deref().unwrap_or_default();
    snapshot.owned_by(uid).filter(|pod| active(pod)).collect()
}

fn ready_of(pods: &[&Pod]) -> i32 {
    count(pods.iter().filter(|pod| ready(pod)).count())
}

/// Whether the node carries all these labels.
pub fn carries(node: &Node, selector: &BTreeMap<String, String>) -> bool {
    selector.iter().all(|(key, value)| {
        node.metadata
            .labels
            .as_ref()
            .and_then(|labels| labels.get(key))
            .is_some_and(|has| has == value)
    })
}

/// A write, if one of the fields is not as wanted yet. Zero and absent are one in these statuses.
fn changed(plural: &'static str, metadata: &ObjectMeta, has: &Value, wants: Value) -> Option<Action> {
    let wanted = wants.as_object()?;
    let same = wanted.iter().all(|(field, value)| {
        let current = has.get(field).filter(|current| !current.is_null());
        match current {
            Some(current) => contains(current, value),
            None => value == &json!(0),
        }
    });
    (!same).then(|| {
        let path = ObjectPath::namespaced(
            "/apis/apps/v1",
            plural,
            metadata.namespace.as_deref().unwrap_or_default(),
            metadata.name.as_deref().unwrap_or_default(),
        );
        Action::Status(path, Merge::Plain, wants)
    })
}

/// Whether `part` is in `whole`, objects compared by the fields of `part`.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|has| contains(has, value))),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(has, value)| contains(has, value))
        }
        _ => whole == part,
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::article;
    use super::*;

    fn status_of(snapshot: &Snapshot, name: &str) -> Value {
        decide(snapshot)
            .into_iter()
            .find_map(|action| match action {
                Action::Status(path, _, status) if path.to_string().ends_with(name) => Some(status),
                _ => None,
            })
            .unwrap()
    }

    #[test]
    fn daemonsets_want_a_pod_on_each_node_of_their_system() {
        let snapshot = article();
        let linux = status_of(&snapshot, "/csi-smb-node");
        assert_eq!(
            (&linux["desiredNumberScheduled"], &linux["numberReady"]),
            (&json!(3), &json!(3))
        );
        let windows = status_of(&snapshot, "/csi-smb-node-win");
        assert_eq!(windows["desiredNumberScheduled"], 1);
    }

    #[test]
    fn a_deployment_with_an_unready_pod_is_not_available() {
        let mut snapshot = article();
        for pod in &mut snapshot.pods {
            if pod.metadata.name.as_deref() == Some("hello-win-759c899954-tkfg6") {
                pod.status = None;
            }
        }
        let status = status_of(&snapshot, "/hello-win");
        assert_eq!(status["readyReplicas"], 1);
        assert_eq!(status["conditions"][0]["status"], "False");
    }
}
