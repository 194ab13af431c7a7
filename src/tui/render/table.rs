//! A table: title rule, headings, the rows that are on screen, sums, and the selected row in words.

use super::canvas::Canvas;
use super::text;
use crate::domain::text::sanitise;
use crate::store::view::{Align, ColumnHead, Direction, Line, OsScope, Role, Row, Span};
use crate::tui::layout::{Areas, Placed, gap};
use crate::tui::rounds;
use crate::tui::scene::TableScene;
use crate::tui::ui::Ui;
use ratatui::layout::Rect;

/// What stands before the selected row.
const POINTER: &str = "▸";

/// What stands behind that, before a row that is marked.
const MARK: &str = "●";

/// Cells of a title rule around its two texts.
const RULE_CELLS: usize = 10;

/// Columns of names, whose ends tell them apart.
const NAMES: [&str; 4] = ["name", "namespace", "node", "owner"];

/// Draws the table.
pub fn render(canvas: &mut Canvas, areas: &Areas, table: &TableScene, ui: &Ui) {
    let title = title(table, ui);
    let room = usize::from(canvas.width()).saturating_sub(text::line_width(&title) + RULE_CELLS);
    canvas.rule(areas.title, &title, &order(table, ui, room));
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
        if rounds::is_marked(ui, &row.key) {
            canvas.text(1, y, 1, MARK, Role::Highlight);
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
    let mut title = text::plain(ui.tab.name(), Role::Title);
    let filter = &ui.table().query.filter;
    if !filter.is_empty() {
        title.push(Span::new(format!(" /{filter}"), Role::Highlight));
        let counts = format!("  {} of {}", table.window.matched, table.window.total);
        title.push(Span::new(counts, Role::Muted));
    }
    title
}

/// Operating systems, order, where the screen is in the table, and what is out of sight. On a narrow screen the
/// order goes first, since the heading shows it too, then the place; what is out of sight is told as long as it can be.
fn order(table: &TableScene, ui: &Ui, room: usize) -> Line {
    let os = match ui.table().query.os {
        OsScope::All => ("all OS", Role::Muted),
        OsScope::Windows => ("Windows only", Role::Highlight),
        OsScope::Linux => ("Linux only", Role::Highlight),
    };
    let sorted = table.window.columns.iter().find(|head| head.sorted.is_some());
    let sorted = sorted.map(|head| format!("sorted by {} {}", head.id, arrow(head.sorted)));
    let place = table
        .cursor
        .filter(|_| table.window.matched > table.window.rows.len())
        .map(|at| format!("row {} of {}", table.window.first + at + 1, table.window.matched));
    let (left, right) = (ui.table().skipped, table.placement.hidden);
    let left = (left > 0).then(|| format!("← {left}"));
    let right = (right > 0).then(|| format!("{right} more →"));
    let muted = |words: Option<String>| words.map(|words| Span::new(words, Role::Muted));
    let parts = [
        (2, Some(Span::new(os.0, os.1))),
        (0, muted(sorted)),
        (1, muted(place)),
        (2, muted(left)),
        (2, muted(right)),
    ];
    let joined = |least: u8| {
        let spans = parts.iter().filter(|(rank, _)| *rank >= least);
        let mut line = Line::new();
        for span in spans.filter_map(|(_, span)| span.clone()) {
            if !line.is_empty() {
                line.push(Span::new(" · ", Role::Muted));
            }
            line.push(span);
        }
        line
    };
    (0..2)
        .map(joined)
        .find(|line| text::line_width(line) <= room)
        .unwrap_or_else(|| joined(2))
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
        canvas.text(0, y, 1, POINTER, Role::Key);
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
        Some(crate::store::view::RowKey::Smb { remote, .. }) => sanitise(remote).into_owned(),
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
