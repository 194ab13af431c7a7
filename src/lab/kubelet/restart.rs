//! Restarts of a machine: how long each part takes, and what is different afterwards.

use crate::domain::object::Os;
use crate::domain::{Name, Timestamp};
use crate::lab::machine::{Armed, Boot, Machine, Stage};
use crate::lab::text::uuid;
use crate::lab::timings::Timings;
use chrono::TimeDelta;
use std::time::Duration;

/// Why a machine restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// `Restart-Computer`, after the updates were installed or without any.
    Proper {
        /// Whether updates were installed.
        updated: bool,
    },
    /// Its power went and came back.
    PowerCut,
}

/// The durations of one restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// From its begin to the boot.
    pub down: Duration,
    /// From the boot to containerd.
    pub containerd: Duration,
    /// From the boot to the kubelet, which reports at once.
    pub kubelet: Duration,
    /// From there to the HostProcess pods, and the pod network with them.
    pub host_processes: Duration,
}

impl Course {
    /// The course of this restart of `machine`.
    pub fn of(restart: Restart, machine: &Machine, timings: Timings) -> Self {
        let (containerd, kubelet) = if machine.armed.slow_disk {
            // The kubelet waits for containerd, on which it depends.
            (timings.slow_disk_start(), timings.slow_disk_start())
        } else {
            (timings.containerd_start(), timings.kubelet_start())
        };
        let power_cut = restart == Restart::PowerCut;
        Self {
            down: if power_cut {
                timings.without_power()
            } else {
                timings.shutdown()
            },
            containerd,
            kubelet,
            host_processes: match machine.os {
                Os::Windows => timings.host_process_restart(power_cut),
                Os::Linux => Duration::ZERO,
            },
        }
    }
}

/// The machine when its kubelet reports after this restart, which booted it at `at`.
pub fn restarted(machine: &Machine, restart: Restart, course: Course, at: Timestamp) -> Machine {
    let after = |time: Duration| at + TimeDelta::from_std(time).unwrap_or_default();
    let last = &machine.boot;
    let boot = Boot {
        id: next_boot_id(machine),
        kernel_version: match restart {
            Restart::Proper { updated: true } => updated(machine.os, &last.kernel_version),
            Restart::Proper { updated: false } | Restart::PowerCut => last.kernel_version.clone(),
        },
        at,
        containerd_at: after(course.containerd),
        kubelet_at: after(course.kubelet),
        after_power_cut: restart == Restart::PowerCut,
    };
    Machine {
        boot,
        stage: match machine.os {
            Os::Windows => Stage::Reporting,
            // A Linux node's pod network is in the kernel and its CNI starts with the kubelet's first pods.
            Os::Linux => Stage::Up,
        },
        armed: Armed::default(),
        reboot_required: machine.reboot_required && restart != Restart::Proper { updated: true },
        restarts_at: None,
        ..machine.clone()
    }
}

/// A counter on Windows, a new UUID on Linux.
fn next_boot_id(machine: &Machine) -> Name {
    let last = &machine.boot.id;
    match last.parse::<u64>() {
        Ok(count) => (count + 1).to_string().into(),
        Err(_) => uuid(&format!("{}/{last}", machine.name)).into(),
    }
}

/// The growth of a Windows revision with one update: from the article's node (33438) to its image (33674).
const REVISIONS: u32 = 236;

/// The kernel version after one update. On Windows the last of four numbers is the revision; on Linux the third is
/// the patch level.
fn updated(os: Os, version: &str) -> Name {
    let (growing, growth) = match os {
        Os::Windows => (3, REVISIONS),
        Os::Linux => (2, 1),
    };
    let parts = version.split('.').enumerate().map(|(position, part)| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        match number.parse::<u32>() {
            Ok(number) if position == growing => format!("{}{rest}", number + growth),
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(".").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::article::{NODE_1, WINDOWS_NODE, machines};
    use chrono::Utc;

    fn machine(name: &str) -> Machine {
        let all = machines(Utc::now());
        all.into_iter().find(|machine| &*machine.name == name).unwrap()
    }

    fn course(restart: Restart, machine: &Machine) -> Course {
        Course::of(restart, machine, Timings::new(1.0))
    }

    const REBOOT: Restart = Restart::Proper { updated: false };
    const UPDATE: Restart = Restart::Proper { updated: true };

    #[test]
    fn the_articles_node_reports_10_s_after_the_restart_and_its_network_pods_are_back_after_28() {
        let course = course(REBOOT, &machine(WINDOWS_NODE));
        let reports = course.down + course.kubelet;
        assert_eq!(reports, Duration::from_secs(10));
        assert_eq!(reports + course.host_processes, Duration::from_secs(28));
    }

    #[test]
    fn after_a_power_cut_it_reports_within_the_grace_period_of_its_last_heartbeat() {
        let timings = Timings::new(1.0);
        let course = course(Restart::PowerCut, &machine(WINDOWS_NODE));
        assert_eq!(course.down + course.kubelet, Duration::from_secs(47));
        assert!(course.down + course.kubelet < timings.node_monitor_grace());
    }

    #[test]
    fn on_a_slow_disk_the_kubelet_waits_for_containerd_once() {
        let mut slow = machine(WINDOWS_NODE);
        slow.armed.slow_disk = true;
        let course = course(REBOOT, &slow);
        assert_eq!(course.kubelet, Duration::from_mins(15));
        let after = restarted(&slow, REBOOT, course, Utc::now());
        assert_eq!(after.boot.containerd_at - after.boot.at, TimeDelta::minutes(15));
        assert!(!after.armed.slow_disk);
    }

    #[test]
    fn an_update_counts_the_boot_and_raises_the_revision_and_a_reboot_counts_only() {
        let before = machine(WINDOWS_NODE);
        let after = |restart| restarted(&before, restart, course(restart, &before), Utc::now()).boot;
        assert_eq!(&*after(UPDATE).id, "12");
        assert_eq!(&*after(UPDATE).kernel_version, "10.0.26100.33674");
        assert_eq!(&*after(REBOOT).id, "12");
        assert_eq!(&*after(REBOOT).kernel_version, "10.0.26100.33438");
    }

    #[test]
    fn a_linux_node_gets_a_new_uuid_and_is_whole_at_once() {
        let before = machine(NODE_1);
        let after = restarted(&before, UPDATE, course(UPDATE, &before), Utc::now());
        assert_eq!(after.boot.id.len(), 36);
        assert_ne!(after.boot.id, before.boot.id);
        assert_eq!(&*after.boot.kernel_version, "6.12.49+deb13-amd64");
        assert_eq!(after.stage, Stage::Up);
    }
}
