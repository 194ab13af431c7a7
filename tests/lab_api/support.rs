//! A server with a client for each user, and objects to put into it.

use drainboard::lab::apiserver::{ApiServer, ApiServerOptions, User};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;
use std::future::Future;
use std::time::Duration;

/// Long enough for the busiest machine; a test that waits this long has failed.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// Ends the test when something that must happen does not.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future)
        .await
        .unwrap_or_else(|_| panic!("waited {DEADLINE:?} for {what}"))
}

pub async fn server() -> ApiServer {
    ApiServer::start(ApiServerOptions::default()).await.unwrap()
}

pub async fn client(server: &ApiServer, user: User) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig(user)).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    // A refusal is what many tests look for; it must not be retried.
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

pub fn node(name: &str) -> Node {
    serde_json::from_value(json!({
        "metadata": { "name": name, "labels": { "kubernetes.io/os": "windows" } },
        "status": {
            "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-11-07T10:00:00Z" }],
            "nodeInfo": {
                "kubeletVersion": "v1.37.2", "kernelVersion": "10.0.26100.33438", "osImage": "Windows Server 2025",
                "containerRuntimeVersion": "containerd://2.1.4", "bootID": "11", "machineID": "m", "systemUUID": "s",
                "architecture": "amd64", "operatingSystem": "windows", "kubeProxyVersion": "",
            },
            "addresses": [{ "type": "InternalIP", "address": "192.168.10.25" }],
        },
    }))
    .unwrap()
}

pub fn pod(name: &str, node: Option<&str>, labels: &serde_json::Value) -> Pod {
    serde_json::from_value(json!({
        "metadata": { "name": name, "labels": labels },
        "spec": { "nodeName": node, "containers": [{ "name": "app", "image": "example/hello:1.3" }] },
    }))
    .unwrap()
}

/// Adds a pod to the namespace `default` and makes it Running and ready.
pub async fn run_pod(client: &Client, pod: Pod, address: &str) -> Pod {
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let name = pods
        .create(&kube::api::PostParams::default(), &pod)
        .await
        .unwrap()
        .metadata
        .name
        .unwrap();
    let status = json!({ "status": {
        "phase": "Running", "podIP": address, "podIPs": [{ "ip": address }],
        "conditions": [{ "type": "Ready", "status": "True" }],
        "containerStatuses": [{
            "name": "app", "ready": true, "restartCount": 0, "image": "example/hello:1.3", "imageID": "",
            "state": { "running": { "startedAt": "2026-11-07T10:00:00Z" } },
        }],
    }});
    pods.patch_status(
        &name,
        &kube::api::PatchParams::default(),
        &kube::api::Patch::Strategic(status),
    )
    .await
    .unwrap()
}

/// Code and message of a refusal by the server.
pub fn refusal<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> (u16, String) {
    match result.unwrap_err() {
        kube::Error::Api(status) => (status.code, status.message.clone()),
        other => panic!("no refusal of the server: {other}"),
    }
}
