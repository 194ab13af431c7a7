//! The Kubernetes objects of a workload: Deployment, controller, pods.

use super::container::Container;
use super::workload::{Confinement, PodSeed, Volume, Workload, WorkloadKind};
use crate::domain::object::Os;
use crate::lab::article::RUNTIME_CLASS;
use crate::lab::world::os_name;
use serde_json::{Map, Value, json};

impl Workload {
    /// What the selector asks of a pod's labels.
    fn selector(&self) -> Map<String, Value> {
        Map::from_iter([("app.kubernetes.io/name".to_owned(), self.app.into())])
    }

    /// Labels of the pod template.
    fn template_labels(&self) -> Map<String, Value> {
        let mut labels = self.selector();
        for (key, value) in &self.labels {
            labels.insert((*key).to_owned(), (*value).into());
        }
        labels
    }

    /// Labels of a pod: those of the template, and what its controller adds.
    fn pod_labels(&self, pod: &PodSeed) -> Map<String, Value> {
        let mut labels = self.template_labels();
        match self.kind {
            WorkloadKind::Deployment(hash) => {
                labels.insert("pod-template-hash".to_owned(), hash.into());
            }
            WorkloadKind::DaemonSet => {
                labels.insert("pod-template-generation".to_owned(), "1".into());
            }
            WorkloadKind::StatefulSet => {
                labels.insert(
                    "statefulset.kubernetes.io/pod-name".to_owned(),
                    pod.name.as_str().into(),
                );
            }
            WorkloadKind::StaticPod => {}
        }
        labels
    }

    fn pod_spec(&self) -> Value {
        let manifest = |containers: &[Container]| -> Vec<Value> {
            containers
                .iter()
                .map(|container| container.manifest(self.os, self.host_network))
                .collect()
        };
        let mut spec = json!({
            "containers": manifest(&self.containers),
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": if self.host_network { "ClusterFirstWithHostNet" } else { "ClusterFirst" },
            "nodeSelector": {"kubernetes.io/os": os_name(self.os)},
        });
        if !self.init_containers.is_empty() {
            spec["initContainers"] = manifest(&self.init_containers).into();
        }
        if self.host_network {
            spec["hostNetwork"] = true.into();
        }
        if self.critical {
            spec["priorityClassName"] = "system-node-critical".into();
        }
        if !self.volumes.is_empty() {
            let volumes = self.volumes.iter().map(|(name, volume)| match volume {
                Volume::Claim(claim) => json!({"name": name, "persistentVolumeClaim": {"claimName": claim}}),
                Volume::EmptyDir => json!({"name": name, "emptyDir": {}}),
            });
            spec["volumes"] = Value::Array(volumes.collect());
        }
        if self.confinement == Confinement::Restricted {
            spec["securityContext"] = json!({
                "runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"},
            });
            for container in spec["containers"].as_array_mut().into_iter().flatten() {
                container["securityContext"] =
                    json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
            }
        }
        if self.os == Os::Windows {
            spec["os"] = json!({"name": "windows"});
        }
        if let Some(user) = self.host_process_user {
            spec["securityContext"] = json!({"windowsOptions": {"hostProcess": true, "runAsUserName": user}});
        }
        if self.confinement == Confinement::RuntimeClass {
            spec["runtimeClassName"] = RUNTIME_CLASS.into();
            spec["securityContext"] = json!({
                "runAsNonRoot": true,
                "windowsOptions": {"runAsUserName": "ContainerUser"},
            });
        }
        match self.kind {
            WorkloadKind::DaemonSet => {
                spec["tolerations"] = json!([{"operator": "Exists", "effect": "NoSchedule"}]);
            }
            WorkloadKind::StaticPod => {
                spec["tolerations"] = json!([{"operator": "Exists", "effect": "NoExecute"}]);
            }
            _ if self.critical => {
                spec["tolerations"] = json!([{
                    "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule",
                }]);
            }
            _ => {}
        }
        spec
    }

    fn template(&self, labels: &Map<String, Value>) -> Value {
        json!({"metadata": {"labels": labels}, "spec": self.pod_spec()})
    }

    fn meta(&self, name: &str) -> Value {
        json!({"namespace": self.namespace, "name": name, "labels": self.template_labels()})
    }

    /// The object that controls the pods: `ReplicaSet`, DaemonSet or `StatefulSet`; none for a static pod.
    pub fn controller(&self) -> Option<Value> {
        let replicas = self.pods.len();
        let template = |labels: &Map<String, Value>| self.template(labels);
        match self.kind {
            WorkloadKind::Deployment(hash) => {
                let mut labels = self.template_labels();
                labels.insert("pod-template-hash".to_owned(), hash.into());
                let mut selector = self.selector();
                selector.insert("pod-template-hash".to_owned(), hash.into());
                let mut metadata = self.meta(&format!("{}-{hash}", self.name));
                metadata["labels"] = labels.clone().into();
                metadata["annotations"] = json!({
                    "deployment.kubernetes.io/desired-replicas": replicas.to_string(),
                    "deployment.kubernetes.io/revision": "1",
                });
                Some(json!({
                    "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata,
                    "spec": {
                        "replicas": replicas,
                        "selector": {"matchLabels": selector},
                        "template": template(&labels),
                    },
                }))
            }
            WorkloadKind::DaemonSet => Some(json!({
                "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": self.meta(self.name),
                "spec": {
                    "selector": {"matchLabels": self.selector()},
                    // pods that exist already must not be replaced for lack of a controller revision
                    "updateStrategy": {"type": "OnDelete"},
                    "template": template(&self.template_labels()),
                },
            })),
            WorkloadKind::StatefulSet => Some(json!({
                "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": self.meta(self.name),
                "spec": {
                    "replicas": replicas,
                    "serviceName": self.name,
                    "selector": {"matchLabels": self.selector()},
                    "updateStrategy": {"type": "OnDelete"},
                    "template": template(&self.template_labels()),
                },
            })),
            WorkloadKind::StaticPod => None,
        }
    }

    /// The Deployment above the `ReplicaSet`.
    pub fn deployment_object(&self) -> Option<Value> {
        let WorkloadKind::Deployment(_) = self.kind else {
            return None;
        };
        let mut metadata = self.meta(self.name);
        metadata["annotations"] = json!({"deployment.kubernetes.io/revision": "1"});
        Some(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": {
                "replicas": self.pods.len(),
                "selector": {"matchLabels": self.selector()},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "template": self.template(&self.template_labels()),
            },
        }))
    }

    /// One of its pods, bound to its node. What admission adds to a pod is left to the API server.
    pub fn pod_object(&self, pod: &PodSeed) -> Value {
        let mut metadata = json!({
            "namespace": self.namespace, "name": pod.name, "labels": self.pod_labels(pod),
        });
        match self.kind {
            WorkloadKind::Deployment(hash) => {
                metadata["generateName"] = format!("{}-{hash}-", self.name).into();
            }
            WorkloadKind::DaemonSet => metadata["generateName"] = format!("{}-", self.name).into(),
            WorkloadKind::StaticPod => {
                let hash = crate::lab::text::hex64(&pod.name)[..32].to_owned();
                metadata["annotations"] = json!({
                    "kubernetes.io/config.hash": hash,
                    "kubernetes.io/config.mirror": hash,
                    "kubernetes.io/config.source": "file",
                });
            }
            WorkloadKind::StatefulSet => {}
        }
        let mut spec = self.pod_spec();
        spec["nodeName"] = pod.node.into();
        if self.kind == WorkloadKind::DaemonSet {
            tolerate_as_daemon(&mut spec);
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    }
}

/// What the DaemonSet controller adds to the tolerations of its pods: they stay where nothing else stays.
pub fn tolerate_as_daemon(spec: &mut Value) {
    let mut tolerations = match spec.get_mut("tolerations").map(Value::take) {
        Some(Value::Array(tolerations)) => tolerations,
        _ => Vec::new(),
    };
    for (key, effect) in [
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ] {
        tolerations.push(json!({"key": key, "operator": "Exists", "effect": effect}));
    }
    spec["tolerations"] = tolerations.into();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::article::workloads;

    fn workload(name: &str) -> Workload {
        workloads()
            .into_iter()
            .find(|workload| workload.name == name)
            .unwrap()
    }

    #[test]
    fn a_hello_win_pod_has_the_articles_name_class_and_limits() {
        let hello = workload("hello-win");
        let pod = hello.pod_object(&hello.pods[0]);
        assert_eq!(pod["metadata"]["name"], "hello-win-759c899954-tkfg6");
        assert_eq!(pod["spec"]["runtimeClassName"], RUNTIME_CLASS);
        assert_eq!(
            pod["spec"]["containers"][0]["resources"]["limits"]["memory"],
            "256Mi"
        );
    }

    #[test]
    fn calico_on_windows_has_two_hostprocess_containers_in_the_nodes_network() {
        let calico = workload("calico-node-windows");
        let pod = calico.pod_object(&calico.pods[0]);
        assert_eq!(pod["spec"]["containers"].as_array().unwrap().len(), 2);
        assert_eq!(pod["spec"]["hostNetwork"], true);
        assert_eq!(
            pod["spec"]["securityContext"]["windowsOptions"]["hostProcess"],
            true
        );
    }
}
