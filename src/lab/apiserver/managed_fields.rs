//! `metadata.managedFields` of nodes: who last set which field, as the real server keeps it on updates and patches of
//! labels, annotations and spec. Other resources and `status` are left out: nobody asks the lab about those. Lists
//! count as one field.

use super::json::{metadata_mut, remove, timestamp};
use super::kinds::{self, Kind};
use super::request::Query;
use chrono::{DateTime, Utc};
use http::{HeaderMap, header};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The parts of a node whose fields are kept.
const PARTS: [&[&str]; 3] = [&["metadata", "labels"], &["metadata", "annotations"], &["spec"]];

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

/// Books the fields that `wanted` sets anew for this manager, and takes them, and those that are gone, from all
/// others. Fields that are set to what they were stay with whom they are.
pub fn book(kind: &Kind, manager: &str, old: &Value, wanted: &mut Value, now: DateTime<Utc>) {
    if kind != &kinds::NODES {
        return;
    }
    let mut changed = Vec::new();
    for part in PARTS {
        let pointer = format!("/{}", part.join("/"));
        let side = |object: &Value| object.pointer(&pointer).cloned().unwrap_or_default();
        let mut path = part.iter().map(|name| (*name).to_owned()).collect();
        compare(&side(old), &side(wanted), &mut path, &mut changed);
    }
    let mut entries: Vec<Value> = old["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for (path, _) in &changed {
        for entry in &mut entries {
            take(&mut entry["fieldsV1"], path);
        }
    }
    let set: Vec<&Vec<String>> = changed
        .iter()
        .filter_map(|(path, set)| set.then_some(path))
        .collect();
    if !set.is_empty() {
        let own = entries.iter().position(|entry| entry["manager"] == manager);
        let mut entry = own.map_or_else(
            || {
                json!({
                    "manager": manager, "operation": "Update", "apiVersion": kind.api_version(),
                    "fieldsType": "FieldsV1", "fieldsV1": {},
                })
            },
            |own| entries.remove(own),
        );
        entry["time"] = json!(timestamp(now));
        for path in set {
            give(&mut entry["fieldsV1"], path);
        }
        entries.push(entry);
    }
    entries.retain(|entry| entry["fieldsV1"] != json!({}));
    let metadata = metadata_mut(wanted);
    if entries.is_empty() {
        remove(metadata, "managedFields");
    } else {
        metadata["managedFields"] = Value::Array(entries);
    }
}

/// The paths below `path` whose values differ, and whether they are there afterwards.
fn compare(before: &Value, after: &Value, path: &mut Vec<String>, changed: &mut Vec<(Vec<String>, bool)>) {
    if before == after {
        return;
    }
    if before.is_object() || after.is_object() {
        let names = |side: &Value| side.as_object().map(|fields| fields.keys().cloned().collect());
        let mut all: BTreeSet<String> = names(before).unwrap_or_default();
        all.extend(names(after).unwrap_or_default());
        for name in all {
            path.push(name.clone());
            compare(&before[&name], &after[&name], path, changed);
            path.pop();
        }
        return;
    }
    changed.push((path.clone(), !after.is_null()));
}

/// Adds a path to a set of fields.
fn give(fields: &mut Value, path: &[String]) {
    let mut at = fields;
    for name in path {
        at = &mut at[format!("f:{name}")];
        if !at.is_object() {
            *at = json!({});
        }
    }
}

/// Takes a path out of a set of fields, and what it leaves empty.
fn take(fields: &mut Value, path: &[String]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let key = format!("f:{first}");
    let Some(inner) = fields.get_mut(&key) else { return };
    take(inner, rest);
    if rest.is_empty() || *inner == json!({}) {
        remove(fields, &key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who set `spec.unschedulable`.
    fn cordoned_by(node: &Value) -> Vec<&str> {
        let entries = node["metadata"]["managedFields"].as_array();
        entries
            .into_iter()
            .flatten()
            .filter(|entry| entry["fieldsV1"]["f:spec"]["f:unschedulable"].is_object())
            .filter_map(|entry| entry["manager"].as_str())
            .collect()
    }

    fn changed(old: &Value, manager: &str, change: impl Fn(&mut Value)) -> Value {
        let mut wanted = old.clone();
        change(&mut wanted);
        book(&kinds::NODES, manager, old, &mut wanted, Utc::now());
        wanted
    }

    #[test]
    fn a_field_belongs_to_whoever_changed_it_last() {
        let node = json!({"metadata": {"name": "win-1"}, "spec": {"podCIDR": "172.21.41.0/24"}});
        let cordon = |node: &mut Value| node["spec"]["unschedulable"] = json!(true);
        let uncordon = |node: &mut Value| remove(&mut node["spec"], "unschedulable");

        let ours = changed(&node, "drainboard", |node| {
            cordon(node);
            node["metadata"]["annotations"]["a/b"] = json!("1");
        });
        assert_eq!(cordoned_by(&ours), ["drainboard"]);
        let again = changed(&ours, "kubectl", cordon);
        assert_eq!(
            cordoned_by(&again),
            ["drainboard"],
            "it was set to what it was before"
        );
        let free = changed(&ours, "kubectl", uncordon);
        assert!(cordoned_by(&free).is_empty());
        let theirs = changed(&free, "kubectl", cordon);
        assert_eq!(cordoned_by(&theirs), ["kubectl"]);
        let kept = &theirs["metadata"]["managedFields"][0]["fieldsV1"];
        assert_eq!(
            *kept,
            json!({"f:metadata": {"f:annotations": {"f:a/b": {}}}}),
            "the annotation is still ours"
        );
    }

    #[test]
    fn a_client_cannot_write_the_list_itself() {
        let ours = changed(&json!({"spec": {}}), "drainboard", |node| {
            node["spec"]["unschedulable"] = json!(true);
        });
        let forged = changed(&ours, "mallory", |node| {
            node["metadata"]["managedFields"] = json!([]);
        });
        assert_eq!(
            forged["metadata"]["managedFields"],
            ours["metadata"]["managedFields"]
        );
    }
}
