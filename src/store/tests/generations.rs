//! Answers of an older start of a source, or of another cluster, are never shown.

use super::cluster::*;
use crate::domain::object::Os;
use crate::domain::reading::Source;
use crate::sources::event::{Payload, Scope, WatchState, Watched};
use crate::store::view::{TableKind, TableQuery};

fn other_cluster() -> Scope {
    Scope {
        context: "prod".into(),
        server: "https://10.0.0.1:6443".into(),
        ..Scope::default()
    }
}

#[test]
fn an_answer_of_the_old_context_that_arrives_late_is_dropped() {
    let mut told = Told::article();
    told.generation = 2;
    told.begin(&other_cluster());
    let header = told.store.header(now());
    assert_eq!((header.context.as_str(), header.counts.nodes), ("prod", 0));
    assert_eq!(header.version, None);
    told.generation = 1;
    assert!(!told.say(Source::Kubernetes, Payload::Nodes(upserts(nodes()))));
    assert!(!told.say(Source::Prometheus, Payload::Measurements(article_windows(ago(1)))));
    assert_eq!(told.table(TableKind::Nodes, &TableQuery::default()).total, 0);
}

#[test]
fn samples_of_the_old_cluster_do_not_join_nodes_of_the_same_name_in_the_new_one() {
    let mut told = Told::article();
    told.generation = 2;
    told.say(Source::Kubernetes, Payload::Begin(other_cluster()));
    told.say(
        Source::Kubernetes,
        Payload::Nodes(upserts(vec![node(WIN, Os::Windows, 43)])),
    );
    told.say(
        Source::Kubernetes,
        Payload::Watch(Watched::Nodes, WatchState::Live),
    );
    // Prometheus has not begun anew; its last round is about the other cluster.
    for column in ["commit", "cpu", "ws"] {
        assert_eq!(
            told.column(TableKind::Nodes, column, &TableQuery::default()),
            ["–"],
            "{column}"
        );
    }
    told.say(Source::Prometheus, Payload::Begin(other_cluster()));
    told.measure(Source::Prometheus, article_windows(ago(3)));
    assert_eq!(
        told.column(TableKind::Nodes, "commit", &TableQuery::default()),
        ["███▁▁▁▁▁▁▁  31 %"]
    );
}

#[test]
fn a_new_namespace_keeps_the_samples_and_drops_the_rows() {
    let mut told = Told::article();
    told.generation = 2;
    let scope = Scope {
        namespace: Some("win-demo".into()),
        ..told.store.scope()
    };
    told.say(Source::Kubernetes, Payload::Begin(scope));
    assert_eq!(told.store.header(now()).namespace.as_deref(), Some("win-demo"));
    let window = told.table(TableKind::Pods, &TableQuery::default());
    assert_eq!(
        (window.total, text(&window.notice.unwrap())),
        (0, "loading pods…".into())
    );
    told.say(Source::Kubernetes, Payload::Nodes(upserts(nodes())));
    told.say(Source::Kubernetes, Payload::Pods(upserts(pods()[1..].to_vec())));
    told.say(
        Source::Kubernetes,
        Payload::Watch(Watched::Pods, WatchState::Live),
    );
    let ws = told.column(TableKind::Pods, "ws", &TableQuery::default());
    assert_eq!(ws, ["42Mi"; 2]);
}

#[test]
fn a_round_replaces_the_round_before_it() {
    let mut told = Told::article();
    let mut next = article_windows(ago(1));
    next.containers
        .retain(|sample| format!("{:?}", sample.container).contains("tkfg6"));
    told.measure(Source::Prometheus, next);
    let ws = told.column(TableKind::Pods, "ws", &super::tables::filtered("os:windows"));
    assert_eq!(ws, ["42Mi", "–"]);
}
