//! The status that a kubelet reports of a pod.

use super::facts::{ContainerFacts, PodFacts};
use super::progress::{Containers, LastRun, Progress};
use crate::domain::Timestamp;
use crate::lab::text::{api_time, hex64};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// Addresses in a pod's status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Addresses {
    /// Of the node.
    pub host: Ipv4Addr,
    /// Of the pod, once its sandbox exists.
    pub pod: Option<Ipv4Addr>,
}

/// Id of the current run of a container, with its scheme.
pub fn container_id(pod: &PodFacts, container: &str, run: u32) -> String {
    format!(
        "containerd://{}",
        hex64(&format!("{}/{container}/{run}", pod.uid))
    )
}

/// How often one container restarted, when all of the pod together restarted `restarts` times.
pub fn restarts_of(pod: &PodFacts, position: usize, restarts: u32) -> u32 {
    let count = u32::try_from(pod.containers.len().max(1)).unwrap_or(1);
    let position = u32::try_from(position).unwrap_or(0);
    restarts / count + u32::from(position < restarts % count)
}

/// The whole status.
pub fn pod_status(pod: &PodFacts, progress: Progress, addresses: Addresses) -> Value {
    let running_since = progress.containers.since();
    let ready_since = progress.containers.ready_since();
    let has_sandbox = !matches!(
        progress.containers,
        Containers::Creating | Containers::Dead | Containers::Ended | Containers::Completed
    );
    let began = running_since.is_some() || progress.last_run.is_some();
    let condition = |kind: &str, holds: bool, since: Timestamp| {
        json!({
            "type": kind,
            "status": if holds { "True" } else { "False" },
            "lastProbeTime": null,
            "lastTransitionTime": api_time(since),
        })
    };
    let mut conditions = vec![
        condition(
            "PodReadyToStartContainers",
            has_sandbox,
            running_since.unwrap_or(progress.accepted_at),
        ),
        condition("Initialized", true, progress.accepted_at),
    ];
    for kind in ["Ready", "ContainersReady"] {
        let lost_at = progress.last_run.map(|run| run.finished_at);
        let since = ready_since.or(lost_at).unwrap_or(progress.accepted_at);
        let mut readiness = condition(kind, ready_since.is_some(), since);
        if ready_since.is_none() {
            let names: Vec<_> = pod.containers.iter().map(|container| &*container.name).collect();
            readiness["reason"] = "ContainersNotReady".into();
            readiness["message"] = format!("containers with unready status: [{}]", names.join(" ")).into();
        }
        conditions.push(readiness);
    }
    conditions.push(condition("PodScheduled", true, progress.accepted_at));
    let containers = pod
        .containers
        .iter()
        .enumerate()
        .map(|(position, container)| container_status(pod, position, container, progress));
    let mut status = json!({
        "phase": phase(began, progress),
        "conditions": conditions,
        "hostIP": addresses.host.to_string(),
        "hostIPs": [{"ip": addresses.host.to_string()}],
        "startTime": api_time(progress.accepted_at),
        "containerStatuses": containers.collect::<Vec<_>>(),
    });
    if !pod.init_containers.is_empty() {
        let finished = pod
            .init_containers
            .iter()
            .map(|container| init_status(pod, container, progress));
        status["initContainerStatuses"] = finished.collect();
    }
    // null takes away an address that the pod had before
    status["podIP"] = json!(addresses.pod);
    status["podIPs"] = json!(addresses.pod.map(|address| json!([{"ip": address}])));
    status
}

fn phase(began: bool, progress: Progress) -> &'static str {
    match (progress.containers, progress.last_run) {
        (Containers::Completed, Some(LastRun { exit_code: 0, .. })) => "Succeeded",
        (Containers::Completed, _) => "Failed",
        _ if began => "Running",
        _ => "Pending",
    }
}

fn container_status(
    pod: &PodFacts,
    position: usize,
    container: &ContainerFacts,
    progress: Progress,
) -> Value {
    let run = restarts_of(pod, position, progress.restarts);
    let id = |run: u32| container_id(pod, &container.name, run);
    let running_since = progress.containers.since();
    let mut status = json!({
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "restartCount": run,
        "started": running_since.is_some(),
        "ready": progress.containers.ready_since().is_some(),
        "lastState": {},
    });
    let (state, last) = match progress.containers {
        Containers::Running { since, .. } => {
            let last = progress
                .last_run
                .filter(|_| run > 0)
                .map(|last| terminated(last, &id(run - 1)));
            (json!({"running": {"startedAt": api_time(since)}}), last)
        }
        Containers::Creating => (json!({"waiting": {"reason": "ContainerCreating"}}), None),
        Containers::BackOff { seconds } => {
            let message = format!(
                "back-off {seconds}s restarting failed container={} pod={}_{}({})",
                container.name, pod.name, pod.namespace, pod.uid
            );
            (
                json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}}),
                progress.last_run.map(|last| terminated(last, &id(run))),
            )
        }
        Containers::Dead | Containers::Ended | Containers::Completed => {
            let ended = progress.last_run.map(|last| terminated(last, &id(run)));
            (ended.unwrap_or_default(), None)
        }
    };
    if !matches!(progress.containers, Containers::Creating) {
        status["containerID"] = id(run).into();
        status["imageID"] = image_id(&container.image).into();
    }
    status["state"] = state;
    if let Some(last) = last {
        status["lastState"] = last;
    }
    status
}

fn terminated(run: LastRun, id: &str) -> Value {
    json!({"terminated": {
        "containerID": id,
        "exitCode": run.exit_code,
        "reason": run.reason,
        "startedAt": api_time(run.started_at),
        "finishedAt": api_time(run.finished_at),
    }})
}

fn init_status(pod: &PodFacts, container: &ContainerFacts, progress: Progress) -> Value {
    let at = api_time(progress.containers.since().unwrap_or(progress.accepted_at));
    let id = container_id(pod, &container.name, 0);
    json!({
        "name": container.name,
        "image": container.image,
        "imageID": image_id(&container.image),
        "containerID": id,
        "restartCount": 0,
        "started": false,
        "ready": true,
        "lastState": {},
        "state": {"terminated": {
            "containerID": id, "exitCode": 0, "reason": "Completed", "startedAt": at, "finishedAt": at,
        }},
    })
}

/// Repository and digest of an image. The digest of `hello:1.3` is that of its index, shared by all platforms.
fn image_id(image: &str) -> String {
    let after_slash = image.rfind('/').unwrap_or(0);
    let repository = image
        .rfind(':')
        .filter(|colon| *colon > after_slash)
        .and_then(|colon| image.get(..colon))
        .unwrap_or(image);
    let digest = if image == "ghcr.io/example/hello:1.3" {
        "912dccf9f068f7210f3673cbf4e8f14dc66772a47ed59b3264746f46ffdd180c".to_owned()
    } else {
        hex64(image)
    };
    format!("{repository}@sha256:{digest}")
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::article_pod;
    use super::*;
    use chrono::{TimeDelta, Utc};

    const HOST: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 25);

    fn facts(workload: &str) -> PodFacts {
        PodFacts::of(&article_pod(workload)).unwrap()
    }

    #[test]
    fn while_its_containers_are_created_a_pod_is_pending_and_has_no_container_id() {
        let progress = Progress::new(Utc::now());
        let status = pod_status(
            &facts("hello-win"),
            progress,
            Addresses {
                host: HOST,
                pod: None,
            },
        );
        assert_eq!(status["phase"], "Pending");
        let container = &status["containerStatuses"][0];
        assert_eq!(container["state"]["waiting"]["reason"], "ContainerCreating");
        assert!(container.get("containerID").is_none());
        assert!(status["podIP"].is_null());
    }

    #[test]
    fn a_running_pod_whose_probe_has_not_succeeded_is_not_ready() {
        let now = Utc::now();
        let progress = Progress {
            containers: Containers::running(now),
            ..Progress::new(now - TimeDelta::seconds(6))
        };
        let addresses = Addresses {
            host: HOST,
            pod: Some(Ipv4Addr::new(172, 21, 41, 16)),
        };
        let status = pod_status(&facts("hello-win"), progress, addresses);
        assert_eq!(status["phase"], "Running");
        assert_eq!(status["containerStatuses"][0]["ready"], false);
        assert_eq!(status["podIP"], "172.21.41.16");
    }

    #[test]
    fn the_restarts_of_a_pod_are_shared_out_among_its_containers() {
        let pod = facts("calico-node-windows");
        let shares: u32 = (0..2).map(|position| restarts_of(&pod, position, 7)).sum();
        assert_eq!(shares, 7);
    }
    #[test]
    fn a_pod_whose_machine_went_down_is_unknown_and_its_next_run_remembers_that() {
        let now = Utc::now();
        let addresses = Addresses {
            host: HOST,
            pod: None,
        };
        let pod = facts("hello-win");
        let dead = Progress {
            containers: Containers::Dead,
            last_run: Some(LastRun::lost(now - TimeDelta::minutes(42), now)),
            ..Progress::new(now - TimeDelta::minutes(42))
        };
        let status = pod_status(&pod, dead, addresses);
        assert_eq!(status["phase"], "Running");
        let lost = &status["containerStatuses"][0]["state"]["terminated"];
        assert_eq!(
            (&lost["reason"], &lost["exitCode"]),
            (&json!("Unknown"), &json!(255))
        );

        let again = Progress {
            containers: Containers::running(now),
            restarts: 1,
            ..dead
        };
        let status = pod_status(&pod, again, addresses);
        let container = &status["containerStatuses"][0];
        assert_eq!(container["restartCount"], 1);
        assert_eq!(
            container["lastState"]["terminated"]["containerID"],
            lost["containerID"]
        );
        assert_ne!(container["containerID"], lost["containerID"]);
    }

    #[test]
    fn a_container_that_waits_for_its_restart_is_in_crashloopbackoff() {
        let now = Utc::now();
        let progress = Progress {
            containers: Containers::BackOff { seconds: 10 },
            restarts: 1,
            last_run: Some(LastRun::killed(now, now)),
            ..Progress::new(now)
        };
        let addresses = Addresses {
            host: HOST,
            pod: Some(Ipv4Addr::new(172, 21, 41, 4)),
        };
        let status = pod_status(&facts("hello-win"), progress, addresses);
        let waiting = &status["containerStatuses"][0]["state"]["waiting"];
        assert_eq!(waiting["reason"], "CrashLoopBackOff");
        assert!(
            waiting["message"]
                .as_str()
                .unwrap()
                .starts_with("back-off 10s restarting failed container=hello")
        );
    }
}
