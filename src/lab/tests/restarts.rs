//! Given a node of the lab that is restarted by its operator, this is how it comes back.

use super::*;
use crate::lab::client::LabClient;
use crate::lab::error::LabError;
use crate::lab::play::{PLAYING, Verb, annotation, ask};
use k8s_openapi::api::core::v1::{ContainerStatus, Event};

/// Slow enough to act between the node's return and that of its network pods (18 s in the article).
const WATCHABLE: f64 = 10.0;

/// Asks the node to play this, as the command line does.
pub async fn play(client: &Client, node: &str, verb: Verb) -> Result<(), LabError> {
    ask(
        &LabClient::new(client.clone()),
        "https://lab",
        node,
        verb,
        PATIENCE,
    )
    .await
}

pub async fn node(client: &Client) -> Node {
    Api::all(client.clone()).get(WINDOWS_NODE).await.unwrap()
}

pub fn boot_id(node: &Node) -> &str {
    &node.status.as_ref().unwrap().node_info.as_ref().unwrap().boot_id
}

fn revision(node: &Node) -> &str {
    let info = node.status.as_ref().unwrap().node_info.as_ref().unwrap();
    info.kernel_version.rsplit('.').next().unwrap()
}

/// Status of condition Ready, and when it turned.
pub fn ready_condition(node: &Node) -> (String, String) {
    let conditions = node.status.as_ref().unwrap().conditions.as_ref().unwrap();
    let ready = conditions.iter().find(|one| one.type_ == "Ready").unwrap();
    let turned = ready.last_transition_time.as_ref().unwrap().0.to_string();
    (ready.status.clone(), turned)
}

/// Waits until `condition` holds of the Windows node.
pub async fn until_node(client: &Client, what: &str, condition: impl Fn(&Node) -> bool) -> Node {
    let waited = async {
        loop {
            let node = node(client).await;
            if condition(&node) {
                return node;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("it never came to: {what}"))
}

/// Waits until the restart of the Windows node is over.
pub async fn until_restarted(client: &Client, new_boot: &str) {
    until_node(client, "the end of the restart", |node| {
        boot_id(node) == new_boot && annotation(node, PLAYING).is_none()
    })
    .await;
}

pub fn statuses(pod: &Pod) -> &[ContainerStatus] {
    let status = pod.status.as_ref().unwrap();
    status.container_statuses.as_deref().unwrap_or_default()
}

pub fn restarts(pod: &Pod) -> i32 {
    statuses(pod)
        .iter()
        .map(|container| container.restart_count)
        .sum()
}

/// The events of a pod or node with this reason.
pub async fn events(client: &Client, object: &str, reason: &str) -> Vec<Event> {
    let events: Api<Event> = Api::all(client.clone());
    let all = events.list(&ListParams::default()).await.unwrap().items;
    all.into_iter()
        .filter(|event| event.involved_object.name.as_deref() == Some(object))
        .filter(|event| event.reason.as_deref() == Some(reason))
        .collect()
}

/// Cordons the node and evicts its seven pods; returns when their successors wait.
async fn drain(client: &Client) {
    cordon(client, true).await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), "win-demo");
    for pod in pods.list(&ListParams::default()).await.unwrap().items {
        pods.evict(name(&pod), &kube::api::EvictParams::default())
            .await
            .unwrap();
    }
    until(client, "win-demo", "seven pods without a node", |pods| {
        pods.len() == 7 && pods.iter().all(waits_for_a_node)
    })
    .await;
}

async fn network_pods(client: &Client) -> Vec<Pod> {
    let mut found = Vec::new();
    for (namespace, pod) in [
        ("calico-system", "calico-node-windows-q54h2"),
        ("kube-system", "kube-proxy-windows-z9qdq"),
    ] {
        let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
        found.push(pods.get(pod).await.unwrap());
    }
    found
}

fn container_ids(pods: &[Pod]) -> Vec<String> {
    pods.iter()
        .flat_map(statuses)
        .map(|container| container.container_id.clone().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_updated_node_reports_first_and_its_network_pods_restart_later() {
    let (lab, client) = lab_at(WATCHABLE).await;
    drain(&client).await;
    let before = node(&client).await;
    assert_eq!((boot_id(&before), revision(&before)), ("11", "33438"));
    let old = network_pods(&client).await;
    let old_restarts: i32 = old.iter().map(restarts).sum();

    play(&client, WINDOWS_NODE, Verb::Update).await.unwrap();
    let back = until_node(&client, "a new boot id", |node| boot_id(node) != "11").await;
    assert_eq!((boot_id(&back), revision(&back)), ("12", "33674"));
    assert_eq!(
        ready_condition(&back),
        ready_condition(&before),
        "it was never NotReady"
    );
    assert_eq!(
        back.metadata.labels, before.metadata.labels,
        "its build is what it was"
    );
    let not_yet = network_pods(&client).await;
    assert_eq!(container_ids(&not_yet), container_ids(&old));
    assert!(annotation(&back, PLAYING).is_some());

    until_restarted(&client, "12").await;
    let new = loop {
        let pods = network_pods(&client).await;
        if pods.iter().all(ready) {
            break pods;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let ids = container_ids(&new);
    assert_eq!(ids.len(), 3);
    assert!(!ids.iter().any(|id| container_ids(&old).contains(id)), "{ids:?}");
    assert_eq!(new.iter().map(restarts).sum::<i32>(), old_restarts + 3);
    let told = events(&client, WINDOWS_NODE, "Rebooted").await;
    assert_eq!(
        told[0].message.as_deref(),
        Some("Node k8s-lab-win-1 has been rebooted, boot id: 12")
    );

    cordon(&client, false).await;
    let pods = until(&client, "win-demo", "seven ready pods", |pods| {
        pods.len() == 7 && pods.iter().all(ready)
    })
    .await;
    assert_eq!(pods.iter().map(restarts).sum::<i32>(), 0);
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_start_before_the_network_pods_stay_without_network() {
    let (lab, client) = lab_at(WATCHABLE).await;
    drain(&client).await;
    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    let back = until_node(&client, "a new boot id", |node| boot_id(node) == "12").await;
    assert_eq!(revision(&back), "33438");
    cordon(&client, false).await;

    let pods = until(&client, "win-demo", "hello-win in CrashLoopBackOff", |pods| {
        pods.iter().any(|pod| {
            statuses(pod).iter().any(|container| {
                let waiting = container.state.as_ref().and_then(|state| state.waiting.as_ref());
                waiting.is_some_and(|waiting| waiting.reason.as_deref() == Some("CrashLoopBackOff"))
            })
        })
    })
    .await;
    for pod in &pods {
        let nobody_asks = name(pod).starts_with("reports");
        assert_eq!(ready(pod), nobody_asks, "{}", name(pod));
    }
    let aspnetapp = pods
        .iter()
        .find(|pod| name(pod).starts_with("aspnetapp"))
        .unwrap();
    let unhealthy = &events(&client, name(aspnetapp), "Unhealthy").await[0];
    let address = aspnetapp.status.as_ref().unwrap().pod_ip.as_deref().unwrap();
    assert_eq!(
        unhealthy.message.as_deref().unwrap(),
        format!(
            "Readiness probe failed: Get \"http://{address}:8080/\": context deadline exceeded (Client.Timeout exceeded \
             while awaiting headers)"
        )
    );

    // recreated later they work at once
    let api: Api<Pod> = Api::namespaced(client.clone(), "win-demo");
    for pod in &pods {
        api.delete(name(pod), &DeleteParams::default()).await.unwrap();
    }
    let new = until(&client, "win-demo", "seven new ready pods", |now| {
        now.len() == 7
            && now
                .iter()
                .all(|pod| ready(pod) && !pods.iter().any(|old| name(old) == name(pod)))
    })
    .await;
    assert_eq!(new.iter().map(restarts).sum::<i32>(), 0);
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_restarts_answers_nothing_and_tells_its_new_boot_time_afterwards() {
    let (lab, client) = lab_at(WATCHABLE).await;
    let scrape = || {
        let path = "/api/v1/namespaces/monitoring/pods/kps-prometheus-windows-exporter-l45kh:9182/proxy/metrics?collect[]=system";
        client.request_text(http::Request::get(path).body(Vec::new()).unwrap())
    };
    let usage = || {
        let path = format!("/apis/metrics.k8s.io/v1beta1/nodes/{WINDOWS_NODE}");
        client.request_text(http::Request::get(path).body(Vec::new()).unwrap())
    };
    let boot_time = |text: &str| -> f64 {
        let line = text
            .lines()
            .find(|line| line.starts_with("windows_system_boot_time_timestamp "));
        line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let before = boot_time(&scrape().await.unwrap());
    usage().await.unwrap();
    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    assert!(scrape().await.is_err());
    assert!(usage().await.is_err());

    until_restarted(&client, "12").await;
    assert!(boot_time(&scrape().await.unwrap()) > before + 3600.0);
    usage().await.unwrap();
    lab.stop().await;
}
