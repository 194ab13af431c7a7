//! What a maintenance hears.

use super::effect::Answer;
use super::observation::Observation;
use crate::domain::{Name, Timestamp};

/// One thing heard, at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Our own clock.
    pub at: Timestamp,
    /// What.
    pub what: Heard,
}

/// What was heard.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// How the cluster looks.
    Observed(Box<Observation>),
    /// The watches of nodes and pods tell nothing, and why.
    Blind(String),
    /// An effect was answered.
    Answered(Answer),
    /// Time went on.
    Tick,
    /// The operator.
    Operator(Command),
}

/// What the operator can decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Begin, after the preflight: cordon and drain.
    Begin,
    /// Run the reboot command.
    RunRebootCommand,
    /// The revision is the same, and that is fine.
    AcceptSameRevision,
    /// The update needs no restart: uncordon without one.
    FinishWithoutRestart,
    /// Evict a pod that came back without network (UID), so that it is created anew.
    Recreate(Name),
    /// Do not wait for the remaining pods.
    StopWaiting,
    /// Give up and leave the node as it is.
    Abandon,
}
