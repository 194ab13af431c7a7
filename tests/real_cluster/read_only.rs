//! Under `--read-only` nothing is written, whoever asks: the audit log of the real API server is the witness.

use std::fs;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::Value;

use crate::drainboard::drainboard;
use crate::parts::{User, client, directory};

/// The audit log's requests of the admin from line `from` on.
pub fn requests_of_the_admin(from: usize) -> Vec<Value> {
    let log = fs::read_to_string(directory().join("audit.log")).expect("audit.log");
    log.lines()
        .skip(from)
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["user"]["username"] == "admin")
        .collect()
}

/// Those that would change something. Asking what one may do is a `create` that changes nothing.
pub fn writes(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .filter(|event| {
            let reads = ["get", "list", "watch"].iter().any(|verb| event["verb"] == *verb);
            let asks = event["objectRef"]["apiGroup"] == "authorization.k8s.io";
            !reads && !asks
        })
        .map(|event| format!("{} {}", event["verb"], event["requestURI"]))
        .collect()
}

pub fn lines_so_far() -> usize {
    fs::read_to_string(directory().join("audit.log"))
        .expect("audit.log")
        .lines()
        .count()
}

#[test]
fn no_command_writes() {
    let from = lines_so_far();
    for command in [
        &["nodes"][..],
        &["nodes", "-o", "wide"],
        &["nodes", "-o", "json"],
        &["pods", "-A"],
        &["pods", "-n", "win-demo", "-o", "json"],
        &["check"],
        &["--snapshot", "120x40", "--pane", "nodes"],
        &["--snapshot", "120x40", "--pane", "pods"],
    ] {
        let mut arguments = vec!["--read-only"];
        arguments.extend(command);
        let output = drainboard(User::Admin, &arguments);
        assert!(
            !output.stdout.is_empty(),
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let events = requests_of_the_admin(from);
    assert!(events.len() > 10, "only {} requests were seen", events.len());
    assert_eq!(writes(&events), Vec::<String>::new());
}

#[tokio::test]
async fn the_witness_sees_a_write() {
    let from = lines_so_far();
    let maps: Api<ConfigMap> = Api::namespaced(client(User::Admin).await, "win-demo");
    let map = ConfigMap {
        metadata: kube::api::ObjectMeta {
            name: Some("seen-by-the-witness".to_owned()),
            ..Default::default()
        },
        ..Default::default()
    };
    maps.create(&PostParams::default(), &map).await.expect("a write");
    maps.delete("seen-by-the-witness", &DeleteParams::default())
        .await
        .expect("another write");
    let seen = writes(&requests_of_the_admin(from));
    assert_eq!(seen.len(), 2, "{seen:?}");
}
