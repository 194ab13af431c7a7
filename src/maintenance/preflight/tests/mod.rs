//! Stories: given this cluster, the preflight says that.

mod budgets;
mod clusters;
mod host_process;
mod monitoring;
mod node;
mod placement;
mod pods;
mod rights;

use super::permissions::needed;
use super::survey::{Place, RuntimeClass, Survey, Wishes};
use super::{Preflight, Weight, assess};
use crate::domain::Timestamp;
use crate::domain::budget::DisruptionBudget;
use crate::domain::node::{Condition, ConditionStatus, Node, NodeResources, Taint, Toleration};
use crate::domain::object::{ObjectKey, Os};
use crate::domain::pod::{Container, ContainerKind, ContainerState, Owner, Phase, Pod, Resources};
use crate::domain::selector::{LabelSelector, Term};
use crate::maintenance::options::{Options, Purpose};
use crate::maintenance::record::{Reached, Record};
use std::collections::{BTreeMap, BTreeSet};

const WIN_1: &str = "k8s-lab-win-1";
const WIN_2: &str = "k8s-lab-win-2";
const LINUX_1: &str = "k8s-lab-node-1";
const BUILD: &str = "10.0.26100";
const MIB: u64 = 1 << 20;

fn now() -> Timestamp {
    "2026-12-08T20:00:00Z".parse().unwrap()
}

fn ready(status: ConditionStatus) -> Condition {
    Condition {
        kind: "Ready".into(),
        status,
        reason: "KubeletReady".into(),
        message: "".into(),
        since: None,
    }
}

/// A healthy node of the article's cluster.
fn place(name: &str, os: Os) -> Place {
    let windows = os == Os::Windows;
    let mut labels = vec![("kubernetes.io/os".into(), os.name().into())];
    let mut taints = Vec::new();
    if windows {
        labels.push(("node.kubernetes.io/windows-build".into(), BUILD.into()));
        taints.push(Taint {
            key: "os".into(),
            value: "windows".into(),
            effect: "NoSchedule".into(),
        });
    }
    let resources = NodeResources {
        cpu_millicores: Some(4000),
        memory_bytes: Some(7692 * MIB),
        pods: Some(40),
    };
    Place {
        node: Node {
            name: name.into(),
            uid: format!("uid-of-{name}").into(),
            os: Some(os),
            created_at: None,
            roles: Box::default(),
            internal_ips: ["192.168.10.24".parse().unwrap()].into(),
            kubelet_version: "v1.37.2".into(),
            kernel_version: if windows { "10.0.26100.33438" } else { "6.12.48" }.into(),
            os_image: "".into(),
            architecture: "amd64".into(),
            container_runtime: "".into(),
            boot_id: "11".into(),
            windows_build_label: windows.then(|| BUILD.into()),
            unschedulable: false,
            cordoned_by: None,
            maintenance: None,
            proven_boot: None,
            taints: taints.into(),
            conditions: [ready(ConditionStatus::True)].into(),
            capacity: resources,
            allocatable: resources,
        },
        labels: labels.into(),
        images: Box::default(),
    }
}

/// A ready pod of the `ReplicaSet` `workload-abc`, on this node, with the label `app`.
fn pod(workload: &str, suffix: &str, node: &str) -> Pod {
    let name = format!("{workload}-abc-{suffix}");
    Pod {
        uid: format!("uid-of-{name}").into(),
        namespace: "win-demo".into(),
        name: name.as_str().into(),
        node: Some(node.into()),
        os: None,
        phase: Phase::Running,
        state: "Running".into(),
        reason: "".into(),
        ready: 1,
        ready_of: 1,
        restarts: 0,
        last_restart_at: None,
        created_at: Some("2026-12-08T08:00:00Z".parse().unwrap()),
        started_at: None,
        deleted_at: None,
        ip: None,
        owner: Some(Owner {
            kind: "ReplicaSet".into(),
            name: format!("{workload}-abc").into(),
        }),
        host_process: false,
        mirror: false,
        empty_dir: false,
        runtime_class: Some("windows-2025".into()),
        claims: Box::default(),
        labels: [
            ("app".into(), workload.into()),
            ("pod-template-hash".into(), "abc".into()),
        ]
        .into(),
        containers: [container(&format!("example/{workload}:1.0"))].into(),
    }
}

fn container(image: &str) -> Container {
    Container {
        name: "main".into(),
        image: image.into(),
        kind: ContainerKind::App,
        container_id: "containerd://1".into(),
        requests: Resources {
            cpu_millicores: Some(250),
            memory_bytes: Some(256 * MIB),
        },
        limits: Resources::default(),
        ready: true,
        restarts: 0,
        state: ContainerState::Running(None),
        last_termination: None,
    }
}

/// A pod of a `DaemonSet`.
fn daemon(name: &str, node: &str) -> Pod {
    Pod {
        owner: Some(Owner {
            kind: "DaemonSet".into(),
            name: name.into(),
        }),
        runtime_class: None,
        ..pod(name, "d", node)
    }
}

fn not_ready(pod: Pod, state: &str) -> Pod {
    Pod {
        ready: 0,
        state: state.into(),
        ..pod
    }
}

/// The `RuntimeClass` of the article.
fn windows_class() -> RuntimeClass {
    RuntimeClass {
        node_selector: [
            ("kubernetes.io/os".into(), "windows".into()),
            ("node.kubernetes.io/windows-build".into(), BUILD.into()),
        ]
        .into(),
        tolerations: [Toleration {
            key: Some("os".into()),
            value: Some("windows".into()),
            effect: Some("NoSchedule".into()),
        }]
        .into(),
    }
}

fn budget(
    name: &str,
    app: &str,
    (allowed, healthy, desired, expected): (u32, u32, u32, u32),
) -> DisruptionBudget {
    DisruptionBudget {
        key: ObjectKey {
            namespace: Some("win-demo".into()),
            name: name.into(),
            uid: name.into(),
        },
        selector: Some(LabelSelector::new(vec![Term::In(
            "app".to_owned(),
            vec![app.to_owned()],
        )])),
        min_available: Some(desired.to_string().into()),
        max_unavailable: None,
        unhealthy_always: false,
        allowed,
        healthy,
        desired,
        expected,
        observed: true,
    }
}

/// A record of somebody else.
fn record_of(by: &str, id: &str) -> String {
    let record = Record {
        id: id.to_owned(),
        by: by.to_owned(),
        started_at: "2026-12-08T19:40:00Z".parse().unwrap(),
        purpose: Purpose::Update,
        reached: Reached::Drain,
        reached_at: "2026-12-08T19:41:00Z".parse().unwrap(),
        older_boot_ids: std::collections::BTreeSet::new(),
        new_boot_id: None,
        kept: crate::maintenance::options::Kept::default(),
        new_network_ids: std::collections::BTreeSet::new(),
        node_uid: "uid".into(),
        boot_id: "11".into(),
        kernel_version: "10.0.26100.33438".into(),
        kubelet_version: "v1.37.2".into(),
        was_cordoned: false,
        reboot_started: false,
        network_ids: BTreeSet::new(),
        network_owners: BTreeSet::new(),
        ready_before: Vec::new(),
    };
    serde_json::to_string(&record).unwrap()
}

/// The cluster around `k8s-lab-win-1`, everything known and allowed: change what the story is about.
fn cluster(places: Vec<Place>, pods: Vec<Pod>) -> Survey {
    let wishes: BTreeMap<_, _> = pods
        .iter()
        .map(|pod| (pod.uid.clone(), Wishes::default()))
        .collect();
    let permissions = needed(&WIN_1.into(), ["win-demo".into()], None)
        .into_iter()
        .map(|access| (access, Ok(true)))
        .collect();
    Survey {
        node: WIN_1.into(),
        nodes: places,
        pods,
        wishes: Ok(wishes),
        budgets: Ok(Vec::new()),
        runtime_classes: Ok([("windows-2025".into(), windows_class())].into()),
        node_ports: Ok(Vec::new()),
        server_version: Ok("v1.37.2".into()),
        pod_security: None,
        permissions,
        dry_run_evictions: Vec::new(),
        restarted_without_drain: None,
        identity: "ours".to_owned(),
        take_over: false,
        pool_label: None,
    }
}

/// One Windows node with its network and two pods of `hello`, and a Linux node.
fn one_windows_node() -> Survey {
    cluster(
        vec![place(WIN_1, Os::Windows), place(LINUX_1, Os::Linux)],
        vec![
            pod("hello", "1", WIN_1),
            pod("hello", "2", WIN_1),
            daemon("calico-node-windows", WIN_1),
        ],
    )
}

/// The same with a second Windows node.
fn two_windows_nodes() -> Survey {
    let mut survey = one_windows_node();
    survey.nodes.push(place(WIN_2, Os::Windows));
    survey
}

fn preflight(survey: &Survey) -> Preflight {
    assess(survey, &Options::default(), now())
}

/// The notes as lines: weight, text, remedy.
fn lines(preflight: &Preflight) -> String {
    let notes = preflight.notes.iter();
    let lines: Vec<String> = notes
        .map(|note| format!("{:?}: {}", note.weight, note.sentence()))
        .collect();
    lines.join("\n")
}

/// Asserts that a note of this weight has all of these words.
#[track_caller]
fn says(preflight: &Preflight, weight: Weight, words: &[&str]) {
    let found = preflight
        .notes
        .iter()
        .any(|note| note.weight == weight && words.iter().all(|word| note.sentence().contains(word)));
    assert!(found, "no {weight:?} with {words:?} in\n{}", lines(preflight));
}

/// Asserts that no note has these words.
#[track_caller]
fn is_silent(preflight: &Preflight, words: &str) {
    let found = preflight.notes.iter().any(|note| note.sentence().contains(words));
    assert!(!found, "{words:?} is in\n{}", lines(preflight));
}
