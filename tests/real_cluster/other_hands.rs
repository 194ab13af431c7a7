//! Others work on the node too: what is theirs is left to them. The audit log is the witness.

use k8s_openapi::api::core::v1::Node;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::drainboard::drainboard;
use crate::lab::Lab;
use crate::maintenance::{Maintenance, NODE, SECOND, cordon, given_back, is_cordoned, lab_client, settled};
use crate::parts::User;
use crate::read_only::{lines_so_far, requests_of_the_admin};
use crate::witness::{asked_at, nothing_improper, uncordons};

/// A maintenance that waits for the restart of the node, all of its pods gone.
fn awaiting_the_restart(node: &str) -> Maintenance {
    let mut maintenance = Maintenance::of(node, &[]);
    maintenance.until_named("awaiting_reboot");
    maintenance
}

/// The operator's hand at the article's node.
fn update() {
    let played = drainboard(User::Admin, &["lab", "update", NODE]);
    let said = String::from_utf8_lossy(&played.stderr);
    assert!(played.status.success(), "{}: {said}", played.status);
}

/// Somebody's change of the spec, with `kubectl` or another tool.
async fn spec(client: &Client, patch: Patch<Value>) {
    let params = PatchParams {
        field_manager: Some("colleague".to_owned()),
        force: matches!(patch, Patch::Apply(_)),
        ..PatchParams::default()
    };
    let nodes = Api::<Node>::all(client.clone());
    nodes.patch(NODE, &params, &patch).await.expect("a patch");
}

/// The node came back, its gates held, and it was left cordoned.
fn ends_cordoned(mut maintenance: Maintenance, from: usize) {
    let failed = maintenance.until_named("failed");
    let reason = failed["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("was cordoned by colleague"), "{failed}");
    assert_eq!(maintenance.events("network_ready").len(), 1);
    maintenance.ends_with(12);
    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, NODE);
    assert_eq!(uncordons(&requests), Vec::<&Value>::new());
}

#[tokio::test]
async fn somebody_else_claims_the_cordon_meanwhile() {
    let _lab = Lab::attach_with(&["--speed", "4"]);
    let client = lab_client().await;
    settled(&client).await;
    let from = lines_so_far();
    let maintenance = awaiting_the_restart(NODE);
    let claim = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "spec": {"unschedulable": true}});
    spec(&client, Patch::Apply(claim)).await;
    update();
    ends_cordoned(maintenance, from);
    assert!(is_cordoned(&client, NODE).await);
    given_back(&client).await;
}

#[tokio::test]
async fn somebody_else_uncordons_and_cordons_it_while_nobody_looks() {
    let _lab = Lab::attach_with(&["--speed", "4"]);
    let client = lab_client().await;
    settled(&client).await;
    let from = lines_so_far();
    let maintenance = awaiting_the_restart(NODE);
    maintenance
        .unaware(async {
            for cordoned in [false, true] {
                spec(
                    &client,
                    Patch::Merge(json!({"spec": {"unschedulable": cordoned}})),
                )
                .await;
            }
        })
        .await;
    update();
    ends_cordoned(maintenance, from);
    assert!(is_cordoned(&client, NODE).await);
    given_back(&client).await;
}

#[tokio::test]
async fn it_was_cordoned_before() {
    let _lab = Lab::attach_with(&["--speed", "4"]);
    let client = lab_client().await;
    settled(&client).await;
    cordon(&client, NODE, true).await;
    let from = lines_so_far();
    let mut maintenance = Maintenance::begin();
    assert_eq!(maintenance.until_named("cordoned")["already"], true);
    maintenance.until_named("left_cordoned");
    maintenance.ends_well();
    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, NODE);
    assert_eq!(uncordons(&requests), Vec::<&Value>::new());
    assert!(is_cordoned(&client, NODE).await);
    cordon(&client, NODE, false).await;
    settled(&client).await;
}

#[tokio::test]
async fn it_was_deleted_and_joined_again() {
    let lab = Lab::attach_with(&["--speed", "4", "--windows-nodes", "2"]);
    let client = lab_client().await;
    settled(&client).await;
    let nodes = Api::<Node>::all(client.clone());
    let from = lines_so_far();
    let mut maintenance = awaiting_the_restart(SECOND);
    let mut joined = None;
    maintenance
        .unaware(async {
            let mut node = nodes.get(SECOND).await.expect("the node");
            nodes
                .delete(SECOND, &DeleteParams::default())
                .await
                .expect("a deletion");
            node.metadata.uid = None;
            node.metadata.resource_version = None;
            // Restored from a backup, say: with the cordon and the record of the maintenance.
            joined = nodes.create(&PostParams::default(), &node).await.ok();
        })
        .await;
    let joined = joined.expect("the node again").metadata.creation_timestamp;
    let failed = maintenance.until_named("failed");
    let reason = failed["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("was deleted and joined again"), "{failed}");
    maintenance.ends_with(12);
    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, SECOND);
    let joined = joined.expect("its time").0.as_second();
    let later = requests
        .iter()
        .filter(|request| request["verb"] == "patch" && request["objectRef"]["resource"] == "nodes")
        .filter(|request| asked_at(request).timestamp() > joined);
    assert_eq!(later.count(), 0, "the other node is left alone");
    assert!(is_cordoned(&client, SECOND).await);
    nodes
        .delete(SECOND, &DeleteParams::default())
        .await
        .expect("a deletion");
    drop(lab);
}
