//! One watch request: changes from a resource version on, until the server ends it, it breaks off, or somebody
//! asks for a fresh one.

use super::failure::Failure;
use super::http::{Answer, ApiServer};
use super::intern::Interner;
use super::resource::{Resource, Target};
use super::wire::WatchLine;
use crate::domain::object::Change;
use crate::sources::context::EventSink;
use kube::api::WatchParams;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the server is asked to keep a watch open. A connection that died in silence is noticed at the
/// latest `SLACK` later.
const WATCH_SECONDS: u32 = 55;
const SLACK: Duration = Duration::from_secs(5);
/// What comes within this time after a batch is the next one, so that a busy cluster costs fifty messages a second and
/// not one for each change; a lone change is not delayed.
const LULL: Duration = Duration::from_millis(20);
/// Most changes in one message.
const BATCH: usize = 1000;

/// An open watch.
pub struct Follow {
    answer: Answer,
    /// Bytes of lines that are not complete yet; the first `searched` of them hold no line end.
    pending: Vec<u8>,
    searched: usize,
}

/// Opens a watch from `version` on.
pub async fn open<R: Resource>(api: &ApiServer, target: &Target, version: &str) -> Result<Follow, Failure> {
    let params = WatchParams {
        label_selector: target.selector.clone(),
        timeout: Some(WATCH_SECONDS),
        ..WatchParams::default()
    };
    let request = kube::core::Request::new(target.path::<R>())
        .watch(&params, version)
        .map_err(|error| Failure::Malformed(error.to_string()))?;
    Ok(Follow {
        answer: api.open_watch(request).await?,
        pending: Vec::new(),
        searched: 0,
    })
}

impl Follow {
    /// Sends changes and moves `version` forward until the watch ends. An end is no failure: the next watch goes
    /// on from `version`.
    pub async fn run<R: Resource>(
        mut self,
        version: &mut String,
        sink: &EventSink,
        names: &mut Interner,
    ) -> Result<(), Failure> {
        let patience = Duration::from_secs(u64::from(WATCH_SECONDS)) + SLACK;
        let mut quiet_until = Instant::now();
        loop {
            let Ok(Some(piece)) = self.answer.piece(patience).await else {
                return Ok(());
            };
            let mut changes = Vec::new();
            let mut reached = version.clone();
            let mut outcome = self.take::<R>(piece.as_ref(), &mut reached, names, &mut changes);
            let mut ended = false;
            // The server sends each change in a piece of its own: who slept here would find only the next one.
            while outcome.is_ok() && !ended && changes.len() < BATCH {
                match timeout_at(quiet_until, self.answer.piece(patience)).await {
                    Err(_) => break,
                    Ok(Ok(Some(piece))) => {
                        outcome = self.take::<R>(piece.as_ref(), &mut reached, names, &mut changes);
                    }
                    Ok(_) => ended = true,
                }
            }
            if !changes.is_empty() {
                sink.send(R::payload(changes)).await;
            }
            quiet_until = Instant::now() + LULL;
            // Only what was sent counts: whoever drops this future in between gets it again.
            *version = reached;
            outcome?;
            if ended {
                return Ok(());
            }
        }
    }

    /// Decodes the lines that `piece` completes.
    fn take<R: Resource>(
        &mut self,
        piece: &[u8],
        version: &mut String,
        names: &mut Interner,
        changes: &mut Vec<Change<R::Row>>,
    ) -> Result<(), Failure> {
        self.pending.extend_from_slice(piece);
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.pending[self.searched..]) {
            let end = self.searched + length;
            let line = self.pending[start..end].trim_ascii();
            if !line.is_empty() {
                decode::<R>(line, version, names, changes)?;
            }
            start = end + 1;
            self.searched = start;
        }
        self.pending.drain(..start);
        self.searched = self.pending.len();
        Ok(())
    }
}

fn decode<R: Resource>(
    line: &[u8],
    version: &mut String,
    names: &mut Interner,
    changes: &mut Vec<Change<R::Row>>,
) -> Result<(), Failure> {
    let line: WatchLine<'_, R::Wire<'_>> =
        serde_json::from_slice(line).map_err(|error| Failure::of_json(&error))?;
    let reached = match &line {
        WatchLine::Added(wire) | WatchLine::Modified(wire) => {
            changes.push(Change::Upsert(R::row(wire, names)));
            R::version(wire)
        }
        WatchLine::Deleted(gone) => {
            changes.push(Change::Delete(gone.metadata.key(names)));
            &gone.metadata.resource_version
        }
        WatchLine::Bookmark(mark) => &mark.metadata.resource_version,
        WatchLine::Error(status) => return Err(Failure::of_watch_error(status)),
    };
    if let Some(reached) = reached.present() {
        version.clear();
        version.push_str(reached);
    }
    Ok(())
}
