//! All fake kubelets of a lab: registration, heartbeats, and one watch on pods that hands each pod to its life.

use super::facts::PodFacts;
use super::life::Life;
use super::node_object::{healthy_conditions, lease_object, lease_path, node_object, node_status};
use crate::domain::Name;
use crate::lab::client::{LabClient, Merge, ObjectPath};
use crate::lab::error::LabError;
use crate::lab::text::{api_micro_time, unit};
use crate::lab::timings::Timings;
use crate::lab::world::{Machine, World};
use chrono::Utc;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::json;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What a pod was before the lab began: it is shown as if it had run all that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Past {
    /// Minutes since it started.
    pub age_minutes: u32,
    /// Restarts of all its containers together.
    pub restarts: u32,
    /// Its address.
    pub address: Ipv4Addr,
}

/// Pasts by namespace and name of the pod.
pub type Pasts = HashMap<(Name, Name), Past>;

/// Writes of all kubelets together that are under way at the same time.
const WRITES: usize = 16;

/// The kubelets of all machines of a world.
pub struct Fleet {
    client: LabClient,
    world: World,
    timings: Timings,
    pasts: Pasts,
    writes: Arc<Semaphore>,
}

impl Fleet {
    /// Kubelets for all machines of `world`.
    pub fn new(client: LabClient, world: World, timings: Timings, pasts: Pasts) -> Self {
        for past in pasts.values() {
            world.keep_address(past.address);
        }
        Self {
            client,
            world,
            timings,
            pasts,
            writes: Arc::new(Semaphore::new(WRITES)),
        }
    }

    /// Registers every node, with its Lease. A node that exists already gets its status anew.
    pub async fn register(&self) -> Result<(), LabError> {
        stream::iter(self.world.machines())
            .map(|machine| self.register_one(machine))
            .buffer_unordered(WRITES)
            .try_collect()
            .await
    }

    async fn register_one(&self, machine: Arc<Machine>) -> Result<(), LabError> {
        let now = Utc::now();
        let node = match self.client.create(&node_object(&machine, now)).await {
            Err(error) if error.has_status(409) => {
                let path = ObjectPath::node(&machine.name);
                self.client
                    .patch_status(&path, Merge::Plain, &node_status(&machine, now))
                    .await?
            }
            other => other?,
        };
        let uid = node["metadata"]["uid"].as_str().unwrap_or_default();
        self.client.ensure(&lease_object(&machine.name, uid, now)).await?;
        Ok(())
    }

    /// Runs all kubelets until `cancel` fires.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut heartbeats = JoinSet::new();
        for machine in self.world.machines() {
            heartbeats.spawn(beat(self.client.clone(), machine, self.timings));
        }
        tokio::select! {
            () = cancel.cancelled() => {}
            () = self.run_pods() => {}
        }
    }

    async fn run_pods(&mut self) {
        let pods: Api<Pod> = Api::all(self.client.kube().clone());
        let config = watcher::Config::default().page_size(500);
        let mut changes = watcher(pods, config).default_backoff().boxed();
        let mut lives = Lives::default();
        while let Some(change) = changes.next().await {
            match change {
                Ok(watcher::Event::Init) => lives.relisting(),
                Ok(watcher::Event::InitApply(pod) | watcher::Event::Apply(pod)) => {
                    self.apply(&pod, &mut lives);
                }
                Ok(watcher::Event::InitDone) => lives.relisted(),
                Ok(watcher::Event::Delete(pod)) => lives.vanished(pod.metadata.uid.as_deref()),
                Err(error) => tracing::debug!(%error, "the watch of the fake kubelets starts again"),
            }
        }
    }

    fn apply(&mut self, pod: &Pod, lives: &mut Lives) {
        let Some(facts) = PodFacts::of(pod) else { return };
        if lives.known(&facts) {
            return;
        }
        let Some(machine) = self.world.machine(&facts.node) else {
            return;
        };
        let life = Life {
            client: self.client.clone(),
            world: self.world.clone(),
            timings: self.timings,
            machine,
            past: self.pasts.remove(&(facts.namespace.clone(), facts.name.clone())),
            writes: Arc::clone(&self.writes),
        };
        lives.begin(facts, life);
    }
}

/// The pods that are alive, by UID.
#[derive(Default)]
struct Lives {
    pods: HashMap<Name, (u64, watch::Sender<PodFacts>)>,
    tasks: JoinSet<()>,
    list: u64,
}

impl Lives {
    /// Tells a living pod its news; false when it does not live yet.
    fn known(&mut self, facts: &PodFacts) -> bool {
        let Some((list, sender)) = self.pods.get_mut(&facts.uid) else {
            return false;
        };
        *list = self.list;
        sender.send_if_modified(|current| {
            let news = current != facts;
            if news {
                current.clone_from(facts);
            }
            news
        });
        true
    }

    fn begin(&mut self, facts: PodFacts, life: Life) {
        while self.tasks.try_join_next().is_some() {}
        let uid = facts.uid.clone();
        let (sender, receiver) = watch::channel(facts);
        self.pods.insert(uid, (self.list, sender));
        self.tasks.spawn(life.live(receiver));
    }

    fn vanished(&mut self, uid: Option<&str>) {
        if let Some(uid) = uid {
            self.pods.remove(uid);
        }
    }

    fn relisting(&mut self) {
        self.list += 1;
    }

    /// What the new list did not name is gone.
    fn relisted(&mut self) {
        let list = self.list;
        self.pods.retain(|_, (seen, _)| *seen == list);
    }
}

/// Renews the Lease of one node, and posts its status when it is due: every five minutes, and at once when
/// the API server was not reachable, as it may have declared the node Unknown.
async fn beat(client: LabClient, machine: Arc<Machine>, timings: Timings) {
    let period = timings.lease_renewal();
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // not all nodes at the same moment
    tokio::time::sleep(period.mul_f64(unit(&machine.name))).await;
    let mut posted = tokio::time::Instant::now();
    let mut interrupted = false;
    loop {
        ticks.tick().await;
        let now = Utc::now();
        let renewal = json!({"spec": {"renewTime": api_micro_time(now)}});
        if let Err(error) = client
            .patch(&lease_path(&machine.name), Merge::Plain, &renewal)
            .await
        {
            tracing::debug!(node = %machine.name, %error, "the Lease is not renewed");
            interrupted = true;
            continue;
        }
        if interrupted || posted.elapsed() >= timings.node_status() {
            let status = json!({"conditions": healthy_conditions(&machine, now)});
            let path = ObjectPath::node(&machine.name);
            if client
                .patch_status(&path, Merge::Strategic, &status)
                .await
                .is_ok()
            {
                posted = tokio::time::Instant::now();
                interrupted = false;
            }
        }
    }
}
