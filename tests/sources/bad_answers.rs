//! Each source answers with errors, web pages and halves: the operator reads what to do, and the rest works.

use crate::desk::{ABSENT, Desk, WIN, article, is_absent};
use drainboard::domain::reading::Source;
use drainboard::lab::apiserver::Fault;
use drainboard::lab::embedded::Switch;
use drainboard::sources::event::{Request, WatchState, Watched};
use drainboard::store::view::{TableKind, TableQuery};

const NODES: TableKind = TableKind::Nodes;
const PODS: TableKind = TableKind::Pods;

/// What goes wrong, and the word by which the operator knows it.
fn mishaps() -> Vec<(Fault, &'static str)> {
    vec![
        (Fault::Status(401), "401"),
        (Fault::Status(403), "403"),
        (Fault::Status(404), "404"),
        (Fault::Status(410), "410"),
        (Fault::TooManyRequests(1), "429"),
        (Fault::Status(500), "500"),
        (Fault::Status(503), "503"),
        (Fault::Html(502), "502"),
        (Fault::Html(200), "web page"),
        (Fault::TruncatedJson, "cut off"),
    ]
}

/// What the watch of pods says is wrong.
fn trouble_with_pods(desk: &Desk) -> Option<String> {
    let states = desk.store.watch_states();
    let (_, state) = states
        .into_iter()
        .find(|(watched, _)| *watched == Watched::Pods)?;
    match state {
        WatchState::Failed(problem) | WatchState::Forbidden(problem) if problem.next_step.is_empty() => None,
        WatchState::Failed(problem) | WatchState::Forbidden(problem) => Some(problem.to_string()),
        WatchState::Loading | WatchState::Live => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_pods_that_goes_wrong_is_told_and_leaves_the_nodes() {
    let lab = article().await;
    for (fault, word) in mishaps() {
        // A refusal is known by its text here, which names verb and resource.
        let word = if word == "403" { "cannot list pods" } else { word };
        lab.api().faults().set("/api/v1/pods", fault.clone());
        let mut desk = Desk::with(lab.kubeconfig()).await;
        desk.sees(&format!("{fault:?} of the pods"), |desk| {
            trouble_with_pods(desk).is_some_and(|told| told.contains(word))
                && desk.badge(Source::Kubernetes).glyph == "▲"
        })
        .await;
        assert!(desk.notice(PODS).contains(word), "{}", desk.notice(PODS));
        assert!(desk.problem(Source::Kubernetes).contains(word));
        desk.sees("the nodes all the same", |desk| {
            desk.cell(NODES, WIN, "commit").contains("31 %")
        })
        .await;
        desk.expects_absent_to_be_absent(NODES, "pods", "0");

        lab.api().faults().clear();
        desk.asks(Request::Refresh);
        desk.sees("the pods, once it is well again", |desk| {
            !desk.rows(PODS, &TableQuery::default()).is_empty() && desk.notice(PODS).is_empty()
        })
        .await;
        desk.leaves().await;
    }
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prometheus_that_goes_wrong_is_told_and_the_exporter_stands_in() {
    let lab = article().await;
    let mut desk = Desk::at(&lab).await;
    for (fault, word) in mishaps() {
        lab.api()
            .faults()
            .set("/api/v1/namespaces/monitoring/services/", fault.clone());
        desk.asks(Request::Refresh);
        desk.sees(&format!("{fault:?} of Prometheus"), |desk| {
            let badge = desk.badge(Source::Prometheus);
            let problem = badge.problem.unwrap_or_default();
            badge.glyph == "✖" && problem.contains(word) && problem.contains('→')
        })
        .await;
        desk.sees("the exporter's figures", |desk| {
            desk.badge(Source::Exporter).glyph == "●" && desk.cell(NODES, WIN, "commit").contains("31 %")
        })
        .await;
    }
    let node = desk.windows_node().await;
    assert_eq!(node["commit_bytes"]["source"], "windows_exporter");
    lab.api().faults().clear();
    desk.asks(Request::Refresh);
    desk.sees("Prometheus again, once it is well", |desk| {
        desk.badge(Source::Prometheus).glyph == "●" && desk.badge(Source::Exporter).glyph == "–"
    })
    .await;
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_metrics_api_that_goes_wrong_is_told_and_leaves_what_others_measure() {
    let lab = article().await;
    for (fault, word) in mishaps() {
        // No such API means that nobody installed it.
        let word = if word == "404" {
            "install metrics-server"
        } else {
            word
        };
        lab.api().faults().set("/apis/metrics.k8s.io", fault.clone());
        let mut desk = Desk::with(lab.kubeconfig()).await;
        desk.sees(
            &format!("{fault:?} of metrics.k8s.io, and the figures of Prometheus"),
            |desk| {
                let told = desk.problem(Source::MetricsApi);
                told.contains(word) && told.contains('→') && desk.cell(NODES, WIN, "commit").contains("31 %")
            },
        )
        .await;
        desk.expects_absent_to_be_absent(NODES, "ws", "0Mi");
        desk.leaves().await;
    }
    let desk = Desk::with(lab.kubeconfig()).await;
    let node = desk.windows_node().await;
    is_absent(&node, "working_set_bytes", &["metrics.k8s.io", "cut off"]);
    assert_eq!(node["commit_bytes"]["source"], "prometheus");
    desk.leaves().await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exporter_that_goes_wrong_is_told_and_leaves_what_metrics_k8s_io_knows() {
    let lab = article().await;
    lab.set(Switch::Prometheus, false);
    let mut desk = Desk::with(lab.kubeconfig()).await;
    for (fault, word) in mishaps() {
        // An exposition is no JSON: the half of an object is something else on the port.
        let word = if word == "cut off" {
            "something else runs there"
        } else {
            word
        };
        lab.api()
            .faults()
            .set("/api/v1/namespaces/monitoring/pods/", fault.clone());
        desk.asks(Request::Refresh);
        desk.sees(&format!("{fault:?} of the exporter"), |desk| {
            let told = desk.problem(Source::Exporter);
            told.contains(word) && told.contains('→') && desk.cell(NODES, WIN, "commit") == ABSENT
        })
        .await;
        desk.sees("what metrics.k8s.io knows", |desk| {
            desk.cell(NODES, WIN, "ws") != ABSENT
        })
        .await;
        desk.expects_absent_to_be_absent(NODES, "commit", "0%");
        assert!(desk.commit_reason().contains('→'), "{}", desk.commit_reason());
    }
    desk.leaves().await;
    lab.stop().await;
}
