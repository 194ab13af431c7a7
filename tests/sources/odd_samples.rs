//! Samples that are no numbers, doubled, cut off, of another cluster or of a wrong clock: what cannot be right is
//! absent with a reason, and the rest is shown.

use crate::desk::{ABSENT, Desk, WIN, article, is_absent};
use axum::Router;
use axum::body::Body;
use axum::http::Request as HttpRequest;
use axum::response::IntoResponse;
use axum::routing::get;
use chrono::{DateTime, TimeDelta, Utc};
use drainboard::domain::reading::Source;
use drainboard::lab::article::PROMETHEUS_POD;
use drainboard::lab::backends::Backends;
use drainboard::lab::embedded::{Lab, Switch};
use drainboard::lab::exporter::{self, EXPORTER_PORT};
use drainboard::lab::metrics_api;
use drainboard::lab::prometheus::{self, Database, PROMETHEUS_PORT, Scraper};
use drainboard::lab::world::World;
use drainboard::sources::event::Request;
use drainboard::store::view::TableKind;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use tower::ServiceExt;

const NODES: TableKind = TableKind::Nodes;
const PODS: TableKind = TableKind::Pods;

/// The lab without Prometheus, its exporter with these collectors, and each exposition changed on its way.
async fn exporter_that_says(collectors: fn(&str) -> bool, changed: fn(String) -> String) -> (Lab, Desk) {
    let lab = article().await;
    lab.set(Switch::Prometheus, false);
    let world = lab.world().clone();
    let machine = world.machine(WIN).unwrap();
    let address = SocketAddr::new(IpAddr::V4(machine.address), EXPORTER_PORT);
    let metrics = get(move || async move {
        let (machine, pods) = (world.machine(WIN).unwrap(), world.pods_on(WIN));
        changed(exporter::collect(&machine, &pods, Utc::now(), collectors).text())
    });
    lab.backends()
        .register(address, Router::new().route("/metrics", metrics));
    let mut desk = Desk::with(lab.kubeconfig()).await;
    desk.sees("the pods, and metrics.k8s.io", |desk| {
        desk.cell(PODS, "hello-win", "state") == "Running" && desk.cell(NODES, WIN, "ws") != ABSENT
    })
    .await;
    (lab, desk)
}

/// The exposition with the values of these series replaced.
fn with_values(text: &str, values: &[(&str, &str)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut replaced = 0;
    for line in text.lines() {
        let found = values.iter().find(|(name, _)| {
            line.starts_with(&format!("{name} ")) || line.starts_with(&format!("{name}{{"))
        });
        lines.push(match (found, line.rsplit_once(' ')) {
            (Some((_, value)), Some((series, _))) => {
                replaced += 1;
                format!("{series} {value}")
            }
            _ => line.to_owned(),
        });
    }
    assert!(replaced >= values.len(), "not all of {values:?} are there");
    lines.join("\n") + "\n"
}

#[tokio::test(flavor = "multi_thread")]
async fn nan_and_infinity_of_the_exporter_are_no_figures() {
    let (lab, mut desk) = exporter_that_says(
        |_| true,
        |text| {
            with_values(
                &text,
                &[
                    ("windows_memory_committed_bytes", "NaN"),
                    ("windows_memory_commit_limit", "+Inf"),
                    ("windows_container_memory_usage_commit_bytes", "NaN"),
                ],
            )
        },
    )
    .await;
    desk.sees("CPU all the same", |desk| {
        desk.cell(NODES, WIN, "cpu").contains("5.4 %")
    })
    .await;
    desk.sees("the working set all the same", |desk| {
        desk.cell(PODS, "hello-win", "ws") == "42Mi"
    })
    .await;
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    desk.expects_absent_to_be_absent(PODS, "commit", "0%");
    let node = desk.windows_node().await;
    for field in ["commit_bytes", "commit_limit_bytes", "commit_ratio"] {
        is_absent(&node, field, &[]);
    }
    assert_eq!(node["services"]["kubelet"]["value"], "running");
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn series_that_stand_twice_are_not_counted_twice() {
    let (lab, mut desk) = exporter_that_says(
        |_| true,
        |text| {
            let twice = |line| {
                if str::starts_with(line, '#') {
                    vec![line]
                } else {
                    vec![line, line]
                }
            };
            text.lines().flat_map(twice).collect::<Vec<&str>>().join("\n") + "\n"
        },
    )
    .await;
    desk.sees("the figures once", |desk| {
        desk.cell(NODES, WIN, "commit").contains("31 %")
            && desk.cell(NODES, WIN, "cpu").contains("5.4 %")
            && desk.cell(PODS, "hello-win", "commit").contains("98Mi")
    })
    .await;
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exporter_with_half_its_collectors_names_the_other_half() {
    let (lab, mut desk) = exporter_that_says(
        |name| !matches!(name, "memory" | "container" | "service"),
        |text| text,
    )
    .await;
    desk.sees("CPU", |desk| desk.cell(NODES, WIN, "cpu").contains("5.4 %"))
        .await;
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    desk.expects_absent_to_be_absent(PODS, "commit", "0%");
    let node = desk.windows_node().await;
    is_absent(&node, "commit_bytes", &["collector memory is off"]);
    is_absent(&node["services"], "kubelet", &["collector service"]);
    let ended = desk.drainboard(["check"]).await;
    assert_eq!(ended.code, 1, "{}", ended.out);
    assert!(ended.out.contains("memory"), "{}", ended.out);
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exposition_that_ends_in_the_middle_of_a_number_is_not_taken_for_the_whole() {
    let (lab, mut desk) = exporter_that_says(
        |_| true,
        |text| {
            let series = "\nwindows_memory_committed_bytes ";
            let at = text.find(series).unwrap() + series.len();
            text[..=at].to_owned()
        },
    )
    .await;
    desk.sees("that it was cut off", |desk| {
        let badge = desk.badge(Source::Exporter);
        let problem = badge.problem.unwrap_or_default();
        badge.glyph == "✖" && problem.contains("was cut off after") && problem.contains('→')
    })
    .await;
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    let node = desk.windows_node().await;
    is_absent(&node, "commit_bytes", &["was cut off after", "→"]);
    assert_eq!(node["cpu_percent"]["source"], "metrics.k8s.io");
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prometheus_with_another_clusters_data_is_said_to_be_one() {
    let lab = article().await;
    let mut other = (*lab.world().machine(WIN).unwrap()).clone();
    other.address = [10, 1, 2, 3].into();
    let address = SocketAddr::new(IpAddr::V4(other.address), EXPORTER_PORT);
    let world = World::new([other]);
    let backends = Backends::default();
    backends.register(address, exporter::router(world.clone(), WIN));
    let database = Database::default();
    let scraper = Scraper {
        world,
        backends,
        database: database.clone(),
    };
    scraper.tell_the_past(Utc::now());
    let pod = lab.world().pod("monitoring", PROMETHEUS_POD).unwrap();
    lab.backends().register(
        SocketAddr::new(IpAddr::V4(pod.address), PROMETHEUS_PORT),
        prometheus::router(database),
    );

    let mut desk = Desk::with(lab.kubeconfig()).await;
    desk.sees("that its data is of another cluster", |desk| {
        let told = desk.problem(Source::Prometheus);
        told.contains("another cluster's data") && told.contains("--prometheus-matcher")
    })
    .await;
    desk.sees("the exporter's figures", |desk| {
        desk.cell(NODES, WIN, "commit").contains("31 %")
    })
    .await;
    assert_eq!(
        desk.windows_node().await["commit_bytes"]["source"],
        "windows_exporter"
    );
    desk.leaves().await;
    lab.stop().await;
}

/// `metrics.k8s.io` whose clock is wrong by so many minutes.
fn metrics_off_by(lab: &Lab, minutes: i64) {
    let real = metrics_api::router(lab.world().clone());
    let skewed = Router::new().fallback(get(move |request: HttpRequest<Body>| {
        let real = real.clone();
        async move {
            let answer = real.oneshot(request).await.into_response();
            let bytes = answer.into_body().collect().await.unwrap().to_bytes();
            let mut list: Value = serde_json::from_slice(&bytes).unwrap();
            for item in list["items"].as_array_mut().into_iter().flatten() {
                let at = DateTime::parse_from_rfc3339(item["timestamp"].as_str().unwrap()).unwrap();
                let wrong = at + TimeDelta::minutes(minutes);
                item["timestamp"] = json!(wrong.format("%Y-%m-%dT%H:%M:%SZ").to_string());
            }
            axum::Json(list)
        }
    }));
    lab.api()
        .aggregated()
        .register(metrics_api::GROUP, metrics_api::VERSION, skewed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_ahead_makes_no_negative_age_and_one_that_is_behind_makes_an_old_one() {
    let lab = article().await;
    metrics_off_by(&lab, 10);
    let mut desk = Desk::with(lab.kubeconfig()).await;
    desk.sees("the working set", |desk| desk.cell(NODES, WIN, "ws") != ABSENT)
        .await;
    assert!(!desk.cell(NODES, WIN, "ws").contains('◌'));
    assert_eq!(desk.windows_node().await["working_set_bytes"]["age_seconds"], 0);

    metrics_off_by(&lab, -10);
    desk.asks(Request::Refresh);
    desk.sees("that it is old", |desk| desk.cell(NODES, WIN, "ws").contains('◌'))
        .await;
    let age = desk.windows_node().await["working_set_bytes"]["age_seconds"].clone();
    assert!(age.as_u64().unwrap() >= 590, "{age}");
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_booted_in_the_future_has_been_up_for_no_time() {
    let (lab, mut desk) = exporter_that_says(
        |_| true,
        |text| {
            let boot = (Utc::now() + TimeDelta::minutes(10)).timestamp().to_string();
            with_values(&text, &[("windows_system_boot_time_timestamp", &boot)])
        },
    )
    .await;
    let cell = desk.cell(NODES, WIN, "boot");
    assert!(cell.contains("11") && !cell.contains('-'), "{cell}");
    assert!(desk.cell(NODES, WIN, "state").starts_with("Ready"));
    assert!(desk.frame(&drainboard::tui::Pane::Nodes).contains(WIN));
    desk.leaves().await;
    lab.stop().await;
}
