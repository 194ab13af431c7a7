//! How long the steps of a pod's life take on its node.

use super::facts::PodFacts;
use crate::domain::object::Os;
use crate::lab::timings::Timings;
use std::time::Duration;

/// The durations of one pod's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// From its binding to its running containers.
    pub creation: Duration,
    /// From there to ready.
    pub readiness: Duration,
}

impl Plan {
    /// The plan for a pod on a node with this operating system.
    pub fn of(pod: &PodFacts, os: Os, timings: Timings) -> Self {
        Self {
            creation: timings.container_creation(os),
            readiness: if pod.probed() {
                timings.first_probe_success(os)
            } else {
                Duration::ZERO
            },
        }
    }
}

/// From the deletion of a pod to its end: `preStop`, the exit of the process, the teardown. The grace period
/// cuts it short.
pub fn stopping(pod: &PodFacts, os: Os, timings: Timings) -> Duration {
    let grace = pod.deletion_grace_seconds.unwrap_or(0);
    let pre_stop = Duration::from_secs(pod.pre_stop_seconds.min(grace));
    timings.scaled(pre_stop) + timings.container_teardown(os)
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::article_pod;
    use super::*;

    fn deleted(workload: &str, grace: u64) -> PodFacts {
        PodFacts {
            deletion_grace_seconds: Some(grace),
            ..PodFacts::of(&article_pod(workload)).unwrap()
        }
    }

    #[test]
    fn hello_win_stops_in_the_articles_time() {
        let stop = stopping(&deleted("hello-win", 30), Os::Windows, Timings::new(1.0));
        assert_eq!(stop, Duration::from_millis(6700));
    }

    #[test]
    fn a_forced_deletion_does_not_wait_for_prestop() {
        let stop = stopping(&deleted("hello-win", 0), Os::Windows, Timings::new(1.0));
        assert_eq!(stop, Duration::from_millis(1700));
    }

    #[test]
    fn a_windows_pod_with_a_probe_is_ready_19_s_after_its_binding_and_one_without_earlier() {
        let plan = |workload| {
            let facts = PodFacts::of(&article_pod(workload)).unwrap();
            Plan::of(&facts, Os::Windows, Timings::new(1.0))
        };
        let probed = plan("hello-win");
        assert_eq!(probed.creation + probed.readiness, Duration::from_secs(19));
        assert_eq!(plan("reports").readiness, Duration::ZERO);
    }
}
