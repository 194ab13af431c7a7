//! One frame before it is drawn: what the store answers for what the operator is looking at. Building it
//! settles the selection and the scrolling, because only here the number of rows and lines is known.

use super::help;
use super::layout::{self, Areas, Placement};
use super::maintain::Underway;
use super::pages;
use super::render::text;
use super::rounds;
use super::sources_page;
use super::ui::{Opened, Scope, Ui};
use super::views::Views;
use crate::domain::Timestamp;
use crate::domain::text::sanitise;
use crate::sources::event::DetailKey;
use crate::store::view::{Body, HeaderView, Line, Role, RowKey, Section, Span, TableKind, TableWindow};
use ratatui::layout::Size;
use std::ops::Range;

/// One frame before it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Scene {
    /// The terminal is too small.
    TooSmall,
    /// The screens.
    Screen(Box<Screen>),
}

/// The parts of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Screen {
    /// Which rows hold what.
    pub areas: Areas,
    /// The clock of the header.
    pub now: Timestamp,
    /// Cluster, sources, counts.
    pub header: HeaderView,
    /// What fails, and what to do next.
    pub problem: Vec<Line>,
    /// The main area.
    pub main: Main,
}

/// The main area.
#[derive(Clone, Debug, PartialEq)]
pub enum Main {
    /// A table.
    Table(TableScene),
    /// A text.
    Text(TextScene),
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableScene {
    /// Rows on screen.
    pub window: TableWindow,
    /// Columns on screen.
    pub placement: Placement,
    /// Which of the rows is selected.
    pub cursor: Option<usize>,
    /// The selected row in words.
    pub preview: Vec<Line>,
}

/// A text that scrolls.
#[derive(Clone, Debug, PartialEq)]
pub struct TextScene {
    /// Title.
    pub title: Line,
    /// Lines on screen.
    pub lines: Vec<Line>,
    /// Which of all the lines those are.
    pub shown: Range<usize>,
    /// All lines.
    pub total: usize,
}

/// Builds the frame for `now`.
pub fn build(ui: &mut Ui, views: &mut impl Views, now: Timestamp) -> Scene {
    let header = views.header(now);
    ui.scope = Scope {
        namespace: header.namespace.clone(),
        pod_selector: header.pod_selector.to_string(),
    };
    let mut problem = problem(&header, ui.size);
    problem.extend(rounds::line(ui));
    let table = ui.opened.is_empty();
    let rows = u16::try_from(problem.len()).unwrap_or(0);
    let Some(areas) = Areas::of(ui.size, rows, table) else {
        return Scene::TooSmall;
    };
    let main = if table {
        Main::Table(build_table(ui, views, &areas, now))
    } else {
        Main::Text(build_text(ui, views, &header, &areas, now))
    };
    ui.subject = ui.subject_name().and_then(|node| views.standing(&node));
    Scene::Screen(Box::new(Screen {
        areas,
        now,
        header,
        problem,
        main,
    }))
}

/// The worst that any source says, with its next step; the operator needs no key to see it.
fn problem(header: &HeaderView, size: Size) -> Vec<Line> {
    let failing = |role: Role| {
        header
            .sources
            .iter()
            .filter(move |badge| badge.role == role)
            .filter_map(|badge| Some((badge, badge.problem.as_ref()?)))
    };
    let mut worst = failing(Role::Error).chain(failing(Role::Warn));
    let Some((badge, problem)) = worst.next() else {
        return Vec::new();
    };
    let mut line = vec![Span::new(format!("{} {}: ", badge.glyph, badge.name), badge.role)];
    match worst.count() {
        0 => {}
        more => line.push(Span::new(format!("({more} more: i) "), Role::Muted)),
    }
    line.push(Span::new(problem.clone(), Role::Text));
    let cells = usize::from(size.width.saturating_sub(2));
    let rows = layout::problem_rows(size.height);
    let mut lines = text::wrap(&line, cells);
    if rows == 1 {
        lines = vec![text::clip(&line, cells)];
    } else if lines.len() > rows {
        lines.truncate(rows);
        if let Some(last) = lines.last_mut() {
            last.push(Span::new("…", Role::Text));
        }
    }
    lines
}

fn build_table(ui: &mut Ui, views: &mut impl Views, areas: &Areas, now: Timestamp) -> TableScene {
    let kind = ui.tab;
    // One row for the headings, one for the sums.
    let rows = usize::from(areas.main.height).saturating_sub(2);
    let window = settle_rows(ui, views, kind, rows, now);
    let table = ui.table_mut();
    table.columns.clone_from(&window.columns);
    let content = widen(&mut table.seen_widths, &window);
    let most = window
        .columns
        .len()
        .saturating_sub(layout::pinned(&window.columns));
    table.skipped = table.skipped.min(most.saturating_sub(1));
    let placement = layout::place(&window.columns, &content, areas.main.width - 2, table.skipped);
    let cursor = (table.cursor.index.checked_sub(window.first)).filter(|at| *at < window.rows.len());
    let preview = match (&table.cursor.key, areas.preview) {
        (Some(key), Some(_)) => views.preview(key, now),
        _ => Vec::new(),
    };
    ui.settled.height = rows;
    ui.settled.hidden_right = placement.hidden;
    TableScene {
        window,
        placement,
        cursor,
        preview,
    }
}

/// Finds the selected row again, wherever sort, filter or the cluster moved it, and scrolls it into sight.
fn settle_rows(
    ui: &mut Ui,
    views: &mut impl Views,
    kind: TableKind,
    rows: usize,
    now: Timestamp,
) -> TableWindow {
    let table = ui.table_mut();
    let cursor = &mut table.cursor;
    if !cursor.chosen {
        cursor.index = 0;
    } else if let Some(at) = cursor
        .key
        .as_ref()
        .and_then(|key| views.position(kind, &table.query, key))
    {
        cursor.index = at;
    }
    let scroll = |index: usize, first: usize, rows: usize| -> usize {
        first.clamp((index + 1).saturating_sub(rows), index)
    };
    table.first = scroll(cursor.index, table.first, rows);
    let mut window = views.table(kind, &table.query, table.first, rows, now);
    let last = window.matched.saturating_sub(1);
    // The cursor moved past the end, or rows went away, or a notice needs a row.
    let rows = rows - usize::from(window.notice.is_some()).min(rows);
    let index = cursor.index.min(last);
    let first = scroll(index, table.first, rows).min(window.matched.saturating_sub(rows));
    if first != table.first || window.rows.len() > rows {
        window = views.table(kind, &table.query, first, rows, now);
    }
    table.first = first;
    cursor.index = index;
    cursor.key = window
        .rows
        .get(index - first.min(index))
        .map(|row| row.key.clone());
    window
}

/// Widest content of each column since the columns last changed.
fn widen(seen: &mut Vec<(&'static str, u16)>, window: &TableWindow) -> Vec<u16> {
    let same = seen.len() == window.columns.len()
        && seen
            .iter()
            .zip(&window.columns)
            .all(|((id, _), head)| *id == head.id);
    if !same {
        *seen = window.columns.iter().map(|head| (head.id, 0)).collect();
    }
    for row in &window.rows {
        for ((_, widest), cell) in seen.iter_mut().zip(&row.cells) {
            let wide = u16::try_from(text::line_width(cell)).unwrap_or(u16::MAX);
            *widest = (*widest).max(wide);
        }
    }
    seen.iter().map(|(_, widest)| *widest).collect()
}

fn build_text(
    ui: &mut Ui,
    views: &mut impl Views,
    header: &HeaderView,
    areas: &Areas,
    now: Timestamp,
) -> TextScene {
    let cells = usize::from(areas.main.width) - 2;
    let height = usize::from(areas.main.height);
    let columns = ui.table().columns.clone();
    let what = ui.opened.last().map(|open| open.what.clone());
    let (title, mut lines) = match what {
        Some(Opened::Help(place)) => (
            text::plain("help", Role::Title),
            help::lines(place, &columns, cells),
        ),
        Some(Opened::Sources) => (
            text::plain("sources", Role::Title),
            sources_page::lines(header, &views.watches(), cells),
        ),
        Some(Opened::Yaml(key)) => yaml(views, &key),
        Some(Opened::Workflow) => workflow(ui.underway.as_deref(), views, cells, height, now),
        Some(page) => match page.row() {
            Some(key) => object_page(views, &key, cells, height, now),
            None => (Line::new(), Vec::new()),
        },
        None => (Line::new(), Vec::new()),
    };
    let total = lines.len();
    let mut left = 0;
    let mut first = 0;
    let mut hidden_right = 0;
    if let Some(open) = ui.opened.last_mut() {
        open.top = open.top.min(total.saturating_sub(height));
        first = open.top;
        let widest = lines.iter().map(|line| text::line_width(line)).max().unwrap_or(0);
        open.left = open.left.min(widest.saturating_sub(cells));
        left = open.left;
        hidden_right = (widest - left).saturating_sub(cells);
    }
    ui.settled.height = height;
    ui.settled.hidden_right = hidden_right;
    let shown = first..total.min(first + height);
    let lines = lines
        .drain(shown.clone())
        .map(|line| if left > 0 { text::skip(&line, left) } else { line })
        .collect();
    TextScene {
        title,
        lines,
        shown,
        total,
    }
}

fn object_page(
    views: &impl Views,
    key: &RowKey,
    cells: usize,
    height: usize,
    now: Timestamp,
) -> (Line, Vec<Line>) {
    if let Some(page) = views.page(key, now) {
        let lines = pages::lines(&page, cells, height);
        (page.title, lines)
    } else {
        let (kind, name) = match key {
            RowKey::Node(name) => ("node", name.to_string()),
            RowKey::Pod { namespace, name, .. } => ("pod", format!("{namespace}/{name}")),
            RowKey::Smb { remote, .. } => ("mapping", sanitise(remote).into_owned()),
        };
        let gone = format!("{kind} {name} is gone: it was deleted, or it is not in scope any more");
        (
            text::plain(name, Role::Title),
            vec![
                text::plain(gone, Role::Warn),
                text::plain("esc goes back", Role::Muted),
            ],
        )
    }
}

/// The page of the maintenance, and what happened in it so far, the newest first.
fn workflow(
    underway: Option<&Underway>,
    views: &impl Views,
    cells: usize,
    height: usize,
    now: Timestamp,
) -> (Line, Vec<Line>) {
    let Some(underway) = underway else {
        let nothing = text::plain("no maintenance was begun here", Role::Muted);
        return (text::plain("maintenance", Role::Title), vec![nothing]);
    };
    let mut page = views.workflow(&underway.state, now);
    if !underway.log.is_empty() {
        let happened = underway.log.iter().rev().map(|(at, words)| {
            vec![
                Span::new(format!("{}  ", at.format("%H:%M:%S")), Role::Muted),
                Span::new(sanitise(words).into_owned(), Role::Text),
            ]
        });
        page.sections.push(Section {
            title: "what happened".to_owned(),
            body: Body::Lines(happened.collect()),
        });
    }
    let lines = pages::lines(&page, cells, height);
    (page.title, lines)
}

fn yaml(views: &impl Views, key: &DetailKey) -> (Line, Vec<Line>) {
    let name = match key {
        DetailKey::Node(name) | DetailKey::Pod(_, name) => name.to_string(),
        DetailKey::Yaml(_, object) => object.name.to_string(),
    };
    let lines = match views.yaml(key) {
        None => vec![text::plain("waiting for the API server", Role::Muted)],
        Some(Err(error)) => vec![text::plain(error, Role::Error)],
        Some(Ok(yaml)) => yaml.lines().map(yaml_line).collect(),
    };
    let title = vec![Span::new(name, Role::Title), Span::new(" yaml", Role::Muted)];
    (title, lines)
}

/// Keys of the YAML step back behind their values.
fn yaml_line(line: &str) -> Line {
    match line.split_once(": ") {
        Some((key, value)) if !key.trim_start().starts_with(['"', '\'', '#', '|']) => vec![
            Span::new(format!("{key}: "), Role::Muted),
            Span::new(value, Role::Text),
        ],
        _ if line.ends_with(':') => text::plain(line, Role::Muted),
        _ => text::plain(line, Role::Text),
    }
}
