//! A table: title rule, headings, the rows that are on screen, sums, and the selected row in words.

use super::canvas::Canvas;
use super::text;
use crate::store::view::{Align, ColumnHead, Direction, Line, OsScope, Role, Row, Span, TableKind};
use crate::tui::layout::{Areas, Placed, gap};
use crate::tui::scene::TableScene;
use crate::tui::ui::Ui;
use ratatui::layout::Rect;

/// What stands before the selected row.
const POINTER: &str = "▸ ";

/// Columns of names, whose ends tell them apart.
const NAMES: [&str; 4] = ["name", "namespace", "node", "owner"];

/// Draws the table.
pub fn render(canvas: &mut Canvas, areas: &Areas, table: &TableScene, ui: &Ui) {
    canvas.rule(areas.title, &title(table, ui), &order(table, ui));
    let main = areas.main;
    let mut y = main.y;
    headings(canvas, y, table);
    y += 1;
    if let Some(notice) = &table.window.notice {
        canvas.line(2, y, main.width - 3, notice);
        y += 1;
    }
    let last = main.bottom() - 1;
    for (at, row) in table.window.rows.iter().enumerate() {
        if y >= last {
            break;
        }
        draw_row(canvas, y, table, row, table.cursor == Some(at));
        y += 1;
    }
    canvas.line(2, last, main.width - 3, &table.window.summary);
    if let Some(area) = areas.preview {
        preview(canvas, area, table, ui);
    }
}

fn title(table: &TableScene, ui: &Ui) -> Line {
    let name = match ui.tab {
        TableKind::Nodes => "nodes",
        TableKind::Pods => "pods",
    };
    let mut title = text::plain(name, Role::Title);
    let filter = &ui.table().query.filter;
    if !filter.is_empty() {
        title.push(Span::new(format!(" /{filter}"), Role::Highlight));
        let counts = format!("  {} of {}", table.window.matched, table.window.total);
        title.push(Span::new(counts, Role::Muted));
    }
    title
}

/// Operating systems, order, where the screen is in the table, and what is out of sight.
fn order(table: &TableScene, ui: &Ui) -> Line {
    let os = match ui.table().query.os {
        OsScope::All => Span::new("all OS", Role::Muted),
        OsScope::Windows => Span::new("Windows only", Role::Highlight),
        OsScope::Linux => Span::new("Linux only", Role::Highlight),
    };
    let mut line = vec![os];
    let sorted = table.window.columns.iter().find(|head| head.sorted.is_some());
    if let Some(head) = sorted {
        let words = format!(" · sorted by {} {}", head.id, arrow(head.sorted));
        line.push(Span::new(words, Role::Muted));
    }
    if let Some(at) = table.cursor
        && table.window.matched > table.window.rows.len()
    {
        let row = table.window.first + at + 1;
        line.push(Span::new(
            format!(" · row {row} of {}", table.window.matched),
            Role::Muted,
        ));
    }
    let (left, right) = (ui.table().skipped, table.placement.hidden);
    if left > 0 {
        line.push(Span::new(format!(" · ← {left}"), Role::Muted));
    }
    if right > 0 {
        line.push(Span::new(format!(" · {right} more →"), Role::Muted));
    }
    line
}

const fn arrow(sorted: Option<Direction>) -> &'static str {
    match sorted {
        Some(Direction::Ascending) => "↑",
        Some(Direction::Descending) => "↓",
        None => "",
    }
}

/// Where each column on screen begins.
fn positions(table: &TableScene, width: u16) -> impl Iterator<Item = (u16, Placed)> {
    let gap = gap(width.saturating_sub(2));
    let mut x = 2;
    table.placement.columns.iter().map(move |placed| {
        let begin = x;
        x += placed.width + gap;
        (begin, *placed)
    })
}

fn headings(canvas: &mut Canvas, y: u16, table: &TableScene) {
    for (x, placed) in positions(table, canvas.width()) {
        let head = &table.window.columns[placed.index];
        let role = if head.sorted.is_some() {
            Role::Title
        } else {
            Role::Muted
        };
        let title = text::plain(format!("{}{}", head.title, arrow(head.sorted)), role);
        cell(canvas, x, y, placed.width, head.align, &title);
    }
}

fn draw_row(canvas: &mut Canvas, y: u16, table: &TableScene, row: &Row, selected: bool) {
    if selected {
        canvas.text(0, y, 2, POINTER, Role::Key);
    }
    let width = canvas.width();
    for (x, placed) in positions(table, width) {
        let (Some(head), Some(content)) = (
            table.window.columns.get(placed.index),
            row.cells.get(placed.index),
        ) else {
            continue;
        };
        let content = cut(head, content, usize::from(placed.width));
        cell(canvas, x, y, placed.width, head.align, &content);
    }
    if selected {
        let style = canvas.theme.selection();
        canvas.lay(Rect::new(0, y, width, 1), style);
    }
}

/// A cell in its column. Names lose their middle. Numbers are shown whole or not at all, because a part of one
/// would be another number: the bar or sparkline before them goes first, then the later ones. Of other texts whole
/// parts stay, and a mark in the colour of what is missing.
fn cut(head: &ColumnHead, content: &Line, cells: usize) -> Line {
    if text::line_width(content) <= cells {
        return content.clone();
    }
    match content.as_slice() {
        [name] if NAMES.contains(&head.id) => text::plain(text::elide_middle(&name.text, cells), name.role),
        spans if head.numeric => numbers(spans, cells),
        [_] => text::clip(content, cells),
        spans => {
            let fits = |to: &usize| text::line_width(&spans[..*to]) < cells;
            match (1..spans.len()).rev().find(fits) {
                Some(to) => {
                    let mut kept = spans[..to].to_vec();
                    kept.push(Span::new("…", spans[to].role));
                    kept
                }
                None => text::clip(content, cells),
            }
        }
    }
}

fn numbers(spans: &[Span], cells: usize) -> Line {
    let pictures = spans.iter().take_while(|span| is_picture(&span.text)).count();
    let fits = |to: &usize| text::line_width(&spans[pictures..*to]) <= cells;
    (pictures + 1..=spans.len()).rev().find(fits).map_or_else(
        || text::plain("…", spans.last().map_or(Role::Text, |span| span.role)),
        |to| spans[pictures..to].to_vec(),
    )
}

/// Bars and sparklines consist of block elements.
fn is_picture(text: &str) -> bool {
    text.chars()
        .all(|c| c == ' ' || ('\u{2581}'..='\u{2588}').contains(&c))
}

fn cell(canvas: &mut Canvas, x: u16, y: u16, cells: u16, align: Align, content: &Line) {
    match align {
        Align::Left => {
            canvas.line(x, y, cells, content);
        }
        Align::Right => {
            canvas.line_right(x + cells, y, cells, content);
        }
    }
}

fn preview(canvas: &mut Canvas, area: Rect, table: &TableScene, ui: &Ui) {
    let name = match ui.selected() {
        Some(crate::store::view::RowKey::Node(name)) => name.to_string(),
        Some(crate::store::view::RowKey::Pod { namespace, name, .. }) => format!("{namespace}/{name}"),
        None => String::new(),
    };
    let title = if name.is_empty() {
        Line::new()
    } else {
        text::plain(name, Role::Title)
    };
    canvas.rule(area.y, &title, &Line::new());
    let cells = usize::from(area.width) - 2;
    let lines = table.preview.iter().flat_map(|line| text::wrap(line, cells));
    for (y, line) in (area.y + 1..area.bottom()).zip(lines) {
        canvas.line(1, y, area.width - 2, &line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(numeric: bool, parts: &[&str], cells: usize) -> String {
        let head = ColumnHead {
            id: "commit",
            title: "COMMIT",
            doc: "",
            align: Align::Left,
            min_width: 4,
            max_width: 30,
            priority: 0,
            numeric,
            sorted: None,
        };
        let content: Line = parts.iter().map(|part| Span::new(*part, Role::Text)).collect();
        text::flat(&cut(&head, &content, cells))
    }

    #[test]
    fn numbers_are_shown_whole_or_not_at_all() {
        let commit = ["████▁▁▁▁▁▁", "  38 %", "  98Mi"];
        assert_eq!(shown(true, &commit, 22), "████▁▁▁▁▁▁  38 %  98Mi");
        assert_eq!(shown(true, &commit, 16), "  38 %  98Mi");
        assert_eq!(shown(true, &commit, 12), "  38 %  98Mi");
        assert_eq!(shown(true, &commit, 6), "  38 %");
        assert_eq!(shown(true, &commit, 5), "…");
        assert_eq!(shown(true, &["▁▁▂▁ ", "5.4 %"], 7), "5.4 %");
        assert_eq!(shown(true, &["1250"], 3), "…");
    }

    #[test]
    fn a_state_that_does_not_fit_says_that_there_is_more() {
        assert_eq!(shown(false, &["Ready", " ▲ lease 31 s"], 8), "Ready…");
        assert_eq!(shown(false, &["CrashLoopBackOff"], 8), "CrashLo…");
    }
}
