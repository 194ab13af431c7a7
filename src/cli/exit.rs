//! How a command ends.

use crate::lab::error::LabError;
use crate::sources::event::Problem;
use crate::tui::TuiError;
use std::fmt;
use std::process::ExitCode;
use thiserror::Error;

/// The exit codes, the same for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// 0: all is well; for commands that only print, the print is complete.
    Fine,
    /// 1: warnings.
    Warnings,
    /// 2: critical findings.
    Critical,
    /// 3: the source that was asked for could not be read.
    Unreadable,
    /// 10: a drain is blocked.
    Blocked,
    /// 11: a time limit of a maintenance passed.
    TimedOut,
    /// 12: a maintenance is not allowed, or needs a decision that nobody was there to take.
    Refused,
    /// 13: a maintenance was ended by the operator or by somebody else.
    Aborted,
    /// 14: the node restarted, but its revision is the same.
    NotUpdated,
    /// 15: a round is at its pause after the first node, and nobody is there to confirm.
    Paused,
    /// 16: a node, or a pod of its workloads, did not stay well in the soak time of a round.
    Unsettled,
    /// 64: wrong usage.
    Usage,
}

impl Outcome {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Warnings => 1,
            Self::Critical => 2,
            Self::Unreadable => 3,
            Self::Blocked => 10,
            Self::TimedOut => 11,
            Self::Refused => 12,
            Self::Aborted => 13,
            Self::NotUpdated => 14,
            Self::Paused => 15,
            Self::Unsettled => 16,
            Self::Usage => 64,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

/// Why a command could not do what it was asked for. Its text is for the operator: what failed, on what, and
/// in a second line what to do next.
#[derive(Debug, Error)]
pub enum CliError {
    /// The command line asks for something that does not exist or does not fit together.
    #[error("{0}")]
    Usage(String),
    /// The source that was asked for could not be read.
    #[error("{}", Told(.0))]
    Unreadable(Problem),
    /// The screens could not be shown.
    #[error(transparent)]
    Screens(#[from] TuiError),
    /// The simulated cluster could not be started, or refused.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Standard output is gone or full.
    #[error("the output could not be written: {0}")]
    Output(#[from] std::io::Error),
}

impl CliError {
    /// How the command ends.
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Usage(_)
            | Self::Lab(
                LabError::ForeignFile { .. }
                | LabError::NotALab { .. }
                | LabError::UnknownNode { .. }
                | LabError::AlreadyPlaying { .. },
            ) => Outcome::Usage,
            Self::Lab(_) | Self::Unreadable(_) | Self::Screens(_) | Self::Output(_) => Outcome::Unreadable,
        }
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::Unreadable(problem)
    }
}

/// A problem in one or two lines.
struct Told<'a>(&'a Problem);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)?;
        if self.0.next_step.is_empty() {
            Ok(())
        } else {
            write!(f, "\n  → {}", self.0.next_step)
        }
    }
}
