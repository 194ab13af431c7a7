//! The state of a node, told so that nothing is glossed over: what the Ready condition says, and beside it
//! everything that makes it doubtful.

use super::Timestamp;
use super::format::{ago, spoken_age};
use super::node::{Condition, ConditionStatus, Node};
use super::severity::Severity;

/// Lease age from which a node is late, seconds: it missed one renewal (the kubelet renews every 10 s).
pub const LEASE_AMBER_SECONDS: u64 = 20;
/// Lease age at which the control plane gives the node up, seconds (`leaseDurationSeconds`).
pub const LEASE_RED_SECONDS: u64 = 40;
/// How long a restart is news, seconds.
pub const REBOOT_NEWS_SECONDS: i64 = 15 * 60;

/// Taint that the control plane sets on a node that it no longer hears from.
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Conditions that are bad when `True`.
const BAD_WHEN_TRUE: [&str; 4] = [
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
    "NetworkUnavailable",
];

/// What the Ready condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Readiness {
    /// `True`.
    Ready,
    /// `False`: the kubelet itself says so.
    NotReady,
    /// `Unknown`, or no such condition: the control plane has not heard from the kubelet. kubectl prints
    /// `NotReady` for the former.
    Unknown,
}

impl Readiness {
    /// The word on the screens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::NotReady => "NotReady",
            Self::Unknown => "Unknown",
        }
    }

    /// Only a ready node is fine.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Ready => Severity::Fine,
            Self::NotReady | Self::Unknown => Severity::Critical,
        }
    }
}

/// What stands beside the readiness of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// E.g. `crash?`, `lease 31 s`, `MemoryPressure`, `rebooted 3 m ago`.
    pub words: String,
    /// How much it matters.
    pub severity: Severity,
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// What the Ready condition says.
    pub readiness: Readiness,
    /// When the Ready condition took this status.
    pub since: Option<Timestamp>,
    /// `spec.unschedulable`: a mark of its own, since a cordoned node can be healthy.
    pub cordoned: bool,
    /// Where the maintenance that is under way on it stands.
    pub in_work: Option<&'static str>,
    /// The rest, worst first.
    pub marks: Vec<Mark>,
}

impl NodeState {
    /// The state of `node` at `now`.
    ///
    /// `lease_age_seconds`: since the watch *saw* the lease renewed, by our own clock; `None` while no lease is
    /// known. `booted_at`: the boot time that the exporter measured.
    pub fn of(
        node: &Node,
        lease_age_seconds: Option<u64>,
        booted_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let ready = condition(node, "Ready");
        let mut marks: Vec<Mark> = [unreachable_mark(node), lease_age_seconds.and_then(lease_mark)]
            .into_iter()
            .flatten()
            .chain(
                BAD_WHEN_TRUE
                    .into_iter()
                    .filter_map(|kind| pressure_mark(node, kind)),
            )
            .chain(booted_at.and_then(|at| reboot_mark((now - at).num_seconds())))
            .collect();
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.severity));
        Self {
            readiness: match ready.map(|condition| condition.status) {
                Some(ConditionStatus::True) => Readiness::Ready,
                Some(ConditionStatus::False) => Readiness::NotReady,
                Some(ConditionStatus::Unknown) | None => Readiness::Unknown,
            },
            since: ready.and_then(|condition| condition.since),
            cordoned: node.unschedulable,
            in_work: None,
            marks,
        }
    }

    /// The same, of a node that is being worked on; `step` says where that is, e.g. `drain`.
    #[must_use]
    pub const fn in_work(mut self, step: Option<&'static str>) -> Self {
        self.in_work = step;
        self
    }

    /// The same, of a node that restarted without drain, if it did: it is Ready, and may be far from healthy.
    #[must_use]
    pub fn restarted_without_drain(mut self, did: bool) -> Self {
        if did {
            self.marks.insert(
                0,
                Mark {
                    words: "crash?".to_owned(),
                    severity: Severity::Warning,
                },
            );
            self.marks.sort_by_key(|mark| std::cmp::Reverse(mark.severity));
        }
        self
    }

    /// The worst of readiness and marks. A cordoned node is fine: somebody wants it so.
    pub fn severity(&self) -> Severity {
        self.marks
            .iter()
            .map(|mark| mark.severity)
            .fold(self.readiness.severity(), Severity::max)
    }
}

fn condition<'a>(node: &'a Node, kind: &str) -> Option<&'a Condition> {
    node.conditions.iter().find(|condition| &*condition.kind == kind)
}

fn unreachable_mark(node: &Node) -> Option<Mark> {
    node.taints
        .iter()
        .any(|taint| &*taint.key == UNREACHABLE)
        .then(|| Mark {
            words: "unreachable".to_owned(),
            severity: Severity::Critical,
        })
}

fn lease_mark(age_seconds: u64) -> Option<Mark> {
    let severity = match age_seconds {
        ..LEASE_AMBER_SECONDS => return None,
        LEASE_AMBER_SECONDS..LEASE_RED_SECONDS => Severity::Warning,
        LEASE_RED_SECONDS.. => Severity::Critical,
    };
    let age = spoken_age(i64::try_from(age_seconds).unwrap_or(i64::MAX));
    Some(Mark {
        words: format!("lease {age}"),
        severity,
    })
}

fn pressure_mark(node: &Node, kind: &str) -> Option<Mark> {
    let condition = condition(node, kind)?;
    (condition.status == ConditionStatus::True).then(|| Mark {
        words: kind.to_owned(),
        severity: Severity::Warning,
    })
}

fn reboot_mark(age_seconds: i64) -> Option<Mark> {
    // A boot time far in the future is a wrong clock, not news.
    (-REBOOT_NEWS_SECONDS..=REBOOT_NEWS_SECONDS)
        .contains(&age_seconds)
        .then(|| Mark {
            words: match ago(age_seconds).as_str() {
                "now" => "rebooted just now".to_owned(),
                ago => format!("rebooted {ago}"),
            },
            severity: Severity::Fine,
        })
}

#[cfg(test)]
mod tests;
