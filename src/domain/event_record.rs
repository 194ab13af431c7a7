//! Records of the Windows event log, and what those that matter mean for a node.

use super::{Name, Timestamp};

/// A record of a channel of the event log. Its texts are untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// When the node says it was written; its clock may have been wrong after a boot.
    pub at: Timestamp,
    /// Which program wrote it, for example `Service Control Manager`.
    pub source: Name,
    /// Its event id: what it means depends on the source.
    pub id: u32,
    /// How bad its writer thinks it is.
    pub level: RecordLevel,
    /// Its text.
    pub message: Box<str>,
}

/// Levels of the event log by their numbers: 1 to 5, and 0, which some programs use for Information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordLevel {
    /// 1.
    Critical,
    /// 2.
    Error,
    /// 3.
    Warning,
    /// 4, 5, 0 and whatever else there is.
    Information,
}

impl RecordLevel {
    /// The level of this number.
    pub const fn of(number: u64) -> Self {
        match number {
            1 => Self::Critical,
            2 => Self::Error,
            3 => Self::Warning,
            _ => Self::Information,
        }
    }

    /// As the event log names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "Critical",
            Self::Error => "Error",
            Self::Warning => "Warning",
            Self::Information => "Information",
        }
    }
}

/// What a record means for the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A service ended unexpectedly (7031 with a recovery action, 7034 without).
    ServiceDied,
    /// A service did not start in time, or because of one that did not (7009, 7000, 7001).
    SlowStart,
    /// The machine lost its power or was reset (Kernel-Power 41, `EventLog` 6008).
    PowerLost,
    /// An update could not be installed (`WindowsUpdateClient` 20).
    UpdateFailed,
    /// The host network service or the host compute service complains: pods of this node may be without network.
    HostServices,
}

impl Meaning {
    /// The meaning in words, with the remedy where there is one.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ServiceDied => {
                "a service died: pods go on without containerd, but nothing new starts until it is back"
            }
            Self::SlowStart => {
                "slow start (slow disk?): set both containerd and kubelet to delayed-auto, not containerd alone"
            }
            Self::PowerLost => "power lost: restarted without drain",
            Self::UpdateFailed => "an update was not installed: the revision will not grow by it",
            Self::HostServices => {
                "the host's network or compute service: look at the network of the node's pods"
            }
        }
    }
}

const SERVICES: &str = "Service Control Manager";

impl EventRecord {
    /// What it means; `None` for records that say nothing about the node's health. Information (7036, 1074, 6005,
    /// 6006, 19, 43, 44) has no meaning here: it is mostly not collected, so that nothing may be inferred from it.
    pub fn meaning(&self) -> Option<Meaning> {
        match (&*self.source, self.id) {
            (SERVICES, 7031 | 7034) => Some(Meaning::ServiceDied),
            (SERVICES, 7000 | 7001 | 7009) => Some(Meaning::SlowStart),
            ("Microsoft-Windows-Kernel-Power", 41) | ("EventLog", 6008) => Some(Meaning::PowerLost),
            ("Microsoft-Windows-WindowsUpdateClient", 20) => Some(Meaning::UpdateFailed),
            (source, _) if self.level < RecordLevel::Information && is_host_service(source) => {
                Some(Meaning::HostServices)
            }
            _ => None,
        }
    }
}

fn is_host_service(source: &str) -> bool {
    source.starts_with("Microsoft-Windows-Host-Network-Service")
        || source.starts_with("Microsoft-Windows-Hyper-V-Compute")
        || source == "HNS"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(source: &str, id: u32, level: u64) -> EventRecord {
        EventRecord {
            at: Timestamp::UNIX_EPOCH,
            source: source.into(),
            id,
            level: RecordLevel::of(level),
            message: "".into(),
        }
    }

    #[test]
    fn an_id_means_something_only_from_its_own_source() {
        for (source, id, level, meaning) in [
            (SERVICES, 7031, 2, Some(Meaning::ServiceDied)),
            (SERVICES, 7034, 2, Some(Meaning::ServiceDied)),
            (SERVICES, 7009, 2, Some(Meaning::SlowStart)),
            (SERVICES, 7001, 2, Some(Meaning::SlowStart)),
            ("Microsoft-Windows-Kernel-Power", 41, 1, Some(Meaning::PowerLost)),
            ("EventLog", 6008, 2, Some(Meaning::PowerLost)),
            (
                "Microsoft-Windows-WindowsUpdateClient",
                20,
                2,
                Some(Meaning::UpdateFailed),
            ),
            (
                "Microsoft-Windows-Hyper-V-Compute",
                12,
                2,
                Some(Meaning::HostServices),
            ),
            ("Another Program", 41, 1, None),
            (SERVICES, 7036, 4, None),
            ("Microsoft-Windows-WindowsUpdateClient", 19, 4, None),
        ] {
            assert_eq!(record(source, id, level).meaning(), meaning, "{source} {id}");
        }
    }
}
