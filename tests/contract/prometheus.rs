//! Prometheus behind the service proxy: the queries of the catalogue, and their answers for the article's cluster.

use super::peer::{Answer, Peer, eventually};
use drainboard::domain::measurement::WATCHED_SERVICES;
use drainboard::sources::exporter::names::{BUILD_INFO, NODE_FAMILIES};
use drainboard::sources::prometheus::catalogue::{self, QueryName, TARGET_LABELS};
use drainboard::sources::prometheus::matcher::Matcher;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The service that kube-prometheus-stack makes for it.
pub const PROMETHEUS: &str = "/api/v1/namespaces/monitoring/services/kps-prometheus:http-web/proxy";

const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

/// Names and values of a request's parameters.
type Parameters<'a> = &'a [(&'a str, &'a str)];

async fn ask(peer: &Peer, path: &str, parameters: Parameters<'_>) -> Answer {
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish();
    peer.get(&format!("{PROMETHEUS}/api/v1/{path}?{query}")).await
}

fn promql(name: QueryName) -> String {
    catalogue::query(name, &Matcher::default()).promql
}

/// One series of an answer.
#[derive(Debug)]
struct Series {
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Series {
    fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

fn series(entry: &Value, value: &Value) -> Series {
    let labels = entry["metric"].as_object().unwrap().iter();
    assert!(value[0].is_number(), "{value}");
    Series {
        labels: labels
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect(),
        value: value[1].as_str().unwrap().parse().unwrap(),
    }
}

/// The answer of an instant query.
async fn instant(peer: &Peer, name: QueryName) -> Vec<Series> {
    let answer = ask(peer, "query", &[("query", &promql(name))]).await.json();
    assert_eq!(answer["status"], "success");
    assert_eq!(answer["data"]["resultType"], "vector");
    let result = answer["data"]["result"].as_array().unwrap();
    result
        .iter()
        .map(|entry| series(entry, &entry["value"]))
        .collect()
}

/// The labels that tell the exporter of the Windows node, of those that the catalogue keeps.
fn is_of_the_exporter(series: &Series) -> bool {
    TARGET_LABELS.split(", ").all(|label| {
        let expected = match label {
            "instance" => "192.168.10.25:9182",
            "job" => "windows-exporter",
            "namespace" => "monitoring",
            "pod" => "kps-prometheus-windows-exporter-l45kh",
            _ => "",
        };
        series.label(label) == expected
    })
}

/// The value of the one series of this quantity, in steps of `step`.
fn value(all: &[Series], quantity: &str, step: f64) -> Result<f64, String> {
    let of: Vec<_> = all
        .iter()
        .filter(|series| series.label("quantity") == quantity)
        .collect();
    match of.as_slice() {
        [one] => Ok((one.value / step).round()),
        _ => Err(format!("{} series of {quantity}", of.len())),
    }
}

fn is(
    what: &str,
    found: &(impl PartialEq + std::fmt::Debug),
    expected: &(impl PartialEq + std::fmt::Debug),
) -> Result<(), String> {
    let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found}, expected {expected}"))
    }
}

pub async fn it_says_what_it_is(peer: &Peer) {
    let answer = peer
        .get(&format!("{PROMETHEUS}/api/v1/status/buildinfo"))
        .await
        .json();
    assert_eq!(answer["status"], "success");
    let version = answer["data"]["version"].as_str().unwrap();
    assert!(version.starts_with("3."), "{version}");
    for field in ["revision", "branch", "buildUser", "buildDate", "goVersion"] {
        assert!(answer["data"][field].is_string(), "{field}");
    }
}

pub async fn the_catalogue_is_answered_with_the_articles_figures(peer: &Peer) {
    // Scrapes and rules have periods of their own, and rates need two samples.
    eventually(|| async {
        nodes(&instant(peer, QueryName::Nodes).await)?;
        services(&instant(peer, QueryName::Services).await)?;
        containers(
            &instant(peer, QueryName::Containers).await,
            &container_ids(peer).await,
        )?;
        exporters(&instant(peer, QueryName::Exporters).await)?;
        known(&instant(peer, QueryName::Series).await)
    })
    .await;
}

fn nodes(all: &[Series]) -> Result<(), String> {
    is("targets", &all.iter().all(is_of_the_exporter), &true)?;
    let quantities: BTreeSet<_> = all
        .iter()
        .map(|series| series.label("quantity").to_owned())
        .collect();
    let expected: BTreeSet<_> = NODE_FAMILIES
        .iter()
        .flat_map(|family| [family.key.to_owned(), format!("{}.time", family.key)])
        .collect();
    is("quantities of nodes", &quantities, &expected)?;
    for (quantity, step, expected) in [
        ("commit", GIB, 5.0),
        ("commit_limit", GIB, 16.0),
        ("physical", GIB, 8.0),
        ("cpu_ratio", 0.001, 54.0),
    ] {
        is(quantity, &value(all, quantity, step)?, &expected)?;
    }
    let now = chrono::Utc::now().timestamp_millis();
    for family in &NODE_FAMILIES {
        let time = value(all, &format!("{}.time", family.key), 0.001)?;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit 52 bits")]
        let age = now as f64 - time;
        is(family.key, &(-5_000.0..300_000.0).contains(&age), &true)?;
    }
    let up = value(all, "boot_time", 1.0)?;
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit 52 bits")]
    let hours = ((now / 1000) as f64 - up) / 3600.0;
    is("hours since the boot", &(13.9..15.0).contains(&hours), &true)
}

fn services(all: &[Series]) -> Result<(), String> {
    is("targets", &all.iter().all(is_of_the_exporter), &true)?;
    for service in WATCHED_SERVICES {
        let of = |quantity: &str| -> Vec<&Series> {
            all.iter()
                .filter(|series| {
                    series.label("quantity") == quantity && series.label("name").eq_ignore_ascii_case(service)
                })
                .collect()
        };
        let states: Vec<_> = of("state").iter().map(|series| series.label("state")).collect();
        is(service, &states, &["running"])?;
        is(service, &of("started_at").len(), &1)?;
        is(service, &of("state.time").len(), &1)?;
    }
    Ok(())
}

/// Names of the containers of `win-demo` by their id, as the API server has them.
async fn container_ids(peer: &Peer) -> BTreeMap<String, String> {
    let pods = peer.get("/api/v1/namespaces/win-demo/pods").await.json();
    pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|pod| pod["status"]["containerStatuses"].as_array().unwrap())
        .map(|status| {
            let text = |field: &str| status[field].as_str().unwrap().to_owned();
            (text("containerID"), text("name"))
        })
        .collect()
}

fn containers(all: &[Series], ids: &BTreeMap<String, String>) -> Result<(), String> {
    let labels: BTreeSet<Vec<&str>> = all
        .iter()
        .map(|series| series.labels.keys().map(String::as_str).collect())
        .collect();
    is(
        "labels",
        &labels,
        &BTreeSet::from([vec!["container_id", "quantity"]]),
    )?;
    for (id, container) in ids {
        let of: Vec<_> = all
            .iter()
            .filter(|series| series.label("container_id") == id)
            .collect();
        let quantities: BTreeSet<_> = of.iter().map(|series| series.label("quantity")).collect();
        is(
            id,
            &quantities,
            &BTreeSet::from(["commit", "commit.time", "commit_peak", "cpu_cores", "working_set"]),
        )?;
        is(id, &of.len(), &quantities.len())?;
        if container == "hello" {
            for (quantity, expected) in [("commit", 98.0), ("working_set", 42.0)] {
                let found = of.iter().find(|series| series.label("quantity") == quantity);
                is(
                    quantity,
                    &found.map(|series| (series.value / MIB).round()),
                    &Some(expected),
                )?;
            }
        }
    }
    Ok(())
}

fn exporters(all: &[Series]) -> Result<(), String> {
    is("targets", &all.iter().all(is_of_the_exporter), &true)?;
    let versions: Vec<_> = all
        .iter()
        .map(|series| series.label("version"))
        .filter(|version| !version.is_empty())
        .collect();
    is("versions", &versions, &["0.31.9"])?;
    for (quantity, expected) in [("success", 1.0), ("timeout", 0.0)] {
        for collector in ["memory", "cpu", "system", "logical_disk", "service", "container"] {
            let found: Vec<_> = all
                .iter()
                .filter(|series| {
                    series.label("quantity") == quantity && series.label("collector") == collector
                })
                .map(|series| series.value)
                .collect();
            is(collector, &found, &[expected])?;
        }
    }
    Ok(())
}

/// Names and jobs of the series that are there: those of exporter 0.31 and those that the rules record.
fn known(all: &[Series]) -> Result<(), String> {
    let jobs: BTreeSet<_> = all.iter().map(|series| series.label("job")).collect();
    is("jobs", &jobs, &BTreeSet::from(["windows-exporter"]))?;
    let names: BTreeSet<_> = all.iter().map(|series| series.label("__name__")).collect();
    let expected = BTreeSet::from([
        BUILD_INFO,
        "windows_container_cpu_usage_seconds_total",
        "windows_container_memory_usage",
        "windows_container_memory_usage_commit_bytes",
        "windows_container_memory_usage_commit_peak_bytes",
        "windows_container_memory_usage_private_working_set_bytes",
        "windows_container_private_working_set_usage",
        "windows_container_total_runtime",
        "windows_cpu_time_total",
        "windows_exporter_collector_success",
        "windows_exporter_collector_timeout",
        "windows_logical_disk_free_bytes",
        "windows_logical_disk_size_bytes",
        "windows_memory_commit_limit",
        "windows_memory_committed_bytes",
        "windows_memory_physical_free_bytes",
        "windows_memory_physical_total_bytes",
        "windows_service_process",
        "windows_service_state",
        "windows_system_boot_time_timestamp",
    ]);
    is("names", &names, &expected)?;
    is("counts", &all.iter().all(|series| series.value >= 1.0), &true)
}

pub async fn the_history_is_a_matrix(peer: &Peer) {
    let query = promql(QueryName::NodeHistory);
    eventually(|| async {
        // A Prometheus that was just started has no rates of a minute that is over.
        let end = chrono::Utc::now().timestamp();
        let (start, end) = ((end - 60).to_string(), end.to_string());
        let range = [
            ("query", query.as_str()),
            ("start", &start),
            ("end", &end),
            ("step", "30"),
        ];
        let answer = ask(peer, "query_range", &range).await.json();
        assert_eq!(answer["data"]["resultType"], "matrix");
        let result = answer["data"]["result"].as_array().unwrap();
        let all: Vec<_> = result
            .iter()
            .flat_map(|entry| {
                entry["values"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(move |point| series(entry, point))
            })
            .collect();
        is("targets", &all.iter().all(is_of_the_exporter), &true)?;
        let quantities: BTreeSet<_> = all.iter().map(|series| series.label("quantity")).collect();
        is(
            "quantities",
            &quantities,
            &BTreeSet::from(["commit", "commit_limit", "cpu_ratio"]),
        )
    })
    .await;
}

pub async fn bad_questions_are_bad_data(peer: &Peer) {
    let good = promql(QueryName::Nodes);
    let now = chrono::Utc::now().timestamp().to_string();
    let questions: [(&str, Parameters<'_>, &str); 8] = [
        ("query", &[("query", "max by (")], "query"),
        ("query", &[("query", "windows_cs_hostname{")], "query"),
        ("query", &[("query", "")], "query"),
        ("query", &[], "query"),
        ("query", &[("query", &good), ("time", "yesterday")], "time"),
        ("query_range", &[("query", &good)], "start"),
        (
            "query_range",
            &[("query", &good), ("start", &now), ("end", "0"), ("step", "30")],
            "end",
        ),
        (
            "query_range",
            &[("query", &good), ("start", "0"), ("end", &now), ("step", "0")],
            "step",
        ),
    ];
    for (path, parameters, wrong) in questions {
        let answer = ask(peer, path, parameters).await;
        assert_eq!(answer.code, 400, "{parameters:?}: {}", answer.text);
        let refusal: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(refusal["status"], "error");
        assert_eq!(refusal["errorType"], "bad_data");
        let told = refusal["error"].as_str().unwrap();
        assert!(
            told.starts_with(&format!("invalid parameter \"{wrong}\": ")),
            "{parameters:?}: {told}"
        );
    }
    let answer = ask(
        peer,
        "query_range",
        &[("query", &good), ("start", "0"), ("end", &now), ("step", "1")],
    )
    .await;
    assert_eq!(answer.code, 400);
    assert!(
        answer
            .text
            .contains("exceeded maximum resolution of 11,000 points per timeseries")
    );
}
