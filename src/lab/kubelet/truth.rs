//! What a Windows node says of itself to whoever asks on it: the section "Looking at it by hand" of the article.

use crate::domain::cpu_maximum::CpuMaximum;
use crate::domain::smb::handle::global_mount;
use crate::lab::article::storage::{DIRECTORY, volume_handle};
use crate::lab::machine::Machine;
use crate::lab::world::RunningPod;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The answer of the probe on this machine with these pods.
pub fn truth(machine: &Machine, pods: &[Arc<RunningPod>]) -> Value {
    let isolated: Vec<_> = pods.iter().filter(|pod| !pod.host_process).collect();
    // One per pod, and the node's own.
    let namespaces = isolated.len() + 1;
    let mut answer = json!({"drainboard": "probe"});
    for (name, value) in [
        ("rebootRequired", json!([machine.reboot_required])),
        ("hnsNamespaces", json!([namespaces])),
        ("deadSandboxes", json!([])),
        ("limits", limits(machine, &isolated)),
        ("images", images(pods)),
    ]
    .into_iter()
    .chain(storage(machine, pods))
    {
        answer[name] = json!({"value": value, "problem": null});
    }
    answer
}

/// The mapping is there as long as a pod has the volume.
fn storage(machine: &Machine, pods: &[Arc<RunningPod>]) -> [(&'static str, Value); 3] {
    let mapped = pods
        .iter()
        .any(|pod| matches!(&*pod.app, "reports" | "reports-writer"));
    let if_mapped = |item: Value| if mapped { json!([item]) } else { json!([]) };
    let remote = format!(r"files.example.com\k8s\{DIRECTORY}");
    let staging = global_mount(&volume_handle());
    let account = format!(r"WORKGROUP\{}$", machine.name.to_uppercase());
    [
        (
            "smbMappings",
            if_mapped(json!({"remotePath": format!(r"\\{remote}"), "status": "OK", "requirePrivacy": true})),
        ),
        (
            "smbConnections",
            if_mapped(json!({
                "server": "files.example.com", "share": "k8s", "dialect": "3.1.1", "encrypted": true,
                "signed": false, "openedBy": account,
            })),
        ),
        (
            "smbStagings",
            if_mapped(json!({"path": staging, "target": format!(r"UNC\{remote}")})),
        ),
    ]
}

fn limits(machine: &Machine, pods: &[&Arc<RunningPod>]) -> Value {
    let of_pod = |pod: &&Arc<RunningPod>| -> Vec<Value> {
        let containers = pod.containers.iter();
        containers
            .map(|container| {
                let maximum = CpuMaximum::of(container.cpu_limit_millicores, machine.cpus.into());
                json!({
                    "namespace": &*pod.namespace, "pod": &*pod.name, "container": &*container.name,
                    "cpuMaximum": maximum.map(CpuMaximum::ten_thousandths),
                    "memoryBytes": container.memory_limit_bytes,
                })
            })
            .collect()
    };
    pods.iter().flat_map(of_pod).collect()
}

/// The images of HostProcess containers name no version of Windows.
fn images(pods: &[Arc<RunningPod>]) -> Value {
    let of_pod = |pod: &Arc<RunningPod>| -> Vec<_> {
        let containers = pod.containers.iter();
        containers
            .map(|container| (container.image.clone(), pod.host_process))
            .collect()
    };
    let images: BTreeMap<_, _> = pods.iter().flat_map(of_pod).collect();
    images
        .into_iter()
        .map(|(image, host_process)| {
            json!({
                "names": [&*image],
                "osVersion": (!host_process).then_some("10.0.26100.33674"),
                "bytes": if host_process { 415_000_000 } else { 201_000_000 },
            })
        })
        .collect()
}
