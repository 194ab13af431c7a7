//! The node itself.

use super::*;
use crate::domain::node::CordonedBy;

fn with_purpose(purpose: Purpose) -> Options {
    Options {
        purpose,
        ..Options::default()
    }
}

#[test]
fn a_node_that_does_not_exist_is_refused() {
    let mut survey = one_windows_node();
    survey.node = "k8s-lab-win-9".into();
    let found = preflight(&survey);
    says(
        &found,
        Weight::Refuses,
        &["there is no node k8s-lab-win-9", "drainboard nodes"],
    );
    assert!(found.pods.is_empty());
}

#[test]
fn what_must_be_remembered_of_the_node_is_taken_along() {
    let node = preflight(&one_windows_node()).node;
    assert_eq!((&*node.uid, &*node.boot_id), ("uid-of-k8s-lab-win-1", "11"));
    assert_eq!(&*node.kernel_version, "10.0.26100.33438");
    assert!(!node.cordoned);
}

#[test]
fn a_node_that_is_cordoned_already_stays_the_operators_to_uncordon() {
    let mut survey = one_windows_node();
    survey.nodes[0].node.unschedulable = true;
    survey.nodes[0].node.cordoned_by = Some(CordonedBy {
        manager: "kubectl-cordon".into(),
        at: Some("2026-12-08T17:00:00Z".parse().unwrap()),
    });
    let found = preflight(&survey);
    says(
        &found,
        Weight::Warning,
        &[
            "k8s-lab-win-1 is cordoned already (by kubectl-cordon, changed 3 h ago)",
            "kubectl uncordon k8s-lab-win-1",
        ],
    );
    assert!(found.node.cordoned);
}

#[test]
fn without_a_boot_id_no_restart_could_be_proved() {
    let mut survey = one_windows_node();
    survey.nodes[0].node.boot_id = "".into();
    says(
        &preflight(&survey),
        Weight::Refuses,
        &["no boot id", "restart could not be proved"],
    );
}

/// Public report 34: evictions are accepted on an unreachable node, but its pods never vanish.
#[test]
fn an_unreachable_node_is_refused_because_its_pods_would_never_vanish() {
    let mut survey = one_windows_node();
    survey.nodes[0].node.conditions = [Condition {
        reason: "NodeStatusUnknown".into(),
        message: "Kubelet stopped posting node status.".into(),
        since: Some("2026-12-08T19:48:00Z".parse().unwrap()),
        ..ready(ConditionStatus::Unknown)
    }]
    .into();
    let words = [
        "k8s-lab-win-1 is not Ready since 12 m ago",
        "Kubelet stopped posting node status.",
        "evictions are accepted, but no pod goes",
        "--skip-wait-for-delete-timeout",
    ];
    says(&preflight(&survey), Weight::Refuses, &words);
    let cleanup = assess(&survey, &with_purpose(Purpose::Cleanup), now());
    says(&cleanup, Weight::Warning, &words);
}

#[test]
fn another_maintenance_of_the_node_is_named_with_the_ways_out() {
    let mut survey = one_windows_node();
    survey.nodes[0].node.maintenance = Some(record_of("alice@desk", "theirs").into());
    says(
        &preflight(&survey),
        Weight::Refuses,
        &[
            "k8s-lab-win-1 is being worked on by alice@desk (update, started 20 m ago, draining)",
            "--resume",
            "--abandon",
            "--take-over",
        ],
    );
    survey.take_over = true;
    says(&preflight(&survey), Weight::Warning, &["alice@desk"]);
    survey.take_over = false;
    survey.nodes[0].node.maintenance = Some(record_of("alice@desk", "ours").into());
    is_silent(&preflight(&survey), "alice@desk");
    survey.nodes[0].node.maintenance = Some("{}".into());
    says(
        &preflight(&survey),
        Weight::Refuses,
        &["this version cannot read"],
    );
}

#[test]
fn two_nodes_of_one_pool_are_not_out_at_once_unless_asked() {
    let mut survey = two_windows_nodes();
    survey.nodes[1].node.maintenance = Some(record_of("alice@desk", "theirs").into());
    is_silent(&preflight(&survey), "alice@desk");
    survey.nodes[2].node.maintenance = Some(record_of("alice@desk", "theirs").into());
    let words = [
        "k8s-lab-win-2 of the same pool (10.0.26100)",
        "alice@desk",
        "--take-over",
    ];
    says(&preflight(&survey), Weight::Refuses, &words);
    survey.take_over = true;
    says(&preflight(&survey), Weight::Warning, &words);
    survey.take_over = false;
    // With a label that tells pools apart they are two.
    survey.pool_label = Some("rack".to_owned());
    survey.nodes[2].labels = [("rack".into(), "b".into())].into();
    is_silent(&preflight(&survey), "alice@desk");
}

#[test]
fn a_restart_without_drain_asks_for_a_cleanup() {
    let mut survey = one_windows_node();
    survey.restarted_without_drain = Some("boot id 10 became 11 at 03:12".to_owned());
    let words = [
        "restarted without drain: boot id 10 became 11 at 03:12",
        "--purpose cleanup",
    ];
    says(&preflight(&survey), Weight::Warning, &words);
    let cleanup = assess(&survey, &with_purpose(Purpose::Cleanup), now());
    says(&cleanup, Weight::Info, &words[..1]);
}

#[test]
fn a_kubelet_out_of_step_with_the_server_is_told() {
    let with = |kubelet: &str| {
        let mut survey = one_windows_node();
        survey.nodes[0].node.kubelet_version = kubelet.into();
        preflight(&survey)
    };
    says(
        &with("v1.38.0"),
        Weight::Warning,
        &["v1.38.0", "newer than the API server (v1.37.2)"],
    );
    says(
        &with("v1.33.5-gke.100"),
        Weight::Warning,
        &["4 minor versions older", "upgrade the kubelet"],
    );
    is_silent(&with("v1.34.1+k3s1"), "minor versions");
    says(
        &with("v1"),
        Weight::Warning,
        &["could not be judged", "not understood"],
    );
}

#[test]
fn network_pods_are_the_gate_and_must_be_there() {
    says(
        &preflight(&one_windows_node()),
        Weight::Info,
        &["1 network pod", "win-demo/calico-node-windows"],
    );
    let mut survey = one_windows_node();
    survey.pods.pop();
    let missing = preflight(&survey);
    says(
        &missing,
        Weight::Refuses,
        &["no DaemonSet pod", "--network-selector", "--no-network-gate"],
    );
    let options = Options {
        no_network_gate: true,
        ..Options::default()
    };
    assert!(assess(&survey, &options, now()).weight() < Weight::Refuses);
    let options = Options {
        network_selector: Some("app=hello".parse().unwrap()),
        ..Options::default()
    };
    says(
        &assess(&survey, &options, now()),
        Weight::Info,
        &["2 network pods"],
    );
}

#[test]
fn a_network_that_is_sick_before_the_restart_is_a_warning() {
    let mut survey = one_windows_node();
    survey.pods[2] = not_ready(daemon("calico-node-windows", WIN_1), "CrashLoopBackOff");
    says(
        &preflight(&survey),
        Weight::Warning,
        &[
            "not healthy now",
            "calico-node-windows-abc-d (CrashLoopBackOff, 0 of 1 ready)",
        ],
    );
}
