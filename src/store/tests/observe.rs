//! What a maintenance of the Windows node sees.

use super::cluster::*;
use crate::domain::Name;
use crate::domain::budget::DisruptionBudget;
use crate::domain::object::{Change, ClusterEvent, ObjectKey, Os};
use crate::domain::pod::{Owner, Phase, Pod};
use crate::domain::reading::Source;
use crate::maintenance::observation::Observation;
use crate::maintenance::pods::OwnerKey;
use crate::sources::event::{Payload, Problem, Scope, WatchState, Watched};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn owned(mut pod: Pod, kind: &str, name: &str) -> Pod {
    pod.owner = Some(Owner {
        kind: kind.into(),
        name: name.into(),
    });
    pod
}

fn key(namespace: &str, kind: &str, name: &str) -> OwnerKey {
    OwnerKey {
        namespace: namespace.into(),
        kind: kind.into(),
        name: name.into(),
    }
}

/// Two pods of hello-win on the Windows node, and one on a second one; another workload elsewhere.
fn workloads() -> Vec<Pod> {
    let on = |name: &str, node: &str| pod("win-demo", name, Some(node), Some(Os::Windows));
    vec![
        owned(on("hello-win-a", WIN), "ReplicaSet", "hello-win"),
        owned(on("hello-win-b", WIN), "ReplicaSet", "hello-win"),
        owned(on("hello-win-c", "k8s-lab-win-2"), "ReplicaSet", "hello-win"),
        owned(
            pod("demo", "hello-0", Some("k8s-lab-node-1"), Some(Os::Linux)),
            "StatefulSet",
            "hello",
        ),
    ]
}

fn told() -> Told {
    Told::rows(nodes(), workloads())
}

fn seen(told: &Told) -> Observation {
    told.store.observe(&WIN.into(), &[]).unwrap()
}

fn problem() -> Problem {
    Problem {
        what: "cannot list it".to_owned(),
        next_step: "ask for a ClusterRole".to_owned(),
    }
}

fn budget(name: &str, allowed: u32) -> DisruptionBudget {
    DisruptionBudget {
        key: ObjectKey {
            namespace: Some("win-demo".into()),
            name: name.into(),
            uid: format!("uid-{name}").into(),
        },
        selector: None,
        min_available: Some("1".into()),
        max_unavailable: None,
        unhealthy_always: false,
        allowed,
        healthy: 2,
        desired: 1,
        expected: 2,
        observed: true,
    }
}

fn event(pod: &Pod, reason: &str, message: &str, seconds_ago: i64) -> ClusterEvent {
    ClusterEvent {
        key: ObjectKey {
            namespace: Some(pod.namespace.clone()),
            name: format!("{}.{reason}.{seconds_ago}", pod.name).into(),
            uid: format!("{}.{reason}.{seconds_ago}", pod.name).into(),
        },
        about_kind: "Pod".into(),
        about_namespace: Some(pod.namespace.clone()),
        about_name: pod.name.clone(),
        about_uid: Some(pod.uid.clone()),
        warning: true,
        reason: reason.into(),
        message: message.into(),
        count: 4,
        last_seen: Some(ago(seconds_ago)),
    }
}

const TIMEOUT: &str = "Readiness probe failed: Get \"http://10.244.3.17:80/\": context deadline exceeded \
                       (Client.Timeout exceeded while awaiting headers)";
const STUCK: &str = "error killing pod: failed to \"KillPodSandbox\" for \"8e3b0fe0\" with KillPodSandboxError: \"rpc \
                     error: code = Unknown desc = failed to remove network namespace for sandbox: \
                     hcnDeleteNamespace failed in Win32: The specified request is unsupported.\"";

fn say_pod(told: &mut Told, pod: &Pod) {
    told.say(Source::Kubernetes, Payload::Pods(upserts(vec![pod.clone()])));
}

fn say_event(told: &mut Told, event: ClusterEvent) {
    told.say(Source::Kubernetes, Payload::Events(upserts(vec![event])));
}

fn watch(told: &mut Told, watched: Watched, state: WatchState) {
    told.say(Source::Kubernetes, Payload::Watch(watched, state));
}

/// A pod of the Windows node that has started and does not get ready.
fn not_ready() -> Pod {
    let mut pod = workloads().remove(0);
    pod.ready = 0;
    pod
}

#[test]
fn the_node_its_pods_and_the_ready_pods_of_their_controllers_on_any_node() {
    let told = told();
    let seen = seen(&told);
    assert_eq!(&*seen.node.unwrap().boot_id, "11");
    let names: Vec<&str> = seen.pods.iter().map(|pod| &*pod.name).collect();
    assert_eq!(names, ["hello-win-a", "hello-win-b"]);
    let hello_win = key("win-demo", "ReplicaSet", "hello-win");
    assert_eq!(seen.ready, BTreeMap::from([(hello_win.clone(), 3)]));

    let (hello, gone) = (
        key("demo", "StatefulSet", "hello"),
        key("demo", "ReplicaSet", "gone"),
    );
    let wanted = [hello.clone(), gone.clone()];
    let seen = told.store.observe(&WIN.into(), &wanted).unwrap();
    assert_eq!(
        seen.ready,
        BTreeMap::from([(hello_win, 3), (hello, 1), (gone, 0)])
    );
}

#[test]
fn a_rollout_while_the_node_is_away_changes_nothing_about_what_is_waited_for() {
    let of_set = |name: &str, hash: &str| {
        let mut pod = owned(
            pod("win-demo", name, Some(WIN), Some(Os::Windows)),
            "ReplicaSet",
            &format!("hello-win-{hash}"),
        );
        pod.labels = [("pod-template-hash".into(), hash.into())].into();
        pod
    };
    let seen = seen(&Told::rows(
        nodes(),
        vec![of_set("old", "759c899954"), of_set("new", "6b8f7d4c5")],
    ));
    let hello_win = key("win-demo", "Deployment", "hello-win");
    assert_eq!(seen.ready, BTreeMap::from([(hello_win, 2)]));
}

#[test]
fn of_a_node_that_is_not_there_only_that_is_seen() {
    let seen = told().store.observe(&"k8s-lab-win-9".into(), &[]).unwrap();
    assert_eq!(seen, Observation::default());
}

#[test]
fn nothing_is_seen_until_nodes_pods_and_budgets_were_listed_in_this_generation() {
    let mut told = told();
    let again = |told: &mut Told| {
        told.generation += 1;
        told.begin(&Scope::default());
        told.say(Source::Kubernetes, Payload::Nodes(upserts(nodes())));
        told.say(Source::Kubernetes, Payload::Pods(upserts(workloads())));
    };
    let needed = [Watched::Nodes, Watched::Pods, Watched::Budgets];
    for missing in needed {
        again(&mut told);
        for watched in needed.into_iter().filter(|watched| *watched != missing) {
            watch(&mut told, watched, WatchState::Live);
        }
        assert_eq!(told.store.observe(&WIN.into(), &[]), None, "without {missing:?}");
        watch(&mut told, missing, WatchState::Loading);
        assert_eq!(
            told.store.observe(&WIN.into(), &[]),
            None,
            "{missing:?} on its way"
        );
        watch(&mut told, missing, WatchState::Live);
        assert_eq!(seen(&told).pods.len(), 2);
    }
}

#[test]
fn a_watch_of_nodes_or_pods_that_fails_does_not_let_the_other_run_ahead_of_it() {
    let mut told = told();
    for watched in [Watched::Nodes, Watched::Pods] {
        watch(&mut told, watched, WatchState::Failed(problem()));
        assert_eq!(told.store.observe(&WIN.into(), &[]), None);
        watch(&mut told, watched, WatchState::Live);
        assert_eq!(seen(&told).pods.len(), 2);
    }
}

#[test]
fn budgets_that_may_not_be_read_are_none_and_hold_nothing_up() {
    let mut told = told();
    for state in [WatchState::Forbidden(problem()), WatchState::Failed(problem())] {
        watch(&mut told, Watched::Budgets, state);
        assert_eq!(seen(&told).budgets, []);
    }
    watch(&mut told, Watched::Budgets, WatchState::Live);
    let budgets = vec![budget("web", 0), budget("hello-win", 1)];
    assert!(told.say(Source::Kubernetes, Payload::Budgets(upserts(budgets))));
    assert_eq!(seen(&told).budgets, [budget("hello-win", 1), budget("web", 0)]);
    assert!(told.say(
        Source::Kubernetes,
        Payload::Budgets(upserts(vec![budget("web", 1)]))
    ));
    told.say(
        Source::Kubernetes,
        Payload::Budgets(vec![Change::Delete(budget("hello-win", 1).key)]),
    );
    assert_eq!(seen(&told).budgets, [budget("web", 1)]);
}

#[test]
fn who_looks_at_a_part_of_the_cluster_sees_nothing() {
    let scope = Scope::default();
    for part in [
        Scope {
            namespace: Some("win-demo".into()),
            ..scope.clone()
        },
        Scope {
            pod_selector: "app=hello".into(),
            ..scope
        },
    ] {
        let mut told = told();
        told.say(Source::Kubernetes, Payload::Begin(part));
        assert_eq!(told.store.observe(&WIN.into(), &[]), None);
    }
}

#[test]
fn a_pod_that_cannot_be_stopped_is_told_with_the_kubelets_words_once_it_is_deleted() {
    let mut told = told();
    let mut pod = workloads().remove(0);
    say_event(&mut told, event(&pod, "FailedKillPod", "something older", 300));
    say_event(
        &mut told,
        event(&pod, "FailedKillPod", &format!("\u{1b}[2J{STUCK}\n"), 20),
    );
    say_event(&mut told, event(&pod, "Killing", "Stopping container hello", 10));
    assert!(
        seen(&told).unkillable.is_empty(),
        "it restarts, nobody deleted it"
    );
    pod.deleted_at = Some(ago(240));
    say_pod(&mut told, &pod);
    let unkillable = seen(&told).unkillable;
    assert_eq!(unkillable.len(), 1);
    assert_eq!(unkillable[&pod.uid].trim_end(), STUCK);

    say_event(&mut told, event(&pod, "FailedKillPod", &"x".repeat(100_000), 5));
    assert_eq!(seen(&told).unkillable[&pod.uid].chars().count(), 400);
}

#[test]
fn a_pod_whose_probes_time_out_may_have_no_network() {
    let mut told = told();
    let pod = not_ready();
    say_event(&mut told, event(&pod, "Unhealthy", TIMEOUT, 30));
    assert!(
        seen(&told).probes_time_out.is_empty(),
        "it was slow once, and is ready"
    );
    say_pod(&mut told, &pod);
    let found = seen(&told).probes_time_out;
    let (reference, said) = &found[&pod.uid];
    assert_eq!(
        (found.len(), &*reference.name, said.as_str()),
        (1, "hello-win-a", TIMEOUT)
    );

    let mut leaving = pod.clone();
    leaving.deleted_at = Some(ago(1));
    let mut ended = pod.clone();
    ended.phase = Phase::Failed;
    let mut on_the_host = pod;
    on_the_host.host_process = true;
    for other in [leaving, ended, on_the_host] {
        say_pod(&mut told, &other);
        assert!(seen(&told).probes_time_out.is_empty(), "{other:?}");
    }
}

#[test]
fn probes_that_fail_otherwise_say_nothing_of_the_network() {
    let mut told = told();
    let pod = not_ready();
    say_pod(&mut told, &pod);
    for other in [
        "Readiness probe failed: HTTP probe failed with statuscode: 503",
        "Liveness probe errored: rpc error: code = DeadlineExceeded desc = failed to exec in container: timeout 1s \
         exceeded: context deadline exceeded",
    ] {
        say_event(&mut told, event(&pod, "Unhealthy", other, 30));
        assert!(seen(&told).probes_time_out.is_empty(), "{other}");
    }
    let refused = "Readiness probe failed: dial tcp 10.244.3.17:80: i/o timeout";
    say_event(&mut told, event(&pod, "Unhealthy", refused, 20));
    assert_eq!(seen(&told).probes_time_out[&pod.uid].1, refused);
}

#[test]
fn what_was_said_of_an_earlier_pod_of_the_same_name_does_not_count() {
    let mut told = told();
    let pod = not_ready();
    say_pod(&mut told, &pod);
    let mut earlier = event(&pod, "Unhealthy", TIMEOUT, 30);
    earlier.about_uid = Some("uid-of-another".into());
    say_event(&mut told, earlier);
    // Without a UID the time decides: the pod is 50 minutes old.
    let mut before_it = event(&pod, "Unhealthy", TIMEOUT, 51 * 60);
    before_it.about_uid = None;
    say_event(&mut told, before_it);
    assert!(seen(&told).probes_time_out.is_empty());
    let mut since = event(&pod, "Unhealthy", TIMEOUT, 49 * 60);
    since.about_uid = None;
    say_event(&mut told, since);
    assert_eq!(seen(&told).probes_time_out.len(), 1);
}

/// Pods of two controllers and of none on two nodes, ready or not, coming and going.
fn churn() -> impl Strategy<Value = Vec<(u8, Option<Pod>)>> {
    let pod = (any::<bool>(), any::<bool>(), any::<bool>(), 0u8..3, 0u8..3).prop_map(
        |(bound, ready, deleted, owner, phase)| {
            let node = if bound { WIN } else { "k8s-lab-node-1" };
            let mut one = pod("win-demo", "any", Some(node), None);
            one.ready = u16::from(ready);
            one.deleted_at = deleted.then(|| ago(1));
            if phase == 0 {
                one.phase = Phase::Succeeded;
            }
            if owner == 0 {
                return one;
            }
            owned(one, "ReplicaSet", &format!("set-{owner}"))
        },
    );
    prop::collection::vec((0u8..8, prop::option::weighted(0.8, pod)), 0..60)
}

proptest! {
    #[test]
    fn ready_pods_are_those_that_a_count_would_find(churn in churn()) {
        let mut told = Told::rows(nodes(), Vec::new());
        let mut there: BTreeMap<u8, Pod> = BTreeMap::new();
        let wanted = [1, 2].map(|set| key("win-demo", "ReplicaSet", &format!("set-{set}")));
        for (number, pod) in churn {
            let name: Name = format!("pod-{number}").into();
            let change = if let Some(mut pod) = pod {
                pod.name = name;
                there.insert(number, pod.clone());
                Change::Upsert(pod)
            } else {
                there.remove(&number);
                Change::Delete(ObjectKey { namespace: Some("win-demo".into()), name, uid: "uid-any".into() })
            };
            told.say(Source::Kubernetes, Payload::Pods(vec![change]));
            let seen = told.store.observe(&WIN.into(), &wanted).unwrap();
            for owner in &wanted {
                let count = there.values().filter(|pod| {
                    OwnerKey::of(pod).as_ref() == Some(owner)
                        && pod.phase == Phase::Running && pod.ready == 1 && pod.deleted_at.is_none()
                });
                prop_assert_eq!(seen.ready[owner] as usize, count.count());
            }
        }
    }
}
