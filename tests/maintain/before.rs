//! What is asked and refused before anything changes.

use crate::scene::{NODE, Scene};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_changes_nothing() {
    let scene = Scene::at_speed(40.0).await;
    let ended = scene
        .maintain(&[NODE, "--dry-run", "--delete-emptydir-data"])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    for words in ["hello-win-", "stays (DaemonSet)", "only Windows node"] {
        assert!(ended.out.contains(words), "`{words}` is not in:\n{}", ended.out);
    }
    assert!(!scene.is_cordoned().await);
    assert_eq!(scene.record().await, None);
    assert_eq!(scene.locks().await, Vec::<String>::new());
    assert_eq!(scene.win_demo().await.len(), 7);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_to_ask_and_no_yes_is_wrong_usage() {
    let scene = Scene::at_speed(40.0).await;
    scene.maintain(&[NODE]).await.told(64, &["--yes", "--dry-run"]);
    scene.maintain(&[]).await.told(64, &["NODE"]);
    scene.maintain(&["no-such-node", "--yes"]).await.told(12, &[]);
    let read_only = ["--read-only", "--kubeconfig", "config", "maintain", NODE, "--yes"];
    scene
        .operator
        .drainboard_with(&read_only)
        .await
        .told(12, &["--read-only"]);
    assert!(!scene.is_cordoned().await);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_under_way_is_said_and_a_status_lists_what_is() {
    let scene = Scene::at_speed(40.0).await;
    let ended = scene.maintain(&["--status"]).await;
    assert_eq!((ended.code, ended.out.trim()), (0, "no maintenance is under way"));
    scene
        .maintain(&[NODE, "--resume"])
        .await
        .told(12, &["no maintenance is under way"]);

    // Nobody restarts the node, so the time for that passes.
    let ended = scene
        .maintain(&[
            NODE,
            "--yes",
            "--delete-emptydir-data",
            "--restart-timeout",
            "2s",
            "-o",
            "json",
        ])
        .await;
    assert_eq!(ended.code, 11, "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("--resume"), "{}", ended.out);
    let ended = scene.maintain(&["--status"]).await;
    assert!(
        ended.out.contains(NODE) && ended.out.contains("update"),
        "{}",
        ended.out
    );

    let ended = scene.maintain(&[NODE, "--abandon"]).await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("stays cordoned"), "{}", ended.out);
    assert!(scene.is_cordoned().await);
    assert_eq!(scene.record().await, None);
    scene.stop().await;
}
