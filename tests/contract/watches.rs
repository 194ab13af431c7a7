//! Watches.

use super::peer::Peer;
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_mins(2);

/// Reads the events of a watch until `wanted` takes one.
async fn watch<T>(peer: &Peer, path: &str, mut wanted: impl FnMut(&Value) -> Option<T>) -> T {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = peer.admin.send(request).await.unwrap();
    assert_eq!(response.status().as_u16(), 200, "{path}");
    let mut body = response.into_body();
    let mut text = Vec::new();
    let read = async {
        loop {
            while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let event: Value = serde_json::from_slice(&line).unwrap();
                if let Some(taken) = wanted(&event) {
                    return taken;
                }
            }
            let frame = body.frame().await.expect("the watch ended").unwrap();
            text.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        }
    };
    tokio::time::timeout(DEADLINE, read)
        .await
        .expect("the event in time")
}

pub async fn a_watch_goes_on_from_the_list(peer: &Peer) {
    let list = peer.get("/api/v1/nodes").await.json();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let mark = |value: Value| json!({ "metadata": { "annotations": { "drainboard.dev/contract": value } } });
    let node = "/api/v1/nodes/k8s-lab-win-1";
    // Changed before the watch begins: it is seen all the same.
    peer.patch(node, &mark(json!("seen"))).await.json();
    let seen = watch(
        peer,
        &format!("/api/v1/nodes?watch=true&resourceVersion={version}&allowWatchBookmarks=true"),
        |event| {
            assert_ne!(event["type"], "ADDED", "what the list held is not told again");
            let object = &event["object"];
            let marked = object["metadata"]["annotations"]["drainboard.dev/contract"] == "seen";
            marked.then(|| event.clone())
        },
    )
    .await;
    peer.patch(node, &mark(Value::Null)).await.json();
    assert_eq!(seen["type"], "MODIFIED");
    let object = &seen["object"];
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("Node"), &json!("v1"))
    );
    assert_ne!(object["metadata"]["resourceVersion"], version);
}

pub async fn a_revision_that_is_too_old_is_gone(peer: &Peer) {
    peer.forget_the_changes_of_nodes();
    let status = watch(peer, "/api/v1/nodes?watch=true&resourceVersion=1", |event| {
        assert_eq!(event["type"], "ERROR", "{event}");
        Some(event["object"].clone())
    })
    .await;
    assert_eq!(status["kind"], "Status");
    assert_eq!(status["code"], 410);
    assert_eq!(status["reason"], "Expired");
    let message = status["message"].as_str().unwrap();
    assert!(message.starts_with("too old resource version: 1 ("), "{message}");
}

pub async fn a_streaming_list_says_where_it_ends(peer: &Peer) {
    let mut added = Vec::new();
    let end = watch(
        peer,
        "/api/v1/nodes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        |event| {
            if event["type"] == "ADDED" {
                added.push(event["object"]["metadata"]["name"].as_str().unwrap().to_owned());
            }
            (event["type"] == "BOOKMARK").then(|| event["object"]["metadata"].clone())
        },
    )
    .await;
    added.sort_unstable();
    assert_eq!(
        added,
        [
            "k8s-lab-master-1",
            "k8s-lab-node-1",
            "k8s-lab-node-2",
            "k8s-lab-win-1"
        ]
    );
    assert_eq!(end["annotations"]["k8s.io/initial-events-end"], "true");
    assert!(end["resourceVersion"].is_string());

    let (code, reason, _) = peer
        .get("/api/v1/nodes?watch=true&sendInitialEvents=true")
        .await
        .refusal();
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
}
