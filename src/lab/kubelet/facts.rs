//! What a kubelet needs to know of a pod.

use crate::domain::Name;
use crate::domain::quantity;
use k8s_openapi::api::core::v1::{Container, Pod, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A pod as its kubelet sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct PodFacts {
    pub namespace: Name,
    pub name: Name,
    pub uid: Name,
    pub node: Name,
    pub app: Name,
    pub labels: Arc<BTreeMap<String, String>>,
    pub host_network: bool,
    pub host_process: bool,
    /// `restartPolicy: Never`.
    pub runs_once: bool,
    /// Environment of its first container, as far as it is written out.
    pub environment: Arc<BTreeMap<String, String>>,
    /// Claims that it mounts.
    pub claims: Arc<[Name]>,
    pub containers: Vec<ContainerFacts>,
    pub init_containers: Vec<ContainerFacts>,
    /// Longest sleep of a `preStop` hook, seconds.
    pub pre_stop_seconds: u64,
    /// A graceful deletion is under way: its grace period in seconds.
    pub deletion_grace_seconds: Option<u64>,
}

/// A container as its kubelet sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerFacts {
    pub name: Name,
    pub image: Name,
    pub startup: Option<ProbeFacts>,
    pub readiness: Option<ProbeFacts>,
    pub liveness: Option<ProbeFacts>,
    pub memory_limit_bytes: Option<u64>,
    pub cpu_limit_millicores: Option<u64>,
}

/// A probe as the kubelet performs it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeFacts {
    /// Port and path of an HTTP probe; others do not need the pod's network.
    pub http: Option<(u16, Name)>,
    /// Seconds between two probes.
    pub period_seconds: u32,
    /// Failures in a row that count.
    pub failures: u32,
}

impl PodFacts {
    /// The facts of a pod that is bound to a node.
    pub fn of(pod: &Pod) -> Option<Self> {
        let spec = pod.spec.as_ref()?;
        let metadata = &pod.metadata;
        let name: Name = metadata.name.as_deref()?.into();
        let labels = metadata.labels.clone().unwrap_or_default();
        let app = labels
            .get("app.kubernetes.io/name")
            .map_or_else(|| name.clone(), |app| app.as_str().into());
        let host_process = spec
            .security_context
            .as_ref()
            .and_then(|context| context.windows_options.as_ref())
            .and_then(|options| options.host_process)
            .unwrap_or(false);
        let init = spec.init_containers.as_deref().unwrap_or_default();
        Some(Self {
            namespace: metadata.namespace.as_deref()?.into(),
            uid: metadata.uid.as_deref()?.into(),
            node: spec.node_name.as_deref()?.into(),
            app,
            labels: Arc::new(labels),
            host_network: spec.host_network.unwrap_or(false),
            host_process,
            runs_once: spec.restart_policy.as_deref() == Some("Never"),
            environment: Arc::new(spec.containers.first().map(environment).unwrap_or_default()),
            claims: spec
                .volumes
                .iter()
                .flatten()
                .filter_map(|volume| volume.persistent_volume_claim.as_ref())
                .map(|claim| claim.claim_name.as_str().into())
                .collect(),
            containers: spec.containers.iter().map(ContainerFacts::of).collect(),
            init_containers: init.iter().map(ContainerFacts::of).collect(),
            pre_stop_seconds: spec.containers.iter().map(pre_stop_seconds).max().unwrap_or(0),
            deletion_grace_seconds: metadata.deletion_timestamp.as_ref().map(|_| {
                metadata
                    .deletion_grace_period_seconds
                    .and_then(|seconds| u64::try_from(seconds).ok())
                    .unwrap_or(0)
            }),
            name,
        })
    }

    /// Whether a container has to be probed before the pod is ready.
    pub fn probed(&self) -> bool {
        self.containers
            .iter()
            .any(|container| container.startup.is_some() || container.readiness.is_some())
    }
}

impl ContainerFacts {
    fn of(container: &Container) -> Self {
        let limit = |name: &str| {
            let limits = container.resources.as_ref()?.limits.as_ref()?;
            limits.get(name).map(|quantity| quantity.0.as_str())
        };
        let probe = |probe: Option<&Probe>| probe.map(|probe| ProbeFacts::of(probe, container));
        Self {
            name: container.name.as_str().into(),
            image: container.image.as_deref().unwrap_or_default().into(),
            startup: probe(container.startup_probe.as_ref()),
            readiness: probe(container.readiness_probe.as_ref()),
            liveness: probe(container.liveness_probe.as_ref()),
            memory_limit_bytes: limit("memory").and_then(|text| quantity::bytes(text).ok()),
            cpu_limit_millicores: limit("cpu").and_then(|text| quantity::millicores(text).ok()),
        }
    }
}

impl ProbeFacts {
    fn of(probe: &Probe, container: &Container) -> Self {
        let http = probe.http_get.as_ref().and_then(|get| {
            let port = port_number(&get.port, container)?;
            Some((port, get.path.as_deref().unwrap_or("/").into()))
        });
        // the API's defaults
        let or = |number: Option<i32>, default| number.and_then(|n| u32::try_from(n).ok()).unwrap_or(default);
        Self {
            http,
            period_seconds: or(probe.period_seconds, 10),
            failures: or(probe.failure_threshold, 3),
        }
    }
}

/// The number behind a port that may be a name.
fn port_number(port: &IntOrString, container: &Container) -> Option<u16> {
    let number = match port {
        IntOrString::Int(number) => *number,
        IntOrString::String(name) => {
            container
                .ports
                .iter()
                .flatten()
                .find(|port| port.name.as_deref() == Some(name))?
                .container_port
        }
    };
    u16::try_from(number).ok()
}

fn environment(container: &Container) -> BTreeMap<String, String> {
    let all = container.env.iter().flatten();
    all.filter_map(|one| Some((one.name.clone(), one.value.clone()?)))
        .collect()
}

fn pre_stop_seconds(container: &Container) -> u64 {
    container
        .lifecycle
        .as_ref()
        .and_then(|lifecycle| lifecycle.pre_stop.as_ref())
        .and_then(|hook| hook.sleep.as_ref())
        .and_then(|sleep| u64::try_from(sleep.seconds).ok())
        .unwrap_or(0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lab::article::workloads;

    /// The first pod of a workload of the article, as it comes back from the API server.
    pub fn article_pod(workload: &str) -> Pod {
        let workload = workloads()
            .into_iter()
            .find(|candidate| candidate.name == workload)
            .unwrap();
        let mut object = workload.pod_object(&workload.pods[0]);
        object["metadata"]["uid"] = "3b4bacb8-8648-4657-b537-50eb6d76f8e6".into();
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn hello_win_is_probed_and_sleeps_before_it_stops() {
        let facts = PodFacts::of(&article_pod("hello-win")).unwrap();
        assert_eq!(&*facts.app, "hello-win");
        assert!(facts.probed());
        let startup = ProbeFacts {
            http: Some((8080, "/healthz".into())),
            period_seconds: 2,
            failures: 30,
        };
        assert_eq!(facts.containers[0].startup, Some(startup));
        assert_eq!(facts.pre_stop_seconds, 5);
        assert_eq!(facts.containers[0].memory_limit_bytes, Some(268_435_456));
        assert_eq!(facts.deletion_grace_seconds, None);
    }

    #[test]
    fn the_windows_exporter_runs_on_the_host_itself() {
        let facts = PodFacts::of(&article_pod("kps-prometheus-windows-exporter")).unwrap();
        assert!(facts.host_process && facts.host_network);
        assert_eq!(facts.init_containers.len(), 1);
    }

    #[test]
    fn a_pod_that_is_not_bound_is_no_kubelets_business() {
        let mut pod = article_pod("hello-win");
        pod.spec.as_mut().unwrap().node_name = None;
        assert_eq!(PodFacts::of(&pod), None);
    }
}
