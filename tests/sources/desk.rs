//! Somebody in front of the screens: the sources and the store of the program, and what its tables, header and
//! commands say.

use crate::operator::{Ended, Operator};
use chrono::Utc;
use drainboard::domain::Timestamp;
use drainboard::domain::reading::Source;
use drainboard::lab::embedded::{Lab, LabOptions};
use drainboard::sources::event::{Demand, Request};
use drainboard::sources::{Running, SourcesOptions, start};
use drainboard::store::Store;
use drainboard::store::view::{
    Direction, HeaderView, Line, Role, Row, RowKey, SourceBadge, TableKind, TableQuery,
};
use drainboard::tui::{Pane, TuiOptions, snapshot};
use ratatui::layout::Size;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// Long enough for a machine with many other things to do.
const DEADLINE: Duration = Duration::from_mins(2);
/// How long silence lasts before the screen is looked at again: ages move without a message.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// What a table shows where nothing is.
pub const ABSENT: &str = "–";
/// The article's Windows node.
pub const WIN: &str = "k8s-lab-win-1";

/// The article's cluster.
pub async fn article() -> Lab {
    Lab::start(LabOptions::default()).await.unwrap()
}

/// The screens, before they are drawn.
pub struct Desk {
    running: Running,
    pub store: Store,
    operator: Operator,
    pub kubeconfig: PathBuf,
}

impl Desk {
    /// Sits down with this kubeconfig.
    pub async fn with(kubeconfig: &str) -> Self {
        let operator = Operator::new();
        let path = operator.file("config", kubeconfig);
        let running = start(SourcesOptions {
            kubeconfig: Some(path.clone()),
            request_timeout: Duration::from_mins(1),
            ..SourcesOptions::default()
        })
        .await
        .unwrap();
        let desk = Self {
            running,
            store: Store::new(),
            operator,
            kubeconfig: path,
        };
        desk.asks(Request::Demand(Demand {
            nodes: true,
            containers: true,
            history: true,
            event_log: None,
            smb: false,
        }));
        desk
    }

    /// Sits down in front of the lab and waits until every figure is there.
    pub async fn at(lab: &Lab) -> Self {
        let mut desk = Self::with(lab.kubeconfig()).await;
        desk.sees("the article's figures", |desk| {
            desk.cell(TableKind::Nodes, WIN, "commit").contains("31 %")
                && desk.cell(TableKind::Nodes, WIN, "cpu").contains("5.4 %")
                && desk.cell(TableKind::Nodes, WIN, "ws") != ABSENT
                && desk.cell(TableKind::Nodes, WIN, "lease") != ABSENT
                && desk.cell(TableKind::Pods, "hello-win", "commit").contains("98Mi")
        })
        .await;
        desk
    }

    pub fn asks(&self, request: Request) {
        self.running.requests.send(request).unwrap();
    }

    /// Looks on until the screen shows it.
    pub async fn sees(&mut self, what: &str, shown: impl FnMut(&mut Self) -> bool) {
        self.sees_while(what, shown, |_| {}).await;
    }

    /// The same, with a look at every single state on the way.
    pub async fn sees_while(
        &mut self,
        what: &str,
        mut shown: impl FnMut(&mut Self) -> bool,
        mut always: impl FnMut(&mut Self),
    ) {
        let begin = tokio::time::Instant::now();
        while !shown(self) {
            assert!(
                begin.elapsed() < DEADLINE,
                "never seen: {what}\n{}\n{}",
                self.frame(&Pane::Nodes),
                self.frame(&Pane::Pods)
            );
            self.looks_on().await;
            always(self);
        }
    }

    /// Folds the next message, or waits a moment.
    async fn looks_on(&mut self) {
        match tokio::time::timeout(LOOK_AGAIN, self.running.events.recv()).await {
            Ok(Some(event)) => {
                self.store.apply(event, Utc::now());
            }
            Ok(None) => panic!("the sources have ended"),
            Err(_) => {}
        }
    }

    /// The rows of a table in their order, whole.
    pub fn rows(&mut self, kind: TableKind, query: &TableQuery) -> Vec<Row> {
        self.store.table(kind, query, 0, 10_000, Utc::now()).rows
    }

    /// The names of the rows in their order.
    pub fn names(&mut self, kind: TableKind, query: &TableQuery) -> Vec<String> {
        self.rows(kind, query).iter().map(name).collect()
    }

    /// Name and cell of every row, in the order of the query.
    pub fn column(&mut self, kind: TableKind, column: &str, query: &TableQuery) -> Vec<(String, String)> {
        let query = TableQuery {
            wide: true,
            ..query.clone()
        };
        let window = self.store.table(kind, &query, 0, 10_000, Utc::now());
        let at = window.columns.iter().position(|head| head.id == column).unwrap();
        window
            .rows
            .iter()
            .map(|row| (name(row), text(&row.cells[at])))
            .collect()
    }

    /// The cell of the first row whose name begins so; the dash if there is none.
    pub fn cell(&mut self, kind: TableKind, row: &str, column: &str) -> String {
        let cells = self.column(kind, column, &TableQuery::default());
        let found = cells.into_iter().find(|(name, _)| name.starts_with(row));
        found.map_or_else(|| ABSENT.to_owned(), |(_, cell)| cell)
    }

    /// The sums under a table.
    pub fn summary(&mut self, kind: TableKind) -> String {
        text(
            &self
                .store
                .table(kind, &TableQuery::default(), 0, 1, Utc::now())
                .summary,
        )
    }

    /// What stands above the rows.
    pub fn notice(&mut self, kind: TableKind) -> String {
        let window = self.store.table(kind, &TableQuery::default(), 0, 1, Utc::now());
        window.notice.map(|line| text(&line)).unwrap_or_default()
    }

    pub fn header(&self) -> HeaderView {
        self.store.header(Utc::now())
    }

    /// The badge of a source; without glyph and words before it has said anything.
    pub fn badge(&self, source: Source) -> SourceBadge {
        let badges = self.header().sources;
        let silent = SourceBadge {
            source,
            name: "",
            glyph: "",
            role: Role::Muted,
            age: "".into(),
            problem: None,
        };
        badges
            .into_iter()
            .find(|badge| badge.source == source)
            .unwrap_or(silent)
    }

    /// What the header says about a source's trouble; empty without.
    pub fn problem(&self, source: Source) -> String {
        self.badge(source).problem.unwrap_or_default().into()
    }

    /// A frame of the screens as text.
    pub fn frame(&mut self, pane: &Pane) -> String {
        let options = TuiOptions::default();
        let lines = snapshot(&mut self.store, pane, Size::new(200, 60), &options, now());
        lines.unwrap().join("\n")
    }

    /// Why a reading of the Windows node has no value.
    pub fn commit_reason(&self) -> String {
        let facts = self.store.node_facts(now());
        let node = facts.iter().find(|node| &*node.name == WIN).unwrap();
        node.commit.absence().map(ToString::to_string).unwrap_or_default()
    }

    /// Runs the command with the same kubeconfig.
    pub async fn drainboard<const N: usize>(&self, words: [&str; N]) -> Ended {
        let mut all = vec!["--kubeconfig", "config", "--request-timeout", "60s"];
        all.extend(words);
        self.operator.drainboard_with(&all).await
    }

    /// The items that the command prints as JSON; it must end with 0.
    pub async fn items(&self, what: &str) -> Vec<Value> {
        let ended = self.drainboard([what, "-o", "json"]).await;
        assert_eq!(ended.code, 0, "{}", ended.err);
        let document: Value = serde_json::from_str(&ended.out).unwrap();
        document["items"].as_array().unwrap().clone()
    }

    /// The Windows node as JSON.
    pub async fn windows_node(&self) -> Value {
        let items = self.items("nodes").await;
        items.into_iter().find(|item| item["name"] == WIN).unwrap()
    }

    /// Holds the table to the rules for what is absent: a dash and no number, last in both directions, matching no
    /// comparison and no negated one.
    pub fn expects_absent_to_be_absent(&mut self, kind: TableKind, column: &str, literal: &str) {
        let cells = self.column(kind, column, &TableQuery::default());
        // A ratio to a limit that does not exist is absent as well; its cell says why.
        let absent_cell = |cell: &str| cell == ABSENT || cell.contains("no limit");
        let absent: Vec<String> = cells
            .iter()
            .filter(|(_, cell)| absent_cell(cell))
            .map(|(name, _)| name.clone())
            .collect();
        assert!(!absent.is_empty(), "nothing is absent in {column}: {cells:?}");
        // A process that sleeps takes no CPU: that zero was measured.
        let zero = cells.iter().find(|(_, cell)| is_zero(cell));
        assert!(
            zero.is_none() || (kind, column) == (TableKind::Pods, "cpu"),
            "{column}: {zero:?}"
        );
        for direction in [Direction::Ascending, Direction::Descending] {
            let query = TableQuery {
                sort: Some((column.to_owned(), direction)),
                ..TableQuery::default()
            };
            let sorted = self.column(kind, column, &query);
            let first = sorted.iter().position(|(_, cell)| absent_cell(cell)).unwrap();
            assert!(
                sorted[first..].iter().all(|(_, cell)| absent_cell(cell)),
                "{column} {direction:?}: {sorted:?}"
            );
        }
        for comparison in [">=", "<", "=", "!="] {
            for not in ["", "!"] {
                let filter = format!("{not}{column}{comparison}{literal}");
                let query = TableQuery {
                    filter: filter.clone(),
                    ..TableQuery::default()
                };
                let window = self.store.table(kind, &query, 0, 10_000, now());
                let notice = window.notice.as_ref().map(text).unwrap_or_default();
                assert!(!notice.starts_with('▲'), "{filter}: {notice}");
                let matching: Vec<String> = window.rows.iter().map(name).collect();
                let wrong = absent.iter().find(|name| matching.contains(name));
                assert_eq!(wrong, None, "{filter} matches what is absent");
            }
        }
    }

    pub async fn leaves(self) {
        self.running.shutdown().await;
    }
}

/// A reading of zero, whatever its unit.
fn is_zero(cell: &str) -> bool {
    let digits: String = cell.chars().filter(char::is_ascii_digit).collect();
    !digits.is_empty() && digits.chars().all(|digit| digit == '0')
}

fn now() -> Timestamp {
    Utc::now()
}

pub fn name(row: &Row) -> String {
    match &row.key {
        RowKey::Node(name) | RowKey::Pod { name, .. } | RowKey::Smb { remote: name, .. } => name.to_string(),
    }
}

pub fn text(line: &Line) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

/// Fails unless the JSON field holds a reason with these words and no value.
#[track_caller]
pub fn is_absent(item: &Value, field: &str, words: &[&str]) {
    let reason = item[field]["absent"].as_str();
    let reason = reason.unwrap_or_else(|| panic!("{field} has a value: {item}"));
    assert_eq!(item[field].as_object().unwrap().len(), 1, "{item}");
    for word in words {
        assert!(reason.contains(word), "`{word}` is not in: {reason}");
    }
}
