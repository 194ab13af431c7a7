use super::*;
use crate::domain::node::{NodeResources, Taint};
use crate::domain::object::Os;
use proptest::prelude::*;

/// A healthy Windows node, to be changed by each story.
fn win_1() -> Node {
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
        container_runtime: "containerd://2.1.4".into(),
        boot_id: "11".into(),
        windows_build_label: Some("10.0.26100".into()),
        unschedulable: false,
        cordoned_by: None,
        maintenance: None,
        proven_boot: None,
        taints: Box::default(),
        conditions: [condition_is("Ready", ConditionStatus::True)].into(),
        capacity: NodeResources::default(),
        allocatable: NodeResources::default(),
    }
}

fn condition_is(kind: &str, status: ConditionStatus) -> Condition {
    Condition {
        kind: kind.into(),
        status,
        reason: "".into(),
        message: "".into(),
        since: Some(at(500)),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(second, 0).unwrap()
}

fn seen(node: &Node, lease_age: Option<u64>) -> NodeState {
    NodeState::of(node, lease_age, None, at(1_000))
}

fn words(state: &NodeState) -> Vec<(&str, Severity)> {
    state
        .marks
        .iter()
        .map(|mark| (mark.words.as_str(), mark.severity))
        .collect()
}

#[test]
fn a_healthy_node_is_ready_and_nothing_else() {
    let state = seen(&win_1(), Some(9));
    assert_eq!(state.readiness, Readiness::Ready);
    assert_eq!(state.since, Some(at(500)));
    assert_eq!((state.severity(), state.marks.len()), (Severity::Fine, 0));
}

#[test]
fn a_late_lease_shows_while_the_control_plane_still_says_ready() {
    let marks = |age| seen(&win_1(), Some(age)).marks;
    assert_eq!(marks(19), []);
    assert_eq!(
        words(&seen(&win_1(), Some(20))),
        [("lease 20 s", Severity::Warning)]
    );
    assert_eq!(
        words(&seen(&win_1(), Some(39))),
        [("lease 39 s", Severity::Warning)]
    );
    assert_eq!(
        words(&seen(&win_1(), Some(40))),
        [("lease 40 s", Severity::Critical)]
    );
    assert_eq!(
        words(&seen(&win_1(), Some(300))),
        [("lease 5 m", Severity::Critical)]
    );
    assert_eq!(seen(&win_1(), None).marks, [], "no lease known is no late lease");
}

#[test]
fn a_node_that_is_no_longer_heard_from_is_unknown_and_unreachable() {
    let node = Node {
        conditions: [condition_is("Ready", ConditionStatus::Unknown)].into(),
        taints: [Taint {
            key: "node.kubernetes.io/unreachable".into(),
            value: "".into(),
            effect: "NoExecute".into(),
        }]
        .into(),
        ..win_1()
    };
    let state = seen(&node, Some(75));
    assert_eq!(
        (state.readiness, state.severity()),
        (Readiness::Unknown, Severity::Critical)
    );
    assert_eq!(words(&state)[0].0, "unreachable");
}

#[test]
fn a_node_without_ready_condition_is_unknown_not_ready() {
    let node = Node {
        conditions: Box::default(),
        ..win_1()
    };
    assert_eq!(seen(&node, Some(1)).readiness, Readiness::Unknown);
}

#[test]
fn a_cordoned_healthy_node_is_still_fine() {
    let state = seen(
        &Node {
            unschedulable: true,
            ..win_1()
        },
        Some(1),
    );
    assert!(state.cordoned);
    assert_eq!(
        (state.readiness, state.severity()),
        (Readiness::Ready, Severity::Fine)
    );
}

#[test]
fn only_pressure_that_is_there_is_told() {
    let node = Node {
        conditions: [
            condition_is("Ready", ConditionStatus::True),
            condition_is("MemoryPressure", ConditionStatus::True),
            condition_is("DiskPressure", ConditionStatus::False),
            condition_is("PIDPressure", ConditionStatus::Unknown),
        ]
        .into(),
        ..win_1()
    };
    assert_eq!(
        words(&seen(&node, Some(1))),
        [("MemoryPressure", Severity::Warning)]
    );
}

#[test]
fn a_restart_is_news_for_a_quarter_of_an_hour() {
    let booted = |ago: i64| NodeState::of(&win_1(), Some(1), Some(at(10_000 - ago)), at(10_000));
    assert_eq!(words(&booted(180)), [("rebooted 3 m ago", Severity::Fine)]);
    assert_eq!(
        words(&booted(-4)),
        [("rebooted just now", Severity::Fine)],
        "its clock is ahead of ours"
    );
    assert_eq!(words(&booted(901)), []);
}

proptest! {
    #[test]
    fn the_worst_mark_stands_first_and_counts(lease in 0_u64..200, pressure: bool, booted in 0_i64..2_000) {
        let status = if pressure { ConditionStatus::True } else { ConditionStatus::False };
        let conditions = [condition_is("Ready", ConditionStatus::True), condition_is("DiskPressure", status)];
        let node = Node { conditions: conditions.into(), ..win_1() };
        let state = NodeState::of(&node, Some(lease), Some(at(5_000 - booted)), at(5_000));
        prop_assert!(state.marks.is_sorted_by_key(|mark| std::cmp::Reverse(mark.severity)));
        let worst = state.marks.first().map_or(Severity::Fine, |mark| mark.severity);
        prop_assert_eq!(state.severity(), worst);
    }
}
