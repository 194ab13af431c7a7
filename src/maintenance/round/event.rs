//! What happens in a round, for its journal, the JSON lines and the report. The names are stable.

use crate::domain::{Name, Timestamp};
use crate::maintenance::event::Ending;
use chrono::SecondsFormat;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that happened in a round, with its facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RoundHappening {
    /// How the round stands: told at its beginning and after each node.
    Round {
        /// Its nodes, in order.
        nodes: Vec<Name>,
        /// How many are done.
        done: usize,
        /// When it will end, as things look; `None`: not known yet.
        forecast_end: Option<Timestamp>,
        /// Seconds that one node is reckoned with: the middle of those seen so far.
        node_seconds: Option<f64>,
    },
    /// The next node has to wait.
    Waiting {
        /// For what.
        reason: Reason,
        /// Until when; `None` where nobody knows.
        until: Option<Timestamp>,
        /// In words.
        text: String,
    },
    /// The operator confirmed that it goes on after the pause.
    GoesOn,
    /// A node is begun, or gone on with.
    NodeBegun {
        /// Which one of the round, from 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// Its boot id then.
        boot_id: Name,
    },
    /// The maintenance of a node ended.
    NodeEnded {
        /// How.
        ending: Ending,
        /// From its start on.
        seconds: f64,
        /// Names the maintenance: its events are in the journal of the node.
        maintenance: String,
    },
    /// All nodes are done.
    RoundDone {
        /// From the start on.
        seconds: f64,
    },
    /// It ends before all nodes are done. It can be gone on with.
    RoundStopped {
        /// How the command ends.
        ending: RoundEnding,
        /// Why, and what to do next.
        reason: String,
        /// Nodes that are done.
        done: Vec<Name>,
        /// Nodes that are not.
        left: Vec<Name>,
    },
    /// The operator gave it up: it cannot be gone on with.
    RoundAbandoned,
}

/// What a round waits for before the next node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The soak time after a node.
    Soak,
    /// The operator, after the first node.
    Pause,
    /// The maintenance window to open.
    Window,
    /// The next window: by the forecast the node would not be done in what is left of this one.
    Forecast,
    /// Alerts that fire.
    Alerts,
    /// Prometheus, to say whether alerts fire.
    AlertsUnknown,
}

/// How a round ended: the words of a maintenance where one of its nodes did not end well, and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundEnding {
    /// All nodes are done.
    Done,
    /// A node is blocked.
    Blocked,
    /// A time limit of a node passed.
    TimedOut,
    /// A node is refused; or the round can never go on, because no window is long enough.
    Refused,
    /// The operator, or somebody else, ended it.
    Aborted,
    /// A node restarted, but its revision is the same.
    NotUpdated,
    /// A node or a pod of its workloads did not stay well in the soak time.
    Unsettled,
    /// At the pause after the first node, and nobody is there to confirm.
    Paused,
}

impl From<Ending> for RoundEnding {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Done => Self::Done,
            Ending::Blocked => Self::Blocked,
            Ending::TimedOut => Self::TimedOut,
            Ending::Refused => Self::Refused,
            Ending::Aborted => Self::Aborted,
            Ending::NotUpdated => Self::NotUpdated,
        }
    }
}

/// A happening with its time: one JSON line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundEvent {
    /// What.
    #[serde(flatten)]
    pub what: RoundHappening,
    /// When, by our clock.
    pub at: Timestamp,
    /// The node that it is about: the one that is worked on, was worked on last, or is next.
    pub node: Option<Name>,
}

/// One sentence, for people.
impl fmt::Display for RoundHappening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round {
                nodes,
                done,
                forecast_end,
                ..
            } => {
                let end = forecast_end.map_or_else(
                    || "not known yet".to_owned(),
                    |end| end.to_rfc3339_opts(SecondsFormat::Secs, true),
                );
                let names: Vec<&str> = nodes.iter().map(|node| &**node).collect();
                write!(
                    f,
                    "round: {done} of {} nodes done ({}); forecast of the end: {end}",
                    nodes.len(),
                    names.join(", ")
                )
            }
            Self::Waiting { text, .. } => write!(f, "waiting: {text}"),
            Self::GoesOn => f.write_str("confirmed: the round goes on"),
            Self::NodeBegun { number, of, .. } => write!(f, "node {number} of {of}"),
            Self::NodeEnded { ending, seconds, .. } => match ending {
                Ending::Done => write!(f, "this node is done after {seconds:.0} s"),
                _ => f.write_str("this node did not end well"),
            },
            Self::RoundDone { seconds } => write!(f, "the round is done after {seconds:.0} s"),
            Self::RoundStopped {
                reason, done, left, ..
            } => write!(
                f,
                "the round stops: {reason}; {} done, left: {}; go on with `drainboard maintain --resume`",
                done.len(),
                left.iter().map(|node| &**node).collect::<Vec<_>>().join(", ")
            ),
            Self::RoundAbandoned => f.write_str("the round is given up"),
        }
    }
}
