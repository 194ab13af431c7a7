//! The pods of a maintenance: those that leave, those of the network, and those that come back.

use super::steps::ready_before;
use super::{clock, lasting, lines, section};
use crate::domain::Timestamp;
use crate::domain::pod::Pod;
use crate::domain::text::sanitise;
use crate::maintenance::pods::{Loss, OwnerKey, ended, is_ready};
use crate::maintenance::state::{Leaving, LeavingStatus, State, Step};
use crate::store::Store;
use crate::store::columns::cells::{absent, plain};
use crate::store::view::{Align, Line, Role, Section};
use std::collections::BTreeSet;

const POD_HEADS: [(&str, Align); 5] = [
    ("NAMESPACE", Align::Left),
    ("NAME", Align::Left),
    ("STATE", Align::Left),
    ("SINCE", Align::Right),
    ("", Align::Left),
];

/// The pods that must leave: those with trouble first, those that are gone last.
pub fn leaving(state: &State, now: Timestamp) -> Option<Section> {
    let mut pods: Vec<&Leaving> = state.leaving.values().collect();
    pods.sort_by_key(|leaving| (look(&leaving.status).0, &leaving.pod));
    let rows = pods
        .into_iter()
        .map(|leaving| leaving_row(leaving, now))
        .collect();
    section("pods that leave", rows, POD_HEADS.to_vec())
}

fn leaving_row(leaving: &Leaving, now: Timestamp) -> Vec<Line> {
    let (_, word, role) = look(&leaving.status);
    let gone = leaving.status == LeavingStatus::Gone;
    let since = if gone {
        clock(leaving.since)
    } else {
        lasting(now - leaving.since)
    };
    let why = match (leaving.status.reason(), leaving.loss, leaving.first_sent) {
        (Some(reason), _, _) => sanitise(reason).into_owned(),
        (None, _, Some(sent)) if gone => {
            format!(
                "{:.1} s from its eviction",
                (leaving.since - sent).as_seconds_f64()
            )
        }
        (None, Some(Loss::EmptyDir), _) => "the data of its emptyDir is lost".to_owned(),
        (None, Some(Loss::Uncontrolled), _) => "nothing brings it back".to_owned(),
        (None, Some(Loss::Both), _) => "nothing brings it back, the data of its emptyDir is lost".to_owned(),
        (None, None, _) => String::new(),
    };
    vec![
        plain(sanitise(&leaving.pod.namespace), Role::Muted),
        plain(sanitise(&leaving.pod.name), Role::Text),
        plain(word, role),
        plain(since, if gone { Role::Muted } else { Role::Text }),
        plain(why, if gone { Role::Muted } else { Role::Text }),
    ]
}

/// Rank, word and role of a pod on its way out.
const fn look(status: &LeavingStatus) -> (u8, &'static str, Role) {
    match status {
        LeavingStatus::Refused(_) => (0, "✖ refused", Role::Error),
        LeavingStatus::Stuck(_) => (1, "✖ stuck", Role::Error),
        LeavingStatus::Blocked(_) => (2, "▲ blocked", Role::Warn),
        LeavingStatus::Delayed(_) => (3, "▲ delayed", Role::Warn),
        LeavingStatus::NamespaceTerminating => (4, "◌ waits", Role::Text),
        LeavingStatus::Waiting => (5, "● evicting", Role::Text),
        LeavingStatus::Stopping => (6, "● stopping", Role::Text),
        LeavingStatus::Gone => (7, "✔ gone", Role::Ok),
    }
}

/// The node's network pods after the boot.
pub fn network(state: &State) -> Option<Section> {
    let rows: Vec<Vec<Line>> = state
        .network
        .iter()
        .map(|pod| {
            let (word, role) = match (pod.is_ready(), pod.of) {
                (true, _) => ("✔ new and ready".to_owned(), Role::Ok),
                (false, 0) => ("▲ no pod yet".to_owned(), Role::Warn),
                (false, of) => (
                    format!("● {} of {of} containers new and ready", pod.fresh),
                    Role::Text,
                ),
            };
            vec![plain(sanitise(&pod.name), Role::Text), plain(word, role)]
        })
        .collect();
    let heads = vec![("POD", Align::Left), ("CONTAINERS", Align::Left)];
    if rows.is_empty() && state.step != Step::Network {
        return None;
    }
    let title =
        "network pods: a pod that starts before they started anew has no network for the rest of its life";
    section(title, rows, heads).or_else(|| Some(lines(title, vec![plain("none is known yet", Role::Muted)])))
}

/// As many pods ready as before, for each controller.
pub fn owners(state: &State) -> Option<Section> {
    let rows = ready_before(state)
        .iter()
        .map(|(owner, before)| {
            let ready = state.ready.get(owner);
            let (glyph, role) = match ready {
                Some(ready) if ready >= before => ("✔", Role::Ok),
                _ => ("●", Role::Text),
            };
            let number = ready.map_or_else(absent, |ready| plain(ready.to_string(), Role::Text));
            vec![
                plain(
                    sanitise(&format!(
                        "{glyph} {} {}/{}",
                        owner.kind, owner.namespace, owner.name
                    )),
                    role,
                ),
                number,
                plain(before.to_string(), Role::Text),
            ]
        })
        .collect();
    let heads = vec![
        ("CONTROLLER", Align::Left),
        ("READY", Align::Right),
        ("BEFORE", Align::Right),
    ];
    section("pods back, on any node", rows, heads)
}

/// Pods that came back without network.
pub fn without_network(state: &State) -> Option<Section> {
    let rows: Vec<Vec<Line>> = state
        .without_network
        .values()
        .map(|(pod, said)| {
            vec![
                plain(sanitise(&pod.namespace), Role::Muted),
                plain(sanitise(&pod.name), Role::Text),
                plain(sanitise(said), Role::Muted),
            ]
        })
        .collect();
    let heads = vec![
        ("NAMESPACE", Align::Left),
        ("NAME", Align::Left),
        ("ITS PROBE", Align::Left),
    ];
    section(
        "▲ pods without network: they stay so until they are recreated; each can be evicted, and its controller makes \
         a new one",
        rows,
        heads,
    )
}

impl Store {
    /// Pods of the controllers that had pods on the node, and that are not ready anywhere yet.
    pub(super) fn waiting_pods(&self, state: &State, now: Timestamp) -> Option<Section> {
        let owners: BTreeSet<&OwnerKey> = ready_before(state).iter().map(|(owner, _)| owner).collect();
        if owners.is_empty() {
            return None;
        }
        let waits = |pod: &&Pod| {
            !is_ready(pod) && !ended(pod) && OwnerKey::of(pod).is_some_and(|key| owners.contains(&key))
        };
        let mut pods: Vec<&Pod> = self.cluster.pods.iter().map(|at| at.row).filter(waits).collect();
        pods.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        let rows = pods
            .into_iter()
            .map(|pod| {
                let why = match (&pod.node, pod.reason.is_empty()) {
                    (_, false) => sanitise(&pod.reason).into_owned(),
                    (None, true) => "no node fits yet".to_owned(),
                    (Some(node), true) => format!("on {}", sanitise(node)),
                };
                vec![
                    plain(sanitise(&pod.namespace), Role::Muted),
                    plain(sanitise(&pod.name), Role::Text),
                    plain(sanitise(&pod.state), Role::Text),
                    pod.created_at
                        .map_or_else(absent, |at| plain(lasting(now - at), Role::Text)),
                    plain(why, Role::Muted),
                ]
            })
            .collect();
        section("pods that wait", rows, POD_HEADS.to_vec())
    }
}
