//! How much the simulated nodes and containers use at a point in time: the article's figures, with a small
//! wobble that never changes them once rounded as the article rounds them. Pure functions of time, so that an
//! hour of history can be told without having been lived.

use super::machine::Machine;
use super::text::unit;
use crate::domain::Timestamp;
use crate::domain::object::Os;

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1024.0 * MIB;

/// What a node uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeFigures {
    /// Busy part of all CPUs, 0..1.
    pub cpu_ratio: f64,
    /// Committed memory in bytes; 0 on Linux, which has no commit limit.
    pub commit_bytes: f64,
    /// Working set in bytes, as metrics-server reports it.
    pub working_set_bytes: f64,
}

/// What a container uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContainerFigures {
    /// Committed memory in bytes: what the job object's limit is compared with.
    pub commit_bytes: f64,
    /// Highest commit of this run in bytes.
    pub commit_peak_bytes: f64,
    /// Private working set in bytes, as the exporter reads it.
    pub private_working_set_bytes: f64,
    /// Working set in bytes, as metrics-server reads it from the kubelet.
    pub top_working_set_bytes: f64,
    /// CPU in use, cores.
    pub cpu_cores: f64,
}

/// Bases of a node: CPU ratio, commit ÷ limit, working set in GiB.
fn node_base(machine: &Machine) -> (f64, f64, f64) {
    match &*machine.name {
        "k8s-lab-win-1" => (0.054, 0.3125, 2.4),
        "k8s-lab-node-1" => (0.060, 0.0, 1.9),
        "k8s-lab-node-2" => (0.032, 0.0, 1.7),
        "k8s-lab-master-1" => (0.088, 0.0, 2.2),
        name => (
            0.02 + 0.6 * unit(name),
            0.2 + 0.72 * unit(&format!("{name}/commit")),
            1.0 + 5.0 * unit(&format!("{name}/ws")),
        ),
    }
}

/// The node's figures at `at`.
pub fn node(machine: &Machine, at: Timestamp) -> NodeFigures {
    let (cpu, commit, working_set) = node_base(machine);
    let wave = wobble(&machine.name, at, 420.0);
    let commit_bytes = match machine.os {
        Os::Windows => machine.commit_limit_bytes_f64() * (commit + 0.0012 * wave),
        Os::Linux => 0.0,
    };
    NodeFigures {
        cpu_ratio: cpu + CPU_SWING * swing_rate(&machine.name, at),
        commit_bytes,
        working_set_bytes: (working_set + 0.03 * wave) * GIB,
    }
}

/// CPU seconds that all CPUs of the node together were busy from its boot to `at`. Its derivative is
/// [`NodeFigures::cpu_ratio`] times the CPUs, so a rate over any window gives the article's figure.
pub fn node_busy_seconds(machine: &Machine, at: Timestamp) -> f64 {
    let (cpu, _, _) = node_base(machine);
    let up = seconds_between(machine.boot.at, at);
    let swing = swing(&machine.name, at) - swing(&machine.name, machine.boot.at);
    (cpu * up + CPU_SWING * swing).max(0.0) * f64::from(machine.cpus)
}

/// The base of a container: commit, private working set and `top` working set in MiB, CPU in thousandths.
struct Base(f64, f64, f64, f64);

fn container_base(os: Os, app: &str, container: &str) -> Base {
    match (os, app, container) {
        (Os::Windows, "hello-win", "hello") => Base(98.0, 42.0, 41.4, 0.3),
        (Os::Windows, "reports-writer", "writer") => Base(60.0, 21.0, 20.6, 0.2),
        (Os::Windows, "reports", "reports") => Base(214.0, 118.0, 116.5, 4.0),
        (Os::Windows, "aspnetapp", "aspnetapp") => Base(176.0, 92.0, 91.2, 1.6),
        (Os::Windows, "calico-node-windows", "felix") => Base(74.0, 46.0, 0.0, 9.0),
        (Os::Windows, "alloy-windows", "alloy") => Base(238.0, 164.0, 0.0, 12.0),
        (Os::Linux, "hello", "hello") => Base(0.0, 0.0, 3.4, 1.0),
        (Os::Linux, "kube-apiserver", _) => Base(0.0, 0.0, 486.0, 52.0),
        (Os::Linux, "etcd", _) => Base(0.0, 0.0, 94.0, 24.0),
        (Os::Linux, "prometheus", "prometheus") => Base(0.0, 0.0, 412.0, 31.0),
        (Os::Linux, "loki", "loki") => Base(0.0, 0.0, 186.0, 14.0),
        (Os::Linux, "grafana", "grafana") => Base(0.0, 0.0, 152.0, 6.0),
        _ => {
            let share = unit(&format!("{app}/{container}"));
            let working_set = 14.0 + 50.0 * share;
            Base(
                working_set * 2.1 + 20.0,
                working_set,
                working_set * 0.98,
                1.0 + 8.0 * share,
            )
        }
    }
}

/// Which container of which pod.
#[derive(Clone, Copy, Debug)]
pub struct Who<'a> {
    /// Operating system it runs on.
    pub os: Os,
    /// The workload ([`super::world::RunningPod::app`]).
    pub app: &'a str,
    /// The pod: two pods of one workload do not wobble in step.
    pub pod: &'a str,
    /// The container.
    pub container: &'a str,
    /// `limits.memory` in bytes: a container never commits more.
    pub memory_limit_bytes: Option<u64>,
    /// When this run started.
    pub started_at: Timestamp,
}

/// The container's figures at `at`.
pub fn container(who: Who<'_>, at: Timestamp) -> ContainerFigures {
    let Base(commit, private, top, millicores) = container_base(who.os, who.app, who.container);
    let wave = wobble(who.pod, at, 190.0);
    let ceiling = who
        .memory_limit_bytes
        .map_or(f64::MAX, |limit| to_f64(limit) * 0.97);
    let commit_bytes = ((commit + 0.3 * wave) * MIB).min(ceiling);
    ContainerFigures {
        commit_bytes,
        commit_peak_bytes: (commit_bytes + commit * 0.34 * MIB).min(ceiling),
        private_working_set_bytes: ((private + 0.3 * wave) * MIB).min(ceiling).max(0.0),
        top_working_set_bytes: if top > 0.0 {
            ((top + 0.3 * wave) * MIB).min(ceiling)
        } else {
            0.0
        },
        cpu_cores: millicores / 1000.0 * (1.0 + 0.2 * swing_rate(who.pod, at)),
    }
}

/// CPU seconds of the container from its start to `at`; its derivative is [`ContainerFigures::cpu_cores`].
pub fn container_cpu_seconds(who: Who<'_>, at: Timestamp) -> f64 {
    let Base(_, _, _, millicores) = container_base(who.os, who.app, who.container);
    let swing = swing(who.pod, at) - swing(who.pod, who.started_at);
    (millicores / 1000.0 * (seconds_between(who.started_at, at) + 0.2 * swing)).max(0.0)
}

/// Amplitude of a node's CPU ratio around its base: below what one decimal of a percent shows.
const CPU_SWING: f64 = 0.0003;
/// Length of a CPU swing.
const SWING_SECONDS: f64 = 300.0;

/// A smooth value in -1..1 that belongs to `name`.
fn wobble(name: &str, at: Timestamp, period: f64) -> f64 {
    (angle(at, period) + std::f64::consts::TAU * unit(name)).sin()
}

/// The derivative of [`swing`], -1..1.
fn swing_rate(name: &str, at: Timestamp) -> f64 {
    (angle(at, SWING_SECONDS) + std::f64::consts::TAU * unit(name)).cos()
}

fn swing(name: &str, at: Timestamp) -> f64 {
    wobble(name, at, SWING_SECONDS) * SWING_SECONDS / std::f64::consts::TAU
}

fn angle(at: Timestamp, period: f64) -> f64 {
    (seconds_since_epoch(at) % period) / period * std::f64::consts::TAU
}

/// Seconds since 1970.
#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit 52 bits")]
pub fn seconds_since_epoch(at: Timestamp) -> f64 {
    at.timestamp_millis() as f64 / 1000.0
}

fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    seconds_since_epoch(to) - seconds_since_epoch(from)
}

/// A number of bytes for arithmetic.
#[expect(clippy::cast_precision_loss, reason = "amounts of memory fit 52 bits")]
pub fn to_f64(amount: u64) -> f64 {
    amount as f64
}

impl Machine {
    /// The commit limit for arithmetic, bytes.
    pub fn commit_limit_bytes_f64(&self) -> f64 {
        to_f64(self.commit_limit_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::article::machines;
    use chrono::{TimeDelta, Utc};

    fn windows_node() -> Machine {
        machines(Utc::now())
            .into_iter()
            .find(|machine| machine.os == Os::Windows)
            .unwrap()
    }

    fn moments() -> impl Iterator<Item = Timestamp> {
        let start = Utc::now();
        (0..3600)
            .step_by(7)
            .map(move |second| start + TimeDelta::seconds(second))
    }

    #[test]
    fn at_every_moment_the_windows_node_shows_the_articles_commit_ratio() {
        let machine = windows_node();
        for at in moments() {
            let ratio = node(&machine, at).commit_bytes / machine.commit_limit_bytes_f64();
            assert_eq!(format!("{ratio:.2}"), "0.31");
        }
    }

    #[test]
    fn a_cpu_rate_over_any_window_gives_the_articles_percent() {
        let machine = windows_node();
        for at in moments() {
            for window in [5, 15, 60, 300] {
                let later = at + TimeDelta::seconds(window);
                let busy = node_busy_seconds(&machine, later) - node_busy_seconds(&machine, at);
                let percent =
                    100.0 * busy / f64::from(i32::try_from(window).unwrap()) / f64::from(machine.cpus);
                assert_eq!(format!("{percent:.1}"), "5.4", "window {window} s");
            }
        }
    }

    #[test]
    fn hello_win_shows_the_articles_memory_at_every_moment_and_in_both_pods() {
        for pod in ["hello-win-759c899954-tkfg6", "hello-win-759c899954-tq5nc"] {
            for at in moments() {
                let who = Who {
                    os: Os::Windows,
                    app: "hello-win",
                    pod,
                    container: "hello",
                    memory_limit_bytes: Some(256 << 20),
                    started_at: at - TimeDelta::minutes(42),
                };
                let figures = container(who, at);
                assert_eq!(format!("{:.0}", figures.commit_bytes / MIB), "98");
                assert_eq!(format!("{:.2}", figures.commit_bytes / (256.0 * MIB)), "0.38");
                assert_eq!(format!("{:.0}", figures.private_working_set_bytes / MIB), "42");
                // `kubectl top` cuts the fraction off
                assert_eq!(
                    format!("{:.0}", (figures.top_working_set_bytes / MIB).floor()),
                    "41"
                );
            }
        }
    }

    #[test]
    fn counters_never_go_back() {
        let machine = windows_node();
        let mut last = 0.0;
        for at in moments() {
            let busy = node_busy_seconds(&machine, at);
            assert!(busy >= last);
            last = busy;
        }
    }
}
