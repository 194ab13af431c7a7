//! Notes and their words.

use super::{Note, Weight};
use crate::domain::text::sanitise;
use std::fmt::Display;

/// How many names a sentence lists.
const LISTED: usize = 5;

/// The notes so far.
#[derive(Debug, Default)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Adds a note. Names and texts of the cluster come from outside, so that it is cleaned here.
    pub fn add(&mut self, weight: Weight, text: impl AsRef<str>, remedy: impl AsRef<str>) {
        self.0.push(Note {
            weight,
            text: sanitise(text.as_ref()).into_owned(),
            remedy: sanitise(remedy.as_ref()).into_owned(),
        });
    }

    /// Something could not be read.
    pub fn unknown(&mut self, what: &str, reason: &str) {
        self.add(
            Weight::Warning,
            format!("{what} could not be judged: {reason}"),
            "find that out by hand before you begin",
        );
    }

    /// The heaviest first, otherwise in order.
    pub fn worst_first(mut self) -> Vec<Note> {
        self.0.sort_by_key(|note| std::cmp::Reverse(note.weight));
        self.0
    }
}

/// `1 pod`, `7 pods`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// The word for one, or for several.
pub const fn verb<'a>(number: usize, one: &'a str, several: &'a str) -> &'a str {
    if number == 1 { one } else { several }
}

/// The first names, and how many more there are.
pub fn listed<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    let more = all.len().saturating_sub(LISTED);
    // One more name is as short as saying that there is one more.
    if more <= 1 {
        return all.join(", ");
    }
    format!("{} and {more} more", all[..LISTED].join(", "))
}
