//! A page about one object, laid out to the width there is: text wrapped, small tables aligned, series drawn
//! as block charts.

use super::render::{chart, text};
use crate::store::view::{Align, Body, Line, Page, Role, Series, Span};

/// Cells between the columns of a small table.
const GAP: usize = 2;
/// Smallest width that a column of a small table is cut to.
const LEAST: usize = 6;

/// The lines of a page. `height` is that of the screen area: a tall one gets taller charts.
pub fn lines(page: &Page, cells: usize, height: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for section in &page.sections {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        if !section.title.is_empty() {
            lines.extend(text::wrap(
                &text::plain(section.title.clone(), Role::Title),
                cells,
            ));
        }
        match &section.body {
            Body::Lines(body) => {
                lines.extend(body.iter().flat_map(|line| text::wrap(&indented(line), cells)));
            }
            Body::Chart(series) => charts(&mut lines, series, cells, height),
            Body::Table(heads, rows) => table(&mut lines, heads, rows, cells),
        }
    }
    lines
}

fn indented(line: &Line) -> Line {
    let mut indented = text::plain("  ", Role::Text);
    indented.extend(line.iter().cloned());
    indented
}

fn charts(lines: &mut Vec<Line>, series: &[Series], cells: usize, height: usize) {
    let rows = match height {
        0..20 => 1,
        20..35 => 2,
        _ => 4,
    };
    for one in series {
        let mut label = vec![Span::new(format!("  {}  ", one.label), Role::Muted)];
        label.extend(one.now.iter().cloned());
        lines.push(text::clip(&label, cells));
        lines.extend(
            chart::lines(one, cells.saturating_sub(2), rows)
                .iter()
                .map(indented),
        );
    }
}

fn table(lines: &mut Vec<Line>, heads: &[(&'static str, Align)], rows: &[Vec<Line>], cells: usize) {
    let widths = widths(heads, rows, cells);
    let titles: Vec<Line> = heads
        .iter()
        .map(|(title, _)| text::plain(*title, Role::Muted))
        .collect();
    for row in std::iter::once(&titles).chain(rows) {
        table_row(lines, heads, row, &widths);
    }
}

/// Content widths; the widest columns give way until the table fits.
fn widths(heads: &[(&'static str, Align)], rows: &[Vec<Line>], cells: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = heads.iter().map(|(title, _)| text::width(title)).collect();
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(text::line_width(cell));
        }
    }
    let room = cells.saturating_sub(2 + GAP * heads.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let over = widths.iter().sum::<usize>() - room;
        let mut sorted = widths.clone();
        sorted.sort_unstable();
        let second = sorted.iter().rev().nth(1).copied().unwrap_or(LEAST).max(LEAST);
        let Some(widest) = widths.iter_mut().max() else {
            break;
        };
        if *widest <= LEAST {
            break;
        }
        let step = over.min((*widest).saturating_sub(second).max(1));
        *widest -= step;
    }
    widths
}

/// A cell cut to its column. Names lose their middle: their ends tell them apart.
fn shortened(cell: &Line, cells: usize) -> Line {
    match cell.as_slice() {
        [name] if !name.text.contains(' ') => text::plain(text::elide_middle(&name.text, cells), name.role),
        _ => text::clip(cell, cells),
    }
}

/// One row; its last column is wrapped, the others are cut.
fn table_row(lines: &mut Vec<Line>, heads: &[(&'static str, Align)], row: &[Line], widths: &[usize]) {
    let last = heads.len().saturating_sub(1);
    let mut whole = text::plain("  ", Role::Text);
    let mut more = Vec::new();
    for (at, ((cell, (_, align)), cells)) in row.iter().zip(heads).zip(widths).enumerate() {
        let cut = if at == last && *align == Align::Left {
            let mut wrapped = text::wrap(cell, *cells).into_iter();
            let first = wrapped.next().unwrap_or_default();
            more.extend(wrapped);
            first
        } else {
            shortened(cell, *cells)
        };
        let space = Span::new(
            " ".repeat(cells.saturating_sub(text::line_width(&cut))),
            Role::Text,
        );
        match align {
            Align::Right => {
                whole.push(space);
                whole.extend(cut);
            }
            Align::Left => {
                whole.extend(cut);
                if at != last {
                    whole.push(space);
                }
            }
        }
        if at != last {
            whole.push(Span::new(" ".repeat(GAP), Role::Text));
        }
    }
    lines.push(whole);
    let indent = 2 + widths.iter().take(last).sum::<usize>() + GAP * last;
    for line in more {
        let mut continued = text::plain(" ".repeat(indent), Role::Text);
        continued.extend(line);
        lines.push(continued);
    }
}
