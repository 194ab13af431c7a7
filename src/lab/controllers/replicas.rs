//! `ReplicaSets`: as many pods as wanted.

use super::action::Action;
use super::snapshot::{Snapshot, active, ready};
use crate::lab::client::{Merge, ObjectPath};
use crate::lab::seed::owner_reference;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

/// Pods to create and to delete, and the status of each `ReplicaSet`.
pub fn decide(snapshot: &Snapshot) -> Vec<Action> {
    let mut actions = scale_to_deployments(snapshot);
    for set in &snapshot.replica_sets {
        let Some(uid) = set.metadata.uid.as_deref() else {
            continue;
        };
        let wanted = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0);
        let mut pods: Vec<_> = snapshot.owned_by(uid).filter(|pod| active(pod)).collect();
        for _ in pods.len()..wanted {
            actions.extend(new_pod(set));
        }
        // the least useful first, as the real controller prefers: not bound, then not ready
        pods.sort_by_key(|pod| (is_bound(pod), ready(pod)));
        let surplus = pods.len().saturating_sub(wanted);
        for pod in pods.iter().take(surplus) {
            actions.push(Action::DeletePod {
                namespace: pod.metadata.namespace.clone().unwrap_or_default(),
                name: pod.metadata.name.clone().unwrap_or_default(),
                uid: pod.metadata.uid.clone().unwrap_or_default(),
            });
        }
        actions.extend(status(set, &pods));
    }
    actions
}

/// A Deployment that was scaled passes its number on to its one `ReplicaSet`.
fn scale_to_deployments(snapshot: &Snapshot) -> Vec<Action> {
    let scaled = |deployment: &Deployment| -> Option<Action> {
        let wanted = deployment.spec.replicas.unwrap_or(1);
        let uid = deployment.metadata.uid.as_deref()?;
        let set = snapshot
            .replica_sets
            .iter()
            .find(|set| super::snapshot::controller_uid(&set.metadata) == Some(uid))?;
        let has = set.spec.replicas.unwrap_or(1);
        (has != wanted)
            .then(|| Action::Patch(path_of(set), Merge::Plain, json!({"spec": {"replicas": wanted}})))
    };
    snapshot.deployments.iter().filter_map(scaled).collect()
}

fn is_bound(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some())
}

fn path_of(set: &ReplicaSet) -> ObjectPath {
    ObjectPath::namespaced(
        "/apis/apps/v1",
        "replicasets",
        set.metadata.namespace.as_deref().unwrap_or_default(),
        set.metadata.name.as_deref().unwrap_or_default(),
    )
}

fn new_pod(set: &ReplicaSet) -> Option<Action> {
    let template = set.spec.template.as_ref()?;
    pod_from("ReplicaSet", &set.metadata, template).map(Action::Create)
}

/// A pod from the template of a controller, owned by it; its name is the server's choice.
pub fn pod_from(kind: &str, controller: &ObjectMeta, template: &PodTemplateSpec) -> Option<Value> {
    let owner = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": controller});
    let mut metadata: Value = json!({
        "namespace": controller.namespace,
        "generateName": format!("{}-", controller.name.as_deref()?),
        "ownerReferences": owner_reference(&owner),
    });
    if let Some(template) = &template.metadata {
        metadata["labels"] = json!(template.labels);
        if let Some(annotations) = &template.annotations {
            metadata["annotations"] = json!(annotations);
        }
    }
    Some(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.spec}))
}

fn status(set: &ReplicaSet, pods: &[&Pod]) -> Option<Action> {
    let has = set.status.clone().unwrap_or_default();
    let replicas = count(pods.len());
    let ready = count(pods.iter().filter(|pod| ready(pod)).count());
    let same = has.replicas == replicas
        && has.ready_replicas.unwrap_or(0) == ready
        && has.available_replicas.unwrap_or(0) == ready
        && has.observed_generation == set.metadata.generation;
    (!same).then(|| {
        let status = json!({
            "replicas": replicas,
            "fullyLabeledReplicas": replicas,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": set.metadata.generation,
        });
        Action::Status(path_of(set), Merge::Plain, status)
    })
}

/// A number of objects as the API counts.
pub fn count(objects: usize) -> i32 {
    i32::try_from(objects).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::article;
    use super::*;

    fn of_hello_win(pod: &Pod) -> bool {
        pod.metadata
            .name
            .as_deref()
            .is_some_and(|name| name.starts_with("hello-win-"))
    }

    fn created(snapshot: &Snapshot) -> usize {
        let actions = decide(snapshot);
        actions
            .iter()
            .filter(|action| matches!(action, Action::Create(_)))
            .count()
    }

    #[test]
    fn nothing_is_created_or_deleted_in_the_articles_cluster() {
        let actions = decide(&article());
        assert!(
            actions.iter().all(|action| matches!(action, Action::Status(..))),
            "{actions:?}"
        );
    }

    #[test]
    fn an_evicted_pod_is_replaced_as_soon_as_it_is_marked() {
        let mut snapshot = article();
        let pod = snapshot.pods.iter_mut().find(|pod| of_hello_win(pod)).unwrap();
        pod.metadata.deletion_timestamp =
            Some(serde_json::from_value(json!("2026-11-07T10:07:29Z")).unwrap());
        assert_eq!(created(&snapshot), 1);
        let actions = decide(&snapshot);
        let pod = actions
            .iter()
            .find_map(|action| match action {
                Action::Create(pod) => Some(pod),
                _ => None,
            })
            .unwrap();
        assert_eq!(pod["metadata"]["generateName"], "hello-win-759c899954-");
        assert_eq!(pod["metadata"]["labels"]["pod-template-hash"], "759c899954");
    }

    #[test]
    fn scaling_down_takes_the_pod_that_is_not_ready() {
        let mut snapshot = article();
        let set = snapshot
            .replica_sets
            .iter_mut()
            .find(|set| set.metadata.name.as_deref() == Some("hello-win-759c899954"))
            .unwrap();
        set.spec.replicas = Some(1);
        let unready = snapshot
            .pods
            .iter_mut()
            .filter(|pod| of_hello_win(pod))
            .nth(1)
            .unwrap();
        unready.status = None;
        let name = unready.metadata.name.clone().unwrap();
        let deleted: Vec<_> = decide(&snapshot)
            .into_iter()
            .filter_map(|action| match action {
                Action::DeletePod { name, .. } => Some(name),
                _ => None,
            })
            .collect();
        assert_eq!(deleted, [name]);
    }
}
