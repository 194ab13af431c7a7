//! View models: what a pane shows, before colours and cells. Built by the store, drawn by the screens, printed
//! by the commands. No clock, no I/O: `now` is a parameter of whatever builds them.

mod elide;

pub use elide::elide;

use crate::domain::reading::Source;
use crate::domain::{Name, Timestamp};
use compact_str::CompactString;

/// The meaning of a piece of text; a theme gives it colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Ordinary text.
    #[default]
    Text,
    /// Secondary text: units, ages, hints.
    Muted,
    /// Titles and headings.
    Title,
    /// Frames and rules.
    Border,
    /// Keys in footers and help.
    Key,
    /// Good.
    Ok,
    /// Amber.
    Warn,
    /// Red.
    Error,
    /// Old: the sample is past its source's rhythm.
    Stale,
    /// Not there.
    Absent,
    /// Windows objects.
    Windows,
    /// Linux objects.
    Linux,
    /// Working set and other second series.
    Series2,
    /// Commit and other first series.
    Series1,
    /// Input of the operator, matches.
    Highlight,
}

/// A run of text with one meaning. Free of control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Text. Glyphs are Unicode; the screens replace them by ASCII twins where the terminal needs it.
    pub text: CompactString,
    /// Meaning.
    pub role: Role,
}

impl Span {
    /// A span.
    pub fn new(text: impl Into<CompactString>, role: Role) -> Self {
        Self {
            text: text.into(),
            role,
        }
    }
}

/// A line of spans.
pub type Line = Vec<Span>;

/// Horizontal alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right: numbers.
    Right,
}

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// Nodes.
    Nodes,
    /// Pods.
    Pods,
    /// Nodes again: how far each is with its updates, and what is being done about it.
    Updates,
    /// SMB mappings of Windows nodes.
    Smb,
}

impl TableKind {
    /// All of them, in the order of the tabs.
    pub const ALL: [Self; 4] = [Self::Nodes, Self::Pods, Self::Updates, Self::Smb];

    /// Its name, as the screens and the command line have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Pods => "pods",
            Self::Updates => "updates",
            Self::Smb => "smb",
        }
    }
}

/// A column as the pane needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    /// Name in filters, sort requests and configuration, e.g. `commit`.
    pub id: &'static str,
    /// Heading, e.g. `COMMIT`.
    pub title: &'static str,
    /// What it says, for the help.
    pub doc: &'static str,
    /// Alignment.
    pub align: Align,
    /// Smallest useful width in cells.
    pub min_width: u16,
    /// Widest useful width in cells.
    pub max_width: u16,
    /// Leaves the screen last (high) or first (low) when there is no room; the first column always stays.
    pub priority: u8,
    /// Whether it holds numbers, which are first sorted from the largest; text is first sorted from A.
    pub numeric: bool,
    /// Sort direction if the table is sorted by it.
    pub sorted: Option<Direction>,
}

/// Sort direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Identity of a row; the selection is kept by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowKey {
    /// A node by name.
    Node(Name),
    /// A pod: namespace, name, UID.
    Pod {
        /// Namespace.
        namespace: Name,
        /// Name.
        name: Name,
        /// UID.
        uid: Name,
    },
    /// An SMB mapping.
    Smb {
        /// Node.
        node: Name,
        /// Share with directory, as shown.
        remote: Name,
    },
}

/// A row of a table: one line of spans per column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Identity.
    pub key: RowKey,
    /// Cells in order of the columns.
    pub cells: Vec<Line>,
}

/// Which operating systems a table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OsScope {
    /// All.
    #[default]
    All,
    /// Windows only.
    Windows,
    /// Linux only.
    Linux,
}

/// How the operator wants to see a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableQuery {
    /// Filter as typed (without the `/`).
    pub filter: String,
    /// Sort column id and direction; `None` for the table's own order.
    pub sort: Option<(String, Direction)>,
    /// Operating systems.
    pub os: OsScope,
    /// More columns.
    pub wide: bool,
}

/// The window of a table that is on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct TableWindow {
    /// Columns.
    pub columns: Vec<ColumnHead>,
    /// Index of the first row of `rows` among the matching ones.
    pub first: usize,
    /// The rows of the window.
    pub rows: Vec<Row>,
    /// Rows that match the filter.
    pub matched: usize,
    /// Rows in scope before the filter.
    pub total: usize,
    /// What stands instead of, or above, the rows: loading, forbidden, filter error, nothing matches.
    pub notice: Option<Line>,
    /// Sums over the matching rows, with `3 of 4` where some are absent.
    pub summary: Line,
}

/// A page about one object: sections of lines, charts and small tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Title line.
    pub title: Line,
    /// Sections from top to bottom.
    pub sections: Vec<Section>,
}

/// A section of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Content.
    pub body: Body,
}

/// Content of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Text.
    Lines(Vec<Line>),
    /// Series over time, drawn by the screen to the width it has.
    Chart(Vec<Series>),
    /// A small table: heads, rows.
    Table(Vec<(&'static str, Align)>, Vec<Vec<Line>>),
}

/// One series of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Label with unit, e.g. `commit, of limit`.
    pub label: String,
    /// Meaning (colour).
    pub role: Role,
    /// Points in time order.
    pub points: Vec<(Timestamp, f64)>,
    /// Lower and upper end of the scale.
    pub bounds: (f64, f64),
    /// Newest value in words, e.g. `31 %`, or why there is none.
    pub now: Line,
}

/// What the header says: the cluster that the data is of, how each source is, and when the next patches come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderView {
    /// kubeconfig context of the rows that are shown; empty before the first generation began.
    pub context: CompactString,
    /// URL of the API server.
    pub server: CompactString,
    /// Version of the cluster (`v1.37.2`), once known.
    pub version: Option<Name>,
    /// Namespace that the watches are restricted to; `None` for all.
    pub namespace: Option<Name>,
    /// Label selector of the pod watch, evaluated by the server; empty for none.
    pub pod_selector: CompactString,
    /// One badge for each source that has said anything, in order of [`crate::domain::reading::Source`].
    pub sources: Vec<SourceBadge>,
    /// Days until the next Patch Tuesday; 0 on the day itself.
    pub days_to_patch_tuesday: u32,
    /// Numbers for the tabs.
    pub counts: Counts,
}

/// Numbers for the tabs: rows before any filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes.
    pub nodes: usize,
    /// Windows nodes among them.
    pub windows_nodes: usize,
    /// Pods.
    pub pods: usize,
    /// SMB mappings; `None` while it is not known which there are.
    pub smb: Option<usize>,
}

/// How a source is, in a few cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBadge {
    /// Who.
    pub source: Source,
    /// Short name for the header, e.g. `API`, `Prometheus`.
    pub name: &'static str,
    /// Where it stands: ● connected, ◌ starting or stale, ✖ failed, – off.
    pub glyph: &'static str,
    /// Meaning of glyph and age.
    pub role: Role,
    /// `now`, `12 s`, `starting`, `off`, `failed`.
    pub age: CompactString,
    /// What failed and what to do next, or why it is off.
    pub problem: Option<CompactString>,
}
