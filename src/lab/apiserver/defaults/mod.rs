//! What the real server fills in or refuses when an object is created: the defaults and the admission steps on which
//! nodes, pods and drains depend. Two steps are left out because only controllers that the lab does not run take them
//! back: the `not-ready` taint of a new node and the protection finalizers of volumes and claims.

mod pods;

use super::failure::Outcome;
use super::json::{metadata_mut, remove, text, timestamp};
use super::kinds::{self, Kind};
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
            metadata_mut(object)["labels"]["kubernetes.io/metadata.name"] = json!(name);
            fill(&mut object["spec"], "finalizers", json!(["kubernetes"]));
            object["status"] = json!({ "phase": "Active" });
        }
        "Node" => {
            fill(object, "spec", json!({}));
            leave_out_unset(kind, object);
            fill(
                &mut object["status"],
                "daemonEndpoints",
                json!({ "kubeletEndpoint": { "Port": 0 } }),
            );
        }
        "Pod" => pods::complete(object, runtime_class)?,
        "Service" => complete_service(object),
        "Event" => {
            fill(object, "eventTime", Value::Null);
            fill(object, "reportingComponent", json!(""));
            fill(object, "reportingInstance", json!(""));
        }
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
        "StorageClass" => {
            fill(object, "reclaimPolicy", json!("Delete"));
            fill(object, "volumeBindingMode", json!("Immediate"));
        }
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => complete_workload(kind, object),
        "PodDisruptionBudget" => {
            object["status"] = json!({
                "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0,
            });
        }
        _ => {}
    }
    Ok(())
}

/// Removes what the real server's types leave out when it is false: `kubectl uncordon` may send `false`, and nobody
/// ever reads it back.
pub fn leave_out_unset(kind: &Kind, object: &mut Value) {
    if kind == &kinds::NODES && object["spec"]["unschedulable"] == false {
        remove(&mut object["spec"], "unschedulable");
    }
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

fn complete_workload(kind: &Kind, object: &mut Value) {
    let spec = &mut object["spec"];
    pods::complete_template(&mut spec["template"]["spec"]);
    if kind.kind != "DaemonSet" {
        fill(spec, "replicas", json!(1));
    }
    if kind.kind != "ReplicaSet" {
        fill(spec, "revisionHistoryLimit", json!(10));
    }
    match kind.kind {
        "Deployment" => {
            let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "25%", "maxSurge": "25%" } });
            fill(spec, "strategy", rolling);
            fill(spec, "progressDeadlineSeconds", json!(600));
            object["status"] = json!({});
        }
        "DaemonSet" => {
            let rolling =
                json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 1, "maxSurge": 0 } });
            fill(spec, "updateStrategy", rolling);
            metadata_mut(object)["annotations"]["deprecated.daemonset.template.generation"] = json!("1");
            object["status"] = json!({
                "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
            });
        }
        "StatefulSet" => {
            let rolling =
                json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0, "maxUnavailable": 1 } });
            fill(spec, "updateStrategy", rolling);
            fill(spec, "podManagementPolicy", json!("OrderedReady"));
            let retention = json!({ "whenDeleted": "Retain", "whenScaled": "Retain" });
            fill(spec, "persistentVolumeClaimRetentionPolicy", retention);
            object["status"] = json!({ "replicas": 0, "availableReplicas": 0 });
        }
        _ => object["status"] = json!({ "replicas": 0 }),
    }
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
    let seed = uid
        .get(..8)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or(0);
    let host = seed % ((1 << 20) - 2) + 1;
    std::net::Ipv4Addr::from((10 << 24 | 96 << 16) + host).to_string()
}
