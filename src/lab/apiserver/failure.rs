//! Errors as a Kubernetes API server words them: `Status` objects with code, reason, message and details.

use super::kinds::Kind;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// A refused request. It becomes a `Status` object on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// HTTP status code.
    pub code: u16,
    /// Machine-readable reason (`NotFound`, `Conflict`, …).
    pub reason: &'static str,
    /// What the operator reads.
    pub message: String,
    /// `details` of the `Status`: name, group, kind, uid, causes, retryAfterSeconds.
    pub details: Value,
    /// Seconds for the `Retry-After` header.
    pub retry_after: Option<u32>,
}

/// The answer of a handler.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: Value::Null,
            retry_after: None,
        }
    }

    fn about(mut self, kind: &Kind, name: &str) -> Self {
        self.details = json!({ "name": name, "kind": kind.plural });
        if !kind.group.is_empty() {
            self.details["group"] = json!(kind.group);
        }
        self
    }

    /// The same failure with `details` that say nothing, where the real server sends them so.
    fn with_empty_details(mut self) -> Self {
        self.details = json!({});
        self
    }

    /// 404 for a path that no resource answers.
    pub fn unknown_path() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
        .with_empty_details()
    }

    /// 404 for an object.
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(
            404,
            "NotFound",
            format!("{} {name:?} not found", kind.qualified()),
        )
        .about(kind, name)
    }

    /// 409: created twice.
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{} {name:?} already exists", kind.qualified()),
        )
        .about(kind, name)
    }

    /// 409: a precondition does not hold.
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            kind.qualified()
        );
        Self::new(409, "Conflict", message).about(kind, name)
    }

    /// 403 for one object, decided after the authorizer (admission).
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {why}", kind.qualified());
        Self::new(403, "Forbidden", message).about(kind, name)
    }

    /// 422: the object breaks a rule of validation at `field`.
    pub fn invalid(kind: &Kind, name: &str, field: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is invalid: {field}: {why}", qualified_kind(kind));
        let mut failure = Self::new(422, "Invalid", message).about(kind, name);
        failure.details["kind"] = json!(kind.kind);
        let reason = if why.starts_with("Required value") {
            "FieldValueRequired"
        } else {
            "FieldValueInvalid"
        };
        failure.details["causes"] = json!([{ "reason": reason, "message": why, "field": field }]);
        failure
    }

    /// 400: the request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401, worded as the real server does.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 405 for a verb that the resource does not know.
    pub fn method_not_allowed() -> Self {
        Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_empty_details()
    }

    /// 415 for a body in a format that is not read here.
    pub fn unsupported_media_type() -> Self {
        Self::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").with_empty_details()
    }

    /// 403 for a path that is no resource, for a user without a name.
    pub fn forbidden_path(verb: &str, path: &str) -> Self {
        let message = format!("forbidden: User \"system:anonymous\" cannot {verb} path {path:?}");
        Self::new(403, "Forbidden", message).with_empty_details()
    }

    /// 409 for a precondition of a deletion; the real server names the kind in it and not the resource.
    pub fn kind_conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let of_kind = qualified_kind(kind);
        let message = format!("Operation cannot be fulfilled on {of_kind} {name:?}: {why}");
        let mut failure = Self::new(409, "Conflict", message).about(kind, name);
        failure.details["kind"] = json!(kind.kind);
        failure
    }

    /// 422 for a JSON patch that does not fit the object.
    pub fn unfit_patch() -> Self {
        Self::new(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        )
        .with_empty_details()
    }

    /// 410: the history asked for is gone.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 503: what the request is to be passed on to cannot be reached.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// The same failure with one more cause in its details.
    #[must_use]
    pub fn cause(mut self, reason: &str, message: &str) -> Self {
        let cause = json!({ "reason": reason, "message": message });
        match self.details["causes"].as_array_mut() {
            Some(causes) => causes.push(cause),
            None => self.details["causes"] = json!([cause]),
        }
        self
    }

    /// The `Status` object.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }
}

fn qualified_kind(kind: &Kind) -> String {
    if kind.group.is_empty() {
        kind.kind.to_owned()
    } else {
        format!("{}.{}", kind.kind, kind.group)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let code = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json_response(code, &self.status());
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// A JSON answer.
pub fn json_response(code: StatusCode, body: &Value) -> Response {
    (
        code,
        [(header::CONTENT_TYPE, "application/json")],
        body.to_string(),
    )
        .into_response()
}
