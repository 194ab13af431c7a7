//! All fake kubelets of a lab: registration, one watch on nodes that hands each request to its station, and one
//! watch on pods that hands each pod to its life.

use super::facts::PodFacts;
use super::life::Life;
use super::means::{Means, WRITES};
use super::node_object::{lease_object, node_object};
use super::station::Station;
use crate::domain::Name;
use crate::lab::client::{LabClient, ObjectPath};
use crate::lab::error::LabError;
use crate::lab::machine::Machine;
use crate::lab::play::{ASKED, annotation};
use crate::lab::timings::Timings;
use crate::lab::world::World;
use chrono::Utc;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::runtime::{WatchStreamExt, watcher};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::sync::watch;
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

/// The kubelets of all machines of a world.
pub struct Fleet {
    means: Means,
    pasts: Pasts,
}

impl Fleet {
    /// Kubelets for all machines of `world`.
    pub fn new(client: LabClient, world: World, timings: Timings, pasts: Pasts) -> Self {
        for past in pasts.values() {
            world.keep_address(past.address);
        }
        Self {
            means: Means::new(client, world, timings),
            pasts,
        }
    }

    /// Registers every node, with its Lease. A node that exists already gets its status anew, and forgets what it
    /// was asked to play.
    pub async fn register(&self) -> Result<(), LabError> {
        stream::iter(self.means.world.machines())
            .map(|machine| self.register_one(machine))
            .buffer_unordered(WRITES)
            .try_collect()
            .await
    }

    async fn register_one(&self, machine: Arc<Machine>) -> Result<(), LabError> {
        let now = Utc::now();
        let object = node_object(&machine, now);
        match self.means.client.create(&object).await {
            Err(error) if error.has_status(409) => {
                let station = self.station(&machine);
                station.forget_requests().await?;
                station.post_status(&machine).await?;
            }
            other => drop(other?),
        }
        let node = self.means.client.get(&ObjectPath::node(&machine.name)).await?;
        let uid = node["metadata"]["uid"].as_str().unwrap_or_default();
        let lease = lease_object(&machine.name, uid, now);
        self.means.client.ensure(&lease).await?;
        Ok(())
    }

    fn station(&self, machine: &Machine) -> Station {
        Station {
            means: self.means.clone(),
            node: machine.name.clone(),
        }
    }

    /// Runs all kubelets until `cancel` fires.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut stations = JoinSet::new();
        let mut requests = HashMap::new();
        for machine in self.means.world.machines() {
            let (sender, receiver) = watch::channel(None);
            requests.insert(machine.name.clone(), sender);
            stations.spawn(self.station(&machine).run(receiver));
        }
        tokio::select! {
            () = cancel.cancelled() => {}
            () = hand_on_requests(self.means.client.kube().clone(), requests) => {}
            () = self.run_pods() => {}
        }
    }

    async fn run_pods(&mut self) {
        let pods: Api<Pod> = Api::all(self.means.client.kube().clone());
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
        let Some(machine) = self.means.world.follow(&facts.node) else {
            return;
        };
        let past = self.pasts.remove(&(facts.namespace.clone(), facts.name.clone()));
        let means = self.means.clone();
        lives.begin(facts, |pod| Life::new(means, machine, pod, past));
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

    fn begin(&mut self, facts: PodFacts, life: impl FnOnce(watch::Receiver<PodFacts>) -> Life) {
        while self.tasks.try_join_next().is_some() {}
        let uid = facts.uid.clone();
        let (sender, receiver) = watch::channel(facts);
        self.pods.insert(uid, (self.list, sender));
        self.tasks.spawn(life(receiver).live());
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

/// Hands what the annotations of the nodes ask for to their stations.
async fn hand_on_requests(client: kube::Client, stations: HashMap<Name, watch::Sender<Option<Name>>>) {
    let nodes: Api<Node> = Api::all(client);
    let mut changes = watcher(nodes, watcher::Config::default())
        .default_backoff()
        .boxed();
    while let Some(change) = changes.next().await {
        match change {
            Ok(watcher::Event::InitApply(node) | watcher::Event::Apply(node)) => {
                let name = node.metadata.name.as_deref().unwrap_or_default();
                if let Some(station) = stations.get(name) {
                    let asked: Option<Name> = annotation(&node, ASKED).map(Name::from);
                    station.send_if_modified(|current| {
                        let news = *current != asked;
                        *current = asked;
                        news
                    });
                }
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the watch of the lab's nodes starts again"),
        }
    }
}
