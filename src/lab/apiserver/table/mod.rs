//! Columns printed by the server, as `kubectl get` asks for them: names, order, width classes and words are those of
//! Kubernetes 1.37.

mod cluster;
mod nodes;
mod pods;
mod storage;
mod words;
mod workloads;

use super::json::text;
use super::kinds::Kind;
use super::read::partial;
use super::request::Query;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::sync::Arc;

/// A column definition.
#[derive(Debug, Clone, Copy)]
struct Column {
    name: &'static str,
    form: &'static str,
    format: &'static str,
    /// 0 is always shown, 1 only in the wide output.
    priority: u8,
}

/// The column of the object's name.
const NAME: Column = Column {
    name: "Name",
    form: "string",
    format: "name",
    priority: 0,
};
/// The column of the object's age.
const AGE: Column = text_column("Age");

const fn text_column(name: &'static str) -> Column {
    Column {
        name,
        form: "string",
        format: "",
        priority: 0,
    }
}

const fn number_column(name: &'static str) -> Column {
    Column {
        name,
        form: "integer",
        format: "",
        priority: 0,
    }
}

const fn flag_column(name: &'static str) -> Column {
    Column {
        name,
        form: "boolean",
        format: "",
        priority: 0,
    }
}

const fn wide_column(name: &'static str) -> Column {
    Column {
        name,
        form: "string",
        format: "",
        priority: 1,
    }
}

/// How the objects of a resource are printed.
struct Printer {
    columns: &'static [Column],
    cells: fn(&Value, DateTime<Utc>) -> Vec<Value>,
}

fn printer(kind: &Kind) -> Printer {
    match kind.kind {
        "Pod" => pods::POD,
        "Node" => nodes::NODE,
        "Namespace" => cluster::NAMESPACE,
        "Service" => cluster::SERVICE,
        "Event" => cluster::EVENT,
        "Lease" => cluster::LEASE,
        "ConfigMap" => cluster::CONFIG_MAP,
        "Secret" => cluster::SECRET,
        "RuntimeClass" => cluster::RUNTIME_CLASS,
        "PriorityClass" => cluster::PRIORITY_CLASS,
        "Deployment" => workloads::DEPLOYMENT,
        "ReplicaSet" => workloads::REPLICA_SET,
        "DaemonSet" => workloads::DAEMON_SET,
        "StatefulSet" => workloads::STATEFUL_SET,
        "PodDisruptionBudget" => workloads::POD_DISRUPTION_BUDGET,
        "PersistentVolume" => storage::PERSISTENT_VOLUME,
        "PersistentVolumeClaim" => storage::PERSISTENT_VOLUME_CLAIM,
        "StorageClass" => storage::STORAGE_CLASS,
        "CSINode" => storage::CSI_NODE,
        "CSIDriver" => storage::CSI_DRIVER,
        _ => Printer {
            columns: &[NAME, AGE],
            cells: |object, now| vec![name(object), age(object, now)],
        },
    }
}

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
    let printer = printer(kind);
    let rows: Vec<Value> = items
        .iter()
        .map(|item| json!({ "cells": (printer.cells)(item, now), "object": included(item, query) }))
        .collect();
    let definitions = columns.then(|| {
        let definition = |column: &Column| {
            json!({
                "name": column.name, "type": column.form, "format": column.format, "description": "",
                "priority": column.priority,
            })
        };
        printer.columns.iter().map(definition).collect::<Vec<_>>()
    });
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

/// What a row carries besides its cells: the metadata, unless the client wants the whole object or nothing.
fn included(object: &Value, query: &Query) -> Value {
    match query.get("includeObject") {
        Some("None") => Value::Null,
        Some("Object") => object.clone(),
        _ => partial(object),
    }
}

fn name(object: &Value) -> Value {
    object["metadata"]["name"].clone()
}

fn age(object: &Value, now: DateTime<Utc>) -> Value {
    json!(words::since(text(object, "/metadata/creationTimestamp"), now))
}

/// A number at a JSON pointer; absent is 0, as in the typed object behind the real printer.
fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

/// A text, or the word for "not there".
fn or<'a>(value: &'a str, missing: &'a str) -> &'a str {
    if value.is_empty() { missing } else { value }
}
