//! Watches, as `kube`'s watcher keeps them.

use crate::support::{client, node, server, within};
use drainboard::lab::apiserver::{ApiServer, User};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Node;
use kube::api::{DeleteParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::watcher::{self, Event};
use kube::{Api, ResourceExt};
use std::pin::pin;

async fn nodes(server: &ApiServer) -> Api<Node> {
    Api::all(client(server, User::Admin).await)
}

/// Reads until the initial list is complete, then one more thing.
async fn story(
    mut events: std::pin::Pin<&mut impl Stream<Item = watcher::Result<Event<Node>>>>,
    length: usize,
) -> Vec<String> {
    let mut told = Vec::new();
    while told.len() < length {
        told.push(match within("an event", events.next()).await.unwrap().unwrap() {
            Event::Init => "init".to_owned(),
            Event::InitApply(node) => format!("has {}", node.name_any()),
            Event::InitDone => "complete".to_owned(),
            Event::Apply(node) => format!("now {}", node.name_any()),
            Event::Delete(node) => format!("gone {}", node.name_any()),
        });
    }
    told
}

#[tokio::test]
async fn a_watcher_sees_what_is_there_and_then_what_changes() {
    for config in [
        watcher::Config::default().page_size(1),
        watcher::Config::default().streaming_lists(),
    ] {
        let server = server().await;
        let nodes = nodes(&server).await;
        nodes.create(&PostParams::default(), &node("a")).await.unwrap();
        nodes.create(&PostParams::default(), &node("b")).await.unwrap();
        let mut events = pin!(watcher::watcher(nodes.clone(), config));
        assert_eq!(
            story(events.as_mut(), 4).await,
            ["init", "has a", "has b", "complete"]
        );
        nodes.cordon("a").await.unwrap();
        nodes.delete("b", &DeleteParams::default()).await.unwrap();
        assert_eq!(story(events.as_mut(), 2).await, ["now a", "gone b"]);
    }
}

#[tokio::test]
async fn a_watch_that_breaks_is_taken_up_where_it_was() {
    let server = server().await;
    let nodes = nodes(&server).await;
    nodes.create(&PostParams::default(), &node("a")).await.unwrap();
    let mut events = pin!(watcher::watcher(nodes.clone(), watcher::Config::default()));
    assert_eq!(story(events.as_mut(), 3).await, ["init", "has a", "complete"]);
    nodes.cordon("a").await.unwrap();
    assert_eq!(story(events.as_mut(), 1).await, ["now a"]);
    server.faults().drop_watches();
    nodes.create(&PostParams::default(), &node("b")).await.unwrap();
    assert_eq!(story(events.as_mut(), 1).await, ["now b"]);
}

#[tokio::test]
async fn a_revision_older_than_the_history_is_expired() {
    let server = server().await;
    let nodes = nodes(&server).await;
    let old = nodes
        .create(&PostParams::default(), &node("a"))
        .await
        .unwrap()
        .resource_version()
        .unwrap();
    nodes.cordon("a").await.unwrap();
    server.compact("", "nodes");
    let mut events = pin!(nodes.watch(&WatchParams::default(), &old).await.unwrap());
    match within("the error", events.next()).await.unwrap().unwrap() {
        WatchEvent::Error(status) => {
            assert_eq!(status.code, 410);
            assert_eq!(status.reason, "Expired");
        }
        other => panic!("not an error: {other:?}"),
    }
    assert!(within("the end", events.next()).await.is_none());
}

#[tokio::test]
async fn a_node_that_stops_matching_disappears_from_the_watch() {
    let server = server().await;
    let nodes = nodes(&server).await;
    nodes.create(&PostParams::default(), &node("a")).await.unwrap();
    let mut events = pin!(
        nodes
            .watch(&WatchParams::default().labels("kubernetes.io/os=windows"), "0")
            .await
            .unwrap()
    );
    assert!(matches!(
        within("the node", events.next()).await.unwrap().unwrap(),
        WatchEvent::Added(_)
    ));
    let patch = serde_json::json!({ "metadata": { "labels": { "kubernetes.io/os": "linux" } } });
    nodes
        .patch(
            "a",
            &kube::api::PatchParams::default(),
            &kube::api::Patch::Merge(&patch),
        )
        .await
        .unwrap();
    match within("the change", events.next()).await.unwrap().unwrap() {
        WatchEvent::Deleted(node) => assert_eq!(node.labels()["kubernetes.io/os"], "linux"),
        other => panic!("not a deletion: {other:?}"),
    }
}

#[tokio::test]
async fn a_compaction_does_not_disturb_a_watch_that_has_seen_everything() {
    let server = server().await;
    let nodes = nodes(&server).await;
    nodes.create(&PostParams::default(), &node("a")).await.unwrap();
    let mut events = pin!(nodes.watch(&WatchParams::default(), "0").await.unwrap());
    assert!(matches!(
        within("the node", events.next()).await.unwrap().unwrap(),
        WatchEvent::Added(_)
    ));
    server.compact("", "nodes");
    nodes.cordon("a").await.unwrap();
    assert!(matches!(
        within("the change", events.next()).await.unwrap().unwrap(),
        WatchEvent::Modified(_)
    ));
}
