//! A power cut while nobody looks, found by the next command, and the way back to health.

use crate::scene::{NODE, Scene, events, first};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

impl Scene {
    /// `drainboard nodes -o json` of the Windows node: its boot id, and how it restarted.
    async fn look(&self) -> (String, Value) {
        let words = [
            "--kubeconfig",
            "config",
            "--request-timeout",
            "60s",
            "nodes",
            "-o",
            "json",
        ];
        let ended = self.operator.drainboard_with(&words).await;
        assert_eq!(ended.code, 0, "{}", ended.err);
        let nodes: Value = serde_json::from_str(&ended.out).unwrap();
        let nodes = nodes["items"].as_array().unwrap();
        let node = nodes.iter().find(|node| node["name"] == NODE).unwrap();
        (
            node["boot_id"].as_str().unwrap().to_owned(),
            node["restarted_without_drain"].clone(),
        )
    }

    /// The file in which this operator's commands remember boots.
    fn memory_of_boots(&self) -> PathBuf {
        let all = self.operator.path().join(".local/state/drainboard/maintenance");
        let mut servers = std::fs::read_dir(all).unwrap();
        servers.next().unwrap().unwrap().path().join("boots.json")
    }

    pub async fn lab(&self, verb: &str) {
        let words = [
            "--kubeconfig",
            "config",
            "--request-timeout",
            "60s",
            "lab",
            verb,
            NODE,
        ];
        let ended = self.operator.drainboard_with(&words).await;
        assert_eq!(ended.code, 0, "{}", ended.err);
    }

    /// Waits until the node reports this boot id, and the lab plays nothing on it any more.
    async fn back_with(&self, boot_id: &str) {
        let back = async {
            loop {
                let node = self.node().await;
                let busy = node.metadata.annotations.unwrap_or_default();
                let busy = busy.keys().any(|key| key.starts_with("drainboard.dev/lab"));
                if self.boot_id().await == boot_id && !busy {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), back).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_between_two_commands_is_found_and_cleaned_up() {
    let scene = Scene::at_speed(40.0).await;
    assert_eq!(scene.look().await, ("11".to_owned(), Value::Null));
    scene.lab("crash").await;
    scene.back_with("12").await;
    for _ in 0..2 {
        let (boot_id, restart) = scene.look().await;
        assert_eq!(boot_id, "12");
        assert_eq!(
            (&restart["before"], &restart["after"]),
            (&"11".into(), &"12".into()),
            "{restart}"
        );
        assert!(restart["seen_at"].is_string(), "{restart}");
    }
    let words = [
        "--kubeconfig",
        "config",
        "--snapshot",
        "120x40",
        "--pane",
        "updates",
    ];
    let frame = scene.operator.drainboard_with(&words).await;
    assert!(frame.out.contains("▲ crash?"), "{}", frame.out);

    let reboot = Scene::reboot_command("reboot");
    let ended = scene
        .maintain(&[
            NODE,
            "--purpose=cleanup",
            "--yes",
            "--delete-emptydir-data",
            // Deleted pods from before the crash hang until the restart.
            "--skip-wait-for-delete-timeout=2",
            "-o",
            "json",
            &reboot,
        ])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    let events = events(&ended.out);
    let preflight = first(&events, "preflight").to_string();
    assert!(
        preflight.contains("restarted without drain: boot id 11 became 12"),
        "{preflight}"
    );
    assert_eq!(scene.look().await, ("13".to_owned(), Value::Null));
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_under_maintenance_is_never_marked_on_any_machine() {
    let scene = Scene::at_speed(40.0).await;
    assert_eq!(scene.look().await, ("11".to_owned(), Value::Null));
    let reboot = Scene::reboot_command("update");
    let words = [NODE, "--yes", "--delete-emptydir-data", "-o", "json", &reboot];
    let ended = scene.maintain(&words).await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    // As another machine remembers it, which saw nothing of the maintenance but what it left on the node, and whose
    // clock is so far ahead that the pods seem to be older than the boot.
    let file = scene.memory_of_boots();
    let mut memory: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let uid = scene.node().await.metadata.uid.unwrap();
    let boot = &mut memory["nodes"][&uid];
    assert_eq!(boot["boot_id"], "12", "{boot}");
    *boot = serde_json::json!({"boot_id": "11", "last_seen": "2999-01-01T00:00:00Z"});
    std::fs::write(&file, memory.to_string()).unwrap();
    assert_eq!(scene.look().await, ("12".to_owned(), Value::Null));
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_that_is_garbage_or_cannot_be_written_is_no_error() {
    let scene = Scene::at_speed(40.0).await;
    scene.look().await;
    let memory = scene.memory_of_boots();
    std::fs::write(&memory, "garbage").unwrap();
    assert_eq!(scene.look().await.1, Value::Null);
    std::fs::remove_file(&memory).unwrap();
    std::fs::create_dir(&memory).unwrap();
    assert_eq!(scene.look().await, ("11".to_owned(), Value::Null));
    scene.stop().await;
}
