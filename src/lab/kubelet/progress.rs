//! How far a pod is on its node.

use crate::domain::Timestamp;

/// How far a pod is. Its containers share one fate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// When the pod was accepted by the kubelet.
    pub accepted_at: Timestamp,
    /// How its containers are.
    pub containers: Containers,
    /// Restarts of all containers together.
    pub restarts: u32,
    /// How the run before this one ended.
    pub last_run: Option<LastRun>,
}

/// How the containers of a pod are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Containers {
    /// They are created.
    Creating,
    /// They run.
    Running {
        since: Timestamp,
        /// When the pod became ready.
        ready_since: Option<Timestamp>,
    },
    /// They did not survive a restart of the machine.
    Dead,
    /// They were stopped with the pod, whose sandbox is still there.
    Ended,
    /// They ran to their end, and are not run again.
    Completed,
    /// They wait for their next run, which comes this long after the last one.
    BackOff { seconds: u64 },
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastRun {
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub exit_code: i64,
    pub reason: &'static str,
}

impl Progress {
    /// A pod that was accepted at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self {
            accepted_at: now,
            containers: Containers::Creating,
            restarts: 0,
            last_run: None,
        }
    }
}

impl Containers {
    /// They run, and the pod is not ready yet.
    pub fn running(since: Timestamp) -> Self {
        Self::Running {
            since,
            ready_since: None,
        }
    }

    /// They run, and the pod has been ready from the start.
    pub fn ready(since: Timestamp) -> Self {
        Self::Running {
            since,
            ready_since: Some(since),
        }
    }

    /// Since when they run.
    pub fn since(self) -> Option<Timestamp> {
        match self {
            Self::Running { since, .. } => Some(since),
            Self::Creating | Self::Dead | Self::Ended | Self::Completed | Self::BackOff { .. } => None,
        }
    }

    /// Since when the pod is ready.
    pub fn ready_since(self) -> Option<Timestamp> {
        match self {
            Self::Running { ready_since, .. } => ready_since,
            Self::Creating | Self::Dead | Self::Ended | Self::Completed | Self::BackOff { .. } => None,
        }
    }
}

impl LastRun {
    /// A run that was stopped from outside: a console process on Windows ends with `CONTROL_C_EXIT`.
    pub fn killed(started_at: Timestamp, finished_at: Timestamp) -> Self {
        Self {
            started_at,
            finished_at,
            exit_code: -1_073_741_510,
            reason: "Error",
        }
    }

    /// A run that ended by itself.
    pub fn completed(started_at: Timestamp, finished_at: Timestamp, exit_code: i64) -> Self {
        Self {
            started_at,
            finished_at,
            exit_code,
            reason: if exit_code == 0 { "Completed" } else { "Error" },
        }
    }

    /// A run whose end containerd did not see.
    pub fn lost(started_at: Timestamp, finished_at: Timestamp) -> Self {
        Self {
            started_at,
            finished_at,
            exit_code: 255,
            reason: "Unknown",
        }
    }
}
