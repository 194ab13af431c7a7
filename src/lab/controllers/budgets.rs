//! Status of disruption budgets.

use super::action::Action;
use super::replicas::count;
use super::snapshot::{Snapshot, active, controller_uid, ready, selects};
use crate::lab::client::{Merge, ObjectPath};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::json;
use std::collections::BTreeSet;

/// Budgets whose status is not what the pods say.
pub fn decide(snapshot: &Snapshot) -> Vec<Action> {
    snapshot
        .budgets
        .iter()
        .filter_map(|budget| status(budget, snapshot))
        .collect()
}

fn status(budget: &PodDisruptionBudget, snapshot: &Snapshot) -> Option<Action> {
    let spec = budget.spec.as_ref()?;
    let namespace = budget.metadata.namespace.as_deref()?;
    let name = budget.metadata.name.as_deref()?;
    let selector = spec.selector.as_ref()?;
    let pods: Vec<&Pod> = snapshot
        .pods
        .iter()
        .filter(|pod| pod.metadata.namespace.as_deref() == Some(namespace))
        .filter(|pod| selects(selector, &pod.metadata) && active(pod))
        .collect();
    let expected = expected(&pods, snapshot);
    let desired = match (&spec.min_available, &spec.max_unavailable) {
        (Some(least), _) => scaled(least, expected),
        (None, Some(most)) => (expected - scaled(most, expected)).max(0),
        // the API's default: at most one pod is disrupted
        (None, None) => (expected - 1).max(0),
    };
    let healthy = count(pods.iter().filter(|pod| ready(pod)).count());
    let allowed = if expected > 0 {
        (healthy - desired).max(0)
    } else {
        0
    };
    let has = budget.status.as_ref();
    let same = has.is_some_and(|has| {
        has.current_healthy == Some(healthy)
            && has.desired_healthy == Some(desired)
            && has.disruptions_allowed == Some(allowed)
            && has.expected_pods == Some(expected)
            && has.observed_generation == budget.metadata.generation
    });
    (!same).then(|| {
        let path = ObjectPath::namespaced("/apis/policy/v1", "poddisruptionbudgets", namespace, name);
        let status = json!({
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": budget.metadata.generation,
            "conditions": [{
                "type": "DisruptionAllowed",
                "status": if allowed > 0 { "True" } else { "False" },
                "reason": if allowed > 0 { "SufficientPods" } else { "InsufficientPods" },
                "message": "",
                "lastTransitionTime": crate::lab::text::api_time(chrono::Utc::now()),
            }],
        });
        Action::Status(path, Merge::Plain, status)
    })
}

/// How many pods there should be: the sum of what their controllers want.
fn expected(pods: &[&Pod], snapshot: &Snapshot) -> i32 {
    let owners: BTreeSet<_> = pods
        .iter()
        .filter_map(|pod| controller_uid(&pod.metadata))
        .collect();
    let bare = pods
        .iter()
        .filter(|pod| controller_uid(&pod.metadata).is_none())
        .count();
    let wanted: i32 = snapshot
        .replica_sets
        .iter()
        .filter(|set| {
            set.metadata
                .uid
                .as_deref()
                .is_some_and(|uid| owners.contains(uid))
        })
        .map(|set| set.spec.replicas.unwrap_or(1))
        .sum();
    wanted + count(bare)
}

/// A number, or a percentage of `whole`, rounded up.
fn scaled(amount: &IntOrString, whole: i32) -> i32 {
    match amount {
        IntOrString::Int(number) => *number,
        IntOrString::String(text) => text
            .strip_suffix('%')
            .and_then(|percent| percent.parse::<i32>().ok())
            .map_or(0, |percent| (whole * percent + 99) / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::article;
    use super::*;
    use serde_json::Value;

    fn status_of_hello(snapshot: &Snapshot) -> Value {
        match decide(snapshot).pop() {
            Some(Action::Status(_, _, status)) => status,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_of_two_hello_pods_may_go() {
        let status = status_of_hello(&article());
        assert_eq!(
            (&status["currentHealthy"], &status["disruptionsAllowed"]),
            (&json!(2), &json!(1))
        );
    }

    #[test]
    fn with_one_of_two_unready_none_may_go() {
        let mut snapshot = article();
        let hello = snapshot
            .pods
            .iter_mut()
            .find(|pod| pod.metadata.namespace.as_deref() == Some("demo"))
            .unwrap();
        hello.status = None;
        let status = status_of_hello(&snapshot);
        assert_eq!(status["disruptionsAllowed"], 0);
        assert_eq!(status["expectedPods"], 2);
    }

    #[test]
    fn percentages_round_up() {
        assert_eq!(scaled(&IntOrString::String("50%".to_owned()), 3), 2);
        assert_eq!(scaled(&IntOrString::Int(2), 3), 2);
    }
}
