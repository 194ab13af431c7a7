//! Label selectors, parsed and matched as the API server does.

use super::Name;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// One term of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The label has one of these values.
    In(String, Vec<String>),
    /// The label is missing or has none of these values.
    NotIn(String, Vec<String>),
    /// The label is there.
    Exists(String),
    /// The label is missing.
    Missing(String),
}

/// A label selector; the empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Term>);

/// A selector that cannot be read, in the API server's words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found '{found}', expected: {expected}")]
pub struct SelectorError {
    found: String,
    expected: &'static str,
}

impl LabelSelector {
    /// The selector with these terms.
    pub const fn new(terms: Vec<Term>) -> Self {
        Self(terms)
    }

    /// Whether nothing is selected by it in particular.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it selects an object whose labels are found by `label`.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|term| match term {
            Term::In(name, values) => label(name).is_some_and(|value| values.iter().any(|one| one == value)),
            Term::NotIn(name, values) => {
                label(name).is_none_or(|value| values.iter().all(|one| one != value))
            }
            Term::Exists(name) => label(name).is_some(),
            Term::Missing(name) => label(name).is_none(),
        })
    }

    /// Whether it selects an object with these labels.
    pub fn selects(&self, labels: &[(Name, Name)]) -> bool {
        self.matches(|name| {
            labels
                .iter()
                .find(|(label, _)| &**label == name)
                .map(|(_, value)| &**value)
        })
    }
}

/// Parses `a=b,c!=d,e in (f,g),h,!i`.
impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split_terms(text)
            .into_iter()
            .map(parse_term)
            .collect::<Result<Vec<_>, _>>()
            .map(Self)
    }
}

impl serde::Serialize for LabelSelector {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for LabelSelector {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// As it is written in a query: the inverse of parsing.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match term {
                Term::In(name, values) => write!(f, "{name} in ({})", values.join(","))?,
                Term::NotIn(name, values) => write!(f, "{name} notin ({})", values.join(","))?,
                Term::Exists(name) => f.write_str(name)?,
                Term::Missing(name) => write!(f, "!{name}")?,
            }
        }
        Ok(())
    }
}

/// Splits at the commas outside of parentheses.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    selector
        .split(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        })
        .map(str::trim)
        .filter(|term| !term.is_empty())
        .collect()
}

fn parse_term(term: &str) -> Result<Term, SelectorError> {
    let word = |word: &str| {
        let word = word.trim();
        let strange = |letter: char| !letter.is_ascii_alphanumeric() && !"-_./".contains(letter);
        match word.find(strange) {
            Some(at) => Err(SelectorError {
                found: word.get(at..).unwrap_or_default().trim().to_owned(),
                expected: "',' or 'end of string'",
            }),
            None => Ok(word.to_owned()),
        }
    };
    let name = |text: &str| match word(text)? {
        name if name.is_empty() => Err(SelectorError {
            found: String::new(),
            expected: "!, identifier, or 'end of string'",
        }),
        name => Ok(name),
    };
    let set = |values: &str| {
        let inner = values
            .trim()
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(|| SelectorError {
                found: values.to_owned(),
                expected: "'('",
            })?;
        inner.split(',').map(word).collect::<Result<Vec<_>, _>>()
    };
    if let Some(missing) = term.strip_prefix('!') {
        return Ok(Term::Missing(name(missing)?));
    }
    if let Some((label, value)) = term.split_once("!=") {
        return Ok(Term::NotIn(name(label)?, vec![word(value)?]));
    }
    if let Some((label, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(Term::In(name(label)?, vec![word(value)?]));
    }
    if let Some((label, values)) = term.split_once(" notin ") {
        return Ok(Term::NotIn(name(label)?, set(values)?));
    }
    if let Some((label, values)) = term.split_once(" in ") {
        return Ok(Term::In(name(label)?, set(values)?));
    }
    Ok(Term::Exists(name(term)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(pairs: &[(&str, &str)]) -> Vec<(Name, Name)> {
        pairs
            .iter()
            .map(|(name, value)| (Name::from(*name), Name::from(*value)))
            .collect()
    }

    fn selector(text: &str) -> LabelSelector {
        text.parse().unwrap()
    }

    #[test]
    fn every_term_must_match() {
        let hello = labels(&[("app", "hello"), ("tier", "web")]);
        let selects = |text: &str| selector(text).selects(&hello);
        assert!(selects("") && selects("app") && selects("app=hello,tier in (web, db)"));
        assert!(selects("other!=x") && selects("!other") && selects("tier notin (db)"));
        assert!(!selects("app=hello,tier=db") && !selects("!app") && !selects("other in (x)"));
    }

    proptest! {
        #[test]
        fn noise_is_read_or_refused_and_never_a_panic(noise in "\\PC{0,40}") {
            if let Ok(read) = noise.parse::<LabelSelector>() {
                prop_assert_eq!(selector(&read.to_string()), read);
            }
        }

        #[test]
        fn a_label_is_found_by_its_own_value_and_by_no_other(name in "[a-z]{1,8}", value in "[a-z]{1,8}") {
            let labelled = labels(&[(&name, &value)]);
            let selects = |text: String| selector(&text).selects(&labelled);
            let (found, other, longer) =
                (format!("{name}={value}"), format!("{name}!={value}"), format!("{name}={value}x"));
            prop_assert!(selects(found));
            prop_assert!(!selects(other));
            prop_assert!(!selects(longer));
        }
    }
}
