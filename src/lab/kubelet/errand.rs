//! Pods that run a script of drainboard on the node itself, once: they are known by their name label, as nobody here
//! understands PowerShell, and what they answer is what the script answers on a node in this state.

use super::facts::PodFacts;
use super::life::{Interruption, Life};
use super::progress::{Containers, LastRun};
use super::truth::truth;
use crate::lab::machine::Machine;
use chrono::{TimeDelta, Utc};
use serde_json::json;
use std::time::Duration;

/// What such a pod is sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// To restart the node.
    Reboot,
    /// To tell the truth of it.
    Probe,
}

/// How a script ended.
struct Ended {
    exit_code: i64,
    line: String,
}

impl Errand {
    /// The errand of a pod, if it has one.
    pub(super) fn of(pod: &PodFacts) -> Option<Self> {
        match &*pod.app {
            _ if !pod.runs_once || !pod.host_process => None,
            "drainboard-reboot" => Some(Self::Reboot),
            "drainboard-probe" => Some(Self::Probe),
            _ => None,
        }
    }
}

impl Life {
    /// Runs the script to its end.
    pub(super) async fn run_errand(&mut self, errand: Errand) -> Interruption {
        let since = Utc::now();
        self.progress.containers = Containers::ready(since);
        self.report().await;
        let runs = self.means.timings.script();
        if let Some(interruption) = self.interrupted_within(runs).await {
            return interruption;
        }
        let ended = match errand {
            Errand::Reboot => self.reboot(),
            Errand::Probe => self.probe(),
        };
        let facts = self.facts();
        self.means
            .world
            .leave_log(&facts.namespace, &facts.name, &facts.uid, &ended.line);
        self.progress.last_run = Some(LastRun::completed(since, Utc::now(), ended.exit_code));
        self.progress.containers = Containers::Completed;
        self.report().await;
        self.interruption().await
    }

    /// A pod that is run once stays ended when its node is back; a run that was cut off counts as ended too.
    pub(super) async fn stay_ended(&mut self) -> Interruption {
        self.progress.containers = Containers::Completed;
        self.report().await;
        self.interruption().await
    }

    /// Nobody can read its log any more.
    pub(super) fn forget_log(&self) {
        let facts = self.facts();
        self.means
            .world
            .forget_log(&facts.namespace, &facts.name, &facts.uid);
    }

    /// What the article's operator looked up by hand, as this node would say it now.
    fn probe(&self) -> Ended {
        let machine = self.machine();
        Ended {
            exit_code: 0,
            line: truth(&machine, &self.means.world.pods_on(&machine.name)).to_string(),
        }
    }

    fn reboot(&self) -> Ended {
        let facts = self.facts();
        let of = |name: &str| facts.environment.get(name).map_or("", String::as_str);
        let machine = self.machine();
        let wanted = machine.reboot_required || of("DRAINBOARD_ONLY_IF_REQUIRED") != "true";
        let seconds: u32 = of("DRAINBOARD_DELAY_SECONDS").parse().unwrap_or(0);
        if wanted {
            let delay = self.means.timings.scaled(Duration::from_secs(seconds.into()));
            let at = Utc::now() + TimeDelta::from_std(delay).unwrap_or_default();
            let shut_down = |machine: &mut Machine| machine.restarts_at = Some(at);
            self.means.world.change(&facts.node, shut_down);
        }
        let answer = json!({
            "drainboard": "reboot", "rebootRequired": machine.reboot_required,
            "restartsInSeconds": wanted.then_some(seconds), "problem": null,
        });
        Ended {
            exit_code: 0,
            line: answer.to_string(),
        }
    }
}
