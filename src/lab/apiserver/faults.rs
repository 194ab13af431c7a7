//! Switchable faults: what a broken network, proxy or server answers instead of the API.

use super::failure::{Failure, json_response};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A `Status` object with this code (401, 403, 404, 410, 429, 5xx).
    Status(u16),
    /// 429 with a `Retry-After` of this many seconds.
    TooManyRequests(u32),
    /// An HTML page with this code, as a proxy in between answers.
    Html(u16),
    /// 200 with JSON that ends in the middle.
    TruncatedJson,
    /// The right answer, later.
    Delay(Duration),
    /// No answer at all; the connection stays open.
    Hang,
}

#[derive(Debug)]
struct Planned {
    prefix: String,
    fault: Fault,
    /// How many requests it still meets; `None` is all.
    left: Option<u32>,
}

/// The faults in force, by path prefix. Cheap to clone; all clones are one plan.
#[derive(Debug, Clone)]
pub struct FaultPlan {
    planned: Arc<Mutex<Vec<Planned>>>,
    dropped: watch::Sender<u64>,
}

impl Default for FaultPlan {
    fn default() -> Self {
        Self {
            planned: Arc::default(),
            dropped: watch::Sender::new(0),
        }
    }
}

impl FaultPlan {
    /// From now on every request below `prefix` meets this fault. The newest fault wins.
    pub fn set(&self, prefix: &str, fault: Fault) {
        self.plan(prefix, fault, None);
    }

    /// The next `times` requests below `prefix` meet this fault.
    pub fn set_times(&self, prefix: &str, fault: Fault, times: u32) {
        self.plan(prefix, fault, Some(times));
    }

    fn plan(&self, prefix: &str, fault: Fault, left: Option<u32>) {
        let planned = Planned {
            prefix: prefix.to_owned(),
            fault,
            left,
        };
        self.planned
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(planned);
    }

    /// Everything answers as it should again.
    pub fn clear(&self) {
        self.planned
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Ends every running watch in the middle, as a broken connection does.
    pub fn drop_watches(&self) {
        self.dropped.send_modify(|count| *count += 1);
    }

    /// Wakes when running watches are to end.
    pub(super) fn watch_drops(&self) -> watch::Receiver<u64> {
        self.dropped.subscribe()
    }

    fn next(&self, path: &str) -> Option<Fault> {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let found = planned.iter().rposition(|one| path.starts_with(&one.prefix))?;
        let one = planned.get_mut(found)?;
        let fault = one.fault.clone();
        match &mut one.left {
            Some(left) if *left <= 1 => {
                planned.remove(found);
            }
            Some(left) => *left -= 1,
            None => {}
        }
        Some(fault)
    }

    /// The faulty answer to a request, or nothing when the server shall answer.
    pub(super) async fn meet(&self, path: &str) -> Option<Response> {
        match self.next(path)? {
            Fault::Status(code) => Some(failure(code).into_response()),
            Fault::TooManyRequests(seconds) => {
                let mut failure = failure(429);
                failure.retry_after = Some(seconds);
                failure.details = json!({ "retryAfterSeconds": seconds });
                Some(failure.into_response())
            }
            Fault::Html(code) => {
                let code = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
                let page =
                    format!("<html><head><title>{code}</title></head><body><h1>{code}</h1></body></html>\n");
                Some((code, [(header::CONTENT_TYPE, "text/html")], page).into_response())
            }
            Fault::TruncatedJson => {
                let whole = json_response(StatusCode::OK, &json!({}));
                let (parts, _) = whole.into_parts();
                Some(Response::from_parts(
                    parts,
                    Body::from(r#"{"kind":"List","apiVersion":"v1","items":[{"meta"#),
                ))
            }
            Fault::Delay(delay) => {
                tokio::time::sleep(delay).await;
                None
            }
            Fault::Hang => {
                // Not even the headers come: the handler does not end before the client does.
                std::future::pending::<Option<Response>>().await
            }
        }
    }
}

fn failure(code: u16) -> Failure {
    let (reason, message) = match code {
        401 => return Failure::unauthorized(),
        403 => ("Forbidden", "forbidden: not allowed by the fault plan"),
        404 => ("NotFound", "the server could not find the requested resource"),
        410 => (
            "Expired",
            "The resourceVersion for the provided watch is too old.",
        ),
        429 => ("TooManyRequests", "Too many requests, please try again later."),
        500 => ("InternalError", "Internal error occurred: storage is unavailable"),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => (
            "Timeout",
            "Timeout: request did not complete within the allotted timeout",
        ),
        _ => ("", "the server answered with an error of the fault plan"),
    };
    Failure::new(code, reason, message)
}
