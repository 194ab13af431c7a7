//! One eviction: policy/v1, with the UID as precondition, and what its answer means.

use super::ask::{JSON, asked, body, is_missing, may_pass, words};
use crate::maintenance::effect::Eviction;
use crate::maintenance::pods::PodRef;
use crate::sources::kubernetes::detail::segment;
use crate::sources::kubernetes::failure::{Asked, clean};
use crate::sources::kubernetes::http::{ApiServer, Reply};
use crate::sources::kubernetes::wire::Status;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// The cause of a refusal by a budget.
const BUDGET: &str = "DisruptionBudget";

/// Asks once for the eviction of this incarnation of the pod. kube's own `Api::evict` drops the delete options.
pub async fn evict(api: &ApiServer, pod: &PodRef, grace_seconds: Option<u32>) -> Eviction {
    send(api, pod, &eviction(pod, grace_seconds)).await
}

/// Asks how the eviction would be answered: nothing is evicted, and no budget counts it.
pub async fn try_out(api: &ApiServer, pod: &PodRef) -> Eviction {
    let mut eviction = eviction(pod, None);
    eviction["deleteOptions"]["dryRun"] = json!(["All"]);
    send(api, pod, &eviction).await
}

async fn send(api: &ApiServer, pod: &PodRef, eviction: &Value) -> Eviction {
    let path = format!(
        "/api/v1/namespaces/{}/pods/{}/eviction",
        segment(&pod.namespace),
        segment(&pod.name)
    );
    match api
        .exchange(Method::POST, &path, Some(body(JSON, eviction)))
        .await
    {
        Ok(reply) => judge(&reply, pod),
        Err(failure) => Eviction::Retry(words(&failure, &question(pod))),
    }
}

fn question(pod: &PodRef) -> Asked {
    asked(
        "create",
        format!("pods/eviction of {} in namespace {}", pod.name, pod.namespace),
    )
}

fn eviction(pod: &PodRef, grace_seconds: Option<u32>) -> Value {
    let mut options = json!({"preconditions": {"uid": &*pod.uid}});
    if let Some(seconds) = grace_seconds {
        options["gracePeriodSeconds"] = seconds.into();
    }
    json!({
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"namespace": &*pod.namespace, "name": &*pod.name},
        "deleteOptions": options,
    })
}

/// The answers of `pkg/registry/core/pod/storage/eviction.go` and of the server around it.
fn judge(reply: &Reply, pod: &PodRef) -> Eviction {
    let question = question(pod);
    if matches!(reply.code, 200..=299) {
        return match reply.json::<Status<'_>>() {
            Ok(status) if &*status.status == "Success" => Eviction::Accepted,
            Ok(_) => Eviction::Retry(format!(
                "cannot {} {}: the answer is no success of an API server",
                question.verb, question.object
            )),
            Err(failure) => Eviction::Retry(words(&failure, &question)),
        };
    }
    if is_missing(reply, &pod.name) {
        return Eviction::Gone;
    }
    let status = reply.status().unwrap_or_default();
    let failure = reply.failure();
    match reply.code {
        409 if status.message.contains("UID") => Eviction::Replaced,
        429 => {
            let retry_after = reply.retry_after.or_else(|| asked_to_wait(&status));
            match status.cause(BUDGET) {
                Some(cause) => Eviction::Blocked {
                    message: clean(&format!("{} {}", &*status.message, &*cause.message)),
                    retry_after,
                },
                None => Eviction::Throttled { retry_after },
            }
        }
        403 if status.cause("NamespaceTerminating").is_some() => Eviction::NamespaceTerminating,
        // A budget in disorder: no permission would help.
        403 if status.cause(BUDGET).is_some() => {
            let cause = status.cause(BUDGET).map(|cause| clean(&cause.message));
            Eviction::Refused(format!("{failure}: {}", cause.unwrap_or_default()))
        }
        500 if status.message.contains("more than one PodDisruptionBudget") => {
            Eviction::SeveralBudgets(clean(&status.message))
        }
        // The pod is not what this 404 is about.
        404 => Eviction::Retry(words(&failure, &question)),
        _ if may_pass(&failure) => Eviction::Retry(words(&failure, &question)),
        _ => Eviction::Refused(words(&failure, &question)),
    }
}

fn asked_to_wait(status: &Status<'_>) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds?;
    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> PodRef {
        PodRef {
            namespace: "win-demo".into(),
            name: "hello-win-1".into(),
            uid: "1".into(),
        }
    }

    /// What the answer with this code and `Status` means.
    fn judged(code: u16, message: &str, details: &Value) -> Eviction {
        judge(&Reply::new(code, None, &status(message, details)), &pod())
    }

    fn status(message: &str, details: &Value) -> Value {
        json!({"kind": "Status", "status": "Failure", "message": message, "details": details})
    }

    #[test]
    fn a_grace_period_is_sent_only_if_the_operator_asked_for_one() {
        let sent = eviction(&pod(), None);
        assert_eq!(sent["deleteOptions"], json!({"preconditions": {"uid": "1"}}));
        let sent = eviction(&pod(), Some(0));
        assert_eq!(sent["deleteOptions"]["gracePeriodSeconds"], 0);
    }

    #[test]
    fn a_budget_is_told_from_a_server_that_wants_fewer_requests() {
        let causes = json!({"causes": [{"reason": "DisruptionBudget", "message": "hello needs 1 healthy pods and has 1"}],
            "retryAfterSeconds": 10});
        let blocked = judged(429, "Cannot evict pod.\u{1b}[2J", &causes);
        assert_eq!(
            blocked,
            Eviction::Blocked {
                message: "Cannot evict pod. hello needs 1 healthy pods and has 1".to_owned(),
                retry_after: Some(Duration::from_secs(10)),
            }
        );
        let reply = Reply::new(
            429,
            Some(Duration::from_secs(3)),
            &status("Too many requests", &json!({})),
        );
        let throttled = Eviction::Throttled {
            retry_after: Some(Duration::from_secs(3)),
        };
        assert_eq!(judge(&reply, &pod()), throttled);
    }

    #[test]
    fn a_pod_is_gone_only_when_the_server_names_it() {
        assert_eq!(
            judged(
                404,
                "pods \"hello-win-1\" not found",
                &json!({"name": "hello-win-1", "kind": "pods"})
            ),
            Eviction::Gone
        );
        let elsewhere = judged(
            404,
            "the server could not find the requested resource",
            &json!({}),
        );
        assert!(matches!(elsewhere, Eviction::Retry(_)), "{elsewhere:?}");
    }

    #[test]
    fn another_uid_is_another_pod_and_another_conflict_passes() {
        let uid = "Operation cannot be fulfilled on Pod \"hello-win-1\": the UID in the precondition (1) does not match";
        assert_eq!(judged(409, uid, &json!({})), Eviction::Replaced);
        let other = judged(409, "the object has been modified", &json!({}));
        assert!(matches!(other, Eviction::Retry(_)), "{other:?}");
    }

    #[test]
    fn refusals_say_which_permission_is_missing() {
        let refused = judged(403, "pods \"hello-win-1\" is forbidden", &json!({}));
        let Eviction::Refused(text) = refused else {
            panic!("{refused:?}")
        };
        assert!(
            text.contains("ask for a role that may create pods/eviction"),
            "{text}"
        );
        for code in [400, 405, 422] {
            let refused = judged(code, "no", &json!({}));
            assert!(matches!(refused, Eviction::Refused(_)), "{code}: {refused:?}");
        }
        let corrupt = judged(
            403,
            "pdb disruptions allowed is negative",
            &json!({"causes": [{"reason": "DisruptionBudget", "message": "the budget hello is corrupt"}]}),
        );
        let Eviction::Refused(text) = corrupt else {
            panic!("{corrupt:?}")
        };
        assert!(
            text.contains("hello is corrupt") && !text.contains("role"),
            "{text}"
        );
    }

    #[test]
    fn namespaces_budgets_and_servers_in_trouble() {
        let causes = json!({"causes": [{"reason": "NamespaceTerminating", "message": "being terminated"}]});
        assert_eq!(judged(403, "forbidden", &causes), Eviction::NamespaceTerminating);
        let two = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        assert_eq!(
            judged(500, two, &Value::Null),
            Eviction::SeveralBudgets(two.to_owned())
        );
        for code in [401, 408, 500, 502, 503, 504] {
            let passes = judged(code, "try again", &Value::Null);
            assert!(matches!(passes, Eviction::Retry(_)), "{code}: {passes:?}");
        }
    }

    #[test]
    fn a_page_of_a_proxy_is_no_acceptance() {
        let page = judge(&Reply::new(200, None, &json!("<html>")), &pod());
        assert!(matches!(page, Eviction::Retry(_)), "{page:?}");
        let accepted = Reply::new(201, None, &json!({"kind": "Status", "status": "Success"}));
        assert_eq!(judge(&accepted, &pod()), Eviction::Accepted);
    }
}
