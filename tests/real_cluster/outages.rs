//! The API server goes away in each step of a maintenance.
//!
//! `DRAINBOARD_OUTAGE` says for how many seconds (3 by default).

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::lab::{Lab, part};
use crate::maintenance::{Maintenance, NODE, is_cordoned, lab_client, settled, seven_ready_pods};
use crate::parts::{PATIENCE, directory};
use crate::read_only::{lines_so_far, requests_of_the_admin};
use crate::witness::{nothing_improper, uncordoned_after_the_gate};

/// After which event the power goes, and in which step that is noticed: in that one, or in the next if the request
/// that was under way came through.
const STEPS: &[(&str, [&str; 2])] = &[
    ("preflight", ["cordon", "drain"]),
    ("evicting", ["drain", "drain"]),
    ("awaiting_reboot", ["restart", "restart"]),
    ("boot_id_changed", ["revision", "network"]),
    ("network_ready", ["uncordon", "pods-back"]),
    ("uncordoned", ["pods-back", "pods-back"]),
];

/// The API server loses its power for this long.
fn outage(length: Duration) {
    let process = std::fs::read_to_string(directory().join("kube-apiserver.pid")).expect("its process");
    let killed = Command::new("kill").args(["-s", "KILL", process.trim()]).status();
    assert!(killed.expect("kill").success());
    part("stop", "kube-apiserver");
    sleep(length);
    part("start", "kube-apiserver");
}

/// Waits until the preflight has begun: nothing else asks for these.
fn until_the_preflight_asks(from: usize) {
    let begun = Instant::now();
    let asks = || {
        let requests = requests_of_the_admin(from);
        requests
            .iter()
            .any(|request| request["objectRef"]["resource"] == "runtimeclasses")
    };
    while !asks() {
        assert!(begun.elapsed() < PATIENCE, "no preflight was begun");
        sleep(Duration::from_millis(1));
    }
}

#[tokio::test]
async fn the_api_server_is_gone_in_each_step() {
    let length = std::env::var("DRAINBOARD_OUTAGE").ok();
    let length = Duration::from_secs(length.map_or(3, |seconds| seconds.parse().expect("seconds")));
    let _lab = Lab::attach_with(&["--speed", "4"]);
    let client = lab_client().await;
    settled(&client).await;
    let from = lines_so_far();
    let mut maintenance = Maintenance::begin();
    until_the_preflight_asks(from);
    outage(length);
    let mut noticed = vec![maintenance.until_named("api_lost")["step"].clone()];
    assert_eq!(noticed, ["preflight"]);
    for (event, steps) in STEPS {
        maintenance.until_named(event);
        outage(length);
        let lost = maintenance.until_named("api_lost");
        assert!(steps.iter().any(|step| lost["step"] == *step), "{event}: {lost}");
        assert!(
            lost["cause"].as_str().is_some_and(|cause| !cause.is_empty()),
            "{lost}"
        );
        let back = maintenance.until_named("api_regained");
        assert!(
            back["seconds"].as_f64().is_some_and(|seconds| seconds > 0.5),
            "{back}"
        );
        noticed.push(lost["step"].clone());
    }
    maintenance.ends_well();
    println!("gone for {length:?} in the steps {}", json!(noticed));
    let lost = maintenance.events("api_lost").len();
    assert_eq!(lost, maintenance.events("api_regained").len());
    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, NODE);
    uncordoned_after_the_gate(&requests, &maintenance.heard);
    assert!(!is_cordoned(&client, NODE).await);
    seven_ready_pods(&client).await;
}
