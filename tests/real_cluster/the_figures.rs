//! The article's figures come out of drainboard on the real cluster: once with Prometheus, once with it
//! stopped, and never as a number that nobody measured.

use serde_json::Value;

use crate::drainboard::{items, named};
use crate::lab::{Lab, PrometheusStopped, eventually};
use crate::parts::User;

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1024.0 * MIB;

/// A reading: its value in steps of `step`, in this unit, from this source, and not older than a scrape
/// and a rule evaluation on a busy machine take.
fn reading(
    item: &Value,
    field: &str,
    unit: &str,
    source: &str,
    step: f64,
    expected: f64,
) -> Result<(), String> {
    let reading = &item[field];
    let told = || {
        format!(
            "{} {field}: {reading}, expected {expected} from {source}",
            item["name"]
        )
    };
    let value = reading["value"].as_f64().ok_or_else(told)?;
    let right = ((value / step).round() - expected).abs() < 1e-9
        && reading["unit"] == unit
        && reading["source"] == source
        && reading["age_seconds"].as_u64().is_some_and(|age| age < 60);
    if right { Ok(()) } else { Err(told()) }
}

/// The article's table, as `source` tells it.
fn the_articles_figures(source: &str) -> Result<(), String> {
    let nodes = items(User::Reader, &["nodes", "-o", "json"]);
    let windows = named(&nodes, "k8s-lab-win-1");
    reading(windows, "cpu_percent", "percent", source, 0.1, 54.0)?;
    reading(windows, "commit_ratio", "ratio", source, 0.01, 31.0)?;
    reading(windows, "commit_bytes", "bytes", source, GIB, 5.0)?;
    reading(windows, "commit_limit_bytes", "bytes", source, GIB, 16.0)?;
    for service in ["kubelet", "containerd"] {
        let state = &windows["services"][service];
        if state["value"] != "running" || state["source"] != source {
            return Err(format!("service {service}: {state}"));
        }
    }

    let pods = items(User::Reader, &["pods", "-n", "win-demo", "-o", "json"]);
    let hello: Vec<&Value> = pods
        .iter()
        .filter(|pod| {
            pod["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("hello-win-"))
        })
        .collect();
    if hello.len() != 2 {
        return Err(format!("{} hello-win pods", hello.len()));
    }
    for pod in hello {
        let container = &pod["containers"][0];
        reading(container, "commit_bytes", "bytes", source, MIB, 98.0)?;
        reading(container, "working_set_bytes", "bytes", source, MIB, 42.0)?;
        reading(container, "commit_to_limit", "ratio", source, 0.01, 38.0)?;
    }
    Ok(())
}

/// What the API server alone knows does not depend on any measurement.
fn what_the_api_server_knows() {
    let nodes = items(User::Reader, &["nodes", "-o", "json"]);
    let windows = named(&nodes, "k8s-lab-win-1");
    assert_eq!(windows["os"], "windows");
    assert_eq!(windows["schedulable"], true);
    assert_eq!(windows["windows_build"], 26100);
    assert_eq!(windows["revision"], 33438);
    assert_eq!(windows["kernel_version"], "10.0.26100.33438");
    assert_eq!(windows["boot_id"], "11");

    let pods = items(User::Reader, &["pods", "-n", "win-demo", "-o", "json"]);
    let container = &named(&pods, "hello-win-")["containers"][0];
    assert_eq!(container["memory_limit_bytes"], 268_435_456);
    assert_eq!(container["cpu_limit_millicores"], 500);
    assert_eq!(container["cpu_maximum"], 1250);
    assert_eq!(container["cpu_maximum_percent"], 12.5);
}

#[test]
fn with_prometheus_then_with_the_exporter_then_with_nobody() {
    let lab = Lab::attach();
    what_the_api_server_knows();
    eventually(|| the_articles_figures("prometheus"));
    eventually(|| {
        let nodes = items(User::Reader, &["nodes", "-o", "json"]);
        reading(
            named(&nodes, "k8s-lab-win-1"),
            "working_set_bytes",
            "bytes",
            "metrics.k8s.io",
            0.1 * GIB,
            24.0,
        )
    });

    let stopped = PrometheusStopped::now();
    eventually(|| the_articles_figures("windows_exporter"));

    // With the lab go the exporter, the metrics API and the kubelets.
    drop(lab);
    what_the_api_server_knows();
    let nodes = items(User::Reader, &["nodes", "-o", "json"]);
    let windows = named(&nodes, "k8s-lab-win-1");
    for field in [
        "cpu_percent",
        "commit_bytes",
        "commit_limit_bytes",
        "commit_ratio",
        "working_set_bytes",
    ] {
        absent(windows, field);
    }
    for service in windows["services"].as_object().expect("services").keys() {
        absent(&windows["services"], service);
    }
    let pods = items(User::Reader, &["pods", "-n", "win-demo", "-o", "json"]);
    let container = &named(&pods, "hello-win-")["containers"][0];
    for field in [
        "commit_bytes",
        "working_set_bytes",
        "commit_to_limit",
        "cpu_cores",
    ] {
        absent(container, field);
    }
    drop(stopped);
}

/// No number, and a reason for a human.
fn absent(item: &Value, field: &str) {
    let reading = &item[field];
    assert!(
        reading["absent"].as_str().is_some_and(|reason| reason.len() > 3) && reading.get("value").is_none(),
        "{field}: {reading}"
    );
}
