//! The restart and its proof: a new boot id, a grown revision, a ready node with network pods that started anew.

use super::{Turn, is_ready};
use crate::domain::Name;
use crate::domain::node::Node;
use crate::domain::windows_version::WindowsVersion;
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::network;
use crate::maintenance::observation::Observation;
use crate::maintenance::options::Purpose;
use crate::maintenance::state::{Question, Step};
use std::cmp::Ordering;

impl Turn<'_> {
    /// The record of the drain is saved.
    pub(super) fn saved(&mut self) {
        if self.state.step == Step::Drain && self.state.flight.drained {
            let pods = self.state.leaving.len();
            let took = self
                .seconds_since(Step::Cordon)
                .max(self.seconds_since(Step::Drain));
            self.tell(Happening::Drained { pods, seconds: took });
            self.state.flight.drained = false;
            self.enter_restart();
        }
    }

    pub(super) fn enter_restart(&mut self) {
        self.enter(Step::Restart);
        let Some(record) = &self.state.record else { return };
        if self.state.options.no_restart {
            return self.finish_without_restart();
        }
        let boot_id = record.boot_id.clone();
        let asked_for = self.state.options.reboot_command.is_some() && self.state.options.yes;
        let run = asked_for && !record.reboot_started;
        self.wait_for(format!("a boot id other than {boot_id}"));
        self.tell(Happening::AwaitingReboot { boot_id });
        if run {
            self.run_reboot_command();
        }
    }

    /// Starts the command once its start is on record, so that a restart of the program does not start it again.
    pub(super) fn run_reboot_command(&mut self) {
        if self.state.options.reboot_command.is_none() {
            return;
        }
        if let Some(record) = &mut self.state.record {
            record.reboot_started = true;
            self.state.flight.unsaved = true;
            self.save_news();
            self.tell(Happening::RebootCommand { exit_code: None });
            self.effects.push(Effect::RunRebootCommand);
        }
    }

    pub(super) fn reboot_command_ended(&mut self, result: Result<i32, String>) {
        if self.state.step != Step::Restart {
            return;
        }
        match result {
            Ok(0) => self.tell(Happening::RebootCommand { exit_code: Some(0) }),
            Ok(code) => {
                self.tell(Happening::RebootCommand {
                    exit_code: Some(code),
                });
                // ssh ends with 255 when the machine goes away under it; the boot id decides.
                if code != 255 && !self.state.options.attended {
                    let reason =
                        format!("the reboot command ended with {code}; the node stays cordoned and drained");
                    self.end(Ending::Refused, reason);
                }
            }
            Err(problem) => {
                let reason = format!("the reboot command could not be run: {problem}");
                if self.state.options.attended {
                    self.tell(Happening::Note { text: reason });
                } else {
                    self.end(Ending::Refused, reason);
                }
            }
        }
    }

    pub(super) fn observed_restart(&mut self, observation: &Observation) {
        let Some(node) = &observation.node else { return };
        let Some(record) = &mut self.state.record else {
            return;
        };
        if node.boot_id.is_empty() {
            return;
        }
        if node.boot_id == record.boot_id {
            let selector = self.state.options.network_selector.as_ref();
            let (ids, owners) = network::seen(observation.pods.iter(), selector);
            let before = (record.network_ids.len(), record.network_owners.len());
            record.network_ids.extend(ids);
            record.network_owners.extend(owners);
            self.state.flight.unsaved |= before != (record.network_ids.len(), record.network_owners.len());
            return;
        }
        self.restarted(node);
        self.observed_gates(observation);
    }

    fn restarted(&mut self, node: &Node) {
        let before = match (&self.state.boot_id, &self.state.record) {
            (Some(before), _) => before.clone(),
            (None, Some(record)) => record.boot_id.clone(),
            (None, None) => return,
        };
        self.state.boot_id = Some(node.boot_id.clone());
        self.tell(Happening::BootIdChanged {
            before,
            after: node.boot_id.clone(),
            seconds: self.seconds_since(Step::Restart),
        });
        self.enter(Step::Revision);
    }

    pub(super) fn observed_gates(&mut self, observation: &Observation) {
        let Some(node) = &observation.node else { return };
        let Some(boot_id) = self.state.boot_id.clone() else {
            return;
        };
        let selector = self.state.options.network_selector.clone();
        if node.boot_id != boot_id && !node.boot_id.is_empty() {
            let Some(record) = &mut self.state.record else {
                return;
            };
            if node.boot_id == record.boot_id {
                // An observation from before the restart that arrives late.
                return;
            }
            // It restarted once more: what ran in between is as old as what ran before.
            record.network_ids.append(&mut self.state.flight.current_ids);
            self.state.flight.unsaved = true;
            self.state.question = None;
            self.restarted(node);
        }
        self.state
            .flight
            .current_ids
            .extend(network::seen(observation.pods.iter(), selector.as_ref()).0);
        if self.state.step == Step::Revision && self.state.question.is_none() {
            self.check_revision(node);
        }
        if matches!(self.state.step, Step::Network | Step::Uncordon) {
            self.check_network(node, observation);
        }
    }

    fn check_revision(&mut self, node: &Node) {
        let Some(record) = &self.state.record else { return };
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
            self.state.waiting_for = reason;
            self.state.question = Some(Question::SameRevision);
        } else {
            let reason = format!("{reason}; it stays cordoned, --accept-same-revision would go on");
            self.end(Ending::NotUpdated, reason);
        }
    }

    pub(super) fn accept_same_revision(&mut self) {
        if self.state.question == Some(Question::SameRevision) {
            self.state.question = None;
            self.enter_network();
        }
    }

    fn enter_network(&mut self) {
        self.wait_for("the node's network pods");
        self.enter(Step::Network);
    }

    fn check_network(&mut self, node: &Node, observation: &Observation) {
        let Some(record) = &self.state.record else { return };
        let selector = self.state.options.network_selector.as_ref();
        self.state.network = network::after_boot(
            &observation.pods,
            selector,
            &record.network_ids,
            &record.network_owners,
        );
        let nothing_to_wait_for = self.state.network.is_empty();
        if nothing_to_wait_for && !self.state.options.no_network_gate {
            if self.state.options.attended {
                self.wait_for("network pods: none is known on this node; abandon, or start again with --network-selector");
                return self.back_to_network();
            }
            let reason = format!(
                "no network pods are known on node {}: name them with --network-selector, or go on without that gate \
                 with --no-network-gate; the node stays cordoned",
                node.name
            );
            return self.end(Ending::Refused, reason);
        }
        let late: Vec<String> = self
            .state
            .network
            .iter()
            .filter(|pod| !pod.is_ready())
            .map(|pod| match pod.of {
                0 => format!("{} (no pod)", pod.name),
                of => format!("{} ({} of {of} containers new and ready)", pod.name, pod.fresh),
            })
            .collect();
        let ready = is_ready(node);
        if !ready || !late.is_empty() {
            self.state.waiting_for = if ready {
                late.join(", ")
            } else {
                "the node to be Ready".to_owned()
            };
            return self.back_to_network();
        }
        if self.state.step == Step::Network {
            self.tell(Happening::NetworkReady {
                pods: self.state.network.iter().map(|pod| pod.name.clone()).collect(),
                seconds: self.seconds_since(Step::Network),
            });
            self.enter_uncordon();
        }
    }

    /// A gate that held does not hold any more.
    fn back_to_network(&mut self) {
        if self.state.step == Step::Uncordon && !self.state.flight.writing {
            self.enter(Step::Network);
        }
    }
}

/// Whether the version of Windows grew; `None` where the versions are not of Windows, or not comparable.
fn compare(before: &Name, after: &Name) -> Option<Ordering> {
    let (before, after): (WindowsVersion, WindowsVersion) = (before.parse().ok()?, after.parse().ok()?);
    Some(after.cmp(&before))
}
