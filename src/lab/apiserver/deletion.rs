//! Deletion: options, preconditions, and the grace that a pod on a node gets.

use super::failure::{Failure, Outcome};
use super::json::{metadata_mut, text, timestamp};
use super::kinds::{self, Kind};
use chrono::{DateTime, Duration, Utc};
use serde_json::{Value, json};
use std::sync::Arc;

/// The part of `DeleteOptions` that the server obeys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Seconds; `None` is the object's own grace period.
    pub grace_period: Option<i64>,
    /// Delete only the object with this UID.
    pub uid: Option<String>,
    /// Delete only this version of the object.
    pub resource_version: Option<String>,
    /// Say what would happen and change nothing.
    pub dry_run: bool,
}

/// What a deletion did.
#[derive(Debug, Clone, PartialEq)]
pub enum Deleted {
    /// The object is gone; this was its last state.
    Gone(Arc<Value>),
    /// The object is only marked: a kubelet has to end it (or the namespace has to empty).
    Marked(Arc<Value>),
}

/// Whether the preconditions of a deletion hold.
///
/// # Errors
/// 409 when one does not, worded as the real server words it (it names the kind here, not the resource).
pub fn check(kind: &Kind, object: &Value, deletion: &Deletion) -> Outcome<()> {
    let differs = |what: &str, happened: &str, wanted: &Option<String>, current: &str| match wanted {
        Some(wanted) if wanted != current => {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({current}). The \
                 object might have been {happened}"
            );
            Err(Failure::kind_conflict(kind, text(object, "/metadata/name"), &why))
        }
        _ => Ok(()),
    };
    let version = text(object, "/metadata/resourceVersion");
    differs(
        "UID",
        "deleted and then recreated",
        &deletion.uid,
        text(object, "/metadata/uid"),
    )?;
    differs("ResourceVersion", "modified", &deletion.resource_version, version)
}

/// Seconds that an object gets to end. Only pods on a node that have not ended get any; everything else goes at once.
pub fn grace(kind: &Kind, object: &Value, deletion: &Deletion) -> i64 {
    let ended = matches!(text(object, "/status/phase"), "Succeeded" | "Failed");
    if kind != &kinds::PODS || text(object, "/spec/nodeName").is_empty() || ended {
        return 0;
    }
    let own = object
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    deletion.grace_period.or(own).unwrap_or(30).max(0)
}

/// The object marked for deletion; nothing when it is marked already with no more grace than this. A shorter grace
/// counts from the first mark.
pub fn mark(object: &Value, grace: i64, now: DateTime<Utc>) -> Option<Value> {
    let number = |field: &str| object["metadata"][field].as_i64();
    let first = text(object, "/metadata/deletionTimestamp")
        .parse::<DateTime<Utc>>()
        .ok();
    let granted = number("deletionGracePeriodSeconds");
    if first.is_some() && granted.is_none_or(|granted| granted <= grace) {
        return None;
    }
    let asked = first.map_or(now, |first| first - Duration::seconds(granted.unwrap_or(0)));
    let mut marked = object.clone();
    let metadata = metadata_mut(&mut marked);
    metadata["deletionTimestamp"] = json!(timestamp(asked + Duration::seconds(grace)));
    metadata["deletionGracePeriodSeconds"] = json!(grace);
    if let (None, Some(generation)) = (first, number("generation")) {
        metadata["generation"] = json!(generation + 1);
    }
    Some(marked)
}
