//! Why a backend could not be asked, in words for the operator.

use crate::domain::reading::Absence;
use crate::domain::text::{sanitise, truncate};
use crate::sources::event::Problem;
use std::error::Error;
use std::sync::Arc;

/// What kind of failure it was, as far as the program acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// 403.
    Forbidden,
    /// 401.
    Unauthorized,
    /// 404.
    NotFound,
    /// This cluster has no such backend.
    NotInstalled,
    /// 429.
    Busy,
    /// Any other error status.
    Status(u16),
    /// No connection, or it broke off.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// An answer that is not what was asked for: HTML, cut off, too long.
    Garbage,
    /// Something in our own options: a file that cannot be read, an address that is none.
    Options,
}

/// A failed request. Its texts are free of secrets and control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problem.what)]
pub struct Failure {
    /// Kind.
    pub kind: FailureKind,
    /// For the operator.
    pub problem: Problem,
    /// The server's own words in an error answer; empty where it said nothing.
    pub said: String,
}

impl Failure {
    /// A failure of this kind: what failed on what, and what to do next.
    pub fn new(kind: FailureKind, what: impl AsRef<str>, next_step: impl Into<String>) -> Self {
        Self {
            kind,
            problem: Problem {
                what: clean(what.as_ref()),
                next_step: next_step.into(),
            },
            said: String::new(),
        }
    }

    /// The reason why a value is not there, with what to do about it.
    pub fn absence(&self) -> Absence {
        let text = Arc::from(self.problem.to_string());
        match self.kind {
            FailureKind::Forbidden => Absence::Forbidden(text),
            _ => Absence::SourceDown(text),
        }
    }
}

/// Longest text of a server or library that is passed on, in cells.
const LONGEST_TEXT: usize = 400;

/// Text from outside, fit for one line of a terminal.
pub fn clean(text: &str) -> String {
    let line = sanitise(text.trim());
    truncate(line.as_ref(), LONGEST_TEXT).into_owned()
}

/// The text of the innermost cause, which names the reason (`connection refused`); the outer ones name the
/// library's own steps.
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut current = error;
    loop {
        // An I/O error that wraps another one does not name it as its source.
        let wrapped = current
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .map(|inner| inner as &(dyn Error + 'static));
        match wrapped.or_else(|| current.source()) {
            Some(inner) => current = inner,
            None => return clean(&current.to_string()),
        }
    }
}

/// The message in the body of an error answer: of the API server's `Status`, of Prometheus's envelope, or the
/// text as it is. A web page has none.
pub fn message_of(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct ErrorBody {
        #[serde(default)]
        message: Option<String>,
        #[serde(default)]
        error: Option<String>,
    }
    if is_html(body) {
        return "a web page".to_owned();
    }
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(
            ErrorBody {
                message: Some(text), ..
            }
            | ErrorBody {
                error: Some(text), ..
            },
        ) => clean(&text),
        _ => clean(&String::from_utf8_lossy(body)),
    }
}

/// Whether the API server itself says so, and not the backend behind it.
pub fn is_api_status(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        kind: String,
    }
    serde_json::from_slice::<Kind>(body).is_ok_and(|body| body.kind == "Status")
}

/// Whether a body is a web page.
pub fn is_html(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'<')
}
