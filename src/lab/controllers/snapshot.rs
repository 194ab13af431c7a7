//! What the API holds at one moment, and questions about it.

use crate::lab::client::LabClient;
use crate::lab::error::LabError;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::core::{Selector, SelectorExt};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Everything that the controllers look at.
#[derive(Default)]
pub struct Snapshot {
    pub nodes: Vec<Node>,
    pub pods: Vec<Pod>,
    pub leases: Vec<Lease>,
    pub deployments: Vec<Deployment>,
    pub replica_sets: Vec<ReplicaSet>,
    pub daemon_sets: Vec<DaemonSet>,
    pub stateful_sets: Vec<StatefulSet>,
    pub budgets: Vec<PodDisruptionBudget>,
}

impl Snapshot {
    /// Lists all of it.
    pub async fn take(client: &LabClient) -> Result<Self, LabError> {
        Ok(Self {
            nodes: list(client).await?,
            pods: list(client).await?,
            leases: list(client).await?,
            deployments: list(client).await?,
            replica_sets: list(client).await?,
            daemon_sets: list(client).await?,
            stateful_sets: list(client).await?,
            budgets: list(client).await?,
        })
    }

    /// The pods whose controlling owner has this UID.
    pub fn owned_by<'a>(&'a self, uid: &'a str) -> impl Iterator<Item = &'a Pod> {
        self.pods
            .iter()
            .filter(move |pod| controller_uid(&pod.metadata) == Some(uid))
    }
}

async fn list<K>(client: &LabClient) -> Result<Vec<K>, LabError>
where
    K: Resource + Clone + DeserializeOwned + Debug,
    K::DynamicType: Default,
{
    let plural = K::plural(&K::DynamicType::default()).into_owned();
    Api::<K>::all(client.kube().clone())
        .list(&kube::api::ListParams::default())
        .await
        .map(|list| list.items)
        .map_err(LabError::api("list", plural))
}

/// UID of the controlling owner.
pub fn controller_uid(metadata: &ObjectMeta) -> Option<&str> {
    metadata
        .owner_references
        .iter()
        .flatten()
        .find(|owner| owner.controller == Some(true))
        .map(|owner| owner.uid.as_str())
}

/// Whether a selector picks this object. A selector that makes no sense picks nothing.
pub fn selects(selector: &LabelSelector, metadata: &ObjectMeta) -> bool {
    Selector::try_from(selector.clone()).is_ok_and(|selector| {
        !selector.selects_all() && selector.matches(&metadata.labels.clone().unwrap_or_default())
    })
}

/// Whether the pod is neither finished nor being deleted.
pub fn active(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && !finished(pod)
}

/// Whether all containers ended for good.
pub fn finished(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// Whether condition `Ready` holds.
pub fn ready(pod: &Pod) -> bool {
    pod.status
        .as_ref()
        .and_then(|status| status.conditions.as_ref())
        .is_some_and(|conditions| {
            conditions
                .iter()
                .any(|condition| condition.type_ == "Ready" && condition.status == "True")
        })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lab::article::{machines, policy, workloads};
    use crate::lab::kubelet::node_object::{lease_object, node_object};
    use crate::lab::seed::owner_reference;
    use chrono::Utc;
    use serde_json::{Value, json};

    fn typed<K: DeserializeOwned>(object: &Value) -> K {
        serde_json::from_value(object.clone()).unwrap()
    }

    /// The article's cluster, all pods ready, as the API lists it.
    pub fn article() -> Snapshot {
        let now = Utc::now();
        let mut snapshot = Snapshot::default();
        for machine in machines(now) {
            snapshot.nodes.push(typed(&node_object(&machine, now)));
            snapshot.leases.push(typed(&lease_object(&machine.name, "", now)));
        }
        for budget in policy::budgets() {
            snapshot.budgets.push(typed(&budget));
        }
        for workload in workloads() {
            let mut deployment = workload.deployment_object();
            if let Some(deployment) = &mut deployment {
                deployment["metadata"]["uid"] = format!("deployment/{}", workload.name).into();
                snapshot.deployments.push(typed(deployment));
            }
            let mut controller = workload.controller();
            if let Some(controller) = &mut controller {
                controller["metadata"]["uid"] =
                    format!("controller/{}/{}", workload.namespace, workload.name).into();
                if let Some(deployment) = &deployment {
                    controller["metadata"]["ownerReferences"] = owner_reference(deployment);
                }
                match controller["kind"].as_str().unwrap() {
                    "ReplicaSet" => snapshot.replica_sets.push(typed(controller)),
                    "DaemonSet" => snapshot.daemon_sets.push(typed(controller)),
                    _ => snapshot.stateful_sets.push(typed(controller)),
                }
            }
            for seed in &workload.pods {
                let mut pod = workload.pod_object(seed);
                pod["metadata"]["uid"] = format!("pod/{}", seed.name).into();
                pod["status"] =
                    json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
                if let Some(controller) = &controller {
                    pod["metadata"]["ownerReferences"] = owner_reference(controller);
                }
                snapshot.pods.push(typed(&pod));
            }
        }
        snapshot
    }
}
