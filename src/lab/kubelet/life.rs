//! The life of one pod on its node, as a story: accepted, created, running, ready, and when it is deleted,
//! stopped and removed.

use super::facts::PodFacts;
use super::fleet::Past;
use super::plan::{Plan, stopping};
use super::status::{Addresses, Progress, container_id, pod_status, restarts_of};
use crate::domain::Timestamp;
use crate::lab::client::{LabClient, Merge, ObjectPath};
use crate::lab::error::LabError;
use crate::lab::timings::Timings;
use crate::lab::world::{Machine, RunningContainer, RunningPod, World};
use chrono::{TimeDelta, Utc};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// Everything that a pod's life needs.
pub struct Life {
    pub client: LabClient,
    pub world: World,
    pub timings: Timings,
    pub machine: Arc<Machine>,
    /// What the pod was before the lab began, if it was there.
    pub past: Option<Past>,
    /// Bounds the writes of all kubelets together.
    pub writes: Arc<Semaphore>,
}

/// Delay before a write that failed is tried again.
const RETRY: Duration = Duration::from_millis(500);

impl Life {
    /// Lives it until the pod is gone. `pod` follows the object; it closes when the object vanished.
    pub async fn live(self, mut pod: watch::Receiver<PodFacts>) {
        let facts = pod.borrow().clone();
        self.run(&facts, &mut pod).await;
        self.world.stopped(&facts.namespace, &facts.name, &facts.uid);
    }

    async fn run(&self, facts: &PodFacts, pod: &mut watch::Receiver<PodFacts>) {
        if !self.start(facts, pod).await && !self.deleted(pod).await {
            return;
        }
        let stop = stopping(&pod.borrow(), self.machine.os, self.timings);
        tokio::time::sleep(stop).await;
        self.world.stopped(&facts.namespace, &facts.name, &facts.uid);
        self.until_done("delete", facts, || async {
            self.client
                .delete(&path(facts), Some(0), &facts.uid)
                .await
                .map(drop)
        })
        .await;
    }

    /// Brings the containers up. True when the pod was deleted meanwhile.
    async fn start(&self, facts: &PodFacts, pod: &mut watch::Receiver<PodFacts>) -> bool {
        let address = self.address(facts);
        if let Some(past) = self.past {
            let accepted_at = Utc::now() - TimeDelta::minutes(i64::from(past.age_minutes));
            // HostProcess containers restarted with the node
            let running_since = accepted_at.max(if past.restarts > 0 {
                self.machine.booted_at + TimeDelta::seconds(28)
            } else {
                accepted_at
            });
            let progress = Progress {
                accepted_at,
                running_since: Some(running_since),
                ready_since: Some(running_since),
                restarts: past.restarts,
            };
            self.report(facts, progress, address).await;
            return false;
        }
        let plan = Plan::of(facts, self.machine.os, self.timings);
        let mut progress = Progress {
            accepted_at: Utc::now(),
            running_since: None,
            ready_since: None,
            restarts: 0,
        };
        self.report(facts, progress, address).await;
        if self.deleted_within(plan.creation, pod).await {
            return true;
        }
        progress.running_since = Some(Utc::now());
        if !plan.readiness.is_zero() {
            self.report(facts, progress, address).await;
            if self.deleted_within(plan.readiness, pod).await {
                return true;
            }
        }
        progress.ready_since = Some(Utc::now());
        self.report(facts, progress, address).await;
        false
    }

    fn address(&self, facts: &PodFacts) -> Option<Ipv4Addr> {
        if facts.host_network {
            Some(self.machine.address)
        } else if let Some(past) = self.past {
            Some(past.address)
        } else {
            self.world.take_address(&self.machine)
        }
    }

    async fn report(&self, facts: &PodFacts, progress: Progress, address: Option<Ipv4Addr>) {
        if let (Some(since), Some(address)) = (progress.running_since, address) {
            self.world
                .started(self.running(facts, since, address, progress.restarts));
        }
        let addresses = Addresses {
            host: self.machine.address,
            pod: address.filter(|_| progress.running_since.is_some()),
        };
        let status = pod_status(facts, progress, addresses);
        self.until_done("report", facts, || async {
            self.client
                .patch_status(&path(facts), Merge::Plain, &status)
                .await
                .map(drop)
        })
        .await;
    }

    fn running(
        &self,
        facts: &PodFacts,
        started_at: Timestamp,
        address: Ipv4Addr,
        restarts: u32,
    ) -> RunningPod {
        let containers = facts
            .containers
            .iter()
            .enumerate()
            .map(|(position, container)| RunningContainer {
                name: container.name.clone(),
                id: container_id(facts, &container.name, restarts_of(facts, position, restarts)).into(),
                started_at,
                image: container.image.clone(),
                memory_limit_bytes: container.memory_limit_bytes,
                cpu_limit_millicores: container.cpu_limit_millicores,
            });
        RunningPod {
            namespace: facts.namespace.clone(),
            name: facts.name.clone(),
            uid: facts.uid.clone(),
            node: facts.node.clone(),
            os: self.machine.os,
            app: facts.app.clone(),
            host_process: facts.host_process,
            labels: facts.labels.clone(),
            address,
            containers: containers.collect(),
        }
    }

    /// Waits until the pod is marked as deleted. False when it vanished without that.
    async fn deleted(&self, pod: &mut watch::Receiver<PodFacts>) -> bool {
        pod.wait_for(|facts| facts.deletion_grace_seconds.is_some())
            .await
            .is_ok()
    }

    async fn deleted_within(&self, time: Duration, pod: &mut watch::Receiver<PodFacts>) -> bool {
        match tokio::time::timeout(time, self.deleted(pod)).await {
            Ok(true) => true,
            // it vanished: whoever waits for its deletion next learns that
            Ok(false) | Err(_) => false,
        }
    }

    /// Repeats a write until it succeeds or makes no sense any more, as a kubelet syncs a pod again.
    async fn until_done<F>(&self, verb: &str, facts: &PodFacts, mut write: impl FnMut() -> F)
    where
        F: Future<Output = Result<(), LabError>>,
    {
        loop {
            let permit = self.writes.acquire().await;
            let result = write().await;
            drop(permit);
            match result {
                Ok(()) => return,
                // gone, or another pod has the name now
                Err(error) if error.has_status(404) || error.has_status(409) => return,
                Err(error) => {
                    tracing::debug!(pod = %facts.name, %error, "cannot {verb} yet");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }
}

fn path(facts: &PodFacts) -> ObjectPath {
    ObjectPath::pod(&facts.namespace, &facts.name)
}
