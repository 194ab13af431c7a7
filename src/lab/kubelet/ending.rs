//! The end of a deleted pod, and what may hold it up: a sandbox that cannot be removed.

use super::facts::PodFacts;
use super::life::{Interruption, Life};
use super::plan::stopping;
use super::progress::{Containers, LastRun};
use super::recorder::Severity;
use super::report::path;
use crate::domain::object::Os;
use crate::lab::text::hex64;
use chrono::Utc;

impl Life {
    /// Stops the containers and removes the pod.
    pub(super) async fn end(&mut self) -> Interruption {
        let facts = self.facts();
        let stop = stopping(&facts, self.machine().os, self.means.timings);
        if let Some(interruption) = self.stopped_within(stop).await {
            return interruption;
        }
        if self.sandbox_stays(&facts) {
            return self.try_to_remove(&facts).await;
        }
        self.remove().await;
        Interruption::Vanished
    }

    /// Removes sandbox and object.
    pub(super) async fn remove(&mut self) {
        let facts = self.facts();
        self.stop_containers();
        self.leave_sandbox();
        let client = &self.means.client;
        let path = path(&facts);
        self.means
            .until_done(&facts.name, || client.delete(&path, Some(0), &facts.uid))
            .await;
    }

    /// Whether the sandbox cannot be removed: the node is to play that, or the power went under the pod, so that its
    /// HNS namespace refers to a network that does not exist any more. HostProcess pods have none.
    fn sandbox_stays(&self, facts: &PodFacts) -> bool {
        let machine = self.machine();
        let of_a_lost_network =
            machine.os == Os::Windows && machine.boot.after_power_cut && self.survived_boot;
        !facts.host_process && (machine.armed.stuck_deletions || of_a_lost_network)
    }

    /// Tries until the machine restarts, which removes it.
    async fn try_to_remove(&mut self, facts: &PodFacts) -> Interruption {
        let since = self.progress.containers.since();
        let started_at = since.unwrap_or(self.progress.accepted_at);
        self.progress.last_run = Some(LastRun::killed(started_at, Utc::now()));
        self.progress.containers = Containers::Ended;
        self.report().await;
        let message = kill_error(facts, self.machine().os);
        loop {
            self.events
                .tell(Severity::Warning, "FailedKillPod", &message)
                .await;
            let pause = self.means.timings.kill_retry();
            if let Some(interruption) = self.stopped_within(pause).await {
                return interruption;
            }
        }
    }
}

fn kill_error(facts: &PodFacts, os: Os) -> String {
    let why = match os {
        Os::Windows => format!(
            "code = Unknown desc = failed to remove network namespace for sandbox \\\"{}\\\": hcnDeleteNamespace failed \
             in Win32: The specified request is unsupported. (0x803b0015) {{\\\"Success\\\":false,\\\"Error\\\":\\\"The \
             specified request is unsupported. \\\",\\\"ErrorCode\\\":2151350293}}",
            hex64(&format!("{}/sandbox", facts.uid))
        ),
        Os::Linux => "code = DeadlineExceeded desc = context deadline exceeded".to_owned(),
    };
    format!(
        "error killing pod: failed to \"KillPodSandbox\" for \"{}\" with KillPodSandboxError: \"rpc error: {why}\"",
        facts.uid
    )
}
