//! The page of a maintenance: where it is, what it waits for and why, what may be done now, and how the pods are.

mod notes;
mod pods;
mod restart;
mod steps;

use super::{lines, table};
use crate::domain::text::{sanitise, truncate};
use crate::domain::{Timestamp, format};
use crate::maintenance::event::Ending;
use crate::maintenance::machine;
use crate::maintenance::options::Purpose;
use crate::maintenance::preflight::{Note, Weight};
use crate::maintenance::state::{Question, State, Step};
use crate::store::Store;
use crate::store::columns::cells::plain;
use crate::store::join::Joins;
use crate::store::view::{Line, Page, Role, Section, Span};
use chrono::TimeDelta;

impl Store {
    /// The page of a maintenance at `now`. What the state does not hold (lease, Ready, the exporter's boot time, pods
    /// that wait) is looked up in the store.
    pub fn workflow_page(&self, state: &State, now: Timestamp) -> Page {
        let joins = self.joins(now);
        let mut sections = vec![lines("", standing(state, now)), steps::section(joins, state, now)];
        match reached(state) {
            Step::Preflight | Step::Cordon | Step::Over => {}
            Step::Drain => {
                sections.extend(silence(joins, state));
                sections.extend(pods::leaving(state, now));
            }
            Step::Restart => {
                sections.extend(self.not_back(state, now));
                sections.extend(restart::at_the_node(joins, state));
                sections.extend(restart::signs(joins, state, now));
                sections.extend(silence(joins, state));
                sections.extend(self.event_log_since_the_begin(state, now));
                sections.extend(self.waiting_pods(state, now));
                sections.extend(pods::leaving(state, now));
            }
            Step::Revision | Step::Network | Step::Uncordon => {
                sections.extend(pods::network(state));
                sections.extend(restart::signs(joins, state, now));
                sections.extend(silence(joins, state));
                sections.extend(self.event_log_since_the_begin(state, now));
                sections.extend(self.waiting_pods(state, now));
                sections.extend(pods::leaving(state, now));
            }
            Step::PodsBack => {
                sections.extend(silence(joins, state));
                sections.extend(pods::without_network(state));
                sections.extend(pods::owners(state));
                sections.extend(self.waiting_pods(state, now));
                sections.extend(pods::network(state));
            }
        }
        sections.extend(notes::section(state));
        sections.extend(notes::fates(state));
        Page {
            title: title(state, now),
            sections,
        }
    }
}

/// `update of k8s-lab-win-1   03:41   begun 14:02:05 UTC by anna@desk`.
fn title(state: &State, now: Timestamp) -> Line {
    let end = match state.ending {
        Some(_) => state.times.last().and_then(|time| time.to),
        None => None,
    };
    let about = format!(
        "   {}   begun {} UTC by {}",
        format::stopwatch((end.unwrap_or(now) - state.started_at).num_seconds()),
        clock(state.started_at),
        state.by,
    );
    vec![
        Span::new(state.options.purpose.name(), Role::Title),
        Span::new(format!(" of {}", sanitise(&state.node)), Role::Title),
        Span::new(sanitise(&about).into_owned(), Role::Muted),
    ]
}

/// The step where it is, or where it ended.
fn reached(state: &State) -> Step {
    match (state.step, state.times.last()) {
        (Step::Over, Some(last)) => last.step,
        (step, _) => step,
    }
}

/// What it waits for, asks, or how it ended.
fn standing(state: &State, now: Timestamp) -> Vec<Line> {
    match (&state.ending, state.question) {
        (Some((ending, reason)), _) => over(state, *ending, reason),
        (None, Some(Question::Begin)) => begin(state),
        (None, Some(Question::SameRevision)) => vec![
            text("▲ ", &state.waiting_for, Role::Warn),
            text(
                "  → ",
                "accept the same revision if the node is as new as it should be, install the updates and restart it \
                 once more, or abandon",
                Role::Text,
            ),
        ],
        (None, None) => vec![working(state, now)],
    }
}

/// `● Drain: 3 of 7 pods gone   gives up in 04:10`.
fn working(state: &State, now: Timestamp) -> Line {
    // All of it stands in the tables below.
    let said = sanitise(&state.waiting_for);
    let what = match truncate(&said, WAITING_CELLS) {
        nothing if nothing.is_empty() => "at work".into(),
        what => what,
    };
    let waits = !said.is_empty()
        && !matches!(state.step, Step::Preflight | Step::Drain)
        && !said.starts_with(TROUBLE);
    let mut line = vec![
        Span::new(format!("● {}: ", state.step.title()), Role::Highlight),
        Span::new(if waits { "waiting for " } else { "" }, Role::Text),
        Span::new(what.into_owned(), Role::Text),
    ];
    if let Some(deadline) = machine::deadline(state) {
        let left = format::stopwatch((deadline - now).num_seconds());
        line.push(Span::new(format!("   gives up in {left}"), Role::Muted));
    }
    line
}

/// While the node is silent: how long traffic still goes there.
fn silence(joins: Joins<'_>, state: &State) -> Option<Section> {
    let node = joins.cluster.node(&state.node)?;
    state
        .ending
        .is_none()
        .then(|| super::silence::section(joins, node))?
}

/// Longest text about what is waited for, in cells.
const WAITING_CELLS: usize = 120;

/// How a text begins that tells of trouble, and not of what is waited for.
const TROUBLE: &str = "the API server: ";

/// The worst that the preflight found, and what beginning means.
fn begin(state: &State) -> Vec<Line> {
    let notes = state.preflight.iter().flat_map(|found| &found.notes);
    let mut worst: Vec<&Note> = notes.filter(|note| note.weight >= Weight::Warning).collect();
    worst.sort_by_key(|note| std::cmp::Reverse(note.weight));
    let mut lines: Vec<Line> = worst
        .iter()
        .take(SHOWN_NOTES)
        .map(|note| {
            let (glyph, _, role) = notes::look(note.weight);
            text(&format!("{glyph} "), &note.sentence(), role)
        })
        .collect();
    if worst.len() > SHOWN_NOTES {
        let more = format!("… and {} more below", worst.len() - SHOWN_NOTES);
        lines.push(plain(more, Role::Muted));
    }
    lines.push(text(
        "● ",
        &format!(
            "begin? {} is cordoned and {} evicted; nothing has been changed yet",
            state.node,
            notes::leave(state)
        ),
        Role::Highlight,
    ));
    lines
}

/// Notes that stand above the steps.
const SHOWN_NOTES: usize = 3;

fn over(state: &State, ending: Ending, reason: &str) -> Vec<Line> {
    let was_cordoned = state.record.as_ref().is_some_and(|record| record.was_cordoned);
    let node = sanitise(&state.node).into_owned();
    let word = match ending {
        Ending::Done => {
            let left = if was_cordoned {
                "is ready for work and stays cordoned, as it was found: uncordoning is yours"
            } else {
                "takes pods again"
            };
            return vec![plain(format!("✔ done: {node} {left}"), Role::Ok)];
        }
        Ending::Blocked => "blocked",
        Ending::TimedOut => "timed out",
        Ending::Refused => "refused",
        Ending::Aborted => "ended",
        Ending::NotUpdated => "not updated",
    };
    let mut lines = vec![text("✖ ", &format!("{word}: {reason}"), Role::Error)];
    let next = match (&state.record, ending) {
        (None, _) => "nothing of the cluster was changed".to_owned(),
        // Either the record is gone, or somebody else has it.
        (Some(_), Ending::Aborted) => return lines,
        (Some(_), _) => format!(
            "its record is still on the node: maintain {node} again here, or `drainboard maintain {node} --resume` from \
             anywhere, goes on; `--abandon` gives it up"
        ),
    };
    lines.push(plain(format!("  → {next}"), Role::Text));
    lines
}

/// A glyph and text from outside.
fn text(glyph: &str, text: &str, role: Role) -> Line {
    plain(format!("{glyph}{}", sanitise(text)), role)
}

/// `14:02:05`.
fn clock(at: Timestamp) -> String {
    at.format("%H:%M:%S").to_string()
}

/// `00:58`.
fn lasting(span: TimeDelta) -> String {
    format::stopwatch(span.num_seconds())
}

/// Whether the update must have raised a revision: an update of a Windows node.
const fn asks_for_revision(state: &State) -> bool {
    matches!(state.options.purpose, Purpose::Update)
}

fn section(
    title: &str,
    rows: Vec<Vec<Line>>,
    heads: Vec<(&'static str, crate::store::view::Align)>,
) -> Option<Section> {
    (!rows.is_empty()).then(|| table(title, heads, rows, ""))
}
