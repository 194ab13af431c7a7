//! A line of input in the place of the footer: the filter (applied while it is typed) and the namespace.

use super::maintain::{Confirm, WISHES};
use super::rounds;
use super::ui::Cursor;
use crate::domain::Name;
use crate::domain::text::sanitise;
use std::borrow::Cow;
use tui_input::Input;

/// A line of input.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What it asks for.
    pub asks: Asks,
    /// What is typed.
    pub input: Input,
}

/// What a prompt asks for.
#[derive(Clone, Debug)]
pub enum Asks {
    /// The filter of the table; what it was before, for the way back.
    Filter {
        /// Filter before.
        filter: String,
        /// Selection before.
        cursor: Cursor,
    },
    /// The namespace to watch.
    Namespace,
    /// What the node is to be maintained for.
    Maintain(Name),
    /// What the round over these nodes is to be for.
    Round(Vec<Name>),
    /// A word that confirms.
    Confirm(Box<Confirm>),
    /// Which pod without network is to be created anew.
    Recreate,
}

impl Prompt {
    /// Asks, with a text to begin with.
    pub fn new(asks: Asks, text: String) -> Self {
        Self {
            asks,
            input: Input::new(text),
        }
    }

    /// What stands before the input.
    pub fn label(&self) -> Cow<'static, str> {
        match &self.asks {
            Asks::Filter { .. } => "/".into(),
            Asks::Namespace => "namespace: ".into(),
            Asks::Maintain(node) => format!("maintain {} for: ", sanitise(node)).into(),
            Asks::Round(nodes) => format!("round of {} nodes, for: ", nodes.len()).into(),
            Asks::Confirm(confirm) => format!("type {} to {}: ", sanitise(&confirm.word), confirm.to).into(),
            Asks::Recreate => "recreate: ".into(),
        }
    }

    /// What stands behind an empty input.
    pub fn hint(&self) -> &'static str {
        match self.asks {
            Asks::Filter { .. } => "word  !word  column:value  commit>80%  -l app=web",
            Asks::Namespace => "empty for all",
            Asks::Maintain(_) => WISHES,
            Asks::Round(_) => rounds::WISHES,
            Asks::Confirm(_) => "esc: no",
            Asks::Recreate => "namespace/name of a pod without network",
        }
    }
}

/// The filter line for these terms and this selector: the inverse of
/// [`split_selector`](crate::store::filter::split_selector).
pub fn join_selector(terms: &str, selector: &str) -> String {
    match (terms.is_empty(), selector.is_empty()) {
        (_, true) => terms.to_owned(),
        (true, false) => format!("-l {selector}"),
        (false, false) => format!("{terms} -l {selector}"),
    }
}

/// Whether a namespace may have that name: a DNS label.
pub fn is_namespace(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 63
        && name.starts_with(plain)
        && name.ends_with(plain)
        && name.chars().all(|c| plain(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::filter::split_selector;
    use proptest::prelude::*;

    #[test]
    fn the_selector_goes_to_the_end_of_the_line() {
        let (selector, terms) = split_selector("hello -l env in (a, b)");
        assert_eq!(
            (selector.as_deref(), terms.as_str()),
            (Some("env in (a, b)"), "hello")
        );
        let (selector, terms) = split_selector("well-lit x-l");
        assert_eq!((selector, terms.as_str()), (None, "well-lit x-l"));
    }

    proptest! {
        #[test]
        fn what_is_joined_comes_apart_again(terms in "([a-z0-9>%]{1,5}( [a-z0-9>%]{1,5})?)?", selector in "[a-z=,()]{0,12}") {
            let line = join_selector(&terms, &selector);
            let (split, rest) = split_selector(&line);
            prop_assert_eq!((split.unwrap_or_default(), rest), (selector, terms));
        }
    }

    #[test]
    fn a_namespace_is_a_dns_label() {
        assert!(is_namespace("win-demo"));
        for wrong in ["", "Win", "win_demo", "-win", "win-", "a/b"] {
            assert!(!is_namespace(wrong), "{wrong}");
        }
    }
}
