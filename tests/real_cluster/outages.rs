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
    let asks = || {
        let requests = requests_of_the_admin(from);
    nothing_improper(&requests, &maintenance.heard, NODE);
    uncordoned_after_the_gate(&requests, &maintenance.heard);
    assert!(!is_cordoned(&client, NODE).await);
    seven_ready_pods(&client).await;
}
