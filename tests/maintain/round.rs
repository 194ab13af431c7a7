//! Two Windows nodes, one after another: a round from its begin to its end, stopped, killed and gone on with.

use crate::operator::Ended;
use crate::scene::{NODE, Scene, events, first, names};
use axum::Json;
use axum::routing::any;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SECOND: &str = "k8s-lab-win-2";
const POOL: &str = "--pool=10.0.26100";
const PLAIN: [&str; 4] = ["--yes", "--delete-emptydir-data", "-o", "json"];

async fn scene() -> Scene {
    Scene::with_windows_nodes(2, 10.0).await
}

async fn boots(scene: &Scene) -> (String, String) {
    (scene.boot_id_of(NODE).await, scene.boot_id_of(SECOND).await)
}

fn is(found: &(String, String), first: &str, second: &str) {
    assert_eq!((found.0.as_str(), found.1.as_str()), (first, second));
}

async fn maintain(scene: &Scene, words: &[&str]) -> Ended {
    let all: Vec<&str> = words.iter().copied().chain(PLAIN).collect();
    scene.maintain(&all).await
}

#[track_caller]
fn ended(ended: &Ended, code: i32) -> Vec<Value> {
    assert_eq!(ended.code, code, "{}\n{}", ended.out, ended.err);
    events(&ended.out)
}

/// The nodes that were begun, in order.
fn begun(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter(|event| event["event"] == "node_begun")
        .map(|event| event["node"].as_str().unwrap())
        .collect()
}

fn in_background(scene: &Scene, words: &[&str], out: &str) -> Child {
    let out = std::fs::File::create(scene.operator.path().join(out)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_drainboard"))
        .args(["--kubeconfig", "config", "--request-timeout", "60s", "maintain"])
        .args(words)
        .args(PLAIN)
        .current_dir(scene.operator.path())
        .env_clear()
        .env("HOME", scene.operator.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the output has an event for which this holds.
async fn told(scene: &Scene, out: &str, holds: impl Fn(&Value) -> bool) {
    let path = scene.operator.path().join(out);
    let said = async {
        loop {
            let text = std::fs::read_to_string(&path).unwrap();
            if text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .any(|event| holds(&event))
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(5), said).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_is_done_node_by_node_with_one_report() {
    let scene = scene().await;
    let reboot = Scene::reboot_command("update");
    let ended_well = maintain(&scene, &[POOL, &reboot, "--report", "round.md", "--soak", "1s"]).await;
    let events = ended(&ended_well, 0);
    assert_eq!(begun(&events), [NODE, SECOND]);
    // The second is begun only when the first is done and has soaked.
    let order: Vec<&str> = names(&events)
        .into_iter()
        .filter(|name| ["node_begun", "done", "node_ended", "waiting", "round_done"].contains(name))
        .collect();
    let of_a_node = ["node_begun", "done", "node_ended", "waiting"];
    assert_eq!(order, [&of_a_node[..], &of_a_node, &["round_done"]].concat());
    assert_eq!(first(&events, "waiting")["reason"], "soak");
    let standings: Vec<&Value> = events.iter().filter(|event| event["event"] == "round").collect();
    assert_eq!(standings.len(), 3);
    assert_eq!(standings[0]["forecast_end"], Value::Null, "nothing was seen yet");
    assert!(standings[1]["forecast_end"].is_string(), "{}", standings[1]);
    assert_eq!(
        (&standings[0]["done"], &standings[2]["done"]),
        (&json!(0), &json!(2))
    );

    is(&boots(&scene).await, "12", "12");
    assert!(!scene.is_cordoned().await && !scene.is_cordoned_of(SECOND).await);
    assert_eq!(scene.locks().await, Vec::<String>::new());
    let report = std::fs::read_to_string(scene.operator.path().join("round.md")).unwrap();
    for words in [
        "# Round of 2 nodes",
        "| k8s-lab-win-2 | done |",
        "## Maintenance of k8s-lab-win-1",
        "## Maintenance of k8s-lab-win-2",
        "### Pods that left",
        "| boot id | 11 → 12 |",
    ] {
        assert!(report.contains(words), "`{words}` is not in:\n{report}");
    }
    // A round that is over is not gone on with.
    maintain(&scene, &["--resume"]).await.told(12, &["no round"]);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_failure_stops_the_round_and_it_goes_on_where_it_stopped() {
    let scene = scene().await;
    // A restart without updates is no update.
    let reboot = Scene::reboot_command("reboot");
    let stopped = maintain(&scene, &[SECOND, NODE, &reboot]).await;
    let events = ended(&stopped, 14);
    assert_eq!(begun(&events), [SECOND], "as given, and no further");
    let stop = first(&events, "round_stopped");
    assert_eq!(
        (&stop["ending"], &stop["left"]),
        (&json!("not_updated"), &json!([SECOND, NODE]))
    );
    is(&boots(&scene).await, "11", "12");

    let gone_on = maintain(
        &scene,
        &[
            "--resume",
            "--accept-same-revision",
            &reboot,
            "--report",
            "round.json",
        ],
    )
    .await;
    let events = ended(&gone_on, 0);
    assert_eq!(begun(&events), [SECOND, NODE]);
    is(&boots(&scene).await, "12", "12");
    let report = std::fs::read_to_string(scene.operator.path().join("round.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["result"], json!([[SECOND, "done"], [NODE, "done"]]));
    assert_eq!(report["nodes"].as_array().unwrap().len(), 2, "{report}");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_that_is_killed_goes_on_as_a_round() {
    let scene = scene().await;
    let reboot = Scene::reboot_command("update");
    // At a node's begin, when it is drained, when it is just done, when all but the round's own end is noted.
    for (round, (node, event)) in [
        (NODE, "node_begun"),
        (NODE, "drained"),
        (NODE, "done"),
        (SECOND, "done"),
    ]
    .into_iter()
    .enumerate()
    {
        let before = boots(&scene).await;
        let out = format!("killed-{round}.jsonl");
        let mut child = in_background(&scene, &[NODE, SECOND, &reboot], &out);
        told(&scene, &out, |told| {
            told["event"] == event && told["node"] == node
        })
        .await;
        child.kill().unwrap();
        child.wait().unwrap();
        let mut gone_on = maintain(&scene, &["--resume", &reboot, "--restart-timeout", "30s"]).await;
        if gone_on.code == 11 {
            // The kill came between the record and the command: it is never run twice, so somebody does it by hand.
            let words = ["--kubeconfig", "config", "lab", "update", NODE];
            assert_eq!(scene.operator.drainboard_with(&words).await.code, 0);
            gone_on = maintain(&scene, &["--resume", &reboot]).await;
        }
        if (node, event) == (SECOND, "done") && gone_on.code == 12 {
            // The round was over before the kill came.
            assert!(gone_on.err.contains("no round"), "{}", gone_on.err);
        } else {
            ended(&gone_on, 0);
        }
        let next = |boot: &str| (boot.parse::<u32>().unwrap() + 1).to_string();
        assert_eq!(
            boots(&scene).await,
            (next(&before.0), next(&before.1)),
            "killed at {event} of {node}: each node restarts once"
        );
        assert!(!scene.is_cordoned().await && !scene.is_cordoned_of(SECOND).await);
    }
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_after_the_first_waits_for_somebody() {
    let scene = scene().await;
    let reboot = Scene::reboot_command("update");
    let paused = maintain(&scene, &[NODE, SECOND, "--pause-after-first", &reboot]).await;
    let events = ended(&paused, 15);
    assert_eq!(begun(&events), [NODE]);
    assert_eq!(first(&events, "round_stopped")["ending"], "paused");
    is(&boots(&scene).await, "12", "11");

    // Whoever goes on has looked.
    let gone_on = maintain(&scene, &["--resume", &reboot]).await;
    assert_eq!(begun(&ended(&gone_on, 0)), [SECOND]);
    is(&boots(&scene).await, "12", "12");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_in_the_soak_time_stops_the_round() {
    let scene = scene().await;
    let reboot = Scene::reboot_command("update");
    let mut child = in_background(&scene, &[NODE, SECOND, "--soak", "2m", &reboot], "soak.jsonl");
    told(&scene, "soak.jsonl", |event| event["reason"] == "soak").await;
    scene.lab("crash").await;
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap())
        .await
        .unwrap();
    let out = std::fs::read_to_string(scene.operator.path().join("soak.jsonl")).unwrap();
    assert_eq!(status.code(), Some(16), "{out}");
    let events = events(&out);
    assert_eq!(begun(&events), [NODE]);
    let reason = first(&events, "round_stopped")["reason"].to_string();
    assert!(
        reason.contains("restarted once more") || reason.contains("not ready any more"),
        "{reason}"
    );
    is(&boots(&scene).await, &scene.boot_id().await, "11");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outside_of_its_window_nothing_is_begun() {
    let scene = scene().await;
    // Four days after Patch Tuesday, for one minute that is as far from now as can be.
    let away = chrono::Utc::now() + chrono::TimeDelta::hours(12);
    let window = away.format("--window=%H:%M-%H:59 UTC").to_string();
    let window = if window.contains(":59-") {
        "--window=12:00-12:01 UTC".to_owned()
    } else {
        window
    };
    let mut child = in_background(&scene, &[POOL, &window], "window.jsonl");
    told(&scene, "window.jsonl", |event| event["event"] == "waiting").await;
    // A round has one run.
    maintain(&scene, &["--resume"]).await.told(3, &["another run"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let out = std::fs::read_to_string(scene.operator.path().join("window.jsonl")).unwrap();
    let events = events(&out);
    let waiting = first(&events, "waiting");
    assert_eq!(
        (&waiting["reason"], &waiting["node"]),
        (&json!("window"), &json!(NODE))
    );
    assert!(waiting["until"].is_string(), "{waiting}");
    assert_eq!(begun(&events), Vec::<&str>::new());
    assert_eq!(scene.locks().await, Vec::<String>::new());

    // A dry run looks at each node and says when.
    let looked = scene
        .maintain(&[POOL, &window, "--dry-run", "--delete-emptydir-data"])
        .await;
    for words in [NODE, SECOND, "what would happen", "opens", "not known yet"] {
        assert!(looked.out.contains(words), "`{words}` is not in:\n{}", looked.out);
    }
    maintain(&scene, &["--abandon"]).await.told(0, &["given up"]);
    maintain(&scene, &["--resume"]).await.told(12, &["no round"]);
    scene.stop().await;
}

/// A Prometheus with an alert that fires until it is told otherwise.
async fn prometheus(fires: Arc<AtomicBool>) -> (String, tokio::task::JoinHandle<()>) {
    let answer = move |body: String| {
        let alert = json!({"metric": {"alertname": "EtcdDown", "severity": "critical", "pod": "etcd-\u{1b}[31m0"}, "value": [0, "1"]});
        let asked = body.contains("ALERTS") && fires.load(Ordering::Relaxed);
        let result = if asked { vec![alert] } else { Vec::new() };
        async move { Json(json!({"status": "success", "data": {"resultType": "vector", "result": result}})) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/api/v1/query", any(answer));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, serving)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_block_while_they_fire_and_while_nobody_knows() {
    let scene = scene().await;
    let reboot = Scene::reboot_command("update");
    let alerts = "--block-on-alerts=severity=critical";
    // Nobody answers at this address.
    let mut child = in_background(
        &scene,
        &[NODE, alerts, "--prometheus", "http://127.0.0.1:9"],
        "unknown.jsonl",
    );
    told(&scene, "unknown.jsonl", |event| {
        event["reason"] == "alerts_unknown"
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!scene.is_cordoned().await);

    let fires = Arc::new(AtomicBool::new(true));
    let (url, serving) = prometheus(fires.clone()).await;
    let words = [NODE, alerts, "--prometheus", &url, &reboot];
    let mut child = in_background(&scene, &words, "alerts.jsonl");
    told(&scene, "alerts.jsonl", |event| {
        let text = event["text"].as_str().unwrap_or_default();
        event["reason"] == "alerts" && text.contains("EtcdDown of etcd-") && !text.contains('\u{1b}')
    })
    .await;
    assert!(!scene.is_cordoned().await);
    fires.store(false, Ordering::Relaxed);
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap())
        .await
        .unwrap();
    assert!(status.success(), "{status}");
    is(&boots(&scene).await, "12", "11");
    serving.abort();
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_that_can_never_be_is_wrong_usage() {
    let scene = scene().await;
    for (words, told) in [
        (&["--pool=10.0.20348"][..], "there are: 10.0.26100, linux"),
        (&["-l", "rack=7"], "no node has the labels"),
        (&[NODE, "--window", "22:00-04:00"], "expected [DAYS]"),
        (
            &[
                NODE,
                "--window",
                "Mon 22:00-04:00 UTC",
                "--patch-tuesday-plus",
                "4",
            ],
            "never opens",
        ),
        (&[NODE, "--patch-tuesday-plus", "4"], "--window"),
        (&[NODE, "--block-on-alerts", "critical"], "--block-on-alerts"),
        (&[NODE, POOL], "cannot be used with"),
    ] {
        maintain(&scene, words).await.told(64, &[told]);
    }
    let chosen = scene
        .maintain(&[
            "-l",
            "kubernetes.io/os=windows",
            "--order=fewest-pods",
            "--dry-run",
            "--delete-emptydir-data",
        ])
        .await;
    // Everything runs on the article's node at first.
    let at = |node: &str| chosen.out.find(&format!("{node}: what would happen")).unwrap();
    assert!(at(SECOND) < at(NODE), "{}", chosen.out);
    scene.stop().await;
}
