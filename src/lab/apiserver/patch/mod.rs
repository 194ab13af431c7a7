//! The patch formats of the API: strategic merge, merge (RFC 7386) and JSON patch (RFC 6902).

mod strategic;

use super::failure::{Failure, Outcome};
use super::kinds::Kind;
use serde_json::Value;

/// The format of a patch, from its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `application/strategic-merge-patch+json`: lists merge by the key of their type.
    Strategic,
    /// `application/merge-patch+json`: lists are replaced.
    Merge,
    /// `application/json-patch+json`: a list of operations.
    Json,
}

impl Format {
    /// Reads the content type. Server-side apply is not served by the lab.
    ///
    /// # Errors
    /// 415 for any other format.
    pub fn of(content_type: &str) -> Outcome<Self> {
        match content_type {
            "application/strategic-merge-patch+json" => Ok(Self::Strategic),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/json-patch+json" => Ok(Self::Json),
            _ => Err(Failure::unsupported_media_type()),
        }
    }

    /// The object after the patch.
    ///
    /// # Errors
    /// 422 when a JSON patch does not fit the object, 400 when it is no JSON patch.
    pub fn apply(self, kind: &Kind, object: &Value, patch: &Value) -> Outcome<Value> {
        let mut patched = object.clone();
        match self {
            Self::Strategic => strategic::merge(&mut patched, patch),
            Self::Merge => json_patch::merge(&mut patched, patch),
            Self::Json => {
                let operations: json_patch::Patch = serde_json::from_value(patch.clone())
                    .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
                json_patch::patch(&mut patched, &operations).map_err(|error| {
                    tracing::debug!(%error, resource = kind.plural, "a JSON patch does not fit");
                    Failure::unfit_patch()
                })?;
            }
        }
        Ok(patched)
    }
}
