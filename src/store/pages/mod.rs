//! Pages about one node or pod, and the preview of a row below its table.

mod event_log;
mod node;
mod pod;
mod preview;
mod silence;
mod smb;
mod undrained;
mod workflow;

use super::columns::cells::{ABSENT, plain, role_at, whole};
use super::view::{Align, Body, Line, Role, Section, Span};
use crate::domain::object::ClusterEvent;
use crate::domain::reading::Reading;
use crate::domain::text::sanitise;
use crate::domain::{Timestamp, format};

/// Events shown on a page.
const EVENTS_SHOWN: usize = 20;

/// Cells of the labels in front of values.
const LABEL_CELLS: usize = 13;

/// `commit       98 MiB …`: a label, then the value.
fn labelled(label: &str, value: Line) -> Line {
    let mut line = plain(format!("{label:<LABEL_CELLS$} "), Role::Muted);
    line.extend(value);
    line
}

/// A measured value with source and age; a dash and the reason where it is absent.
fn measured<T>(reading: &Reading<T>, now: Timestamp, value: impl FnOnce(&T) -> Line) -> Line {
    match reading {
        Reading::Present { value: held, .. } => {
            let mut line = value(held);
            line.push(provenance(reading, now));
            line
        }
        Reading::Absent(reason) => vec![
            Span::new(ABSENT, Role::Absent),
            Span::new(format!("  {}", sanitise(&reason.to_string())), Role::Muted),
        ],
    }
}

/// The working set of a node or container, named as the operator knows it.
fn working_set_line(working_set: &Reading<f64>, now: Timestamp) -> Line {
    labelled(
        "working set",
        measured(working_set, now, |value| {
            vec![
                Span::new(format::bytes_long(whole(*value)), Role::Text),
                Span::new("  (what kubectl top shows)", Role::Muted),
            ]
        }),
    )
}

/// `   prometheus, 12 s ago`.
fn provenance<T>(reading: &Reading<T>, now: Timestamp) -> Span {
    let Reading::Present { source, .. } = reading else {
        return Span::new("", Role::Muted);
    };
    let age = reading.age_seconds(now).unwrap_or(0);
    let ago = format::ago(i64::try_from(age).unwrap_or(i64::MAX));
    Span::new(format!("   {source}, {ago}"), role_at(reading, now, Role::Muted))
}

fn lines(title: &str, lines: Vec<Line>) -> Section {
    Section {
        title: title.to_owned(),
        body: Body::Lines(lines),
    }
}

/// A table, or one line that says why it is empty.
fn table(
    title: &str,
    heads: Vec<(&'static str, Align)>,
    rows: Vec<Vec<Line>>,
    empty: impl Into<String>,
) -> Section {
    let body = if rows.is_empty() {
        Body::Lines(vec![plain(sanitise(&empty.into()), Role::Muted)])
    } else {
        Body::Table(heads, rows)
    };
    Section {
        title: title.to_owned(),
        body,
    }
}

/// Events about an object, newest first.
fn events_section(events: Vec<&ClusterEvent>, absence: Option<String>, now: Timestamp) -> Section {
    let rows = events
        .into_iter()
        .take(EVENTS_SHOWN)
        .map(|event| {
            let role = if event.warning { Role::Warn } else { Role::Text };
            let glyph = if event.warning { "▲ " } else { "" };
            let ago = event.last_seen.map_or_else(
                || ABSENT.to_owned(),
                |at| format::spoken_age((now - at).num_seconds()),
            );
            let count = if event.count > 1 {
                format!("×{}", event.count)
            } else {
                String::new()
            };
            vec![
                plain(ago, Role::Muted),
                plain(format!("{glyph}{}", sanitise(&event.reason)), role),
                plain(count, Role::Muted),
                plain(sanitise(&event.message), Role::Text),
            ]
        })
        .collect();
    let heads = vec![
        ("AGE", Align::Right),
        ("REASON", Align::Left),
        ("COUNT", Align::Right),
        ("MESSAGE", Align::Left),
    ];
    table(
        "events",
        heads,
        rows,
        absence.unwrap_or_else(|| "none in the last hour".into()),
    )
}
