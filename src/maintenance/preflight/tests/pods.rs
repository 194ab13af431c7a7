//! The pods of the node.

use super::*;
use crate::maintenance::pods::{Loss, OwnerKey, Refusal, Stays};
use crate::maintenance::preflight::Fate;

fn forced() -> Options {
    Options {
        force: true,
        delete_emptydir_data: true,
        ..Options::default()
    }
}

/// The story's node with one more pod.
fn with(pod: Pod) -> Survey {
    let mut survey = one_windows_node();
    survey
        .wishes
        .as_mut()
        .unwrap()
        .insert(pod.uid.clone(), Wishes::default());
    survey.pods.push(pod);
    survey
}

#[test]
fn what_leaves_and_what_stays_is_counted() {
    let static_pod = Pod {
        owner: None,
        mirror: true,
        ..pod("etcd", "s", WIN_1)
    };
    let found = preflight(&with(static_pod));
    says(
        &found,
        Weight::Info,
        &[
            "2 pods are evicted: win-demo/hello-abc-1, win-demo/hello-abc-2",
            "not touched: 1 DaemonSet pod, 1 static pod",
        ],
    );
    let fates: Vec<Fate> = found.pods.iter().map(|(_, fate)| *fate).collect();
    assert_eq!(
        fates,
        [
            Fate::Leaves(None),
            Fate::Leaves(None),
            Fate::Stays(Stays::DaemonSet),
            Fate::Stays(Stays::Mirror)
        ]
    );
}

#[test]
fn ready_pods_of_each_controller_are_counted_on_every_node() {
    let mut survey = two_windows_nodes();
    survey.pods.push(pod("hello", "3", WIN_2));
    survey.pods.push(not_ready(pod("hello", "4", WIN_2), "Running"));
    let owner = OwnerKey {
        namespace: "win-demo".into(),
        kind: "Deployment".into(),
        name: "hello".into(),
    };
    assert_eq!(preflight(&survey).ready, [(owner, 3)]);
}

#[test]
fn data_in_an_empty_dir_is_lost_only_knowingly() {
    let survey = with(Pod {
        empty_dir: true,
        ..pod("cache", "1", WIN_1)
    });
    let found = preflight(&survey);
    says(
        &found,
        Weight::Refuses,
        &[
            "1 pod has data in an emptyDir",
            "win-demo/cache-abc-1",
            "--delete-emptydir-data",
        ],
    );
    assert_eq!(found.pods[3].1, Fate::Refused(Refusal::EmptyDir));
    let forced = assess(&survey, &forced(), now());
    says(
        &forced,
        Weight::Warning,
        &["the emptyDir data of 1 pod is lost: win-demo/cache-abc-1"],
    );
    assert_eq!(forced.pods[3].1, Fate::Leaves(Some(Loss::EmptyDir)));
}

#[test]
fn a_pod_without_a_controller_goes_only_knowingly() {
    let survey = with(Pod {
        owner: None,
        ..pod("debug", "1", WIN_1)
    });
    says(
        &preflight(&survey),
        Weight::Refuses,
        &[
            "1 pod has no controller that would bring it back",
            "win-demo/debug-abc-1",
            "--force",
        ],
    );
    says(
        &assess(&survey, &forced(), now()),
        Weight::Warning,
        &["1 pod without a controller is gone for good: win-demo/debug-abc-1"],
    );
}

#[test]
fn a_pod_that_hangs_in_terminating_holds_the_drain_up() {
    let hanging = Pod {
        deleted_at: Some("2026-11-29T20:00:00Z".parse().unwrap()),
        ..pod("hello", "old", WIN_1)
    };
    let survey = with(hanging);
    says(
        &preflight(&survey),
        Weight::Blocks,
        &[
            "1 pod hangs in Terminating: win-demo/hello-abc-old of win-demo/hello for 9 d",
            "hcnDeleteNamespace",
            "only cleans the API: restart the node",
        ],
    );
    let options = Options {
        skip_wait_for_delete: Some(std::time::Duration::from_mins(10)),
        ..Options::default()
    };
    let skipped = assess(&survey, &options, now());
    is_silent(&skipped, "hangs");
    says(&skipped, Weight::Info, &["1 pod deleted long ago"]);
}

#[test]
fn a_pod_that_is_just_stopping_does_not_hang() {
    let stopping = Pod {
        deleted_at: Some("2026-12-08T20:00:20Z".parse().unwrap()),
        ..pod("hello", "old", WIN_1)
    };
    is_silent(&preflight(&with(stopping)), "Terminating");
}

#[test]
fn names_cannot_steer_the_terminal_and_long_lists_are_cut() {
    let mut survey = one_windows_node();
    for number in 0..20 {
        survey.pods.push(pod("many\u{1b}[2J", &number.to_string(), WIN_1));
    }
    let found = preflight(&survey);
    says(&found, Weight::Info, &["22 pods are evicted", "and 17 more"]);
    assert!(found.notes.iter().all(|note| !note.sentence().contains('\u{1b}')));
}
