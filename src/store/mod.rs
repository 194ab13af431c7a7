//! The only state: folds source events, joins them, answers view models.

mod boots;
mod cluster;
pub mod columns;
mod containers;
mod events;
pub mod facts;
mod feeds;
pub mod filter;
mod fold;
mod header;
mod join;
mod measured;
mod observe;
mod order;
mod pages;
mod ready;
pub mod smb;
mod standing;
mod storage;
mod table;
pub mod view;
mod words;

use crate::domain::measurement::{Measurements, Sample};
use crate::domain::reading::{Source, stale_after_seconds};
use crate::domain::{Name, Timestamp};
use crate::sources::event::{
    Detail, DetailKey, EventLog, Payload, Problem, Scope, SourceEvent, SourceState, WatchState, Watched,
};
use chrono::TimeDelta;
use cluster::{Cluster, Effect, Orders};
use feeds::Feeds;
use join::Joins;
use measured::{Histories, Round};
use smb::Board;
use std::collections::VecDeque;
use table::AllAsked;

pub use standing::Standing;

/// Details kept: the open page and those that the operator may go back to.
const DETAILS_KEPT: usize = 16;

/// The state of the program: what the sources told, and the orders in which tables show it.
#[derive(Default)]
pub struct Store {
    cluster: Cluster,
    feeds: Feeds,
    version: Option<Name>,
    details: VecDeque<(DetailKey, Result<Detail, String>)>,
    /// The System log that is on screen.
    event_log: Option<(Name, Result<EventLog, Problem>)>,
    orders: Orders,
    smb: Board,
    asked: AllAsked,
    /// The newest time that the store was told.
    now: Timestamp,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Folds an event that arrived at `now`. Answers whether something visible may have changed; an event of an
    /// older generation of its source changes nothing.
    pub fn apply(&mut self, event: SourceEvent, now: Timestamp) -> bool {
        self.now = self.now.max(now);
        let Some(fresh) = self.feeds.admit(event.source, event.generation) else {
            return false;
        };
        if fresh {
            self.forget(event.source);
        }
        let effect = self.fold(event.source, event.payload, now);
        if effect.rejoin {
            self.feeds.resolve(&self.cluster);
            self.orders.all_nodes_changed();
            self.orders.pods.all_changed();
        }
        self.mend_smb(now);
        fresh || effect.visible
    }

    /// A new generation of this source begins: what the old one told is gone.
    fn forget(&mut self, source: Source) {
        if source == Source::Kubernetes {
            for pod in self.cluster.pods.iter() {
                self.feeds.pod_moved(pod, false);
            }
            self.cluster = std::mem::take(&mut self.cluster).emptied();
            self.version = None;
            self.details.clear();
            self.event_log = None;
            self.orders.nodes.clear();
            self.orders.updates.clear();
            self.orders.pods.clear();
            self.smb = Board::default();
            self.cluster.storage.changed = true;
        } else {
            if source == Source::Loki {
                self.event_log = None;
            }
            self.orders.all_nodes_changed();
            self.orders.pods.all_changed();
        }
    }

    fn fold(&mut self, source: Source, payload: Payload, now: Timestamp) -> Effect {
        let visible = Effect {
            visible: true,
            rejoin: false,
        };
        let if_different = |different: bool| Effect {
            visible: different,
            rejoin: false,
        };
        match payload {
            Payload::Begin(scope) => {
                self.feeds.feed(source).scope = scope;
                Effect {
                    visible: true,
                    rejoin: true,
                }
            }
            Payload::State(state) => {
                let before = self.feeds.feed(source).state.replace(state);
                if_different(before != self.feeds.feed(source).state)
            }
            Payload::ClusterVersion(version) => if_different(self.version.replace(version) != self.version),
            Payload::Watch(watched, state) => {
                let before = self.cluster.watches.insert(watched, state);
                let different = before.as_ref() != self.cluster.watches.get(&watched);
                if different {
                    // Whether counts and lease ages are known hangs on it.
                    self.orders.all_nodes_changed();
                    self.cluster.storage.changed = true;
                }
                if_different(different)
            }
            Payload::Nodes(changes) => self.cluster.apply_nodes(changes, &mut self.orders),
            Payload::Pods(changes) => self
                .cluster
                .apply_pods(changes, &mut self.orders, &mut self.feeds),
            Payload::Leases(changes) => self.cluster.apply_leases(changes, &mut self.orders, now),
            Payload::DaemonSets(changes) => self.cluster.apply_daemonsets(changes),
            Payload::Budgets(changes) => self.cluster.apply_budgets(changes),
            Payload::PersistentVolumes(changes) => self.cluster.storage.apply_volumes(changes),
            Payload::VolumeClaims(changes) => self.cluster.storage.apply_claims(changes),
            Payload::StorageClasses(changes) => self.cluster.storage.apply_classes(changes),
            Payload::CsiNodes(changes) => self.cluster.storage.apply_csi_nodes(changes),
            Payload::CsiDrivers(changes) => self.cluster.storage.apply_csi_drivers(changes),
            Payload::PluginLogs(round) => {
                self.smb.take(round);
                self.cluster.storage.changed = true;
                visible
            }
            Payload::Events(changes) => {
                for change in changes {
                    self.cluster.storage.changed |= smb::is_evidence(&change);
                    self.cluster.events.apply(change);
                }
                visible
            }
            Payload::Measurements(measurements) => {
                self.replace_round(source, measurements);
                visible
            }
            Payload::History(histories) => {
                self.feeds.feed(source).histories = Histories::new(histories, &self.cluster);
                visible
            }
            Payload::EventLog(node, told) => {
                let before = self.event_log.replace((node, told));
                if_different(before != self.event_log)
            }
            // Lines are not kept here: they go to whoever asked for them.
            Payload::Logs(..) => if_different(false),
            Payload::Detail(key, detail) => {
                self.details.retain(|(other, _)| *other != key);
                self.details.push_front((key, detail));
                self.details.truncate(DETAILS_KEPT);
                visible
            }
        }
    }

    /// A round came in: the rows that it tells something else about must find their places again.
    fn replace_round(&mut self, source: Source, measurements: Measurements) {
        let round = Round::new(measurements, &self.cluster);
        let limit = TimeDelta::seconds(i64::try_from(stale_after_seconds(source)).unwrap_or(i64::MAX));
        let is_old = |sample: Sample| self.now - sample.at > limit;
        let held = &mut self.feeds.feed(source).round;
        let (pods, order) = (self.cluster.pods.iter(), &mut self.orders.pods);
        round
            .containers
            .compare(&held.containers, pods, is_old, |slot| order.changed(slot));
        *held = round;
        self.orders.all_nodes_changed();
    }

    fn joins(&self, now: Timestamp) -> Joins<'_> {
        Joins {
            cluster: &self.cluster,
            feeds: self.feeds.all_current(),
            now,
        }
    }

    /// What the rows are about: the scope of the current generation of the Kubernetes source.
    pub fn scope(&self) -> Scope {
        self.feeds
            .current(Source::Kubernetes)
            .map(|feed| feed.scope.clone())
            .unwrap_or_default()
    }

    /// How each source is, as far as it said so.
    pub fn source_states(&self) -> Vec<(Source, &SourceState)> {
        self.feeds
            .iter()
            .filter_map(|(source, feed)| Some((source, feed.state.as_ref()?)))
            .collect()
    }

    /// How each watch is, as far as it is known.
    pub fn watch_states(&self) -> Vec<(Watched, &WatchState)> {
        self.cluster
            .watches
            .iter()
            .map(|(watched, state)| (*watched, state))
            .collect()
    }

    /// A detail that was asked for, or why it could not be had; `None` until it was answered.
    pub fn detail(&self, key: &DetailKey) -> Option<Result<&Detail, &str>> {
        let (_, detail) = self.details.iter().find(|(other, _)| other == key)?;
        Some(detail.as_ref().map_err(String::as_str))
    }

    /// YAML that was asked for, or why it could not be had; `None` until it was answered.
    pub fn yaml(&self, key: &DetailKey) -> Option<Result<&str, &str>> {
        match self.detail(key)? {
            Ok(Detail::Yaml(text)) => Some(Ok(text)),
            Ok(Detail::Node(_) | Detail::Pod(_)) => None,
            Err(problem) => Some(Err(problem)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
