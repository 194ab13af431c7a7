//! Each source switched off in turn: what it gave is absent, never zero.

use super::cluster::*;
use super::tables::filtered;
use crate::domain::measurement::{Measurements, Missing, NodeKey, NodeQuantity, Quantity};
use crate::domain::object::Os;
use crate::domain::pod::Resources;
use crate::domain::reading::{Absence, Source};
use crate::sources::event::{Payload, Problem, SourcePhase, WatchState, Watched};
use crate::store::view::{Direction, TableKind, TableQuery};

const ABSENT: &str = "–";

fn two_windows_nodes() -> Told {
    Told::rows(
        vec![
            node("k8s-lab-node-1", Os::Linux, 41),
            node(WIN, Os::Windows, 43),
            node("k8s-lab-win-2", Os::Windows, 44),
        ],
        pods(),
    )
}

#[test]
fn with_nothing_measured_every_measured_cell_is_a_dash() {
    let mut told = two_windows_nodes();
    for source in [Source::Prometheus, Source::Exporter, Source::MetricsApi] {
        told.fails(source, "connection refused");
    }
    for column in ["cpu", "commit", "ws", "lease"] {
        assert_eq!(
            told.column(TableKind::Nodes, column, &TableQuery::default()),
            [ABSENT; 3],
            "{column}"
        );
    }
    for column in ["cpu", "commit", "ws"] {
        assert_eq!(
            told.column(TableKind::Pods, column, &TableQuery::default()),
            [ABSENT; 3],
            "{column}"
        );
    }
    let summary = text(&told.table(TableKind::Nodes, &TableQuery::default()).summary);
    assert_eq!(summary, "3 nodes · commit – (0 of 2) · working set – (0 of 3)");
}

#[test]
fn what_is_absent_sorts_last_in_both_directions_and_matches_no_comparison() {
    let mut told = two_windows_nodes();
    told.measure(Source::Prometheus, article_windows(ago(12)));
    for direction in [Direction::Ascending, Direction::Descending] {
        for column in ["commit", "cpu", "boot"] {
            let query = TableQuery {
                sort: Some((column.into(), direction)),
                ..TableQuery::default()
            };
            let names = told.names(TableKind::Nodes, &query);
            assert_eq!(
                names,
                [WIN, "k8s-lab-node-1", "k8s-lab-win-2"],
                "{column} {direction:?}"
            );
        }
    }
    for filter in [
        "commit>=0%",
        "commit<99%",
        "!commit>99%",
        "cpu<50%",
        "!cpu=50%",
        "boot>1h",
        "commit!=1%",
    ] {
        assert_eq!(told.names(TableKind::Nodes, &filtered(filter)), [WIN], "{filter}");
    }
    let summary = text(&told.table(TableKind::Nodes, &TableQuery::default()).summary);
    assert_eq!(
        summary,
        "3 nodes · commit 5.0 GiB (1 of 2) · working set – (0 of 3)"
    );
}

#[test]
fn the_exporter_stands_in_for_prometheus_and_metrics_k8s_io_for_both() {
    let mut told = Told::rows(nodes(), pods());
    let win = filtered("name:win-1");
    told.measure(Source::MetricsApi, article_usage(ago(9)));
    assert_eq!(told.column(TableKind::Nodes, "cpu", &win), ["      6.0 %"]);
    assert_eq!(told.column(TableKind::Nodes, "commit", &win), [ABSENT]);
    told.measure(Source::Exporter, article_windows(ago(5)));
    assert_eq!(told.column(TableKind::Nodes, "cpu", &win), ["      5.4 %"]);
    assert_eq!(
        told.column(TableKind::Nodes, "commit", &win),
        ["███▁▁▁▁▁▁▁  31 %"]
    );
}

#[test]
fn a_stale_prometheus_gives_way_to_a_fresher_exporter_but_not_to_an_older_one() {
    let mut told = Told::rows(nodes(), pods());
    let win = filtered("name:win-1");
    let commit = |told: &mut Told| told.column(TableKind::Nodes, "commit", &win).remove(0);
    let halved = |at| {
        let mut measurements = article_windows(at);
        measurements.nodes[0].sample.value /= 2.0;
        measurements
    };
    told.measure(Source::Prometheus, article_windows(ago(120)));
    assert_eq!(
        commit(&mut told),
        "███▁▁▁▁▁▁▁  31 % ◌",
        "alone it is shown, as old"
    );
    told.measure(Source::Exporter, halved(ago(300)));
    assert_eq!(commit(&mut told), "███▁▁▁▁▁▁▁  31 % ◌");
    told.measure(Source::Exporter, halved(ago(10)));
    assert_eq!(commit(&mut told), "██▁▁▁▁▁▁▁▁  16 %");
    told.measure(Source::Prometheus, article_windows(ago(40)));
    assert_eq!(
        commit(&mut told),
        "███▁▁▁▁▁▁▁  31 %",
        "fresh again, it is preferred though older"
    );
}

#[test]
fn the_reason_is_the_one_that_helps() {
    let mut told = Told::rows(nodes(), pods());
    let reason = |told: &mut Told| {
        let facts = told.store.node_facts(now());
        let win = facts.into_iter().find(|node| &*node.name == WIN).unwrap();
        win.commit.absence().unwrap().to_string()
    };
    assert_eq!(reason(&mut told), "not answered yet");
    told.fails(Source::Prometheus, "no answer from monitoring/kps-prometheus");
    assert_eq!(
        reason(&mut told),
        "prometheus: no answer from monitoring/kps-prometheus → see that it runs"
    );
    let off = state(SourcePhase::Off, None);
    told.say(Source::Exporter, Payload::State(off));
    assert_eq!(
        reason(&mut told),
        "prometheus: no answer from monitoring/kps-prometheus → see that it runs"
    );
    told.measure(
        Source::Exporter,
        Measurements {
            missing: vec![Missing {
                quantity: Quantity::Node(NodeQuantity::Commit),
                node: Some(NodeKey::Name(WIN.into())),
                reason: Absence::NotCollected(
                    "collector memory is off: add it to --collectors.enabled".into(),
                ),
            }],
            ..Measurements::default()
        },
    );
    assert_eq!(
        reason(&mut told),
        "collector memory is off: add it to --collectors.enabled"
    );
}

#[test]
fn commit_does_not_exist_on_linux_whatever_the_sources_say() {
    let told = Told::article();
    let facts = told.store.node_facts(now());
    for node in facts.iter().filter(|node| node.os == Some(Os::Linux)) {
        assert_eq!(
            node.commit.absence(),
            Some(&Absence::NotOnThisOs),
            "{}",
            node.name
        );
        assert!(node.working_set.value().is_some(), "{}", node.name);
    }
}

#[test]
fn zeros_of_host_process_pods_in_metrics_k8s_io_are_absent() {
    use crate::domain::measurement::ContainerQuantity::{CpuCores, WorkingSet};
    let mut host = pod(
        "win-demo",
        "calico-node-windows-q54h2",
        Some(WIN),
        Some(Os::Windows),
    );
    host.host_process = true;
    let mut told = Told::rows(nodes(), vec![host]);
    told.measure(
        Source::MetricsApi,
        Measurements {
            containers: [WorkingSet, CpuCores]
                .map(|quantity| of_container("calico-node-windows-q54h2", quantity, 0.0, ago(9)))
                .into(),
            ..Measurements::default()
        },
    );
    assert_eq!(
        told.column(TableKind::Pods, "ws", &TableQuery::default()),
        [ABSENT]
    );
    let facts = told.store.pod_facts(now());
    let reason = facts[0].containers[0].working_set.absence().unwrap().to_string();
    assert_eq!(reason, "HostProcess pods report no usage there");
}

#[test]
fn a_container_without_limit_is_marked_and_has_no_ratio() {
    let mut unlimited = pods();
    for pod in &mut unlimited {
        pod.containers[0].limits = Resources::default();
    }
    let mut told = Told::rows(nodes(), unlimited);
    told.measure(Source::Prometheus, article_windows(ago(12)));
    let commits = told.column(TableKind::Pods, "commit", &filtered("os:windows"));
    assert_eq!(commits, ["▲ no limit 98Mi"; 2]);
    assert_eq!(
        told.column(TableKind::Pods, "cpu-max", &filtered("os:windows")),
        ["no limit"; 2]
    );
    let facts = told.store.pod_facts(now());
    assert_eq!(
        facts[1].containers[0].commit_to_limit.absence(),
        Some(&Absence::NoLimit)
    );
    assert!(told.names(TableKind::Pods, &filtered("commit>0%")).is_empty());
}

#[test]
fn a_sample_of_an_earlier_pod_of_the_same_name_does_not_count() {
    let mut young = pods();
    young[1].created_at = Some(ago(5));
    let mut told = Told::rows(nodes(), young);
    told.measure(Source::Prometheus, article_windows(ago(12)));
    let commits = told.column(TableKind::Pods, "ws", &filtered("os:windows"));
    assert_eq!(commits, [ABSENT, "42Mi"]);
}

#[test]
fn forbidden_pods_make_their_numbers_absent_and_leave_the_nodes_alone() {
    let mut told = Told::article();
    let forbidden = "pods is forbidden: cannot list resource \"pods\" at the cluster scope";
    told.say(
        Source::Kubernetes,
        Payload::Watch(
            Watched::Pods,
            WatchState::Forbidden(Problem {
                what: forbidden.to_owned(),
                next_step: "ask for a ClusterRole".to_owned(),
            }),
        ),
    );
    assert_eq!(
        told.column(TableKind::Nodes, "pods", &TableQuery::default()),
        [ABSENT; 4]
    );
    assert!(told.names(TableKind::Nodes, &filtered("pods>=0")).is_empty());
    assert!(
        told.table(TableKind::Nodes, &TableQuery::default())
            .notice
            .is_none()
    );
    let notice = told
        .table(TableKind::Pods, &TableQuery::default())
        .notice
        .unwrap();
    assert!(text(&notice).contains("cannot list"));
}

#[test]
fn forbidden_leases_and_nodes_take_only_what_hangs_on_them() {
    let mut told = Told::article();
    told.say(
        Source::Kubernetes,
        Payload::Watch(
            Watched::Leases,
            WatchState::Forbidden(Problem {
                what: "leases is forbidden".to_owned(),
                next_step: "ask for a ClusterRole".to_owned(),
            }),
        ),
    );
    assert_eq!(
        told.column(TableKind::Nodes, "lease", &TableQuery::default()),
        [ABSENT; 4]
    );
    let mut blind = Told::rows(Vec::new(), pods());
    blind.say(
        Source::Kubernetes,
        Payload::Watch(
            Watched::Nodes,
            WatchState::Forbidden(Problem {
                what: "nodes is forbidden".to_owned(),
                next_step: "ask for a ClusterRole".to_owned(),
            }),
        ),
    );
    assert_eq!(
        blind.column(TableKind::Pods, "cpu-max", &TableQuery::default()),
        [ABSENT; 3]
    );
    assert_eq!(blind.table(TableKind::Pods, &TableQuery::default()).matched, 3);
}

#[test]
fn a_failing_watch_keeps_the_rows_and_says_so() {
    let mut told = Told::article();
    let problem = Problem {
        what: "watching pods: connection reset".into(),
        next_step: "it is tried again".into(),
    };
    told.say(
        Source::Kubernetes,
        Payload::Watch(Watched::Pods, WatchState::Failed(problem)),
    );
    let window = told.table(TableKind::Pods, &TableQuery::default());
    assert_eq!(window.matched, 3);
    assert_eq!(
        text(&window.notice.unwrap()),
        "✖ watching pods: connection reset → it is tried again"
    );
    assert_eq!(
        told.column(TableKind::Nodes, "pods", &filtered("name:win-1")),
        ["2"]
    );
}

#[test]
fn an_instance_is_mapped_by_address_or_exporter_pod_and_never_where_two_nodes_could_be_meant() {
    let mut exporter = pod("monitoring", "exporter-x", Some(WIN), Some(Os::Windows));
    exporter.host_process = true;
    let mut told = Told::rows(nodes(), Vec::new());
    let by_pod = NodeKey::Pod("monitoring".into(), "exporter-x".into());
    let mut measurements = article_windows(ago(5));
    for measurement in &mut measurements.nodes {
        measurement.node = by_pod.clone();
    }
    told.measure(Source::Exporter, measurements);
    let win = filtered("name:win-1");
    assert_eq!(
        told.column(TableKind::Nodes, "commit", &win),
        [ABSENT],
        "its pod is not known yet"
    );
    told.say(Source::Kubernetes, Payload::Pods(upserts(vec![exporter])));
    assert_eq!(
        told.column(TableKind::Nodes, "commit", &win),
        ["███▁▁▁▁▁▁▁  31 %"]
    );

    let mut ambiguous = Told::article();
    let twin = node("k8s-lab-win-9", Os::Windows, 43);
    ambiguous.say(Source::Kubernetes, Payload::Nodes(upserts(vec![twin])));
    assert_eq!(ambiguous.column(TableKind::Nodes, "commit", &win), [ABSENT]);
}
