//! Columns of the node table.

use super::cells::{
    absent, address, age, bytes, gauge, glyph_of, os, plain, reading, role_of, sparkline, text_or_dash, whole,
};
use super::{Column, Head, HeadParts, TableRow, Unit, elapsed};
use crate::domain::measurement::NodeQuantity;
use crate::domain::memory::commit_severity;
use crate::domain::node::Node;
use crate::domain::node_state::{LEASE_AMBER_SECONDS, LEASE_RED_SECONDS, NodeState};
use crate::domain::object::Os;
use crate::domain::severity::Severity;
use crate::domain::text::sanitise;
use crate::domain::{Name, Timestamp, format};
use crate::store::cluster::{record, windows_version};
use crate::store::join::Joins;
use crate::store::order::{SUMS, Summand};
use crate::store::view::{Align, Direction, Line, Role, RowKey, Span, elide};
use std::borrow::Cow;

/// A node and all that is joined to it.
#[derive(Clone, Copy)]
pub struct NodeRow<'a> {
    /// Where readings come from.
    pub joins: Joins<'a>,
    /// The node.
    pub node: &'a Node,
}

/// A column of the node table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeColumn {
    /// Name.
    Name,
    /// Readiness and what makes it doubtful.
    State,
    /// Operating system.
    Os,
    /// Windows build.
    Build,
    /// Windows revision.
    Revision,
    /// Version of the kubelet.
    Version,
    /// CPU in use.
    Cpu,
    /// Committed ÷ commit limit.
    Commit,
    /// Working set.
    WorkingSet,
    /// Pods.
    Pods,
    /// Boot id and uptime.
    Boot,
    /// Roles.
    Roles,
    /// Address.
    Ip,
    /// Age of the lease.
    Lease,
    /// Age of the Node object.
    Age,
    /// Taints.
    Taints,
    /// Kernel version.
    Kernel,
    /// Container runtime.
    Runtime,
}

const NAME_CELLS: u16 = 40;
const BAR_CELLS: u16 = 10;
const SPARK_CELLS: u16 = 4;
/// A boot id of more cells is a UUID (Linux) and tells nobody anything.
const BOOT_ID_CELLS: usize = 8;

impl NodeRow<'_> {
    /// The state of the node, with lease age and boot time.
    pub fn state(&self) -> NodeState {
        let now = self.joins.now;
        let lease = self.joins.cluster.lease_age(&self.node.name, now).ok();
        let booted = self.joins.booted_at(self.node);
        let record = record(self.node).and_then(Result::ok);
        NodeState::of(self.node, lease, booted.value().copied(), now)
            .in_work(record.map(|record| record.reached.title()))
            .restarted_without_drain(self.joins.cluster.restarted_without_drain(self.node).is_some())
    }

    fn state_cell(&self) -> Line {
        let state = self.state();
        let readiness = state.readiness;
        let role = role_of(readiness.severity(), Role::Ok);
        let mut line = plain(readiness.name(), role);
        if let Some(glyph) = glyph_of(readiness.severity()) {
            line.push(Span::new(format!(" {glyph}"), role));
        }
        // Glyph and words apart: where there is no room for the words, the glyph still stands.
        let mut mark = |glyph: &str, words: &str, role: Role| {
            line.push(Span::new(format!(" {glyph}"), role));
            line.push(Span::new(format!(" {words}"), role));
        };
        if let Some(step) = state.in_work {
            mark("⏸", step, Role::Warn);
        } else if state.cordoned {
            mark("⏸", "cordoned", Role::Warn);
        }
        for told in &state.marks {
            let glyph = glyph_of(told.severity).unwrap_or("·");
            mark(glyph, &told.words, role_of(told.severity, Role::Muted));
        }
        line
    }

    fn state_words(&self) -> String {
        let state = self.state();
        let mut words = state.readiness.name().to_owned();
        if state.cordoned {
            words.push_str(" cordoned");
        }
        if let Some(step) = state.in_work {
            words.push(' ');
            words.push_str(step);
        }
        for mark in &state.marks {
            words.push(' ');
            words.push_str(&mark.words);
        }
        words
    }

    fn revision_cell(&self) -> Line {
        let Some(version) = windows_version(self.node) else {
            return absent();
        };
        let behind = self.joins.cluster.revisions_behind(version);
        let mut line = plain(version.revision.to_string(), Role::Text);
        if behind > 0 {
            line.push(Span::new(format!(" ▲ −{behind}"), Role::Warn));
        }
        line
    }

    fn cpu_cell(&self) -> Line {
        let now = self.joins.now;
        let cpu = self.joins.node(self.node, NodeQuantity::CpuRatio);
        let points = self.joins.history(&self.node.name, NodeQuantity::CpuRatio);
        if cpu.value().is_none() {
            return absent();
        }
        let mut line = plain(sparkline(points, now, SPARK_CELLS, 1.0), Role::Series2);
        line.extend(reading(&cpu, now, Role::Text, |ratio| {
            format!(" {:>6}", format::percent(*ratio))
        }));
        line
    }

    fn boot_cell(&self) -> Line {
        let now = self.joins.now;
        let booted = self.joins.booted_at(self.node);
        let uptime = |at: &Timestamp| format::short_duration((now - *at).num_seconds().max(0));
        let id = sanitise(&self.node.boot_id);
        let short = !id.is_empty() && id.len() <= BOOT_ID_CELLS;
        match (short, booted.value()) {
            (true, Some(_)) => {
                let mut line = plain(id, Role::Text);
                line.push(Span::new(" · ", Role::Muted));
                line.extend(reading(&booted, now, Role::Text, uptime));
                line
            }
            (true, None) => plain(id, Role::Text),
            (false, _) => reading(&booted, now, Role::Text, uptime),
        }
    }

    fn taints(&self) -> String {
        let taints: Vec<String> = self
            .node
            .taints
            .iter()
            .map(|taint| {
                if taint.value.is_empty() {
                    format!("{}:{}", taint.key, taint.effect)
                } else {
                    format!("{}={}:{}", taint.key, taint.value, taint.effect)
                }
            })
            .collect();
        taints.join(",")
    }

    fn lease_cell(&self) -> Line {
        match self.joins.cluster.lease_age(&self.node.name, self.joins.now) {
            Ok(age) => {
                let severity = match age {
                    ..LEASE_AMBER_SECONDS => Severity::Fine,
                    LEASE_AMBER_SECONDS..LEASE_RED_SECONDS => Severity::Warning,
                    LEASE_RED_SECONDS.. => Severity::Critical,
                };
                plain(format!("{age} s"), role_of(severity, Role::Text))
            }
            Err(_) => absent(),
        }
    }
}

impl<'a> Column<NodeRow<'a>> for NodeColumn {
    const ALL: &'static [Self] = &[
        Self::Name,
        Self::State,
        Self::Os,
        Self::Build,
        Self::Revision,
        Self::Version,
        Self::Cpu,
        Self::Commit,
        Self::WorkingSet,
        Self::Pods,
        Self::Boot,
        Self::Roles,
        Self::Ip,
        Self::Lease,
        Self::Age,
        Self::Taints,
        Self::Kernel,
        Self::Runtime,
    ];
    /// The node nearest to its commit limit first: that is what the operator came to see.
    const OWN_ORDER: Option<(Self, Direction)> = Some((Self::Commit, Direction::Descending));

    #[expect(clippy::too_many_lines, reason = "one entry a column")]
    fn head(self) -> Head {
        use Align::{Left, Right};
        const TEXT: &[Unit] = &[];
        let (id, title, align, width, priority, units, doc): HeadParts = match self {
            Self::Name => (
                "name",
                "NAME",
                Left,
                (12, NAME_CELLS),
                255,
                TEXT,
                "Name of the Node object",
            ),
            Self::State => (
                "state",
                "STATE",
                Left,
                (8, 44),
                250,
                TEXT,
                "The Ready condition, and beside it: cordoned or where a maintenance is, a restart without drain (crash?), late lease, \
                 pressure, a recent restart",
            ),
            Self::Os => (
                "os",
                "OS",
                Left,
                (3, 3),
                140,
                TEXT,
                "Operating system: win or lin",
            ),
            Self::Build => (
                "build",
                "BUILD",
                Left,
                (5, 5),
                130,
                &[Unit::Count],
                "Windows build: 20348 is Windows Server 2022, 26100 is 2025",
            ),
            Self::Revision => (
                "revision",
                "REVISION",
                Left,
                (8, 13),
                150,
                &[Unit::Count],
                "Windows revision (UBR); ▲ −n is behind the newest of the same build in the fleet",
            ),
            Self::Version => (
                "version",
                "VERSION",
                Left,
                (7, 16),
                110,
                TEXT,
                "Version of the kubelet",
            ),
            Self::Cpu => (
                "cpu",
                "CPU",
                Right,
                (11, 13),
                200,
                &[Unit::Percent],
                "CPU in use, of the whole node; before it the last hour",
            ),
            Self::Commit => (
                "commit",
                "COMMIT",
                Left,
                (16, 20),
                240,
                &[Unit::Percent, Unit::Bytes],
                "Committed memory ÷ commit limit (RAM + page file) of a Windows node: amber from 80 %, red from 90 %",
            ),
            Self::WorkingSet => (
                "ws",
                "WS",
                Right,
                (5, 7),
                190,
                &[Unit::Bytes],
                "Working set: what kubectl top shows, from metrics.k8s.io",
            ),
            Self::Pods => (
                "pods",
                "PODS",
                Right,
                (4, 5),
                180,
                &[Unit::Count],
                "Pods on the node that have not ended, in the namespaces that are watched",
            ),
            Self::Boot => (
                "boot",
                "BOOT",
                Left,
                (8, 14),
                170,
                &[Unit::Duration],
                "Boot id and uptime; compared and sorted by uptime",
            ),
            Self::Roles => (
                "roles",
                "ROLES",
                Left,
                (5, 20),
                60,
                TEXT,
                "Roles from the node-role labels",
            ),
            Self::Ip => ("ip", "IP", Left, (9, 39), 80, TEXT, "First InternalIP"),
            Self::Lease => (
                "lease",
                "LEASE",
                Right,
                (5, 7),
                100,
                &[Unit::Duration],
                "Time since the watch saw the node's lease renewed: amber from 20 s, red from 40 s",
            ),
            Self::Age => (
                "age",
                "AGE",
                Right,
                (4, 6),
                90,
                &[Unit::Duration],
                "Age of the Node object",
            ),
            Self::Taints => (
                "taints",
                "TAINTS",
                Left,
                (6, 60),
                50,
                TEXT,
                "Taints, as key=value:effect",
            ),
            Self::Kernel => (
                "kernel",
                "KERNEL",
                Left,
                (10, 32),
                40,
                TEXT,
                "Kernel version; on Windows major.minor.build.revision",
            ),
            Self::Runtime => (
                "runtime",
                "RUNTIME",
                Left,
                (10, 30),
                30,
                TEXT,
                "Container runtime",
            ),
        };
        let wide = matches!(
            self,
            Self::Roles | Self::Ip | Self::Lease | Self::Age | Self::Taints | Self::Kernel | Self::Runtime
        );
        Head {
            id,
            title,
            doc,
            align,
            width,
            priority,
            wide,
            units,
        }
    }

    fn cell(self, row: &NodeRow<'a>) -> Line {
        let node = row.node;
        let now = row.joins.now;
        match self {
            Self::Name => plain(elide(&sanitise(&node.name), NAME_CELLS.into()), Role::Text),
            Self::State => row.state_cell(),
            Self::Os => os(node.os),
            Self::Build => match windows_version(node) {
                Some(version) => plain(version.build.build.to_string(), Role::Text),
                None => absent(),
            },
            Self::Revision => row.revision_cell(),
            Self::Cpu => row.cpu_cell(),
            Self::Commit => gauge(
                &row.joins.node_commit_ratio(node),
                now,
                commit_severity,
                BAR_CELLS,
            ),
            Self::WorkingSet => bytes(&row.joins.node(node, NodeQuantity::WorkingSet), now, Role::Text),
            Self::Pods => match row.joins.cluster.pod_count(&node.name) {
                Ok(pods) => plain(pods.to_string(), Role::Text),
                Err(_) => absent(),
            },
            Self::Boot => row.boot_cell(),
            Self::Ip => address(node.internal_ips.first().copied()),
            Self::Lease => row.lease_cell(),
            Self::Age => age(node.created_at, now),
            Self::Version | Self::Roles | Self::Taints | Self::Kernel | Self::Runtime => {
                text_or_dash(self.text(row).as_deref())
            }
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "pods and seconds of one node are far below 2^52"
    )]
    fn number(self, row: &NodeRow<'a>, unit: Unit) -> Option<f64> {
        let node = row.node;
        let now = row.joins.now;
        let since = |at: Timestamp| elapsed(now - at);
        match (self, unit) {
            (Self::Build, Unit::Count) => Some(f64::from(windows_version(node)?.build.build)),
            (Self::Revision, Unit::Count) => Some(f64::from(windows_version(node)?.revision)),
            (Self::Cpu, Unit::Percent) => row.joins.node(node, NodeQuantity::CpuRatio).value().copied(),
            (Self::Commit, Unit::Percent) => row.joins.node_commit_ratio(node).value().copied(),
            (Self::Commit, Unit::Bytes) => row.joins.node(node, NodeQuantity::Commit).value().copied(),
            (Self::WorkingSet, Unit::Bytes) => {
                row.joins.node(node, NodeQuantity::WorkingSet).value().copied()
            }
            (Self::Pods, Unit::Count) => Some(row.joins.cluster.pod_count(&node.name).ok()? as f64),
            (Self::Boot, Unit::Duration) => row.joins.booted_at(node).value().copied().map(since),
            (Self::Lease, Unit::Duration) => row.joins.cluster.renewal_seen(&node.name).ok().map(since),
            (Self::Age, Unit::Duration) => node.created_at.map(since),
            _ => None,
        }
    }

    fn text<'r>(self, row: &'r NodeRow<'a>) -> Option<Cow<'r, str>> {
        let node = row.node;
        let text: Cow<'r, str> = match self {
            Self::Name => sanitise(&node.name),
            Self::State => sanitise(&row.state_words()).into_owned().into(),
            Self::Os => match node.os? {
                Os::Windows => "windows".into(),
                Os::Linux => "linux".into(),
            },
            Self::Version => sanitise(&node.kubelet_version),
            Self::Roles => sanitise(&joined(&node.roles)).into_owned().into(),
            Self::Ip => node.internal_ips.first()?.to_string().into(),
            Self::Taints => sanitise(&row.taints()).into_owned().into(),
            Self::Kernel => sanitise(&node.kernel_version),
            Self::Runtime => sanitise(&node.container_runtime),
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }
}

fn joined(names: &[Name]) -> String {
    names.join(",")
}

impl TableRow for NodeRow<'_> {
    type Column = NodeColumn;

    fn key(&self) -> RowKey {
        RowKey::Node(self.node.name.clone())
    }

    fn os(&self) -> Option<Os> {
        self.node.os
    }

    fn now(&self) -> Timestamp {
        self.joins.now
    }

    fn any_word(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        test(&self.node.name) || test(&self.node.kernel_version) || test(&self.state_words())
    }

    fn summands(&self) -> [Summand; SUMS] {
        [NodeQuantity::Commit, NodeQuantity::WorkingSet].map(|quantity| {
            let reading = self.joins.node(self.node, quantity);
            match (reading.value(), reading.absence()) {
                (Some(bytes), _) => Summand::Value(whole(*bytes)),
                (None, Some(crate::domain::reading::Absence::NotOnThisOs)) => Summand::None,
                (None, _) => Summand::Absent,
            }
        })
    }
}
