//! Changes of the node.

use super::{Scene, Seat, written};
use crate::lab::apiserver::{Fault, User};
use crate::lab::article::WINDOWS_NODE;
use crate::maintenance::effect::{Answer, Effect, WriteError};
use crate::maintenance::record::{PROVEN_BOOT, Reached, Record};
use serde_json::{Value, json};

/// Whether it was refused for good, and why.
fn refusal(answer: Answer) -> String {
    match answer {
        Answer::Cordoned(Err(WriteError::Refused(why)))
        | Answer::Saved(Err(WriteError::Refused(why)))
        | Answer::Uncordoned(Err(WriteError::Refused(why)))
        | Answer::Cleared(Err(WriteError::Refused(why))) => why,
        other => panic!("{other:?}"),
    }
}

fn uncordon(record: &Record) -> Effect {
    let mut record = record.clone();
    record.reached = Reached::PodsBack;
    Effect::Uncordon {
        boot_id: record.boot_id.clone(),
        record: Box::new(record),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_cordoned_remembered_and_uncordoned_by_us() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let mut record = scene.record(WINDOWS_NODE, "m-1").await;
    let cordon = Effect::Cordon(record.clone());
    assert_eq!(operator.does(cordon.clone()).await, Answer::Cordoned(Ok(())));
    // The answer was lost, and it is asked for again.
    assert_eq!(operator.does(cordon).await, Answer::Cordoned(Ok(())));
    let node = scene.node(WINDOWS_NODE).await;
    assert_eq!(node["spec"]["unschedulable"], true);
    assert_eq!(written(&node).as_ref(), Some(&*record));

    record.reached = Reached::Restart;
    assert_eq!(
        operator.does(Effect::Save(record.clone())).await,
        Answer::Saved(Ok(()))
    );
    assert_eq!(
        written(&scene.node(WINDOWS_NODE).await).unwrap().reached,
        Reached::Restart
    );

    for _ in 0..2 {
        assert_eq!(operator.does(uncordon(&record)).await, Answer::Uncordoned(Ok(())));
        let node = scene.node(WINDOWS_NODE).await;
        assert!(node["spec"].get("unschedulable").is_none());
        assert_eq!(written(&node).unwrap().reached, Reached::PodsBack);
    }
    for _ in 0..2 {
        let clear = Effect::Clear {
            proven_boot: Some("12".into()),
        };
        assert_eq!(operator.does(clear).await, Answer::Cleared(Ok(())));
        let node = scene.node(WINDOWS_NODE).await;
        assert_eq!(written(&node), None);
        assert_eq!(node["metadata"]["annotations"][PROVEN_BOOT], "12");
    }
    let why = refusal(operator.does(Effect::Save(record)).await);
    assert!(why.contains("abandoned this maintenance from elsewhere"), "{why}");
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_of_the_same_name_is_left_alone() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let before = scene.node(WINDOWS_NODE).await;
    let mut record = scene.record(WINDOWS_NODE, "m-1").await;
    record.node_uid = "of-the-node-before".into();
    for effect in [
        Effect::Cordon(record.clone()),
        Effect::Save(record.clone()),
        uncordon(&record),
    ] {
        let why = refusal(operator.does(effect).await);
        assert!(why.contains("it is another node now"), "{why}");
    }
    let after = scene.node(WINDOWS_NODE).await;
    assert_eq!(after["spec"], before["spec"]);
    assert_eq!(written(&after), None);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_in_another_maintenance_is_taken_over_only_knowingly() {
    let scene = Scene::start().await;
    let mut alice = scene.operator(Seat::default()).await;
    let record = scene.record(WINDOWS_NODE, "m-1").await;
    alice.does(Effect::Cordon(record.clone())).await;

    let theirs = scene.record(WINDOWS_NODE, "m-2").await;
    assert!(theirs.was_cordoned);
    let bob = || Seat {
        id: "m-2",
        ..Seat::default()
    };
    let mut polite = scene.operator(bob()).await;
    let why = refusal(polite.does(Effect::Cordon(theirs.clone())).await);
    assert!(
        why.contains("being worked on by ops@m-1 (m-1)") && why.contains("--take-over"),
        "{why}"
    );
    let seat = Seat {
        take_over: true,
        ..bob()
    };
    let mut bob = scene.operator(seat).await;
    assert_eq!(
        bob.does(Effect::Cordon(theirs.clone())).await,
        Answer::Cordoned(Ok(()))
    );
    assert_eq!(written(&scene.node(WINDOWS_NODE).await).unwrap().id, "m-2");

    for effect in [
        Effect::Save(record.clone()),
        uncordon(&record),
        Effect::Clear { proven_boot: None },
    ] {
        let why = refusal(alice.does(effect).await);
        assert!(why.contains("ops@m-2 (m-2) took node"), "{why}");
    }
    // The cordon was there before Bob came.
    let why = refusal(bob.does(uncordon(&theirs)).await);
    assert!(why.contains("was cordoned before"), "{why}");
    assert_eq!(scene.node(WINDOWS_NODE).await["spec"]["unschedulable"], true);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cordon_of_somebody_else_stays() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let record = scene.record(WINDOWS_NODE, "m-1").await;
    operator.does(Effect::Cordon(record.clone())).await;
    for on in [Value::Null, json!(true)] {
        let change = json!({"spec": {"unschedulable": on}});
        scene.patch(WINDOWS_NODE, "kubectl", &change).await;
    }
    let why = refusal(operator.does(uncordon(&record)).await);
    assert!(why.contains("was cordoned by kubectl meanwhile"), "{why}");
    let node = scene.node(WINDOWS_NODE).await;
    assert_eq!(node["spec"]["unschedulable"], true);
    assert_eq!(written(&node).unwrap().reached, Reached::Drain);

    // Once they have uncordoned it, it only remains to remember that.
    let change = json!({"spec": {"unschedulable": null}});
    scene.patch(WINDOWS_NODE, "kubectl", &change).await;
    assert_eq!(operator.does(uncordon(&record)).await, Answer::Uncordoned(Ok(())));
    let node = scene.node(WINDOWS_NODE).await;
    assert_eq!(written(&node).unwrap().reached, Reached::PodsBack);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cordon_that_came_or_went_since_the_preflight_is_looked_at_again() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let mut record = scene.record(WINDOWS_NODE, "m-1").await;
    record.was_cordoned = true;
    let why = refusal(operator.does(Effect::Cordon(record.clone())).await);
    assert!(why.contains("somebody uncordoned"), "{why}");

    let change = json!({"spec": {"unschedulable": true}});
    scene.patch(WINDOWS_NODE, "kubectl", &change).await;
    assert_eq!(
        operator.does(Effect::Cordon(record.clone())).await,
        Answer::Cordoned(Ok(()))
    );
    operator.does(Effect::Clear { proven_boot: None }).await;
    record.was_cordoned = false;
    let why = refusal(operator.does(Effect::Cordon(record)).await);
    assert!(why.contains("somebody cordoned"), "{why}");
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_restarted_again_is_not_uncordoned_yet() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let record = scene.record(WINDOWS_NODE, "m-1").await;
    operator.does(Effect::Cordon(record.clone())).await;
    for boot_id in ["", "10"] {
        let effect = Effect::Uncordon {
            record: record.clone(),
            boot_id: boot_id.into(),
        };
        let answer = operator.does(effect).await;
        let Answer::Uncordoned(Err(WriteError::Moved(why))) = answer else {
            panic!("{answer:?}")
        };
        assert!(why.contains("restarted again: its boot id is 11"), "{why}");
    }
    assert_eq!(scene.node(WINDOWS_NODE).await["spec"]["unschedulable"], true);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_trouble_is_asked_again_and_a_missing_permission_is_named() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let record = scene.record(WINDOWS_NODE, "m-1").await;
    let cordon = Effect::Cordon(record);
    for fault in [
        Fault::Status(401),
        Fault::Status(429),
        Fault::Status(500),
        Fault::Html(200),
        Fault::TruncatedJson,
    ] {
        let faults = scene.lab.api().faults();
        faults.set("/api/v1/nodes", fault.clone());
        let answer = operator.does(cordon.clone()).await;
        assert!(
            matches!(answer, Answer::Cordoned(Err(WriteError::Retry(_)))),
            "{fault:?}: {answer:?}"
        );
        faults.clear();
    }
    let few = Seat {
        user: User::FewRights,
        ..Seat::default()
    };
    let why = refusal(scene.operator(few).await.does(cordon.clone()).await);
    assert!(
        why.contains("ask for a role that may patch node k8s-lab-win-1"),
        "{why}"
    );
    assert_eq!(operator.does(cordon).await, Answer::Cordoned(Ok(())));
    scene.lab.stop().await;
}
