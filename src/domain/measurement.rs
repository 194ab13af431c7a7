//! Samples as sources deliver them, before the store joins them to nodes and containers.

use super::reading::Absence;
use super::{Name, Timestamp};
use std::net::IpAddr;

/// How a sample names its node. Instances are mapped by `InternalIP` or target pod, never by host name
/// (Windows host names are upper-case and need not match the Node object).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeKey {
    /// Name of the Node object.
    Name(Name),
    /// Address of the scraped instance.
    Address(IpAddr),
    /// The exporter's pod: namespace, name.
    Pod(Name, Name),
}

/// How a sample names its container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKey {
    /// By name.
    Named {
        /// Namespace.
        namespace: Name,
        /// Pod.
        pod: Name,
        /// Container.
        container: Name,
    },
    /// By `containerd://…` id, where the exporter saw the container too early to learn its name.
    Id(Name),
}

/// A value and the time of its newest raw sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The value, finite.
    pub value: f64,
    /// When the raw sample was taken.
    pub at: Timestamp,
}

impl Sample {
    /// This sample, or the one that is held already if that is as new: two instances may tell of one object (a
    /// scrape configured twice, a target that moved).
    #[must_use]
    pub fn or_newer(self, held: Option<Self>) -> Self {
        held.filter(|held| held.at >= self.at).unwrap_or(self)
    }
}

/// What is measured of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeQuantity {
    /// Committed memory, bytes (`windows_memory_committed_bytes`).
    Commit,
    /// Commit limit, bytes (`windows_memory_commit_limit`): RAM plus page file as it is now.
    CommitLimit,
    /// Physical memory, bytes.
    PhysicalMemory,
    /// Physical memory free, bytes.
    PhysicalFree,
    /// CPU in use, 0..1 of the whole node.
    CpuRatio,
    /// CPU in use, cores (`metrics.k8s.io`, which does not know how many the node has).
    CpuCores,
    /// Working set, bytes (`metrics.k8s.io`).
    WorkingSet,
    /// Boot time, seconds since 1970 (`windows_system_boot_time_timestamp`).
    BootTime,
    /// Free part of volume C:, 0..1.
    SystemDiskFree,
}

/// What is measured of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContainerQuantity {
    /// Committed memory, bytes: charged against the job object's limit.
    Commit,
    /// Highest commit since the container started, bytes.
    CommitPeak,
    /// Private working set, bytes: what `kubectl top` shows.
    WorkingSet,
    /// CPU in use, cores.
    CpuCores,
}

/// State of a Windows service as `windows_service_state` words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceState {
    /// `running`.
    Running,
    /// `stopped`.
    Stopped,
    /// `start pending`.
    StartPending,
    /// `stop pending`.
    StopPending,
    /// `paused`.
    Paused,
    /// `pause pending`.
    PausePending,
    /// `continue pending`.
    ContinuePending,
}

impl ServiceState {
    /// All states, in the order in which they are declared.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Stopped,
        Self::StartPending,
        Self::StopPending,
        Self::Paused,
        Self::PausePending,
        Self::ContinuePending,
    ];

    /// The exporter's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::StartPending => "start pending",
            Self::StopPending => "stop pending",
            Self::Paused => "paused",
            Self::PausePending => "pause pending",
            Self::ContinuePending => "continue pending",
        }
    }

    /// The state with this word, if the exporter knows it.
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == word)
    }
}

/// The services whose state decides over a node.
pub const WATCHED_SERVICES: [&str; 4] = ["kubelet", "containerd", "hns", "vmcompute"];

/// One sample of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeMeasurement {
    /// Which node.
    pub node: NodeKey,
    /// What.
    pub quantity: NodeQuantity,
    /// How much, and when.
    pub sample: Sample,
}

/// State of one service on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceMeasurement {
    /// Which node.
    pub node: NodeKey,
    /// Service name (`kubelet`).
    pub service: Name,
    /// Its state.
    pub state: ServiceState,
    /// When its process was created, if the exporter tells.
    pub started_at: Option<Timestamp>,
    /// When the raw sample was taken.
    pub at: Timestamp,
}

/// One sample of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerMeasurement {
    /// Which container.
    pub container: ContainerKey,
    /// What.
    pub quantity: ContainerQuantity,
    /// How much, and when.
    pub sample: Sample,
}

/// A quantity, for saying why it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Of a node.
    Node(NodeQuantity),
    /// Of a container.
    Container(ContainerQuantity),
    /// Service states.
    Services,
}

/// Why a source cannot give a quantity: for one node, or (`node: None`) at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// What is missing.
    pub quantity: Quantity,
    /// Where; `None` for everywhere.
    pub node: Option<NodeKey>,
    /// Why, and how to get it.
    pub reason: Absence,
}

/// All that one round of one source found. A round replaces the source's previous round whole, so a series
/// that vanished does not linger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// Samples of nodes.
    pub nodes: Vec<NodeMeasurement>,
    /// Service states.
    pub services: Vec<ServiceMeasurement>,
    /// Samples of containers.
    pub containers: Vec<ContainerMeasurement>,
    /// What could not be had, and why.
    pub missing: Vec<Missing>,
}

/// A series for a sparkline or chart of one node: points in time order, gaps left out.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeHistory {
    /// Which node.
    pub node: NodeKey,
    /// What.
    pub quantity: NodeQuantity,
    /// Samples.
    pub points: Vec<Sample>,
    /// Distance of the points in seconds.
    pub step_seconds: u32,
}
