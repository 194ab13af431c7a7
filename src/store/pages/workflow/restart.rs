//! The restart: what to do at the node, by which signs it is known to have happened, and what to look for when the
//! node does not come back. Commands and causes are those of a Windows Server Core node.

use super::{lasting, lines, section};
use crate::domain::Timestamp;
use crate::domain::node::{ConditionStatus, Node};
use crate::domain::node_state::{LEASE_AMBER_SECONDS, LEASE_RED_SECONDS};
use crate::domain::object::Os;
use crate::domain::text::sanitise;
use crate::maintenance::options::Purpose;
use crate::maintenance::state::{State, Step};
use crate::store::Store;
use crate::store::columns::cells::{absent, plain};
use crate::store::join::Joins;
use crate::store::pages::measured;
use crate::store::view::{Align, Line, Role, Section, Span};

/// A restart of which nothing is seen for so long needs a look at the console, seconds.
const OVERDUE_SECONDS: i64 = 300;
/// Cells of the explanations before the commands.
const LABEL_CELLS: usize = 14;

/// What is typed at the node, each with what it is for.
type Command = (&'static str, &'static str);

const UPDATE: [Command; 3] = [
    (
        "install",
        "sconfig    # 5: D, download only, so that Windows never restarts by itself; 6: install all updates",
    ),
    (
        "restart due?",
        r"Test-Path 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired'",
    ),
    ("restart", "Restart-Computer"),
];
const RESTART: [Command; 1] = [("restart", "Restart-Computer")];
const RESTART_LINUX: [Command; 1] = [("restart", "sudo systemctl reboot")];

const LATE: [Command; 4] = [
    (
        "look",
        "Get-WinEvent -FilterHashtable @{LogName='System'; ProviderName='Service Control Manager'} -MaxEvents 30 | \
         Where-Object Id -in 7000,7001,7009 | Format-Table TimeCreated, Id, Message -Wrap",
    ),
    ("now", "Start-Service kubelet"),
    ("from now on", "sc.exe config containerd start= delayed-auto"),
    ("", "sc.exe config kubelet start= delayed-auto"),
];

const fn commands(state: &State, os: Option<Os>) -> &'static [Command] {
    match (os, state.options.purpose) {
        (Some(Os::Linux), _) => &RESTART_LINUX,
        (_, Purpose::Update) => &UPDATE,
        (_, Purpose::Restart | Purpose::Cleanup) => &RESTART,
    }
}

impl Store {
    /// The commands that the page of the maintenance shows, to be pasted at the node; none while there is nothing to do.
    pub fn workflow_commands(&self, state: &State, now: Timestamp) -> Vec<&'static str> {
        let joins = self.joins(now);
        if state.step != Step::Restart {
            return Vec::new();
        }
        let os = self.cluster.node(&state.node).and_then(|node| node.os);
        let late = is_overdue(joins, state, now) && os != Some(Os::Linux);
        let shown = if late { &LATE[..] } else { commands(state, os) };
        shown.iter().map(|(_, command)| *command).collect()
    }
}

fn command_lines(commands: &[Command]) -> Vec<Line> {
    commands
        .iter()
        .map(|(label, command)| {
            vec![
                Span::new(format!("{label:<LABEL_CELLS$}"), Role::Muted),
                Span::new(*command, Role::Highlight),
            ]
        })
        .collect()
}

/// What to do at the node.
pub fn at_the_node(joins: Joins<'_>, state: &State) -> Option<Section> {
    if state.ending.is_some() {
        return None;
    }
    let os = joins.cluster.node(&state.node).and_then(|node| node.os);
    let mut shown = command_lines(commands(state, os));
    if let Some(reboot) = &state.options.reboot {
        let started = state.record.as_ref().is_some_and(|record| record.reboot_started);
        let words = if started {
            "was started: "
        } else {
            "can be run from here: "
        };
        shown.push(vec![
            Span::new(format!("{:<LABEL_CELLS$}", "or"), Role::Muted),
            Span::new(words, Role::Text),
            Span::new(sanitise(&reboot.to_string()).into_owned(), Role::Highlight),
        ]);
    }
    Some(lines("at the node", shown))
}

fn ready(node: &Node) -> Option<ConditionStatus> {
    let ready = node
        .conditions
        .iter()
        .find(|condition| &*condition.kind == "Ready");
    ready.map(|condition| condition.status)
}

/// The signs of a restart beside each other, with what each of them proves.
pub fn signs(joins: Joins<'_>, state: &State, now: Timestamp) -> Option<Section> {
    let heads = vec![
        ("SIGN", Align::Left),
        ("NOW", Align::Left),
        ("WHAT IT PROVES", Align::Left),
    ];
    let Some(node) = joins.cluster.node(&state.node) else {
        return Some(lines(
            "is it back?",
            vec![plain("✖ there is no such node now", Role::Error)],
        ));
    };
    let before = state.record.as_ref().map_or("", |record| &*record.boot_id);
    let restarted = state.boot_id.is_some() && !node.boot_id.is_empty() && *node.boot_id != *before;
    let boot_id = match (&*node.boot_id, restarted) {
        ("", _) => absent(),
        (id, true) => plain(format!("{} → {}", sanitise(before), sanitise(id)), Role::Ok),
        (id, false) => plain(sanitise(id), Role::Text),
    };
    let rows = vec![
        sign("boot id", boot_id, "the restart: another id than before"),
        sign(
            "Ready",
            ready_word(node),
            "nothing: True proves nothing for 50 s after the node fell silent, and a fast node is never anything else",
        ),
        sign(
            "lease",
            lease(joins, node),
            "that the kubelet is alive: it renews every 10 s; silent while the node restarts",
        ),
        sign(
            "boot time",
            boot_time(joins, node, now),
            "the restart, as the exporter saw it: as old as its sample",
        ),
    ];
    section("is it back?", rows, heads)
}

fn ready_word(node: &Node) -> Line {
    match ready(node) {
        Some(ConditionStatus::True) => plain("True", Role::Text),
        Some(ConditionStatus::False) => plain("False", Role::Warn),
        Some(ConditionStatus::Unknown) => plain("Unknown", Role::Warn),
        None => absent(),
    }
}

fn boot_time(joins: Joins<'_>, node: &Node, now: Timestamp) -> Line {
    measured(&joins.booted_at(node), now, |at| {
        plain(at.format("%H:%M:%S UTC").to_string(), Role::Text)
    })
}

/// ` · Ready True, which proves nothing for 50 s · lease 24 s ▲ · boot time 05:11:20 UTC   prometheus, 71 s ago`.
pub fn brief(joins: Joins<'_>, state: &State, now: Timestamp) -> Line {
    let Some(node) = joins.cluster.node(&state.node) else {
        return plain(" · ✖ there is no such node now", Role::Error);
    };
    let mut line = plain(" · Ready ", Role::Muted);
    line.extend(ready_word(node));
    if state.step == Step::Restart {
        line.push(Span::new(", which proves nothing for 50 s", Role::Muted));
    }
    line.push(Span::new(" · lease ", Role::Muted));
    line.extend(lease(joins, node));
    if joins.booted_at(node).value().is_some() {
        line.push(Span::new(" · boot time ", Role::Muted));
        line.extend(boot_time(joins, node, now));
    }
    line
}

fn sign(name: &str, value: Line, proves: &str) -> Vec<Line> {
    vec![plain(name, Role::Text), value, plain(proves, Role::Muted)]
}

fn lease(joins: Joins<'_>, node: &Node) -> Line {
    match joins.cluster.lease_age(&node.name, joins.now) {
        Err(_) => absent(),
        Ok(age) if age >= LEASE_RED_SECONDS => plain(format!("{age} s ✖"), Role::Error),
        Ok(age) if age >= LEASE_AMBER_SECONDS => plain(format!("{age} s ▲"), Role::Warn),
        Ok(age) => plain(format!("{age} s"), Role::Text),
    }
}

/// Whether the restart has been waited for long enough, and the node is not well, so that somebody should look.
fn is_overdue(joins: Joins<'_>, state: &State, now: Timestamp) -> bool {
    let Some(node) = joins.cluster.node(&state.node) else {
        return false;
    };
    let began = state.times.iter().rev().find(|time| time.step == Step::Restart);
    let waited = began.map_or(0, |time| (now - time.from).num_seconds());
    let silent = joins.cluster.lease_age(&node.name, now).unwrap_or(0);
    let not_ready = ready(node) != Some(ConditionStatus::True);
    waited >= OVERDUE_SECONDS && (not_ready || i64::try_from(silent).unwrap_or(i64::MAX) >= OVERDUE_SECONDS)
}

impl Store {
    /// The node does not come back: likely causes, and the remedy.
    pub(super) fn not_back(&self, state: &State, now: Timestamp) -> Option<Section> {
        let joins = self.joins(now);
        if !is_overdue(joins, state, now) || state.ending.is_some() {
            return None;
        }
        let node = joins.cluster.node(&state.node)?;
        let began = state.times.last().map_or(now, |time| time.from);
        let mut shown = vec![plain(
            format!("▲ waited for {}: look at its console", lasting(now - began)),
            Role::Warn,
        )];
        if node.os == Some(Os::Windows) {
            shown.extend(self.told_by_the_event_log(&state.node, state.started_at));
            shown.push(plain(
            "likely on a slow disk: containerd does not answer the service control manager within 45 s of the boot \
             (System log 7009, 7000), is not tried again, and the kubelet, which depends on it, does not start either (7001)",
            Role::Text,
        ));
            for (service, state) in joins.services(node) {
                if state.value().is_some() {
                    let mut line = plain(format!("{service} "), Role::Muted);
                    line.extend(measured(&state, now, |found| {
                        plain(found.state.name(), Role::Text)
                    }));
                    shown.push(line);
                }
            }
            shown.extend(command_lines(&LATE));
            shown.push(plain(
            "both services, not containerd alone: a kubelet that starts with the boot starts containerd in the same \
             unlucky minute",
            Role::Muted,
        ));
        }
        Some(lines("it does not come back", shown))
    }

    /// What the System log of a Windows node holds since the maintenance began.
    pub(super) fn event_log_since_the_begin(&self, state: &State, now: Timestamp) -> Option<Section> {
        let node = self.cluster.node(&state.node)?;
        (node.os == Some(Os::Windows))
            .then(|| self.event_log_section(&state.node, Some(state.started_at), now))
    }
}
