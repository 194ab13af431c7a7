//! `kubectl get nodes`.

use super::super::json::{condition, text};
use super::{AGE, Column, NAME, Printer, age, name, or, text_column, wide_column};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::BTreeSet;

static COLUMNS: [Column; 10] = [
    NAME,
    text_column("Status"),
    text_column("Roles"),
    AGE,
    text_column("Version"),
    wide_column("Internal-IP"),
    wide_column("External-IP"),
    wide_column("OS-Image"),
    wide_column("Kernel-Version"),
    wide_column("Container-Runtime"),
];

pub(super) const NODE: Printer = Printer {
    columns: &COLUMNS,
    cells,
};

fn cells(node: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let info = |field: &str| text(&node["status"]["nodeInfo"], &format!("/{field}")).to_owned();
    let mut kernel = or(&info("kernelVersion"), "<unknown>").to_owned();
    if !info("architecture").is_empty() {
        kernel = format!("{kernel} ({})", info("architecture"));
    }
    vec![
        name(node),
        json!(status(node)),
        json!(roles(node)),
        age(node, now),
        json!(info("kubeletVersion")),
        json!(address(node, "InternalIP")),
        json!(address(node, "ExternalIP")),
        json!(or(&info("osImage"), "<unknown>")),
        json!(kernel),
        json!(or(&info("containerRuntimeVersion"), "<unknown>")),
    ]
}

fn status(node: &Value) -> String {
    let health = match condition(node, "Ready").map(|ready| text(ready, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    if node["spec"]["unschedulable"] == true {
        format!("{health},SchedulingDisabled")
    } else {
        health.to_owned()
    }
}

fn roles(node: &Value) -> String {
    let labels = node["metadata"]["labels"].as_object();
    let roles: BTreeSet<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(
            |(label, value)| match label.strip_prefix("node-role.kubernetes.io/") {
                Some(role) => Some(role),
                None => (label == "kubernetes.io/role").then(|| value.as_str()).flatten(),
            },
        )
        .filter(|role| !role.is_empty())
        .collect();
    let roles = roles.into_iter().collect::<Vec<_>>().join(",");
    or(&roles, "<none>").to_owned()
}

fn address<'a>(node: &'a Value, wanted: &str) -> &'a str {
    let addresses = node["status"]["addresses"].as_array();
    let found = addresses
        .into_iter()
        .flatten()
        .find(|one| text(one, "/type") == wanted);
    found.map_or("<none>", |one| text(one, "/address"))
}
