//! What we may do, by the API server's own word.

use super::AT_ONCE;
use crate::maintenance::preflight::permissions::Access;
use crate::maintenance::preflight::survey::Known;
use crate::sources::kubernetes::http::ApiServer;
use crate::sources::kubernetes::maintain::ask::{JSON, asked, body, words};
use futures::StreamExt;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

#[derive(Deserialize)]
struct Review {
    status: ReviewStatus,
}

#[derive(Deserialize)]
struct ReviewStatus {
    allowed: bool,
}

/// Asks for each permission.
pub async fn ask(api: &ApiServer, needed: Vec<Access>) -> Vec<(Access, Known<bool>)> {
    let questions = needed.into_iter().map(|access| async move {
        let allowed = is_allowed(api, &access).await;
        (access, allowed)
    });
    futures::stream::iter(questions).buffered(AT_ONCE).collect().await
}

async fn is_allowed(api: &ApiServer, access: &Access) -> Known<bool> {
    let reply = api
        .exchange(Method::POST, REVIEWS, Some(body(JSON, &review(access))))
        .await;
    reply
        .and_then(|reply| Ok(reply.json::<Review>()?.status.allowed))
        .map_err(|failure| words(&failure, &asked("create", "selfsubjectaccessreviews")))
}

fn review(access: &Access) -> Value {
    json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "verb": access.verb,
            "group": access.group,
            "resource": access.resource,
            "subresource": access.subresource,
            "namespace": access.namespace.as_deref().unwrap_or_default(),
            "name": access.name.as_deref().unwrap_or_default(),
        }},
    })
}
