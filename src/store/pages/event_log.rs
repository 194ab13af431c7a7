//! The System log of a node: what Loki has of it, and what those records mean that matter.

use super::{lines, table};
use crate::domain::event_record::{EventRecord, Meaning, RecordLevel};
use crate::domain::text::sanitise;
use crate::domain::{Name, Timestamp, format};
use crate::sources::event::{EventLog, Problem};
use crate::store::Store;
use crate::store::columns::cells::plain;
use crate::store::view::{Align, Line, Role, Section, Span};

/// Most records on a page.
const SHOWN: usize = 20;
const TITLE: &str = "System log";

impl Store {
    /// The System log of a node, if it was asked for; or why it cannot be had.
    pub(super) fn event_log_of(&self, node: &Name) -> Option<Result<&EventLog, &Problem>> {
        let (of, told) = self.event_log.as_ref()?;
        (of == node).then_some(told.as_ref())
    }

    /// The newest records of a node's System log, newest first, from `since` on.
    pub(super) fn event_log_section(&self, node: &Name, since: Option<Timestamp>, now: Timestamp) -> Section {
        let log = match self.event_log_of(node) {
            None => return lines(TITLE, vec![plain("asking Loki …", Role::Muted)]),
            Some(Err(problem)) => {
                let text = match problem.next_step.as_str() {
                    "" => format!("– {}", problem.what),
                    step => format!("– {}; {step}", problem.what),
                };
                return lines(TITLE, vec![plain(sanitise(&text), Role::Absent)]);
            }
            Some(Ok(log)) => log,
        };
        let records: Vec<&EventRecord> = log
            .records
            .iter()
            .filter(|record| since.is_none_or(|since| record.at >= since))
            .collect();
        if records.is_empty() {
            return lines(TITLE, vec![plain(nothing(since), Role::Muted)]);
        }
        let heads = vec![
            ("UTC", Align::Left),
            ("AGO", Align::Right),
            ("SOURCE", Align::Left),
            ("ID", Align::Right),
            ("LEVEL", Align::Left),
            ("TEXT", Align::Left),
        ];
        let rows = records
            .iter()
            .take(SHOWN)
            .map(|record| row(record, now))
            .collect();
        let title = match records.len().checked_sub(SHOWN) {
            Some(more) if more > 0 => format!("{TITLE} (the newest {SHOWN}, {more} more)"),
            _ => TITLE.to_owned(),
        };
        table(&title, heads, rows, "")
    }

    /// What records since then say about why a node does not come back: once for each meaning, the newest.
    pub(super) fn told_by_the_event_log(&self, node: &Name, since: Timestamp) -> Vec<Line> {
        let Some(Ok(log)) = self.event_log_of(node) else {
            return Vec::new();
        };
        let mut told: Vec<Meaning> = Vec::new();
        let mut lines = Vec::new();
        for record in log.records.iter().filter(|record| record.at >= since) {
            let Some(meaning) = record.meaning().filter(|meaning| !told.contains(meaning)) else {
                continue;
            };
            told.push(meaning);
            let text = format!(
                "▲ System {} at {}: {}",
                record.id,
                record.at.format("%H:%M:%S"),
                meaning.words()
            );
            lines.push(plain(text, Role::Warn));
        }
        lines
    }
}

/// Loki has no record: that says something of levels 1 to 3 only, and only if they are collected.
fn nothing(since: Option<Timestamp>) -> String {
    let when = since.map_or_else(
        || "of the last 24 hours".to_owned(),
        |since| format!("since {} UTC", since.format("%H:%M:%S")),
    );
    format!(
        "no record {when}; Information (7036, 1074, 6005, 6006, 19, 43, 44) is mostly not collected: nothing follows from its \
         absence"
    )
}

fn row(record: &EventRecord, now: Timestamp) -> Vec<Line> {
    let role = match record.level {
        RecordLevel::Critical | RecordLevel::Error => Role::Error,
        RecordLevel::Warning => Role::Warn,
        RecordLevel::Information => Role::Muted,
    };
    let text = record.message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut said = plain(sanitise(&text), Role::Text);
    if let Some(meaning) = record.meaning() {
        said.insert(0, Span::new(format!("▲ {} · ", meaning.words()), Role::Warn));
    }
    vec![
        plain(record.at.format("%m-%d %H:%M:%S").to_string(), Role::Muted),
        plain(
            format::short_duration((now - record.at).num_seconds().max(0)),
            Role::Muted,
        ),
        plain(sanitise(&record.source), Role::Text),
        plain(record.id.to_string(), Role::Text),
        plain(record.level.name(), role),
        said,
    ]
}
