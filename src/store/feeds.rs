//! What each source is and last said.

use super::fold::At;
use super::measured::{Finder, Histories, Round};
use crate::domain::pod::Pod;
use crate::domain::reading::{Absence, Source};
use crate::sources::event::{Generation, Scope, SourcePhase, SourceState};
use std::collections::BTreeMap;

/// One source.
#[derive(Default)]
pub struct Feed {
    /// Which start of the source is current.
    pub generation: Generation,
    /// What that start is about.
    pub scope: Scope,
    /// How the source is; `None` before it said so.
    pub state: Option<SourceState>,
    /// Its last round of samples.
    pub round: Round,
    /// Its series.
    pub histories: Histories,
}

/// What each source said, if it is about the cluster whose rows are shown; in order of [`Source::ALL`].
#[derive(Clone, Copy)]
pub struct Current<'a>([Option<&'a Feed>; Source::ALL.len()]);

impl<'a> Current<'a> {
    /// Of this source.
    pub const fn of(&self, source: Source) -> Option<&'a Feed> {
        self.0[source as usize]
    }
}

/// The sources that have said anything.
#[derive(Default)]
pub struct Feeds(BTreeMap<Source, Feed>);

impl Feeds {
    /// Admits an event: `None` if it is of an older generation, else whether the generation is new and so the
    /// source's feed empty.
    pub fn admit(&mut self, source: Source, generation: Generation) -> Option<bool> {
        let known = self.0.get(&source).map(|feed| feed.generation);
        if known.is_some_and(|current| generation < current) {
            return None;
        }
        let fresh = known != Some(generation);
        if fresh {
            let feed = Feed {
                generation,
                ..Feed::default()
            };
            self.0.insert(source, feed);
        }
        Some(fresh)
    }

    /// What this source said, to add to it.
    pub fn feed(&mut self, source: Source) -> &mut Feed {
        self.0.entry(source).or_default()
    }

    /// What this source said, if it is about the cluster whose rows are shown: after a change of context, an
    /// answer of the old cluster's Prometheus must not join the new cluster's nodes of the same name.
    pub fn current(&self, source: Source) -> Option<&Feed> {
        let feed = self.0.get(&source)?;
        let shown = self.0.get(&Source::Kubernetes);
        let same = shown.is_none_or(|shown| {
            (&shown.scope.context, &shown.scope.server) == (&feed.scope.context, &feed.scope.server)
        });
        same.then_some(feed)
    }

    /// All that are about the cluster whose rows are shown: chosen once a frame, not once a value.
    pub fn all_current(&self) -> Current<'_> {
        Current(Source::ALL.map(|source| self.current(source)))
    }

    /// All sources in order, with what they said.
    pub fn iter(&self) -> impl Iterator<Item = (Source, &Feed)> {
        self.0.iter().map(|(source, feed)| (*source, feed))
    }

    /// Samples and series find their nodes again.
    pub fn resolve(&mut self, finder: &impl Finder) {
        for feed in self.0.values_mut() {
            feed.round.resolve(finder);
            feed.histories.resolve(finder);
        }
    }

    /// A pod got a row, or lost it: its samples follow.
    pub fn pod_moved(&mut self, pod: At<'_, Pod>, came: bool) {
        for feed in self.0.values_mut() {
            if came {
                feed.round.containers.pod_came(pod);
            } else {
                feed.round.containers.pod_went(pod);
            }
        }
    }

    /// Whether samples wait to learn where this pod runs.
    pub fn await_pod(&self, pod: &Pod) -> bool {
        self.0.values().any(|feed| feed.round.awaits(pod))
    }
}

impl Feed {
    /// Why this source gives nothing at all now; `None` if it answers.
    pub fn absence(&self, source: Source) -> Option<Absence> {
        let Some(state) = &self.state else {
            return Some(Absence::NotYet);
        };
        match state.phase {
            SourcePhase::Starting => Some(Absence::NotYet),
            SourcePhase::Connected => None,
            SourcePhase::Failed => Some(Absence::SourceDown(told(source, state).into())),
            SourcePhase::Off => Some(Absence::NotCollected(told(source, state).into())),
        }
    }
}

/// `prometheus: connection refused → check that its pod is Ready`, `windows_exporter is off`.
fn told(source: Source, state: &SourceState) -> String {
    match &state.last_error {
        Some(problem) if !problem.what.is_empty() => format!("{source}: {problem}"),
        _ if state.phase == SourcePhase::Off && !state.reached.is_empty() => {
            format!("{source} is off: {}", state.reached)
        }
        _ if state.phase == SourcePhase::Off => format!("{source} is off"),
        _ => format!("{source} does not answer"),
    }
}

/// Name of a source in the header.
pub const fn short_name(source: Source) -> &'static str {
    match source {
        Source::Kubernetes => "API",
        Source::Prometheus => "Prometheus",
        Source::Exporter => "exporter",
        Source::MetricsApi => "metrics",
        Source::Loki => "Loki",
    }
}
