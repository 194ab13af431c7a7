//! Prometheus goes on answering for five minutes after its target died: the age grows, the value looks old, and
//! the exporter takes over where it can be reached.

use crate::desk::{ABSENT, Desk, WIN, article};
use axum::Router;
use chrono::{TimeDelta, Utc};
use drainboard::domain::reading::{Reading, Source};
use drainboard::lab::article::PROMETHEUS_POD;
use drainboard::lab::backends::Backends;
use drainboard::lab::embedded::{Lab, Switch};
use drainboard::lab::exporter::{self, EXPORTER_PORT};
use drainboard::lab::prometheus::{self, Database, PROMETHEUS_PORT, Scraper};
use drainboard::sources::event::Request;
use drainboard::store::view::TableKind;
use std::net::{IpAddr, SocketAddr};

const NODES: TableKind = TableKind::Nodes;
const PODS: TableKind = TableKind::Pods;

/// A Prometheus whose last scrape was so many seconds ago.
fn silent_for(lab: &Lab, seconds: i64) -> Router {
    let backends = Backends::default();
    let machine = lab.world().machine(WIN).unwrap();
    let address = SocketAddr::new(IpAddr::V4(machine.address), EXPORTER_PORT);
    backends.register(address, exporter::router(lab.world().clone(), WIN));
    let database = Database::default();
    let scraper = Scraper {
        world: lab.world().clone(),
        backends,
        database: database.clone(),
    };
    scraper.tell_the_past(Utc::now() - TimeDelta::seconds(seconds));
    prometheus::router(database)
}

fn put_in_place_of_prometheus(lab: &Lab, router: Router) {
    let pod = lab.world().pod("monitoring", PROMETHEUS_POD).unwrap();
    let address = SocketAddr::new(IpAddr::V4(pod.address), PROMETHEUS_PORT);
    lab.backends().register(address, router);
}

fn commit_of(desk: &Desk) -> Reading<f64> {
    let facts = desk.store.node_facts(Utc::now());
    facts.into_iter().find(|node| &*node.name == WIN).unwrap().commit
}

#[tokio::test(flavor = "multi_thread")]
async fn old_samples_look_old_until_the_exporter_takes_over() {
    let lab = article().await;
    put_in_place_of_prometheus(&lab, silent_for(&lab, 100));
    lab.set(Switch::Exporter, false);
    let mut desk = Desk::with(lab.kubeconfig()).await;
    desk.sees("the old figure, marked as old", |desk| {
        desk.cell(NODES, WIN, "commit").ends_with("31 % ◌")
            // Where another source is fresh, that one is shown.
            && desk.cell(PODS, "hello-win", "ws") == "41Mi"
    })
    .await;
    let reading = commit_of(&desk);
    let (now, later) = (Utc::now(), Utc::now() + TimeDelta::seconds(60));
    assert!(reading.age_seconds(now).unwrap() >= 100);
    assert!(reading.age_seconds(later) > reading.age_seconds(now));
    let Reading::Present {
        source, sampled_at, ..
    } = reading
    else {
        panic!("{reading:?}")
    };
    assert_eq!(source, Source::Prometheus);
    let node = desk.windows_node().await;
    assert_eq!(node["commit_bytes"]["source"], "prometheus");
    assert!(
        node["commit_bytes"]["age_seconds"].as_u64().unwrap() >= 100,
        "{node}"
    );

    // New answers about the same old sample do not make it younger.
    desk.asks(Request::Refresh);
    let answered = desk.header();
    desk.sees("another answer", |desk| desk.header() != answered)
        .await;
    let Reading::Present { sampled_at: same, .. } = commit_of(&desk) else {
        panic!("the value is gone")
    };
    assert!(
        (same - sampled_at).num_seconds().abs() <= 1,
        "{same} {sampled_at}"
    );

    lab.set(Switch::Exporter, true);
    desk.asks(Request::Refresh);
    desk.sees("the exporter's fresh figure", |desk| {
        let commit = commit_of(desk);
        matches!(
            commit,
            Reading::Present {
                source: Source::Exporter,
                ..
            }
        ) && !commit.is_stale(Utc::now())
    })
    .await;
    assert!(desk.cell(NODES, WIN, "commit").ends_with("31 %"));
    desk.sees("that the exporter is well", |desk| {
        desk.badge(Source::Exporter).glyph == "●"
    })
    .await;
    let node = desk.windows_node().await;
    assert_eq!(node["commit_bytes"]["source"], "windows_exporter");
    assert!(
        node["commit_bytes"]["age_seconds"].as_u64().unwrap() < 60,
        "{node}"
    );
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_five_minutes_there_is_nothing_left_and_that_is_no_zero() {
    let lab = article().await;
    put_in_place_of_prometheus(&lab, silent_for(&lab, 301));
    lab.set(Switch::Exporter, false);
    let mut desk = Desk::with(lab.kubeconfig()).await;
    desk.sees("that both have nothing", |desk| {
        desk.cell(NODES, WIN, "commit") == ABSENT
            && desk.badge(Source::Exporter).glyph == "✖"
            && desk.cell(NODES, WIN, "ws") != ABSENT
    })
    .await;
    desk.expects_absent_to_be_absent(NODES, "commit", "0%");
    let reason = desk.commit_reason();
    assert!(reason.contains("kps-prometheus-windows-exporter"), "{reason}");
    assert!(desk.problem(Source::Exporter).contains('→'));
    desk.leaves().await;
    lab.stop().await;
}
