//! Watches: initial state, replay of the history window, live changes, bookmarks, streaming lists, 410.

use super::failure::{Failure, Outcome};
use super::faults::FaultPlan;
use super::history::{Change, ChangeKind};
use super::kinds::Kind;
use super::objects::Objects;
use super::read::{Filter, partial, too_large};
use super::request::{Form, Query, Target};
use super::table;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use chrono::Utc;
use futures::{Stream, stream};
use http::header;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::Instant;

/// A bookmark is sent at least this often to a client that wants them (the real server: about a minute).
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// A watch without `timeoutSeconds` ends after this time (the real server: 30 to 60 minutes).
const LONGEST: Duration = Duration::from_mins(30);

struct Watch {
    objects: Objects,
    kind: &'static Kind,
    filter: Filter,
    query: Query,
    form: Form,
    bookmarks: bool,
    /// Everything up to here has been sent.
    revision: u64,
    pending: VecDeque<Value>,
    columns_sent: bool,
    ended: bool,
    changed: Receiver<u64>,
    dropped: Receiver<u64>,
    until: Instant,
}

/// Starts a watch.
///
/// # Errors
/// 400 for unreadable parameters, 422 for a combination that the API forbids, 504 for a revision from the future.
pub fn watch(
    objects: &Objects,
    faults: &FaultPlan,
    kind: &'static Kind,
    target: &Target,
    query: &Query,
    form: Form,
) -> Outcome<Response> {
    let filter = Filter::new(kind, target, query)?;
    let streaming = query.get("sendInitialEvents").map(|value| value == "true");
    check_combination(streaming, query)?;
    let asked = query.number::<u64>("resourceVersion")?.unwrap_or(0);
    let timeout = query
        .number::<u64>("timeoutSeconds")?
        .map_or(LONGEST, Duration::from_secs);
    let current = objects.revision();
    if asked > current {
        return Err(too_large(asked, current));
    }
    let mut watch = Watch {
        objects: objects.clone(),
        kind,
        filter,
        query: query.clone(),
        form,
        bookmarks: query.flag("allowWatchBookmarks"),
        revision: asked,
        pending: VecDeque::new(),
        columns_sent: false,
        ended: false,
        changed: objects.subscribe(kind),
        dropped: faults.watch_drops(),
        until: Instant::now() + timeout,
    };
    let initial = streaming.unwrap_or(asked == 0);
    if initial {
        watch.send_initial_state(streaming == Some(true));
    } else if asked == 0 {
        watch.revision = current;
    }
    let body = Body::from_stream(watch.into_stream());
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// The rules for streaming lists (`sendInitialEvents`).
fn check_combination(streaming: Option<bool>, query: &Query) -> Outcome<()> {
    let (why, cause) = match (streaming, query.get("resourceVersionMatch")) {
        (None, Some(_)) => (
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            "FieldValueForbidden",
        ),
        (Some(_), None) => (
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            "FieldValueForbidden",
        ),
        (Some(_), Some(other)) if other != "NotOlderThan" => (
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            "FieldValueForbidden",
        ),
        _ => return Ok(()),
    };
    let message = format!("ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: {why}");
    let mut failure = Failure::new(422, "Invalid", message);
    let cause = json!({ "reason": cause, "message": why, "field": "resourceVersionMatch" });
    failure.details = json!({ "group": "meta.k8s.io", "kind": "ListOptions", "causes": [cause] });
    Err(failure)
}

impl Watch {
    fn send_initial_state(&mut self, mark_the_end: bool) {
        let (revision, snapshot) = self.objects.list(self.kind);
        for (key, object) in &snapshot {
            if self.filter.matches(key, object) {
                self.push("ADDED", object);
            }
        }
        self.revision = revision;
        if mark_the_end {
            let event = self.bookmark(&json!({ "k8s.io/initial-events-end": "true" }));
            self.pending.push_back(event);
        }
    }

    fn push(&mut self, change: &str, object: &Arc<Value>) {
        let object = match self.form {
            Form::Object => (**object).clone(),
            Form::Metadata => partial(object),
            Form::Table => {
                let columns = !std::mem::replace(&mut self.columns_sent, true);
                let metadata = json!({ "resourceVersion": object["metadata"]["resourceVersion"] });
                table::table(
                    self.kind,
                    &[Arc::clone(object)],
                    &metadata,
                    &self.query,
                    columns,
                    Utc::now(),
                )
            }
        };
        self.pending
            .push_back(json!({ "type": change, "object": object }));
    }

    fn bookmark(&self, annotations: &Value) -> Value {
        let mut metadata = json!({ "resourceVersion": self.revision.to_string() });
        if !annotations.is_null() {
            metadata["annotations"] = annotations.clone();
        }
        json!({ "type": "BOOKMARK", "object": {
            "kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata,
        }})
    }

    /// Queues what has changed since the last look.
    fn catch_up(&mut self) {
        match self.objects.changes_after(self.kind, self.revision) {
            Ok(changes) => {
                for change in changes {
                    self.revision = change.revision;
                    if let Some(event) = self.visible_as(&change) {
                        self.push(event, &change.object);
                    }
                }
            }
            Err(expired) => {
                let status = Failure::expired(expired.to_string()).status();
                self.pending
                    .push_back(json!({ "type": "ERROR", "object": status }));
                self.ended = true;
            }
        }
    }

    /// How a change looks through the filter: an object that starts or stops matching appears or disappears.
    fn visible_as(&self, change: &Change) -> Option<&'static str> {
        let before = change
            .previous
            .as_ref()
            .is_some_and(|object| self.filter.matches(&change.key, object));
        let after = change.kind != ChangeKind::Deleted && self.filter.matches(&change.key, &change.object);
        match (before, after) {
            (false, true) => Some("ADDED"),
            (true, true) => Some("MODIFIED"),
            (true, false) => Some("DELETED"),
            (false, false) => None,
        }
    }

    /// Waits until something is queued; `None` when the watch is over.
    async fn next(&mut self) -> Option<Value> {
        let mut bookmark_at = Instant::now() + BOOKMARK_EVERY;
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            // Marked as seen before looking, so that a change while looking wakes again.
            self.changed.borrow_and_update();
            self.catch_up();
            if !self.pending.is_empty() || self.ended {
                continue;
            }
            tokio::select! {
                _ = self.changed.changed() => {}
                _ = self.dropped.changed() => self.ended = true,
                () = tokio::time::sleep_until(bookmark_at.min(self.until)) => {
                    self.ended = Instant::now() >= self.until;
                    bookmark_at = Instant::now() + BOOKMARK_EVERY;
                    if self.bookmarks {
                        self.revision = self.revision.max(self.objects.revision());
                        let event = self.bookmark(&Value::Null);
                        self.pending.push_back(event);
                    }
                }
            }
        }
    }

    fn into_stream(self) -> impl Stream<Item = io::Result<String>> {
        stream::unfold(self, |mut watch| async move {
            let event = watch.next().await?;
            Some((Ok(format!("{event}\n")), watch))
        })
    }
}
