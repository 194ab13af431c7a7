//! What the audit log of the real API server says of a maintenance.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

/// When it happened, by drainboard.
fn time(event: &Value) -> DateTime<Utc> {
    event["at"]
        .as_str()
        .and_then(|at| at.parse().ok())
        .expect("a time")
}

/// When the server received it.
pub fn asked_at(request: &Value) -> DateTime<Utc> {
    request["requestReceivedTimestamp"]
        .as_str()
        .and_then(|at| at.parse().ok())
        .expect("a time")
}

fn answered_at(request: &Value) -> DateTime<Utc> {
    request["stageTimestamp"]
        .as_str()
        .and_then(|at| at.parse().ok())
        .expect("a time")
}

fn of<'a>(requests: &'a [Value], verb: &str, resource: &str, subresource: &str) -> Vec<&'a Value> {
    let is = |request: &&Value| {
        let object = &request["objectRef"];
        request["verb"] == verb
            && object["resource"] == resource
            && object["subresource"].as_str().unwrap_or_default() == subresource
    };
    requests.iter().filter(is).collect()
}

/// The evictions that were asked for.
pub fn evictions(requests: &[Value]) -> Vec<&Value> {
    of(requests, "create", "pods", "eviction")
}

/// Patches of nodes that leave a node without cordon.
pub fn uncordons(requests: &[Value]) -> Vec<&Value> {
    let mut patches = of(requests, "patch", "nodes", "");
    patches.retain(|patch| {
        let spec = &patch["requestObject"]["spec"];
        spec.as_object()
            .is_some_and(|spec| spec.contains_key("unschedulable"))
            && spec["unschedulable"] != true
    });
    patches
}

/// Any maintenance: no pod deleted; evictions with a UID and no grace period that nobody asked for, never two of a pod
/// within a second; no write to a node but patches; "drained" by a fresh list that was asked for after the last eviction.
pub fn nothing_improper(requests: &[Value], events: &[Value], node: &str) {
    for (verb, resource) in [
        ("delete", "pods"),
        ("deletecollection", "pods"),
        ("update", "nodes"),
        ("delete", "nodes"),
    ] {
        let found = of(requests, verb, resource, "");
        assert!(found.is_empty(), "{found:#?}");
    }
    let evictions = evictions(requests);
    let mut by_pod = BTreeMap::<String, Vec<DateTime<Utc>>>::new();
    for eviction in &evictions {
        let options = &eviction["requestObject"]["deleteOptions"];
        assert!(options["preconditions"]["uid"].is_string(), "{eviction:#}");
        assert!(options["gracePeriodSeconds"].is_null(), "{eviction:#}");
        let uid = options["preconditions"]["uid"].to_string();
        by_pod.entry(uid).or_default().push(asked_at(eviction));
    }
    for times in by_pod.values_mut() {
        times.sort_unstable();
        for pair in times.windows(2) {
            // The server notes when it received a request; the pause is between two sendings.
            assert!((pair[1] - pair[0]).num_milliseconds() > 900, "{times:?}");
        }
    }
    let drained = events.iter().find(|event| event["event"] == "drained");
    let drained = time(drained.expect("drained"));
    let accepted = evictions
        .iter()
        .filter(|eviction| eviction["responseStatus"]["code"] == 201)
        .filter(|eviction| asked_at(eviction) < drained);
    let last = accepted.map(|eviction| answered_at(eviction)).max();
    let lists = of(requests, "list", "pods", "");
    let fresh = lists.iter().any(|list| {
        let uri = list["requestURI"].as_str().unwrap_or_default();
        uri.contains(&format!("fieldSelector=spec.nodeName%3D{node}"))
            && !uri.contains("resourceVersion=")
            && list["responseStatus"]["code"] == 200
            && last.is_none_or(|last| asked_at(list) >= last)
            && answered_at(list) <= drained
    });
    assert!(fresh, "no fresh list between {last:?} and {drained}");
}

/// Uncordoned once at most, and after the network gate.
pub fn uncordoned_after_the_gate(requests: &[Value], events: &[Value]) {
    let gate = events.iter().find(|event| event["event"] == "network_ready");
    let gate = time(gate.expect("network_ready"));
    let uncordons = uncordons(requests);
    assert!(uncordons.len() <= 1, "{uncordons:#?}");
    for uncordon in uncordons {
        assert!(
            asked_at(uncordon) >= gate,
            "uncordoned before the network gate held"
        );
    }
}
