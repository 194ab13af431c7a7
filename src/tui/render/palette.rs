//! The palette: its entries above the line of input.

use super::canvas::Canvas;
use super::{popup, text};
use crate::store::view::{Line, Role, Span};
use crate::tui::layout::Areas;
use crate::tui::palette::{Entry, Palette};

/// Cells of the column of names and of that of keys.
const NAME: usize = 22;
const KEY: usize = 8;

/// Draws the list.
pub fn render(canvas: &mut Canvas, areas: &Areas, palette: &Palette) {
    let entries: Vec<Line> = palette.matching().iter().map(line).collect();
    let bottom = areas
        .preview
        .map_or(areas.main.bottom(), ratatui::prelude::Rect::bottom);
    let mut area = areas.main;
    area.height = bottom - area.y;
    popup::render(canvas, area, "go", &entries, palette.chosen);
}

fn line(entry: &Entry) -> Line {
    let key = entry.key.map(|key| key.to_string()).unwrap_or_default();
    let about = match &entry.refused {
        Some(reason) => Span::new(format!("not now: {reason}"), Role::Absent),
        None => Span::new(entry.doc.clone(), Role::Muted),
    };
    let role = if entry.refused.is_some() {
        Role::Absent
    } else {
        Role::Text
    };
    vec![
        Span::new(pad(&entry.name, NAME), role),
        Span::new(pad(&key, KEY), Role::Key),
        about,
    ]
}

fn pad(text: &str, cells: usize) -> String {
    let cut = text::elide_middle(text, cells - 1);
    let missing = cells - text::width(&cut);
    format!("{cut}{}", " ".repeat(missing))
}
