//! Which sources have answered or failed: when a command that prints once has all that it can get.

use super::collect::Wanted;
use crate::domain::reading::Source;
use crate::sources::event::{Payload, SourceEvent, SourcePhase, WatchState, Watched};
use std::collections::{BTreeMap, BTreeSet};

/// Sources that measure, in the order of preference.
const MEASURING: [Source; 3] = [Source::Prometheus, Source::Exporter, Source::MetricsApi];

/// What is known of the sources' answers.
#[derive(Debug, Default)]
pub struct Progress {
    wanted: Wanted,
    phases: BTreeMap<Source, SourcePhase>,
    settled_watches: BTreeSet<Watched>,
    measured: BTreeSet<Source>,
    detail: bool,
    plugin_logs: bool,
}

impl Progress {
    /// Nothing answered yet; the sources were asked for what is `wanted`.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Takes note of what a source said.
    pub fn note(&mut self, event: &SourceEvent) {
        match &event.payload {
            Payload::State(state) => {
                self.phases.insert(event.source, state.phase);
            }
            Payload::Watch(watched, WatchState::Loading) => {
                self.settled_watches.remove(watched);
            }
            Payload::Watch(watched, _) => {
                self.settled_watches.insert(*watched);
            }
            Payload::Measurements(_) => {
                self.measured.insert(event.source);
            }
            Payload::PluginLogs(_) => self.plugin_logs = true,
            Payload::Detail(key, _) if self.wanted.detail.as_ref() == Some(key) => self.detail = true,
            _ => {}
        }
    }

    /// Whether every source has answered or failed.
    pub fn is_settled(&self) -> bool {
        self.still_waiting().is_empty()
    }

    /// The sources that have neither answered nor failed.
    pub fn still_waiting(&self) -> Vec<Source> {
        let cluster = (!self.cluster_settled()).then_some(Source::Kubernetes);
        let measuring = MEASURING
            .into_iter()
            .filter(|source| !self.measuring_settled(*source));
        let logs = (self.wanted.logs && !self.logs_settled()).then_some(Source::Loki);
        cluster.into_iter().chain(measuring).chain(logs).collect()
    }

    fn cluster_settled(&self) -> bool {
        match self.phases.get(&Source::Kubernetes) {
            Some(SourcePhase::Failed | SourcePhase::Off) => true,
            Some(SourcePhase::Connected) => {
                let detail = self.detail || self.wanted.detail.is_none();
                let logs = self.plugin_logs || !self.wanted.demand.smb;
                detail && logs && self.settled_watches.len() == Watched::ALL.len()
            }
            Some(SourcePhase::Starting) | None => false,
        }
    }

    fn logs_settled(&self) -> bool {
        let phase = self.phases.get(&Source::Loki);
        phase.is_some_and(|phase| *phase != SourcePhase::Starting)
    }

    fn measuring_settled(&self, source: Source) -> bool {
        let wanted = self.wanted.demand.nodes || self.wanted.demand.containers;
        match self.phases.get(&source) {
            _ if !wanted => true,
            // The exporter is off only once Prometheus has answered for its nodes, or where there is none.
            Some(SourcePhase::Failed | SourcePhase::Off) => true,
            Some(SourcePhase::Connected) => self.measured.contains(&source),
            Some(SourcePhase::Starting) | None => false,
        }
    }
}

#[cfg(test)]
mod tests;
