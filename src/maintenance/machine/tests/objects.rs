//! Nodes, pods and budgets, as small as the machine needs them.

use crate::domain::Name;
use crate::domain::budget::DisruptionBudget;
use crate::domain::node::{Condition, ConditionStatus, Node, NodeResources};
use crate::domain::object::{ObjectKey, Os};
use crate::domain::pod::{Container, ContainerKind, ContainerState, Owner, Phase, Pod, Resources};

pub const NODE: &str = "k8s-lab-win-1";

pub fn node(boot_id: &str, kernel_version: &str) -> Node {
    Node {
        name: NODE.into(),
        uid: "node-uid-1".into(),
        os: Some(Os::Windows),
        created_at: None,
        roles: Box::default(),
        internal_ips: Box::default(),
        kubelet_version: "v1.37.2".into(),
        kernel_version: kernel_version.into(),
        os_image: "Windows Server 2025 Datacenter".into(),
        architecture: "amd64".into(),
        container_runtime: "containerd://2.1.4".into(),
        boot_id: boot_id.into(),
        windows_build_label: Some("10.0.26100".into()),
        unschedulable: false,
        cordoned_by: None,
        maintenance: None,
        proven_boot: None,
        taints: Box::default(),
        conditions: Box::new([condition(ConditionStatus::True)]),
        capacity: NodeResources::default(),
        allocatable: NodeResources::default(),
    }
}

pub fn condition(status: ConditionStatus) -> Condition {
    Condition {
        kind: "Ready".into(),
        status,
        reason: "".into(),
        message: "".into(),
        since: None,
    }
}

/// A Running pod with one ready container.
pub fn pod(namespace: &str, name: &str, uid: &str, owner: Option<(&str, &str)>) -> Pod {
    let owner = owner.map(|(kind, name)| Owner {
        kind: kind.into(),
        name: name.into(),
    });
    let app = owner.as_ref().map_or(name, |owner| &*owner.name).to_owned();
    Pod {
        uid: uid.into(),
        namespace: namespace.into(),
        name: name.into(),
        node: Some(NODE.into()),
        os: None,
        phase: Phase::Running,
        state: "Running".into(),
        reason: "".into(),
        ready: 1,
        ready_of: 1,
        restarts: 0,
        last_restart_at: None,
        created_at: None,
        started_at: None,
        deleted_at: None,
        ip: None,
        owner,
        host_process: false,
        mirror: false,
        empty_dir: false,
        runtime_class: None,
        claims: Box::default(),
        labels: Box::new([("app".into(), app.into())]),
        containers: Box::new([container(&format!("containerd://{uid}"))]),
    }
}

pub fn container(id: &str) -> Container {
    Container {
        name: "main".into(),
        image: "image".into(),
        kind: ContainerKind::App,
        container_id: id.into(),
        requests: Resources::default(),
        limits: Resources::default(),
        ready: true,
        restarts: 0,
        state: ContainerState::Running(None),
        last_termination: None,
    }
}

/// A pod of a `ReplicaSet` in `win-demo`.
pub fn app(set: &str, number: u32) -> Pod {
    let name = format!("{set}-{number}");
    pod(
        "win-demo",
        &name,
        &format!("uid-{name}"),
        Some(("ReplicaSet", set)),
    )
}

/// A pod of a `DaemonSet`; the ids of its containers tell in which run they are.
pub fn daemon(namespace: &str, set: &str, containers: usize, run: &str) -> Pod {
    let mut pod = pod(
        namespace,
        &format!("{set}-x"),
        &format!("uid-{set}"),
        Some(("DaemonSet", set)),
    );
    pod.host_process = true;
    pod.containers = (0..containers)
        .map(|number| container(&format!("containerd://{set}-{number}-{run}")))
        .collect();
    pod
}

/// minAvailable 1 of 2 for the pods with this label.
pub fn budget(app: &str, allowed: u32) -> DisruptionBudget {
    DisruptionBudget {
        key: ObjectKey {
            namespace: Some("win-demo".into()),
            name: app.into(),
            uid: "".into(),
        },
        selector: Some(format!("app={app}").parse().unwrap()),
        min_available: Some("1".into()),
        max_unavailable: None,
        unhealthy_always: false,
        allowed,
        healthy: 1 + allowed,
        desired: 1,
        expected: 2,
        observed: true,
    }
}

pub fn name(text: &str) -> Name {
    text.into()
}
