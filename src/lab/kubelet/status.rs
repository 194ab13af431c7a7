//! The status that a kubelet reports of a pod.

use super::facts::{ContainerFacts, PodFacts};
use crate::domain::Timestamp;
use crate::lab::text::{api_time, hex64};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// How far a pod is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// When the pod was accepted by the kubelet.
    pub accepted_at: Timestamp,
    /// When its containers started; `None` while they are created.
    pub running_since: Option<Timestamp>,
    /// When it became ready.
    pub ready_since: Option<Timestamp>,
    /// Restarts of all containers together.
    pub restarts: u32,
}

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
    let started = progress.running_since.is_some();
    let ready = progress.ready_since.is_some();
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
            started,
            progress.running_since.unwrap_or(progress.accepted_at),
        ),
        condition("Initialized", true, progress.accepted_at),
    ];
    for kind in ["Ready", "ContainersReady"] {
        let since = progress.ready_since.unwrap_or(progress.accepted_at);
        let mut readiness = condition(kind, ready, since);
        if !ready {
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
        "phase": if started { "Running" } else { "Pending" },
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
    if let Some(address) = addresses.pod {
        status["podIP"] = address.to_string().into();
        status["podIPs"] = json!([{"ip": address.to_string()}]);
    }
    status
}

fn container_status(
    pod: &PodFacts,
    position: usize,
    container: &ContainerFacts,
    progress: Progress,
) -> Value {
    let restarts = restarts_of(pod, position, progress.restarts);
    let mut status = json!({
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "restartCount": restarts,
        "started": progress.running_since.is_some(),
        "ready": progress.ready_since.is_some(),
        "lastState": {},
    });
    match progress.running_since {
        None => status["state"] = json!({"waiting": {"reason": "ContainerCreating"}}),
        Some(since) => {
            status["state"] = json!({"running": {"startedAt": api_time(since)}});
            status["containerID"] = container_id(pod, &container.name, restarts).into();
            status["imageID"] = image_id(&container.image).into();
            if restarts > 0 {
                // the node went down under it, which is how HostProcess containers end at a reboot
                status["lastState"] = json!({"terminated": {
                    "containerID": container_id(pod, &container.name, restarts - 1),
                    "exitCode": -1_073_741_510,
                    "reason": "Error",
                    "startedAt": api_time(progress.accepted_at),
                    "finishedAt": api_time(since - chrono::TimeDelta::seconds(30)),
                }});
            }
        }
    }
    status
}

fn init_status(pod: &PodFacts, container: &ContainerFacts, progress: Progress) -> Value {
    let at = api_time(progress.running_since.unwrap_or(progress.accepted_at));
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
        let progress = Progress {
            accepted_at: Utc::now(),
            running_since: None,
            ready_since: None,
            restarts: 0,
        };
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
        assert!(status.get("podIP").is_none());
    }

    #[test]
    fn a_running_pod_whose_probe_has_not_succeeded_is_not_ready() {
        let now = Utc::now();
        let progress = Progress {
            accepted_at: now - TimeDelta::seconds(6),
            running_since: Some(now),
            ready_since: None,
            restarts: 0,
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
}
