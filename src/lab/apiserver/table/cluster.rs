//! `kubectl get` of namespaces, services, events, leases and the smaller resources.

use super::super::json::text;
use super::words::{labels, since};
use super::{
    AGE, Column, NAME, Printer, age, flag_column, name, number, number_column, or, text_column, wide_column,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

static NAMESPACE_COLUMNS: [Column; 3] = [NAME, text_column("Status"), AGE];
static SERVICE_COLUMNS: [Column; 7] = [
    NAME,
    text_column("Type"),
    text_column("Cluster-IP"),
    text_column("External-IP"),
    text_column("Port(s)"),
    AGE,
    wide_column("Selector"),
];
static EVENT_COLUMNS: [Column; 10] = [
    text_column("Last Seen"),
    text_column("Type"),
    text_column("Reason"),
    text_column("Object"),
    wide_column("Subobject"),
    wide_column("Source"),
    text_column("Message"),
    wide_column("First Seen"),
    wide_column("Count"),
    Column { priority: 1, ..NAME },
];
static LEASE_COLUMNS: [Column; 3] = [NAME, text_column("Holder"), AGE];
static CONFIG_MAP_COLUMNS: [Column; 3] = [NAME, text_column("Data"), AGE];
static SECRET_COLUMNS: [Column; 4] = [NAME, text_column("Type"), text_column("Data"), AGE];
static RUNTIME_CLASS_COLUMNS: [Column; 3] = [NAME, text_column("Handler"), AGE];
static PRIORITY_CLASS_COLUMNS: [Column; 5] = [
    NAME,
    number_column("Value"),
    flag_column("Global-Default"),
    AGE,
    wide_column("PreemptionPolicy"),
];

pub(super) const NAMESPACE: Printer = Printer {
    columns: &NAMESPACE_COLUMNS,
    cells: namespace,
};
pub(super) const SERVICE: Printer = Printer {
    columns: &SERVICE_COLUMNS,
    cells: service,
};
pub(super) const EVENT: Printer = Printer {
    columns: &EVENT_COLUMNS,
    cells: event,
};
pub(super) const LEASE: Printer = Printer {
    columns: &LEASE_COLUMNS,
    cells: lease,
};
pub(super) const CONFIG_MAP: Printer = Printer {
    columns: &CONFIG_MAP_COLUMNS,
    cells: config_map,
};
pub(super) const SECRET: Printer = Printer {
    columns: &SECRET_COLUMNS,
    cells: secret,
};
pub(super) const RUNTIME_CLASS: Printer = Printer {
    columns: &RUNTIME_CLASS_COLUMNS,
    cells: runtime_class,
};
pub(super) const PRIORITY_CLASS: Printer = Printer {
    columns: &PRIORITY_CLASS_COLUMNS,
    cells: priority_class,
};

fn namespace(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        json!(text(object, "/status/phase")),
        age(object, now),
    ]
}

fn service(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let ports = object
        .pointer("/spec/ports")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let ports: Vec<String> = ports
        .map(|port| match number(port, "/nodePort") {
            0 => format!("{}/{}", number(port, "/port"), text(port, "/protocol")),
            node_port => format!(
                "{}:{node_port}/{}",
                number(port, "/port"),
                text(port, "/protocol")
            ),
        })
        .collect();
    vec![
        name(object),
        json!(text(object, "/spec/type")),
        json!(or(text(object, "/spec/clusterIPs/0"), "<none>")),
        json!(external_address(object)),
        json!(or(&ports.join(","), "<none>")),
        age(object, now),
        json!(labels(&object["spec"]["selector"])),
    ]
}

fn external_address(service: &Value) -> String {
    let texts = |pointer: &str, field: &str| {
        let items = service
            .pointer(pointer)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        items
            .filter_map(|item| {
                if field.is_empty() {
                    item.as_str()
                } else {
                    item[field].as_str()
                }
            })
            .collect::<Vec<_>>()
    };
    let mut addresses = texts("/status/loadBalancer/ingress", "ip");
    addresses.extend(texts("/spec/externalIPs", ""));
    match text(service, "/spec/type") {
        "ExternalName" => text(service, "/spec/externalName").to_owned(),
        "LoadBalancer" => or(&addresses.join(","), "<pending>").to_owned(),
        _ => or(&addresses.join(","), "<none>").to_owned(),
    }
}

fn event(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let first = or(text(object, "/firstTimestamp"), text(object, "/eventTime"));
    let mut last = or(text(object, "/lastTimestamp"), first);
    let mut count = number(object, "/count").max(1);
    if object.pointer("/series").is_some_and(Value::is_object) {
        last = text(object, "/series/lastObservedTime");
        count = number(object, "/series/count");
    }
    let kind = text(object, "/involvedObject/kind").to_lowercase();
    let target = text(object, "/involvedObject/name");
    let component = or(
        text(object, "/source/component"),
        text(object, "/reportingComponent"),
    );
    let host = or(text(object, "/source/host"), text(object, "/reportingInstance"));
    vec![
        json!(since(last, now)),
        json!(text(object, "/type")),
        json!(text(object, "/reason")),
        json!(if target.is_empty() {
            kind
        } else {
            format!("{kind}/{target}")
        }),
        json!(text(object, "/involvedObject/fieldPath")),
        json!(if host.is_empty() {
            component.to_owned()
        } else {
            format!("{component}, {host}")
        }),
        json!(text(object, "/message").trim()),
        json!(since(first, now)),
        json!(count),
        name(object),
    ]
}

fn lease(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        json!(text(object, "/spec/holderIdentity")),
        age(object, now),
    ]
}

fn entries(object: &Value, field: &str) -> usize {
    object[field].as_object().map_or(0, serde_json::Map::len)
}

fn config_map(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        json!(entries(object, "data") + entries(object, "binaryData")),
        age(object, now),
    ]
}

fn secret(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        json!(text(object, "/type")),
        json!(entries(object, "data")),
        age(object, now),
    ]
}

fn runtime_class(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![name(object), json!(text(object, "/handler")), age(object, now)]
}

fn priority_class(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    vec![
        name(object),
        json!(number(object, "/value")),
        json!(object["globalDefault"] == true),
        age(object, now),
        json!(text(object, "/preemptionPolicy")),
    ]
}
