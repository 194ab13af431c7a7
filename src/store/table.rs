//! Windows of the tables: only the rows on screen are built.

use super::cluster::Orders;
use super::columns::cells::{glyph_of, plain, role_of};
use super::columns::nodes::NodeRow;
use super::columns::pods::PodRow;
use super::columns::smb::SmbRow;
use super::columns::updates::UpdateRow;
use super::columns::{Column, TableRow};
use super::filter::{Filter, FilterError};
use super::join::Joins;
use super::order::{Order, Place, Rows, SUMS, SortKey, Sum, Summand};
use super::smb::SmbMapping;
use super::view::{
    ColumnHead, Direction, Line, OsScope, Role, Row, RowKey, Span, TableKind, TableQuery, TableWindow,
};
use super::{Store, header};
use crate::domain::object::Os;
use crate::domain::severity::Severity;
use crate::domain::smb::warning::Subject;
use crate::domain::text::sanitise;
use crate::domain::{Timestamp, format, patch_tuesday};
use crate::sources::event::{WatchState, Watched};
use chrono::NaiveDate;
use std::cmp::Ordering;

/// Patch Tuesdays that the calendar shows.
const CALENDAR_MONTHS: usize = 4;

/// What was asked of a table last, understood.
pub struct Asked<C> {
    query: TableQuery,
    filter: Filter<C>,
    error: Option<FilterError>,
    sort: Option<(C, Direction)>,
}

/// Of each table.
pub struct AllAsked {
    nodes: Asked<super::columns::nodes::NodeColumn>,
    pods: Asked<super::columns::pods::PodColumn>,
    updates: Asked<super::columns::updates::UpdateColumn>,
    smb: Asked<super::columns::smb::SmbColumn>,
}

impl Default for AllAsked {
    fn default() -> Self {
        Self {
            nodes: Asked::new::<NodeRow<'_>>(),
            pods: Asked::new::<PodRow<'_>>(),
            updates: Asked::new::<UpdateRow<'_>>(),
            smb: Asked::new::<SmbRow<'_>>(),
        }
    }
}

impl<C: Copy + Eq> Asked<C> {
    fn new<R>() -> Self
    where
        R: TableRow<Column = C>,
        C: Column<R>,
    {
        Self {
            query: TableQuery::default(),
            filter: Filter::default(),
            error: None,
            sort: None,
        }
    }

    /// Takes note of what is asked now, and tells the order what that changes.
    fn update<R>(&mut self, query: &TableQuery, order: &mut Order)
    where
        R: TableRow<Column = C>,
        C: Column<R>,
    {
        if self.query.filter != query.filter {
            (self.filter, self.error) = Filter::parse::<R>(&query.filter);
            order.filter();
        }
        if self.query.os != query.os {
            order.filter();
        }
        let sort = sort_of::<R>(query);
        if self.sort != sort {
            self.sort = sort;
            order.sort(sort.map(|(_, direction)| direction));
        }
        if self.query != *query {
            self.query = query.clone();
        }
    }
}

/// The sort that a query asks for; a column that does not exist asks for the table's own order.
fn sort_of<R: TableRow>(query: &TableQuery) -> Option<(R::Column, Direction)> {
    query
        .sort
        .as_ref()
        .and_then(|(id, direction)| Some((R::Column::by_id(id)?, *direction)))
        .or(R::Column::OWN_ORDER)
}

/// The columns of a table; `sorted` marks the one that the table is sorted by.
fn heads<R: TableRow>(wide: bool, sort: Option<(R::Column, Direction)>) -> Vec<ColumnHead> {
    shown_columns::<R>(wide)
        .map(|column| {
            let head = column.head();
            ColumnHead {
                id: head.id,
                title: head.title,
                doc: head.doc,
                align: head.align,
                min_width: head.width.0,
                max_width: head.width.1,
                priority: head.priority,
                numeric: !head.units.is_empty(),
                sorted: sort
                    .filter(|(by, _)| *by == column)
                    .map(|(_, direction)| direction),
            }
        })
        .collect()
}

fn shown_columns<R: TableRow>(wide: bool) -> impl Iterator<Item = R::Column> {
    R::Column::ALL
        .iter()
        .copied()
        .filter(move |column| wide || !column.head().wide)
}

/// The rows of a table as an order sees them.
struct Source<'s, R: TableRow> {
    capacity: usize,
    row: &'s dyn Fn(u32) -> Option<R>,
    natural: &'s dyn Fn(u32, u32) -> Ordering,
    filter: &'s mut Filter<R::Column>,
    os: OsScope,
    sort: Option<R::Column>,
}

impl<R: TableRow> Rows for Source<'_, R> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn exists(&self, slot: u32) -> bool {
        (self.row)(slot).is_some()
    }

    fn natural(&self, a: u32, b: u32) -> Ordering {
        (self.natural)(a, b)
    }

    fn key(&mut self, slot: u32) -> SortKey {
        match (self.sort, (self.row)(slot)) {
            (Some(column), Some(row)) => column.sort_key(&row),
            _ => SortKey::Absent,
        }
    }

    fn place(&mut self, slot: u32) -> Place {
        let Some(row) = (self.row)(slot) else {
            return Place::Out;
        };
        let in_scope = match self.os {
            OsScope::All => true,
            OsScope::Windows => row.os() == Some(Os::Windows),
            OsScope::Linux => row.os() == Some(Os::Linux),
        };
        if !in_scope {
            Place::Out
        } else if self.filter.is_empty() || self.filter.matches(&row) {
            Place::Shown
        } else {
            Place::Hidden
        }
    }

    fn summands(&mut self, slot: u32) -> [Summand; SUMS] {
        (self.row)(slot).map_or_else(Default::default, |row| row.summands())
    }
}

impl Store {
    /// The rows `first..first + height` of a table (fewer at its end; `first` moves up so that the window is
    /// filled), at `now`.
    pub fn table(
        &mut self,
        kind: TableKind,
        query: &TableQuery,
        first: usize,
        height: usize,
        now: Timestamp,
    ) -> TableWindow {
        self.now = now;
        self.mend(kind, query);
        match kind {
            TableKind::Nodes => {
                let rows = |joins, slot| node_row(joins, slot);
                self.window(&self.orders.nodes, &self.asked.nodes, kind, (first, height), rows)
            }
            TableKind::Pods => {
                let rows = |joins, slot| pod_row(joins, slot);
                self.window(&self.orders.pods, &self.asked.pods, kind, (first, height), rows)
            }
            TableKind::Updates => {
                let rows = |joins, slot| update_row(joins, slot);
                let (order, asked) = (&self.orders.updates, &self.asked.updates);
                let mut window = self.window(order, asked, kind, (first, height), rows);
                window.summary.extend(calendar(now));
                window
            }
            TableKind::Smb => {
                let (order, asked) = (&self.orders.smb, &self.asked.smb);
                let rows = |joins: Joins<'_>, slot| smb_row(&self.smb.mappings, joins.now, slot);
                let mut window = self.window(order, asked, kind, (first, height), rows);
                window.summary.extend(self.smb_notes());
                window
            }
        }
    }

    fn window<'s, R: TableRow>(
        &'s self,
        order: &Order,
        asked: &Asked<R::Column>,
        kind: TableKind,
        (first, height): (usize, usize),
        row: impl Fn(Joins<'s>, u32) -> Option<R>,
    ) -> TableWindow {
        let joins = self.joins(self.now);
        let shown = order.shown();
        let first = first.min(shown.len().saturating_sub(height));
        let columns: Vec<R::Column> = shown_columns::<R>(asked.query.wide).collect();
        let rows = shown[first..]
            .iter()
            .take(height)
            .filter_map(|slot| {
                let row = row(joins, *slot)?;
                Some(Row {
                    key: row.key(),
                    cells: columns.iter().map(|column| column.cell(&row)).collect(),
                })
            })
            .collect();
        TableWindow {
            columns: heads::<R>(asked.query.wide, asked.sort),
            first,
            rows,
            matched: shown.len(),
            total: order.in_scope(),
            notice: self.notice(kind, order, &asked.query, asked.error.as_ref()),
            summary: summary(kind, order),
        }
    }

    /// Where a row stands among the matching ones; `None` if it is gone or hidden.
    pub fn position(&mut self, kind: TableKind, query: &TableQuery, key: &RowKey) -> Option<usize> {
        self.mend(kind, query);
        match (kind, key) {
            (TableKind::Nodes, RowKey::Node(name)) => {
                let slot = self.cluster.nodes.slot(&(None, name.clone()))?;
                self.orders.nodes.position(slot)
            }
            (TableKind::Updates, RowKey::Node(name)) => {
                let slot = self.cluster.nodes.slot(&(None, name.clone()))?;
                self.orders.updates.position(slot)
            }
            (TableKind::Pods, RowKey::Pod { namespace, name, uid }) => {
                let slot = self.cluster.pods.slot(&(Some(namespace.clone()), name.clone()))?;
                let same = self.cluster.pods.get(slot).is_some_and(|pod| pod.uid == *uid);
                same.then(|| self.orders.pods.position(slot)).flatten()
            }
            (TableKind::Smb, RowKey::Smb { node, remote }) => {
                let slot = self.smb.slot(node, remote)?;
                self.orders.smb.position(u32::try_from(slot).ok()?)
            }
            _ => None,
        }
    }

    /// Identity of the row at this place among the matching ones.
    pub fn key_at(&mut self, kind: TableKind, query: &TableQuery, index: usize) -> Option<RowKey> {
        self.mend(kind, query);
        let joins = self.joins(self.now);
        match kind {
            TableKind::Nodes => Some(node_row(joins, *self.orders.nodes.shown().get(index)?)?.key()),
            TableKind::Pods => Some(pod_row(joins, *self.orders.pods.shown().get(index)?)?.key()),
            TableKind::Updates => Some(update_row(joins, *self.orders.updates.shown().get(index)?)?.key()),
            TableKind::Smb => {
                let slot = *self.orders.smb.shown().get(index)?;
                Some(smb_row(&self.smb.mappings, joins.now, slot)?.key())
            }
        }
    }

    /// The columns of a table in its own order.
    pub fn columns(&self, kind: TableKind, wide: bool) -> Vec<ColumnHead> {
        let query = TableQuery::default();
        match kind {
            TableKind::Nodes => heads::<NodeRow<'_>>(wide, sort_of::<NodeRow<'_>>(&query)),
            TableKind::Pods => heads::<PodRow<'_>>(wide, sort_of::<PodRow<'_>>(&query)),
            TableKind::Updates => heads::<UpdateRow<'_>>(wide, sort_of::<UpdateRow<'_>>(&query)),
            TableKind::Smb => heads::<SmbRow<'_>>(wide, sort_of::<SmbRow<'_>>(&query)),
        }
    }

    /// Brings the order of a table up to date.
    fn mend(&mut self, kind: TableKind, query: &TableQuery) {
        let joins = Joins {
            cluster: &self.cluster,
            feeds: self.feeds.all_current(),
            now: self.now,
        };
        let Orders {
            nodes,
            pods,
            updates,
            smb,
        } = &mut self.orders;
        let mappings = &self.smb.mappings;
        let by_name = |a, b| {
            let name = |slot| joins.cluster.nodes.get(slot).map(|node| &node.name);
            name(a).cmp(&name(b))
        };
        match kind {
            TableKind::Nodes => {
                let asked = &mut self.asked.nodes;
                asked.update::<NodeRow<'_>>(query, nodes);
                nodes.mend(&mut Source {
                    capacity: joins.cluster.nodes.capacity(),
                    row: &|slot| node_row(joins, slot),
                    natural: &by_name,
                    filter: &mut asked.filter,
                    os: query.os,
                    sort: asked.sort.map(|(column, _)| column),
                });
            }
            TableKind::Pods => {
                let asked = &mut self.asked.pods;
                asked.update::<PodRow<'_>>(query, pods);
                pods.mend(&mut Source {
                    capacity: joins.cluster.pods.capacity(),
                    row: &|slot| pod_row(joins, slot),
                    natural: &|a, b| {
                        let name = |slot| {
                            let pod = joins.cluster.pods.get(slot)?;
                            Some((&pod.namespace, &pod.name))
                        };
                        name(a).cmp(&name(b))
                    },
                    filter: &mut asked.filter,
                    os: query.os,
                    sort: asked.sort.map(|(column, _)| column),
                });
            }
            TableKind::Updates => {
                let asked = &mut self.asked.updates;
                asked.update::<UpdateRow<'_>>(query, updates);
                updates.mend(&mut Source {
                    capacity: joins.cluster.nodes.capacity(),
                    row: &|slot| update_row(joins, slot),
                    natural: &by_name,
                    filter: &mut asked.filter,
                    os: query.os,
                    sort: asked.sort.map(|(column, _)| column),
                });
            }
            TableKind::Smb => {
                let asked = &mut self.asked.smb;
                asked.update::<SmbRow<'_>>(query, smb);
                smb.mend(&mut Source {
                    capacity: mappings.len(),
                    row: &|slot| smb_row(mappings, joins.now, slot),
                    // They are kept by node and path.
                    natural: &|a: u32, b: u32| a.cmp(&b),
                    filter: &mut asked.filter,
                    os: query.os,
                    sort: asked.sort.map(|(column, _)| column),
                });
            }
        }
    }

    fn notice(
        &self,
        kind: TableKind,
        order: &Order,
        query: &TableQuery,
        error: Option<&FilterError>,
    ) -> Option<Line> {
        if let Some(error) = error {
            return Some(plain(format!("▲ {}", sanitise(&error.to_string())), Role::Warn));
        }
        let (watched, what) = match kind {
            TableKind::Nodes | TableKind::Updates => (Watched::Nodes, "nodes"),
            TableKind::Pods => (Watched::Pods, "pods"),
            TableKind::Smb => (Watched::PersistentVolumes, "SMB mappings"),
        };
        let rows = order.in_scope();
        let line = match self.cluster.watches.get(&watched) {
            Some(WatchState::Forbidden(problem) | WatchState::Failed(problem)) => {
                header::problem_line(problem)
            }
            None | Some(WatchState::Loading) => match self.kubernetes_problem() {
                Some(problem) => header::problem_line(problem),
                None if rows == 0 => plain(format!("loading {what}…"), Role::Muted),
                None => plain(format!("loading {what}… {rows} so far"), Role::Muted),
            },
            Some(WatchState::Live) => match self.kubernetes_problem() {
                Some(problem) => header::problem_line(problem),
                None if rows == 0 => plain(self.nothing_there(what, query), Role::Muted),
                None if order.shown().is_empty() => {
                    let filter = sanitise(&query.filter);
                    plain(
                        format!("nothing matches `{filter}` among {rows} {what}"),
                        Role::Muted,
                    )
                }
                None => return None,
            },
        };
        Some(line)
    }

    /// `no Windows pods in namespace shop with labels app=web`.
    fn nothing_there(&self, what: &str, query: &TableQuery) -> String {
        let os = match query.os {
            OsScope::All => "",
            OsScope::Windows => "Windows ",
            OsScope::Linux => "Linux ",
        };
        let scope = self.scope();
        let namespace = scope.namespace.filter(|_| what == "pods");
        let namespace = namespace
            .map(|name| format!(" in namespace {name}"))
            .unwrap_or_default();
        let labels = if what == "pods" && !scope.pod_selector.is_empty() {
            format!(" with labels {}", scope.pod_selector)
        } else {
            String::new()
        };
        let text = format!("no {os}{what}{namespace}{labels}");
        sanitise(&text).into_owned()
    }
}

fn node_row(joins: Joins<'_>, slot: u32) -> Option<NodeRow<'_>> {
    let node = joins.cluster.nodes.get(slot)?;
    Some(NodeRow { joins, node })
}

fn update_row(joins: Joins<'_>, slot: u32) -> Option<UpdateRow<'_>> {
    node_row(joins, slot).map(UpdateRow)
}

fn smb_row(mappings: &[SmbMapping], now: Timestamp, slot: u32) -> Option<SmbRow<'_>> {
    let mapping = mappings.get(slot as usize)?;
    Some(SmbRow { mapping, now })
}

fn pod_row(joins: Joins<'_>, slot: u32) -> Option<PodRow<'_>> {
    let pod = joins.cluster.pods.at(slot)?;
    Some(PodRow { joins, pod })
}

/// `12 of 54 pods · commit 5.0 GiB (3 of 4) · working set 2.4 GiB`.
fn summary(kind: TableKind, order: &Order) -> Line {
    let (shown, all) = (order.shown().len(), order.in_scope());
    let what = match (kind, all) {
        (TableKind::Nodes | TableKind::Updates, 1) => "node",
        (TableKind::Nodes | TableKind::Updates, _) => "nodes",
        (TableKind::Pods, 1) => "pod",
        (TableKind::Pods, _) => "pods",
        (TableKind::Smb, 1) => "SMB mapping",
        (TableKind::Smb, _) => "SMB mappings",
    };
    let mut line = if shown == all {
        plain(format!("{all} {what}"), Role::Text)
    } else {
        plain(format!("{shown} of {all} {what}"), Role::Text)
    };
    for (name, sum) in ["commit", "working set"].into_iter().zip(order.sums()) {
        line.extend(sum_spans(name, sum));
    }
    line
}

/// ` · Patch Tuesday 2026-12-08 in 7 d, then 2027-01-12, 2027-02-09 (UTC)`: when the next monthly updates come.
fn calendar(now: Timestamp) -> Line {
    let next: Vec<NaiveDate> = patch_tuesday::from(now.date_naive())
        .take(CALENDAR_MONTHS)
        .collect();
    let [first, later @ ..] = next.as_slice() else {
        return Line::new();
    };
    let days = (*first - now.date_naive()).num_days();
    let when = match days {
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        days => format!("in {days} d"),
    };
    let later: Vec<String> = later.iter().map(ToString::to_string).collect();
    vec![
        Span::new(" · Patch Tuesday ", Role::Muted),
        Span::new(
            format!("{first} {when}"),
            if days == 0 { Role::Warn } else { Role::Text },
        ),
        Span::new(format!(", then {} (UTC)", later.join(", ")), Role::Muted),
    ]
}

impl Store {
    /// ` · ▲ k8s-lab-win-2: the SMB node plugin does not run here… (1 more)`: what is wrong with nodes and pods.
    fn smb_notes(&self) -> Line {
        let mut wrong = self
            .smb
            .warnings
            .iter()
            .filter(|warned| warned.warning.severity() > Severity::Fine);
        let Some(worst) = wrong.next() else {
            return Line::new();
        };
        let about = match &worst.about {
            Subject::Node(node) | Subject::Mapping { node, .. } => node.to_string(),
            Subject::Pod(namespace, name) => format!("{namespace}/{name}"),
        };
        let severity = worst.warning.severity();
        let glyph = glyph_of(severity).unwrap_or_default();
        let text = format!(" · {glyph} {about}: {}", worst.warning.title());
        let mut line = plain(sanitise(&text), role_of(severity, Role::Text));
        match wrong.count() {
            0 => {}
            more => line.push(Span::new(format!(" ({more} more)"), Role::Muted)),
        }
        line
    }
}

/// Nothing for a quantity that no row has; a dash, never a zero, where all values are absent.
fn sum_spans(name: &str, sum: Sum) -> Line {
    if sum.of == 0 {
        return Line::new();
    }
    let mut line = plain(format!(" · {name} "), Role::Muted);
    if sum.known == 0 {
        line.push(Span::new("–", Role::Absent));
    } else {
        line.push(Span::new(format::bytes_long(sum.total), Role::Text));
    }
    if sum.known < sum.of {
        line.push(Span::new(format!(" ({} of {})", sum.known, sum.of), Role::Warn));
    }
    line
}
