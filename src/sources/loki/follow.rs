//! New lines as they come: sent by Loki on a websocket where there is one, else asked for again and again.

use super::connection::Connection;
use super::seen::Seen;
use super::{catalogue, pages, say};
use crate::domain::log::{LogEntry, LogOrder, LogQuery, LogRange, SECOND_NANOS, UnixNanos};
use crate::sources::context::EventSink;
use crate::sources::event::{FollowMeans, LogsAnswer, LogsId, Problem};
use crate::sources::transport::failure::{Failure, FailureKind};
use chrono::Utc;
use std::time::Duration;

/// Between two questions for new lines.
const POLL: Duration = Duration::from_secs(2);

/// Rest after a failure, the first time; doubled each time up to [`LONGEST_REST`].
const REST: Duration = Duration::from_secs(2);
const LONGEST_REST: Duration = Duration::from_secs(30);

/// Lines asked for at once.
const LINES: usize = 5_000;

/// Clocks differ: lines that are this far in the future by ours are read, too.
const AHEAD: UnixNanos = 300 * SECOND_NANOS;

/// Tells what comes, without end; the receiver's pace is that of the reading.
///
/// # Errors
/// This Loki does not have what is asked for, or does not understand it: it will not the next time.
pub async fn follow(
    loki: &Connection,
    query: &LogQuery,
    since_ns: UnixNanos,
    sink: &EventSink,
    id: LogsId,
) -> Result<(), Failure> {
    let logql = catalogue::logql(query, &loki.labels)?;
    let mut following = Following {
        loki,
        logql,
        since_ns,
        seen: Seen::default(),
        sink,
        id,
        told: None,
    };
    let mut pushed = loki.tail().is_some();
    let mut rest = REST;
    loop {
        let means = if pushed {
            FollowMeans::Pushed
        } else {
            FollowMeans::Polled
        };
        let outcome = match means {
            FollowMeans::Pushed => following.listen().await,
            FollowMeans::Polled => following.poll().await,
        };
        match outcome {
            Ok(()) => {
                rest = REST;
                if means == FollowMeans::Polled {
                    tokio::time::sleep(POLL).await;
                }
            }
            Err(failure) if is_final(&failure) && means == FollowMeans::Polled => return Err(failure),
            Err(failure) => {
                // A proxy that passes no websockets on, or more tails than Loki allows.
                pushed &= matches!(failure.kind, FailureKind::Unreachable | FailureKind::Timeout);
                following.tell(means, Some(failure.problem)).await;
                tokio::time::sleep(rest).await;
                rest = (rest * 2).min(LONGEST_REST);
            }
        }
    }
}

/// The question itself is wrong.
const fn is_final(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Status(400))
}

struct Following<'a> {
    loki: &'a Connection,
    logql: String,
    since_ns: UnixNanos,
    seen: Seen,
    sink: &'a EventSink,
    id: LogsId,
    /// What was last said of how it goes.
    told: Option<LogsAnswer>,
}

impl Following<'_> {
    /// Listens until Loki ends the tail.
    async fn listen(&mut self) -> Result<(), Failure> {
        let Some(tail) = self.loki.tail() else {
            return Ok(());
        };
        let from = self.seen.begin(self.since_ns);
        let mut tailing = tail.open(&self.logql, from).await?;
        self.tell(FollowMeans::Pushed, None).await;
        while let Some((entries, dropped)) = tailing.next(&self.loki.labels).await? {
            let news = self.seen.news(entries);
            self.news(news, dropped).await;
        }
        Ok(())
    }

    /// Asks once for what is new.
    async fn poll(&mut self) -> Result<(), Failure> {
        let now = Utc::now().timestamp_nanos_opt().unwrap_or(UnixNanos::MAX);
        let mut range = Some(LogRange {
            start_ns: self.seen.begin(self.since_ns),
            end_ns: now.saturating_add(AHEAD),
        });
        while let Some(unread) = range {
            let page = pages::page(self.loki, &self.logql, unread, LogOrder::OldestFirst, LINES).await?;
            let news = self.seen.news(page.entries);
            self.news(news, page.lost).await;
            range = page.rest;
        }
        self.tell(FollowMeans::Polled, None).await;
        Ok(())
    }

    async fn news(&self, entries: Vec<LogEntry>, dropped: u64) {
        if !entries.is_empty() || dropped > 0 {
            say(self.sink, self.id, LogsAnswer::News { entries, dropped }).await;
        }
    }

    /// Says how it goes, where that is new.
    async fn tell(&mut self, means: FollowMeans, trouble: Option<Problem>) {
        let now = LogsAnswer::Following { means, trouble };
        if self.told.as_ref() != Some(&now) {
            self.told = Some(now.clone());
            say(self.sink, self.id, now).await;
        }
    }
}
