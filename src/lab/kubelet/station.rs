//! The kubelet of one machine as its node sees it: heartbeats while it runs, and the restarts that it is asked for.

use super::means::Means;
use super::node_object::{healthy_conditions, lease_path, node_status};
use super::recorder::{Recorder, Severity};
use super::restart::{Course, Restart, restarted};
use crate::domain::Name;
use crate::lab::client::{Merge, ObjectPath};
use crate::lab::error::LabError;
use crate::lab::event_log::of_restart;
use crate::lab::machine::{Machine, Stage};
use crate::lab::play::{ASKED, PLAYING, Verb, pointer, take};
use crate::lab::text::{api_micro_time, unit};
use chrono::Utc;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The kubelet of one machine.
pub struct Station {
    pub means: Means,
    /// Name of the node.
    pub node: Name,
}

/// Wait after a request that could not be taken.
const RETRY: Duration = Duration::from_millis(500);

impl Station {
    /// Runs without end. `asked` is what the node's annotation asks for.
    pub async fn run(self, asked: watch::Receiver<Option<Name>>) {
        tokio::join!(self.beat(), self.obey(asked), self.shut_down());
    }

    /// Renews the Lease, and posts the status when it is due: every five minutes, and at once when the API server
    /// was not reachable, as it may have declared the node Unknown. A machine that is down is silent.
    async fn beat(&self) {
        let timings = self.means.timings;
        let period = timings.lease_renewal();
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // not all nodes at the same moment
        tokio::time::sleep(period.mul_f64(unit(&self.node))).await;
        let mut posted = tokio::time::Instant::now();
        let mut interrupted = false;
        loop {
            ticks.tick().await;
            let Some(machine) = self.machine().filter(|machine| machine.stage > Stage::Down) else {
                continue;
            };
            if let Err(error) = self.renew_lease().await {
                tracing::debug!(node = %self.node, %error, "the Lease is not renewed");
                interrupted = true;
                continue;
            }
            let due = interrupted || posted.elapsed() >= timings.node_status();
            if due && self.post_status(&machine).await.is_ok() {
                posted = tokio::time::Instant::now();
                interrupted = false;
            }
        }
    }

    fn machine(&self) -> Option<Arc<Machine>> {
        self.means.world.machine(&self.node)
    }

    async fn renew_lease(&self) -> Result<(), LabError> {
        let renewal = json!({"spec": {"renewTime": api_micro_time(Utc::now())}});
        let client = &self.means.client;
        client
            .patch(&lease_path(&self.node), Merge::Plain, &renewal)
            .await
            .map(drop)
    }

    /// Posts the whole status of a node that exists.
    pub async fn post_status(&self, machine: &Machine) -> Result<(), LabError> {
        let client = &self.means.client;
        let path = ObjectPath::node(&self.node);
        let now = Utc::now();
        let node = client.get(&path).await?;
        let conditions = healthy_conditions(&node["status"]["conditions"], now, now);
        let status = node_status(machine, &conditions);
        client.patch_status(&path, Merge::Plain, &status).await.map(drop)
    }

    /// Plays what the node is asked for, one after the other, each once.
    async fn obey(&self, mut asked: watch::Receiver<Option<Name>>) {
        let mut last = None;
        loop {
            let news = asked.wait_for(|asked| asked.is_some() && *asked != last).await;
            let Ok(Some(request)) = news.map(|request| request.clone()) else {
                return;
            };
            let verb = Verb::asked(&request);
            let restart = match verb {
                Some(Verb::Reboot) => Some(Restart::Proper { updated: false }),
                Some(Verb::Update) => Some(Restart::Proper { updated: true }),
                Some(Verb::Crash) => Some(Restart::PowerCut),
                Some(Verb::SlowDisk | Verb::Stuck | Verb::Flood) | None => None,
            };
            match self.begin(&request, restart.and(verb)).await {
                Err(error) => {
                    tracing::debug!(node = %self.node, %error, "a request cannot be taken yet");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
                // It was taken back.
                Ok(false) => {}
                Ok(true) => match (restart, verb) {
                    (Some(restart), _) => self.restart(restart).await,
                    (None, Some(verb)) => self.arm(verb),
                    (None, None) => {
                        tracing::warn!(node = %self.node, %request, "the lab cannot play that");
                    }
                },
            }
            last = Some(request);
        }
    }

    /// Takes the request off the node, and writes there what takes its time. False when it was taken back.
    async fn begin(&self, request: &str, playing: Option<Verb>) -> Result<bool, LabError> {
        let more = playing.map(|verb| json!({"op": "add", "path": pointer(PLAYING), "value": verb.word()}));
        take(&self.means.client, &self.node, request, more.as_slice()).await
    }

    /// Restarts when `shutdown.exe` was called on the machine, after the time that was given to it.
    async fn shut_down(&self) {
        let Some(mut machine) = self.means.world.follow(&self.node) else {
            return;
        };
        loop {
            let called = machine.wait_for(|machine| machine.restarts_at.is_some()).await;
            let Ok(Some(at)) = called.map(|machine| machine.restarts_at) else {
                return;
            };
            tokio::time::sleep((at - Utc::now()).to_std().unwrap_or_default()).await;
            let (still, updated) = {
                let machine = machine.borrow();
                (machine.restarts_at == Some(at), machine.reboot_required)
            };
            // Another restart may have come first.
            if still {
                let verb = if updated { Verb::Update } else { Verb::Reboot };
                self.means.until_done(&self.node, || self.show(verb)).await;
                self.restart(Restart::Proper { updated }).await;
            }
        }
    }

    /// Writes on the node what takes its time.
    async fn show(&self, playing: Verb) -> Result<(), LabError> {
        let change = json!({"metadata": {"annotations": {PLAYING: playing.word()}}});
        self.means
            .client
            .patch(&ObjectPath::node(&self.node), Merge::Plain, &change)
            .await
            .map(drop)
    }

    fn arm(&self, verb: Verb) {
        self.means.world.change(&self.node, |machine| match verb {
            Verb::SlowDisk => machine.armed.slow_disk = true,
            Verb::Stuck => machine.armed.stuck_deletions = true,
            Verb::Flood => machine.armed.flood = true,
            Verb::Reboot | Verb::Update | Verb::Crash => {}
        });
    }

    /// Restarts the machine. Over when its HostProcess pods may start.
    async fn restart(&self, restart: Restart) {
        let Some(machine) = self.machine() else { return };
        let world = &self.means.world;
        let course = Course::of(restart, &machine, self.means.timings);
        // The article's node lost its power just after a heartbeat, and so was never declared unreachable.
        if restart == Restart::PowerCut
            && let Err(error) = self.renew_lease().await
        {
            tracing::debug!(node = %self.node, %error, "the last heartbeat is missing");
        }
        world.change(&self.node, |machine| machine.stage = Stage::Down);
        tokio::time::sleep(course.down).await;
        let booted_at = Utc::now();
        tokio::time::sleep(course.kubelet).await;

        world.record(&self.node, of_restart(&machine, restart, course, booted_at));
        // What the node says comes before what its pods say: pods go on when the world has changed.
        let after = restarted(&machine, restart, course, booted_at);
        let complete = tokio::time::Instant::now() + course.host_processes;
        self.means
            .until_done(&self.node, || self.post_status(&after))
            .await;
        let (boot_id, stage) = (after.boot.id.clone(), after.stage);
        let mut events = Recorder::of_node(self.means.clone(), &after);
        world.change(&self.node, |machine| *machine = after);
        if let Err(error) = self.renew_lease().await {
            tracing::debug!(node = %self.node, %error, "the Lease is renewed with the next heartbeat");
        }
        let told = format!("Node {} has been rebooted, boot id: {boot_id}", self.node);
        events.tell(Severity::Warning, "Rebooted", &told).await;
        if stage < Stage::Up {
            tokio::time::sleep_until(complete).await;
            world.change(&self.node, |machine| machine.stage = Stage::Up);
        }
        self.means.until_done(&self.node, || self.forget_requests()).await;
    }

    /// Takes away what this restart, or an earlier lab, has left on the node.
    pub async fn forget_requests(&self) -> Result<(), LabError> {
        let change = json!({"metadata": {"annotations": {ASKED: null, PLAYING: null}}});
        self.means
            .client
            .patch(&ObjectPath::node(&self.node), Merge::Plain, &change)
            .await
            .map(drop)
    }
}
