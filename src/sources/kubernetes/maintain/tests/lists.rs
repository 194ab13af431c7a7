//! Fresh lists.

use super::{Scene, Seat};
use crate::lab::apiserver::{Fault, User};
use crate::lab::article::WINDOWS_NODE;
use crate::maintenance::effect::{Answer, Effect};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nodes_pods_are_listed_and_then_the_node() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let answer = operator.does(Effect::ListPods).await;
    let Answer::Listed(Ok(fresh)) = answer else {
        panic!("{answer:?}")
    };
    let of_win_demo = fresh.pods.iter().filter(|pod| &*pod.namespace == "win-demo");
    assert_eq!(of_win_demo.count(), 7);
    assert!(
        fresh
            .pods
            .iter()
            .all(|pod| pod.node.as_deref() == Some(WINDOWS_NODE))
    );
    assert!(
        fresh
            .pods
            .iter()
            .any(|pod| &*pod.name == "calico-node-windows-q54h2")
    );
    let node = fresh.node.unwrap();
    assert_eq!((&*node.name, &*node.boot_id), (WINDOWS_NODE, "11"));

    let nowhere = Seat {
        node: "k8s-lab-nowhere",
        ..Seat::default()
    };
    let answer = scene.operator(nowhere).await.does(Effect::ListPods).await;
    let Answer::Listed(Ok(fresh)) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!((fresh.node, fresh.pods.len()), (None, 0));
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_answer_is_never_an_empty_node() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(Seat::default()).await;
    let faults = scene.lab.api().faults();
    let paths = ["/api/v1/pods", "/api/v1/nodes/k8s-lab-win-1"];
    for path in paths {
        for fault in [
            Fault::TruncatedJson,
            Fault::Html(200),
            Fault::Html(404),
            Fault::Status(404),
            Fault::Status(503),
        ] {
            faults.set(path, fault.clone());
            let answer = operator.does(Effect::ListPods).await;
            assert!(
                matches!(answer, Answer::Listed(Err(_))),
                "{path} {fault:?}: {answer:?}"
            );
            faults.clear();
        }
    }
    scene.lab.api().grant(User::FewRights, Vec::new());
    let seat = Seat {
        user: User::FewRights,
        ..Seat::default()
    };
    let answer = scene.operator(seat).await.does(Effect::ListPods).await;
    let Answer::Listed(Err(why)) = answer else {
        panic!("{answer:?}")
    };
    assert!(why.contains("cannot list pods of node k8s-lab-win-1"), "{why}");
    scene.lab.stop().await;
}
