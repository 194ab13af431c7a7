//! The restart by a HostProcess pod.

use super::{Operator, Scene, Seat, until};
use crate::domain::host_process::HostPod;
use crate::lab::article::WINDOWS_NODE;
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::options::{Purpose, Reboot};
use crate::sources::kubernetes::host_process::manifest;
use crate::sources::kubernetes::maintain::ask::{JSON, body};
use crate::sources::kubernetes::maintain::reboot_pod::errand;
use http::Method;
use serde_json::Value;

fn by_pod(purpose: Purpose) -> Seat {
    Seat {
        reboot: Some(Reboot::Pod(HostPod::default())),
        purpose,
        ..Seat::default()
    }
}

impl Scene {
    /// The HostProcess pods of this program.
    async fn pods(&self) -> Vec<Value> {
        let label = "app.kubernetes.io%2Fmanaged-by%3Ddrainboard";
        let list = self.get(&format!("/api/v1/pods?labelSelector={label}")).await;
        list["items"].as_array().unwrap().clone()
    }

    async fn boot_id(&self) -> String {
        let node = self.node(WINDOWS_NODE).await;
        node["status"]["nodeInfo"]["bootID"].as_str().unwrap().to_owned()
    }

    async fn is_updated(&self, boot_id: &str) {
        until("the restart", || async { self.boot_id().await == boot_id }).await;
        until("the end of the pod", || async { self.pods().await.is_empty() }).await;
    }
}

fn said(operator: &mut Operator) -> String {
    let mut lines = Vec::new();
    while let Ok(line) = operator.output.try_recv() {
        lines.push(line);
    }
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_updates_wait_for_it_is_restarted_once() {
    let scene = Scene::at_speed(20.0).await;
    let mut operator = scene.operator(by_pod(Purpose::Update)).await;
    let answer = operator.does(Effect::RunRebootCommand).await;
    assert_eq!(answer, Answer::RebootCommand(Ok(0)));
    let text = said(&mut operator);
    for words in [
        "pod kube-system/drainboard-reboot-m-1 is made on node k8s-lab-win-1",
        "RebootRequired is set on node k8s-lab-win-1: it restarts in 30 s",
        "pod kube-system/drainboard-reboot-m-1 is removed",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    scene.is_updated("12").await;

    let answer = operator.does(Effect::RunRebootCommand).await;
    let Answer::RebootCommand(Err(why)) = answer else {
        panic!("{answer:?}")
    };
    assert!(why.contains("RebootRequired is not set on it"), "{why}");
    assert!(why.contains("install the updates first"), "{why}");
    scene.is_updated("12").await;

    let mut other = scene
        .operator(Seat {
            id: "m-2",
            ..by_pod(Purpose::Restart)
        })
        .await;
    assert_eq!(
        other.does(Effect::RunRebootCommand).await,
        Answer::RebootCommand(Ok(0)),
        "who wants a restart gets it"
    );
    assert!(
        said(&mut other).contains("RebootRequired is not set on node k8s-lab-win-1: it restarts in 30 s")
    );
    scene.is_updated("13").await;
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_that_is_broken_off_leaves_no_pod() {
    let scene = Scene::at_speed(1.0).await;
    let mut operator = scene.operator(by_pod(Purpose::Update)).await;
    operator.perform(Effect::RunRebootCommand);
    until("the pod", || async { !scene.pods().await.is_empty() }).await;
    operator.executor.finish().await;
    let left = scene.pods().await;
    assert!(
        left.iter()
            .all(|pod| pod["metadata"]["deletionTimestamp"].is_string()),
        "{left:?}"
    );
    assert_eq!(scene.boot_id().await, "11");
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pod_of_a_run_that_was_killed_is_seen_through_by_the_next() {
    let scene = Scene::at_speed(20.0).await;
    let errand = errand("m-1", Purpose::Update);
    let object = manifest::pod(&errand, WINDOWS_NODE, &HostPod::default());
    let made = Some(body(JSON, &object));
    let pods = "/api/v1/namespaces/kube-system/pods";
    let reply = scene.api.exchange(Method::POST, pods, made).await.unwrap();
    reply.json::<Value>().unwrap();
    let mut operator = scene.operator(by_pod(Purpose::Update)).await;
    operator.executor.pick_up_restart();
    assert_eq!(operator.hears().await, Answer::RebootCommand(Ok(0)));
    let text = said(&mut operator);
    assert!(text.contains("was left by an earlier run"), "{text}");
    assert!(text.contains("RebootRequired is set"), "{text}");
    scene.is_updated("12").await;
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nothing_was_left_nothing_is_answered() {
    let scene = Scene::at_speed(20.0).await;
    let mut operator = scene.operator(by_pod(Purpose::Update)).await;
    operator.executor.pick_up_restart();
    assert_eq!(
        operator.does(Effect::RunRebootCommand).await,
        Answer::RebootCommand(Ok(0))
    );
    assert!(operator.answers.try_recv().is_err());
    scene.lab.stop().await;
}
