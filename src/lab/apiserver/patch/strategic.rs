//! Strategic merge patch: as merge patch, but lists of named things merge item by item. The merge keys are those
//! that the types of core/v1, apps/v1, policy/v1 and meta/v1 declare (`patchMergeKey`); any other list is replaced.

use serde_json::{Map, Value};

const ORDER: &str = "$setElementOrder/";
const DELETE_PRIMITIVES: &str = "$deleteFromPrimitiveList/";

/// The key by which the items of a list are told apart, or nothing for a list that is replaced.
fn merge_key(field: &str, items: &[Value]) -> Option<&'static str> {
    match field {
        "conditions" | "addresses" => Some("type"),
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "secrets"
        | "resourceClaims"
        | "schedulingGates" => Some("name"),
        "volumeMounts" => Some("mountPath"),
        "volumeDevices" => Some("devicePath"),
        "ownerReferences" => Some("uid"),
        "podIPs" | "hostIPs" | "hostAliases" => Some("ip"),
        "topologySpreadConstraints" => Some("topologyKey"),
        // Container ports and service ports share the field name.
        "ports" if items.iter().any(|item| item.get("containerPort").is_some()) => Some("containerPort"),
        "ports" => Some("port"),
        _ => None,
    }
}

/// Lists of plain values that merge as sets.
fn is_set(field: &str) -> bool {
    matches!(field, "finalizers" | "podCIDRs")
}

/// Applies `patch` to `target`.
pub fn merge(target: &mut Value, patch: &Value) {
    let Some(changes) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(fields) = target.as_object_mut() else {
        return;
    };
    match changes.get("$patch").and_then(Value::as_str) {
        Some("replace") => {
            *fields = changes
                .iter()
                .filter(|(name, _)| *name != "$patch")
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect();
            return;
        }
        Some("delete") => {
            fields.clear();
            return;
        }
        _ => {}
    }
    if let Some(kept) = changes.get("$retainKeys").and_then(Value::as_array) {
        fields.retain(|name, _| kept.iter().any(|one| one == name));
    }
    for (name, change) in changes {
        if let Some(list) = name.strip_prefix(DELETE_PRIMITIVES) {
            if let (Some(Value::Array(items)), Some(gone)) = (fields.get_mut(list), change.as_array()) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if name.starts_with('$') {
            continue;
        }
        match change {
            Value::Null => {
                fields.remove(name);
            }
            Value::Array(items) => {
                let current = fields
                    .entry(name.clone())
                    .or_insert_with(|| Value::Array(Vec::new()));
                merge_list(name, current, items);
            }
            Value::Object(_) => merge(fields.entry(name.clone()).or_insert(Value::Null), change),
            _ => {
                fields.insert(name.clone(), change.clone());
            }
        }
    }
    for (name, order) in changes {
        if let (Some(list), Some(order)) = (name.strip_prefix(ORDER), order.as_array())
            && let Some(Value::Array(items)) = fields.get_mut(list)
        {
            sort_as(list, items, order);
        }
    }
}

fn merge_list(field: &str, current: &mut Value, changes: &[Value]) {
    let replace = changes
        .iter()
        .any(|item| item.get("$patch").is_some_and(|way| way == "replace"));
    let key = merge_key(field, changes);
    let Some(items) = current
        .as_array_mut()
        .filter(|_| !replace && (key.is_some() || is_set(field)))
    else {
        let plain = changes.iter().filter(|item| item.get("$patch").is_none());
        *current = Value::Array(plain.cloned().collect());
        return;
    };
    for change in changes {
        let Some(key) = key else {
            if !items.contains(change) {
                items.push(change.clone());
            }
            continue;
        };
        let found = items.iter().position(|item| item.get(key) == change.get(key));
        let deleted = change.get("$patch").is_some_and(|way| way == "delete");
        match found {
            Some(at) if deleted => {
                items.remove(at);
            }
            Some(at) => {
                if let Some(item) = items.get_mut(at) {
                    merge(item, change);
                }
            }
            None if deleted => {}
            None => {
                let mut item = Value::Null;
                merge(&mut item, change);
                items.push(item);
            }
        }
    }
}

/// Puts the items into the order that the patch asks for; items that it does not name follow as they were.
fn sort_as(field: &str, items: &mut [Value], order: &[Value]) {
    let key = merge_key(field, items);
    let rank = |item: &Value| {
        let place = order.iter().position(|wanted| match key {
            Some(key) => wanted.get(key) == item.get(key),
            None => wanted == item,
        });
        place.unwrap_or(order.len())
    };
    items.sort_by_key(rank);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn patched(mut object: Value, patch: &Value) -> Value {
        merge(&mut object, patch);
        object
    }

    #[test]
    fn a_status_patch_changes_one_condition_and_keeps_the_others() {
        let node = json!({ "status": { "conditions": [
            { "type": "MemoryPressure", "status": "False" }, { "type": "Ready", "status": "True", "reason": "KubeletReady" },
        ]}});
        let patch = json!({ "status": {
            "$setElementOrder/conditions": [{ "type": "MemoryPressure" }, { "type": "Ready" }],
            "conditions": [{ "type": "Ready", "status": "Unknown" }],
        }});
        assert_eq!(
            patched(node, &patch),
            json!({ "status": { "conditions": [
                { "type": "MemoryPressure", "status": "False" },
                { "type": "Ready", "status": "Unknown", "reason": "KubeletReady" },
            ]}})
        );
    }

    #[test]
    fn taints_are_one_value_and_are_replaced() {
        let node = json!({ "spec": { "taints": [{ "key": "a", "effect": "NoSchedule" }] } });
        let patch = json!({ "spec": { "taints": [{ "key": "b", "effect": "NoSchedule" }] } });
        assert_eq!(
            patched(node, &patch),
            json!({ "spec": { "taints": [{ "key": "b", "effect": "NoSchedule" }] } })
        );
    }

    #[test]
    fn null_removes_a_label_and_delete_removes_an_item() {
        let pod = json!({ "metadata": { "labels": { "a": "1", "b": "2" } }, "spec": { "containers": [
            { "name": "one", "image": "x" }, { "name": "two", "image": "y" },
        ]}});
        let patch = json!({ "metadata": { "labels": { "a": null } }, "spec": { "containers": [
            { "name": "two", "$patch": "delete" }, { "name": "one", "image": "z" },
        ]}});
        assert_eq!(
            patched(pod, &patch),
            json!({ "metadata": { "labels": { "b": "2" } }, "spec": { "containers": [{ "name": "one", "image": "z" }] } })
        );
    }

    #[test]
    fn a_finalizer_is_added_once_and_taken_away_by_name() {
        let object = json!({ "metadata": { "finalizers": ["a"] } });
        let both = patched(object, &json!({ "metadata": { "finalizers": ["a", "b"] } }));
        assert_eq!(both, json!({ "metadata": { "finalizers": ["a", "b"] } }));
        let one = patched(
            both,
            &json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": ["a"] } }),
        );
        assert_eq!(one, json!({ "metadata": { "finalizers": ["b"] } }));
    }

    proptest! {
        #[test]
        fn applying_a_patch_twice_is_applying_it_once(
            labels in proptest::collection::btree_map("[a-c]", "[x-z]", 0..3),
            images in proptest::collection::btree_map("[a-c]", "[x-z]", 0..3),
        ) {
            let containers: Vec<Value> = images.iter().map(|(name, image)| json!({ "name": name, "image": image })).collect();
            let patch = json!({ "metadata": { "labels": labels }, "spec": { "containers": containers } });
            let object = json!({ "metadata": { "labels": { "a": "old" } }, "spec": { "containers": [{ "name": "b" }] } });
            let once = patched(object, &patch);
            prop_assert_eq!(patched(once.clone(), &patch), once);
        }
    }
}
