//! The help, made from the table of actions and from the columns of the table.

use super::actions::{self, Action, Place};
use super::render::text;
use crate::store::view::{ColumnHead, Line, Role, Span};

/// Cells of the column of keys.
const KEYS: usize = 16;

/// The lines of the help: the place where the operator came from first.
pub fn lines(from: Place, columns: &[ColumnHead], cells: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    section(&mut lines, from, cells, actions::at(from));
    if from == Place::Table {
        heading(
            &mut lines,
            "columns of this table (names for column:value and for the filter)",
        );
        for column in columns {
            entry(&mut lines, column.id, column.title, column.doc, cells);
        }
    }
    for place in Place::ALL.into_iter().filter(|place| *place != from) {
        let own = actions::at(place).filter(|action| !action.places.contains(&from));
        section(&mut lines, place, cells, own);
    }
    lines
}

fn section(
    lines: &mut Vec<Line>,
    place: Place,
    cells: usize,
    actions: impl Iterator<Item = &'static Action>,
) {
    let mut actions = actions.peekable();
    if actions.peek().is_none() {
        return;
    }
    heading(lines, place.title());
    for action in actions {
        let keys: Vec<String> = action.keys.iter().map(ToString::to_string).collect();
        entry(lines, &keys.join(" "), action.title, action.doc, cells);
    }
}

fn heading(lines: &mut Vec<Line>, title: &str) {
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    lines.push(text::plain(title, Role::Title));
}

fn entry(lines: &mut Vec<Line>, keys: &str, title: &str, doc: &str, cells: usize) {
    let doc = text::plain(doc, Role::Text);
    let title_cells = KEYS;
    let indent = 2 + KEYS + title_cells;
    for (at, line) in text::wrap(&doc, cells.saturating_sub(indent))
        .into_iter()
        .enumerate()
    {
        let (keys, title) = if at == 0 { (keys, title) } else { ("", "") };
        let mut whole = vec![
            Span::new(format!("  {}", pad(keys, KEYS)), Role::Key),
            Span::new(pad(title, title_cells), Role::Muted),
        ];
        whole.extend(line);
        lines.push(whole);
    }
}

fn pad(text: &str, cells: usize) -> String {
    let cut = text::elide_end(text, cells - 1);
    let missing = cells - text::width(&cut);
    format!("{cut}{}", " ".repeat(missing))
}
