//! Columns printed by the server, as `kubectl get` asks for them.

use super::kinds::Kind;
use super::objects::text;
use super::request::Query;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::sync::Arc;

/// A `Table` of these objects. `metadata` is that of the list; `columns` says whether the definitions are included
/// (a watch sends them once).
pub fn table(
    kind: &Kind,
    items: &[Arc<Value>],
    metadata: &Value,
    query: &Query,
    columns: bool,
    now: DateTime<Utc>,
) -> Value {
    let _ = (kind, now);
    let rows: Vec<Value> = items
        .iter()
        .map(|item| {
            json!({
                "cells": [text(item, "/metadata/name"), text(item, "/metadata/creationTimestamp")],
                "object": included(item, query),
            })
        })
        .collect();
    let definitions = if columns {
        json!([{"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}, {"name": "Created At", "type": "date", "format": "", "description": "", "priority": 0}])
    } else {
        Value::Null
    };
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

fn included(object: &Value, query: &Query) -> Value {
    match query.get("includeObject") {
        Some("None") => Value::Null,
        Some("Object") => object.clone(),
        _ => super::read::partial(object),
    }
}
