//! A cluster as the store would show it: the article's nodes and win-demo pods, with texts as plain as the panes
//! need them. What the real store says is the store's own tests' matter.

use crate::domain::reading::Source;
use crate::domain::{Name, Timestamp};
use crate::maintenance::state::State;
use crate::sources::event::{DetailKey, Problem, SourceEvent, WatchState, Watched};
use crate::store::Standing;
use crate::store::tests::cluster::{Told, now as told_at};
use crate::store::view::{
    Align, Body, ColumnHead, Counts, Direction, HeaderView, Line, OsScope, Page, Role, Row, RowKey, Section,
    Series, SourceBadge, Span, TableKind, TableQuery, TableWindow,
};
use crate::tui::event_loop::Fold;
use crate::tui::render::text::{flat, plain};
use crate::tui::views::Views;

/// The cluster.
#[derive(Clone)]
pub struct Cluster {
    pub header: HeaderView,
    pub nodes: Vec<(Row, OsScope)>,
    pub pods: Vec<(Row, OsScope)>,
    pub updates: Vec<(Row, OsScope)>,
    pub smb: Vec<(Row, OsScope)>,
    pub notice: Option<Line>,
    pub yaml: Option<Result<String, String>>,
    pub watches: Vec<(Watched, WatchState)>,
    pub standings: Vec<Standing>,
    /// Frames built so far.
    pub frames: usize,
    /// Source events folded so far.
    pub folded: usize,
    /// Whether the next events change anything.
    pub changes: bool,
}

fn span(text: &str, role: Role) -> Line {
    plain(text, role)
}

/// Bar and number are spans of their own.
fn bar(text: &str) -> Line {
    let (bar, number) = text.split_once(' ').unwrap();
    vec![
        Span::new(format!("{bar} "), Role::Series1),
        Span::new(number, Role::Text),
    ]
}

fn node(name: &str, os: OsScope, commit: &str, cpu: &str) -> (Row, OsScope) {
    let windows = os == OsScope::Windows;
    let cells = vec![
        span(name, Role::Text),
        span("Ready", Role::Ok),
        if windows {
            span("win", Role::Windows)
        } else {
            span("lin", Role::Linux)
        },
        if windows {
            span("26100", Role::Text)
        } else {
            span("–", Role::Absent)
        },
        span(cpu, Role::Series1),
        if windows {
            bar(commit)
        } else {
            span("–", Role::Absent)
        },
        span("2.4Gi", Role::Series2),
        span("12", Role::Text),
    ];
    let key = RowKey::Node(Name::from(name));
    (Row { key, cells }, os)
}

fn pod(namespace: &str, name: &str, state: (&str, Role), commit: &str, node: &str) -> (Row, OsScope) {
    let windows = node == "k8s-lab-win-1";
    let cells = vec![
        span(namespace, Role::Muted),
        span(name, Role::Text),
        span("1/1", Role::Text),
        span(state.0, state.1),
        span("0", Role::Muted),
        if windows {
            span("1250 = 12.5 %", Role::Text)
        } else {
            span("–", Role::Absent)
        },
        if windows {
            bar(commit)
        } else {
            span("–", Role::Absent)
        },
        span("42Mi", Role::Series2),
        span(node, Role::Text),
    ];
    let key = RowKey::Pod {
        namespace: Name::from(namespace),
        name: Name::from(name),
        uid: Name::from(format!("uid-{name}")),
    };
    let os = if windows { OsScope::Windows } else { OsScope::Linux };
    (Row { key, cells }, os)
}

/// One Windows node in work, one that is up to date, and the Linux nodes.
fn updates() -> Vec<(Row, OsScope)> {
    let row = |name: &str, os, cells: [Line; 7]| {
        let mut row = vec![span(name, Role::Text)];
        row.extend(cells);
        let key = RowKey::Node(Name::from(name));
        (Row { key, cells: row }, os)
    };
    let absent = || span("–", Role::Absent);
    let mut rows = vec![
        row(
            "k8s-lab-win-1",
            OsScope::Windows,
            [
                vec![Span::new("Ready", Role::Ok), Span::new(" ⏸ restart", Role::Warn)],
                span("26100", Role::Text),
                span("32995", Role::Text),
                span("▲ −443", Role::Warn),
                span("11 · 14h", Role::Text),
                span("drainboard · 4m", Role::Text),
                vec![
                    Span::new("update: restart", Role::Warn),
                    Span::new(" · anna@desk", Role::Text),
                    Span::new(" · 4m", Role::Muted),
                ],
            ],
        ),
        row(
            "k8s-lab-win-2",
            OsScope::Windows,
            [
                span("Ready", Role::Ok),
                span("26100", Role::Text),
                span("33438", Role::Text),
                span("newest", Role::Muted),
                span("7 · 3d", Role::Text),
                absent(),
                absent(),
            ],
        ),
    ];
    for name in ["k8s-lab-node-1", "k8s-lab-master-1"] {
        let ready = span("Ready", Role::Ok);
        rows.push(row(
            name,
            OsScope::Linux,
            [
                ready,
                absent(),
                absent(),
                absent(),
                span("3d", Role::Text),
                absent(),
                absent(),
            ],
        ));
    }
    rows
}

/// Three mappings: one that is well, one that fails, and one that was left behind.
fn smb() -> Vec<(Row, OsScope)> {
    let row = |node: &str, remote: &str, cells: [Line; 4]| {
        let mut row = vec![span(node, Role::Text), span(remote, Role::Text)];
        row.extend(cells);
        let key = RowKey::Smb {
            node: Name::from(node),
            remote: Name::from(remote),
        };
        (Row { key, cells: row }, OsScope::Windows)
    };
    let account = || span(r"AZURE\svc-k8s-smb", Role::Text);
    let reports = r"\\files.example.com\k8s\win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
    vec![
        row(
            "k8s-lab-win-1",
            reports,
            [
                account(),
                span("✔", Role::Ok),
                span("win-demo/reports-writer-67b96b59b-rfbzx", Role::Text),
                vec![Span::new("mapped", Role::Ok), Span::new(" 12:50:42", Role::Muted)],
            ],
        ),
        row(
            "k8s-lab-win-1",
            r"\\nas.example.com\archive",
            [
                span("–", Role::Absent),
                span("–", Role::Absent),
                span("shop/archive-0", Role::Text),
                vec![
                    Span::new("✖ 1326: user name or password is wrong", Role::Error),
                    Span::new(" 13:58:10", Role::Muted),
                ],
            ],
        ),
        row(
            "k8s-lab-win-2",
            reports,
            [
                account(),
                span("▲ off", Role::Warn),
                span("none", Role::Muted),
                vec![
                    Span::new("▲ left behind", Role::Warn),
                    Span::new(" 13:02:11", Role::Muted),
                ],
            ],
        ),
    ]
}

/// A node on which nothing is done.
fn standing(node: &str) -> Standing {
    Standing {
        node: Name::from(node),
        uid: Name::from(format!("uid-{node}")),
        cordoned: false,
        restarted_without_drain: false,
        record: None,
    }
}

impl Cluster {
    /// The article's cluster, quiet.
    pub fn article() -> Self {
        let nodes = vec![
            node(
                "k8s-lab-win-1",
                OsScope::Windows,
                "███▁▁▁▁▁▁▁ 31 %",
                "▁▂▁▁  5.4 %",
            ),
            node("k8s-lab-node-1", OsScope::Linux, "–", "▂▂▁▂  6.0 %"),
            node("k8s-lab-node-2", OsScope::Linux, "–", "▁▁▁▁  3.2 %"),
            node("k8s-lab-master-1", OsScope::Linux, "–", "▂▂▂▂  8.8 %"),
        ];
        let mut pods = vec![
            pod(
                "win-demo",
                "hello-win-759c899954-tq5nc",
                ("Running", Role::Ok),
                "████▁▁▁▁▁▁ 38 %  98Mi",
                "k8s-lab-win-1",
            ),
            pod(
                "win-demo",
                "hello-win-759c899954-tkfg6",
                ("Running", Role::Ok),
                "████▁▁▁▁▁▁ 38 %  98Mi",
                "k8s-lab-win-1",
            ),
            pod(
                "win-demo",
                "reports-writer-67b96b59b-rfbzx",
                ("CrashLoopBackOff", Role::Error),
                "█████▁▁▁▁▁ ▲ 83 %  60Mi",
                "k8s-lab-win-1",
            ),
        ];
        for number in 0..40 {
            let name = format!("hello-55fb8f8684-{number:02}abc");
            pods.push(pod("demo", &name, ("Running", Role::Ok), "–", "k8s-lab-node-1"));
        }
        let badge = |source, name, glyph, role, age: &str| SourceBadge {
            source,
            name,
            glyph,
            role,
            age: age.into(),
            problem: None,
        };
        let header = HeaderView {
            context: "lab".into(),
            server: "https://192.168.10.23:6443".into(),
            version: Some(Name::from("v1.37.2")),
            namespace: None,
            pod_selector: "".into(),
            sources: vec![
                badge(Source::Kubernetes, "API", "●", Role::Ok, "now"),
                badge(Source::Prometheus, "Prometheus", "●", Role::Ok, "12 s"),
                badge(Source::MetricsApi, "metrics", "●", Role::Ok, "9 s"),
            ],
            days_to_patch_tuesday: 7,
            counts: Counts {
                nodes: 4,
                windows_nodes: 1,
                pods: pods.len(),
                smb: Some(3),
            },
        };
        Self {
            header,
            nodes,
            pods,
            updates: updates(),
            smb: smb(),
            notice: None,
            yaml: None,
            watches: vec![
                (Watched::Pods, WatchState::Live),
                (
                    Watched::Events,
                    WatchState::Forbidden(Problem {
                        what: "list events in all namespaces is forbidden for user nobody".to_owned(),
                        next_step: "ask for a ClusterRole that lists events".to_owned(),
                    }),
                ),
            ],
            standings: vec![standing("k8s-lab-win-1"), standing("k8s-lab-node-1")],
            frames: 0,
            folded: 0,
            changes: true,
        }
    }

    /// Prometheus does not answer.
    pub fn without_prometheus(mut self) -> Self {
        let badge = &mut self.header.sources[1];
        badge.glyph = "✖";
        badge.role = Role::Error;
        badge.age = "failed".into();
        badge.problem = Some(
            "no answer from service monitoring/kps-prometheus within 10 s: check that its pod is Ready"
                .into(),
        );
        self
    }

    fn rows(&self, kind: TableKind, query: &TableQuery) -> (Vec<Row>, usize) {
        let rows = match kind {
            TableKind::Nodes => &self.nodes,
            TableKind::Pods => &self.pods,
            TableKind::Updates => &self.updates,
            TableKind::Smb => &self.smb,
        };
        let in_scope: Vec<&Row> = rows
            .iter()
            .filter(|(_, os)| query.os == OsScope::All || query.os == *os)
            .map(|(row, _)| row)
            .collect();
        let total = in_scope.len();
        let mut rows: Vec<Row> = in_scope
            .into_iter()
            .filter(|row| {
                row.cells
                    .iter()
                    .any(|cell| flat(cell).contains(query.filter.as_str()))
            })
            .cloned()
            .collect();
        if let Some((column, direction)) = &query.sort {
            let heads = heads(kind, query);
            let at = heads.iter().position(|head| head.id == column).unwrap_or(0);
            rows.sort_by_key(|row| flat(&row.cells[at]));
            if *direction == Direction::Descending {
                rows.reverse();
            }
        }
        (rows, total)
    }
}

fn heads(kind: TableKind, query: &TableQuery) -> Vec<ColumnHead> {
    let head = |id, title, align, min_width, max_width, priority| ColumnHead {
        id,
        title,
        doc: "What this column says.",
        align,
        min_width,
        max_width,
        priority,
        numeric: align == Align::Right,
        sorted: match &query.sort {
            Some((column, direction)) => (column == id).then_some(*direction),
            None => (id == "name").then_some(Direction::Ascending),
        },
    };
    match kind {
        TableKind::Nodes => vec![
            head("name", "NAME", Align::Left, 14, 40, 100),
            head("state", "STATE", Align::Left, 8, 24, 90),
            head("os", "OS", Align::Left, 3, 3, 70),
            head("build", "BUILD", Align::Right, 5, 5, 40),
            head("cpu", "CPU", Align::Right, 11, 14, 60),
            head("commit", "COMMIT", Align::Right, 15, 20, 80),
            head("ws", "WS", Align::Right, 6, 6, 50),
            head("pods", "PODS", Align::Right, 4, 5, 30),
        ],
        TableKind::Pods => vec![
            head("namespace", "NAMESPACE", Align::Left, 9, 20, 95),
            head("name", "NAME", Align::Left, 14, 60, 100),
            head("ready", "READY", Align::Right, 5, 5, 60),
            head("state", "STATE", Align::Left, 8, 20, 90),
            head("restarts", "↻", Align::Right, 2, 6, 40),
            head("cpu-max", "CPU MAX", Align::Right, 13, 14, 50),
            head("commit", "COMMIT ÷ LIMIT", Align::Right, 15, 24, 80),
            head("ws", "WS", Align::Right, 6, 6, 45),
            head("node", "NODE", Align::Left, 8, 30, 30),
        ],
        TableKind::Updates => vec![
            head("name", "NAME", Align::Left, 14, 40, 100),
            head("state", "STATE", Align::Left, 15, 24, 90),
            head("build", "BUILD", Align::Left, 5, 5, 40),
            head("revision", "REVISION", Align::Right, 8, 8, 50),
            head("behind", "BEHIND", Align::Left, 6, 10, 80),
            head("boot", "BOOT", Align::Left, 8, 14, 60),
            head("cordoned", "CORDONED", Align::Left, 8, 36, 70),
            head("maintenance", "MAINTENANCE", Align::Left, 14, 60, 85),
        ],
        TableKind::Smb => vec![
            head("node", "NODE", Align::Left, 12, 40, 250),
            head("remote", "REMOTE PATH", Align::Left, 20, 110, 240),
            head("account", "ACCOUNT", Align::Left, 17, 40, 200),
            head("privacy", "PRIVACY", Align::Left, 7, 7, 180),
            head("pods", "PODS", Align::Left, 15, 60, 190),
            head("state", "STATE", Align::Left, 20, 60, 230),
        ],
    }
}

impl Views for Cluster {
    fn header(&self, _: Timestamp) -> HeaderView {
        self.header.clone()
    }

    fn table(
        &mut self,
        kind: TableKind,
        query: &TableQuery,
        first: usize,
        height: usize,
        _: Timestamp,
    ) -> TableWindow {
        self.frames += 1;
        let (rows, total) = self.rows(kind, query);
        let matched = rows.len();
        let nothing = (matched == 0).then(|| span("nothing matches the filter: esc shows all", Role::Warn));
        TableWindow {
            columns: heads(kind, query),
            first,
            rows: rows.into_iter().skip(first).take(height).collect(),
            matched,
            total,
            notice: self.notice.clone().or(nothing),
            summary: match kind {
                TableKind::Nodes | TableKind::Pods => {
                    span("commit 5.0 of 16.0 GiB on 1 of 1 Windows nodes", Role::Muted)
                }
                TableKind::Updates => span(
                    "4 nodes · Patch Tuesday 2026-08-11 in 7 d, then 2026-09-08, 2026-10-13 (UTC)",
                    Role::Muted,
                ),
                TableKind::Smb => span("3 SMB mappings", Role::Text),
            },
        }
    }

    fn watches(&self) -> Vec<(Watched, &WatchState)> {
        self.watches
            .iter()
            .map(|(watched, state)| (*watched, state))
            .collect()
    }

    fn position(&mut self, kind: TableKind, query: &TableQuery, key: &RowKey) -> Option<usize> {
        self.rows(kind, query).0.iter().position(|row| row.key == *key)
    }

    fn page(&self, key: &RowKey, now: Timestamp) -> Option<Page> {
        let mut rows = self.nodes.iter().chain(&self.pods);
        let (row, _) = rows.find(|(row, _)| row.key == *key)?;
        let points = (0..60).map(|minute| {
            let share = 0.2 + f64::from(minute) / 100.0;
            (now - chrono::TimeDelta::minutes(60 - i64::from(minute)), share)
        });
        let name = match &row.key {
            RowKey::Node(name) | RowKey::Pod { name, .. } | RowKey::Smb { remote: name, .. } => name,
        };
        Some(Page {
            title: span(name, Role::Title),
            sections: vec![
                Section {
                    title: "what the limits became".to_owned(),
                    body: Body::Lines(vec![
                        vec![
                            Span::new("cpu     ", Role::Muted),
                            Span::new(
                                "500m on 4 CPUs → 10 × 500 ÷ 4 = 1250 → 12.5 % of the node, a hard ceiling",
                                Role::Text,
                            ),
                        ],
                        span(
                            "when commit meets the limit Windows kills nothing: allocations fail (1455), the program decides",
                            Role::Muted,
                        ),
                    ]),
                },
                Section {
                    title: "last hour".to_owned(),
                    body: Body::Chart(vec![Series {
                        label: "commit, of limit".to_owned(),
                        role: Role::Series1,
                        points: points.collect(),
                        bounds: (0.0, 1.0),
                        now: span("79 %", Role::Text),
                    }]),
                },
                Section {
                    title: "events".to_owned(),
                    body: Body::Table(
                        vec![
                            ("AGE", Align::Right),
                            ("REASON", Align::Left),
                            ("MESSAGE", Align::Left),
                        ],
                        vec![
                            vec![
                                span("2m", Role::Muted),
                                span("BackOff", Role::Warn),
                                span(
                                    "Back-off restarting failed container writer in pod reports-writer-67b96b59b-rfbzx",
                                    Role::Text,
                                ),
                            ],
                            vec![
                                span("14h", Role::Muted),
                                span("Started", Role::Text),
                                span("Started container", Role::Text),
                            ],
                        ],
                    ),
                },
            ],
        })
    }

    fn preview(&self, _: &RowKey, _: Timestamp) -> Vec<Line> {
        vec![
            span(
                "commit 5.0 of 16.0 GiB (31 %, charged)    working set 2.4 GiB",
                Role::Text,
            ),
            span("kubelet ● containerd ● hns ●", Role::Ok),
        ]
    }

    fn standing(&self, node: &Name) -> Option<Standing> {
        self.standings
            .iter()
            .find(|standing| standing.node == *node)
            .cloned()
    }

    fn workflow(&self, state: &State, _: Timestamp) -> Page {
        Told::article().store.workflow_page(state, told_at())
    }

    fn commands(&self, state: &State, _: Timestamp) -> Vec<&'static str> {
        Told::article().store.workflow_commands(state, told_at())
    }

    fn yaml(&self, _: &DetailKey) -> Option<Result<&str, &str>> {
        self.yaml
            .as_ref()
            .map(|yaml| yaml.as_deref().map_err(String::as_str))
    }
}

impl Fold for Cluster {
    fn apply(&mut self, _: SourceEvent, _: Timestamp) -> bool {
        self.folded += 1;
        self.changes
    }
}
