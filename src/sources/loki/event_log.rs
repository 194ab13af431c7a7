//! The System log of the node that is on screen, asked again as long as it is.

use super::connection::Connection;
use super::read;
use crate::domain::event_record::{EventRecord, RecordLevel};
use crate::domain::log::{LogEntry, LogOrder, LogQuery, LogRange, LogScope};
use crate::domain::{Name, Timestamp};
use crate::sources::event::{EventLog, Problem};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

/// How far back it goes.
pub const HOURS: i64 = 24;
/// Most records: the newest.
const MOST: usize = 200;

/// A record as Alloy and Promtail write it; other collectors have other names for the same.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, alias = "SourceName", alias = "ProviderName")]
    source: std::borrow::Cow<'a, str>,
    #[serde(alias = "EventID")]
    event_id: u32,
    #[serde(default)]
    level: u64,
    #[serde(borrow, default, rename = "timeCreated")]
    time_created: std::borrow::Cow<'a, str>,
    #[serde(borrow, default, alias = "Message")]
    message: std::borrow::Cow<'a, str>,
}

/// The newest records of a node.
///
/// # Errors
/// Loki cannot be asked, or holds no event logs.
pub async fn newest(loki: &Connection, node: &Name) -> Result<EventLog, Problem> {
    let now = Utc::now();
    let nanos = |at: Timestamp| at.timestamp_nanos_opt().unwrap_or(i64::MAX);
    let query = LogQuery {
        scope: LogScope::Events(node.clone()),
        filter: None,
    };
    let range = LogRange {
        start_ns: nanos(now - TimeDelta::hours(HOURS)),
        // The clock of Loki may be ahead of ours.
        end_ns: nanos(now + TimeDelta::minutes(5)),
    };
    let page = read(loki, &query, range, LogOrder::NewestFirst, MOST)
        .await
        .map_err(|failure| failure.problem)?;
    let entries = page.entries.len();
    let records: Vec<EventRecord> = page.entries.iter().filter_map(record).collect();
    Ok(EventLog {
        unread: entries - records.len(),
        more: page.rest.is_some(),
        records,
    })
}

/// The record of a line; `None` for what is none.
fn record(entry: &LogEntry) -> Option<EventRecord> {
    let line: Line<'_> = serde_json::from_str(&entry.line).ok()?;
    let written = DateTime::parse_from_rfc3339(&line.time_created).ok();
    Some(EventRecord {
        at: written.map_or_else(|| entry.at(), |at| at.with_timezone(&Utc)),
        source: line.source.as_ref().into(),
        id: line.event_id,
        level: RecordLevel::of(line.level),
        message: line.message.into(),
    })
}
