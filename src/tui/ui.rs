//! What the operator has done with the screens: tab, selection, filter, what is open. Everything else that is
//! shown comes from the store.

use super::actions::Place;
use super::maintain::Underway;
use super::palette::Palette;
use super::prompt::Prompt;
use super::sort_menu::SortMenu;
use crate::domain::Name;
use crate::domain::object::ObjectKey;
use crate::maintenance;
use crate::maintenance::round::Round;
use crate::sources::event::{Demand, DetailKey, Kind};
use crate::store::Standing;
use crate::store::view::{ColumnHead, Role, RowKey, TableKind, TableQuery};
use ratatui::layout::Size;
use std::sync::Arc;

/// How the program was started, as far as the screens care.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Nothing may be changed on the cluster.
    pub read_only: bool,
    /// The data is the simulated cluster's.
    pub demo: bool,
    /// Contexts that the palette offers.
    pub contexts: Vec<String>,
    /// How a maintenance is done that is begun on the screens.
    pub maintenance: maintenance::options::Options,
}

/// State of the screens.
#[derive(Clone, Debug)]
pub struct Ui {
    /// How the program was started.
    pub options: Options,
    /// Size of the terminal in cells.
    pub size: Size,
    /// Which table is shown, or lies under what is open.
    pub tab: TableKind,
    /// What lies over the table, the last on top.
    pub opened: Vec<Open>,
    /// What asks for input now.
    pub modal: Option<Modal>,
    /// What the program says about the last key.
    pub message: Option<Message>,
    /// What the watches are restricted to, as last told by the store.
    pub scope: Scope,
    /// What the last frame found out.
    pub settled: Settled,
    /// The node that is selected or open, as the last frame found it.
    pub subject: Option<Standing>,
    /// The maintenance that is or was done from here.
    pub underway: Option<Arc<Underway>>,
    /// The round that is or was done from here.
    pub round: Option<Arc<Round>>,
    /// The nodes that are marked for a round, in the order in which they were.
    pub marked: Vec<Name>,
    /// The operator has asked to leave while a maintenance is under way, and was told what that means.
    pub leaving: bool,
    nodes: Table,
    pods: Table,
    updates: Table,
    smb: Table,
}

/// What the watches are restricted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Namespace, `None` for all.
    pub namespace: Option<Name>,
    /// Label selector for pods; empty for none.
    pub pod_selector: String,
}

impl Scope {
    /// Whether a label selector restricts the pods.
    pub fn selects_pods(&self) -> bool {
        !self.pod_selector.is_empty()
    }
}

/// What only a frame can know: sizes and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Rows or lines of the main area.
    pub height: usize,
    /// Columns (tables) or cells (texts) that are out of sight to the right.
    pub hidden_right: usize,
}

/// State of one table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Filter, sort, operating systems, columns.
    pub query: TableQuery,
    /// The selection.
    pub cursor: Cursor,
    /// Index of the first row on screen.
    pub first: usize,
    /// Columns scrolled out to the left.
    pub skipped: usize,
    /// The columns of the last frame.
    pub columns: Vec<ColumnHead>,
    /// Widest content seen, by column, so that columns do not jump while rows come and go.
    pub seen_widths: Vec<(&'static str, u16)>,
}

/// The selected row: kept by identity, shown at an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The row, as far as the last frame found one.
    pub key: Option<RowKey>,
    /// Where it was, or where the operator moved to.
    pub index: usize,
    /// Whether the operator chose it. Until then the selection stays on the first row, whichever that is.
    pub chosen: bool,
}

/// Something that lies over the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What.
    pub what: Opened,
    /// First line on screen.
    pub top: usize,
    /// Cells scrolled out to the left.
    pub left: usize,
}

impl Open {
    /// From the top.
    pub fn new(what: Opened) -> Self {
        Self {
            what,
            top: 0,
            left: 0,
        }
    }
}

/// What can lie over the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Page of a node.
    Node(Name),
    /// Page of a pod.
    Pod {
        /// Namespace.
        namespace: Name,
        /// Name.
        name: Name,
        /// UID of the pod that was opened.
        uid: Name,
    },
    /// Page of an SMB mapping.
    Smb {
        /// Node.
        node: Name,
        /// Share with directory.
        remote: Name,
    },
    /// YAML.
    Yaml(DetailKey),
    /// The help for a place.
    Help(Place),
    /// How the sources are.
    Sources,
    /// The maintenance that is or was done from here.
    Workflow,
}

impl Opened {
    /// The page of a row.
    pub fn page_of(key: &RowKey) -> Self {
        match key {
            RowKey::Node(name) => Self::Node(name.clone()),
            RowKey::Pod { namespace, name, uid } => Self::Pod {
                namespace: namespace.clone(),
                name: name.clone(),
                uid: uid.clone(),
            },
            RowKey::Smb { node, remote } => Self::Smb {
                node: node.clone(),
                remote: remote.clone(),
            },
        }
    }

    /// The YAML of a row; a mapping is no object of the API.
    pub fn yaml_of(key: &RowKey) -> Option<Self> {
        Some(Self::Yaml(match key {
            RowKey::Smb { .. } => return None,
            RowKey::Node(name) => DetailKey::Yaml(
                Kind::Node,
                ObjectKey {
                    namespace: None,
                    name: name.clone(),
                    uid: Name::from(""),
                },
            ),
            RowKey::Pod { namespace, name, uid } => DetailKey::Yaml(
                Kind::Pod,
                ObjectKey {
                    namespace: Some(namespace.clone()),
                    name: name.clone(),
                    uid: uid.clone(),
                },
            ),
        }))
    }

    /// The row that this is about.
    pub fn row(&self) -> Option<RowKey> {
        match self {
            Self::Node(name) => Some(RowKey::Node(name.clone())),
            Self::Pod { namespace, name, uid } => Some(RowKey::Pod {
                namespace: namespace.clone(),
                name: name.clone(),
                uid: uid.clone(),
            }),
            Self::Smb { node, remote } => Some(RowKey::Smb {
                node: node.clone(),
                remote: remote.clone(),
            }),
            Self::Yaml(_) | Self::Help(_) | Self::Sources | Self::Workflow => None,
        }
    }

    /// What the sources must fetch for it.
    pub fn detail(&self) -> Option<DetailKey> {
        match self {
            Self::Node(name) => Some(DetailKey::Node(name.clone())),
            Self::Pod { namespace, name, .. } => Some(DetailKey::Pod(namespace.clone(), name.clone())),
            Self::Yaml(key) => Some(key.clone()),
            Self::Smb { .. } | Self::Help(_) | Self::Sources | Self::Workflow => None,
        }
    }
}

/// What asks for input.
#[derive(Clone, Debug)]
pub enum Modal {
    /// A line of input.
    Prompt(Prompt),
    /// The palette.
    Palette(Palette),
    /// The choice of the sort column.
    Sort(SortMenu),
}

/// What the program says about the last key; the next key removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Words.
    pub text: String,
    /// Meaning.
    pub role: Role,
}

impl Ui {
    /// The first screen.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            size: Size::new(80, 24),
            tab: TableKind::Nodes,
            opened: Vec::new(),
            modal: None,
            message: None,
            scope: Scope::default(),
            settled: Settled::default(),
            subject: None,
            underway: None,
            round: None,
            marked: Vec::new(),
            leaving: false,
            nodes: Table::default(),
            pods: Table::default(),
            updates: Table::default(),
            smb: Table::default(),
        }
    }

    /// The table of the tab.
    pub fn table(&self) -> &Table {
        match self.tab {
            TableKind::Nodes => &self.nodes,
            TableKind::Pods => &self.pods,
            TableKind::Updates => &self.updates,
            TableKind::Smb => &self.smb,
        }
    }

    /// The table of the tab.
    pub fn table_mut(&mut self) -> &mut Table {
        self.table_of(self.tab)
    }

    /// One of the tables.
    pub fn table_of(&mut self, kind: TableKind) -> &mut Table {
        match kind {
            TableKind::Nodes => &mut self.nodes,
            TableKind::Pods => &mut self.pods,
            TableKind::Updates => &mut self.updates,
            TableKind::Smb => &mut self.smb,
        }
    }

    /// The row of the table that is selected.
    pub fn selected(&self) -> Option<&RowKey> {
        self.table().cursor.key.as_ref()
    }

    /// The node that is selected or open.
    pub fn subject_name(&self) -> Option<Name> {
        let row = match self.opened.last() {
            Some(open) => open.what.row(),
            None => self.selected().cloned(),
        };
        match row {
            Some(RowKey::Node(name)) => Some(name),
            Some(RowKey::Pod { .. } | RowKey::Smb { .. }) | None => None,
        }
    }

    /// Where the operator is.
    pub fn place(&self) -> Place {
        match &self.modal {
            Some(Modal::Prompt(_)) => Place::Prompt,
            Some(Modal::Palette(_)) => Place::Palette,
            Some(Modal::Sort(_)) => Place::SortMenu,
            None => self.reading_place(),
        }
    }

    /// Where the operator is, or was before something asked for input.
    pub fn reading_place(&self) -> Place {
        match self.opened.last().map(|open| &open.what) {
            None => Place::Table,
            Some(Opened::Node(_) | Opened::Pod { .. } | Opened::Smb { .. }) => Place::Page,
            Some(Opened::Yaml(_)) => Place::Yaml,
            Some(Opened::Help(_)) => Place::Help,
            Some(Opened::Sources) => Place::Sources,
            Some(Opened::Workflow) => Place::Workflow,
        }
    }

    /// How far the main area is scrolled to the right.
    pub fn sideways(&self) -> usize {
        match self.opened.last() {
            Some(open) => open.left,
            None => self.table().skipped,
        }
    }

    /// What must be measured for what is on screen: nothing else is queried.
    pub fn demand(&self) -> Demand {
        let page = self.opened.iter().rev().find_map(|open| open.what.row());
        // Mappings stand on their own pane, and on the page of a node.
        let smb = match &page {
            Some(row) => matches!(row, RowKey::Node(_) | RowKey::Smb { .. }),
            None => self.tab == TableKind::Smb,
        };
        let (nodes, containers, history) = match (page, self.tab) {
            (Some(RowKey::Node(_)), _) => (true, true, true),
            (Some(RowKey::Pod { .. }), _) | (None, TableKind::Pods) => (false, true, false),
            (Some(RowKey::Smb { .. }), _) | (None, TableKind::Smb) => (false, false, false),
            (None, TableKind::Nodes) => (true, false, true),
            (None, TableKind::Updates) => (true, false, false),
        };
        let workflow = self.opened.iter().any(|open| open.what == Opened::Workflow);
        Demand {
            // The boot time, as the exporter tells it.
            nodes: nodes || workflow,
            containers,
            history,
            event_log: match self.opened.last().map(|open| &open.what) {
                Some(Opened::Node(name)) => Some(name.clone()),
                Some(Opened::Workflow) => self.busy().map(|state| state.node.clone()),
                _ => None,
            },
            smb,
        }
    }
}
