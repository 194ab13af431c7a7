//! The API server goes away in each step of a maintenance.
//!
//! `DRAINBOARD_OUTAGE` says for how many seconds (3 by default).

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::lab::{Lab, part};
use crate::maintenance::{Maintenance, NODE, is_cordoned, lab_client, settled, seven_ready_pods};
use crate::parts::{PATIENCE, directory};
use crate::read_only::{lines_so_far, requests_of_the_admin};
use crate::witness::{nothing_improper, uncordoned_after_the_gate};

/// After which events the power goes: in each step between two of them.
const EVENTS: &[&str] = &[
    "preflight",
    "evicting",
    "awaiting_reboot",
    "boot_id_changed",
    "network_ready",
    "uncordoned",
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
    let is_asked = |request: &serde_json::Value| request["objectRef"]["resource"] == "runtimeclasses";
    while !requests_of_the_admin(from).iter().any(is_asked) {
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
    maintenance.until_back_after_outages(1);
    for (before, event) in EVENTS.iter().enumerate() {
        maintenance.until_named(event);
        outage(length);
        maintenance.until_back_after_outages(before + 2);
    }
    maintenance.ends_well();
    let lost = maintenance.events("api_lost");
    let noticed: Vec<_> = lost.iter().filter_map(|event| event["step"].as_str()).collect();
    println!("gone for {length:?} in the steps {noticed:?}");
    // A cordon and an uncordon are over so soon that the request under way may have come through.
    // Every other step may be waiting for its next request while a short outage passes it by.
    let expected: &[&str] = if length >= Duration::from_secs(30) {
        &["preflight", "drain", "restart", "network", "pods-back"]
    } else {
        &["preflight"]
    };
    for step in expected {
        assert!(noticed.contains(step), "never in {step}: {noticed:?}");
    }
    for event in lost {
        let cause = event["cause"].as_str();
        assert!(cause.is_some_and(|cause| !cause.is_empty()), "{event}");
    }
    let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, NODE);
    uncordoned_after_the_gate(&requests, &maintenance.heard);
    assert!(!is_cordoned(&client, NODE).await);
    seven_ready_pods(&client).await;
}
