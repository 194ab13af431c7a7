//! Failures of requests, sorted into those that may pass and those that stay, in words for the operator.

use crate::maintenance::effect::{LockError, WriteError};
use crate::sources::event::Scope;
use crate::sources::kubernetes::failure::{Asked, Failure};
use crate::sources::kubernetes::http::Reply;
use serde_json::Value;

/// Content type of a whole object.
pub const JSON: &str = "application/json";
/// Content type of an RFC 7386 patch.
pub const MERGE_PATCH: &str = "application/merge-patch+json";

/// A body of a request.
pub fn body(content_type: &'static str, object: &Value) -> (&'static str, Vec<u8>) {
    (content_type, object.to_string().into_bytes())
}

/// What was asked for.
pub fn asked(verb: &'static str, object: impl Into<String>) -> Asked {
    Asked {
        verb,
        object: object.into(),
        all_namespaces: false,
    }
}

/// Whether the same request may succeed later: the server is away, busy or broken, something in between is, or the
/// credentials are being renewed. All other refusals stay.
pub fn may_pass(failure: &Failure) -> bool {
    match failure {
        Failure::Status { code, .. } => {
            !(400..500).contains(code) || matches!(code, 401 | 408 | 409 | 410 | 429)
        }
        _ => true,
    }
}

/// What failed on what, with what to do where that is known without the context.
pub fn words(failure: &Failure, asked: &Asked) -> String {
    let problem = failure.problem(asked, &Scope::default());
    match failure {
        Failure::Status { code: 403, .. } => format!("{}; {}", problem.what, problem.next_step),
        Failure::Status { code: 401, .. } | Failure::Credentials(_) => {
            format!("{}; log in again, it is tried again by itself", problem.what)
        }
        _ => problem.what,
    }
}

/// As an answer to a change of the node.
pub fn write_error(failure: &Failure, asked: &Asked) -> WriteError {
    let text = words(failure, asked);
    if may_pass(failure) {
        WriteError::Retry(text)
    } else {
        WriteError::Refused(text)
    }
}

/// As an answer to the Lease.
pub fn lock_error(failure: &Failure, asked: &Asked) -> LockError {
    let text = words(failure, asked);
    if may_pass(failure) {
        LockError::Failed(text)
    } else {
        LockError::Refused(text)
    }
}

/// Whether the API server says that this very object is not there. A 404 of something in between, or for a path that
/// the server does not know, proves nothing.
pub fn is_missing(reply: &Reply, name: &str) -> bool {
    let named = |reply: &Reply| {
        let status = reply.status()?;
        Some(*status.details?.name == *name)
    };
    reply.code == 404 && named(reply) == Some(true)
}
