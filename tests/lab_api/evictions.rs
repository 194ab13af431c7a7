//! Evictions against disruption budgets.

use crate::support::{client, pod, refusal, run_pod, server};
use drainboard::lab::apiserver::User;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Api, Client, Error, ResourceExt};
use serde_json::{Value, json};

async fn evict(client: &Client, name: &str, options: &Value, query: &str) -> Result<Value, Error> {
    let body = json!({
        "kind": "Eviction", "apiVersion": "policy/v1", "metadata": { "name": name, "namespace": "default" },
        "deleteOptions": options,
    });
    let path = format!("/api/v1/namespaces/default/pods/{name}/eviction?{query}");
    let request = http::Request::post(path)
        .header("Content-Type", "application/json")
        .body(body.to_string().into_bytes())
        .unwrap();
    client.request(request).await
}

fn status(error: Error) -> Status {
    match error {
        Error::Api(status) => *status,
        other => panic!("no refusal of the server: {other}"),
    }
}

/// A budget for the pods of the app `hello`, with the status that its controller would have written.
async fn budget(client: &Client, name: &str, spec: &Value, status: &Value) -> Api<PodDisruptionBudget> {
    let budgets: Api<PodDisruptionBudget> = Api::default_namespaced(client.clone());
    let mut object = json!({ "metadata": { "name": name }, "spec": { "selector": { "matchLabels": { "app": "hello" } } } });
    for (field, value) in spec.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    budgets
        .create(&PostParams::default(), &serde_json::from_value(object).unwrap())
        .await
        .unwrap();
    let patch = json!({ "status": status });
    budgets
        .patch_status(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    budgets
}

fn hello() -> Value {
    json!({ "app": "hello" })
}

#[tokio::test]
async fn without_a_budget_the_pod_is_marked_and_says_why() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    run_pod(&admin, pod("a", Some("win-1"), &hello()), "10.0.0.1").await;
    evict(&admin, "a", &json!({}), "").await.unwrap();
    let pods: Api<Pod> = Api::default_namespaced(admin);
    let evicted = pods.get("a").await.unwrap();
    assert!(evicted.metadata.deletion_timestamp.is_some());
    let conditions = evicted.status.unwrap().conditions.unwrap();
    assert!(conditions.iter().any(|one| one.type_ == "DisruptionTarget"));
}

#[tokio::test]
async fn the_last_healthy_pod_stays() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    run_pod(&admin, pod("a", Some("win-1"), &hello()), "10.0.0.1").await;
    let observed =
        json!({ "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0 });
    budget(&admin, "hello", &json!({ "minAvailable": 1 }), &observed).await;
    let refused = status(evict(&admin, "a", &json!({}), "").await.unwrap_err());
    assert_eq!(refused.code, 429);
    assert_eq!(
        refused.message,
        "Cannot evict pod as it would violate the pod's disruption budget."
    );
    let cause = &refused.details.unwrap().causes[0];
    assert_eq!(cause.reason, "DisruptionBudget");
    assert_eq!(
        cause.message,
        "The disruption budget hello needs 1 healthy pods and has 1 currently"
    );
}

#[tokio::test]
async fn each_eviction_uses_up_one_allowed_disruption() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    for (name, address) in [("a", "10.0.0.1"), ("b", "10.0.0.2")] {
        run_pod(&admin, pod(name, Some("win-1"), &hello()), address).await;
    }
    let observed =
        json!({ "observedGeneration": 1, "currentHealthy": 2, "desiredHealthy": 1, "disruptionsAllowed": 1 });
    let budgets = budget(&admin, "hello", &json!({ "minAvailable": 1 }), &observed).await;
    evict(&admin, "a", &json!({}), "dryRun=All").await.unwrap();
    assert_eq!(
        budgets
            .get("hello")
            .await
            .unwrap()
            .status
            .unwrap()
            .disruptions_allowed,
        Some(1),
        "a dry run uses up nothing"
    );
    evict(&admin, "a", &json!({}), "").await.unwrap();
    let booked = budgets.get("hello").await.unwrap().status.unwrap();
    assert_eq!(booked.disruptions_allowed, Some(0));
    assert!(booked.disrupted_pods.unwrap().contains_key("a"));
    assert_eq!(refusal(evict(&admin, "b", &json!({}), "").await).0, 429);
}

#[tokio::test]
async fn a_budget_that_its_controller_has_not_seen_asks_for_patience() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    run_pod(&admin, pod("a", Some("win-1"), &hello()), "10.0.0.1").await;
    budget(
        &admin,
        "hello",
        &json!({ "minAvailable": 0 }),
        &json!({ "disruptionsAllowed": 1 }),
    )
    .await;
    let refused = status(evict(&admin, "a", &json!({}), "").await.unwrap_err());
    assert_eq!(refused.code, 429);
    let details = refused.details.unwrap();
    assert_eq!(details.retry_after_seconds, 10);
    assert_eq!(
        details.causes[0].message,
        "The disruption budget hello is still being processed by the server."
    );
}

#[tokio::test]
async fn an_unready_pod_may_go_while_enough_others_are_healthy_or_the_budget_does_not_care() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    for (name, address) in [("a", "10.0.0.1"), ("b", "10.0.0.2")] {
        run_pod(&admin, pod(name, Some("win-1"), &hello()), address).await;
        let pods: Api<Pod> = Api::default_namespaced(admin.clone());
        let unready = json!({ "status": { "conditions": [{ "type": "Ready", "status": "False" }] } });
        pods.patch_status(name, &PatchParams::default(), &Patch::Strategic(&unready))
            .await
            .unwrap();
    }
    let observed =
        json!({ "observedGeneration": 1, "currentHealthy": 0, "desiredHealthy": 1, "disruptionsAllowed": 0 });
    let budgets = budget(&admin, "hello", &json!({ "minAvailable": 1 }), &observed).await;
    assert_eq!(refusal(evict(&admin, "a", &json!({}), "").await).0, 429);
    let healthy = json!({ "status": { "currentHealthy": 1 } });
    budgets
        .patch_status("hello", &PatchParams::default(), &Patch::Merge(&healthy))
        .await
        .unwrap();
    evict(&admin, "a", &json!({}), "").await.unwrap();
    let tolerant = json!({ "spec": { "unhealthyPodEvictionPolicy": "AlwaysAllow" } });
    budgets
        .patch("hello", &PatchParams::default(), &Patch::Merge(&tolerant))
        .await
        .unwrap();
    evict(&admin, "b", &json!({}), "").await.unwrap();
}

#[tokio::test]
async fn two_budgets_for_one_pod_are_a_server_error() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    run_pod(&admin, pod("a", Some("win-1"), &hello()), "10.0.0.1").await;
    let observed = json!({ "observedGeneration": 1, "disruptionsAllowed": 1 });
    budget(&admin, "one", &json!({ "minAvailable": 0 }), &observed).await;
    budget(&admin, "two", &json!({ "minAvailable": 0 }), &observed).await;
    let (code, message) = refusal(evict(&admin, "a", &json!({}), "").await);
    assert_eq!(code, 500);
    assert!(message.contains("more than one PodDisruptionBudget"), "{message}");
}

#[tokio::test]
async fn a_pod_that_was_recreated_is_not_evicted_in_place_of_the_old_one() {
    let server = server().await;
    let admin = client(&server, User::Admin).await;
    let running = run_pod(&admin, pod("a", Some("win-1"), &hello()), "10.0.0.1").await;
    let (code, message) =
        refusal(evict(&admin, "a", &json!({ "preconditions": { "uid": "another" } }), "").await);
    assert_eq!(code, 409);
    assert!(
        message.contains("the UID in the precondition (another) does not match the UID in record"),
        "{message}"
    );
    evict(
        &admin,
        "a",
        &json!({ "preconditions": { "uid": running.uid().unwrap() } }),
        "",
    )
    .await
    .unwrap();
    let (code, message) = refusal(evict(&admin, "gone", &json!({}), "").await);
    assert_eq!((code, message.as_str()), (404, "pods \"gone\" not found"));
}
