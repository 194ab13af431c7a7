//! The filter of a table, as the operator types it: terms with spaces between them, all of which must hold.
//!
//! | term | holds for |
//! |---|---|
//! | `web` | rows with a word that has these letters in this order (fuzzy, best for half-remembered names) |
//! | `'web`, `^web`, `web$` | rows with a word that contains, begins with, ends with `web` |
//! | `!web` | rows with no word that contains `web` |
//! | `node:win-1` | rows whose column contains the text; for a column of numbers: equals the number |
//! | `commit>80%`, `ws>=1Gi`, `restarts>3`, `age<2h` | rows whose column compares so |
//! | `!node:win-1`, `!commit>80%` | the opposite, of rows where the column is there |
//! | `label:app=web`, `-l env in (a, b)` | a label selector: the server's matter, recognised here and left to it; `-l` goes to the end of the line |
//!
//! What is absent matches no term about its column, negated or not: it is not known to be either.

use super::columns::{Column, TableRow, Unit};
use super::words::{Scratch, Wanted};
use crate::domain::quantity;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use std::fmt::Write as _;
use thiserror::Error;

/// Why a term was not understood. The message names the term and what there is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilterError {
    /// There is no such column.
    #[error("no column `{column}` here; there are {known}")]
    UnknownColumn {
        /// As typed.
        column: String,
        /// The columns of the table.
        known: String,
    },
    /// The column has no numbers to compare.
    #[error("`{column}` is text and cannot be compared; write {column}:text")]
    NoNumbers {
        /// As typed.
        column: String,
    },
    /// The number is not one, or its unit is not the column's.
    #[error("`{literal}` is no amount of `{column}`; write for example {examples}")]
    BadLiteral {
        /// The column.
        column: String,
        /// As typed.
        literal: String,
        /// Amounts that it takes.
        examples: String,
    },
    /// `-l` without a selector behind it.
    #[error("a label selector is missing after -l; write for example -l app=web")]
    NoSelector,
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Comparison {
    fn holds(self, value: f64, literal: f64) -> bool {
        // What is typed has few digits: `ws=42Mi` is meant as it is shown.
        let equal = (value - literal).abs() <= literal.abs() * 1e-9;
        match self {
            Self::Equal => equal,
            Self::NotEqual => !equal,
            Self::Greater => value > literal && !equal,
            Self::GreaterOrEqual => value > literal || equal,
            Self::Less => value < literal && !equal,
            Self::LessOrEqual => value < literal || equal,
        }
    }
}

#[derive(Debug)]
enum Test<C> {
    Word(Wanted),
    Text {
        column: C,
        negated: bool,
        wanted: Wanted,
    },
    Number {
        column: C,
        negated: bool,
        unit: Unit,
        comparison: Comparison,
        literal: f64,
    },
}

/// A filter that was understood.
pub struct Filter<C> {
    tests: Vec<Test<C>>,
    scratch: Scratch,
}

impl<C> Default for Filter<C> {
    fn default() -> Self {
        Self {
            tests: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

/// The label selector in a filter, and the filter without it. The selector restricts the watch of pods on the
/// server; what is left filters the rows.
pub fn split_selector(text: &str) -> (Option<String>, String) {
    let mut selectors: Vec<String> = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word == "-l" {
            // A selector may hold spaces (`env in (test, prod)`), so it goes to the end of the line.
            let selector = words.by_ref().collect::<Vec<_>>().join(" ");
            selectors.extend((!selector.is_empty()).then_some(selector));
        } else if let Some(selector) = word.strip_prefix("label:") {
            selectors.push(selector.to_owned());
        } else {
            rest.push(word);
        }
    }
    let selector = (!selectors.is_empty()).then(|| selectors.join(","));
    (selector, rest.join(" "))
}

impl<C: Copy> Filter<C> {
    /// Understands a filter. Terms that are not understood are left out, so that the table does not jump while
    /// the operator is typing; the first of them is the error.
    pub fn parse<R>(text: &str) -> (Self, Option<FilterError>)
    where
        R: TableRow<Column = C>,
        C: Column<R>,
    {
        let mut filter = Self::default();
        let mut first_error = None;
        if text.split_whitespace().last() == Some("-l") {
            first_error = Some(FilterError::NoSelector);
        }
        let (_, rows) = split_selector(text);
        for term in rows.split_whitespace() {
            match Test::parse::<R>(term) {
                Ok(understood) => filter.tests.extend(understood),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        (filter, first_error)
    }

    /// Whether nothing is filtered.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Whether the row satisfies every term.
    pub fn matches<R>(&mut self, row: &R) -> bool
    where
        R: TableRow<Column = C>,
        C: Column<R>,
    {
        let scratch = &mut self.scratch;
        self.tests.iter().all(|test| match test {
            Test::Word(wanted) => {
                row.any_word(&mut |word| wanted.is_in(word, scratch)) != wanted.is_negative()
            }
            Test::Text {
                column,
                negated,
                wanted,
            } => column
                .text(row)
                .is_some_and(|text| wanted.is_in(&text, scratch) != *negated),
            Test::Number {
                column,
                negated,
                unit,
                comparison,
                literal,
            } => column
                .number(row, *unit)
                .is_some_and(|value| comparison.holds(value, *literal) != *negated),
        })
    }
}

impl<C: Copy> Test<C> {
    /// `None` for a term that is only a beginning (`!`, `'`), as met while typing.
    fn parse<R>(term: &str) -> Result<Option<Self>, FilterError>
    where
        R: TableRow<Column = C>,
        C: Column<R>,
    {
        let (negated, about) = match term.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, term),
        };
        let id = about
            .find(|c: char| !c.is_ascii_alphabetic() && c != '-')
            .unwrap_or(about.len());
        let (id, behind) = about.split_at(id);
        let operators = [
            (">=", Some(Comparison::GreaterOrEqual)),
            ("<=", Some(Comparison::LessOrEqual)),
            ("!=", Some(Comparison::NotEqual)),
            (">", Some(Comparison::Greater)),
            ("<", Some(Comparison::Less)),
            ("=", Some(Comparison::Equal)),
            (":", None),
        ];
        let found = operators
            .into_iter()
            .find_map(|(sign, comparison)| Some((comparison, behind.strip_prefix(sign)?)));
        let Some((comparison, literal)) = found.filter(|_| !id.is_empty()) else {
            let atom = Atom::parse(term, CaseMatching::Smart, Normalization::Smart);
            return Ok(Wanted::new(atom).map(Self::Word));
        };
        let Some(column) = C::by_id(&id.to_ascii_lowercase()) else {
            return Err(FilterError::UnknownColumn {
                column: id.to_owned(),
                known: known_columns::<R>(),
            });
        };
        let units = column.head().units;
        if units.is_empty() {
            return Self::text(column, id, negated, comparison, literal);
        }
        let parsed = units
            .iter()
            .find_map(|unit| Some((*unit, parse_literal(literal, *unit)?)));
        let Some((unit, literal)) = parsed else {
            let examples: Vec<String> = units
                .iter()
                .map(|unit| format!("{id}>{}", unit.example()))
                .collect();
            return Err(FilterError::BadLiteral {
                column: id.to_owned(),
                literal: literal.to_owned(),
                examples: examples.join(" or "),
            });
        };
        Ok(Some(Self::Number {
            column,
            negated,
            unit,
            comparison: comparison.unwrap_or(Comparison::Equal),
            literal,
        }))
    }

    fn text(
        column: C,
        id: &str,
        negated: bool,
        comparison: Option<Comparison>,
        wanted: &str,
    ) -> Result<Option<Self>, FilterError> {
        let (kind, negated) = match comparison {
            None => (AtomKind::Substring, negated),
            Some(Comparison::Equal) => (AtomKind::Exact, negated),
            Some(Comparison::NotEqual) => (AtomKind::Exact, !negated),
            Some(_) => {
                return Err(FilterError::NoNumbers {
                    column: id.to_owned(),
                });
            }
        };
        let atom = Atom::new(wanted, CaseMatching::Smart, Normalization::Smart, kind, false);
        Ok(Wanted::new(atom).map(|wanted| Self::Text {
            column,
            negated,
            wanted,
        }))
    }
}

fn known_columns<R: TableRow>() -> String {
    let mut known = String::new();
    for column in R::Column::ALL {
        let separator = if known.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(known, "{separator}{}", column.head().id);
    }
    known
}

/// A number in the base of this unit; `None` if it is not written in this unit.
#[expect(
    clippy::cast_precision_loss,
    reason = "amounts that people type have few digits"
)]
fn parse_literal(text: &str, unit: Unit) -> Option<f64> {
    let plain = |text: &str| {
        let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        digits.then(|| text.parse::<f64>().ok()).flatten()
    };
    match unit {
        Unit::Percent => Some(plain(text.strip_suffix('%')?)? / 100.0),
        Unit::Bytes => {
            // A plain 8 could be bytes or percent: it is asked for rather than guessed.
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            if unit.is_empty() && text != "0" {
                return None;
            }
            let text = text.strip_suffix('B').unwrap_or(text);
            quantity::bytes(text).ok().map(|bytes| bytes as f64)
        }
        Unit::Cores => quantity::millicores(text)
            .ok()
            .map(|millicores| millicores as f64 / 1000.0),
        Unit::Count => plain(text),
        Unit::Duration => {
            let (number, seconds) = [("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)]
                .into_iter()
                .find_map(|(suffix, seconds)| Some((text.strip_suffix(suffix)?, seconds)))?;
            Some(plain(number)? * seconds)
        }
    }
}
