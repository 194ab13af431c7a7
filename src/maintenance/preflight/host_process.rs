//! Whether the HostProcess pod that is to restart the node can be made.

use super::Weight;
use super::assess::Case;
use super::notes::Notes;
use crate::domain::object::Os;
use crate::maintenance::options::{Purpose, Reboot};

pub(super) fn judge(case: &Case<'_>, notes: &mut Notes) {
    let Some(Reboot::Pod(place)) = &case.options.reboot else {
        return;
    };
    let node = &case.place.node;
    if node.os == Some(Os::Linux) {
        notes.add(
            Weight::Refuses,
            format!("node {} runs Linux: --reboot-pod is for Windows nodes", node.name),
            "restart it by hand or with --reboot-command",
        );
    }
    match &case.survey.pod_security {
        Some(Ok(level)) => {
            if let Some((what, remedy)) = level.objection(&place.namespace) {
                notes.add(Weight::Refuses, what, remedy);
            }
        }
        Some(Err(reason)) => {
            notes.unknown(
                &format!("whether namespace {} admits HostProcess pods", place.namespace),
                reason,
            );
        }
        None => {}
    }
    if case.options.purpose == Purpose::Update {
        notes.add(
            Weight::Info,
            "the pod restarts the node only if Windows says that installed updates wait for a restart (RebootRequired)",
            "install the updates before that",
        );
    }
}
