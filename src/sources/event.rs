//! What sources say to the store, and what the store's user may ask of them.

use crate::domain::budget::DisruptionBudget;
use crate::domain::event_record::EventRecord;
use crate::domain::log::{LogEntry, LogOrder, LogPage, LogQuery, LogRange, UnixNanos};
use crate::domain::measurement::{Measurements, NodeHistory};
use crate::domain::node::{Node, NodeDetail};
use crate::domain::object::{Change, ClusterEvent, DaemonSet, NodeLease, ObjectKey};
use crate::domain::pod::{Pod, PodDetail};
use crate::domain::reading::Source;
use crate::domain::smb::log::Seen;
use crate::domain::storage::{CsiDriver, CsiNode, PersistentVolume, StorageClass, VolumeClaim};
use crate::domain::{Name, Timestamp};
use std::fmt;

/// Counts up each time a source starts anew (other context, scope or filter). An event of an older
/// generation of its source is never shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(pub u64);

/// One message of a source.
#[derive(Clone, Debug)]
pub struct SourceEvent {
    /// Who.
    pub source: Source,
    /// Which start of that source.
    pub generation: Generation,
    /// What.
    pub payload: Payload,
}

/// Content of a message.
#[derive(Clone, Debug)]
pub enum Payload {
    /// First message of a generation: what it is about. The store drops what it holds of this source.
    Begin(Scope),
    /// How the source is.
    State(SourceState),
    /// Version of the cluster, e.g. `v1.37.2`.
    ClusterVersion(Name),
    /// How one watch is.
    Watch(Watched, WatchState),
    /// Nodes.
    Nodes(Vec<Change<Node>>),
    /// Pods.
    Pods(Vec<Change<Pod>>),
    /// Heartbeats of nodes.
    Leases(Vec<Change<NodeLease>>),
    /// DaemonSets.
    DaemonSets(Vec<Change<DaemonSet>>),
    /// Events.
    Events(Vec<Change<ClusterEvent>>),
    /// Disruption budgets.
    Budgets(Vec<Change<DisruptionBudget>>),
    /// Volumes.
    PersistentVolumes(Vec<Change<PersistentVolume>>),
    /// Claims.
    VolumeClaims(Vec<Change<VolumeClaim>>),
    /// Classes of volumes.
    StorageClasses(Vec<Change<StorageClass>>),
    /// CSI drivers by node.
    CsiNodes(Vec<Change<CsiNode>>),
    /// CSI drivers of the cluster.
    CsiDrivers(Vec<Change<CsiDriver>>),
    /// What the SMB node plugins logged since the round before.
    PluginLogs(PluginLogs),
    /// A round of samples; replaces the source's previous round.
    Measurements(Measurements),
    /// Series for charts; replaces the source's previous ones.
    History(Vec<NodeHistory>),
    /// Answer to a [`Request::Detail`].
    Detail(DetailKey, Result<Detail, String>),
    /// The System log of the node that [`Demand::event_log`] names, or why it cannot be had.
    EventLog(Name, Result<EventLog, Problem>),
    /// Answer to a [`Request::Logs`].
    Logs(LogsId, LogsAnswer),
}

/// What a generation of the Kubernetes source looks at. The header shows exactly this.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scope {
    /// kubeconfig context; `in-cluster` inside a pod.
    pub context: ShortText,
    /// URL of the API server.
    pub server: ShortText,
    /// Namespace that the watches are restricted to; `None` for all.
    pub namespace: Option<Name>,
    /// Label selector of the pod watch, evaluated by the server; empty for none.
    pub pod_selector: ShortText,
}

/// Owned short text.
pub type ShortText = compact_str::CompactString;

/// How a source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// Where it stands.
    pub phase: SourcePhase,
    /// How it is reached, e.g. `service monitoring/kps-prometheus through the API server`.
    pub reached: String,
    /// When it last answered.
    pub last_answer: Option<Timestamp>,
    /// Its last error, until the next success.
    pub last_error: Option<Problem>,
}

/// Where a source stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourcePhase {
    /// Has not answered yet.
    Starting,
    /// Its last attempt succeeded.
    Connected,
    /// Its last attempt failed; it goes on trying.
    Failed,
    /// It does not exist here, or is not wanted now (the exporter while Prometheus is fresh).
    Off,
}

/// An error for the operator: what failed on which object, and what to do next. Free of secrets and of
/// control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What failed, on what.
    pub what: String,
    /// What to do next.
    pub next_step: String,
}

/// `what → next step`, on one line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.next_step.is_empty() {
            write!(f, " → {}", self.next_step)?;
        }
        Ok(())
    }
}

/// The resources that are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Watched {
    /// `nodes`.
    Nodes,
    /// `pods`.
    Pods,
    /// `leases` in `kube-node-lease`.
    Leases,
    /// `daemonsets`.
    DaemonSets,
    /// `events`.
    Events,
    /// `poddisruptionbudgets`.
    Budgets,
    /// `persistentvolumes`.
    PersistentVolumes,
    /// `persistentvolumeclaims`.
    VolumeClaims,
    /// `storageclasses`.
    StorageClasses,
    /// `csinodes`.
    CsiNodes,
    /// `csidrivers`.
    CsiDrivers,
}

impl Watched {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Nodes,
        Self::Pods,
        Self::Leases,
        Self::DaemonSets,
        Self::Events,
        Self::Budgets,
        Self::PersistentVolumes,
        Self::VolumeClaims,
        Self::StorageClasses,
        Self::CsiNodes,
        Self::CsiDrivers,
    ];

    /// The API's plural.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Pods => "pods",
            Self::Leases => "leases",
            Self::DaemonSets => "daemonsets",
            Self::Events => "events",
            Self::Budgets => "poddisruptionbudgets",
            Self::PersistentVolumes => "persistentvolumes",
            Self::VolumeClaims => "persistentvolumeclaims",
            Self::StorageClasses => "storageclasses",
            Self::CsiNodes => "csinodes",
            Self::CsiDrivers => "csidrivers",
        }
    }

    /// Whether its objects live in namespaces. Leases do too, but all that are watched live in one.
    pub const fn is_namespaced(self) -> bool {
        matches!(
            self,
            Self::Pods | Self::DaemonSets | Self::Events | Self::Budgets | Self::VolumeClaims
        )
    }
}

/// A round in which the logs of the SMB node plugins were read.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginLogs {
    /// When.
    pub read_at: Timestamp,
    /// The plugins on Windows nodes, or why they could not be found.
    pub plugins: Result<Vec<PluginLog>, Problem>,
}

/// The log of one node plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginLog {
    /// Node on which it runs.
    pub node: Name,
    /// Its pod: namespace, name.
    pub pod: (Name, Name),
    /// What it logged, or why that could not be read.
    pub outcome: Result<LogPart, Problem>,
}

/// What was read of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPart {
    /// What its lines tell, in their order.
    pub seen: Vec<Seen>,
    /// Time of the oldest line that was ever read of it; `None` while it is empty.
    pub begins: Option<Timestamp>,
}

/// How one watch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchState {
    /// The first list is on its way.
    Loading,
    /// Listed, and followed.
    Live,
    /// 403: the problem names verb, resource and namespace.
    Forbidden(Problem),
    /// Failing; retried with backoff.
    Failed(Problem),
}

/// Names the object of a detail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DetailKey {
    /// Page of a node.
    Node(Name),
    /// Page of a pod: namespace, name.
    Pod(Name, Name),
    /// YAML of a whole object.
    Yaml(Kind, ObjectKey),
}

/// Kinds whose YAML can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `v1` Node.
    Node,
    /// `v1` Pod.
    Pod,
}

/// A detail that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// Of a node.
    Node(NodeDetail),
    /// Of a pod.
    Pod(PodDetail),
    /// YAML, managed fields left out.
    Yaml(String),
}

/// Names a question for logs. Whoever asks chooses it, and never twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogsId(pub u64);

/// A question for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogsQuestion {
    /// About `limit` lines from one end of a range: answered by one [`LogsAnswer::Page`] or
    /// [`LogsAnswer::Failed`].
    Read {
        /// Which lines.
        query: LogQuery,
        /// Of which time.
        range: LogRange,
        /// From which end.
        order: LogOrder,
        /// How many; Loki's own limit may make it less, lines of the same nanosecond more.
        limit: usize,
    },
    /// Lines from this moment on, as they come, until [`LogsQuestion::Stop`]: answered by
    /// [`LogsAnswer::News`] and [`LogsAnswer::Following`], without end.
    Follow {
        /// Which lines.
        query: LogQuery,
        /// From when on.
        since_ns: UnixNanos,
    },
    /// No more answers to the question with this id.
    Stop,
}

/// An answer to a question for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogsAnswer {
    /// The lines.
    Page(LogPage),
    /// Further lines of what is followed, each once, in order of time as far as they came in order.
    News {
        /// The lines.
        entries: Vec<LogEntry>,
        /// At least this many more were dropped, because they came faster than they were read.
        dropped: u64,
    },
    /// How the following goes from now on.
    Following {
        /// How lines come.
        means: FollowMeans,
        /// What went wrong; it goes on all the same.
        trouble: Option<Problem>,
    },
    /// Nothing can be answered.
    Failed(Problem),
}

/// How new lines come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowMeans {
    /// Loki sends them.
    Pushed,
    /// It is asked again and again.
    Polled,
}

/// The newest records of a node's System log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLog {
    /// The records, newest first.
    pub records: Vec<EventRecord>,
    /// Whether there are older ones in the time that was asked for.
    pub more: bool,
    /// Lines that are no records.
    pub unread: usize,
}

/// What the user of the sources needs now: nothing is queried that no visible pane needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is needed or not, whatever the others are"
)]
pub struct Demand {
    /// Samples of nodes.
    pub nodes: bool,
    /// Samples of containers.
    pub containers: bool,
    /// One hour of history: of all Windows nodes (sparklines).
    pub history: bool,
    /// The System log of this node.
    pub event_log: Option<Name>,
    /// What the SMB node plugins log.
    pub smb: bool,
}

impl Demand {
    /// The samples of it: what sources of measurements serve, and those of logs do not.
    #[must_use]
    pub fn samples(&self) -> Self {
        Self {
            nodes: self.nodes,
            containers: self.containers,
            history: self.history,
            ..Self::default()
        }
    }
}

/// What may be asked of the sources while they run.
#[derive(Clone, Debug)]
pub enum Request {
    /// Restrict the watches to a namespace and a pod selector (both `None`/empty for all).
    Rescope {
        /// Namespace, `None` for all.
        namespace: Option<Name>,
        /// Label selector for pods.
        pod_selector: String,
    },
    /// Go to another kubeconfig context.
    SwitchContext(String),
    /// What is visible changed.
    Demand(Demand),
    /// Fetch a detail.
    Detail(DetailKey),
    /// Read logs, or follow them.
    Logs(LogsId, LogsQuestion),
    /// Ask every source again now.
    Refresh,
}
