//! Objects as a real API server writes them, and what becomes of them.

use super::super::intern::Interner;
use super::daemonset::DaemonSet;
use super::event::Event;
use super::lease::Lease;
use super::node::Node;
use super::pod::Pod;
use crate::domain::node::{self, ConditionStatus};
use crate::domain::object::Os;
use crate::domain::pod::{self, ContainerKind, ContainerState, Phase};
use proptest::prelude::*;
use serde_json::{Value, json};

fn pod_row(object: &Value) -> pod::Pod {
    let text = object.to_string();
    let wire: Pod<'_> = serde_json::from_str(&text).unwrap();
    wire.to_row(&mut Interner::default())
}

fn node_row(object: &Value) -> node::Node {
    let text = object.to_string();
    let wire: Node<'_> = serde_json::from_str(&text).unwrap();
    wire.to_row(&mut Interner::default())
}

/// A web pod on Windows: an init container that has ended, a sidecar, a container that crashed once.
fn web() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web-7c9f5d8b6c-x2k8q", "namespace": "shop", "uid": "1d2c", "resourceVersion": "4711",
            "generateName": "web-7c9f5d8b6c-", "creationTimestamp": "2026-11-30T08:00:00Z",
            "labels": {"app": "web", "pod-template-hash": "7c9f5d8b6c"},
            "annotations": {"example.com/note": "say \"hello\"\n"},
            "ownerReferences": [
                {"apiVersion": "example.com/v1", "kind": "Audit", "name": "who", "uid": "0"},
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7c9f5d8b6c", "uid": "9",
                 "controller": true, "blockOwnerDeletion": true},
            ],
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {"f:phase": {}}}}],
        },
        "spec": {
            "nodeName": "k8s-lab-win-1", "os": {"name": "windows"}, "runtimeClassName": "windows-ltsc2025",
            "volumes": [
                {"name": "scratch", "emptyDir": {}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "reports"}},
                {"name": "cache", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
                {"name": "token", "projected": {"sources": []}},
            ],
            "initContainers": [
                {"name": "migrate", "image": "example/migrate:1", "resources": {}},
                {"name": "proxy", "image": "example/proxy:2", "restartPolicy": "Always"},
            ],
            "containers": [{
                "name": "web", "image": "example/web:1.3",
                "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": 0.25}},
                "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
            }],
        },
        "status": {
            "phase": "Running", "podIP": "10.244.3.17", "startTime": "2026-11-30T08:00:01Z", "qosClass": "Burstable",
            "conditions": [
                {"type": "Initialized", "status": "True"}, {"type": "Ready", "status": "True"},
            ],
            "initContainerStatuses": [
                {"name": "migrate", "ready": true, "restartCount": 0, "started": false, "containerID": "containerd://a",
                 "state": {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": "2026-11-30T08:00:09Z"}},
                 "lastState": {}},
                {"name": "proxy", "ready": true, "restartCount": 0, "started": true, "containerID": "containerd://b",
                 "state": {"running": {"startedAt": "2026-11-30T08:00:10Z"}}, "lastState": {}},
            ],
            "containerStatuses": [
                {"name": "web", "ready": true, "restartCount": 1, "started": true, "containerID": "containerd://c",
                 "state": {"running": {"startedAt": "2026-12-01T03:00:00Z"}},
                 "lastState": {"terminated": {"exitCode": -1_073_741_819, "reason": "Error",
                    "startedAt": "2026-11-30T08:00:11Z", "finishedAt": "2026-12-01T02:59:58Z"}}},
            ],
        },
    })
}

#[test]
fn a_pod_with_init_container_sidecar_and_crash_is_one_row_in_the_order_of_its_spec() {
    let row = pod_row(&web());
    assert_eq!(
        (&*row.namespace, &*row.name, &*row.uid),
        ("shop", "web-7c9f5d8b6c-x2k8q", "1d2c")
    );
    assert_eq!(row.node.as_deref(), Some("k8s-lab-win-1"));
    assert_eq!(row.os, Some(Os::Windows));
    assert_eq!(
        (&*row.state, row.ready, row.ready_of, row.restarts),
        ("Running", 2, 2, 1)
    );
    assert_eq!(
        row.last_restart_at.unwrap().to_rfc3339(),
        "2026-12-01T02:59:58+00:00"
    );
    let owner = row.owner.unwrap();
    assert_eq!((&*owner.kind, &*owner.name), ("ReplicaSet", "web-7c9f5d8b6c"));
    assert!(row.empty_dir && !row.host_process && !row.mirror);
    let claims: Vec<&str> = row.claims.iter().map(|claim| &**claim).collect();
    assert_eq!(claims, ["reports", "web-7c9f5d8b6c-x2k8q-cache"]);
    let kinds: Vec<_> = row
        .containers
        .iter()
        .map(|container| (&*container.name, container.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("migrate", ContainerKind::Init),
            ("proxy", ContainerKind::Sidecar),
            ("web", ContainerKind::App)
        ]
    );
    let web = &row.containers[2];
    assert_eq!(&*web.container_id, "containerd://c");
    assert_eq!(
        (web.limits.cpu_millicores, web.limits.memory_bytes),
        (Some(500), Some(256 << 20))
    );
    assert_eq!(
        (web.requests.cpu_millicores, web.requests.memory_bytes),
        (Some(250), None)
    );
    assert_eq!(web.last_termination.as_ref().unwrap().exit_code, -1_073_741_819);
    assert!(matches!(web.state, ContainerState::Running(Some(_))));
}

#[test]
fn an_exit_code_written_without_sign_is_the_same_code() {
    let mut object = web();
    *object
        .pointer_mut("/status/containerStatuses/0/lastState/terminated/exitCode")
        .unwrap() = json!(3_221_225_477_u32);
    let row = pod_row(&object);
    assert_eq!(
        row.containers[2].last_termination.as_ref().unwrap().exit_code,
        -1_073_741_819
    );
}

#[test]
fn an_evicted_pod_says_so_and_has_no_container_state() {
    let row = pod_row(&json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "1"},
        "spec": {"nodeName": "n", "containers": [{"name": "web", "image": "i"}]},
        "status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."},
    }));
    assert_eq!(
        (&*row.state, &*row.reason, row.phase),
        ("Evicted", "Evicted", Phase::Failed)
    );
    assert_eq!(row.containers[0].state, ContainerState::Unreported);
}

#[test]
fn host_process_is_seen_on_the_pod_and_on_a_container_and_mirror_pods_are_marked() {
    let on = json!({"windowsOptions": {"hostProcess": true, "runAsUserName": "NT AUTHORITY\\SYSTEM"}});
    let of = |pod: &Value, container: &Value| {
        pod_row(&json!({
            "metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "abc"}},
            "spec": {"securityContext": pod, "containers": [{"name": "c", "securityContext": container}]},
        }))
    };
    assert!(of(&on, &json!({})).host_process);
    assert!(of(&json!({}), &on).host_process);
    assert!(!of(&json!({}), &json!(null)).host_process);
    assert!(of(&on, &on).mirror);
}

#[test]
fn nulls_stand_for_nothing() {
    let row = pod_row(&json!({
        "metadata": {"name": "p", "labels": null, "annotations": null, "ownerReferences": null,
            "creationTimestamp": null},
        "spec": {"volumes": null, "containers": null, "securityContext": null},
        "status": {"containerStatuses": null, "podIP": null},
    }));
    assert_eq!((row.containers.len(), row.ip, row.created_at), (0, None, None));
}

fn windows_node() -> Value {
    json!({
        "metadata": {
            "name": "k8s-lab-win-1", "uid": "u", "creationTimestamp": "2026-09-01T00:00:00Z",
            "labels": {"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.26100",
                "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": ""},
        },
        "spec": {"unschedulable": true,
            "taints": [{"key": "os", "value": "windows", "effect": "NoSchedule"},
                {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]},
        "status": {
            "addresses": [{"type": "Hostname", "address": "K8S-LAB-WIN-1"},
                {"type": "InternalIP", "address": "192.168.10.31"}, {"type": "InternalIP", "address": "fd00::31"}],
            "capacity": {"cpu": "4", "memory": "8387576Ki", "pods": "110"},
            "allocatable": {"cpu": "3500m", "memory": "8285176Ki", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ok",
                "lastHeartbeatTime": "2026-12-01T04:00:00Z", "lastTransitionTime": "2026-11-30T14:00:00Z"},
                {"type": "MemoryPressure", "status": "perhaps"}],
            "nodeInfo": {"bootID": "11", "kernelVersion": "10.0.26100.33438", "osImage": "Windows Server 2025 Datacenter",
                "containerRuntimeVersion": "containerd://2.1.4", "kubeletVersion": "v1.37.2",
                "operatingSystem": "windows", "architecture": "amd64", "machineID": "K8S-LAB-WIN-1"},
            "images": [{"names": ["a", "b"], "sizeBytes": 1}],
        },
    })
}

#[test]
fn a_windows_node_keeps_what_the_screens_need() {
    let row = node_row(&windows_node());
    assert_eq!(
        (&*row.name, row.os, &*row.boot_id),
        ("k8s-lab-win-1", Some(Os::Windows), "11")
    );
    assert_eq!(row.windows_build_label.as_deref(), Some("10.0.26100"));
    assert_eq!(
        row.roles.iter().map(|role| &**role).collect::<Vec<_>>(),
        ["worker"]
    );
    assert_eq!(&*row.architecture, "amd64");
    assert_eq!(row.internal_ips.len(), 2);
    assert_eq!(
        (row.capacity.cpu_millicores, row.allocatable.cpu_millicores),
        (Some(4000), Some(3500))
    );
    assert_eq!(
        (row.capacity.memory_bytes, row.capacity.pods),
        (Some(8_387_576 << 10), Some(110))
    );
    assert!(row.unschedulable);
    assert_eq!(row.taints.len(), 2);
    assert_eq!(row.conditions[1].status, ConditionStatus::Unknown);
}

#[test]
fn a_lease_is_read_to_the_microsecond() {
    let text = r#"{"metadata":{"name":"k8s-lab-win-1","uid":"u"},
        "spec":{"holderIdentity":"k8s-lab-win-1","leaseDurationSeconds":40,"renewTime":"2026-12-01T04:00:00.123456Z"}}"#;
    let lease: Lease<'_> = serde_json::from_str(text).unwrap();
    let row = lease.to_row(&mut Interner::default());
    assert_eq!((&*row.node, row.duration_seconds), ("k8s-lab-win-1", Some(40)));
    assert_eq!(row.renew_time.unwrap().timestamp_micros() % 1_000_000, 123_456);
}

#[test]
fn events_of_old_and_new_style_are_one_kind_of_row() {
    let row = |text: &str| {
        let event: Event<'_> = serde_json::from_str(text).unwrap();
        event.to_row(&mut Interner::default())
    };
    let old = row(
        r#"{"metadata":{"name":"e","namespace":"d"},"involvedObject":{"kind":"Node","name":"n"},
        "type":"Warning","reason":"Rebooted","message":"m","count":3,"eventTime":null,
        "firstTimestamp":"2026-12-01T03:00:00Z","lastTimestamp":"2026-12-01T03:05:00Z"}"#,
    );
    assert_eq!(
        (old.count, old.warning, &*old.about_kind, old.about_namespace),
        (3, true, "Node", None)
    );
    assert_eq!(old.last_seen.unwrap().to_rfc3339(), "2026-12-01T03:05:00+00:00");
    let new = row(
        r#"{"metadata":{"name":"e","namespace":"d","creationTimestamp":"2026-12-01T03:00:00Z"},
        "involvedObject":{"kind":"Pod","name":"p","namespace":"d"},"type":"Normal","reason":"r",
        "eventTime":"2026-12-01T03:00:00.5Z","series":{"count":7,"lastObservedTime":"2026-12-01T03:09:00.25Z"}}"#,
    );
    assert_eq!(
        (new.count, new.warning, new.about_namespace.as_deref()),
        (7, false, Some("d"))
    );
    assert_eq!(new.last_seen.unwrap().timestamp_subsec_millis(), 250);
    let once = row(r#"{"metadata":{"name":"e","creationTimestamp":"2026-12-01T03:00:00Z"}}"#);
    assert_eq!((once.count, once.last_seen.is_some()), (1, true));
}

#[test]
fn a_daemonset_says_how_far_it_is_and_whether_its_pods_run_on_the_host() {
    let text = r#"{"metadata":{"name":"calico-node-windows","namespace":"calico-system","uid":"u"},
        "spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/os":"windows"},
            "securityContext":{"windowsOptions":{"hostProcess":true}},"containers":[{"name":"felix"}]}}},
        "status":{"desiredNumberScheduled":1,"numberReady":0}}"#;
    let daemonset: DaemonSet<'_> = serde_json::from_str(text).unwrap();
    let row = daemonset.to_row(&mut Interner::default());
    assert_eq!((row.desired, row.ready, row.host_process), (1, 0, true));
    assert_eq!(
        (&*row.node_selector[0].0, &*row.node_selector[0].1),
        ("kubernetes.io/os", "windows")
    );
}

/// Any JSON, as a future version of the API may add it.
fn unknown() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..4)
                .prop_map(|pairs| Value::from(pairs.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    })
}

/// Adds `field` to each object in `value` (maps of labels and the like excepted: every key there is known).
fn with_field_everywhere(value: &mut Value, name: &str, field: &Value) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields.iter_mut() {
                if !matches!(key.as_str(), "labels" | "nodeSelector") {
                    with_field_everywhere(inner, name, field);
                }
            }
            fields.insert(name.to_owned(), field.clone());
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| with_field_everywhere(item, name, field)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn fields_of_a_future_version_change_nothing(name in "zz[a-zA-Z.\"\\\\/]{0,8}", field in unknown()) {
        let mut pod = web();
        with_field_everywhere(&mut pod, &name, &field);
        prop_assert_eq!(pod_row(&pod), pod_row(&web()));
        let mut node = windows_node();
        with_field_everywhere(&mut node, &name, &field);
        prop_assert_eq!(node_row(&node), node_row(&windows_node()));
    }

    #[test]
    fn a_pod_that_is_cut_off_is_an_error_wherever_it_is_cut(cut in 0.0..1.0) {
        let whole = web().to_string();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "any place in the text will do")]
        let end = (whole.len() as f64 * cut) as usize;
        let error = serde_json::from_slice::<Pod<'_>>(&whole.as_bytes()[..end]).unwrap_err();
        prop_assert!(error.is_eof());
    }
}
