//! The columns of the tables: what each shows, is sorted by, and can be compared with in a filter.

pub mod cells;
pub mod nodes;
pub mod pods;
pub mod smb;
pub mod updates;

use super::order::{SUMS, SortKey, Summand};
use super::view::{Align, Direction, Line, RowKey};
use crate::domain::object::Os;
use crate::domain::{Name, Timestamp};
use chrono::TimeDelta;
use std::borrow::Cow;

/// Units in which a column's numbers can be written in a filter. Numbers are held in the base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `80%`; base: ratio, 1.0 is all.
    Percent,
    /// `1Gi`, `500M`; base: bytes.
    Bytes,
    /// `500m`, `0.5`; base: cores.
    Cores,
    /// `3`; base: the number.
    Count,
    /// `90s`, `5m`, `2h`, `3d`; base: seconds.
    Duration,
}

impl Unit {
    /// How it is written, for the operator whose filter was not understood.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Percent => "80%",
            Self::Bytes => "1Gi",
            Self::Cores => "500m",
            Self::Count => "3",
            Self::Duration => "2h",
        }
    }
}

/// What is fixed about a column.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Name in filters and sort requests.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// Alignment.
    pub align: Align,
    /// Smallest and widest useful width.
    pub width: (u16, u16),
    /// Leaves the screen last (high) or first (low).
    pub priority: u8,
    /// Only among the wide columns.
    pub wide: bool,
    /// Units of its numbers; the first is what it is sorted by. Empty for a column of text.
    pub units: &'static [Unit],
}

/// Id, title, alignment, widths, priority, units, doc of a [`Head`].
type HeadParts = (
    &'static str,
    &'static str,
    Align,
    (u16, u16),
    u8,
    &'static [Unit],
    &'static str,
);

/// A column of a table whose rows are `R`.
pub trait Column<R: TableRow>: Copy + Eq + 'static {
    /// All columns, in order.
    const ALL: &'static [Self];
    /// The table's own order, where the operator asked for none; `None` for the natural order.
    const OWN_ORDER: Option<(Self, Direction)>;

    /// What is fixed about it.
    fn head(self) -> Head;
    /// What the row shows.
    fn cell(self, row: &R) -> Line;
    /// The row's number in this unit's base; `None` if it is absent or the column has no such unit.
    fn number(self, row: &R, unit: Unit) -> Option<f64>;
    /// The row's text, free of control characters; `None` if it is absent or the column is one of numbers.
    fn text(self, row: &R) -> Option<Cow<'_, str>>;
    /// What the row is sorted by.
    fn sort_key(self, row: &R) -> SortKey {
        let key = match self.head().units.first() {
            // Ages grow all the time; where they begin does not, and that is what cached keys need.
            Some(Unit::Duration) => self
                .number(row, Unit::Duration)
                .map(|age| SortKey::Number(age - elapsed(row.now() - Timestamp::UNIX_EPOCH))),
            Some(unit) => self.number(row, *unit).map(SortKey::Number),
            None => self.text(row).map(|text| SortKey::Text(Name::from(text))),
        };
        key.unwrap_or(SortKey::Absent)
    }
    /// The column of this name.
    fn by_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|column| column.head().id == id)
    }
}

/// A row of a table.
pub trait TableRow: Sized {
    /// The table's columns.
    type Column: Column<Self>;

    /// Its identity.
    fn key(&self) -> RowKey;
    /// Its operating system.
    fn os(&self) -> Option<Os>;
    /// The time that its readings and ages are told for.
    fn now(&self) -> Timestamp;
    /// Whether one of the words that a plain filter searches satisfies `test`.
    fn any_word(&self, test: &mut dyn FnMut(&str) -> bool) -> bool;
    /// What it adds to the sums below the table.
    fn summands(&self) -> [Summand; SUMS];
}

/// A time span as seconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of some decades are far below 2^52"
)]
pub fn elapsed(span: TimeDelta) -> f64 {
    span.num_milliseconds() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn check<R: TableRow>() {
        let mut ids = HashSet::new();
        for column in R::Column::ALL {
            let head = column.head();
            assert!(ids.insert(head.id), "two columns are called {}", head.id);
            let typeable = head.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(typeable, "{} cannot be typed in a filter", head.id);
            assert!(head.width.0 <= head.width.1, "{}", head.id);
            assert!(head.doc.len() > 10, "{} has no doc", head.id);
            assert!(R::Column::by_id(head.id) == Some(*column));
        }
    }

    #[test]
    fn columns_are_told_apart_by_names_that_can_be_typed() {
        check::<nodes::NodeRow<'_>>();
        check::<pods::PodRow<'_>>();
        check::<updates::UpdateRow<'_>>();
        check::<smb::SmbRow<'_>>();
    }
}
