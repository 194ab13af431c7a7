//! The Lease of the pool.

use super::{Scene, Seat, run, until};
use crate::lab::apiserver::{Fault, User};
use crate::lab::article::WINDOWS_NODE;
use crate::lab::article::{NODE_1, NODE_2};
use crate::maintenance::effect::{Answer, Effect, LockError, WriteError};
use crate::sources::kubernetes::maintain::ask::{JSON, body};
use crate::sources::kubernetes::maintain::writer::{Write, Writer};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/drainboard-linux";

fn alice() -> Seat {
    Seat {
        node: NODE_1,
        ..Seat::default()
    }
}

fn bob() -> Seat {
    Seat {
        node: NODE_2,
        id: "m-2",
        ..Seat::default()
    }
}

/// Who has it, and for how long.
fn held(answer: Answer) -> (String, u64) {
    match answer {
        Answer::Locked(Err(LockError::Held { by, age_seconds })) => (by, age_seconds),
        other => panic!("{other:?}"),
    }
}

/// How the Lease names its holder.
fn holder(id: &str, node: &str) -> String {
    format!("ops@{id} ({id}, {node}, {})", run(id))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_runs_do_not_work_on_one_maintenance_at_once() {
    let scene = Scene::start().await;
    let mut first = scene.operator(alice()).await;
    assert_eq!(first.does(Effect::Lock).await, Answer::Locked(Ok(())));
    let elsewhere = Seat {
        run: Some("other-terminal:1"),
        ..alice()
    };
    let (by, _) = held(scene.operator(elsewhere).await.does(Effect::Lock).await);
    assert_eq!(by, holder("m-1", "k8s-lab-node-1"));
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_operators_cannot_take_two_nodes_of_one_pool() {
    let scene = Scene::start().await;
    let (mut first, mut second) = (scene.operator(alice()).await, scene.operator(bob()).await);
    assert_eq!(first.does(Effect::Lock).await, Answer::Locked(Ok(())));
    let (by, age) = held(second.does(Effect::Lock).await);
    assert_eq!(by, holder("m-1", "k8s-lab-node-1"));
    assert!(age < 60, "{age}");
    // Its own maintenance, resumed at another place, is no stranger.
    let mut resumed = scene.operator(alice()).await;
    assert_eq!(resumed.does(Effect::Lock).await, Answer::Locked(Ok(())));

    first.perform(Effect::Unlock);
    first.executor.finish().await;
    assert_eq!(second.does(Effect::Lock).await, Answer::Locked(Ok(())));
    let lease = scene.get(LEASE).await;
    assert_eq!(lease["spec"]["holderIdentity"], holder("m-2", "k8s-lab-node-2"));
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 60);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_ask_at_once_one_gets_it() {
    let scene = Scene::start().await;
    let ids = ["m-1", "m-2", "m-3", "m-4", "m-5", "m-6"];
    let mut operators = Vec::new();
    for id in ids {
        operators.push(scene.operator(Seat { id, ..bob() }).await);
    }
    for operator in &mut operators {
        operator.perform(Effect::Lock);
    }
    let mut taken = 0;
    for operator in &mut operators {
        match operator.hears().await {
            Answer::Locked(Ok(())) => taken += 1,
            Answer::Locked(Err(LockError::Held { .. } | LockError::Failed(_))) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(taken, 1);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_lease_is_shown_with_its_owner_and_taken_over_knowingly() {
    let scene = Scene::start().await;
    let stale = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "drainboard-linux", "namespace": "kube-system"},
        "spec": {"holderIdentity": "carol@host\u{1b}[2J (m-9, k8s-lab-node-2)", "leaseDurationSeconds": 60,
            "renewTime": "2026-01-01T00:00:00.000000Z", "leaseTransitions": 4},
    });
    let all = LEASE.strip_suffix("/drainboard-linux").unwrap();
    let created = scene
        .api
        .exchange(Method::POST, all, Some(body(JSON, &stale)))
        .await;
    created.unwrap().json::<Value>().unwrap();
    let (by, age) = held(scene.operator(alice()).await.does(Effect::Lock).await);
    assert_eq!(by, "carol@host (m-9, k8s-lab-node-2)");
    assert!(age > 3600, "{age}");

    let seat = Seat {
        take_over: true,
        ..alice()
    };
    let mut operator = scene.operator(seat).await;
    assert_eq!(operator.does(Effect::Lock).await, Answer::Locked(Ok(())));
    let lease = scene.get(LEASE).await;
    assert_eq!(lease["spec"]["holderIdentity"], holder("m-1", "k8s-lab-node-1"));
    assert_eq!(lease["spec"]["leaseTransitions"], 5);
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_the_pool_that_is_worked_on_without_a_lease_counts_too() {
    let scene = Scene::start().await;
    let mut first = scene.operator(alice()).await;
    let record = scene.record(NODE_1, "m-1").await;
    assert_eq!(first.does(Effect::Cordon(record)).await, Answer::Cordoned(Ok(())));
    let (by, age) = held(scene.operator(bob()).await.does(Effect::Lock).await);
    assert_eq!(by, "ops@m-1 (m-1) on node k8s-lab-node-1");
    assert!(age < 60, "{age}");
    // A Windows node is of another pool.
    let windows = Seat {
        id: "m-3",
        ..Seat::default()
    };
    let mut other_pool = scene.operator(windows).await;
    assert_eq!(other_pool.does(Effect::Lock).await, Answer::Locked(Ok(())));
    let seat = Seat {
        take_over: true,
        ..bob()
    };
    let mut bold = scene.operator(seat).await;
    assert_eq!(bold.does(Effect::Lock).await, Answer::Locked(Ok(())));
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_another_value_of_the_pool_label_are_another_pool() {
    let scene = Scene::start().await;
    for (node, rack) in [(NODE_1, "A"), (NODE_2, "B")] {
        let label = json!({"metadata": {"labels": {"example.com/rack": rack}}});
        scene.patch(node, "kubectl", &label).await;
    }
    for seat in [alice(), bob()] {
        let seat = Seat {
            pool_label: Some("example.com/rack"),
            ..seat
        };
        let mut operator = scene.operator(seat).await;
        assert_eq!(operator.does(Effect::Lock).await, Answer::Locked(Ok(())));
    }
    let lease = scene.get(&format!("{LEASE}-b")).await;
    assert_eq!(lease["spec"]["holderIdentity"], holder("m-2", "k8s-lab-node-2"));
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_permission_it_is_refused_and_without_answer_it_is_asked_again() {
    let scene = Scene::start().await;
    let seat = Seat {
        user: User::FewRights,
        ..alice()
    };
    let answer = scene.operator(seat).await.does(Effect::Lock).await;
    let Answer::Locked(Err(LockError::Refused(why))) = answer else {
        panic!("{answer:?}")
    };
    assert!(
        why.contains("ask for a role that may get Lease kube-system/drainboard-linux"),
        "{why}"
    );
    let faults = scene.lab.api().faults();
    faults.set_times(LEASE, Fault::Status(503), 1);
    let mut operator = scene.operator(alice()).await;
    let answer = operator.does(Effect::Lock).await;
    assert!(
        matches!(answer, Answer::Locked(Err(LockError::Failed(_)))),
        "{answer:?}"
    );
    assert_eq!(operator.does(Effect::Lock).await, Answer::Locked(Ok(())));
    let nowhere = Seat {
        node: "k8s-lab-nowhere",
        ..Seat::default()
    };
    let answer = scene.operator(nowhere).await.does(Effect::Lock).await;
    let missing = LockError::Refused("there is no node k8s-lab-nowhere".to_owned());
    assert_eq!(answer, Answer::Locked(Err(missing)));
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_renewed_while_it_is_held_until_somebody_takes_it_over() {
    let scene = Scene::start().await;
    let desk = scene.operator(alice()).await.executor.desk.clone();
    let (answers, mut heard) = mpsc::unbounded_channel();
    let (writes, queue) = mpsc::unbounded_channel();
    let often = Duration::from_millis(50);
    let _writer =
        tokio_util::task::AbortOnDropHandle::new(tokio::spawn(Writer::new(desk, answers, often).run(queue)));
    writes.send(Write::Lock).unwrap();
    assert_eq!(heard.recv().await, Some(Answer::Locked(Ok(()))));
    let first = scene.get(LEASE).await;
    until("a renewal", || async {
        scene.get(LEASE).await["spec"]["renewTime"] != first["spec"]["renewTime"]
    })
    .await;
    let renewed = scene.get(LEASE).await;
    assert_eq!(renewed["spec"]["acquireTime"], first["spec"]["acquireTime"]);
    assert_eq!(
        renewed["spec"]["leaseTransitions"],
        first["spec"]["leaseTransitions"]
    );

    let seat = Seat {
        take_over: true,
        ..bob()
    };
    let mut bold = scene.operator(seat).await;
    // Renewals in between are conflicts, after which it is tried again.
    while bold.does(Effect::Lock).await != Answer::Locked(Ok(())) {}
    let by = holder("m-2", "k8s-lab-node-2");
    assert_eq!(heard.recv().await, Some(Answer::LeaseLost { by }), "it is told");
    let record = scene.record(WINDOWS_NODE, "m-1").await;
    writes.send(Write::Cordon(record)).unwrap();
    let Some(Answer::Cordoned(Err(WriteError::Refused(why)))) = heard.recv().await else {
        panic!("who lost it changes nothing any more");
    };
    assert!(
        why.contains("m-2") && why.contains("took the pool's Lease over"),
        "{why}"
    );
    writes.send(Write::Unlock).unwrap();
    let (done, passed) = tokio::sync::oneshot::channel();
    writes.send(Write::Passed(done)).unwrap();
    passed.await.unwrap();
    let lease = scene.get(LEASE).await;
    assert_eq!(
        lease["spec"]["holderIdentity"],
        holder("m-2", "k8s-lab-node-2"),
        "it is not given back by who lost it"
    );
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_whose_taking_was_not_answered_is_given_back_too() {
    let scene = Scene::start().await;
    // What a first request did whose answer is lost.
    let mut before = scene.operator(alice()).await;
    assert_eq!(before.does(Effect::Lock).await, Answer::Locked(Ok(())));
    drop(before);

    let mut operator = scene.operator(alice()).await;
    let faults = scene.lab.api().faults();
    faults.set(LEASE, Fault::Status(503));
    let answer = operator.does(Effect::Lock).await;
    assert!(
        matches!(answer, Answer::Locked(Err(LockError::Failed(_)))),
        "{answer:?}"
    );
    faults.clear();
    operator.perform(Effect::Unlock);
    operator.executor.finish().await;
    assert_eq!(scene.get(LEASE).await["spec"].get("holderIdentity"), None);
    scene.lab.stop().await;
}
