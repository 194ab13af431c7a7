//! The Node and Lease objects that a kubelet writes.

use crate::domain::Timestamp;
use crate::domain::object::Os;
use crate::lab::article::{VERSION, WINDOWS_BUILD};
use crate::lab::client::ObjectPath;
use crate::lab::machine::Machine;
use crate::lab::text::{api_micro_time, api_time, hex64, uuid};
use crate::lab::world::os_name;
use serde_json::{Value, json};

/// Port of the kubelet API.
pub const KUBELET_PORT: u16 = 10250;
/// Bytes that the kubelet keeps from pods as its eviction threshold on Windows (500 MiB; 100 MiB on Linux).
const WINDOWS_EVICTION_BYTES: u64 = 500 << 20;
const LINUX_EVICTION_BYTES: u64 = 100 << 20;

/// The Node as it is registered, status included.
pub fn node_object(machine: &Machine, now: Timestamp) -> Value {
    let name = &*machine.name;
    let mut labels = json!({
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": os_name(machine.os),
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": os_name(machine.os),
    });
    let mut taints = Vec::new();
    if machine.os == Os::Windows {
        labels["node.kubernetes.io/windows-build"] = WINDOWS_BUILD.into();
        taints.push(json!({"key": "os", "value": "windows", "effect": "NoSchedule"}));
    }
    if machine.control_plane {
        labels["node-role.kubernetes.io/control-plane"] = "".into();
        labels["node.kubernetes.io/exclude-from-external-load-balancers"] = "".into();
        taints.push(json!({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}));
    }
    let [a, b, c] = machine.pod_subnet;
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "creationTimestamp": api_time(machine.joined_at),
            "labels": labels,
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "projectcalico.org/IPv4Address": format!("{}/24", machine.address),
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
        },
        "spec": {"podCIDR": format!("{a}.{b}.{c}.0/24"), "podCIDRs": [format!("{a}.{b}.{c}.0/24")], "taints": taints},
        "status": node_status(machine, &healthy_conditions(&json!([]), machine.boot.at, now)),
    })
}

/// The status of a node, with these conditions.
pub fn node_status(machine: &Machine, conditions: &Value) -> Value {
    let reserved = match machine.os {
        Os::Windows => WINDOWS_EVICTION_BYTES,
        Os::Linux => LINUX_EVICTION_BYTES,
    };
    let amounts = |memory: u64| {
        json!({
            "cpu": machine.cpus.to_string(),
            "memory": format!("{}Ki", memory / 1024),
            "ephemeral-storage": "62274540Ki",
            "pods": machine.max_pods.to_string(),
        })
    };
    json!({
        "addresses": [
            {"type": "InternalIP", "address": machine.address.to_string()},
            {"type": "Hostname", "address": machine.name},
        ],
        "capacity": amounts(machine.memory_bytes),
        "allocatable": amounts(machine.memory_bytes.saturating_sub(reserved)),
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": machine.boot.id,
            "containerRuntimeVersion": "containerd://2.2.2",
            "kernelVersion": machine.boot.kernel_version,
            "kubeProxyVersion": "",
            "kubeletVersion": VERSION,
            "machineID": if machine.os == Os::Windows {
                machine.name.to_uppercase()
            } else {
                hex64(&machine.name).chars().take(32).collect()
            },
            "operatingSystem": os_name(machine.os),
            "osImage": match machine.os {
                Os::Windows => "Windows Server 2025 Standard",
                Os::Linux => "Debian GNU/Linux 13 (trixie)",
            },
            "systemUUID": uuid(&machine.name),
        },
        "images": images(machine.os),
    })
}

/// The conditions that a healthy kubelet posts at `now`. One that the API server knows (`known`) with the same
/// status keeps its transition time: a node that restarts fast enough was Ready all the time. The others turned at
/// `since`.
pub fn healthy_conditions(known: &Value, since: Timestamp, now: Timestamp) -> Value {
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        let turned = known
            .as_array()
            .into_iter()
            .flatten()
            .find(|known| known["type"] == kind && known["status"] == status)
            .and_then(|known| known["lastTransitionTime"].as_str())
            .map_or_else(|| api_time(since), str::to_owned);
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": api_time(now),
            "lastTransitionTime": turned,
        })
    };
    json!([
        condition(
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available"
        ),
        condition(
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure"
        ),
        condition(
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available"
        ),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ])
}

fn images(os: Os) -> Value {
    let image = |name: &str, bytes: u64| json!({"names": [name], "sizeBytes": bytes});
    match os {
        Os::Windows => json!([
            image("ghcr.io/example/alloy-hostprocess:v1.21.3", 415_000_000),
            image("quay.io/calico/node-windows:v3.32.1", 251_400_000),
            image("ghcr.io/example/reports:2.1", 246_000_000),
            image(
                "mcr.microsoft.com/dotnet/samples:aspnetapp-nanoserver-ltsc2025",
                231_800_000
            ),
            image("ghcr.io/example/hello:1.3", 201_000_000),
            image("mcr.microsoft.com/windows/nanoserver:ltsc2025", 194_000_000),
            image("ghcr.io/prometheus-community/windows-exporter:0.31.9", 29_800_000),
        ]),
        Os::Linux => json!([
            image("docker.io/grafana/loki:3.8.0", 118_000_000),
            image("quay.io/calico/node:v3.32.1", 155_000_000),
            image("ghcr.io/example/hello:1.3", 7_100_000),
        ]),
    }
}

/// The Lease of a node.
pub fn lease_object(node: &str, node_uid: &str, now: Timestamp) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "namespace": "kube-node-lease",
            "name": node,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": node_uid}],
        },
        "spec": {
            "holderIdentity": node,
            "leaseDurationSeconds": 40,
            "renewTime": api_micro_time(now),
        },
    })
}

/// Where the Lease of a node lives.
pub fn lease_path(node: &str) -> ObjectPath {
    ObjectPath::namespaced("/apis/coordination.k8s.io/v1", "leases", "kube-node-lease", node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::article::machines;
    use chrono::Utc;

    #[test]
    fn the_windows_node_is_registered_as_the_article_shows_it() {
        let now = Utc::now();
        let machine = machines(now)
            .into_iter()
            .find(|machine| machine.os == Os::Windows)
            .unwrap();
        let node = node_object(&machine, now);
        assert_eq!(
            node["metadata"]["labels"]["node.kubernetes.io/windows-build"],
            "10.0.26100"
        );
        assert_eq!(node["spec"]["taints"][0]["key"], "os");
        let status = &node["status"];
        assert_eq!(status["nodeInfo"]["kernelVersion"], "10.0.26100.33438");
        assert_eq!(status["nodeInfo"]["bootID"], "11");
        assert_eq!(status["capacity"]["memory"], "8388608Ki");
        // 500 MiB less for pods than the node has
        assert_eq!(status["allocatable"]["memory"], "7876608Ki");
    }
    #[test]
    fn a_condition_turns_only_when_its_status_changes() {
        let now = Utc::now();
        let known = json!([
            {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-11-07T14:05:06Z"},
            {"type": "DiskPressure", "status": "False", "lastTransitionTime": "2026-11-07T10:00:00Z"},
        ]);
        let conditions = healthy_conditions(&known, now, now);
        let turned = |kind: &str| {
            let all = conditions.as_array().unwrap();
            let condition = all.iter().find(|condition| condition["type"] == kind).unwrap();
            condition["lastTransitionTime"].as_str().unwrap().to_owned()
        };
        assert_eq!(turned("DiskPressure"), "2026-11-07T10:00:00Z");
        assert_eq!(turned("Ready"), api_time(now));
    }
}
