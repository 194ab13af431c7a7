//! Given a request that cannot be played, whoever asked is told why.

use super::restarts::{node, play};
use super::*;
use crate::lab::LAB_ANNOTATION;
use crate::lab::client::LabClient;
use crate::lab::error::LabError;
use crate::lab::play::{ASKED, Verb, annotation, ask};
use k8s_openapi::api::core::v1::Namespace;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_without_the_mark_is_not_touched() {
    let (lab, client) = lab().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let unmarked = json!({"metadata": {"annotations": {LAB_ANNOTATION: null}}});
    namespaces
        .patch("kube-system", &PatchParams::default(), &Patch::Merge(unmarked))
        .await
        .unwrap();
    let refused = play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap_err();
    assert!(matches!(refused, LabError::NotALab { .. }), "{refused}");
    assert_eq!(annotation(&node(&client).await, ASKED), None);
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_node_is_named() {
    let (lab, client) = lab().await;
    let refused = play(&client, "k8s-lab-win-9", Verb::Crash).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "there is no node `k8s-lab-win-9` in the lab's cluster: `drainboard nodes` lists those there are"
    );
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_plays_one_thing_at_a_time() {
    // in real time: the first restart takes 28 s
    let (lab, client) = lab_at(1.0).await;
    play(&client, WINDOWS_NODE, Verb::Update).await.unwrap();
    let refused = play(&client, WINDOWS_NODE, Verb::Stuck).await.unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("node k8s-lab-win-1 is still in the middle of `update`, nothing was asked"),
        "{told}"
    );
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_nobody_plays_is_taken_back() {
    let (lab, client) = lab().await;
    let nodes: Api<Node> = Api::all(client.clone());
    let real = serde_json::from_value(json!({"metadata": {"name": "no-machine-of-the-lab"}})).unwrap();
    nodes
        .create(&kube::api::PostParams::default(), &real)
        .await
        .unwrap();
    let lab_client = LabClient::new(client.clone());
    let asked = ask(
        &lab_client,
        "https://lab",
        "no-machine-of-the-lab",
        Verb::Reboot,
        Duration::from_secs(1),
    );
    let told = asked.await.unwrap_err().to_string();
    assert!(told.contains("the request was taken back"), "{told}");
    let node = nodes.get("no-machine-of-the-lab").await.unwrap();
    assert_eq!(annotation(&node, ASKED), None);
    lab.stop().await;
}
