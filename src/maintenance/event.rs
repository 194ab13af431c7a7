//! What happened, for the journal, the JSON lines and the report. The names are stable.

use super::pods::PodRef;
use super::state::Step;
use crate::domain::{Name, Timestamp};
use serde::{Deserialize, Serialize};

/// Something that happened, with its facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happening {
    /// What the preflight found.
    Preflight {
        /// Pods that will be evicted.
        leaving: usize,
        /// Pods that stay: of DaemonSets, mirrors, not selected.
        staying: usize,
        /// What stands against it, worst first: one sentence each.
        notes: Vec<String>,
        /// Something blocks or refuses.
        blocked: bool,
    },
    /// The node is cordoned.
    Cordoned {
        /// It was before: uncordoning stays with whoever did it.
        already: bool,
    },
    /// An eviction is sent.
    Evicting {
        /// The pod.
        #[serde(flatten)]
        pod: PodRef,
    },
    /// A pod cannot leave now.
    Blocked {
        /// The pod.
        #[serde(flatten)]
        pod: PodRef,
        /// Why, with the budget's numbers.
        reason: String,
    },
    /// A pod is gone.
    Evicted {
        /// The pod.
        #[serde(flatten)]
        pod: PodRef,
        /// From the first eviction until it was gone; `None` where nobody evicted it, or nobody was looking when it
        /// went: it was found gone by a later run of the program.
        seconds: Option<f64>,
    },
    /// Nothing that should leave is left, by a fresh list.
    Drained {
        /// How many left.
        pods: usize,
        /// From the cordon on.
        seconds: f64,
    },
    /// The restart is awaited.
    AwaitingReboot {
        /// The boot id that has to change.
        boot_id: Name,
    },
    /// The reboot command was started.
    RebootCommand {
        /// Its exit code, once it ended; `None` when it is started.
        exit_code: Option<i32>,
    },
    /// The node restarted.
    BootIdChanged {
        /// Before.
        before: Name,
        /// Now.
        after: Name,
        /// Seconds since the restart was awaited.
        seconds: f64,
    },
    /// The version after the restart.
    Revision {
        /// Kernel version before.
        before: Name,
        /// Kernel version now.
        after: Name,
        /// Whether it grew.
        grown: bool,
    },
    /// The node's network pods started anew after the boot and are ready.
    NetworkReady {
        /// Which.
        pods: Vec<String>,
        /// Seconds since the boot id changed.
        seconds: f64,
    },
    /// The node takes pods again.
    Uncordoned {
        /// Milliseconds since the last gate held; absent when the answer was lost with an earlier run of the program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_milliseconds: Option<i64>,
    },
    /// The node stays cordoned, as it was found.
    LeftCordoned,
    /// As many pods are ready as before.
    PodsReady {
        /// How many are ready.
        ready: u32,
        /// How many were before.
        before: u32,
        /// Seconds since the uncordon.
        seconds: f64,
    },
    /// It is over and well.
    Done {
        /// From the start on.
        seconds: f64,
    },
    /// It is over, and not well.
    Failed {
        /// In which step.
        step: Step,
        /// Why, and what to do next.
        reason: String,
        /// How the command ends.
        ending: Ending,
    },
    /// The API server cannot be followed, or does not do what it is asked. It is asked again by itself.
    ApiLost {
        /// In which step.
        step: Step,
        /// What failed first, and why.
        cause: String,
    },
    /// The API server is followed and obeys again.
    ApiRegained {
        /// In which step.
        step: Step,
        /// Seconds since it was lost.
        seconds: f64,
    },
    /// Something the operator should know that changes no step.
    Note {
        /// In words.
        text: String,
    },
}

/// How a maintenance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Well.
    Done,
    /// A budget, or something else that may pass, is in the way.
    Blocked,
    /// A time limit passed.
    TimedOut,
    /// It is not allowed: by the preflight, the permissions, the server, or a decision that nobody was there to take.
    Refused,
    /// The operator, or somebody else, ended it.
    Aborted,
    /// The node restarted, but its revision is the same.
    NotUpdated,
}

/// A happening with its time and node: one JSON line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What.
    #[serde(flatten)]
    pub what: Happening,
    /// When, by our clock.
    pub at: Timestamp,
    /// On which node.
    pub node: Name,
}

/// One sentence, for people.
impl std::fmt::Display for Happening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Preflight {
                leaving,
                staying,
                notes,
                ..
            } => {
                write!(f, "preflight: {leaving} pods leave, {staying} stay")?;
                notes.iter().try_for_each(|note| write!(f, "\n    · {note}"))
            }
            Self::Cordoned { already: false } => f.write_str("cordoned"),
            Self::Cordoned { already: true } => {
                f.write_str("was cordoned before: uncordoning stays with whoever did that")
            }
            Self::Evicting { pod } => write!(f, "evicting {pod}"),
            Self::Blocked { pod, reason } => write!(f, "{pod} cannot leave: {reason}"),
            Self::Evicted { pod, seconds } => match seconds {
                Some(seconds) => write!(f, "{pod} is gone ({seconds:.1} s)"),
                None => write!(f, "{pod} is gone"),
            },
            Self::Drained { pods, seconds } => write!(f, "drained: {pods} pods left in {seconds:.1} s"),
            Self::AwaitingReboot { boot_id } => write!(
                f,
                "restart the node now; waiting for a boot id other than {boot_id} (Ready proves nothing)"
            ),
            Self::RebootCommand { exit_code: None } => f.write_str("the reboot command runs"),
            Self::RebootCommand {
                exit_code: Some(code),
            } => write!(f, "the reboot command ended with {code}"),
            Self::BootIdChanged {
                before,
                after,
                seconds,
            } => write!(f, "restarted: boot id {before} → {after} after {seconds:.0} s"),
            Self::Revision { before, after, grown } => match grown {
                true => write!(f, "updated: {before} → {after}"),
                false if before == after => write!(f, "the version is the same as before: {after}"),
                false => write!(f, "the version is not newer: {before} → {after}"),
            },
            Self::NetworkReady { pods, seconds } => write!(
                f,
                "network pods started anew and are ready after {seconds:.0} s: {}",
                pods.join(", ")
            ),
            Self::Uncordoned {
                after_milliseconds: Some(milliseconds),
            } => write!(f, "uncordoned, {milliseconds} ms after the last gate held"),
            Self::Uncordoned {
                after_milliseconds: None,
            } => f.write_str("uncordoned"),
            Self::LeftCordoned => f.write_str("left cordoned, as it was found"),
            Self::PodsReady {
                ready,
                before,
                seconds,
            } => write!(
                f,
                "{ready} pods are ready again ({before} before) after {seconds:.0} s"
            ),
            Self::Done { seconds } => write!(f, "done after {seconds:.0} s"),
            Self::Failed { step, reason, .. } => write!(f, "{}: {reason}", step.title()),
            Self::ApiLost { step, cause } => {
                write!(
                    f,
                    "{}: the API server is lost: {cause}; it is asked again by itself",
                    step.title()
                )
            }
            Self::ApiRegained { step, seconds } => {
                write!(f, "{}: the API server is back after {seconds:.0} s", step.title())
            }
            Self::Note { text } => f.write_str(text),
        }
    }
}
