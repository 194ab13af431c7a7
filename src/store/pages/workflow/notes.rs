//! What the preflight found: notes by weight, and what becomes of each pod.

use super::{reached, section as rows_section};
use crate::domain::text::sanitise;
use crate::maintenance::pods::{Loss, Refusal, Stays};
use crate::maintenance::preflight::{Fate, Note, Weight};
use crate::maintenance::state::{State, Step};
use crate::store::columns::cells::plain;
use crate::store::view::{Align, Role, Section, Span};
use std::fmt::Write as _;

/// Glyph, word and role of a weight.
pub const fn look(weight: Weight) -> (&'static str, &'static str, Role) {
    match weight {
        Weight::Info => ("·", "good to know", Role::Muted),
        Weight::Warning => ("▲", "warning", Role::Warn),
        Weight::Blocks => ("✖", "blocks", Role::Error),
        Weight::Refuses => ("✖", "refused", Role::Error),
    }
}

/// All notes, the heaviest first. Once the pods have left they are history.
pub fn section(state: &State) -> Option<Section> {
    if reached(state) > Step::Drain {
        return None;
    }
    let mut notes: Vec<&Note> = state.preflight.iter().flat_map(|found| &found.notes).collect();
    notes.sort_by_key(|note| std::cmp::Reverse(note.weight));
    let rows = notes
        .into_iter()
        .map(|note| {
            let (glyph, word, role) = look(note.weight);
            let mut said = plain(sanitise(&note.text), Role::Text);
            if !note.remedy.is_empty() {
                said.push(Span::new(
                    format!(" → {}", sanitise(&note.remedy)),
                    Role::Highlight,
                ));
            }
            vec![plain(format!("{glyph} {word}"), role), said]
        })
        .collect();
    rows_section(
        "preflight",
        rows,
        vec![("WEIGHT", Align::Left), ("WHAT", Align::Left)],
    )
}

/// What becomes of each pod, while that is still a plan.
pub fn fates(state: &State) -> Option<Section> {
    if state.step > Step::Cordon {
        return None;
    }
    let mut pods: Vec<_> = state.preflight.iter().flat_map(|found| &found.pods).collect();
    pods.sort_by_key(|(pod, fate)| (rank(*fate), pod));
    let rows = pods
        .into_iter()
        .map(|(pod, fate)| {
            let (words, role) = words(*fate);
            vec![
                plain(sanitise(&pod.namespace), Role::Muted),
                plain(sanitise(&pod.name), Role::Text),
                plain(words, role),
            ]
        })
        .collect();
    rows_section(
        "pods of the node",
        rows,
        vec![
            ("NAMESPACE", Align::Left),
            ("NAME", Align::Left),
            ("WHAT BECOMES OF IT", Align::Left),
        ],
    )
}

/// Those with trouble first.
const fn rank(fate: Fate) -> u8 {
    match fate {
        Fate::Refused(_) => 0,
        Fate::Leaves(Some(_)) => 1,
        Fate::Leaves(None) => 2,
        Fate::Stays(_) => 3,
    }
}

const fn words(fate: Fate) -> (&'static str, Role) {
    match fate {
        Fate::Leaves(None) => ("leaves", Role::Text),
        Fate::Leaves(Some(Loss::EmptyDir)) => ("▲ leaves, the data of its emptyDir is lost", Role::Warn),
        Fate::Leaves(Some(Loss::Uncontrolled)) => ("▲ leaves, nothing brings it back", Role::Warn),
        Fate::Leaves(Some(Loss::Both)) => (
            "▲ leaves, nothing brings it back, the data of its emptyDir is lost",
            Role::Warn,
        ),
        Fate::Stays(Stays::DaemonSet) => ("stays: of a DaemonSet", Role::Muted),
        Fate::Stays(Stays::Mirror) => ("stays: static, only the node can end it", Role::Muted),
        Fate::Stays(Stays::NotSelected) => ("stays: not selected", Role::Muted),
        Fate::Stays(Stays::LongDeleted) => ("stays: its deletion is not waited for any more", Role::Muted),
        Fate::Refused(Refusal::EmptyDir) => (
            "✖ refused: the data of its emptyDir would be lost, --delete-emptydir-data allows that",
            Role::Error,
        ),
        Fate::Refused(Refusal::Uncontrolled) => (
            "✖ refused: no controller would bring it back, --force allows that",
            Role::Error,
        ),
    }
}

/// `7 pods are`, `1 pod is`: to be followed by `evicted`.
pub fn leave(state: &State) -> String {
    match count(state, |fate| matches!(fate, Fate::Leaves(_))) {
        1 => "1 pod is".to_owned(),
        pods => format!("{pods} pods are"),
    }
}

/// `7 pods leave, 5 stay, 1 refused, nothing is lost`.
pub fn summary(state: &State) -> String {
    let leave = count(state, |fate| matches!(fate, Fate::Leaves(_)));
    let stay = count(state, |fate| matches!(fate, Fate::Stays(_)));
    let refused = count(state, |fate| matches!(fate, Fate::Refused(_)));
    let lost = count(state, |fate| matches!(fate, Fate::Leaves(Some(_))));
    let mut words = match leave {
        1 => "1 pod leaves".to_owned(),
        leave => format!("{leave} pods leave"),
    };
    // Writing to a String cannot fail.
    let _ = write!(words, ", {stay} stay");
    if refused > 0 {
        let _ = write!(words, ", {refused} refused");
    }
    let _ = match lost {
        0 => write!(words, ", nothing is lost"),
        lost => write!(words, ", {lost} with a loss"),
    };
    words
}

fn count(state: &State, test: fn(Fate) -> bool) -> usize {
    let pods = state.preflight.iter().flat_map(|found| &found.pods);
    pods.filter(|(_, fate)| test(*fate)).count()
}
