//! Evictions of pods that nobody schedules, against budgets that the cluster's own controller looks after.

use super::peer::{Answer, Peer, eventually, refusal};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// A pod of this name and app that is Running and ready.
async fn pod(peer: &Peer, name: &str) -> Value {
    let body = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": {
            "schedulerName": "nobody",
            "containers": [{ "name": "app", "image": "ghcr.io/example/hello:1.3" }],
        },
    });
    // The account of the namespace may be on its way.
    eventually(|| async {
        let answer = peer.post(PODS, &body).await;
        if answer.code == 201 {
            Ok(())
        } else {
            Err(answer.text)
        }
    })
    .await;
    let status = json!({ "status": {
        "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }],
    }});
    peer.patch(&format!("{PODS}/{name}/status"), &status).await.json()
}

/// A budget for the pods of this app that needs `least` of them, once its controller has seen it.
async fn budget(peer: &Peer, name: &str, app: &str, least: u32) {
    let body = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": { "name": name },
        "spec": { "minAvailable": least, "selector": { "matchLabels": { "app": app } } },
    });
    peer.post(BUDGETS, &body).await.json();
    eventually(|| async {
        let budget = peer.get(&format!("{BUDGETS}/{name}")).await.json();
        let status = &budget["status"];
        let seen = status["observedGeneration"] == budget["metadata"]["generation"]
            && status["currentHealthy"] == 1
            && status["desiredHealthy"] == least
            && status["expectedPods"] == 1
            && status["disruptionsAllowed"] == 1 - least;
        if seen { Ok(()) } else { Err(status.to_string()) }
    })
    .await;
}

async fn evict(peer: &Peer, name: &str, options: &Value, query: &str) -> Answer {
    let body = json!({
        "kind": "Eviction", "apiVersion": "policy/v1",
        "metadata": { "name": name, "namespace": "default" },
        "deleteOptions": options,
    });
    peer.post(&format!("{PODS}/{name}/eviction{query}"), &body).await
}

async fn remove(peer: &Peer, path: &str) {
    peer.delete(&format!("{path}?gracePeriodSeconds=0")).await.json();
}

pub async fn an_unknown_pod_is_not_found(peer: &Peer) {
    let answer = evict(peer, "contract-gone", &json!({}), "").await;
    assert_eq!(
        answer.refusal(),
        refusal(404, "NotFound", "pods \"contract-gone\" not found")
    );
}

pub async fn another_uid_is_a_conflict(peer: &Peer) {
    let name = "contract-uid";
    let pod = pod(peer, name).await;
    let uid = pod["metadata"]["uid"].as_str().unwrap();
    let answer = evict(peer, name, &json!({ "preconditions": { "uid": "another" } }), "").await;
    assert_eq!(
        answer.refusal(),
        refusal(
            409,
            "Conflict",
            &format!(
                "Operation cannot be fulfilled on Pod \"{name}\": the UID in the precondition (another) does not match \
                 the UID in record ({uid}). The object might have been deleted and then recreated"
            )
        )
    );
    remove(peer, &format!("{PODS}/{name}")).await;
}

pub async fn a_dry_run_changes_nothing(peer: &Peer) {
    let name = "contract-dry";
    let before = pod(peer, name).await;
    budget(peer, name, name, 0).await;
    let answer = evict(peer, name, &json!({}), "?dryRun=All").await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    let answer = evict(peer, name, &json!({ "dryRun": ["All"] }), "").await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    let after = peer.get(&format!("{PODS}/{name}")).await.json();
    assert_eq!(after, before);
    let budget = peer.get(&format!("{BUDGETS}/{name}")).await.json();
    assert_eq!(budget["status"]["disruptionsAllowed"], 1);
    assert!(
        budget["status"].get("disruptedPods").is_none(),
        "{}",
        budget["status"]
    );
    remove(peer, &format!("{BUDGETS}/{name}")).await;
    remove(peer, &format!("{PODS}/{name}")).await;
}

pub async fn a_budget_that_allows_none_refuses(peer: &Peer) {
    let name = "contract-kept";
    pod(peer, name).await;
    budget(peer, "contract-keeps", name, 1).await;
    for query in ["", "?dryRun=All"] {
        let answer = evict(peer, name, &json!({}), query).await;
        assert_eq!(
            answer.refusal(),
            refusal(
                429,
                "TooManyRequests",
                "Cannot evict pod as it would violate the pod's disruption budget."
            )
        );
        assert_eq!(
            answer.details(),
            json!({ "causes": [{
                "reason": "DisruptionBudget",
                "message": "The disruption budget contract-keeps needs 1 healthy pods and has 1 currently",
            }]})
        );
    }
    let pod = peer.get(&format!("{PODS}/{name}")).await.json();
    assert!(pod["metadata"].get("deletionTimestamp").is_none());
    remove(peer, &format!("{BUDGETS}/contract-keeps")).await;
    remove(peer, &format!("{PODS}/{name}")).await;
}

pub async fn two_budgets_are_an_error(peer: &Peer) {
    let name = "contract-twice";
    pod(peer, name).await;
    for one in ["contract-one", "contract-two"] {
        budget(peer, one, name, 0).await;
    }
    let answer = evict(peer, name, &json!({}), "").await;
    assert_eq!(
        answer.refusal(),
        refusal(
            500,
            "",
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    );
    for one in ["contract-one", "contract-two"] {
        remove(peer, &format!("{BUDGETS}/{one}")).await;
    }
    remove(peer, &format!("{PODS}/{name}")).await;
}

pub async fn a_pod_that_may_go_goes(peer: &Peer) {
    let name = "contract-goes";
    let pod = pod(peer, name).await;
    budget(peer, name, name, 0).await;
    let uid = &pod["metadata"]["uid"];
    let answer = evict(peer, name, &json!({ "preconditions": { "uid": uid } }), "").await;
    let status = answer.json();
    assert_eq!(
        (answer.code, &status["kind"], &status["status"], &status["code"]),
        (201, &json!("Status"), &json!("Success"), &json!(201))
    );
    // Without a node there is nobody to wait for.
    assert_eq!(peer.get(&format!("{PODS}/{name}")).await.code, 404);
    remove(peer, &format!("{BUDGETS}/{name}")).await;
}
