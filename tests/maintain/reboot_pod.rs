//! The restart by a HostProcess pod on the node: once, told, written down, and nothing left behind.

use crate::scene::{NODE, Scene, events, first, names};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use std::time::Duration;

const ONCE: [&str; 6] = [
    NODE,
    "--yes",
    "--delete-emptydir-data",
    "-o",
    "json",
    "--reboot-pod",
];

impl Scene {
    /// The HostProcess pods of this program.
    async fn own_pods(&self) -> Vec<Pod> {
        let pods = Api::<Pod>::all(self.client.clone());
        let ours = ListParams::default().labels("app.kubernetes.io/managed-by=drainboard");
        pods.list(&ours).await.unwrap().items
    }

    /// Waits until none is left: the kubelet removes a pod some time after it was asked to.
    async fn no_own_pods(&self) {
        for _ in 0..600 {
            if self.own_pods().await.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{:?}", self.own_pods().await);
    }

    /// All journals of the operator.
    fn journal(&self) -> String {
        let root = self.operator.path().join(".local/state/drainboard/maintenance");
        let servers = std::fs::read_dir(root).unwrap();
        let files = servers.flat_map(|server| std::fs::read_dir(server.unwrap().path()).unwrap());
        files
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn updates_that_wait_for_a_restart_are_finished_by_a_pod() {
    let scene = Scene::at_speed(10.0).await;
    let ended = scene.maintain(&ONCE).await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    let told = events(&ended.out);
    assert_eq!(first(&told, "boot_id_changed")["after"], "12");
    assert_eq!(first(&told, "revision")["grown"], true);
    let command = names(&told)
        .iter()
        .filter(|name| **name == "reboot_command")
        .count();
    assert_eq!(command, 2, "started and ended: {}", ended.out);
    // Beside the JSON lines, and in the journal.
    let journal = scene.journal();
    for words in [
        "is made on node k8s-lab-win-1",
        "RebootRequired is set on node k8s-lab-win-1: it restarts in 30 s",
        "is removed",
    ] {
        assert!(ended.err.contains(words), "`{words}` is not in:\n{}", ended.err);
        let kept = journal
            .lines()
            .any(|line| line.starts_with(r#"{"output":{"#) && line.contains(words));
        assert!(kept, "`{words}` is not in:\n{journal}");
    }
    scene.no_own_pods().await;

    // The updates are in: there is nothing to restart for.
    let ended = scene.maintain(&ONCE).await;
    assert_eq!(ended.code, 12, "{}\n{}", ended.out, ended.err);
    let reason = first(&events(&ended.out), "failed")["reason"].to_string();
    for words in [
        "RebootRequired is not set",
        "install the updates first",
        "--no-restart",
        "--purpose restart",
    ] {
        assert!(reason.contains(words), "`{words}` is not in {reason}");
    }
    assert!(scene.is_cordoned().await);
    assert_eq!(scene.boot_id().await, "12");
    let record = scene.record().await.unwrap();
    assert_eq!(record["rebootStarted"], false, "it may be tried again");
    scene.no_own_pods().await;

    // The operator sees that it needed none.
    let ended = scene
        .maintain(&[NODE, "--resume", "--no-restart", "-o", "json"])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    assert!(!scene.is_cordoned().await);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_the_pod_runs_and_resumed_it_restarts_once_and_leaves_no_pod() {
    let scene = Scene::at_speed(4.0).await;
    let mut child = scene.starts(&ONCE);
    while scene.own_pods().await.is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Another machine, which does not know how it was to be restarted.
    let ended = scene
        .maintain(&[NODE, "--resume", "-o", "json", "--restart-timeout", "60s"])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    assert!(ended.err.contains("was left by an earlier run"), "{}", ended.err);
    assert!(ended.err.contains("RebootRequired is set"), "{}", ended.err);
    assert_eq!(scene.boot_id().await, "12");
    scene.no_own_pods().await;
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_pod_would_be_refused_is_said_before_anything_changes() {
    let scene = Scene::at_speed(10.0).await;
    let ended = scene
        .maintain(&[
            NODE,
            "--dry-run",
            "--delete-emptydir-data",
            "--reboot-pod",
            "--host-process-namespace",
            "demo",
        ])
        .await;
    assert_eq!(ended.code, 12, "{}\n{}", ended.out, ended.err);
    for words in [
        "namespace demo does not admit HostProcess pods",
        "enforce=privileged",
    ] {
        assert!(ended.out.contains(words), "`{words}` is not in:\n{}", ended.out);
    }
    let ended = scene
        .maintain(&["k8s-lab-node-1", "--dry-run", "--reboot-pod"])
        .await;
    assert!(
        ended.out.contains("--reboot-pod is for Windows nodes"),
        "{}",
        ended.out
    );
    let ended = scene
        .maintain(&[NODE, "--dry-run", "--host-process-image", "x"])
        .await;
    ended.told(64, &["go with --reboot-pod"]);
    scene.stop().await;
}
