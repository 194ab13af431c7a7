//! What the screens ask the store.

use crate::domain::{Name, Timestamp};
use crate::maintenance::state::State;
use crate::sources::event::{DetailKey, WatchState, Watched};
use crate::store::view::{HeaderView, Line, Page, RowKey, TableKind, TableQuery, TableWindow};
use crate::store::{Standing, Store};

/// The store as the screens see it.
pub trait Views {
    /// Cluster, sources, counts.
    fn header(&self, now: Timestamp) -> HeaderView;
    /// How each watch is.
    fn watches(&self) -> Vec<(Watched, &WatchState)>;
    /// The rows from `first` on, at most `height`.
    fn table(
        &mut self,
        kind: TableKind,
        query: &TableQuery,
        first: usize,
        height: usize,
        now: Timestamp,
    ) -> TableWindow;
    /// Where a row is among the matching ones.
    fn position(&mut self, kind: TableKind, query: &TableQuery, key: &RowKey) -> Option<usize>;
    /// The page of a row; `None` if the object is gone.
    fn page(&self, key: &RowKey, now: Timestamp) -> Option<Page>;
    /// A few lines about a row.
    fn preview(&self, key: &RowKey, now: Timestamp) -> Vec<Line>;
    /// How a node stands; `None` if there is no such node.
    fn standing(&self, node: &Name) -> Option<Standing>;
    /// The page of a maintenance.
    fn workflow(&self, state: &State, now: Timestamp) -> Page;
    /// The commands on that page.
    fn commands(&self, state: &State, now: Timestamp) -> Vec<&'static str>;
    /// The YAML that was asked for: `None` while it is on its way.
    fn yaml(&self, key: &DetailKey) -> Option<Result<&str, &str>>;
}

impl Views for Store {
    fn header(&self, now: Timestamp) -> HeaderView {
        self.header(now)
    }

    fn table(
        &mut self,
        kind: TableKind,
        query: &TableQuery,
        first: usize,
        height: usize,
        now: Timestamp,
    ) -> TableWindow {
        self.table(kind, query, first, height, now)
    }

    fn position(&mut self, kind: TableKind, query: &TableQuery, key: &RowKey) -> Option<usize> {
        self.position(kind, query, key)
    }

    fn watches(&self) -> Vec<(Watched, &WatchState)> {
        self.watch_states()
    }

    fn page(&self, key: &RowKey, now: Timestamp) -> Option<Page> {
        match key {
            RowKey::Node(name) => self.node_page(name, now),
            RowKey::Pod { namespace, name, .. } => self.pod_page(namespace, name, now),
            RowKey::Smb { node, remote } => self.smb_page(node, remote, now),
        }
    }

    fn preview(&self, key: &RowKey, now: Timestamp) -> Vec<Line> {
        self.preview(key, now)
    }

    fn standing(&self, node: &Name) -> Option<Standing> {
        self.standing(node)
    }

    fn workflow(&self, state: &State, now: Timestamp) -> Page {
        self.workflow_page(state, now)
    }

    fn commands(&self, state: &State, now: Timestamp) -> Vec<&'static str> {
        self.workflow_commands(state, now)
    }

    fn yaml(&self, key: &DetailKey) -> Option<Result<&str, &str>> {
        self.yaml(key)
    }
}
