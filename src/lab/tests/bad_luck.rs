//! Given a node of the lab that has bad luck, this is what becomes of its pods.

use super::restarts::{boot_id, events, node, play, ready_condition, restarts, until_node, until_restarted};
use super::*;
use crate::lab::play::Verb;

fn address(pod: &Pod) -> Option<&str> {
    pod.status.as_ref()?.pod_ip.as_deref()
}

fn deleted(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Waits for the event that a pod's sandbox cannot be removed, and for its repetition.
async fn until_it_cannot_be_killed(client: &Client, pod: &str) -> String {
    let waited = async {
        loop {
            if let Some(event) = events(client, pod, "FailedKillPod").await.pop()
                && event.count > Some(1)
            {
                return event.message.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("{pod} was removed after all"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_power_cut_pods_have_no_network_and_cannot_be_removed_before_a_restart() {
    let (lab, client) = lab_at(20.0).await;
    let before = until(&client, "win-demo", "seven ready pods", |pods| {
        pods.len() == 7 && pods.iter().all(ready)
    })
    .await;
    play(&client, WINDOWS_NODE, Verb::Crash).await.unwrap();
    until_restarted(&client, "12").await;

    let after = until(&client, "win-demo", "seven pods that run again", |pods| {
        pods.iter().all(|pod| restarts(pod) > 0 && address(pod).is_some())
    })
    .await;
    for (old, new) in before.iter().zip(&after) {
        assert_eq!(old.metadata.uid, new.metadata.uid);
        assert_ne!(address(old), address(new), "a new sandbox has a new address");
        assert_eq!(ready(new), name(new).starts_with("reports"), "{}", name(new));
        let told = events(&client, name(new), "SandboxChanged").await;
        assert_eq!(told.len(), 1, "{}", name(new));
    }

    let pods: Api<Pod> = Api::namespaced(client.clone(), "win-demo");
    for pod in &after {
        pods.delete(name(pod), &DeleteParams::default()).await.unwrap();
    }
    let message = until_it_cannot_be_killed(&client, name(&after[0])).await;
    assert!(
        message.starts_with("error killing pod: failed to \"KillPodSandbox\" for \""),
        "{message}"
    );
    assert!(
        message.contains("hcnDeleteNamespace failed in Win32: The specified request is unsupported."),
        "{message}"
    );
    until(
        &client,
        "win-demo",
        "seven successors beside them, ready",
        |pods| {
            let stuck = pods.iter().filter(|pod| deleted(pod)).count();
            stuck == 7 && pods.iter().filter(|pod| ready(pod)).count() == 7
        },
    )
    .await;

    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    until_restarted(&client, "13").await;
    until(&client, "win-demo", "the old pods removed", |pods| {
        pods.len() == 7 && !pods.iter().any(deleted)
    })
    .await;
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_linux_node_that_lost_its_power_has_its_pods_back_with_network() {
    let (lab, client) = lab_at(SPEED).await;
    let nodes: Api<Node> = Api::all(client.clone());
    let before = nodes.get("k8s-lab-node-1").await.unwrap();
    play(&client, "k8s-lab-node-1", Verb::Crash).await.unwrap();
    let pods = until(&client, "demo", "hello restarted on its node and ready", |pods| {
        pods.iter()
            .any(|pod| name(pod) == "hello-55fb8f8684-69mvv" && restarts(pod) == 1 && ready(pod))
    })
    .await;
    let after = nodes.get("k8s-lab-node-1").await.unwrap();
    assert_ne!(boot_id(&before), boot_id(&after));
    let other = pods.iter().find(|pod| name(pod) == "hello-55fb8f8684-nztv2");
    assert_eq!(restarts(other.unwrap()), 0, "the other node had power");
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_disk_keeps_a_node_notready_for_a_quarter_of_an_hour_once() {
    let (lab, client) = lab_at(100.0).await;
    play(&client, WINDOWS_NODE, Verb::SlowDisk).await.unwrap();
    assert_eq!(
        boot_id(&node(&client).await),
        "11",
        "nothing happens before the restart"
    );
    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    until_node(&client, "an Unknown node", |node| {
        ready_condition(node).0 == "Unknown"
    })
    .await;
    until_restarted(&client, "12").await;
    let machine = lab.world().machine(WINDOWS_NODE).unwrap();
    let start = machine.boot.kubelet_at - machine.boot.at;
    assert_eq!(start, chrono::TimeDelta::seconds(9), "15 minutes at this speed");
    until_node(&client, "a ready node", |node| ready_condition(node).0 == "True").await;
    assert!(!lab.world().machine(WINDOWS_NODE).unwrap().armed.slow_disk);
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_is_stuck_goes_with_the_next_restart() {
    const POD: &str = "aspnetapp-769559d8ff-hd4t6";
    let (lab, client) = lab_at(SPEED).await;
    play(&client, WINDOWS_NODE, Verb::Stuck).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "win-demo");
    pods.delete(POD, &DeleteParams::default()).await.unwrap();
    until_it_cannot_be_killed(&client, POD).await;
    assert!(deleted(&pods.get(POD).await.unwrap()));

    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    until(&client, "win-demo", "the stuck pod gone", |pods| {
        !pods.iter().any(|pod| name(pod) == POD)
    })
    .await;
    lab.stop().await;
}
