//! The restart and its proof: a new boot id, and a grown revision where updates were installed.

use super::Turn;
use super::boot::Boot;
use crate::domain::Name;
use crate::domain::node::Node;
use crate::domain::windows_version::WindowsVersion;
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::observation::Observation;
use crate::maintenance::options::Purpose;
use crate::maintenance::state::{Doubt, Question, Step};
use std::cmp::Ordering;

impl Turn<'_> {
    pub(super) fn enter_restart(&mut self) {
        self.enter(Step::Restart);
        let Some(record) = &self.state.record else { return };
        if self.state.options.no_restart {
            return self.finish_without_restart();
        }
        let (boot_id, started) = (record.boot_id.clone(), record.reboot_started);
        let restarted = record.new_boot_id.is_some();
        let command = self.state.options.reboot.is_some();
        let note = if started && command {
            " (the reboot command was started before this run and is not started again by itself)"
        } else {
            ""
        };
        self.wait_for(format!("a boot id other than {boot_id}{note}"));
        self.tell(Happening::AwaitingReboot { boot_id });
        if restarted {
            return self.hurry_list();
        }
        if command && self.state.options.yes && !started {
            self.run_reboot_command();
        }
    }

    /// The command is started once its start is on record, so that a restart of the program does not start it again.
    pub(super) fn run_reboot_command(&mut self) {
        let flight = &mut self.state.flight;
        if self.state.options.reboot.is_none() || flight.reboot_wanted || flight.reboot_running {
            return;
        }
        if let Some(record) = &mut self.state.record {
            record.reboot_started = true;
            flight.unsaved = true;
            flight.reboot_wanted = true;
        }
    }

    pub(super) fn go_on_restarting(&mut self) {
        self.save_news();
        let flight = &mut self.state.flight;
        if flight.reboot_wanted && !flight.unsaved && !flight.writing {
            flight.reboot_wanted = false;
            flight.reboot_running = true;
            flight.limit_from = Some(self.at);
            self.wait_for_boot("the reboot command runs");
            self.tell(Happening::RebootCommand { exit_code: None });
            self.effects.push(Effect::RunRebootCommand);
        }
    }

    /// Says beside the boot id that is awaited how far the reboot command is.
    fn wait_for_boot(&mut self, command: &str) {
        let Some(record) = self.state.record.as_ref() else {
            return;
        };
        if self.state.step == Step::Restart {
            let boot_id = record.boot_id.clone();
            self.wait_for(format!("a boot id other than {boot_id} ({command})"));
        }
    }

    pub(super) fn reboot_command_ended(&mut self, result: Result<i32, String>) {
        self.state.flight.reboot_running = false;
        let reason = match result {
            Ok(code) => {
                self.tell(Happening::RebootCommand {
                    exit_code: Some(code),
                });
                // ssh ends with 255 when the machine goes away under it; the boot id decides.
                if matches!(code, 0 | 255) {
                    return self.wait_for_boot(&format!("the reboot command ended with {code}"));
                }
                format!(
                    "the reboot command ended with {code}; the node stays cordoned and drained: restart it by hand, and go on \
                     with --resume"
                )
            }
            Err(problem) => {
                self.forget_reboot();
                format!(
                    "the node was not restarted: {problem}; it stays cordoned and drained: restart it by hand, or go on with \
                     --resume"
                )
            }
        };
        if self.state.options.attended || self.state.flight.abandoned {
            self.wait_for_boot("it was not restarted from here");
            self.tell(Happening::Note { text: reason });
        } else if self.state.step == Step::Restart {
            if self.state.flight.unsaved && self.state.flight.doubt == Doubt::None {
                let record = self.state.record.clone().map(Box::new);
                self.effects.extend(record.map(Effect::Save));
            }
            self.end(Ending::Refused, reason);
        }
    }

    /// Nothing was started that restarts the node: it may be started again, by whoever resumes too.
    fn forget_reboot(&mut self) {
        if let Some(record) = &mut self.state.record
            && self.state.step == Step::Restart
        {
            record.reboot_started = false;
            self.state.flight.unsaved = true;
        }
    }

    /// Whether the restart is skipped knowingly.
    fn skips_restart(&self) -> bool {
        let record = self.state.record.as_ref();
        self.state.step == Step::Uncordon
            && record.is_some_and(|record| self.state.boot_id.as_ref() == Some(&record.boot_id))
    }

    /// In the steps from the restart to the uncordon: which boot is this, and do the gates hold?
    pub(super) fn observed_restart(&mut self, observation: &Observation, fresh: bool) {
        let Some(node) = &observation.node else { return };
        let boot = self.boot(observation, fresh);
        match boot {
            Boot::Over => {}
            Boot::Unknown(what) => {
                if self.state.step >= Step::Network && !self.skips_restart() {
                    self.wait_for(what);
                    self.back_to_network();
                }
            }
            Boot::Restarted | Boot::New => {
                if self.state.boot_id.as_ref() != Some(&node.boot_id) {
                    self.restarted(node);
                }
                if self.state.step == Step::Revision && self.state.question.is_none() {
                    self.check_revision(node);
                }
                let gate = matches!(self.state.step, Step::Network | Step::Uncordon);
                if gate && matches!(boot, Boot::New) {
                    self.check_network(node, observation);
                }
            }
        }
    }

    fn restarted(&mut self, node: &Node) {
        let Some(record) = &self.state.record else { return };
        let before = self.state.boot_id.replace(node.boot_id.clone());
        let before = before.unwrap_or_else(|| record.boot_id.clone());
        self.state.flight.reboot_wanted = false;
        self.state.question = None;
        self.tell(Happening::BootIdChanged {
            before,
            after: node.boot_id.clone(),
            seconds: self.seconds_since(Step::Restart),
        });
        self.wait_for("the version of the restarted node");
        self.enter(Step::Revision);
    }

    fn check_revision(&mut self, node: &Node) {
        let Some(record) = &self.state.record else { return };
        if node.kernel_version.is_empty() {
            return;
        }
        let before = record.kernel_version.clone();
        let order = compare(&before, &node.kernel_version);
        self.tell(Happening::Revision {
            before: before.clone(),
            after: node.kernel_version.clone(),
            grown: order == Some(Ordering::Greater),
        });
        let not_updated = order.is_some_and(|order| order != Ordering::Greater);
        if self.state.options.purpose != Purpose::Update
            || !not_updated
            || self.state.options.accept_same_revision
        {
            return self.enter_network();
        }
        let reason = format!(
            "node {} restarted, but its revision did not grow ({before} before, {} now): it is not updated",
            node.name, node.kernel_version
        );
        if self.state.options.attended {
            self.wait_for(reason);
            self.state.question = Some(Question::SameRevision);
        } else {
            let reason = format!(
                "{reason}; it stays cordoned: install the updates, restart and go on with --resume, or accept it with \
                 --resume --accept-same-revision"
            );
            self.end(Ending::NotUpdated, reason);
        }
    }

    /// Knowingly. The time that the decision took is not the node's.
    pub(super) fn accept_same_revision(&mut self) {
        if self.state.question == Some(Question::SameRevision) {
            self.state.question = None;
            self.state.flight.limit_from = Some(self.at);
            self.tell(Happening::Note {
                text: "it was accepted that the revision is the same: the node is not updated".to_owned(),
            });
            self.enter_network();
        }
    }
}

/// Whether the version of Windows grew; `None` where the versions are not of Windows, or not comparable.
fn compare(before: &Name, after: &Name) -> Option<Ordering> {
    let (before, after): (WindowsVersion, WindowsVersion) = (before.parse().ok()?, after.parse().ok()?);
    Some(after.cmp(&before))
}
