//! Writing over an object: optimistic concurrency, and what a write may change.

use super::failure::{Failure, Outcome};
use super::json::{metadata_mut, remove, text};
use super::kinds::Kind;
use serde_json::{Value, json};

/// Which half of an object a write may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Metadata and spec; the status stays, if the resource has a status subresource.
    Main,
    /// Metadata and status; the spec stays.
    Status,
}

/// Whether the wanted object is about the version and identity that is there.
///
/// # Errors
/// 409 when it is not.
pub fn check_preconditions(kind: &Kind, name: &str, old: &Value, wanted: &Value) -> Outcome<()> {
    let (version, current) = (
        text(wanted, "/metadata/resourceVersion"),
        text(old, "/metadata/resourceVersion"),
    );
    if !version.is_empty() && version != current {
        return Err(Failure::conflict(
            kind,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        ));
    }
    let (uid, current) = (text(wanted, "/metadata/uid"), text(old, "/metadata/uid"));
    if !uid.is_empty() && uid != current {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {current}");
        return Err(Failure::conflict(kind, name, &why));
    }
    Ok(())
}

/// The object that is stored when `wanted` is written over `old`: identity and the other part stay as they were.
pub fn merge_parts(kind: &Kind, old: &Value, mut wanted: Value, part: Part) -> Value {
    for owned in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
    ] {
        let metadata = metadata_mut(&mut wanted);
        match old["metadata"].get(owned) {
            Some(value) => metadata[owned] = value.clone(),
            None => remove(metadata, owned),
        }
    }
    wanted["kind"] = json!(kind.kind);
    wanted["apiVersion"] = json!(kind.api_version());
    match part {
        Part::Status => {
            let mut merged = old.clone();
            merged["metadata"] = wanted["metadata"].take();
            match wanted["status"].take() {
                Value::Null => remove(&mut merged, "status"),
                status => merged["status"] = status,
            }
            merged
        }
        Part::Main => {
            if kind.status {
                match old.get("status") {
                    Some(status) => wanted["status"] = status.clone(),
                    None => remove(&mut wanted, "status"),
                }
            }
            if kind.generation && wanted.get("spec") != old.get("spec") {
                let generation = old
                    .pointer("/metadata/generation")
                    .and_then(Value::as_i64)
                    .unwrap_or(0);
                metadata_mut(&mut wanted)["generation"] = json!(generation + 1);
            }
            wanted
        }
    }
}
