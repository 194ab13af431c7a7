//! The state of a pod in kubectl's words: the columns READY, STATUS and RESTARTS of `kubectl get pods`.
//!
//! The rules are those of Kubernetes 1.37 (`printPod` in `pkg/printers/internalversion/printers.go`), where the
//! API server computes the columns that kubectl prints.

use super::Timestamp;
use super::format::kubectl_duration;
use super::pod::{ContainerState, Termination};
use std::borrow::Cow;

/// What the state of a pod is told from: the fields of the pod, as sent.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are fields and conditions of the API's object"
)]
pub struct PodFacts<'a> {
    /// `status.phase`, as sent.
    pub phase: &'a str,
    /// `status.reason`, empty if none.
    pub reason: &'a str,
    /// Has a `metadata.deletionTimestamp`.
    pub deleting: bool,
    /// Condition `PodScheduled` has the reason `SchedulingGated`.
    pub scheduling_gated: bool,
    /// Condition `Initialized` is `True`.
    pub initialized: bool,
    /// Condition `Ready` is `True`.
    pub ready: bool,
    /// Number of `spec.initContainers`, sidecars included.
    pub init_containers: usize,
    /// Number of those with `restartPolicy: Always`.
    pub sidecars: usize,
    /// Number of `spec.containers`.
    pub containers: usize,
    /// `status.initContainerStatuses`, in the order sent.
    pub init_statuses: Vec<StatusFacts<'a>>,
    /// `status.containerStatuses`, in the order sent.
    pub statuses: Vec<StatusFacts<'a>>,
}

/// One entry of `status.initContainerStatuses` or `status.containerStatuses`.
#[derive(Clone, Copy, Debug)]
pub struct StatusFacts<'a> {
    /// An init container whose spec has `restartPolicy: Always`.
    pub sidecar: bool,
    /// `started` is `true`.
    pub started: bool,
    /// `ready`.
    pub ready: bool,
    /// `restartCount`.
    pub restarts: u32,
    /// `state`.
    pub state: &'a ContainerState,
    /// `lastState.terminated.finishedAt`.
    pub last_finished_at: Option<Timestamp>,
}

/// What kubectl prints of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodState<'a> {
    /// STATUS.
    pub word: Cow<'a, str>,
    /// READY before the stroke.
    pub ready: u16,
    /// READY behind the stroke: containers and sidecars.
    pub ready_of: u16,
    /// RESTARTS.
    pub restarts: u32,
    /// When the newest restart that RESTARTS counts ended the run before it.
    pub last_restart_at: Option<Timestamp>,
}

impl<'a> PodState<'a> {
    /// The state of the pod with these facts.
    pub fn of(facts: &PodFacts<'a>) -> Self {
        let mut word = Cow::Borrowed(if facts.reason.is_empty() {
            facts.phase
        } else {
            facts.reason
        });
        if facts.scheduling_gated {
            word = Cow::Borrowed("SchedulingGated");
        }

        let mut ready = 0;
        // kubectl stops looking at the init container that holds the pod up.
        let reached = &facts.init_statuses[..reached_init(facts)];
        let blocked = blocked_word(facts, &mut ready);
        let mut restarts = Restarts::default();
        if blocked.is_none() || facts.initialized {
            restarts.count(reached.iter().filter(|status| status.sidecar));
            restarts.count(&facts.statuses);
            word = running_word(facts, blocked.unwrap_or(word), &mut ready);
        } else {
            restarts.count(reached);
            word = blocked.unwrap_or(word);
        }

        if facts.deleting && facts.reason == "NodeLost" {
            word = Cow::Borrowed("Unknown");
        } else if facts.deleting && !matches!(facts.phase, "Succeeded" | "Failed") {
            word = Cow::Borrowed("Terminating");
        }
        Self {
            word,
            ready,
            ready_of: u16::try_from(facts.containers + facts.sidecars).unwrap_or(u16::MAX),
            restarts: restarts.number,
            last_restart_at: restarts.newest,
        }
    }
}

/// RESTARTS as kubectl prints it: `0`, `3`, `3 (5m12s ago)`.
pub fn restarts_text(restarts: u32, last_restart_at: Option<Timestamp>, now: Timestamp) -> String {
    match last_restart_at {
        Some(at) if restarts > 0 => {
            format!("{restarts} ({} ago)", kubectl_duration((now - at).num_seconds()))
        }
        _ => restarts.to_string(),
    }
}

#[derive(Default)]
struct Restarts {
    number: u32,
    newest: Option<Timestamp>,
}

impl Restarts {
    fn count<'s, 'a: 's>(&mut self, statuses: impl IntoIterator<Item = &'s StatusFacts<'a>>) {
        for status in statuses {
            self.number = self.number.saturating_add(status.restarts);
            self.newest = self.newest.max(status.last_finished_at);
        }
    }
}

/// Whether an init container lets the next one start.
fn is_passed(status: &StatusFacts<'_>) -> bool {
    match status.state {
        ContainerState::Terminated(end) if end.exit_code == 0 => true,
        _ => status.sidecar && status.started,
    }
}

/// Number of init containers up to and with the one that holds the pod up.
fn reached_init(facts: &PodFacts<'_>) -> usize {
    facts
        .init_statuses
        .iter()
        .position(|status| !is_passed(status))
        .map_or(facts.init_statuses.len(), |index| index + 1)
}

/// STATUS of a pod that is held up by an init container; counts the sidecars before it that are ready.
fn blocked_word<'a>(facts: &PodFacts<'a>, ready: &mut u16) -> Option<Cow<'a, str>> {
    for (index, status) in facts.init_statuses.iter().enumerate() {
        if is_passed(status) {
            let ended = matches!(status.state, ContainerState::Terminated(end) if end.exit_code == 0);
            *ready += u16::from(status.ready && !ended);
            continue;
        }
        return Some(Cow::Owned(match status.state {
            ContainerState::Terminated(end) => format!("Init:{}", end_word(end)),
            ContainerState::Waiting(reason) if !reason.is_empty() && &**reason != "PodInitializing" => {
                format!("Init:{reason}")
            }
            _ => format!("Init:{index}/{}", facts.init_containers),
        }));
    }
    None
}

/// STATUS once the containers count; counts those that are ready.
fn running_word<'a>(facts: &PodFacts<'a>, before: Cow<'a, str>, ready: &mut u16) -> Cow<'a, str> {
    let mut word = before;
    let mut running = false;
    let mut error = None;
    // From the last to the first: the first container's word stays.
    for status in facts.statuses.iter().rev() {
        match status.state {
            ContainerState::Waiting(reason) if !reason.is_empty() => word = Cow::Borrowed(&**reason),
            ContainerState::Terminated(end) => {
                word = end_word(end);
                if end.exit_code != 0 {
                    error = Some(word.clone());
                }
            }
            ContainerState::Running(_) if status.ready => {
                running = true;
                *ready += 1;
            }
            _ => {}
        }
    }
    if word != "Completed" {
        return word;
    }
    match error {
        _ if running && facts.ready => Cow::Borrowed("Running"),
        Some(error) => error,
        None if running => Cow::Borrowed("NotReady"),
        None => word,
    }
}

/// Reason of an ended run, else its signal or exit code.
fn end_word(end: &Termination) -> Cow<'_, str> {
    if !end.reason.is_empty() {
        return Cow::Borrowed(&*end.reason);
    }
    Cow::Owned(match end.signal.filter(|&signal| signal != 0) {
        Some(signal) => format!("Signal:{signal}"),
        None => format!("ExitCode:{}", end.exit_code),
    })
}

#[cfg(test)]
mod tests;
