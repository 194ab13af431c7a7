//! The choice of the column that a table is sorted by.

use crate::store::view::{ColumnHead, Direction};

/// The menu while it is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortMenu {
    /// The columns of the table.
    pub columns: Vec<ColumnHead>,
    /// Which one is chosen.
    pub chosen: usize,
}

impl SortMenu {
    /// The menu for these columns, on the one that the table is sorted by.
    pub fn open(columns: Vec<ColumnHead>) -> Self {
        let chosen = columns
            .iter()
            .position(|column| column.sorted.is_some())
            .unwrap_or(0);
        Self { columns, chosen }
    }

    /// Moves the choice.
    pub fn step(&mut self, by: isize) {
        let last = self.columns.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
    }

    /// The sort that the choice means: numbers largest first, text from A; the column that is sorted already
    /// turns around.
    pub fn sort(&self) -> Option<(String, Direction)> {
        let column = self.columns.get(self.chosen)?;
        let direction = match column.sorted {
            Some(sorted) => inverse(sorted),
            None if column.numeric => Direction::Descending,
            None => Direction::Ascending,
        };
        Some((column.id.to_owned(), direction))
    }
}

/// The other direction.
pub const fn inverse(direction: Direction) -> Direction {
    match direction {
        Direction::Ascending => Direction::Descending,
        Direction::Descending => Direction::Ascending,
    }
}
