//! The steps, each with its mark, its time, and what it found or will ask for.

use super::{asks_for_revision, clock, lasting, notes, reached, restart};
use crate::domain::Timestamp;
use crate::domain::node::Node;
use crate::domain::object::Os;
use crate::domain::text::sanitise;
use crate::maintenance::event::Ending;
use crate::maintenance::pods::OwnerKey;
use crate::maintenance::state::{LeavingStatus, State, Step, StepTime};
use crate::store::columns::cells::plain;
use crate::store::join::Joins;
use crate::store::pages::table;
use crate::store::view::{Align, Line, Role, Section, Span};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// Where a step stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Done,
    /// In an earlier run of the program: its time is in the journal.
    Earlier,
    Skipped,
    Current,
    Failed,
    Ahead,
}

impl Stage {
    const fn look(self) -> (&'static str, Role) {
        match self {
            Self::Done | Self::Earlier => ("✔", Role::Ok),
            Self::Skipped => ("–", Role::Absent),
            Self::Current => ("●", Role::Highlight),
            Self::Failed => ("✖", Role::Error),
            Self::Ahead => ("○", Role::Muted),
        }
    }
}

/// The steps of a maintenance.
pub fn section(joins: Joins<'_>, state: &State, now: Timestamp) -> Section {
    let rows = Step::ALL
        .iter()
        .map(|step| row(joins, state, *step, now))
        .collect();
    let heads = vec![
        ("STEP", Align::Left),
        ("FROM UTC", Align::Left),
        ("TOOK", Align::Right),
        ("", Align::Left),
    ];
    table("steps", heads, rows, "")
}

fn row(joins: Joins<'_>, state: &State, step: Step, now: Timestamp) -> Vec<Line> {
    let node = joins.cluster.node(&state.node);
    let stage = stage(state, step);
    let (glyph, role) = stage.look();
    let title = if stage == Stage::Current {
        Role::Title
    } else {
        Role::Text
    };
    let name = vec![
        Span::new(format!("{glyph} "), role),
        Span::new(
            step.title(),
            if stage == Stage::Ahead { Role::Muted } else { title },
        ),
    ];
    let time = time(state, step).filter(|_| !matches!(stage, Stage::Earlier | Stage::Ahead));
    let from = time.map_or_else(String::new, |time| clock(time.from));
    let took = time.map_or_else(String::new, |time| lasting(time.to.unwrap_or(now) - time.from));
    let words = match stage {
        Stage::Skipped => "skipped, knowingly".to_owned(),
        Stage::Earlier if said(state, node, step, stage).is_empty() => {
            "before this run of the program".to_owned()
        }
        _ => said(state, node, step, stage),
    };
    let role = if stage == Stage::Ahead {
        Role::Muted
    } else {
        Role::Text
    };
    let mut said = plain(sanitise(&words), role);
    if stage == Stage::Current && (Step::Restart..=Step::Network).contains(&step) {
        said.extend(restart::brief(joins, state, now));
    }
    vec![name, plain(from, Role::Muted), plain(took, Role::Text), said]
}

/// When the step last began and ended in this run of the program.
fn time(state: &State, step: Step) -> Option<&StepTime> {
    state.times.iter().rev().find(|time| time.step == step)
}

fn stage(state: &State, step: Step) -> Stage {
    let current = reached(state);
    // What is resumed begins in the middle.
    let resumed = state.times.first().is_some_and(|first| step < first.step);
    match step.cmp(&current) {
        Ordering::Greater => Stage::Ahead,
        Ordering::Equal => match &state.ending {
            None => Stage::Current,
            Some((Ending::Done, _)) => Stage::Done,
            Some(_) => Stage::Failed,
        },
        Ordering::Less if resumed => Stage::Earlier,
        Ordering::Less if time(state, step).is_none() => Stage::Skipped,
        Ordering::Less => Stage::Done,
    }
}

/// What a step found, finds or will ask for; empty where there is nothing to say.
fn said(state: &State, node: Option<&Node>, step: Step, stage: Stage) -> String {
    let ahead = stage == Stage::Ahead;
    let before = Before::of(state);
    match step {
        Step::Preflight => match &state.preflight {
            Some(_) => notes::summary(state),
            None => String::new(),
        },
        Step::Cordon => match &state.record {
            Some(record) if record.was_cordoned => "was cordoned before: yours to uncordon".to_owned(),
            _ => String::new(),
        },
        Step::Drain => drain(state),
        Step::Restart => match (&state.boot_id, before) {
            (_, None) => "the boot id must change".to_owned(),
            (Some(now), Some(before)) if **now != *before.boot_id => {
                format!("boot id {} → {now}", before.boot_id)
            }
            (_, Some(before)) => format!("boot id {} must change", before.boot_id),
        },
        Step::Revision => revision(state, node, stage),
        Step::Network => network(state),
        Step::Uncordon => match &state.record {
            Some(record) if record.was_cordoned => "stays cordoned, as it was found".to_owned(),
            _ => String::new(),
        },
        Step::PodsBack => back(state, ahead),
        Step::Over => String::new(),
    }
}

/// The node before the restart: from the record, or from the preflight while there is none.
struct Before<'a> {
    boot_id: &'a str,
    kernel_version: &'a str,
}

impl<'a> Before<'a> {
    fn of(state: &'a State) -> Option<Self> {
        match (&state.record, &state.preflight) {
            (Some(record), _) => Some(Self {
                boot_id: &record.boot_id,
                kernel_version: &record.kernel_version,
            }),
            (None, Some(preflight)) => Some(Self {
                boot_id: &preflight.node.boot_id,
                kernel_version: &preflight.node.kernel_version,
            }),
            (None, None) => None,
        }
    }
}

fn drain(state: &State) -> String {
    let all = state.leaving.len();
    if all == 0 {
        return String::new();
    }
    let count =
        |test: fn(&LeavingStatus) -> bool| state.leaving.values().filter(|pod| test(&pod.status)).count();
    let mut words = format!("{} of {all} gone", count(|status| *status == LeavingStatus::Gone));
    for (number, word) in [
        (
            count(|status| matches!(status, LeavingStatus::Blocked(_))),
            "blocked",
        ),
        (count(|status| matches!(status, LeavingStatus::Stuck(_))), "stuck"),
        (
            count(|status| matches!(status, LeavingStatus::Refused(_))),
            "refused",
        ),
    ] {
        if number > 0 {
            // Writing to a String cannot fail.
            let _ = write!(words, ", {number} {word}");
        }
    }
    words
}

fn revision(state: &State, node: Option<&Node>, stage: Stage) -> String {
    let ahead = stage == Stage::Ahead;
    let Some(before) = Before::of(state) else {
        return String::new();
    };
    let before = before.kernel_version;
    match node {
        _ if !asks_for_revision(state) => format!("not asked for: {}", state.options.purpose.name()),
        Some(node) if node.os == Some(Os::Linux) => "not asked for: Linux".to_owned(),
        Some(node) if !ahead && before == &*node.kernel_version && stage == Stage::Done => {
            format!("{before}, the same as before: accepted, not updated")
        }
        Some(node) if !ahead => format!("{before} → {}", node.kernel_version),
        _ => format!("{before} must grow"),
    }
}

fn network(state: &State) -> String {
    if !state.network.is_empty() {
        let ready = state.network.iter().filter(|pod| pod.is_ready()).count();
        return format!("{ready} of {} network pods new and ready", state.network.len());
    }
    let owners: Vec<&str> = state
        .record
        .iter()
        .flat_map(|record| &record.network_owners)
        .map(|owner| &*owner.name)
        .collect();
    match owners.as_slice() {
        _ if state.options.no_network_gate => "not waited for: --no-network-gate".to_owned(),
        [] => "the network pods: all containers new and ready".to_owned(),
        owners => format!("{}: all containers new and ready", owners.join(", ")),
    }
}

/// `5 of 7 ready`; before it begins `7 ready, as before, of 4 controllers`.
fn back(state: &State, ahead: bool) -> String {
    let before = ready_before(state);
    let all: u32 = before.iter().map(|(_, number)| number).sum();
    if ahead {
        return match before.len() {
            0 => String::new(),
            1 => format!("{all} ready, as before, of 1 controller"),
            owners => format!("{all} ready, as before, of {owners} controllers"),
        };
    }
    let ready: u32 = before
        .iter()
        .map(|(owner, number)| state.ready.get(owner).copied().unwrap_or(0).min(*number))
        .sum();
    format!("{ready} of {all} ready")
}

/// Ready pods of each controller before the drain.
pub fn ready_before(state: &State) -> &[(OwnerKey, u32)] {
    match (&state.record, &state.preflight) {
        (Some(record), _) => &record.ready_before,
        (None, Some(preflight)) => &preflight.ready,
        (None, None) => &[],
    }
}
