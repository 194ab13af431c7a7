//! The four virtual machines.

use super::{MASTER, NODE_1, NODE_2, WINDOWS_NODE};
use crate::domain::Timestamp;
use crate::domain::object::Os;
use crate::lab::machine::{Armed, Boot, Machine, Stage};
use chrono::TimeDelta;
use std::net::Ipv4Addr;

const GIB: u64 = 1 << 30;

/// The article's machines, and more Windows nodes like its one (`k8s-lab-win-2`, …) until there are `windows_nodes`.
pub fn machines_with(windows_nodes: u8, now: Timestamp) -> Vec<Machine> {
    let mut all = machines(now);
    all.extend((2..=windows_nodes).map(|number| windows(number, now)));
    all
}

/// The machines as they are at `now`: the Windows node booted 14 hours ago for the 11th time, the Linux nodes
/// three days ago; the cluster itself is 15 hours old.
pub fn machines(now: Timestamp) -> Vec<Machine> {
    vec![
        linux(MASTER, 23, 45, now, "5f0c7f5e-9d52-4b0c-8f2e-0b6a4d1c7a11"),
        linux(NODE_1, 24, 211, now, "0e9d1b6c-44f7-49a5-9a63-d9d4b7a1c324"),
        linux(NODE_2, 26, 172, now, "b8a6c2f1-7d1e-4c55-8a0f-3fe0a92d5e90"),
        windows(1, now),
    ]
}

/// The first is the article's. The others have addresses that nobody else in the article has.
fn windows(number: u8, now: Timestamp) -> Machine {
    let (last_byte, subnet) = match number {
        1 => (25, 41),
        more => (30 + more, 100 + more),
    };
    Machine {
        name: WINDOWS_NODE.replace('1', &number.to_string()).into(),
        address: Ipv4Addr::new(192, 168, 10, last_byte),
        os: Os::Windows,
        cpus: 4,
        memory_bytes: 8 * GIB,
        commit_limit_bytes: 16 * GIB,
        joined_at: now - TimeDelta::hours(13),
        control_plane: false,
        pod_subnet: [172, 21, subnet],
        max_pods: 40,
        boot: Boot::proper("11", "10.0.26100.33438", now - TimeDelta::hours(14)),
        stage: Stage::Up,
        armed: Armed::default(),
        reboot_required: true,
        restarts_at: None,
    }
}

fn linux(name: &str, last_byte: u8, subnet: u8, now: Timestamp, boot_id: &str) -> Machine {
    Machine {
        name: name.into(),
        address: Ipv4Addr::new(192, 168, 10, last_byte),
        os: Os::Linux,
        cpus: 4,
        memory_bytes: 8 * GIB,
        commit_limit_bytes: 0,
        joined_at: now - TimeDelta::hours(if name == MASTER { 15 } else { 14 }),
        control_plane: name == MASTER,
        pod_subnet: [172, 21, subnet],
        max_pods: 110,
        boot: Boot::proper(boot_id, "6.12.48+deb13-amd64", now - TimeDelta::days(3)),
        stage: Stage::Up,
        armed: Armed::default(),
        reboot_required: false,
        restarts_at: None,
    }
}
