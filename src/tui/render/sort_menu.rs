//! The columns to sort by.

use super::canvas::Canvas;
use super::popup;
use crate::store::view::{ColumnHead, Direction, Line, Role, Span};
use crate::tui::layout::Areas;
use crate::tui::sort_menu::SortMenu;

/// Draws the list.
pub fn render(canvas: &mut Canvas, areas: &Areas, menu: &SortMenu) {
    let entries: Vec<Line> = menu.columns.iter().map(line).collect();
    popup::render(
        canvas,
        areas.main,
        "sort by (again: turn around)",
        &entries,
        menu.chosen,
    );
}

fn line(head: &ColumnHead) -> Line {
    let mark = match head.sorted {
        Some(Direction::Ascending) => "↑",
        Some(Direction::Descending) => "↓",
        None => " ",
    };
    vec![
        Span::new(format!("{mark} {:<14}", head.id), Role::Text),
        Span::new(head.doc, Role::Muted),
    ]
}
