//! What happens in the simulated cluster: restarts, network pods, controllers.

use super::objects::{app, condition};
use super::world::{Coming, World};
use crate::domain::Timestamp;
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::pod::Pod;
use crate::maintenance::pods::OwnerKey;
use crate::maintenance::state::Step;
use chrono::TimeDelta;

impl World {
    pub fn pod(&mut self, name: &str) -> &mut Pod {
        self.pods.iter_mut().find(|pod| &*pod.name == name).unwrap()
    }

    pub fn node(&mut self) -> &mut Node {
        self.node.as_mut().unwrap()
    }

    pub fn ready(&mut self, status: ConditionStatus) {
        self.node().conditions = Box::new([condition(status)]);
    }

    pub fn begin_restart(&mut self) {
        if self.coming.is_empty() {
            let after = |seconds| self.at + TimeDelta::seconds(seconds);
            self.coming = vec![(after(10), Coming::Boot), (after(28), Coming::Network)];
        }
    }

    /// The node is back. Its kubelet still shows the old ids of the network containers.
    pub fn boot(&mut self) {
        self.boots += 1;
        let boot_id = self.boots.to_string();
        let kernel = self.next_kernel;
        if let Some(node) = &mut self.node {
            node.boot_id = boot_id.into();
            node.kernel_version = kernel.into();
        }
        if self.node.is_some() {
            self.ready(ConditionStatus::True);
        }
        self.pods.retain(|pod| pod.deleted_at.is_none());
        self.unkillable.clear();
        self.changed();
    }

    /// The network pods of this boot.
    pub fn network_starts(&mut self, run: &str) {
        for pod in &mut self.pods {
            let Some(owner) = pod.owner.clone().filter(|owner| &*owner.kind == "DaemonSet") else {
                continue;
            };
            for (number, container) in pod.containers.iter_mut().enumerate() {
                container.container_id = format!("containerd://{}-{number}-{run}", owner.name).into();
                container.ready = true;
            }
        }
        self.changed();
    }

    pub fn network_pods_ready(&mut self) {
        for container in self
            .pods
            .iter_mut()
            .filter(|pod| pod.host_process)
            .flat_map(|pod| &mut pod.containers)
        {
            container.ready = true;
        }
        self.changed();
    }

    /// Controllers bring back what is missing as soon as the node takes pods; what starts gets ready, what is deleted
    /// goes.
    pub fn settle(&mut self) {
        self.pods
            .retain(|pod| pod.deleted_at.is_none_or(|deleted| deleted >= self.at));
        for pod in &mut self.pods {
            pod.ready = pod.ready_of;
        }
        for budget in &mut self.budgets {
            budget.allowed = 1;
        }
        if self.node.as_ref().is_some_and(|node| !node.unschedulable) {
            for (owner, wanted) in &self.wanted {
                let have = self
                    .pods
                    .iter()
                    .filter(|pod| OwnerKey::of(pod).as_ref() == Some(owner))
                    .count();
                for _ in have..*wanted as usize {
                    self.created += 1;
                    let mut pod = app(&owner.name, 1000 + self.created);
                    pod.ready = 0;
                    self.pods.push(pod);
                }
            }
        }
        self.changed();
    }

    /// A friendly second: everything is answered, observed and goes on; the operator is quick.
    pub fn live(&mut self) {
        self.answer_all();
        self.wait(1000);
        let due = |(at, _): &(Timestamp, Coming)| *at <= self.at;
        let (come, coming): (Vec<_>, Vec<_>) = std::mem::take(&mut self.coming).into_iter().partition(due);
        self.coming = coming;
        for (_, what) in come {
            match what {
                Coming::Boot => self.boot(),
                Coming::Network => self.network_starts(&self.boots.to_string()),
            }
        }
        self.settle();
        self.observe();
        let restarts = self.state.step == Step::Restart && self.options.reboot.is_none();
        if restarts && self.told("awaiting_reboot") {
            self.begin_restart();
        }
    }

    /// A friendly cluster until this holds.
    pub fn live_until(&mut self, holds: impl Fn(&Self) -> bool) -> &mut Self {
        for _ in 0..4000 {
            if holds(self) {
                return self;
            }
            self.live();
        }
        panic!(
            "never: {:?}, waiting for {}",
            self.state.step, self.state.waiting_for
        );
    }

    pub fn live_to(&mut self, step: Step) -> &mut Self {
        self.live_until(|world| world.state.step == step)
    }
}
