//! What the server serves: the discovery documents, whole (aggregated) and group by group, and the version.

use super::aggregate::Aggregated;
use super::failure::json_response;
use super::kinds::{self, Kind};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const OBJECT_VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// A subresource with the kind of its body.
struct Sub {
    name: &'static str,
    kind: &'static str,
    /// Group and version of the body when it is not the resource's own.
    group_version: Option<(&'static str, &'static str)>,
    verbs: &'static [&'static str],
}

const STATUS_VERBS: &[&str] = &["get", "patch", "update"];
const PROXY_VERBS: &[&str] = &["create", "delete", "get", "patch", "update"];

fn subresources(kind: &Kind) -> Vec<Sub> {
    let mut subs = Vec::new();
    match kind.kind {
        "Pod" => {
            subs.push(Sub {
                name: "binding",
                kind: "Binding",
                group_version: None,
                verbs: &["create"],
            });
            subs.push(Sub {
                name: "eviction",
                kind: "Eviction",
                group_version: Some(("policy", "v1")),
                verbs: &["create"],
            });
            subs.push(Sub {
                name: "log",
                kind: "Pod",
                group_version: None,
                verbs: &["get"],
            });
            subs.push(Sub {
                name: "proxy",
                kind: "PodProxyOptions",
                group_version: None,
                verbs: PROXY_VERBS,
            });
        }
        "Service" => {
            subs.push(Sub {
                name: "proxy",
                kind: "ServiceProxyOptions",
                group_version: None,
                verbs: PROXY_VERBS,
            });
        }
        _ => {}
    }
    if kind.status {
        subs.push(Sub {
            name: "status",
            kind: kind.kind,
            group_version: None,
            verbs: STATUS_VERBS,
        });
    }
    subs
}

/// The reviews that every user may create about himself.
const REVIEWS: [(&str, &str, &str); 3] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    (
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "SelfSubjectAccessReview",
    ),
    (
        "authorization.k8s.io",
        "selfsubjectrulesreviews",
        "SelfSubjectRulesReview",
    ),
];

fn group_names() -> Vec<&'static str> {
    let mut names = kinds::groups();
    for (group, _, _) in REVIEWS {
        if !names.contains(&group) {
            names.push(group);
        }
    }
    names
}

/// `/version`.
pub fn version() -> Value {
    json!({
        "major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "37", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "36", "gitVersion": "v1.37.2", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "2026-10-13T00:00:00Z", "goVersion": "", "compiler": "gc", "platform": "linux/amd64",
    })
}

/// The discovery document at `path`, if there is one.
pub async fn answer(path: &str, headers: &HeaderMap, aggregated: &[Aggregated]) -> Option<Response> {
    let whole = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("as=APIGroupDiscoveryList") && accept.contains("v=v2"));
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let body = match parts.as_slice() {
        ["version"] => version(),
        ["api"] if whole => return Some(as_aggregated(&json!([group_discovery("")]))),
        ["apis"] if whole => {
            let own = group_names().into_iter().map(group_discovery);
            let foreign = futures::future::join_all(aggregated.iter().map(Aggregated::discovery)).await;
            return Some(as_aggregated(&Value::Array(own.chain(foreign).collect())));
        }
        ["api"] => json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1" }],
        }),
        ["apis"] => {
            let own = group_names().into_iter().map(|name| group(name, "v1"));
            let foreign = aggregated.iter().map(|api| group(&api.group, &api.version));
            json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": own.chain(foreign).collect::<Vec<_>>() })
        }
        ["api", "v1"] => resource_list(""),
        ["apis", name] => {
            let known = group_names().into_iter().find(|known| known == name)?;
            let mut body = group(known, "v1");
            body["kind"] = json!("APIGroup");
            body["apiVersion"] = json!("v1");
            body
        }
        ["apis", name, "v1"] => resource_list(group_names().into_iter().find(|known| known == name)?),
        _ => return None,
    };
    Some(json_response(StatusCode::OK, &body))
}

fn as_aggregated(items: &Value) -> Response {
    let body = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    });
    ([(header::CONTENT_TYPE, AGGREGATED)], body.to_string()).into_response()
}

fn group(name: &str, version: &str) -> Value {
    let version = json!({ "groupVersion": format!("{name}/{version}"), "version": version });
    json!({ "name": name, "versions": [version], "preferredVersion": version })
}

fn group_version(group: &str) -> String {
    if group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{group}/v1")
    }
}

/// One group of the aggregated document.
fn group_discovery(group: &str) -> Value {
    let scope = |namespaced: bool| if namespaced { "Namespaced" } else { "Cluster" };
    let mut resources: Vec<Value> = kinds::all()
        .filter(|kind| kind.group == group)
        .map(|kind| {
            let mut resource = json!({
                "resource": kind.plural, "singularResource": kind.singular, "scope": scope(kind.namespaced),
                "responseKind": { "group": kind.group, "version": kind.version, "kind": kind.kind },
                "verbs": OBJECT_VERBS,
            });
            if !kind.short.is_empty() {
                resource["shortNames"] = json!(kind.short);
            }
            if !kind.categories.is_empty() {
                resource["categories"] = json!(kind.categories);
            }
            let subs: Vec<Value> = subresources(kind)
                .into_iter()
                .map(|sub| {
                    let (group, version) = sub.group_version.unwrap_or((kind.group, kind.version));
                    json!({
                        "subresource": sub.name, "verbs": sub.verbs,
                        "responseKind": { "group": group, "version": version, "kind": sub.kind },
                    })
                })
                .collect();
            if !subs.is_empty() {
                resource["subresources"] = Value::Array(subs);
            }
            resource
        })
        .collect();
    for (_, plural, kind) in REVIEWS.iter().filter(|(own, _, _)| *own == group) {
        resources.push(json!({
            "resource": plural, "singularResource": kind.to_lowercase(), "scope": "Cluster", "verbs": ["create"],
            "responseKind": { "group": group, "version": "v1", "kind": kind },
        }));
    }
    let mut metadata = json!({ "creationTimestamp": null });
    if !group.is_empty() {
        metadata["name"] = json!(group);
    }
    json!({ "metadata": metadata, "versions": [{ "version": "v1", "freshness": "Current", "resources": resources }] })
}

/// The resources of one group in the older form.
fn resource_list(group: &str) -> Value {
    let mut resources = Vec::new();
    for kind in kinds::all().filter(|kind| kind.group == group) {
        let mut resource = json!({
            "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind,
            "verbs": OBJECT_VERBS,
        });
        if !kind.short.is_empty() {
            resource["shortNames"] = json!(kind.short);
        }
        if !kind.categories.is_empty() {
            resource["categories"] = json!(kind.categories);
        }
        resources.push(resource);
        for sub in subresources(kind) {
            let mut resource = json!({
                "name": format!("{}/{}", kind.plural, sub.name), "singularName": "", "namespaced": kind.namespaced,
                "kind": sub.kind, "verbs": sub.verbs,
            });
            if let Some((group, version)) = sub.group_version {
                resource["group"] = json!(group);
                resource["version"] = json!(version);
            }
            resources.push(resource);
        }
    }
    for (_, plural, kind) in REVIEWS.iter().filter(|(own, _, _)| *own == group) {
        resources.push(json!({
            "name": plural, "singularName": kind.to_lowercase(), "namespaced": false, "kind": kind, "verbs": ["create"],
        }));
    }
    json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version(group), "resources": resources,
    })
}
