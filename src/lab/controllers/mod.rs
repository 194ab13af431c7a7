//! The few controllers that the embedded cluster needs: scheduler, `ReplicaSets`, status of Deployments,
//! DaemonSets and `StatefulSets`, disruption budgets, node lifecycle. Each is a pure function from what the API
//! holds to what should be written; one task lists, decides and writes whenever something changed.

mod action;
mod budgets;
mod nodes;
mod presence;
mod replicas;
mod scheduler;
mod snapshot;
mod workloads;

use super::client::LabClient;
use super::error::LabError;
use super::timings::Timings;
use action::Action;
use chrono::Utc;
use futures::{StreamExt, stream};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use snapshot::Snapshot;
#[cfg(test)]
pub(super) use snapshot::ready;
use std::fmt::Debug;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// All controllers.
pub struct Controllers {
    client: LabClient,
    timings: Timings,
}

/// Changes that come this close to each other are one.
const SETTLE: Duration = Duration::from_millis(30);
/// Wait after a round that failed.
const RETRY: Duration = Duration::from_millis(500);

impl Controllers {
    /// Controllers that act through `client`.
    pub fn new(client: LabClient, timings: Timings) -> Self {
        Self { client, timings }
    }

    /// Runs them until `cancel` fires.
    pub async fn run(self, cancel: CancellationToken) {
        tokio::select! {
            () = cancel.cancelled() => {}
            () = self.run_forever() => {}
        }
    }

    async fn run_forever(&self) {
        let client = self.client.kube();
        let mut changes = stream::select_all([
            changes_of::<Pod>(client),
            changes_of::<Node>(client),
            changes_of::<ReplicaSet>(client),
            changes_of::<Deployment>(client),
            changes_of::<DaemonSet>(client),
            changes_of::<PodDisruptionBudget>(client),
        ])
        .ready_chunks(1024);
        let mut node_monitor = tokio::time::interval(self.timings.node_monitor_period());
        loop {
            tokio::select! {
                _ = changes.next() => tokio::time::sleep(SETTLE).await,
                _ = node_monitor.tick() => {}
            }
            if let Err(error) = self.round().await {
                tracing::debug!(%error, "the lab's controllers try again");
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Lists, decides, writes; again while it has written something, as one controller's work is another's.
    async fn round(&self) -> Result<(), LabError> {
        loop {
            let snapshot = Snapshot::take(&self.client).await?;
            let now = Utc::now();
            let mut actions = nodes::decide(&snapshot, self.timings, now);
            actions.extend(replicas::decide(&snapshot));
            actions.extend(presence::decide(&snapshot));
            actions.extend(scheduler::decide(&snapshot, now));
            actions.extend(workloads::decide(&snapshot));
            actions.extend(budgets::decide(&snapshot));
            if actions.is_empty() {
                return Ok(());
            }
            for action in actions {
                self.perform(action).await?;
            }
        }
    }

    async fn perform(&self, action: Action) -> Result<(), LabError> {
        match action.perform(&self.client).await {
            // the object changed or went away meanwhile: the next round sees it
            Err(error) if error.has_status(404) || error.has_status(409) => Ok(()),
            other => other,
        }
    }
}

/// A tick for each change of a kind.
fn changes_of<K>(client: &Client) -> stream::BoxStream<'static, ()>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    K::DynamicType: Default + Eq + std::hash::Hash + Clone,
{
    watcher(Api::<K>::all(client.clone()), watcher::Config::default())
        .default_backoff()
        .filter_map(|change| async move { change.is_ok().then_some(()) })
        .boxed()
}
