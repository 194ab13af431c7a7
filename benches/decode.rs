//! How long a list of 10,000 pods of 5.9 KB each takes from bytes to rows, in pieces as they come off the wire.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use drainboard::domain::pod::Pod;
use drainboard::sources::kubernetes::intern::Interner;
use drainboard::sources::kubernetes::split::Splitter;
use drainboard::sources::kubernetes::wire;
use serde_json::{Value, json};
use std::hint::black_box;

const PODS: usize = 10_000;
/// What the HTTP client hands over at a time.
const PIECE: usize = 64 * 1024;

fn decode(answer: &[u8]) -> Vec<Pod> {
    let mut names = Interner::default();
    let mut rows = Vec::new();
    let mut splitter = Splitter::default();
    for piece in answer.chunks(PIECE) {
        let outcome: Result<(), serde_json::Error> = splitter.push(piece, |item| {
            let pod: wire::pod::Pod<'_> = serde_json::from_slice(item)?;
            rows.push(pod.to_row(&mut names));
            Ok(())
        });
        assert!(outcome.is_ok() && splitter.looks_like_json());
    }
    assert!(splitter.is_complete());
    rows
}

fn benches(criterion: &mut Criterion) {
    let items: Vec<Value> = (0..PODS).map(pod).collect();
    let answer = json!({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": items}).to_string();
    assert_eq!(decode(answer.as_bytes()).len(), PODS);

    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Bytes(answer.len() as u64));
    group.sample_size(20);
    group.bench_function("10,000 pods", |bench| {
        bench.iter(|| decode(black_box(answer.as_bytes())));
    });
    group.finish();
}

/// A pod as the API server writes it, managed fields included.
fn pod(number: usize) -> Value {
    let (namespace, node) = (format!("team-{}", number % 100), format!("node-{}", number % 500));
    let owner = format!("web-{}", number % 1000);
    let env: Vec<Value> = (0..12)
        .map(|variable| json!({"name": format!("SETTING_{variable}"), "value": "a value of some length"}))
        .collect();
    let fields: Value = (0..28)
        .map(|field| {
            let inner = json!({".": {}, "f:status": {}, "f:type": {}});
            (format!("k:{{\"type\":\"Condition{field}\"}}"), inner)
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    json!({
        "metadata": {
            "name": format!("{owner}-{number:06}"), "generateName": format!("{owner}-"), "namespace": namespace,
            "uid": format!("0f3c1c6e-8a47-4c5f-9d59-{number:012}"), "resourceVersion": number.to_string(),
            "creationTimestamp": "2026-11-30T08:00:00Z",
            "labels": {"app": owner, "pod-template-hash": "759c899954", "team": namespace},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "controller": true,
                "uid": "3e9c1d7a-0000-4000-8000-000000000000", "blockOwnerDeletion": true}],
            "managedFields": [
                {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": fields}},
                {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "subresource": "status",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {"f:conditions": fields}}},
            ],
        },
        "spec": {
            "nodeName": node, "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
            "volumes": [{"name": "kube-api-access-x2k8q", "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]}}],
            "containers": [{
                "name": "web", "image": format!("registry.example.com/shop/web:{}", number % 7), "env": env,
                "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "250m", "memory": "256Mi"}},
                "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "timeoutSeconds": 1,
                    "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
                "volumeMounts": [{"name": "kube-api-access-x2k8q", "readOnly": true,
                    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
            }],
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ],
        },
        "status": {
            "phase": "Running", "podIP": "10.244.3.17", "hostIP": "192.168.10.31", "startTime": "2026-11-30T08:00:01Z",
            "conditions": (["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]).map(
                |kind| json!({"type": kind, "status": "True", "lastProbeTime": null,
                    "lastTransitionTime": "2026-11-30T08:00:02Z"})),
            "containerStatuses": [{
                "name": "web", "image": "registry.example.com/shop/web:1", "ready": true, "started": true, "restartCount": 0,
                "imageID": "registry.example.com/shop/web@sha256:2c8f1d7e5b3a49608f7c6d5e4b3a29181716151413121110f0e0d0c0b0a09080",
                "containerID": format!("containerd://{number:064x}"), "lastState": {},
                "state": {"running": {"startedAt": "2026-11-30T08:00:05Z"}},
            }],
        },
    })
}

criterion_group!(decoding, benches);
criterion_main!(decoding);
