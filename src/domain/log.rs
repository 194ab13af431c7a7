//! Lines of logs, and what may be asked of whoever keeps them.

use super::reading::Source;
use super::{Name, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and values.
pub type LogLabels = BTreeMap<Name, Name>;

/// Nanoseconds since 1970.
pub type UnixNanos = i64;

/// Nanoseconds in a second.
pub const SECOND_NANOS: UnixNanos = 1_000_000_000;

/// Where lines come from. Shared by all lines of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogStream {
    /// Namespace of the pod.
    pub namespace: Option<Name>,
    /// Pod.
    pub pod: Option<Name>,
    /// Container.
    pub container: Option<Name>,
    /// Node.
    pub node: Option<Name>,
    /// Whatever else its labels say, and these again under the names that the keeper uses.
    pub labels: LogLabels,
}

/// One line as it was written: untrusted, not yet fit for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// When the keeper says it was written.
    pub at_ns: UnixNanos,
    /// The line, without its end.
    pub line: Box<str>,
    /// Where it comes from.
    pub stream: Arc<LogStream>,
    /// What was attached to this line when it was taken in, for example `detected_level`.
    pub metadata: Arc<LogLabels>,
    /// What a stage of the query read out of the line, for example `| json`.
    pub parsed: Arc<LogLabels>,
    /// Who told it: Loki, or a kubelet through the Kubernetes API.
    pub source: Source,
}

impl LogEntry {
    /// The time, as far as the calendar reaches.
    pub const fn at(&self) -> Timestamp {
        Timestamp::from_timestamp_nanos(self.at_ns)
    }
}

/// A span of time: from `start_ns` on, before `end_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRange {
    /// First nanosecond.
    pub start_ns: UnixNanos,
    /// The nanosecond after the last one.
    pub end_ns: UnixNanos,
}

impl LogRange {
    /// Whether nothing can be in it.
    pub const fn is_empty(&self) -> bool {
        self.start_ns >= self.end_ns
    }

    /// Whether this moment is in it.
    pub const fn holds(&self, at_ns: UnixNanos) -> bool {
        self.start_ns <= at_ns && at_ns < self.end_ns
    }
}

/// The end of a range at which reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogOrder {
    /// The newest lines first.
    NewestFirst,
    /// The oldest lines first.
    OldestFirst,
}

/// Whose lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LogScope {
    /// The containers of a pod, or one of them.
    Pod {
        /// Namespace.
        namespace: Name,
        /// Name.
        pod: Name,
        /// Container; `None` for all.
        container: Option<Name>,
    },
    /// All containers on a node.
    Node(Name),
    /// The Windows event log of a node.
    Events(Name),
    /// The mappings that the SMB node plugin made and removed on a node; `None` for all nodes.
    SmbMappings(Option<Name>),
    /// Lines of a node that tell that something waits for the network.
    NetworkWaits(Name),
    /// A query in the keeper's own language.
    Raw(Arc<str>),
}

/// Which of them: lines that a regular expression matches, or does not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogFilter {
    /// The regular expression (the common ground of RE2 and Rust's `regex`).
    pub pattern: Arc<str>,
    /// Lines that it does not match.
    pub inverse: bool,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogQuery {
    /// Whose lines.
    pub scope: LogScope,
    /// Which of them; `None` for all.
    pub filter: Option<LogFilter>,
}

/// Some of the lines that were asked for, complete up to where `rest` begins: no line of any moment is in it and in
/// the rest, or in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPage {
    /// The lines, in the order that was asked for.
    pub entries: Vec<LogEntry>,
    /// What was not read yet; `None` when that was all.
    pub rest: Option<LogRange>,
    /// At least this many lines cannot be had, because too many of them are equal in time and text.
    pub lost: u64,
}
