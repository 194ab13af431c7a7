//! Somebody takes the Lease of the pool over for another of its nodes, while a maintenance is under way.

use crate::scene::{NODE, Scene, events, first};
use drainboard::lab::embedded::LabOptions;
use std::time::Duration;

const SECOND: &str = "k8s-lab-win-2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_loses_the_lease_stops_and_says_so() {
    let scene = Scene::with(LabOptions {
        speed: 20.0,
        windows_nodes: 2,
        ..LabOptions::default()
    })
    .await;
    // Nobody restarts the nodes: both wait.
    let words = |node| [node, "--yes", "--delete-emptydir-data", "-o", "json"];
    let takes_over = async {
        while scene
            .record()
            .await
            .is_none_or(|record| record["reached"] != "restart")
        {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let refused = scene.maintain(&words(SECOND)).await;
        assert_eq!(refused.code, 12, "{}\n{}", refused.out, refused.err);
        let bold = [&words(SECOND)[..], &["--take-over", "--restart-timeout", "60s"]].concat();
        scene.maintain(&bold).await
    };
    let words_of_first = words(NODE);
    let stops = scene.maintain(&words_of_first);
    let ended = tokio::select! {
        ended = stops => ended,
        bold = takes_over => panic!("the other ended first: {}\n{}", bold.out, bold.err),
    };
    assert_eq!(ended.code, 13, "{}\n{}", ended.out, ended.err);
    let events = events(&ended.out);
    let failed = first(&events, "failed");
    let reason = failed["reason"].as_str().unwrap();
    for words in ["took the pool's Lease over", SECOND, "stays cordoned and drained"] {
        assert!(reason.contains(words), "{failed}");
    }
    assert!(scene.is_cordoned().await);
    assert!(scene.record().await.is_some(), "it can be resumed");
    scene.stop().await;
}
