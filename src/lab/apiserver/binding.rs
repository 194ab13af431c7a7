//! `pods/binding`: how a scheduler puts a pod on a node.

use super::failure::{Failure, Outcome, json_response};
use super::json::{set_condition, text, timestamp};
use super::kinds::PODS;
use super::objects::Objects;
use super::request::{Query, Target};
use super::update::Part;
use axum::response::Response;
use chrono::Utc;
use http::StatusCode;
use serde_json::{Value, json};

/// Binds a pod to the node that the body names.
///
/// # Errors
/// 404 without the pod, 409 when it is being deleted or has a node already.
pub fn bind(objects: &Objects, target: &Target, query: &Query, binding: &Value) -> Outcome<Response> {
    let node = text(binding, "/target/name");
    let place = (target.namespace.as_str(), target.name.as_str());
    let conflict = |why: String| {
        let message = format!(
            "Operation cannot be fulfilled on pods/binding {:?}: {why}",
            target.name
        );
        Failure::new(409, "Conflict", message)
    };
    if node.is_empty() {
        return Err(Failure::bad_request("target.name: Required value"));
    }
    let bound = objects.update(&PODS, place, Part::Main, query.dry_run(), |pod| {
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            return Err(conflict(format!(
                "pod {} is being deleted, cannot be assigned to a host",
                target.name
            )));
        }
        let current = text(pod, "/spec/nodeName");
        if !current.is_empty() {
            return Err(conflict(format!(
                "pod {} is already assigned to node {current:?}",
                target.name
            )));
        }
        let mut bound = pod.clone();
        bound["spec"]["nodeName"] = json!(node);
        Ok(bound)
    })?;
    let condition = json!({ "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": timestamp(Utc::now()) });
    objects.update(&PODS, place, Part::Status, query.dry_run(), |pod| {
        let mut scheduled = pod.clone();
        set_condition(&mut scheduled, condition);
        Ok(scheduled)
    })?;
    tracing::debug!(pod = target.name, node = text(&bound, "/spec/nodeName"), "bound");
    let status =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    Ok(json_response(StatusCode::CREATED, &status))
}
