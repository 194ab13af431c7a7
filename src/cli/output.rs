//! Writing to standard output and standard error: the only place outside the screens that does.

use super::exit::{CliError, Outcome};
use crate::domain::Timestamp;
use crate::store::Store;
use crate::store::view::{Align, TableKind, TableQuery, TableWindow};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Cells between two columns.
const GAP: usize = 3;

/// Prints lines. A reader that has gone (`| head`) is no error.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a document as indented JSON with a line end.
pub fn print_json(document: &impl Serialize) -> Result<(), CliError> {
    let mut text = serde_json::to_string_pretty(document).map_err(io::Error::from)?;
    text.push('\n');
    print(&text)
}

/// Says something beside the output, to the operator.
pub fn say(text: &str) {
    // Nobody can be told that standard error is gone.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Tells why a command failed, and how it therefore ends.
pub fn fail(error: &CliError) -> Outcome {
    say(&format!("drainboard: {error}"));
    error.outcome()
}

/// Prints all rows of a table, and what stands instead of them to standard error.
pub fn print_table(store: &mut Store, kind: TableKind, wide: bool, now: Timestamp) -> Result<(), CliError> {
    let query = TableQuery {
        wide,
        ..TableQuery::default()
    };
    let table = store.table(kind, &query, 0, usize::MAX, now);
    if let Some(notice) = &table.notice {
        say(&notice.iter().map(|span| span.text.as_str()).collect::<String>());
    }
    print(&table_text(&table))
}

/// A table as text: heads and rows, columns as wide as their content, no blanks at the line ends.
pub fn table_text(table: &TableWindow) -> String {
    let heads = table.columns.iter().map(|column| column.title.to_owned());
    let rows = table.rows.iter().map(|row| {
        let cells = row.cells.iter();
        cells
            .map(|spans| spans.iter().map(|span| span.text.as_str()).collect())
            .collect()
    });
    let lines: Vec<Vec<String>> = std::iter::once(heads.collect()).chain(rows).collect();
    let aligns: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
    aligned(&lines, &aligns)
}

/// Lines of cells as text, one of `aligns` for each column.
pub fn aligned(lines: &[Vec<String>], aligns: &[Align]) -> String {
    let widths: Vec<usize> = (0..aligns.len())
        .map(|column| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for line in lines {
        let mut laid_out = String::new();
        for ((cell, width), align) in line.iter().zip(&widths).zip(aligns) {
            if !laid_out.is_empty() {
                laid_out.push_str(&" ".repeat(GAP));
            }
            let blanks = " ".repeat(width - cell.width());
            match align {
                Align::Left => laid_out.extend([cell.as_str(), &blanks]),
                Align::Right => laid_out.extend([blanks.as_str(), cell]),
            }
        }
        let _ = writeln!(text, "{}", laid_out.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::view::{ColumnHead, Role, Row, RowKey, Span};

    fn column(title: &'static str, align: Align) -> ColumnHead {
        ColumnHead {
            id: title,
            title,
            doc: "",
            align,
            min_width: 1,
            max_width: 9,
            priority: 0,
            numeric: false,
            sorted: None,
        }
    }

    fn row(cells: [&str; 2]) -> Row {
        Row {
            key: RowKey::Node(cells[0].into()),
            cells: cells.map(|cell| vec![Span::new(cell, Role::Text)]).into(),
        }
    }

    #[test]
    fn numbers_align_to_the_right_and_lines_end_with_their_text() {
        let table = TableWindow {
            columns: vec![column("NAME", Align::Left), column("PODS", Align::Right)],
            first: 0,
            rows: vec![row(["k8s-lab-win-1", "12"]), row(["世界", ""])],
            matched: 2,
            total: 2,
            notice: None,
            summary: Vec::new(),
        };
        assert_eq!(
            table_text(&table),
            "NAME            PODS\n\
             k8s-lab-win-1     12\n\
             世界\n"
        );
    }
}
