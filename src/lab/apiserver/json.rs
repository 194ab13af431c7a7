//! Small helpers for objects kept as JSON.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

/// The text at a JSON pointer, or nothing.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A time as the API writes it: UTC, whole seconds.
pub fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The metadata of an object (which must be a JSON object), made if it is missing.
pub fn metadata_mut(object: &mut Value) -> &mut Value {
    let metadata = &mut object["metadata"];
    if !metadata.is_object() {
        *metadata = json!({});
    }
    metadata
}

/// Takes a field out of a JSON object.
pub fn remove(object: &mut Value, field: &str) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove(field);
    }
}

/// A condition of an object's status.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array)?;
    conditions.iter().find(|one| text(one, "/type") == kind)
}

/// Whether a condition of an object's status is there and true.
pub fn condition_is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|one| text(one, "/status") == "True")
}

/// Puts a condition into an object's status, in place of the one of its type.
pub fn set_condition(object: &mut Value, condition: Value) {
    let Some(conditions) = object
        .pointer_mut("/status/conditions")
        .and_then(Value::as_array_mut)
    else {
        object["status"]["conditions"] = json!([condition]);
        return;
    };
    match conditions.iter_mut().find(|one| one["type"] == condition["type"]) {
        Some(own) => *own = condition,
        None => conditions.push(condition),
    }
}
