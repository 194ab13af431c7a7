//! The cluster of the tests: three Linux nodes and one Windows node as in the article, told by source events.

use crate::domain::measurement::{
    ContainerKey, ContainerMeasurement, ContainerQuantity, Measurements, NodeKey, NodeMeasurement,
    NodeQuantity, Sample, ServiceMeasurement, ServiceState, WATCHED_SERVICES,
};
use crate::domain::node::{Condition, ConditionStatus, Node, NodeResources};
use crate::domain::object::{Change, NodeLease, Os};
use crate::domain::pod::{Container, ContainerKind, ContainerState, Phase, Pod, Resources};
use crate::domain::reading::Source;
use crate::domain::{Name, Timestamp};
use crate::sources::event::{
    Generation, Payload, Problem, Scope, SourceEvent, SourcePhase, SourceState, WatchState, Watched,
};
use crate::store::Store;
use crate::store::view::{Line, TableKind, TableQuery, TableWindow};
use chrono::TimeDelta;
use std::net::Ipv4Addr;

pub const MIB: f64 = 1_048_576.0;
pub const GIB: f64 = 1_073_741_824.0;

/// 2026-11-07 10:00 UTC.
pub fn now() -> Timestamp {
    Timestamp::from_timestamp(1_794_045_600, 0).unwrap()
}

pub fn ago(seconds: i64) -> Timestamp {
    now() - TimeDelta::seconds(seconds)
}

pub fn node(name: &str, os: Os, last_byte: u8) -> Node {
    let windows = os == Os::Windows;
    Node {
        name: name.into(),
        uid: format!("uid-{name}").into(),
        os: Some(os),
        created_at: Some(ago(40 * 86_400)),
        roles: Box::default(),
        internal_ips: Box::new([Ipv4Addr::new(192, 168, 30, last_byte).into()]),
        kubelet_version: "v1.37.2".into(),
        kernel_version: if windows { "10.0.26100.33438" } else { "6.12.48" }.into(),
        os_image: "".into(),
        architecture: "amd64".into(),
        container_runtime: "containerd://2.2.2".into(),
        boot_id: if windows {
            "11"
        } else {
            "8b3d5c9e-6f0e-4c64-9d5c-2f0f3a1e7d11"
        }
        .into(),
        windows_build_label: windows.then(|| "10.0.26100".into()),
        unschedulable: false,
        cordoned_by: None,
        maintenance: None,
        proven_boot: None,
        taints: Box::default(),
        conditions: Box::new([Condition {
            kind: "Ready".into(),
            status: ConditionStatus::True,
            reason: "KubeletReady".into(),
            message: "kubelet is posting ready status".into(),
            since: Some(ago(3600)),
        }]),
        capacity: NodeResources {
            cpu_millicores: Some(4000),
            memory_bytes: Some(8 << 30),
            pods: Some(110),
        },
        allocatable: NodeResources::default(),
    }
}

pub fn container(name: &str) -> Container {
    Container {
        name: name.into(),
        image: "ghcr.io/example/hello:1.3".into(),
        kind: ContainerKind::App,
        container_id: format!("containerd://{name}").into(),
        requests: Resources {
            cpu_millicores: Some(250),
            memory_bytes: Some(256 << 20),
        },
        limits: Resources {
            cpu_millicores: Some(500),
            memory_bytes: Some(256 << 20),
        },
        ready: true,
        restarts: 0,
        state: ContainerState::Running(Some(ago(42 * 60))),
        last_termination: None,
    }
}

pub fn pod(namespace: &str, name: &str, node: Option<&str>, os: Option<Os>) -> Pod {
    Pod {
        uid: format!("uid-{name}").into(),
        namespace: namespace.into(),
        name: name.into(),
        node: node.map(Into::into),
        os,
        phase: if node.is_some() {
            Phase::Running
        } else {
            Phase::Pending
        },
        state: if node.is_some() { "Running" } else { "Pending" }.into(),
        reason: "".into(),
        ready: u16::from(node.is_some()),
        ready_of: 1,
        restarts: 0,
        last_restart_at: None,
        created_at: Some(ago(50 * 60)),
        started_at: Some(ago(50 * 60)),
        deleted_at: None,
        ip: None,
        owner: None,
        host_process: false,
        mirror: false,
        empty_dir: false,
        runtime_class: None,
        claims: Box::default(),
        labels: Box::default(),
        containers: Box::new([container("hello")]),
    }
}

pub const WIN: &str = "k8s-lab-win-1";

pub fn nodes() -> Vec<Node> {
    vec![
        node("k8s-lab-master-1", Os::Linux, 40),
        node("k8s-lab-node-1", Os::Linux, 41),
        node("k8s-lab-node-2", Os::Linux, 42),
        node(WIN, Os::Windows, 43),
    ]
}

pub fn pods() -> Vec<Pod> {
    vec![
        pod(
            "demo",
            "hello-55fb8f8684-69mvv",
            Some("k8s-lab-node-1"),
            Some(Os::Linux),
        ),
        pod(
            "win-demo",
            "hello-win-759c899954-tkfg6",
            Some(WIN),
            Some(Os::Windows),
        ),
        pod(
            "win-demo",
            "hello-win-759c899954-tq5nc",
            Some(WIN),
            Some(Os::Windows),
        ),
    ]
}

pub fn upserts<T>(rows: Vec<T>) -> Vec<Change<T>> {
    rows.into_iter().map(Change::Upsert).collect()
}

/// A store, and the generation in which each source speaks.
pub struct Told {
    pub store: Store,
    pub generation: u64,
}

impl Told {
    /// A store that knows nothing.
    pub fn nothing() -> Self {
        Self {
            store: Store::new(),
            generation: 1,
        }
    }

    /// A store that knows these rows, all watches live.
    pub fn rows(nodes: Vec<Node>, pods: Vec<Pod>) -> Self {
        let mut told = Self::nothing();
        let scope = Scope {
            context: "lab".into(),
            server: "https://192.168.30.40:6443".into(),
            ..Scope::default()
        };
        told.begin(&scope);
        told.say(Source::Kubernetes, Payload::ClusterVersion("v1.37.2".into()));
        told.answers(Source::Kubernetes);
        told.say(Source::Kubernetes, Payload::Nodes(upserts(nodes)));
        told.say(Source::Kubernetes, Payload::Pods(upserts(pods)));
        for watched in Watched::ALL {
            told.say(Source::Kubernetes, Payload::Watch(watched, WatchState::Live));
        }
        told
    }

    /// The cluster of the article with fresh samples of every source.
    pub fn article() -> Self {
        let mut told = Self::rows(nodes(), pods());
        told.say(
            Source::Kubernetes,
            Payload::Leases(
                nodes()
                    .iter()
                    .map(|node| Change::Upsert(lease(&node.name, 0)))
                    .collect(),
            ),
        );
        told.measure(Source::Prometheus, article_windows(ago(12)));
        told.measure(Source::MetricsApi, article_usage(ago(9)));
        told
    }

    pub fn begin(&mut self, scope: &Scope) {
        for source in [
            Source::Kubernetes,
            Source::Prometheus,
            Source::Exporter,
            Source::MetricsApi,
        ] {
            self.say(source, Payload::Begin(scope.clone()));
        }
    }

    pub fn say(&mut self, source: Source, payload: Payload) -> bool {
        self.say_at(source, payload, now())
    }

    pub fn say_at(&mut self, source: Source, payload: Payload, at: Timestamp) -> bool {
        let event = SourceEvent {
            source,
            generation: Generation(self.generation),
            payload,
        };
        self.store.apply(event, at)
    }

    pub fn answers(&mut self, source: Source) {
        self.say(source, Payload::State(state(SourcePhase::Connected, None)));
    }

    pub fn fails(&mut self, source: Source, what: &str) {
        let problem = Problem {
            what: what.into(),
            next_step: "see that it runs".into(),
        };
        self.say(source, Payload::State(state(SourcePhase::Failed, Some(problem))));
    }

    pub fn measure(&mut self, source: Source, measurements: Measurements) {
        self.answers(source);
        self.say(source, Payload::Measurements(measurements));
    }

    pub fn table(&mut self, kind: TableKind, query: &TableQuery) -> TableWindow {
        self.store.table(kind, query, 0, 100, now())
    }

    /// The text of one column, row by row.
    pub fn column(&mut self, kind: TableKind, id: &str, query: &TableQuery) -> Vec<String> {
        let query = TableQuery {
            wide: true,
            ..query.clone()
        };
        let window = self.table(kind, &query);
        let index = window.columns.iter().position(|column| column.id == id).unwrap();
        window.rows.iter().map(|row| text(&row.cells[index])).collect()
    }

    pub fn names(&mut self, kind: TableKind, query: &TableQuery) -> Vec<String> {
        self.column(kind, "name", query)
    }
}

pub fn state(phase: SourcePhase, last_error: Option<Problem>) -> SourceState {
    SourceState {
        phase,
        reached: String::new(),
        last_answer: Some(ago(12)),
        last_error,
    }
}

pub fn lease(node: &Name, renewals: i64) -> NodeLease {
    NodeLease {
        node: node.clone(),
        uid: format!("lease-{node}").into(),
        renew_time: Some(ago(1000 - 10 * renewals)),
        duration_seconds: Some(40),
    }
}

pub fn of_node(node: NodeKey, quantity: NodeQuantity, value: f64, at: Timestamp) -> NodeMeasurement {
    NodeMeasurement {
        node,
        quantity,
        sample: Sample { value, at },
    }
}

pub fn of_container(
    pod: &str,
    quantity: ContainerQuantity,
    value: f64,
    at: Timestamp,
) -> ContainerMeasurement {
    ContainerMeasurement {
        container: ContainerKey::Named {
            namespace: "win-demo".into(),
            pod: pod.into(),
            container: "hello".into(),
        },
        quantity,
        sample: Sample { value, at },
    }
}

/// What Prometheus or the exporter tells of the Windows node and its pods.
pub fn article_windows(at: Timestamp) -> Measurements {
    let address = NodeKey::Address(Ipv4Addr::new(192, 168, 30, 43).into());
    let booted = f64::from(u32::try_from(ago(14 * 3600).timestamp()).unwrap());
    let nodes = [
        (NodeQuantity::Commit, 5.0 * GIB),
        (NodeQuantity::CommitLimit, 16.0 * GIB),
        (NodeQuantity::PhysicalMemory, 8.0 * GIB),
        (NodeQuantity::CpuRatio, 0.054),
        (NodeQuantity::BootTime, booted),
    ];
    let pods = ["hello-win-759c899954-tkfg6", "hello-win-759c899954-tq5nc"];
    let usage = [
        (ContainerQuantity::Commit, 98.0 * MIB),
        (ContainerQuantity::CommitPeak, 131.0 * MIB),
        (ContainerQuantity::WorkingSet, 42.0 * MIB),
        (ContainerQuantity::CpuCores, 0.001),
    ];
    Measurements {
        nodes: nodes
            .into_iter()
            .map(|(quantity, value)| of_node(address.clone(), quantity, value, at))
            .collect(),
        services: WATCHED_SERVICES
            .into_iter()
            .map(|service| ServiceMeasurement {
                node: address.clone(),
                service: service.into(),
                state: ServiceState::Running,
                started_at: None,
                at,
            })
            .collect(),
        containers: pods
            .into_iter()
            .flat_map(|pod| usage.map(|(quantity, value)| of_container(pod, quantity, value, at)))
            .collect(),
        missing: Vec::new(),
    }
}

/// What `metrics.k8s.io` tells of the nodes.
pub fn article_usage(at: Timestamp) -> Measurements {
    let usage = [
        ("k8s-lab-master-1", 2.2, 0.088),
        ("k8s-lab-node-1", 1.9, 0.06),
        ("k8s-lab-node-2", 1.7, 0.032),
        (WIN, 2.4, 0.06),
    ];
    Measurements {
        nodes: usage
            .into_iter()
            .flat_map(|(node, working_set, cpu)| {
                let key = NodeKey::Name(node.into());
                [
                    of_node(key.clone(), NodeQuantity::WorkingSet, working_set * GIB, at),
                    of_node(key, NodeQuantity::CpuCores, cpu * 4.0, at),
                ]
            })
            .collect(),
        ..Measurements::default()
    }
}

pub fn text(line: &Line) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

/// A line with the role behind each span that is not plain text.
pub fn roles(line: &Line) -> String {
    line.iter()
        .map(|span| match span.role {
            crate::store::view::Role::Text => span.text.to_string(),
            role => format!("{}<{role:?}>", span.text),
        })
        .collect()
}
