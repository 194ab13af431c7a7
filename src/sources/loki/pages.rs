//! Reading a range page by page, so that no line is lost or told twice although many have the same time.
//!
//! An answer that is as long as its limit may have cut through the lines of its last moment. That moment is left to
//! the next page as a whole; a moment that has more lines than an answer takes is read by itself ([`crowd`]).

use super::connection::Connection;
use super::crowd::crowd;
use crate::domain::log::{LogEntry, LogOrder, LogPage, LogRange};
use crate::sources::transport::failure::{Failure, FailureKind};

/// Errors from which something can be learned, for one question: both limits, and one that changes meanwhile.
const LESSONS: usize = 4;

/// Reads from that end of the range about `limit` lines: fewer at the end of what is allowed in one query, more
/// where one moment has more.
///
/// # Errors
/// What Loki or the way to it says, or an answer that is none.
pub async fn page(
    loki: &Connection,
    logql: &str,
    range: LogRange,
    order: LogOrder,
    limit: usize,
) -> Result<LogPage, Failure> {
    let mut range = range;
    let mut lessons = 0;
    loop {
        if range.is_empty() {
            return Ok(LogPage::default());
        }
        let limits = loki.limits();
        let window = window(range, order, limits.range_ns);
        let limit = limit.clamp(1, limits.entries);
        let answer = match loki.query_range(logql, window, order, limit).await {
            Ok(answer) => answer,
            Err(failure) if lessons < LESSONS && loki.learn(&failure) => {
                lessons += 1;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if answer.len() < limit {
            // That was the whole window; further ones are read until one has lines.
            let rest = beyond(range, window, order);
            let entries = inside(answer, window, order);
            match rest {
                Some(rest) if entries.is_empty() => range = rest,
                rest => {
                    return Ok(LogPage {
                        entries,
                        rest,
                        lost: 0,
                    });
                }
            }
            continue;
        }
        return full_page(loki, logql, range, order, inside(answer, window, order)).await;
    }
}

/// The page of an answer that was full, and may have cut through its last moment.
async fn full_page(
    loki: &Connection,
    logql: &str,
    range: LogRange,
    order: LogOrder,
    mut entries: Vec<LogEntry>,
) -> Result<LogPage, Failure> {
    let (Some(first), Some(last)) = (
        entries.first().map(|entry| entry.at_ns),
        entries.last().map(|entry| entry.at_ns),
    ) else {
        return Err(Failure::new(
            FailureKind::Garbage,
            "Loki answered with lines that are not of the time that was asked for",
            "check the server and what stands in between; another range may work",
        ));
    };
    let mut lost = 0;
    let rest = if first == last {
        (entries, lost) = crowd(loki, logql, last).await?;
        match order {
            LogOrder::NewestFirst => LogRange {
                end_ns: last,
                ..range
            },
            LogOrder::OldestFirst => LogRange {
                start_ns: last.saturating_add(1),
                ..range
            },
        }
    } else {
        entries.retain(|entry| entry.at_ns != last);
        match order {
            LogOrder::NewestFirst => LogRange {
                end_ns: last.saturating_add(1),
                ..range
            },
            LogOrder::OldestFirst => LogRange {
                start_ns: last,
                ..range
            },
        }
    };
    Ok(LogPage {
        entries,
        rest: (!rest.is_empty()).then_some(rest),
        lost,
    })
}

/// The part of the range that one query may be about, at its near end.
fn window(range: LogRange, order: LogOrder, longest: i64) -> LogRange {
    match order {
        LogOrder::NewestFirst => LogRange {
            start_ns: range.start_ns.max(range.end_ns.saturating_sub(longest)),
            ..range
        },
        LogOrder::OldestFirst => LogRange {
            end_ns: range.end_ns.min(range.start_ns.saturating_add(longest)),
            ..range
        },
    }
}

/// What of the range lies behind this window.
fn beyond(range: LogRange, window: LogRange, order: LogOrder) -> Option<LogRange> {
    let rest = match order {
        LogOrder::NewestFirst => LogRange {
            end_ns: window.start_ns,
            ..range
        },
        LogOrder::OldestFirst => LogRange {
            start_ns: window.end_ns,
            ..range
        },
    };
    (!rest.is_empty()).then_some(rest)
}

/// The lines of the window, in order; whatever else the server sends was not asked for.
fn inside(mut entries: Vec<LogEntry>, window: LogRange, order: LogOrder) -> Vec<LogEntry> {
    entries.retain(|entry| window.holds(entry.at_ns));
    sort(&mut entries, order);
    entries
}

/// Lines of one moment stand as their stream wrote them: that order is the answer's.
pub(super) fn sort(entries: &mut [LogEntry], order: LogOrder) {
    let by_time = |one: &LogEntry, other: &LogEntry| one.at_ns.cmp(&other.at_ns);
    entries.sort_by(|one, other| match order {
        LogOrder::OldestFirst => by_time(one, other),
        LogOrder::NewestFirst => by_time(other, one),
    });
}
