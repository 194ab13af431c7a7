//! Evictions.

use super::{Operator, Scene, Seat};
use crate::lab::apiserver::{Fault, User};
use crate::maintenance::effect::{Answer, Effect, Eviction};
use crate::maintenance::pods::PodRef;
use std::time::Duration;

/// Below this path are the evictions of the Windows pods.
const WIN_PODS: &str = "/api/v1/namespaces/win-demo/pods/";

const fn evict(pod: PodRef) -> Effect {
    Effect::Evict {
        pod,
        grace_seconds: None,
    }
}

async fn evicts(operator: &mut Operator, pod: PodRef) -> Eviction {
    let asked = pod.clone();
    match operator.does(evict(pod)).await {
        Answer::Evicted(pod, eviction) => {
            assert_eq!(pod, asked);
            eviction
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_leaves_its_successor_stays_and_a_stranger_is_gone() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let name = "reports-writer-67b96b59b-rfb6z";
    let writer = scene.pod("win-demo", name).await;

    let mut former = writer.clone();
    former.uid = "of-its-predecessor".into();
    assert_eq!(evicts(&mut operator, former).await, Eviction::Replaced);
    let pod = scene.get(&format!("{WIN_PODS}{name}")).await;
    assert!(pod["metadata"].get("deletionTimestamp").is_none());

    assert_eq!(evicts(&mut operator, writer.clone()).await, Eviction::Accepted);
    let pod = scene.get(&format!("{WIN_PODS}{name}")).await;
    assert!(pod["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(
        pod["metadata"]["deletionGracePeriodSeconds"], 30,
        "the pod's own grace"
    );

    let mut unknown = writer;
    unknown.name = "reports-writer-nobody".into();
    assert_eq!(evicts(&mut operator, unknown).await, Eviction::Gone);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_of_hello_lets_one_pod_go_and_names_itself_to_the_second() {
    // So slow that the first pod's replacement is never ready before the second is asked for.
    let scene = Scene::at_speed(0.05).await;
    let mut operator = scene.operator(Seat::default()).await;
    let first = scene.pod("demo", "hello-55fb8f8684-69mvv").await;
    let second = scene.pod("demo", "hello-55fb8f8684-nztv2").await;
    assert_eq!(evicts(&mut operator, first).await, Eviction::Accepted);
    let blocked = evicts(&mut operator, second).await;
    let Eviction::Blocked { message, .. } = blocked else {
        panic!("{blocked:?}")
    };
    assert!(
        message.starts_with("Cannot evict pod as it would violate the pod's disruption budget."),
        "{message}"
    );
    assert!(message.contains("disruption budget hello "), "{message}");
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_storm_of_429_each_eviction_is_one_request() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let pod = scene.pod("win-demo", "reports-writer-67b96b59b-rfb6z").await;
    scene
        .lab
        .api()
        .faults()
        .set_times(WIN_PODS, Fault::TooManyRequests(3), 7);
    for _ in 0..7 {
        let throttled = Eviction::Throttled {
            retry_after: Some(Duration::from_secs(3)),
        };
        assert_eq!(evicts(&mut operator, pod.clone()).await, throttled);
    }
    // The seven faults are used up by seven requests.
    assert_eq!(evicts(&mut operator, pod).await, Eviction::Accepted);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_evictions_are_under_way_and_the_next_waits() {
    let scene = Scene::start().await;
    let mut operator = scene
        .operator(Seat {
            request_timeout: Duration::from_secs(3),
            ..Seat::default()
        })
        .await;
    // Sixteen hang until they time out. A seventeenth beside them would be answered at once.
    scene.lab.api().faults().set_times(WIN_PODS, Fault::Hang, 16);
    for number in 0..17 {
        operator.perform(evict(PodRef {
            namespace: "win-demo".into(),
            name: format!("pod-{number}").into(),
            uid: "any".into(),
        }));
    }
    let mut gone = 0;
    for number in 0..17 {
        match operator.hears().await {
            Answer::Evicted(_, Eviction::Retry(why)) => {
                assert!(why.contains("no answer within 3 s"), "{why}");
            }
            Answer::Evicted(_, Eviction::Gone) => {
                assert_ne!(number, 0, "it did not wait");
                gone += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(gone, 1);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_pass_is_told_from_what_does_not() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let pod = scene.pod("win-demo", "reports-writer-67b96b59b-rfb6z").await;
    let faults = scene.lab.api().faults().clone();
    for fault in [
        Fault::Status(401),
        Fault::Status(404),
        Fault::Status(500),
        Fault::Status(503),
        Fault::Html(502),
        Fault::Html(200),
        Fault::TruncatedJson,
    ] {
        faults.set_times(WIN_PODS, fault.clone(), 1);
        let passes = evicts(&mut operator, pod.clone()).await;
        assert!(matches!(passes, Eviction::Retry(_)), "{fault:?}: {passes:?}");
    }
    let seat = Seat {
        user: User::FewRights,
        ..Seat::default()
    };
    let refused = evicts(&mut scene.operator(seat).await, pod.clone()).await;
    let Eviction::Refused(why) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        why.contains("ask for a role that may create pods/eviction"),
        "{why}"
    );

    scene.lab.stop().await;
    let away = evicts(&mut operator, pod).await;
    assert!(matches!(away, Eviction::Retry(_)), "{away:?}");
}
