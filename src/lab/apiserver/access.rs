//! The reviews that a user makes about himself: `kubectl auth can-i`, `kubectl auth whoami`.

use super::failure::{Failure, Outcome};
use super::json::text;
use super::users::{Access, User, Users};
use serde_json::{Value, json};

/// Answers a review.
///
/// # Errors
/// 404 for a review that is not served.
pub fn review(users: &Users, user: Option<User>, resource: &str, body: &Value) -> Outcome<Value> {
    match resource {
        "selfsubjectaccessreviews" => Ok(access_review(users, user, body)),
        "selfsubjectrulesreviews" => Ok(rules_review(users, user, body)),
        "selfsubjectreviews" => Ok(json!({
            "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {},
            "status": { "userInfo": {
                "username": user.map_or("system:anonymous", User::name),
                "groups": [if user.is_some() { "system:authenticated" } else { "system:unauthenticated" }],
            }},
        })),
        _ => Err(Failure::unknown_path()),
    }
}

fn access_review(users: &Users, user: Option<User>, body: &Value) -> Value {
    let attributes = &body["spec"]["resourceAttributes"];
    let resource = match text(attributes, "/subresource") {
        "" => text(attributes, "/resource").to_owned(),
        subresource => format!("{}/{subresource}", text(attributes, "/resource")),
    };
    let access = Access {
        verb: text(attributes, "/verb"),
        group: text(attributes, "/group"),
        resource: &resource,
        namespace: text(attributes, "/namespace"),
    };
    let allowed = if attributes.is_object() {
        users.allows(user, &access)
    } else {
        // Paths outside of the resources (health, version, metrics): who may do everything may do that.
        let verb = text(body, "/spec/nonResourceAttributes/verb");
        users.allows(
            user,
            &Access {
                verb,
                group: "*",
                resource: "*",
                namespace: "",
            },
        )
    };
    let mut status = json!({ "allowed": allowed });
    if allowed {
        status["reason"] = json!("RBAC: allowed by the rights of the lab's user");
    }
    json!({
        "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
        "metadata": {}, "spec": body["spec"], "status": status,
    })
}

fn rules_review(users: &Users, user: Option<User>, body: &Value) -> Value {
    let namespace = text(body, "/spec/namespace");
    let rules: Vec<Value> = user
        .map(|user| users.rights(user))
        .unwrap_or_default()
        .iter()
        .filter(|right| right.namespace.as_deref().is_none_or(|own| own == namespace))
        .map(|right| json!({ "verbs": right.verbs, "apiGroups": right.groups, "resources": right.resources }))
        .collect();
    json!({
        "kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": body["spec"],
        "status": {
            "resourceRules": rules, "incomplete": false,
            "nonResourceRules": [{ "verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version"] }],
        },
    })
}
