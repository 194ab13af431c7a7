//! Columns of the table of updates: how far each node is, and what is being done about it.

use super::cells::{absent, plain};
use super::nodes::{NodeColumn, NodeRow};
use super::{Column, Head, HeadParts, TableRow, Unit};
use crate::domain::object::Os;
use crate::domain::text::sanitise;
use crate::domain::{Timestamp, format};
use crate::maintenance::record::Record;
use crate::store::cluster::{record, windows_version};
use crate::store::order::{SUMS, Summand};
use crate::store::view::{Align, Direction, Line, Role, RowKey, Span};
use std::borrow::Cow;

/// A node and all that is joined to it.
#[derive(Clone, Copy)]
pub struct UpdateRow<'a>(pub NodeRow<'a>);

/// A column of the table of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateColumn {
    /// Name.
    Name,
    /// Readiness, what makes it doubtful, and where a maintenance is.
    State,
    /// Operating system.
    Os,
    /// Windows build.
    Build,
    /// Windows revision.
    Revision,
    /// Revisions behind the newest of its build.
    Behind,
    /// Version of the kubelet.
    Version,
    /// Boot id and uptime.
    Boot,
    /// Whether it is cordoned.
    Cordoned,
    /// The maintenance that is under way.
    Maintenance,
}

impl UpdateColumn {
    /// The column of the node table that says the same.
    const fn of_nodes(self) -> Option<NodeColumn> {
        match self {
            Self::Name => Some(NodeColumn::Name),
            Self::State => Some(NodeColumn::State),
            Self::Os => Some(NodeColumn::Os),
            Self::Build => Some(NodeColumn::Build),
            Self::Version => Some(NodeColumn::Version),
            Self::Boot => Some(NodeColumn::Boot),
            Self::Revision | Self::Behind | Self::Cordoned | Self::Maintenance => None,
        }
    }
}

impl UpdateRow<'_> {
    fn behind(&self) -> Option<u32> {
        let version = windows_version(self.0.node)?;
        Some(self.0.joins.cluster.revisions_behind(version))
    }

    fn behind_cell(&self) -> Line {
        match self.behind() {
            None => absent(),
            Some(0) => plain("newest", Role::Muted),
            Some(behind) => plain(format!("▲ −{behind}"), Role::Warn),
        }
    }

    /// `kubectl-cordon · 3h`; without managed fields nobody knows by whom.
    fn cordoned_cell(&self) -> Line {
        let node = self.0.node;
        match &node.cordoned_by {
            _ if !node.unschedulable => absent(),
            None => plain("cordoned", Role::Warn),
            Some(by) => {
                let mut line = plain(sanitise(&by.manager), Role::Warn);
                if let Some(at) = by.at {
                    let since = format::short_duration((self.0.joins.now - at).num_seconds().max(0));
                    line.push(Span::new(format!(" · {since}"), Role::Muted));
                }
                line
            }
        }
    }

    fn maintenance_cell(&self) -> Line {
        match record(self.0.node) {
            None => absent(),
            Some(Err(_)) => plain("▲ not readable", Role::Warn),
            Some(Ok(record)) => {
                let since = (self.0.joins.now - record.started_at).num_seconds().max(0);
                vec![
                    Span::new(words(&record), Role::Warn),
                    Span::new(format!(" · {}", sanitise(&record.by)), Role::Text),
                    Span::new(format!(" · {}", format::short_duration(since)), Role::Muted),
                ]
            }
        }
    }
}

/// `update: restart`.
fn words(record: &Record) -> String {
    format!("{}: {}", record.purpose.name(), record.reached.title())
}

impl<'a> Column<UpdateRow<'a>> for UpdateColumn {
    const ALL: &'static [Self] = &[
        Self::Name,
        Self::State,
        Self::Os,
        Self::Build,
        Self::Revision,
        Self::Behind,
        Self::Version,
        Self::Boot,
        Self::Cordoned,
        Self::Maintenance,
    ];
    /// The nodes that are furthest behind first.
    const OWN_ORDER: Option<(Self, Direction)> = Some((Self::Behind, Direction::Descending));

    fn head(self) -> Head {
        use Align::{Left, Right};
        let (id, title, align, width, priority, units, doc): HeadParts = match self {
            Self::Name | Self::State | Self::Os | Self::Build | Self::Version | Self::Boot => {
                let column = self.of_nodes().unwrap_or(NodeColumn::Name);
                let mut head = Column::<NodeRow<'a>>::head(column);
                if self == Self::State {
                    // Room for the mark of a maintenance.
                    head.width.0 = 15;
                }
                return head;
            }
            Self::Revision => (
                "revision",
                "REVISION",
                Right,
                (8, 8),
                160,
                &[Unit::Count],
                "Windows revision (UBR): it grows with each monthly update",
            ),
            Self::Behind => (
                "behind",
                "BEHIND",
                Left,
                (6, 10),
                230,
                &[Unit::Count],
                "Revisions behind the newest of the same build in the fleet",
            ),
            Self::Cordoned => (
                "cordoned",
                "CORDONED",
                Left,
                (8, 36),
                200,
                &[],
                "Who cordoned the node, and how long ago at least; `cordoned` where its managedFields do not tell",
            ),
            Self::Maintenance => (
                "maintenance",
                "MAINTENANCE",
                Left,
                (14, 60),
                240,
                &[],
                "The maintenance under way: what for, where it is, who began it, how long ago",
            ),
        };
        Head {
            id,
            title,
            doc,
            align,
            width,
            priority,
            wide: false,
            units,
        }
    }

    fn cell(self, row: &UpdateRow<'a>) -> Line {
        match self {
            Self::Revision => match windows_version(row.0.node) {
                Some(version) => plain(version.revision.to_string(), Role::Text),
                None => absent(),
            },
            Self::Behind => row.behind_cell(),
            Self::Cordoned => row.cordoned_cell(),
            Self::Maintenance => row.maintenance_cell(),
            _ => self.of_nodes().map_or_else(absent, |column| column.cell(&row.0)),
        }
    }

    fn number(self, row: &UpdateRow<'a>, unit: Unit) -> Option<f64> {
        match (self, unit) {
            (Self::Behind, Unit::Count) => row.behind().map(f64::from),
            (Self::Revision, Unit::Count) => Some(f64::from(windows_version(row.0.node)?.revision)),
            _ => self.of_nodes()?.number(&row.0, unit),
        }
    }

    fn text<'r>(self, row: &'r UpdateRow<'a>) -> Option<Cow<'r, str>> {
        match self {
            Self::Cordoned if row.0.node.unschedulable => {
                let by = row.0.node.cordoned_by.as_ref();
                let text = format!("cordoned {}", by.map_or("", |by| &*by.manager));
                Some(sanitise(text.trim_end()).into_owned().into())
            }
            Self::Cordoned => None,
            Self::Maintenance => match record(row.0.node)? {
                Ok(record) => {
                    let text = format!("{} {}", words(&record), record.by);
                    Some(sanitise(&text).into_owned().into())
                }
                Err(_) => Some(Cow::Borrowed("not readable")),
            },
            _ => self.of_nodes()?.text(&row.0),
        }
    }
}

impl TableRow for UpdateRow<'_> {
    type Column = UpdateColumn;

    fn key(&self) -> RowKey {
        self.0.key()
    }

    fn os(&self) -> Option<Os> {
        self.0.os()
    }

    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn any_word(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        self.0.any_word(test)
            || UpdateColumn::Maintenance
                .text(self)
                .is_some_and(|words| test(&words))
    }

    fn summands(&self) -> [Summand; SUMS] {
        Default::default()
    }
}
