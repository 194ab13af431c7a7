//! A line of input in the place of the footer: the filter (applied while it is typed) and the namespace.

use super::ui::Cursor;
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
    pub fn label(&self) -> &'static str {
        match self.asks {
            Asks::Filter { .. } => "/",
            Asks::Namespace => "namespace: ",
        }
    }

    /// What stands behind an empty input.
    pub fn hint(&self) -> &'static str {
        match self.asks {
            Asks::Filter { .. } => "word  !word  column:value  commit>80%  -l app=web",
            Asks::Namespace => "empty for all",
        }
    }
}

/// A filter line as typed, taken apart: the terms that the store filters by, and the label selector behind `-l`
/// that the API server evaluates. A selector may hold spaces, so it goes to the end of the line.
pub fn split_selector(typed: &str) -> (&str, &str) {
    let bytes = typed.as_bytes();
    let starts =
        |at: usize| (at == 0 || bytes[at - 1] == b' ') && bytes.get(at + 2).is_none_or(|next| *next == b' ');
    match typed.match_indices("-l").find(|(at, _)| starts(*at)) {
        Some((at, _)) => (typed[..at].trim(), typed[at + 2..].trim()),
        None => (typed.trim(), ""),
    }
}

/// The filter line for these terms and this selector: the inverse of [`split_selector`].
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
    use proptest::prelude::*;

    #[test]
    fn the_selector_goes_to_the_end_of_the_line() {
        assert_eq!(
            split_selector("hello -l env in (a, b)"),
            ("hello", "env in (a, b)")
        );
        assert_eq!(split_selector("-l app=web"), ("", "app=web"));
        assert_eq!(split_selector("well-lit pods"), ("well-lit pods", ""));
        assert_eq!(split_selector("x-l y"), ("x-l y", ""));
        assert_eq!(split_selector("hello -l"), ("hello", ""));
    }

    proptest! {
        #[test]
        fn what_is_joined_comes_apart_again(terms in "[a-z0-9:>% ]{0,12}", selector in "[a-z=,() ]{0,12}") {
            let (terms, selector) = (terms.trim(), selector.trim());
            let line = join_selector(terms, selector);
            prop_assert_eq!(split_selector(&line), (terms, selector));
        }

        #[test]
        fn any_line_can_be_taken_apart(typed in "\\PC*") {
            let (terms, selector) = split_selector(&typed);
            prop_assert!(terms.len() + selector.len() <= typed.len());
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
