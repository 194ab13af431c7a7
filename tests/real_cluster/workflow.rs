//! The guided maintenance on the real control plane: real scheduler, real controllers, real evictions.

use std::time::Duration;

use chrono::Utc;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use crate::lab::Lab;
use crate::maintenance::{Maintenance, NODE, SECOND, cordon, lab_client, settled};
use crate::read_only::{lines_so_far, requests_of_the_admin};
use crate::witness::{asked_at, evictions, nothing_improper, uncordoned_after_the_gate, uncordons};

#[tokio::test]
async fn a_budget_lets_the_second_pod_leave_when_a_second_node_has_its_replacement() {
    let lab = Lab::attach_with(&["--speed", "4", "--windows-nodes", "2"]);
    let client = lab_client().await;
    settled(&client).await;
    cordon(&client, SECOND, true).await;
    let budgets = Api::<PodDisruptionBudget>::namespaced(client.clone(), "win-demo");
    let budget: PodDisruptionBudget = serde_json::from_value(json!({
        "metadata": {"name": "hello-win"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "hello-win"}}},
    }))
    .expect("a budget");
    budgets
        .create(&PostParams::default(), &budget)
        .await
        .expect("a budget");

    let from = lines_so_far();
    let mut maintenance = Maintenance::begin();
    let preflight = maintenance.until_named("preflight");
    assert_eq!(
        (&preflight["leaving"], &preflight["staying"]),
        (&json!(7), &json!(5)),
        "{preflight}"
    );
    let blocked = maintenance.until("hello-win blocked", |event| {
        event["event"] == "blocked"
            && event["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("hello-win"))
    });
    assert!(
        blocked["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("hello-win")),
        "{blocked}"
    );
    let uid = blocked["uid"].as_str().expect("a UID").to_owned();

    // The other six leave; the blocked one stays while nothing takes its replacement.
    tokio::time::sleep(Duration::from_secs(3)).await;
    cordon(&client, SECOND, false).await;
    let allowed_at = loop {
        let status = budgets
            .get("hello-win")
            .await
            .expect("the budget")
            .status
            .expect("its status");
        if status.disruptions_allowed.is_some_and(|allowed| allowed > 0) {
            break Utc::now();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    maintenance.until("the blocked pod gone", |event| {
        event["event"] == "evicted" && event["uid"] == uid.as_str()
    });
    maintenance.until_named("drained");
    maintenance.ends_well();

    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, NODE);
    uncordoned_after_the_gate(&requests, &maintenance.heard);
    assert_eq!(uncordons(&requests).len(), 1);
    assert!(evictions(&requests).len() >= 7);
    let accepted = requests
        .iter()
        .filter(|request| request["objectRef"]["subresource"] == "eviction")
        .filter(|request| request["responseStatus"]["code"] == 201)
        .find(|request| request["requestObject"]["deleteOptions"]["preconditions"]["uid"] == uid.as_str())
        .expect("the eviction that was accepted");
    let after = asked_at(accepted) - allowed_at;
    println!(
        "the second pod's eviction came {} ms after the budget was seen to allow it",
        after.num_milliseconds()
    );
    assert!(after.num_milliseconds() < 3_000, "{after}");

    budgets
        .delete("hello-win", &DeleteParams::default())
        .await
        .expect("a deletion");
    let nodes = Api::<Node>::all(client.clone());
    nodes
        .delete(SECOND, &DeleteParams::default())
        .await
        .expect("a deletion");
    drop(lab);
}
