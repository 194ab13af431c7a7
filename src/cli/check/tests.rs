use super::*;
use crate::domain::node::{Node, NodeResources};
use crate::domain::object::{Change, Os};
use crate::sources::event::{Generation, Payload, Scope, SourceEvent};
use crate::store::Store;
use std::collections::BTreeMap;

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_000_000, 0).unwrap()
}

fn problem(what: &str, next_step: &str) -> Problem {
    Problem {
        what: what.to_owned(),
        next_step: next_step.to_owned(),
    }
}

fn windows_node() -> Node {
    Node {
        name: "k8s-lab-win-1".into(),
        uid: "u-1".into(),
        os: Some(Os::Windows),
        created_at: None,
        roles: Box::default(),
        internal_ips: Box::default(),
        kubelet_version: "v1.37.2".into(),
        kernel_version: "10.0.26100.33438".into(),
        os_image: "Windows Server 2025 Datacenter".into(),
        architecture: "amd64".into(),
        container_runtime: "containerd://2.2.2".into(),
        boot_id: "11".into(),
        windows_build_label: None,
        unschedulable: false,
        cordoned_by: None,
        maintenance: None,
        proven_boot: None,
        taints: Box::default(),
        conditions: Box::default(),
        capacity: NodeResources::default(),
        allocatable: NodeResources::default(),
    }
}

/// The cluster of the article with all its sources; stories take something away.
struct Cluster(Collected);

impl Cluster {
    fn whole() -> Self {
        let mut cluster = Self(Collected {
            store: Store::new(),
            missing: BTreeMap::new(),
            silent: Vec::new(),
        });
        let scope = Scope {
            context: "lab".into(),
            server: "https://192.168.10.23:6443".into(),
            namespace: None,
            pod_selector: "".into(),
        };
        cluster.says(Source::Kubernetes, Payload::Begin(scope));
        cluster.says(Source::Kubernetes, Payload::ClusterVersion("v1.37.2".into()));
        let nodes = vec![Change::Restart, Change::Upsert(windows_node()), Change::Synced];
        cluster.says(Source::Kubernetes, Payload::Nodes(nodes));
        for watched in Watched::ALL {
            cluster.watch(watched, WatchState::Live);
        }
        cluster.is(Source::Kubernetes, SourcePhase::Connected, None);
        cluster.is(Source::Prometheus, SourcePhase::Connected, None);
        cluster.is(Source::Exporter, SourcePhase::Off, None);
        cluster.is(Source::MetricsApi, SourcePhase::Connected, None);
        cluster.is(Source::Loki, SourcePhase::Connected, None);
        cluster
    }

    fn says(&mut self, source: Source, payload: Payload) {
        let generation = Generation(1);
        let event = SourceEvent {
            source,
            generation,
            payload,
        };
        self.0.store.apply(event, now());
    }

    fn watch(&mut self, watched: Watched, state: WatchState) {
        self.says(Source::Kubernetes, Payload::Watch(watched, state));
    }

    fn is(&mut self, source: Source, phase: SourcePhase, last_error: Option<Problem>) {
        let state = SourceState {
            phase,
            reached: String::new(),
            last_answer: Some(now() - chrono::TimeDelta::seconds(12)),
            last_error,
        };
        self.says(source, Payload::State(state));
    }

    fn report(&self) -> Report {
        Report::of(&self.0, Duration::from_secs(10), now())
    }
}

#[test]
fn a_cluster_with_all_its_sources_is_well() {
    let report = Cluster::whole().report();
    assert_eq!(report.outcome, Outcome::Fine);
    insta::assert_snapshot!(report.text, @r"
    context lab · https://192.168.10.23:6443 · Kubernetes v1.37.2 · all namespaces

    ● kubernetes: connected, answered 12 s ago
        ● nodes
        ● pods
        ● leases
        ● daemonsets
        ● events
        ● poddisruptionbudgets
        ● persistentvolumes
        ● persistentvolumeclaims
        ● storageclasses
        ● csinodes
        ● csidrivers
    ● prometheus: connected, answered 12 s ago
    – windows_exporter: off
    ● metrics.k8s.io: connected, answered 12 s ago
    ● loki: connected, answered 12 s ago

    ● all is well
    ");
}

#[test]
fn a_source_that_is_down_is_a_gap_with_a_next_step() {
    let mut cluster = Cluster::whole();
    let gone = problem("no metrics.k8s.io in this cluster", "install metrics-server");
    cluster.is(Source::MetricsApi, SourcePhase::Failed, Some(gone));
    let report = cluster.report();
    assert_eq!(report.outcome, Outcome::Warnings);
    assert!(
        report.text.contains("▲ metrics.k8s.io: failed"),
        "{}",
        report.text
    );
    assert!(
        report.text.contains("→ install metrics-server"),
        "{}",
        report.text
    );
}

#[test]
fn a_series_that_is_missing_says_how_to_get_it() {
    let mut cluster = Cluster::whole();
    let missing = Missing {
        quantity: Quantity::Container(ContainerQuantity::Commit),
        node: None,
        reason: Absence::NotCollected("windows_exporter runs without its collector container".into()),
    };
    cluster.0.missing.insert(Source::Prometheus, vec![missing]);
    let report = cluster.report();
    assert_eq!(report.outcome, Outcome::Warnings);
    assert!(
        report
            .text
            .contains("▲ container commit: windows_exporter runs without its collector container"),
        "{}",
        report.text
    );
}

#[test]
fn a_windows_node_that_nobody_measures_is_critical() {
    let mut cluster = Cluster::whole();
    for source in [Source::Prometheus, Source::Exporter] {
        cluster.is(
            source,
            SourcePhase::Failed,
            Some(problem("connection refused", "")),
        );
    }
    let report = cluster.report();
    assert_eq!(report.outcome, Outcome::Critical);
    assert!(
        report
            .text
            .contains("✖ 1 Windows node, and nobody measures commit"),
        "{}",
        report.text
    );
}

#[test]
fn a_forbidden_watch_is_a_gap_and_all_of_them_are_no_answer() {
    let mut cluster = Cluster::whole();
    let refused = || {
        WatchState::Forbidden(Problem {
            what: "may not list".to_owned(),
            next_step: "ask for a ClusterRole".to_owned(),
        })
    };
    cluster.watch(Watched::Leases, refused());
    assert_eq!(cluster.report().outcome, Outcome::Warnings);
    for watched in Watched::ALL {
        cluster.watch(watched, refused());
    }
    assert_eq!(cluster.report().outcome, Outcome::Unreadable);
}

#[test]
fn a_source_that_stays_silent_is_told() {
    let mut cluster = Cluster::whole();
    cluster.0.silent.push(Source::Prometheus);
    let report = cluster.report();
    assert_eq!(report.outcome, Outcome::Warnings);
    assert!(
        report.text.contains("◌ prometheus: not answered within 10 s"),
        "{}",
        report.text
    );
}
