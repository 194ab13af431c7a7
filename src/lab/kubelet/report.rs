//! What a pod's kubelet tells: its status to the API server, its running containers to the world.

use super::facts::PodFacts;
use super::life::Life;
use super::progress::Containers;
use super::status::{Addresses, container_id, pod_status, restarts_of};
use crate::domain::Timestamp;
use crate::lab::client::{Merge, ObjectPath};
use crate::lab::world::{RunningContainer, RunningPod};
use std::net::Ipv4Addr;

impl Life {
    /// Reports where the pod stands.
    pub(super) async fn report(&self) {
        let facts = self.facts();
        let machine = self.machine();
        let running = match self.progress.containers {
            Containers::Running { since, .. } => Some(since),
            Containers::Creating
            | Containers::Dead
            | Containers::Ended
            | Containers::Completed
            | Containers::BackOff { .. } => None,
        };
        match (running, self.address) {
            (Some(since), Some(address)) => self.means.world.started(self.running(&facts, since, address)),
            _ => self.stop_containers(),
        }
        let has_sandbox = !matches!(self.progress.containers, Containers::Creating | Containers::Dead);
        let is_told = has_sandbox || facts.host_network;
        let addresses = Addresses {
            host: machine.address,
            pod: self.address.filter(|_| is_told),
        };
        let status = pod_status(&facts, self.progress, addresses);
        let client = &self.means.client;
        let path = path(&facts);
        self.means
            .until_done(&facts.name, || client.patch_status(&path, Merge::Plain, &status))
            .await;
    }

    fn running(&self, facts: &PodFacts, started_at: Timestamp, address: Ipv4Addr) -> RunningPod {
        let containers = facts.containers.iter().enumerate().map(|(position, container)| {
            let run = restarts_of(facts, position, self.progress.restarts);
            RunningContainer {
                name: container.name.clone(),
                id: container_id(facts, &container.name, run).into(),
                started_at,
                image: container.image.clone(),
                memory_limit_bytes: container.memory_limit_bytes,
                cpu_limit_millicores: container.cpu_limit_millicores,
            }
        });
        RunningPod {
            namespace: facts.namespace.clone(),
            name: facts.name.clone(),
            uid: facts.uid.clone(),
            node: facts.node.clone(),
            os: self.machine().os,
            app: facts.app.clone(),
            host_process: facts.host_process,
            labels: facts.labels.clone(),
            address,
            claims: facts.claims.clone(),
            containers: containers.collect(),
        }
    }

    /// Its containers run no more.
    pub(super) fn stop_containers(&self) {
        let facts = self.facts();
        self.means
            .world
            .stopped(&facts.namespace, &facts.name, &facts.uid);
    }

    /// It has no sandbox any more.
    pub(super) fn leave_sandbox(&mut self) {
        let address = self.address.take();
        self.free(address);
    }

    /// Gives an address back that was the pod's own.
    pub(super) fn free(&self, address: Option<Ipv4Addr>) {
        if let Some(address) = address
            && !self.facts().host_network
        {
            self.means.world.release_address(address);
        }
    }
}

/// Where the pod's object lives.
pub(super) fn path(facts: &PodFacts) -> ObjectPath {
    ObjectPath::pod(&facts.namespace, &facts.name)
}
