//! What the real server fills in or refuses when an object is created: the defaults and the admission steps
//! on which nodes, pods and drains depend.

use super::failure::{Failure, Outcome};
use super::kinds::{self, Kind};
use super::objects::{metadata_mut, remove, text, timestamp};
use chrono::Utc;
use serde_json::{Value, json};

/// Completes a new object. `runtime_class` is the class that a pod names.
///
/// # Errors
/// 403 when a pod contradicts its runtime class.
pub fn complete(kind: &'static Kind, object: &mut Value, runtime_class: Option<&Value>) -> Outcome<()> {
    // A kubelet registers its node with a status; every other status is written by its own subresource.
    if kind.status && kind != &kinds::NODES {
        remove(object, "status");
    }
    match kind.kind {
        "Namespace" => {
            let name = text(object, "/metadata/name").to_owned();
            let metadata = metadata_mut(object);
            metadata["labels"]["kubernetes.io/metadata.name"] = json!(name);
            object["status"] = json!({ "phase": "Active" });
        }
        "Pod" => {
            if let Some(class) = runtime_class {
                apply_runtime_class(object, class)?;
            }
            complete_pod(object);
        }
        "Service" => complete_service(object),
        "PersistentVolume" => {
            object["status"] =
                json!({ "phase": "Pending", "lastPhaseTransitionTime": timestamp(Utc::now()) });
            fill(
                &mut object["spec"],
                "persistentVolumeReclaimPolicy",
                json!("Retain"),
            );
            fill(&mut object["spec"], "volumeMode", json!("Filesystem"));
        }
        "PersistentVolumeClaim" => {
            object["status"] = json!({ "phase": "Pending" });
            fill(&mut object["spec"], "volumeMode", json!("Filesystem"));
        }
        "Deployment" | "ReplicaSet" | "StatefulSet" => {
            fill(&mut object["spec"], "replicas", json!(1));
            object["status"] = if kind.kind == "Deployment" {
                json!({})
            } else {
                json!({ "replicas": 0 })
            };
        }
        "DaemonSet" => {
            object["status"] = json!({
                "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
            });
        }
        "PodDisruptionBudget" => {
            object["status"] = json!({
                "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0,
            });
        }
        _ => {}
    }
    Ok(())
}

/// Sets a field that is not there yet.
fn fill(object: &mut Value, field: &str, value: Value) {
    if object.get(field).is_none_or(Value::is_null) {
        object[field] = value;
    }
}

/// The items of a list, none when it is not there.
fn items_mut<'a>(object: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    object
        .get_mut(list)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

fn complete_pod(pod: &mut Value) {
    let spec = &mut pod["spec"];
    fill(spec, "restartPolicy", json!("Always"));
    fill(spec, "terminationGracePeriodSeconds", json!(30));
    fill(spec, "dnsPolicy", json!("ClusterFirst"));
    fill(spec, "schedulerName", json!("default-scheduler"));
    fill(spec, "enableServiceLinks", json!(true));
    fill(spec, "serviceAccountName", json!("default"));
    fill(spec, "priority", json!(0));
    fill(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
    fill(spec, "securityContext", json!({}));
    for list in ["containers", "initContainers"] {
        for container in items_mut(spec, list) {
            fill(container, "imagePullPolicy", json!("IfNotPresent"));
            fill(container, "terminationMessagePath", json!("/dev/termination-log"));
            fill(container, "terminationMessagePolicy", json!("File"));
            fill(container, "resources", json!({}));
            requests_from_limits(&mut container["resources"]);
        }
    }
    tolerate_lost_node(spec);
    let qos = quality_of_service(&pod["spec"]);
    pod["status"] = json!({ "phase": "Pending", "qosClass": qos });
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
        ["containers", "initContainers"]
            .iter()
            .flat_map(|list| spec[*list].as_array().into_iter().flatten())
    };
    let asks = |container: &Value| {
        ["requests", "limits"].iter().any(|side| {
            container["resources"][*side]
                .as_object()
                .is_some_and(|amounts| amounts.keys().any(|name| name == "cpu" || name == "memory"))
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
                "pod rejected: conflict: runtimeClass.scheduling.nodeSelector[{label}] = {value}; pod.spec.nodeSelector[{label}] = {wanted}"
            );
            return Err(Failure::forbidden(&kinds::PODS, &name, &why));
        }
        *wanted = value.clone();
    }
    if let Some(tolerations) = class.pointer("/scheduling/tolerations").and_then(Value::as_array) {
        fill(&mut pod["spec"], "tolerations", json!([]));
        if let Some(own) = pod["spec"]["tolerations"].as_array_mut() {
            let new: Vec<Value> = tolerations
                .iter()
                .filter(|extra| !own.contains(extra))
                .cloned()
                .collect();
            own.extend(new);
        }
    }
    if let Some(overhead) = class.pointer("/overhead/podFixed") {
        pod["spec"]["overhead"] = overhead.clone();
    }
    Ok(())
}

/// Type, protocol, target port; the cluster IP is derived from the UID, so it needs no allocator.
fn complete_service(service: &mut Value) {
    let address = cluster_ip(text(service, "/metadata/uid"));
    let spec = &mut service["spec"];
    fill(spec, "type", json!("ClusterIP"));
    fill(spec, "sessionAffinity", json!("None"));
    if text(spec, "/type") != "ExternalName" {
        fill(spec, "clusterIP", json!(address));
        let own = spec["clusterIP"].clone();
        fill(spec, "clusterIPs", json!([own]));
        fill(spec, "ipFamilies", json!(["IPv4"]));
        fill(spec, "ipFamilyPolicy", json!("SingleStack"));
        fill(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    for port in items_mut(spec, "ports") {
        fill(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        fill(port, "targetPort", number);
    }
    service["status"] = json!({ "loadBalancer": {} });
}

/// An address in 10.96.0.0/12.
fn cluster_ip(uid: &str) -> String {
    let seed = u32::from_str_radix(uid.get(..8).unwrap_or("0"), 16).unwrap_or(0);
    let host = seed % ((1 << 20) - 2) + 1;
    std::net::Ipv4Addr::from((10 << 24 | 96 << 16) + host).to_string()
}
