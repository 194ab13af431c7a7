//! The header: which cluster the data is of, and how each source is.

use super::Store;
use super::cluster::seconds;
use super::columns::cells::plain;
use super::feeds::{Feed, short_name};
use super::fold::At;
use super::view::{Counts, HeaderView, Line, Role, SourceBadge, Span};
use crate::domain::node::Node;
use crate::domain::object::Os;
use crate::domain::reading::{Source, stale_after_seconds};
use crate::domain::text::sanitise;
use crate::domain::{Timestamp, format, patch_tuesday};
use crate::sources::event::{Problem, SourcePhase, SourceState, WatchState, Watched};
use compact_str::CompactString;

impl Store {
    /// What the header says at `now`.
    pub fn header(&self, now: Timestamp) -> HeaderView {
        let scope = self.scope();
        let windows = |node: &At<'_, Node>| node.os == Some(Os::Windows);
        HeaderView {
            context: sanitise(&scope.context).into(),
            server: sanitise(&scope.server).into(),
            version: self.version.clone(),
            namespace: scope.namespace.clone(),
            pod_selector: sanitise(&scope.pod_selector).into(),
            sources: self
                .feeds
                .iter()
                .map(|(source, feed)| self.badge(source, feed, now))
                .collect(),
            days_to_patch_tuesday: patch_tuesday::days_until(now.date_naive()).unwrap_or(0),
            counts: Counts {
                nodes: self.cluster.nodes.len(),
                windows_nodes: self.cluster.nodes.iter().filter(windows).count(),
                pods: self.cluster.pods.len(),
                smb: self.smb_count(),
            },
        }
    }

    fn badge(&self, source: Source, feed: &Feed, now: Timestamp) -> SourceBadge {
        let mut badge = badge(source, feed, now);
        if source == Source::Kubernetes
            && badge.role != Role::Error
            && let Some(problem) = self.watch_problem()
        {
            (badge.glyph, badge.role, badge.problem) = ("▲", Role::Warn, Some(problem));
        }
        badge
    }

    /// What the first watch that is refused or fails says; the server itself may be well.
    fn watch_problem(&self) -> Option<CompactString> {
        Watched::ALL
            .iter()
            .find_map(|watched| match self.cluster.watches.get(watched)? {
                WatchState::Forbidden(problem) | WatchState::Failed(problem) => {
                    Some(one_line(problem).into())
                }
                WatchState::Loading | WatchState::Live => None,
            })
    }

    /// The Kubernetes source's problem, while it has one.
    pub(super) fn kubernetes_problem(&self) -> Option<&Problem> {
        let state = self.feeds.current(Source::Kubernetes)?.state.as_ref()?;
        match state.phase {
            SourcePhase::Failed => state.last_error.as_ref(),
            SourcePhase::Starting | SourcePhase::Connected | SourcePhase::Off => None,
        }
    }
}

fn badge(source: Source, feed: &Feed, now: Timestamp) -> SourceBadge {
    let (glyph, role, age) = match &feed.state {
        None => ("◌", Role::Muted, "starting".into()),
        Some(state) => standing(source, state, now),
    };
    SourceBadge {
        source,
        name: short_name(source),
        glyph,
        role,
        age,
        problem: feed.state.as_ref().and_then(problem_text),
    }
}

fn standing(source: Source, state: &SourceState, now: Timestamp) -> (&'static str, Role, CompactString) {
    let age = state.last_answer.map(|at| seconds(now - at));
    match state.phase {
        SourcePhase::Starting => ("◌", Role::Muted, "starting".into()),
        SourcePhase::Off => ("–", Role::Absent, "off".into()),
        SourcePhase::Failed => ("✖", Role::Error, age.map_or("failed".into(), spoken)),
        // It answers, but not all of it, or with something that the operator should know.
        SourcePhase::Connected if state.last_error.is_some() => {
            ("▲", Role::Warn, age.map_or_else(CompactString::default, spoken))
        }
        SourcePhase::Connected => match age {
            Some(age) if age > stale_after_seconds(source) => ("◌", Role::Stale, spoken(age)),
            Some(age) => ("●", Role::Ok, spoken(age)),
            None => ("●", Role::Ok, CompactString::default()),
        },
    }
}

fn spoken(age: u64) -> CompactString {
    format::spoken_age(i64::try_from(age).unwrap_or(i64::MAX)).into()
}

fn problem_text(state: &SourceState) -> Option<CompactString> {
    match (&state.last_error, state.phase) {
        (Some(problem), _) => Some(one_line(problem).into()),
        (None, SourcePhase::Off) if !state.reached.is_empty() => Some(sanitise(&state.reached).into()),
        (None, _) => None,
    }
}

fn one_line(problem: &Problem) -> String {
    sanitise(&problem.to_string()).into_owned()
}

/// A problem as a line: what failed, then what to do.
pub fn problem_line(problem: &Problem) -> Line {
    let mut line = plain(format!("✖ {}", sanitise(&problem.what)), Role::Error);
    if !problem.next_step.is_empty() {
        line.push(Span::new(
            format!(" → {}", sanitise(&problem.next_step)),
            Role::Text,
        ));
    }
    line
}
