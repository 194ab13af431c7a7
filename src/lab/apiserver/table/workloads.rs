//! `kubectl get` of the controllers of pods and of disruption budgets.

use super::super::json::text;
use super::words::{labels, selector};
use super::{AGE, Column, NAME, Printer, age, name, number, number_column, text_column, wide_column};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

static DEPLOYMENT_COLUMNS: [Column; 8] = [
    NAME,
    text_column("Ready"),
    text_column("Up-to-date"),
    text_column("Available"),
    AGE,
    wide_column("Containers"),
    wide_column("Images"),
    wide_column("Selector"),
];
static REPLICA_SET_COLUMNS: [Column; 8] = [
    NAME,
    number_column("Desired"),
    number_column("Current"),
    number_column("Ready"),
    AGE,
    wide_column("Containers"),
    wide_column("Images"),
    wide_column("Selector"),
];
static DAEMON_SET_COLUMNS: [Column; 11] = [
    NAME,
    number_column("Desired"),
    number_column("Current"),
    number_column("Ready"),
    number_column("Up-to-date"),
    number_column("Available"),
    text_column("Node Selector"),
    AGE,
    wide_column("Containers"),
    wide_column("Images"),
    wide_column("Selector"),
];
static STATEFUL_SET_COLUMNS: [Column; 5] = [
    NAME,
    text_column("Ready"),
    AGE,
    wide_column("Containers"),
    wide_column("Images"),
];
static BUDGET_COLUMNS: [Column; 5] = [
    NAME,
    text_column("Min Available"),
    text_column("Max Unavailable"),
    number_column("Allowed Disruptions"),
    AGE,
];

pub(super) const DEPLOYMENT: Printer = Printer {
    columns: &DEPLOYMENT_COLUMNS,
    cells: deployment,
};
pub(super) const REPLICA_SET: Printer = Printer {
    columns: &REPLICA_SET_COLUMNS,
    cells: replica_set,
};
pub(super) const DAEMON_SET: Printer = Printer {
    columns: &DAEMON_SET_COLUMNS,
    cells: daemon_set,
};
pub(super) const STATEFUL_SET: Printer = Printer {
    columns: &STATEFUL_SET_COLUMNS,
    cells: stateful_set,
};
pub(super) const POD_DISRUPTION_BUDGET: Printer = Printer {
    columns: &BUDGET_COLUMNS,
    cells: budget,
};

/// One field of every container of the template.
fn containers(object: &Value, field: &str) -> Value {
    let containers = object
        .pointer("/spec/template/spec/containers")
        .and_then(Value::as_array);
    let fields: Vec<&str> = containers
        .into_iter()
        .flatten()
        .filter_map(|one| one[field].as_str())
        .collect();
    json!(fields.join(","))
}

fn ready_of_desired(object: &Value) -> Value {
    json!(format!(
        "{}/{}",
        number(object, "/status/readyReplicas"),
        number(object, "/spec/replicas")
    ))
}

fn deployment(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        ready_of_desired(object),
        json!(number(object, "/status/updatedReplicas")),
        json!(number(object, "/status/availableReplicas")),
        age(object, now),
        containers(object, "name"),
        containers(object, "image"),
        json!(selector(&object["spec"]["selector"])),
    ]
}

fn replica_set(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        json!(number(object, "/spec/replicas")),
        json!(number(object, "/status/replicas")),
        json!(number(object, "/status/readyReplicas")),
        age(object, now),
        containers(object, "name"),
        containers(object, "image"),
        json!(selector(&object["spec"]["selector"])),
    ]
}

fn daemon_set(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let status = |field: &str| json!(number(&object["status"], &format!("/{field}")));
    vec![
        name(object),
        status("desiredNumberScheduled"),
        status("currentNumberScheduled"),
        status("numberReady"),
        status("updatedNumberScheduled"),
        status("numberAvailable"),
        json!(labels(&object["spec"]["template"]["spec"]["nodeSelector"])),
        age(object, now),
        containers(object, "name"),
        containers(object, "image"),
        json!(selector(&object["spec"]["selector"])),
    ]
}

fn stateful_set(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        ready_of_desired(object),
        age(object, now),
        containers(object, "name"),
        containers(object, "image"),
    ]
}

fn budget(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let amount = |field: &str| match &object["spec"][field] {
        Value::Number(number) => json!(number.to_string()),
        Value::String(percent) => json!(percent),
        _ => json!("N/A"),
    };
    vec![
        json!(text(object, "/metadata/name")),
        amount("minAvailable"),
        amount("maxUnavailable"),
        json!(number(object, "/status/disruptionsAllowed")),
        age(object, now),
    ]
}
