//! The program is killed at any instant, and started again with `--resume`: nothing is lost and nothing done twice.
//!
//! `DRAINBOARD_KILLS` says how many maintenances are killed (20 by default).

use crate::scene::{NODE, Scene};
use std::time::Duration;

/// Spreads the instants over a maintenance, the same in each run: the fractional parts of multiples of the golden ratio.
fn instant(index: u32, longest: Duration) -> Duration {
    longest.mul_f64((f64::from(index) * 0.618_033_988_749_895).fract())
}

fn drainboard(scene: &Scene, reboot: &str) -> std::process::Child {
    scene.starts(&[NODE, "--yes", "--delete-emptydir-data", "-o", "json", reboot])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_instant_and_resumed() {
    let kills = std::env::var("DRAINBOARD_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let scene = Scene::at_speed(20.0).await;
    let reboot = Scene::reboot_command("update");
    // How long it takes when nobody kills it.
    let began = std::time::Instant::now();
    let ended = scene
        .maintain(&[NODE, "--yes", "--delete-emptydir-data", "-o", "json", &reboot])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    let longest = began.elapsed();
    let mut boots: u32 = scene.boot_id().await.parse().unwrap();
    for index in 1..=kills.unwrap_or(20) {
        let mut child = drainboard(&scene, &reboot);
        tokio::time::sleep(instant(index, longest)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let record = scene.record().await;
        let cordoned = scene.is_cordoned().await;
        let mut words = vec![
            NODE,
            "--yes",
            "--delete-emptydir-data",
            "-o",
            "json",
            reboot.as_str(),
            "--restart-timeout",
            "30s",
        ];
        match &record {
            Some(_) => words.push("--resume"),
            None => assert!(!cordoned, "kill {index}: cordoned without a record"),
        }
        let mut ended = scene.maintain(&words).await;
        if record
            .as_ref()
            .is_some_and(|record| record["rebootStarted"] == true)
            && ended.code == 11
        {
            // The kill came between the record and the command: it is never run twice, so somebody does it by hand.
            ended = scene
                .operator
                .drainboard_with(&["--kubeconfig", "config", "lab", "update", NODE])
                .await;
            assert_eq!(ended.code, 0, "{}", ended.err);
            ended = scene.maintain(&[NODE, "--resume", "-o", "json"]).await;
        }
        assert_eq!(
            ended.code,
            0,
            "kill {index} at {:?}: {}\n{}",
            instant(index, longest),
            ended.out,
            ended.err
        );
        boots += 1;
        // A kill before the cordon or after the end leaves one whole maintenance beside it.
        let now: u32 = scene.boot_id().await.parse().unwrap();
        assert!(
            now == boots || (record.is_none() && now == boots + 1),
            "kill {index}: {boots} restarts, boot id {now}"
        );
        boots = now;
        assert!(!scene.is_cordoned().await, "kill {index}");
        assert_eq!(scene.record().await, None, "kill {index}");
        let pods = scene.win_demo().await;
        assert!(
            pods.len() == 7 && pods.iter().all(|(_, ready, restarts)| *ready && *restarts == 0),
            "kill {index}: {pods:?}"
        );
    }
    scene.stop().await;
}
