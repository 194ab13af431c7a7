//! Reading and writing objects.

use crate::support::{client, node, pod, refusal, run_pod, server};
use drainboard::lab::apiserver::User;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

#[tokio::test]
async fn the_server_says_that_it_is_a_1_37() {
    let server = server().await;
    let version = client(&server, User::Admin)
        .await
        .apiserver_version()
        .await
        .unwrap();
    assert_eq!(version.git_version, "v1.37.2");
}

#[tokio::test]
async fn a_node_that_registers_keeps_its_status_and_is_cordoned_by_a_patch() {
    let server = server().await;
    let nodes: Api<Node> = Api::all(client(&server, User::Admin).await);
    nodes
        .create(&PostParams::default(), &node("win-1"))
        .await
        .unwrap();
    let cordoned = nodes.cordon("win-1").await.unwrap();
    assert_eq!(cordoned.spec.unwrap().unschedulable, Some(true));
    assert_eq!(cordoned.status.unwrap().node_info.unwrap().boot_id, "11");
}

#[tokio::test]
async fn two_writers_of_one_version_get_one_conflict() {
    let server = server().await;
    let nodes: Api<Node> = Api::all(client(&server, User::Admin).await);
    let first = nodes
        .create(&PostParams::default(), &node("win-1"))
        .await
        .unwrap();
    let mut changed = first.clone();
    changed.labels_mut().insert("a".into(), "1".into());
    nodes
        .replace("win-1", &PostParams::default(), &changed)
        .await
        .unwrap();
    let (code, message) = refusal(nodes.replace("win-1", &PostParams::default(), &changed).await);
    assert_eq!(code, 409);
    assert_eq!(
        message,
        "Operation cannot be fulfilled on nodes \"win-1\": the object has been modified; please apply your changes \
         to the latest version and try again"
    );
}

#[tokio::test]
async fn a_write_to_the_object_does_not_change_its_status_and_the_other_way_round() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    let running = run_pod(&admin, pod("a", Some("win-1"), &json!({})), "10.0.0.1").await;
    let pods: Api<Pod> = Api::default_namespaced(admin);
    let patch = json!({ "status": { "phase": "Failed" }, "metadata": { "labels": { "seen": "yes" } } });
    let patched = pods
        .patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_eq!(patched.labels()["seen"], "yes");
    assert_eq!(patched.status.unwrap().phase.as_deref(), Some("Running"));
    let patch = json!({ "spec": { "nodeName": "elsewhere" }, "status": { "phase": "Failed" } });
    let patched = pods
        .patch_status("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_eq!(patched.status.unwrap().phase.as_deref(), Some("Failed"));
    assert_eq!(patched.spec.unwrap().node_name, running.spec.unwrap().node_name);
}

#[tokio::test]
async fn a_pod_on_a_node_is_marked_until_its_kubelet_ends_it() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    run_pod(&admin, pod("placed", Some("win-1"), &json!({})), "10.0.0.1").await;
    let pods: Api<Pod> = Api::default_namespaced(admin);
    pods.create(&PostParams::default(), &pod("pending", None, &json!({})))
        .await
        .unwrap();

    pods.delete("pending", &DeleteParams::default()).await.unwrap();
    assert!(
        pods.get_opt("pending").await.unwrap().is_none(),
        "without a node there is nobody to wait for"
    );

    pods.delete("placed", &DeleteParams::default()).await.unwrap();
    let marked = pods.get("placed").await.unwrap();
    assert!(marked.metadata.deletion_timestamp.is_some());
    assert_eq!(marked.metadata.deletion_grace_period_seconds, Some(30));
    pods.delete("placed", &DeleteParams::default().grace_period(0))
        .await
        .unwrap();
    assert!(pods.get_opt("placed").await.unwrap().is_none());
}

#[tokio::test]
async fn pages_show_the_cluster_of_the_first_page() {
    let server = server().await;
    let nodes: Api<Node> = Api::all(client(&server, User::Admin).await);
    for number in 0..5 {
        nodes
            .create(&PostParams::default(), &node(&format!("n{number}")))
            .await
            .unwrap();
    }
    let first = nodes.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    nodes.delete("n3", &DeleteParams::default()).await.unwrap();
    nodes.create(&PostParams::default(), &node("n9")).await.unwrap();
    let token = first.metadata.continue_.clone().unwrap();
    let second = nodes
        .list(&ListParams::default().limit(10).continue_token(&token))
        .await
        .unwrap();
    let names: Vec<String> = second.items.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["n2", "n3", "n4"]);
    assert_eq!(second.metadata.resource_version, first.metadata.resource_version);
}

#[tokio::test]
async fn selectors_choose_by_label_and_by_node() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    run_pod(
        &admin,
        pod("a", Some("win-1"), &json!({ "app": "hello", "tier": "web" })),
        "10.0.0.1",
    )
    .await;
    run_pod(
        &admin,
        pod("b", Some("win-2"), &json!({ "app": "hello" })),
        "10.0.0.2",
    )
    .await;
    run_pod(
        &admin,
        pod("c", Some("win-1"), &json!({ "app": "other" })),
        "10.0.0.3",
    )
    .await;
    let pods: Api<Pod> = Api::all(admin);
    let chosen = async |params: ListParams| {
        let list = pods.list(&params).await.unwrap();
        list.items
            .iter()
            .map(ResourceExt::name_any)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let labels = |selector: &str| ListParams::default().labels(selector);
    let fields = |selector: &str| ListParams::default().fields(selector);
    assert_eq!(chosen(labels("app=hello")).await, "a b");
    assert_eq!(chosen(labels("app in (hello, other),!tier")).await, "b c");
    assert_eq!(chosen(labels("app!=hello")).await, "c");
    assert_eq!(chosen(labels("tier notin (web)")).await, "b c");
    assert_eq!(chosen(fields("spec.nodeName=win-1")).await, "a c");
    assert_eq!(
        chosen(fields("spec.nodeName=win-1,status.phase!=Running")).await,
        ""
    );
    assert_eq!(chosen(fields("metadata.name=b")).await, "b");
    let (code, message) = refusal(pods.list(&fields("spec.hostname=x")).await);
    assert_eq!(code, 400);
    assert!(
        message.ends_with("field label not supported: spec.hostname"),
        "{message}"
    );
}

#[tokio::test]
async fn a_namespace_goes_when_its_last_pod_has_gone() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    let namespaces: Api<Namespace> = Api::all(admin.clone());
    let namespace = serde_json::from_value(json!({ "metadata": { "name": "win-demo" } })).unwrap();
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    let pods: Api<Pod> = Api::namespaced(admin, "win-demo");
    pods.create(&PostParams::default(), &pod("a", Some("win-1"), &json!({})))
        .await
        .unwrap();
    namespaces
        .delete("win-demo", &DeleteParams::default())
        .await
        .unwrap();

    assert_eq!(
        namespaces
            .get("win-demo")
            .await
            .unwrap()
            .status
            .unwrap()
            .phase
            .as_deref(),
        Some("Terminating")
    );
    let (code, message) = refusal(
        pods.create(&PostParams::default(), &pod("b", None, &json!({})))
            .await,
    );
    assert_eq!(code, 403);
    assert!(message.contains("because it is being terminated"), "{message}");
    pods.delete("a", &DeleteParams::default().grace_period(0))
        .await
        .unwrap();
    assert!(namespaces.get_opt("win-demo").await.unwrap().is_none());
}

#[tokio::test]
async fn the_labs_cluster_can_be_older_than_the_lab() {
    let server = server().await;
    let nodes: Api<Node> = Api::all(client(&server, User::Admin).await);
    let mut old = node("win-1");
    let built = "2026-11-07T00:00:00Z";
    old.metadata.creation_timestamp = serde_json::from_value(json!(built)).unwrap();
    nodes.create(&PostParams::default(), &old).await.unwrap();
    assert_eq!(
        server.objects("", "nodes")[0]["metadata"]["creationTimestamp"],
        built
    );
}
