//! The restart by a short-lived HostProcess pod on the node, which knows whether updates wait for one.

use super::Desk;
use crate::domain::host_process::HostPod;
use crate::domain::text::{sanitise, truncate};
use crate::maintenance::options::Purpose;
use crate::sources::kubernetes::host_process::{Ended, Errand, HostProcess, Patience, REBOOT, answer};
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::task::TaskTracker;

/// From the call of `shutdown.exe` to the restart: the kubelet has to report the end of the pod, and its log to be read
/// and the pod to be removed before.
const DELAY_SECONDS: u32 = 30;
/// Longest text of the node that is passed on, in cells.
const LONGEST_TEXT: usize = 400;

/// What the script says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// Whether the node's registry says that updates wait for a restart; `None` if it could not be asked.
    reboot_required: Option<bool>,
    /// It restarts in so many seconds.
    restarts_in_seconds: Option<u32>,
    /// What went wrong.
    problem: Option<String>,
}

/// The errand of the maintenance with this id: one, however often it is run.
pub fn errand(id: &str, purpose: Purpose) -> Errand {
    Errand {
        name: format!("drainboard-reboot-{id}"),
        purpose: "drainboard-reboot",
        script: REBOOT,
        environment: vec![
            (
                "DRAINBOARD_ONLY_IF_REQUIRED",
                (purpose == Purpose::Update).to_string(),
            ),
            ("DRAINBOARD_DELAY_SECONDS", DELAY_SECONDS.to_string()),
        ],
        maintenance: Some(id.to_owned()),
    }
}

/// What a restart by pod is done with.
pub struct Scene {
    /// The node, and whose maintenance it is.
    pub desk: Arc<Desk>,
    /// An update restarts only a node that says that it needs it.
    pub purpose: Purpose,
    /// Hears what happens, line by line.
    pub output: UnboundedSender<String>,
    /// Remove the pod where this is broken off.
    pub cleaners: TaskTracker,
}

impl Scene {
    /// Restarts the node, and gives the exit code of the script.
    ///
    /// # Errors
    /// In words: nothing was started that restarts the node.
    pub async fn run(&self, place: &HostPod) -> Result<i32, String> {
        let errand = errand(&self.desk.identity.id, self.purpose);
        let say = |line: String| self.say(&line);
        let ended = self.host_process(&say).run(&errand, place).await?;
        self.judge(&ended)
    }

    /// What became of the restart that an earlier run began; `None` where it left no pod.
    pub async fn pick_up(&self) -> Option<Result<i32, String>> {
        let say = |line: String| self.say(&line);
        let left = self
            .host_process(&say)
            .see_leftover_through(&self.desk.identity.id)
            .await;
        match left {
            Ok(None) => None,
            Ok(Some(ended)) => Some(self.judge(&ended)),
            Err(problem) => {
                self.say(&problem);
                None
            }
        }
    }

    fn host_process<'a>(&'a self, say: &'a (dyn Fn(String) + Sync)) -> HostProcess<'a> {
        HostProcess {
            api: &self.desk.api,
            node: &self.desk.node,
            cleaners: &self.cleaners,
            patience: Patience::default(),
            say,
        }
    }

    fn say(&self, line: &str) {
        let clean = truncate(sanitise(line).as_ref(), LONGEST_TEXT).into_owned();
        // That nobody reads it any more is fine.
        let _ = self.output.send(clean);
    }

    fn judge(&self, ended: &Ended) -> Result<i32, String> {
        let read = ended.log.as_deref().map_err(Clone::clone);
        let report: Report = match read.and_then(|log| answer(log, "reboot")) {
            Ok(report) => report,
            Err(problem) => {
                self.say(&format!("{problem}: whether RebootRequired is set is not known"));
                return Ok(ended.exit_code);
            }
        };
        let required = match report.reboot_required {
            Some(true) => "RebootRequired is set",
            Some(false) => "RebootRequired is not set",
            None => "RebootRequired could not be asked",
        };
        let node = &self.desk.node;
        if let Some(problem) = &report.problem {
            self.say(&format!("{required} on node {node}; {problem}"));
        } else if let Some(seconds) = report.restarts_in_seconds {
            self.say(&format!("{required} on node {node}: it restarts in {seconds} s"));
        } else {
            self.say(&format!("{required} on node {node}"));
            return Err(format!(
                "{required} on it, so that there is nothing to restart for: install the updates first; if they need no \
                 restart, give --no-restart; to restart all the same, begin with --purpose restart"
            ));
        }
        Ok(ended.exit_code)
    }
}
