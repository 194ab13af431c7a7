//! Puts the article's cluster into an API server.

use super::article::{self, policy, services, storage};
use super::client::{LabClient, Merge, ObjectPath};
use super::error::LabError;
use super::kubelet::{Fleet, Past, Pasts};
use super::manifest::{Workload, WorkloadKind};
use super::text::api_time;
use crate::domain::Timestamp;
use chrono::{TimeDelta, Utc};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

/// Who makes owners of owned objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The seed itself: owners are created first, and their UIDs written into what they own. For a server whose
    /// controllers do not run yet.
    Given,
    /// The cluster's controllers: pods are created before their controllers, which adopt what their selectors
    /// match. For a server with real controllers, which would else create pods of their own at once.
    Adopted,
}

/// How the article's cluster is put into a server.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// Who makes owners.
    pub ownership: Ownership,
    /// Prometheus and kube-state-metrics are left out: the real programs run in this cluster.
    pub real_monitoring: bool,
}

/// Objects that are created at the same time.
const CONCURRENCY: usize = 8;

/// What the article's pods were before the lab began.
pub fn pasts() -> Pasts {
    article::workloads()
        .into_iter()
        .flat_map(|workload| {
            workload.pods.into_iter().map(move |pod| {
                let past = Past {
                    age_minutes: pod.age_minutes,
                    restarts: pod.restarts,
                    address: pod.address,
                };
                ((workload.namespace.into(), pod.name.as_str().into()), past)
            })
        })
        .collect()
}

impl Seed {
    /// Creates everything; nodes are registered by `fleet`.
    pub async fn plant(self, client: &LabClient, fleet: &Fleet) -> Result<(), LabError> {
        let namespaces = policy::namespaces();
        all(namespaces.iter(), |namespace| async move {
            client.ensure(namespace).await?;
            let name = namespace["metadata"]["name"].as_str().unwrap_or_default();
            client.ensure(&policy::default_service_account(name)).await?;
            Ok(())
        })
        .await?;
        let mut small = policy::classes();
        small.extend(policy::budgets());
        small.extend(self.services());
        all(small.iter(), |object| async move {
            client.ensure(object).await.map(drop)
        })
        .await?;
        for object in storage::objects() {
            create_with_status(client, &object).await?;
        }
        fleet.register().await?;
        all(article::machines(Utc::now()).iter(), |machine| async move {
            let node = client.get(&ObjectPath::node(&machine.name)).await?;
            client
                .ensure(&storage::csi_node(&machine.name, uid_of(&node)))
                .await
                .map(drop)
        })
        .await?;
        let workloads: Vec<_> = article::workloads()
            .into_iter()
            .filter(|workload| self.includes(workload.app()))
            .collect();
        match self.ownership {
            Ownership::Given => {
                all(workloads.iter(), |workload| plant_owned(client, workload)).await?;
            }
            Ownership::Adopted => {
                all(workloads.iter(), |workload| plant_pods(client, workload, None)).await?;
                let controllers: Vec<_> = workloads.iter().filter_map(Workload::controller).collect();
                all(controllers.iter(), |object| async move {
                    client.ensure(object).await.map(drop)
                })
                .await?;
                let deployments: Vec<_> = workloads.iter().filter_map(Workload::deployment_object).collect();
                all(deployments.iter(), |object| async move {
                    client.ensure(object).await.map(drop)
                })
                .await?;
            }
        }
        let now = Utc::now();
        for event in events(now) {
            client.ensure(&event).await?;
        }
        Ok(())
    }

    fn includes(self, app: &str) -> bool {
        !(self.real_monitoring && matches!(app, "prometheus" | "kube-state-metrics"))
    }

    /// Services of the article. Behind metrics-server stands the lab itself where the ownership is adopted: that
    /// Service comes with its endpoint.
    fn services(self) -> Vec<Value> {
        services::services(self.ownership == Ownership::Given)
            .into_iter()
            .filter(|(app, _)| self.includes(app))
            .filter(|(app, _)| self.ownership == Ownership::Given || *app != "metrics-server")
            .map(|(_, service)| service)
            .collect()
    }
}

/// Does the same for all items, some of them at a time; the first failure ends it.
pub(super) async fn all<T, F>(
    items: impl Iterator<Item = T>,
    each: impl FnMut(T) -> F,
) -> Result<(), LabError>
where
    F: Future<Output = Result<(), LabError>>,
{
    stream::iter(items)
        .map(each)
        .buffer_unordered(CONCURRENCY)
        .try_collect()
        .await
}

/// Creates an object and then writes its status, which a creation does not store.
async fn create_with_status(client: &LabClient, object: &Value) -> Result<(), LabError> {
    client.ensure(object).await?;
    if let Some(status) = object.get("status") {
        let path = ObjectPath::of(object)?;
        client.patch_status(&path, Merge::Plain, status).await?;
    }
    Ok(())
}

async fn plant_owned(client: &LabClient, workload: &Workload) -> Result<(), LabError> {
    let deployment = match workload.deployment_object() {
        Some(deployment) => Some(client.ensure(&deployment).await?),
        None => None,
    };
    let owner = match workload.controller() {
        Some(mut controller) => {
            if let Some(deployment) = &deployment {
                controller["metadata"]["ownerReferences"] = owner_reference(deployment);
            }
            Some(client.ensure(&controller).await?)
        }
        None => None,
    };
    plant_pods(client, workload, owner.as_ref()).await
}

async fn plant_pods(client: &LabClient, workload: &Workload, owner: Option<&Value>) -> Result<(), LabError> {
    let now = Utc::now();
    for seed in &workload.pods {
        let mut pod = workload.pod_object(seed);
        // A real API server writes its own time; the embedded one keeps a past one.
        let created = now - TimeDelta::minutes(i64::from(seed.age_minutes));
        pod["metadata"]["creationTimestamp"] = json!(api_time(created));
        if let Some(owner) = owner {
            pod["metadata"]["ownerReferences"] = owner_reference(owner);
        } else if workload.kind == WorkloadKind::StaticPod {
            let node = client.get(&ObjectPath::node(seed.node)).await?;
            pod["metadata"]["ownerReferences"] = owner_reference(&node);
        }
        client.ensure(&pod).await?;
    }
    Ok(())
}

/// The list of one controlling owner.
pub fn owner_reference(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    }])
}

fn uid_of(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// Events that are still kept (one hour): what happened when the article's author looked.
fn events(now: Timestamp) -> Vec<Value> {
    let event = |minutes: i64, kind: &str, reason: &str, message: &str, about: Value, count: u32| {
        let name = about["name"].as_str().unwrap_or_default();
        let namespace = about["namespace"].as_str().unwrap_or("default").to_owned();
        let at = api_time(now - TimeDelta::minutes(minutes));
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {
                "namespace": namespace,
                "name": format!("{name}.{}", super::text::hex64(&format!("{name}{reason}{message}")).get(..16).unwrap_or_default()),
            },
            "involvedObject": about,
            "type": kind, "reason": reason, "message": message, "count": count,
            "firstTimestamp": at, "lastTimestamp": at,
            "source": {"component": "kubelet", "host": article::WINDOWS_NODE},
            "reportingComponent": "kubelet",
        })
    };
    let pod = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "namespace": "win-demo", "name": name});
    let mut all = Vec::new();
    for name in ["hello-win-759c899954-tkfg6", "hello-win-759c899954-tq5nc"] {
        for (reason, message) in [
            (
                "Scheduled",
                format!(
                    "Successfully assigned win-demo/{name} to {}",
                    article::WINDOWS_NODE
                ),
            ),
            (
                "Pulled",
                "Container image \"ghcr.io/example/hello:1.3\" already present on machine".to_owned(),
            ),
            ("Created", "Container created".to_owned()),
            ("Started", "Container started".to_owned()),
        ] {
            all.push(event(42, "Normal", reason, &message, pod(name), 1));
        }
    }
    all.push(event(
        41,
        "Warning",
        "Unhealthy",
        "Startup probe failed: Get \"http://172.21.41.18:8080/healthz\": dial tcp 172.21.41.18:8080: connectex: No connection could be made because the target machine actively refused it.",
        pod("hello-win-759c899954-tq5nc"),
        2,
    ));
    all.push(event(
        44,
        "Warning",
        "Unhealthy",
        "Readiness probe failed: Get \"http://172.21.41.21:8080/\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
        pod("aspnetapp-769559d8ff-hd4t6"),
        3,
    ));
    all
}
