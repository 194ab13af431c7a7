//! `pods/eviction`: deletes a pod if its disruption budget allows it, with the answers of the real server
//! (`pkg/registry/core/pod/storage/eviction.go` of Kubernetes 1.37), in its order: budget first, preconditions then.

use super::deletion::{self, Deletion};
use super::failure::{Failure, Outcome, json_response};
use super::json::{condition, condition_is_true, set_condition, text, timestamp};
use super::kinds::{POD_DISRUPTION_BUDGETS, PODS};
use super::objects::Objects;
use super::request::{Query, Target};
use super::selectors::{selector_of, selects};
use super::update::Part;
use super::write;
use axum::response::Response;
use chrono::{DateTime, Utc};
use http::StatusCode;
use serde_json::{Value, json};

/// The cause in a refusal by a budget.
const CAUSE: &str = "DisruptionBudget";
/// A budget with more unconfirmed evictions than this allows none.
const MOST_UNCONFIRMED: usize = 2000;

/// Evicts a pod.
///
/// # Errors
/// 404 without the pod, 429 when the budget does not allow it, 500 with more than one budget, 409 when a precondition
/// does not hold, 400 when the body names another pod.
pub fn evict(
    objects: &Objects,
    target: &Target,
    query: &Query,
    eviction: &Value,
    now: DateTime<Utc>,
) -> Outcome<Response> {
    let (namespace, name) = (target.namespace.as_str(), target.name.as_str());
    if !matches!(text(eviction, "/kind"), "" | "Eviction") {
        return Err(Failure::bad_request("the object provided is not an Eviction"));
    }
    if text(eviction, "/metadata/name") != name {
        return Err(Failure::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let deletion = write::deletion(query, &eviction["deleteOptions"])?;
    let pod = objects.get(&PODS, namespace, name)?;
    if !budget_is_ignored(&pod) {
        ask_budget(objects, &pod, deletion.dry_run, now)?;
    }
    delete(objects, namespace, name, &deletion, now)?;
    let status =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    Ok(json_response(StatusCode::CREATED, &status))
}

/// A pod that has ended, has not started or is being deleted already is no loss.
fn budget_is_ignored(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed" | "Pending")
        || pod.pointer("/metadata/deletionTimestamp").is_some()
}

fn budgets_of(objects: &Objects, pod: &Value) -> Vec<String> {
    let (_, budgets) = objects.list(&POD_DISRUPTION_BUDGETS);
    budgets
        .into_iter()
        .filter(|((namespace, _), budget)| {
            namespace == text(pod, "/metadata/namespace")
                && budget
                    .pointer("/spec/selector")
                    .is_some_and(|it| selects(&selector_of(it), pod))
        })
        .map(|((_, name), _)| name)
        .collect()
}

/// Asks the budget of the pod, if there is one, and books the disruption.
fn ask_budget(objects: &Objects, pod: &Value, dry_run: bool, now: DateTime<Utc>) -> Outcome<()> {
    let budgets = budgets_of(objects, pod);
    let name = match budgets.as_slice() {
        [] => return Ok(()),
        [name] => name,
        _ => {
            let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Failure::new(500, "", message));
        }
    };
    let namespace = text(pod, "/metadata/namespace");
    let pod_name = text(pod, "/metadata/name");
    let ready = condition_is_true(pod, "Ready");
    objects.update(
        &POD_DISRUPTION_BUDGETS,
        (namespace, name),
        Part::Status,
        dry_run,
        |budget| {
            if !ready && unready_may_go(budget) {
                return Ok(budget.clone());
            }
            book(budget, pod_name, now)
        },
    )?;
    Ok(())
}

/// An unready pod does not count as available, so that it may go while enough others are healthy.
fn unready_may_go(budget: &Value) -> bool {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    text(budget, "/spec/unhealthyPodEvictionPolicy") == "AlwaysAllow"
        || (status("currentHealthy") >= status("desiredHealthy") && status("desiredHealthy") > 0)
}

/// The budget with one disruption less and the pod noted for the controller.
fn book(budget: &Value, pod: &str, now: DateTime<Utc>) -> Outcome<Value> {
    let name = text(budget, "/metadata/name");
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let allowed = status("disruptionsAllowed");
    if status("observedGeneration") < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        let mut failure = refused(&why);
        failure.retry_after = Some(10);
        failure.details["retryAfterSeconds"] = json!(10);
        return Err(failure);
    }
    if allowed < 0 {
        return Err(corrupt(
            name,
            "pdb disruptions allowed is negative",
            "pdb disruptions allowed is negative",
        ));
    }
    if budget["status"]["disruptedPods"]
        .as_object()
        .is_some_and(|pods| pods.len() > MOST_UNCONFIRMED)
    {
        return Err(corrupt(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        ));
    }
    if allowed == 0 {
        return Err(refused(&why_none_allowed(budget)));
    }
    let mut booked = budget.clone();
    booked["status"]["disruptionsAllowed"] = json!(allowed - 1);
    booked["status"]["disruptedPods"][pod] = json!(timestamp(now));
    if allowed == 1 {
        set_condition(
            &mut booked,
            json!({
                "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
                "observedGeneration": status("observedGeneration"), "lastTransitionTime": timestamp(now),
            }),
        );
    }
    Ok(booked)
}

fn refused(why: &str) -> Failure {
    Failure::new(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    .cause(CAUSE, why)
}

fn corrupt(name: &str, message: &str, why: &str) -> Failure {
    let cause = format!("The disruption budget {name} does not allow evicting pods currently: {why}");
    Failure::forbidden(&POD_DISRUPTION_BUDGETS, name, message).cause(CAUSE, &cause)
}

fn why_none_allowed(budget: &Value) -> String {
    let name = text(budget, "/metadata/name");
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let explained = condition(budget, "DisruptionAllowed")
        .filter(|one| text(one, "/status") == "False" && !text(one, "/message").is_empty());
    let no = format!("The disruption budget {name} does not allow evicting pods currently");
    match explained {
        Some(condition) if text(condition, "/reason") == "SyncFailed" => {
            format!("{no} because it failed sync: {}", text(condition, "/message"))
        }
        _ if status("currentHealthy") <= status("desiredHealthy") => format!(
            "The disruption budget {name} needs {} healthy pods and has {} currently",
            status("desiredHealthy"),
            status("currentHealthy")
        ),
        Some(condition) => format!(
            "{no} ({}): {}",
            text(condition, "/reason"),
            text(condition, "/message")
        ),
        None => no,
    }
}

/// Notes on the pod why it goes, and deletes it.
fn delete(
    objects: &Objects,
    namespace: &str,
    name: &str,
    options: &Deletion,
    now: DateTime<Utc>,
) -> Outcome<()> {
    let mut options = options.clone();
    if !options.dry_run {
        let noted = objects.update(&PODS, (namespace, name), Part::Status, false, |pod| {
            deletion::check(&PODS, pod, &options)?;
            Ok(with_disruption_target(pod, now))
        })?;
        if options.resource_version.is_some() {
            // The note was our own change of the pod.
            options.resource_version = Some(text(&noted, "/metadata/resourceVersion").to_owned());
        }
    }
    objects.delete(&PODS, namespace, name, &options, now)?;
    Ok(())
}

fn with_disruption_target(pod: &Value, now: DateTime<Utc>) -> Value {
    let mut pod = pod.clone();
    let noted = condition(&pod, "DisruptionTarget").is_some();
    if !noted {
        set_condition(
            &mut pod,
            json!({
                "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting", "lastProbeTime": null, "lastTransitionTime": timestamp(now),
            }),
        );
    }
    pod
}
