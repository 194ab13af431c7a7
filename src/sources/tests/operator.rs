//! What an operator in front of the screen would see of the sources' events.

use crate::domain::Name;
use crate::domain::object::Change;
use crate::domain::reading::Source;
use crate::sources::event::{
    Detail, DetailKey, Generation, Payload, Request, Scope, SourceEvent, SourcePhase, SourceState,
    WatchState, Watched,
};
use crate::sources::{Running, SourcesOptions, start};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

/// Long enough for a machine with many other things to do.
const DEADLINE: Duration = Duration::from_mins(1);

/// The operator, with what is on the screen.
pub struct Operator {
    running: Running,
    generation: Generation,
    pub scope: Scope,
    pub state: Option<SourceState>,
    pub version: Option<Name>,
    pub watches: HashMap<Watched, WatchState>,
    /// How often each watch has said how it is.
    pub said: HashMap<Watched, usize>,
    /// Pods by `namespace/name`, with their state.
    pub pods: BTreeMap<String, String>,
    pub nodes: BTreeSet<String>,
    pub details: Vec<(DetailKey, Result<Detail, String>)>,
    pub lists: usize,
    listing: Option<BTreeSet<String>>,
}

pub fn options(kubeconfig: &Path) -> SourcesOptions {
    SourcesOptions {
        kubeconfig: Some(kubeconfig.to_owned()),
        request_timeout: Duration::from_secs(10),
        ..SourcesOptions::default()
    }
}

impl Operator {
    pub async fn sits_down(options: SourcesOptions) -> Self {
        Self {
            running: start(options).await.unwrap(),
            generation: Generation::default(),
            scope: Scope::default(),
            state: None,
            version: None,
            watches: HashMap::new(),
            said: HashMap::new(),
            pods: BTreeMap::new(),
            nodes: BTreeSet::new(),
            details: Vec::new(),
            lists: 0,
            listing: None,
        }
    }

    pub fn asks(&self, request: Request) {
        self.running.requests.send(request).unwrap();
    }

    /// Looks on until the screen shows it.
    pub async fn sees(&mut self, what: &str, shown: impl Fn(&Self) -> bool) {
        let outcome = tokio::time::timeout(DEADLINE, async {
            while !shown(self) {
                let event = self.running.events.recv().await.expect("the sources have ended");
                self.fold(event);
            }
        })
        .await;
        assert!(
            outcome.is_ok(),
            "never seen: {what}\nscope {:?}\nstate {:?}\nwatches {:?}\npods {:?}",
            self.scope,
            self.state,
            self.watches,
            self.pods
        );
    }

    /// What somebody who writes to the cluster would use now.
    pub fn client(&self) -> Option<kube::Client> {
        self.running.client.borrow().clone()
    }

    pub fn pod(&self, name: &str) -> Option<&str> {
        self.pods.get(name).map(String::as_str)
    }

    pub fn phase(&self) -> Option<SourcePhase> {
        self.state.as_ref().map(|state| state.phase)
    }

    pub fn problem(&self) -> String {
        self.state
            .as_ref()
            .and_then(|state| state.last_error.as_ref())
            .map(|problem| format!("{} → {}", problem.what, problem.next_step))
            .unwrap_or_default()
    }

    pub fn is_live(&self, watched: Watched) -> bool {
        self.watches.get(&watched) == Some(&WatchState::Live)
    }

    pub async fn leaves(self) {
        self.running.shutdown().await;
    }

    fn fold(&mut self, event: SourceEvent) {
        if event.source != Source::Kubernetes || event.generation < self.generation {
            return;
        }
        match event.payload {
            Payload::Begin(scope) => {
                self.generation = event.generation;
                self.scope = scope;
                self.pods.clear();
                self.nodes.clear();
                self.watches.clear();
                self.state = None;
                self.version = None;
            }
            Payload::State(state) => self.state = Some(state),
            Payload::ClusterVersion(version) => self.version = Some(version),
            Payload::Watch(watched, state) => {
                *self.said.entry(watched).or_default() += 1;
                self.watches.insert(watched, state);
            }
            Payload::Pods(changes) => changes.into_iter().for_each(|change| self.fold_pod(change)),
            Payload::Nodes(changes) => {
                for change in changes {
                    if let Change::Upsert(node) = change {
                        self.nodes.insert(node.name.to_string());
                    }
                }
            }
            Payload::Detail(key, detail) => self.details.push((key, detail)),
            _ => {}
        }
    }

    fn fold_pod(&mut self, change: Change<crate::domain::pod::Pod>) {
        match change {
            Change::Restart => self.listing = Some(BTreeSet::new()),
            Change::Upsert(pod) => {
                let name = format!("{}/{}", pod.namespace, pod.name);
                if let Some(listing) = &mut self.listing {
                    listing.insert(name.clone());
                }
                self.pods.insert(name, pod.state.to_string());
            }
            Change::Delete(key) => {
                self.pods
                    .remove(&format!("{}/{}", key.namespace.unwrap(), key.name));
            }
            Change::Synced => {
                self.lists += 1;
                let listed = self.listing.take().expect("Synced without Restart");
                self.pods.retain(|name, _| listed.contains(name));
            }
        }
    }
}
