//! Defaults and admission of pods and of the pod templates of workloads.

use super::super::failure::{Failure, Outcome};
use super::super::json::text;
use super::super::kinds;
use super::{fill, items_mut};
use serde_json::{Value, json};

/// Completes a new pod: defaults, tolerations, what its runtime class adds, quality of service.
pub fn complete(pod: &mut Value, runtime_class: Option<&Value>) -> Outcome<()> {
    let spec = &mut pod["spec"];
    complete_template(spec);
    fill(spec, "enableServiceLinks", json!(true));
    fill(spec, "serviceAccountName", json!("default"));
    let account = spec["serviceAccountName"].clone();
    fill(spec, "serviceAccount", account);
    fill(spec, "priority", json!(0));
    fill(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
    tolerate_lost_node(spec);
    for list in ["containers", "initContainers"] {
        for container in items_mut(spec, list) {
            requests_from_limits(&mut container["resources"]);
        }
    }
    if let Some(class) = runtime_class {
        apply_runtime_class(pod, class)?;
    }
    let quality = quality_of_service(&pod["spec"]);
    pod["status"] = json!({ "phase": "Pending", "qosClass": quality });
    Ok(())
}

/// The defaults of a pod spec that a workload's template gets too.
pub fn complete_template(spec: &mut Value) {
    fill(spec, "restartPolicy", json!("Always"));
    fill(spec, "terminationGracePeriodSeconds", json!(30));
    fill(spec, "dnsPolicy", json!("ClusterFirst"));
    fill(spec, "schedulerName", json!("default-scheduler"));
    fill(spec, "securityContext", json!({}));
    for list in ["containers", "initContainers"] {
        for container in items_mut(spec, list) {
            let policy = if is_latest(text(container, "/image")) {
                "Always"
            } else {
                "IfNotPresent"
            };
            fill(container, "imagePullPolicy", json!(policy));
            fill(container, "terminationMessagePath", json!("/dev/termination-log"));
            fill(container, "terminationMessagePolicy", json!("File"));
            fill(container, "resources", json!({}));
            for port in items_mut(container, "ports") {
                fill(port, "protocol", json!("TCP"));
            }
        }
    }
}

/// An image without a tag and a digest is `latest`.
fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    !image.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

/// A limit without a request is its own request.
fn requests_from_limits(resources: &mut Value) {
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else {
        return;
    };
    fill(resources, "requests", json!({}));
    for (name, limit) in limits {
        fill(&mut resources["requests"], &name, limit);
    }
}

/// Every pod stays 300 seconds on a node that is not ready or not reachable, unless it says otherwise
/// (admission plugin `DefaultTolerationSeconds`).
fn tolerate_lost_node(spec: &mut Value) {
    fill(spec, "tolerations", json!([]));
    let Some(tolerations) = spec["tolerations"].as_array_mut() else {
        return;
    };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covered = tolerations.iter().any(|toleration| {
            let of_key = text(toleration, "/key");
            (of_key == key || of_key.is_empty()) && matches!(text(toleration, "/effect"), "" | "NoExecute")
        });
        if !covered {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
}

/// Guaranteed when every container limits CPU and memory to what it requests, `BestEffort` when nothing is asked
/// for, Burstable between them.
fn quality_of_service(spec: &Value) -> &'static str {
    let containers = || {
        let lists = ["containers", "initContainers"].iter();
        lists.flat_map(|list| spec.get(*list).and_then(Value::as_array).into_iter().flatten())
    };
    let asks = |container: &Value| {
        ["requests", "limits"].iter().any(|side| {
            let amounts = container["resources"][*side].as_object();
            amounts.is_some_and(|amounts| amounts.keys().any(|name| name == "cpu" || name == "memory"))
        })
    };
    let guaranteed = |container: &Value| {
        ["cpu", "memory"].iter().all(|name| {
            let limit = container["resources"]["limits"].get(*name);
            limit.is_some() && limit == container["resources"]["requests"].get(*name)
        })
    };
    if !containers().any(asks) {
        "BestEffort"
    } else if containers().all(guaranteed) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// A runtime class adds its node selector and tolerations to the pod; a contradiction is refused.
fn apply_runtime_class(pod: &mut Value, class: &Value) -> Outcome<()> {
    let name = text(pod, "/metadata/name").to_owned();
    let selector = class
        .pointer("/scheduling/nodeSelector")
        .and_then(Value::as_object);
    for (label, value) in selector.into_iter().flatten() {
        let wanted = &mut pod["spec"]["nodeSelector"][label.as_str()];
        if !wanted.is_null() && wanted != value {
            let why = format!(
                "pod rejected: conflict: runtimeClass.scheduling.nodeSelector[{label}] = {value}; \
                 pod.spec.nodeSelector[{label}] = {wanted}"
            );
            return Err(Failure::forbidden(&kinds::PODS, &name, &why));
        }
        *wanted = value.clone();
    }
    if let Some(tolerations) = class.pointer("/scheduling/tolerations").and_then(Value::as_array)
        && let Some(own) = pod["spec"]["tolerations"].as_array_mut()
    {
        let new: Vec<Value> = tolerations
            .iter()
            .filter(|extra| !own.contains(extra))
            .cloned()
            .collect();
        own.extend(new);
    }
    if let Some(overhead) = class.pointer("/overhead/podFixed") {
        pod["spec"]["overhead"] = overhead.clone();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(spec: &Value) -> Value {
        json!({ "metadata": { "name": "p" }, "spec": spec })
    }

    #[test]
    fn a_windows_pod_gets_the_selector_and_tolerations_of_its_runtime_class() {
        let class = json!({ "scheduling": {
            "nodeSelector": { "kubernetes.io/os": "windows" },
            "tolerations": [{ "key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule" }],
        }});
        let mut windows = pod(&json!({ "containers": [{ "name": "a", "image": "hello:1.3" }] }));
        complete(&mut windows, Some(&class)).unwrap();
        assert_eq!(windows["spec"]["nodeSelector"]["kubernetes.io/os"], "windows");
        let keys: Vec<&str> = windows["spec"]["tolerations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| text(one, "/key"))
            .collect();
        assert_eq!(
            keys,
            [
                "node.kubernetes.io/not-ready",
                "node.kubernetes.io/unreachable",
                "os"
            ]
        );

        let mut linux = pod(&json!({ "nodeSelector": { "kubernetes.io/os": "linux" }, "containers": [] }));
        let refused = complete(&mut linux, Some(&class)).unwrap_err();
        assert_eq!(refused.code, 403);
        assert!(
            refused.message.contains("nodeSelector[kubernetes.io/os]"),
            "{}",
            refused.message
        );
    }

    #[test]
    fn quality_of_service_follows_from_requests_and_limits() {
        let quality = |resources: &Value| {
            let mut one =
                pod(&json!({ "containers": [{ "name": "a", "image": "x", "resources": resources }] }));
            complete(&mut one, None).unwrap();
            text(&one, "/status/qosClass").to_owned()
        };
        assert_eq!(quality(&json!({})), "BestEffort");
        assert_eq!(
            quality(&json!({ "limits": { "cpu": "1", "memory": "1Gi" } })),
            "Guaranteed"
        );
        let burstable = json!({ "limits": { "cpu": "1", "memory": "1Gi" }, "requests": { "cpu": "100m" } });
        assert_eq!(quality(&burstable), "Burstable");
    }

    #[test]
    fn an_image_is_pulled_always_only_when_it_is_the_latest() {
        assert!(is_latest("hello") && is_latest("registry:5000/hello") && is_latest("hello:latest"));
        assert!(!is_latest("registry:5000/hello:1.3") && !is_latest("hello@sha256:00"));
    }
}
