//! The life of one pod on its node, as a story: accepted, created, running, ready, and when it is deleted, stopped and
//! removed. When its machine goes down the containers die, and when the kubelet is back the pod is brought up again.

use super::errand::Errand;
use super::facts::PodFacts;
use super::fleet::Past;
use super::means::Means;
use super::plan::Plan;
use super::progress::{Containers, LastRun, Progress};
use super::recorder::{Recorder, Severity};
use crate::domain::Name;
use crate::domain::object::Os;
use crate::lab::machine::{Machine, Stage};
use chrono::{TimeDelta, Utc};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A pod, and where it stands.
pub struct Life {
    pub(super) means: Means,
    machine: watch::Receiver<Arc<Machine>>,
    pod: watch::Receiver<PodFacts>,
    /// What the pod was before the lab began, if it was there.
    past: Option<Past>,
    /// The boot of the machine in which it lives now.
    boot: Name,
    /// Its sandbox is older than that boot.
    pub(super) survived_boot: bool,
    pub(super) progress: Progress,
    /// `None` while it has no sandbox.
    pub(super) address: Option<Ipv4Addr>,
    pub(super) events: Recorder,
}

/// What ends a wait of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// It was marked as deleted.
    Deleted,
    /// Its object is gone.
    Vanished,
    /// Its machine went down, or is down and up again already.
    Cut,
}

impl Life {
    /// The life of the pod that `pod` follows; it closes when the object vanished.
    pub fn new(
        means: Means,
        machine: watch::Receiver<Arc<Machine>>,
        pod: watch::Receiver<PodFacts>,
        past: Option<Past>,
    ) -> Self {
        let events = Recorder::of_pod(means.clone(), &pod.borrow());
        Self {
            means,
            machine,
            pod,
            past,
            boot: "".into(),
            survived_boot: false,
            progress: Progress::new(Utc::now()),
            address: None,
            events,
        }
    }

    /// Lives it until the pod is gone.
    pub async fn live(mut self) {
        loop {
            let end = match self.kubelet_is_back().await {
                Some(interruption) => interruption,
                None if self.is_deleted() => {
                    // deleted while its machine was down: containerd cleans up at its start
                    self.remove().await;
                    break;
                }
                None => match self.run().await {
                    Interruption::Deleted => self.end().await,
                    other => other,
                },
            };
            if end != Interruption::Cut {
                break;
            }
            self.lose_containers();
        }
        self.stop_containers();
        self.forget_log();
        self.leave_sandbox();
    }

    /// The facts of this moment.
    pub(super) fn facts(&self) -> PodFacts {
        self.pod.borrow().clone()
    }

    /// The machine at this moment.
    pub(super) fn machine(&self) -> Arc<Machine> {
        Arc::clone(&self.machine.borrow())
    }

    fn is_deleted(&self) -> bool {
        self.pod.borrow().deletion_grace_seconds.is_some()
    }

    /// Waits for the kubelet, and notes in which boot that is.
    async fn kubelet_is_back(&mut self) -> Option<Interruption> {
        let Self { machine, pod, .. } = self;
        let runs = machine.wait_for(|machine| machine.stage > Stage::Down);
        let boot = tokio::select! {
            machine = runs => machine.ok().map(|machine| machine.boot.id.clone()),
            () = vanished(pod) => None,
        };
        let Some(boot) = boot else {
            return Some(Interruption::Vanished);
        };
        self.survived_boot = self.address.is_some();
        self.boot = boot;
        None
    }

    /// Brings the containers up and keeps them running until something comes between.
    async fn run(&mut self) -> Interruption {
        if let Some(past) = self.past.take() {
            self.continue_from(past).await;
            return self.interruption().await;
        }
        if self.survived_boot {
            let facts = self.facts();
            if facts.runs_once && self.progress.last_run.is_some() {
                return self.stay_ended().await;
            }
            self.report().await;
            if facts.host_process && !facts.runs_once {
                return self.run_again_with_the_network().await;
            }
            let told = "Pod sandbox changed, it will be killed and re-created.";
            self.events.tell(Severity::Normal, "SandboxChanged", told).await;
        }
        self.run_in_new_sandbox().await
    }

    /// Is what it was before the lab began.
    async fn continue_from(&mut self, past: Past) {
        let facts = self.facts();
        let machine = self.machine();
        let accepted_at = Utc::now() - TimeDelta::minutes(i64::from(past.age_minutes));
        // HostProcess containers restarted with the node
        let since = accepted_at.max(if past.restarts > 0 {
            machine.boot.at + TimeDelta::seconds(28)
        } else {
            accepted_at
        });
        self.address = Some(if facts.host_network {
            machine.address
        } else {
            past.address
        });
        self.progress = Progress {
            accepted_at,
            containers: Containers::ready(since),
            restarts: past.restarts,
            last_run: (past.restarts > 0)
                // a restart of the node takes about that long
                .then(|| LastRun::killed(accepted_at, since - TimeDelta::seconds(30))),
        };
        self.report().await;
    }

    /// The containers are gone with the machine. containerd will not know how they ended.
    fn lose_containers(&mut self) {
        if self.progress.containers == Containers::Completed {
            return;
        }
        self.stop_containers();
        if let Some(started_at) = self.progress.containers.since() {
            self.progress.last_run = Some(LastRun::lost(started_at, Utc::now()));
        }
        if self.progress.last_run.is_some() {
            self.progress.containers = Containers::Dead;
        }
    }

    /// HostProcess containers restart late, and the network with them.
    async fn run_again_with_the_network(&mut self) -> Interruption {
        if let Some(interruption) = self.whole_machine().await {
            return interruption;
        }
        self.count_restart();
        self.progress.containers = Containers::ready(Utc::now());
        self.report().await;
        self.interruption().await
    }

    /// The containers run once more, if they ran before.
    fn count_restart(&mut self) {
        if self.progress.last_run.is_none() {
            return;
        }
        let containers = self.pod.borrow().containers.len();
        self.progress.restarts += u32::try_from(containers).unwrap_or(0);
    }

    /// A new sandbox, and in it the containers. Whether it has a network is decided when it is created.
    async fn run_in_new_sandbox(&mut self) -> Interruption {
        let facts = self.facts();
        let machine = self.machine();
        let connected = facts.host_network || machine.os == Os::Linux || machine.stage == Stage::Up;
        let old = self.address.take();
        self.address = if facts.host_network {
            Some(machine.address)
        } else {
            self.means.world.take_address(&machine)
        };
        self.free(old);
        // Dead containers are told of until the new ones run.
        if !self.survived_boot {
            self.progress = Progress::new(Utc::now());
            self.report().await;
        }
        let plan = Plan::of(&facts, machine.os, self.means.timings);
        if let Some(interruption) = self.interrupted_within(plan.creation).await {
            return interruption;
        }
        if self.survived_boot {
            self.count_restart();
        }
        if !connected && let Some(sick) = facts.needs_network() {
            return self.run_unconnected(sick).await;
        }
        if let Some(errand) = Errand::of(&facts) {
            return self.run_errand(errand).await;
        }
        let since = Utc::now();
        if !plan.readiness.is_zero() {
            self.progress.containers = Containers::running(since);
            self.report().await;
            if let Some(interruption) = self.interrupted_within(plan.readiness).await {
                return interruption;
            }
        }
        self.progress.containers = Containers::Running {
            since,
            ready_since: Some(Utc::now()),
        };
        self.report().await;
        self.interruption().await
    }

    /// Waits for what ends this run.
    pub(super) async fn interruption(&mut self) -> Interruption {
        let Self {
            machine, pod, boot, ..
        } = self;
        tokio::select! {
            () = cut(machine, boot) => Interruption::Cut,
            deleted = pod.wait_for(|facts| facts.deletion_grace_seconds.is_some()) => {
                if deleted.is_ok() { Interruption::Deleted } else { Interruption::Vanished }
            }
        }
    }

    /// Waits, unless something comes between.
    pub(super) async fn interrupted_within(&mut self, time: Duration) -> Option<Interruption> {
        tokio::time::timeout(time, self.interruption()).await.ok()
    }

    /// Waits as a deleted pod waits: only its machine or its vanishing come between.
    pub(super) async fn stopped_within(&mut self, time: Duration) -> Option<Interruption> {
        let Self {
            machine, pod, boot, ..
        } = self;
        tokio::select! {
            () = tokio::time::sleep(time) => None,
            () = cut(machine, boot) => Some(Interruption::Cut),
            () = vanished(pod) => Some(Interruption::Vanished),
        }
    }

    /// Waits until everything on the machine runs, unless something comes between.
    async fn whole_machine(&mut self) -> Option<Interruption> {
        let mut machine = self.machine.clone();
        tokio::select! {
            // a machine that nobody plays any more is cut for good
            whole = machine.wait_for(|machine| machine.stage == Stage::Up) => {
                whole.is_err().then_some(Interruption::Cut)
            }
            interruption = self.interruption() => Some(interruption),
        }
    }
}

/// Waits until the machine is down, or up in another boot.
async fn cut(machine: &mut watch::Receiver<Arc<Machine>>, boot: &Name) {
    let gone = machine.wait_for(|machine| machine.stage == Stage::Down || machine.boot.id != *boot);
    // The sender lives as long as the world, which every life holds.
    let _ = gone.await;
}

/// Waits until the pod's object is gone.
async fn vanished(pod: &mut watch::Receiver<PodFacts>) {
    while pod.changed().await.is_ok() {}
}
