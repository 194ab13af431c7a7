//! Words that a filter looks for, tried on the words of rows.
//!
//! Rows are not ranked, so the matcher with its scores is needed only where letters have accents to fold. ASCII
//! names, which are nearly all, are walked once, and nothing is copied for them.

use memchr::{memchr2, memchr2_iter};
use nucleo_matcher::pattern::{Atom, AtomKind};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// What is looked for.
#[derive(Debug)]
pub struct Wanted {
    atom: Atom,
    /// The letters if all of them are ASCII.
    ascii: Option<Box<[u8]>>,
    /// Without a capital among the letters, capitals of a row are as good.
    folds: bool,
}

/// What trying words other than ASCII takes.
pub struct Scratch {
    matcher: Matcher,
    characters: Vec<char>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            matcher: Matcher::new(Config::DEFAULT),
            characters: Vec::new(),
        }
    }
}

impl Wanted {
    /// A pattern that was understood; `None` if it has no letters.
    pub fn new(atom: Atom) -> Option<Self> {
        let needle = atom.needle_text();
        if needle.is_empty() {
            return None;
        }
        let ascii = match needle {
            Utf32Str::Ascii(letters) => Some(letters.into()),
            Utf32Str::Unicode(_) => None,
        };
        let folds = !needle.chars().any(char::is_uppercase);
        Some(Self { atom, ascii, folds })
    }

    /// Whether rows are wanted that do not have it.
    pub const fn is_negative(&self) -> bool {
        self.atom.negative
    }

    /// Whether the text has it.
    pub fn is_in(&self, text: &str, scratch: &mut Scratch) -> bool {
        let ascii = self.ascii.as_deref().filter(|_| text.is_ascii());
        ascii
            .and_then(|letters| self.is_in_ascii(letters, text.as_bytes()))
            .unwrap_or_else(|| self.is_in_any(text, scratch))
    }

    /// `None` for a kind of pattern that only the matcher knows.
    fn is_in_ascii(&self, letters: &[u8], text: &[u8]) -> Option<bool> {
        let folds = self.folds;
        let same =
            |part: &[u8], letters: &[u8]| part == letters || (folds && part.eq_ignore_ascii_case(letters));
        let capital = |letter: u8| {
            if folds {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        };
        let found = match self.atom.kind {
            AtomKind::Fuzzy => {
                let mut rest = text;
                letters.iter().all(|letter| {
                    let at = memchr2(*letter, capital(*letter), rest);
                    rest = at.map_or(&[], |at| &rest[at + 1..]);
                    at.is_some()
                })
            }
            AtomKind::Substring => {
                let (first, others) = letters.split_first()?;
                memchr2_iter(*first, capital(*first), text).any(|at| {
                    let behind = text.get(at + 1..at + letters.len());
                    behind.is_some_and(|behind| same(behind, others))
                })
            }
            AtomKind::Prefix => {
                let begin = text.trim_ascii_start().get(..letters.len());
                begin.is_some_and(|begin| same(begin, letters))
            }
            AtomKind::Postfix => {
                let text = text.trim_ascii_end();
                let end = text.len().checked_sub(letters.len());
                end.is_some_and(|end| same(&text[end..], letters))
            }
            AtomKind::Exact => same(text.trim_ascii(), letters),
            _ => return None,
        };
        Some(found)
    }

    fn is_in_any(&self, text: &str, scratch: &mut Scratch) -> bool {
        let Scratch { matcher, characters } = scratch;
        let text = Utf32Str::new(text, characters);
        if self.atom.kind == AtomKind::Fuzzy {
            let needle = self.atom.needle_text();
            matcher.config.ignore_case = self.folds;
            matcher.config.normalize = needle.is_ascii();
            return matcher.fuzzy_match_greedy(text, needle).is_some();
        }
        // A negative pattern scores where it is not found.
        self.atom.score(text, matcher).is_some() != self.atom.negative
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nucleo_matcher::pattern::{CaseMatching, Normalization};
    use proptest::prelude::*;

    /// What the pattern means, said in the plainest way.
    fn meant(kind: AtomKind, letters: &str, text: &str) -> bool {
        match kind {
            AtomKind::Fuzzy => {
                let mut rest = text.chars();
                letters.chars().all(|letter| rest.any(|other| other == letter))
            }
            AtomKind::Substring => text.contains(letters),
            AtomKind::Prefix => text.trim().starts_with(letters),
            AtomKind::Postfix => text.trim().ends_with(letters),
            _ => text.trim() == letters,
        }
    }

    proptest! {
        #[test]
        fn ascii_is_found_where_it_is(letters in "[abAB-]{1,4}", form in 0usize..5, text in "[ ]?[abAB-]{0,9}[ ]?") {
            let pattern = [("", ""), ("'", ""), ("^", ""), ("", "$"), ("^", "$")][form];
            let pattern = format!("{}{letters}{}", pattern.0, pattern.1);
            let atom = Atom::parse(&pattern, CaseMatching::Smart, Normalization::Smart);
            let kind = atom.kind;
            let wanted = Wanted::new(atom).unwrap();
            let text_meant = if wanted.folds { text.to_lowercase() } else { text.clone() };
            let expected = meant(kind, &letters, &text_meant);
            prop_assert_eq!(wanted.is_in(&text, &mut Scratch::default()), expected);
        }
    }
}
