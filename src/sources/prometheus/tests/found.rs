use super::lab::{Answers, KPS, WIN_1, article_cluster, cluster, target};
use super::*;
use crate::domain::measurement::{ContainerKey, ContainerQuantity, NodeKey, Quantity, ServiceState};
use crate::sources::bench::reason;
use crate::sources::event::{Demand, Payload};
use crate::sources::prometheus::catalogue::QueryName;
use serde_json::json;

fn win_1() -> NodeKey {
    NodeKey::Address("192.168.10.25".parse().unwrap())
}

#[tokio::test]
async fn prometheus_is_found_by_itself_and_the_articles_figures_come_out() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    Answers::article(12.0).at(&bench.fake, KPS);
    let mut health = start(&bench, Options::default());

    let round = bench.round().await;
    assert_eq!(value(&round, NodeQuantity::Commit), Some(5_368_709_120.0));
    assert_eq!(value(&round, NodeQuantity::CpuRatio), Some(0.054));
    assert!(
        (12..60).contains(&age_of_commit(&round)),
        "{}",
        age_of_commit(&round)
    );
    assert!(round.nodes.iter().all(|one| one.node == win_1()));
    let kubelet = &round.services[0];
    assert_eq!(
        (&*kubelet.service, kubelet.state),
        ("kubelet", ServiceState::Running)
    );
    assert_eq!(kubelet.started_at.unwrap().timestamp(), 1_764_500_000);
    let hello = |quantity| {
        let found = round.containers.iter().find(|one| one.quantity == quantity);
        found.map(|one| (one.container.clone(), one.sample.value))
    };
    let id = ContainerKey::Id("containerd://hello-win".into());
    assert_eq!(
        hello(ContainerQuantity::Commit),
        Some((id.clone(), 102_760_448.0))
    );
    assert_eq!(hello(ContainerQuantity::WorkingSet), Some((id, 44_040_192.0)));
    assert_eq!(hello(ContainerQuantity::CommitPeak), None);

    let history = bench
        .until("history", |payload| match payload {
            Payload::History(history) => Some(history),
            _ => None,
        })
        .await;
    assert_eq!(
        (history.len(), history[0].points.len(), history[0].step_seconds),
        (1, 60, 60)
    );
    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    assert_eq!(
        state.reached,
        "service monitoring/kps-prometheus through the API server: 1 Windows instance, exporter 0.31.9, job \
         windows-exporter"
    );
    assert_eq!(state.last_error, None);
    let fresh = health
        .wait_for(|health| *health != Health::Unknown)
        .await
        .unwrap();
    assert!(matches!(&*fresh, Health::Answering(newest) if newest.contains_key(&win_1())));
}

#[tokio::test]
async fn of_two_prometheus_the_one_that_scrapes_our_windows_nodes_is_taken() {
    let mut bench = bench().await;
    cluster(
        &bench.fake,
        &[
            ("infra", "linux-only", "app=kube-prometheus-stack-prometheus"),
            ("monitoring", "prometheus-operated", "operated-prometheus=true"),
        ],
    );
    Answers::empty().at(
        &bench.fake,
        "/api/v1/namespaces/infra/services/linux-only:http-web/proxy",
    );
    Answers::article(1.0).at(
        &bench.fake,
        "/api/v1/namespaces/monitoring/services/prometheus-operated:http-web/proxy",
    );
    start(&bench, Options::default());

    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    assert!(
        state.reached.starts_with(
            "service monitoring/prometheus-operated through the API server (1 more service looks like a Prometheus)"
        ),
        "{}",
        state.reached
    );
}

#[tokio::test]
async fn a_cluster_without_prometheus_says_how_to_get_one() {
    let mut bench = bench().await;
    cluster(&bench.fake, &[]);
    let mut health = start(&bench, Options::default());

    let (what, next_step) = problem(&mut bench, SourcePhase::Off).await;
    assert_eq!(what, "no service of this cluster looks like a Prometheus");
    assert!(next_step.contains("--prometheus"), "{next_step}");
    let down = health
        .wait_for(|health| *health != Health::Unknown)
        .await
        .unwrap();
    assert!(matches!(&*down, Health::Down(_)));
}

#[tokio::test]
async fn a_prometheus_that_moved_is_found_again() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    Answers::article(1.0).at(&bench.fake, KPS);
    start(&bench, Options::default());
    bench.round().await;

    bench.fake.remove(&format!("{KPS}/api/v1/query"));
    cluster(
        &bench.fake,
        &[("monitoring", "new", "app=kube-prometheus-stack-prometheus")],
    );
    Answers::article(1.0).at(
        &bench.fake,
        "/api/v1/namespaces/monitoring/services/new:http-web/proxy",
    );
    bench.refresh();
    let state = bench
        .state("the new one", |state| state.reached.contains("monitoring/new"))
        .await;
    assert_eq!(state.phase, SourcePhase::Connected);
}

#[tokio::test]
async fn the_age_of_a_reading_is_that_of_its_raw_sample_also_when_the_servers_clock_is_wrong() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    // The target died almost five minutes ago; Prometheus still answers, and its clock is an hour ahead.
    let mut answers = Answers::empty();
    answers.clock += 3600.0;
    answers.node(&target(WIN_1), 290.0, &[("commit", 1.0)]);
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());

    let age = age_of_commit(&bench.round().await);
    assert!((289..380).contains(&age), "{age}");
}

#[tokio::test]
async fn the_newest_sample_of_a_restarted_exporter_counts_and_is_no_cause_for_alarm() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let mut answers = Answers::empty();
    let mut old_pod = target(WIN_1);
    old_pod["pod"] = json!("kps-prometheus-windows-exporter-old");
    answers.node(&old_pod, 60.0, &[("commit", 9.0)]);
    answers.node(&target(WIN_1), 5.0, &[("commit", 1.0)]);
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());

    assert_eq!(value(&bench.round().await, NodeQuantity::Commit), Some(1.0));
    let state = bench
        .state("connected", |state| state.phase == SourcePhase::Connected)
        .await;
    assert_eq!(state.last_error, None);
}

#[tokio::test]
async fn what_is_missing_is_told_with_the_collector_that_would_give_it() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    let mut answers = Answers::article(1.0)
        .without(QueryName::Containers)
        .without(QueryName::Series)
        .without(QueryName::Exporters);
    answers.exporter(&target(WIN_1), "0.31.9", &["cpu", "memory"]);
    answers.collector(&target(WIN_1), "system", false);
    answers.series(&[
        "windows_memory_committed_bytes",
        "windows_memory_commit_limit",
        "windows_cpu_time_total",
    ]);
    answers.at(&bench.fake, KPS);
    start(&bench, Options::default());

    let missing = bench.round().await.missing;
    let of_commit = reason(&missing, Quantity::Container(ContainerQuantity::Commit));
    assert!(
        of_commit.starts_with("collector container is off; enable it"),
        "{of_commit}"
    );
    let of_boot = reason(&missing, Quantity::Node(NodeQuantity::BootTime));
    assert!(of_boot.starts_with("collector system failed"), "{of_boot}");
    assert!(
        !missing
            .iter()
            .any(|one| one.quantity == Quantity::Node(NodeQuantity::Commit))
    );
}

#[tokio::test]
async fn samples_of_a_pane_that_is_left_stay_and_those_of_a_pane_that_opens_come_at_once() {
    let mut bench = bench().await;
    article_cluster(&bench.fake);
    Answers::article(1.0).at(&bench.fake, KPS);
    bench.need(Demand {
        nodes: true,
        ..Demand::default()
    });
    start(&bench, Options::default());
    let first = bench.round().await;
    assert!(first.containers.is_empty() && !first.services.is_empty());

    bench.need(Demand {
        containers: true,
        ..Demand::default()
    });
    let second = bench.round().await;
    assert!(!second.containers.is_empty() && !second.services.is_empty());
}
