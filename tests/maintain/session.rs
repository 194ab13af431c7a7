//! The article's session: updates on the only Windows node, from preflight to seven ready pods.

use crate::scene::{NODE, Scene, events, first, names};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_as_in_the_article() {
    let scene = Scene::at_speed(4.0).await;
    assert_eq!(scene.boot_id().await, "11");
    let reboot = Scene::reboot_command("update");
    let report = scene.operator.file("report.md", "");
    let began = std::time::Instant::now();
    let ended = scene
        .maintain(&[
            NODE,
            "--yes",
            "--delete-emptydir-data",
            "-o",
            "json",
            &reboot,
            "--report",
            report.to_str().unwrap(),
        ])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    println!(
        "the session took {:.1} s at speed 4",
        began.elapsed().as_secs_f64()
    );

    let events = events(&ended.out);
    let preflight = first(&events, "preflight");
    assert_eq!(
        (&preflight["leaving"], &preflight["staying"]),
        (&7.into(), &5.into()),
        "{preflight}"
    );
    assert_eq!(first(&events, "drained")["pods"], 7);
    let boot = first(&events, "boot_id_changed");
    assert_eq!((&boot["before"], &boot["after"]), (&"11".into(), &"12".into()));
    let revision = first(&events, "revision");
    assert_eq!(revision["grown"], true, "{revision}");
    assert!(
        first(&events, "uncordoned")["after_milliseconds"]
            .as_i64()
            .unwrap()
            < 1000
    );
    assert_eq!(first(&events, "pods_ready")["ready"], 7);
    let evicted = names(&events).iter().filter(|name| **name == "evicted").count();
    assert_eq!(evicted, 7, "{:?}", names(&events));
    let order: Vec<&str> = names(&events)
        .into_iter()
        .filter(|name| !["evicting", "evicted", "reboot_command", "note"].contains(name))
        .collect();
    assert_eq!(
        order,
        [
            "preflight",
            "cordoned",
            "drained",
            "awaiting_reboot",
            "boot_id_changed",
            "revision",
            "network_ready",
            "uncordoned",
            "pods_ready",
            "done"
        ]
    );

    let pods = scene.win_demo().await;
    assert_eq!(pods.len(), 7, "{pods:?}");
    assert!(
        pods.iter().all(|(_, ready, restarts)| *ready && *restarts == 0),
        "{pods:?}"
    );
    assert!(!scene.is_cordoned().await);
    assert_eq!(scene.record().await, None);
    assert_eq!(scene.locks().await, Vec::<String>::new());
    let report = std::fs::read_to_string(report).unwrap();
    for words in [
        "| boot id | 11 → 12 |",
        "26100.33438 →",
        "## Pods that left",
        "hello-win-",
    ] {
        assert!(report.contains(words), "`{words}` is not in:\n{report}");
    }
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_without_updates_is_not_an_update() {
    let scene = Scene::at_speed(40.0).await;
    let reboot = Scene::reboot_command("reboot");
    let ended = scene
        .maintain(&[NODE, "--yes", "--delete-emptydir-data", "-o", "json", &reboot])
        .await;
    assert_eq!(ended.code, 14, "{}\n{}", ended.out, ended.err);
    assert!(
        scene.is_cordoned().await,
        "a node that is not updated is not given back"
    );

    let ended = scene
        .maintain(&[NODE, "--resume", "--accept-same-revision", "-o", "json"])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    assert_eq!(first(&events(&ended.out), "pods_ready")["ready"], 7);
    assert!(!scene.is_cordoned().await);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_cordoned_before_stays_so() {
    let scene = Scene::at_speed(40.0).await;
    let cordon = serde_json::json!({"spec": {"unschedulable": true}});
    let nodes = kube::Api::<k8s_openapi::api::core::v1::Node>::all(scene.client.clone());
    nodes
        .patch(
            NODE,
            &kube::api::PatchParams::default(),
            &kube::api::Patch::Merge(cordon),
        )
        .await
        .unwrap();
    let reboot = Scene::reboot_command("update");
    let ended = scene
        .maintain(&[NODE, "--yes", "--delete-emptydir-data", "-o", "json", &reboot])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    let events = events(&ended.out);
    assert_eq!(first(&events, "cordoned")["already"], true);
    first(&events, "left_cordoned");
    assert!(scene.is_cordoned().await);
    assert_eq!(scene.record().await, None);
    scene.stop().await;
}
