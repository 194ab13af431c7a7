//! How far such a pod is, by its object alone.

use crate::domain::text::{sanitise, truncate};
use k8s_openapi::api::core::v1::{ContainerState, Pod};

/// Longest text of the kubelet that is passed on, in cells.
const LONGEST_TEXT: usize = 300;

/// How far a pod is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not started: why, as far as the kubelet said it.
    Waiting(String),
    /// Its script runs.
    Running,
    /// Its script ended with this code.
    Ended(i32),
    /// It will not run, or not to its end: why.
    Failed(String),
}

/// Reasons of a container that waits for something which will not come by itself. `ErrImagePull` is not among them: the
/// kubelet tries once more before it calls it `ImagePullBackOff`.
const HOPELESS: [&str; 7] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
];

/// How far the pod is.
pub fn standing(pod: &Pod) -> Standing {
    let Some(status) = &pod.status else {
        return Standing::Waiting(String::new());
    };
    let phase = status.phase.as_deref().unwrap_or_default();
    let said = |reason: Option<&String>, message: Option<&String>| {
        let parts = [reason, message].into_iter().flatten();
        let parts: Vec<&str> = parts
            .map(|part| part.trim())
            .filter(|part| !part.is_empty())
            .collect();
        truncate(sanitise(&parts.join(": ")).as_ref(), LONGEST_TEXT).into_owned()
    };
    let of_pod = said(status.reason.as_ref(), status.message.as_ref());
    // The kubelet refused it, evicted it, or ended it at its deadline.
    if phase == "Failed" && !of_pod.is_empty() {
        return Standing::Failed(of_pod);
    }
    let mut statuses = status.container_statuses.iter().flatten();
    let state = statuses.find_map(|container| container.state.as_ref());
    match state {
        Some(ContainerState {
            terminated: Some(end),
            ..
        }) => Standing::Ended(end.exit_code),
        Some(ContainerState { running: Some(_), .. }) => Standing::Running,
        Some(ContainerState {
            waiting: Some(waiting),
            ..
        }) => {
            let text = said(waiting.reason.as_ref(), waiting.message.as_ref());
            let hopeless = waiting
                .reason
                .as_deref()
                .is_some_and(|reason| HOPELESS.contains(&reason));
            if hopeless {
                Standing::Failed(text)
            } else {
                Standing::Waiting(text)
            }
        }
        _ if matches!(phase, "Succeeded" | "Failed") => {
            Standing::Failed(format!("it is {phase}, and nothing is said of its container"))
        }
        _ => Standing::Waiting(of_pod),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(status: &Value) -> Standing {
        standing(&serde_json::from_value(json!({"metadata": {}, "status": status})).unwrap())
    }

    fn container(state: &Value) -> Value {
        json!([{"name": "script", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state}])
    }

    #[test]
    fn a_pod_that_the_kubelet_has_not_seen_waits() {
        assert_eq!(of(&json!({"phase": "Pending"})), Standing::Waiting(String::new()));
        assert_eq!(standing(&Pod::default()), Standing::Waiting(String::new()));
    }

    #[test]
    fn an_image_that_cannot_be_pulled_is_given_a_second_try() {
        let waiting = |reason: &str| {
            let state = json!({"waiting": {"reason": reason, "message": "pull access denied\u{1b}[2J"}});
            of(&json!({"phase": "Pending", "containerStatuses": container(&state)}))
        };
        assert_eq!(
            waiting("ErrImagePull"),
            Standing::Waiting("ErrImagePull: pull access denied".to_owned())
        );
        assert_eq!(
            waiting("ImagePullBackOff"),
            Standing::Failed("ImagePullBackOff: pull access denied".to_owned())
        );
        assert!(matches!(waiting("ContainerCreating"), Standing::Waiting(_)));
    }

    #[test]
    fn the_exit_code_counts_whatever_it_is() {
        for (phase, code) in [("Succeeded", 0), ("Failed", 1190), ("Failed", -1_073_741_502)] {
            let state = json!({"terminated": {"exitCode": code}});
            let status = json!({"phase": phase, "containerStatuses": container(&state)});
            assert_eq!(of(&status), Standing::Ended(code));
        }
    }

    #[test]
    fn a_pod_that_the_kubelet_ended_or_refused_says_why() {
        let late = json!({
            "phase": "Failed", "reason": "DeadlineExceeded",
            "message": "Pod was active on the node longer than the specified deadline",
            "containerStatuses": container(&json!({"terminated": {"exitCode": 137}})),
        });
        assert_eq!(
            of(&late),
            Standing::Failed(
                "DeadlineExceeded: Pod was active on the node longer than the specified deadline".to_owned()
            )
        );
        let silent = json!({"phase": "Succeeded"});
        assert!(matches!(of(&silent), Standing::Failed(_)));
    }
}
