//! Columns of the pod table.

use super::cells::{
    ABSENT, absent, address, age, bytes, gauge, glyph_of, plain, reading, role_of, text_or_dash, whole,
};
use super::{Column, Head, HeadParts, TableRow, Unit, elapsed};
use crate::domain::cpu_maximum::{CpuMaximum, cpu_text};
use crate::domain::measurement::ContainerQuantity;
use crate::domain::memory::commit_severity;
use crate::domain::object::Os;
use crate::domain::pod::{Container, ContainerKind, Pod, Resources};
use crate::domain::reading::{Absence, Reading};
use crate::domain::severity::Severity;
use crate::domain::text::sanitise;
use crate::domain::{Timestamp, format};
use crate::store::fold::At;
use crate::store::join::{Joins, Total};
use crate::store::order::{SUMS, Summand};
use crate::store::view::{Align, Direction, Line, Role, RowKey, Span, elide};
use std::borrow::Cow;

/// A pod and all that is joined to it.
#[derive(Clone, Copy)]
pub struct PodRow<'a> {
    /// Where readings come from.
    pub joins: Joins<'a>,
    /// The pod.
    pub pod: At<'a, Pod>,
}

/// A column of the pod table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodColumn {
    /// Namespace.
    Namespace,
    /// Name.
    Name,
    /// Ready containers.
    Ready,
    /// kubectl's STATUS word.
    State,
    /// Restarts.
    Restarts,
    /// CPU in use.
    Cpu,
    /// CPU maximum of the job object.
    CpuMax,
    /// Commit ÷ limit.
    Commit,
    /// Working set.
    WorkingSet,
    /// Node.
    Node,
    /// Operating system.
    Os,
    /// Address.
    Ip,
    /// Age.
    Age,
    /// Owner.
    Owner,
    /// Requests.
    Requests,
    /// Limits.
    Limits,
    /// Requests and limits compared.
    Resources,
}

const NAMESPACE_CELLS: u16 = 24;
const NAME_CELLS: u16 = 48;
const NODE_CELLS: u16 = 40;
const BAR_CELLS: u16 = 10;

/// States in which a pod is well or has ended well.
const WELL: [&str; 3] = ["Running", "Completed", "Succeeded"];
/// States on the way from or to one of those. `Init:1/2` counts as well.
const ON_THE_WAY: [&str; 5] = [
    "Pending",
    "ContainerCreating",
    "PodInitializing",
    "Terminating",
    "NotReady",
];

/// How much a pod's STATUS word matters.
pub fn state_severity(state: &str) -> Severity {
    let progress = state
        .strip_prefix("Init:")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if WELL.contains(&state) {
        Severity::Fine
    } else if progress || ON_THE_WAY.contains(&state) {
        Severity::Warning
    } else {
        Severity::Critical
    }
}

/// What a CPU limit of a pod became.
pub enum PodCpuMaximum {
    /// Sum of the ceilings of its containers, each in ten-thousandths of the node.
    Ceiling(u32),
    /// A container has no limit, so neither has the pod.
    NoLimit,
    /// Why it is not known.
    Absent(Absence),
}

impl PodRow<'_> {
    fn total(&self, quantity: ContainerQuantity) -> Total {
        self.joins.pod(self.pod, quantity)
    }

    fn running(&self) -> impl Iterator<Item = &Container> {
        self.pod
            .containers
            .iter()
            .filter(|container| container.kind != ContainerKind::Init)
    }

    /// Sum of the CPU maximum of the containers: each has its own job object with its own ceiling.
    pub fn cpu_maximum(&self) -> PodCpuMaximum {
        match self.joins.cluster.os_of(&self.pod) {
            Some(Os::Windows) => {}
            Some(Os::Linux) => return PodCpuMaximum::Absent(Absence::NotOnThisOs),
            None => return PodCpuMaximum::Absent(Absence::NoSample),
        }
        let limits: Option<Vec<u64>> = self
            .running()
            .map(|container| container.limits.cpu_millicores.filter(|limit| *limit > 0))
            .collect();
        let Some(limits) = limits else {
            return PodCpuMaximum::NoLimit;
        };
        let cpus = match self.joins.cpus_of(&self.pod) {
            Ok(cpus) => cpus,
            Err(reason) => return PodCpuMaximum::Absent(reason),
        };
        let ceilings = limits.into_iter().map(|limit| CpuMaximum::of(Some(limit), cpus));
        match ceilings
            .map(|ceiling| Some(u32::from(ceiling?.ten_thousandths())))
            .sum()
        {
            Some(sum) => PodCpuMaximum::Ceiling(sum),
            None => PodCpuMaximum::Absent(Absence::NoSample),
        }
    }

    fn cpu_maximum_cell(&self) -> Line {
        match self.cpu_maximum() {
            PodCpuMaximum::Ceiling(sum) => {
                let percent = format!("{}.{} %", sum / 100, sum / 10 % 10);
                vec![
                    Span::new(format!("{sum:>5}"), Role::Text),
                    Span::new(format!(" {percent:>6}"), Role::Muted),
                ]
            }
            PodCpuMaximum::NoLimit => plain("no limit", Role::Muted),
            PodCpuMaximum::Absent(_) => absent(),
        }
    }

    /// The bar of the container nearest to its limit, then the pod's commit.
    fn commit_cell(&self) -> Line {
        let now = self.joins.now;
        let commit = self.total(ContainerQuantity::Commit);
        let ratio = self.joins.worst_commit(self.pod);
        let mut line = match ratio.absence() {
            None => gauge(&ratio, now, commit_severity, BAR_CELLS),
            Some(Absence::NoLimit) if self.pod.host_process => plain("no limit", Role::Muted),
            Some(Absence::NoLimit) => plain("▲ no limit", Role::Warn),
            Some(_) => return absent(),
        };
        if commit.reading.value().is_some() {
            line.push(Span::new(" ", Role::Muted));
            line.extend(total_bytes(&commit, now));
        }
        line
    }

    fn state_cell(&self) -> Line {
        let state = sanitise(&self.pod.state).into_owned();
        let severity = state_severity(&state);
        let role = role_of(severity, Role::Text);
        match glyph_of(severity) {
            Some(glyph) => plain(format!("{state} {glyph}"), role),
            None => plain(state, role),
        }
    }

    fn ready_cell(&self) -> Line {
        let short = self.pod.ready < self.pod.ready_of && state_severity(&self.pod.state) == Severity::Fine;
        let ended = &*self.pod.state == "Completed" || &*self.pod.state == "Succeeded";
        let role = if short && !ended { Role::Warn } else { Role::Text };
        plain(format!("{}/{}", self.pod.ready, self.pod.ready_of), role)
    }

    fn restarts_cell(&self) -> Line {
        let pod = self.pod.row;
        let mut line = plain(pod.restarts.to_string(), Role::Text);
        if let (true, Some(at)) = (pod.restarts > 0, pod.last_restart_at) {
            let ago = format::short_duration((self.joins.now - at).num_seconds().max(0));
            line.push(Span::new(format!(" {ago}"), Role::Muted));
        }
        line
    }

    fn amounts(&self, of: impl Fn(&Container) -> Resources) -> String {
        let sum = |amount: fn(&Resources) -> Option<u64>| {
            self.running()
                .filter_map(|container| amount(&of(container)))
                .reduce(u64::saturating_add)
        };
        let cpu = sum(|resources| resources.cpu_millicores);
        let memory = sum(|resources| resources.memory_bytes);
        if (cpu, memory) == (None, None) {
            return String::new();
        }
        format!(
            "{} / {}",
            cpu.map_or_else(|| ABSENT.to_owned(), cpu_text),
            memory.map_or_else(|| ABSENT.to_owned(), format::bytes_short),
        )
    }

    /// The `QoS` class in words that say what it is made of, since it has no effect in the Windows kernel.
    fn resources(&self) -> &'static str {
        let mut containers = self.running().peekable();
        if containers.peek().is_none() {
            return "";
        }
        let (mut full, mut none) = (true, true);
        for container in containers {
            let (requests, limits) = (container.requests, container.limits);
            none &= requests == Resources::default() && limits == Resources::default();
            full &= requests == limits && limits.cpu_millicores.is_some() && limits.memory_bytes.is_some();
        }
        match (full, none) {
            (true, _) => "requests = limits",
            (_, true) => "none set",
            _ => "requests ≠ limits",
        }
    }

    fn memory_limit(&self) -> Option<u64> {
        self.running()
            .filter_map(|container| container.limits.memory_bytes)
            .reduce(u64::saturating_add)
    }
}

/// Bytes of a sum over containers; `1/2` where some have no sample.
fn total_bytes(total: &Total, now: Timestamp) -> Line {
    let mut line = bytes(&total.reading, now, Role::Text);
    if total.known > 0 && total.known < total.of {
        line.push(Span::new(format!(" {}/{}", total.known, total.of), Role::Muted));
    }
    line
}

impl<'a> Column<PodRow<'a>> for PodColumn {
    const ALL: &'static [Self] = &[
        Self::Namespace,
        Self::Name,
        Self::Ready,
        Self::State,
        Self::Restarts,
        Self::Cpu,
        Self::CpuMax,
        Self::Commit,
        Self::WorkingSet,
        Self::Node,
        Self::Os,
        Self::Ip,
        Self::Age,
        Self::Owner,
        Self::Requests,
        Self::Limits,
        Self::Resources,
    ];
    const OWN_ORDER: Option<(Self, Direction)> = None;

    #[expect(clippy::too_many_lines, reason = "one entry a column")]
    fn head(self) -> Head {
        use Align::{Left, Right};
        const TEXT: &[Unit] = &[];
        let (id, title, align, width, priority, units, doc): HeadParts = match self {
            Self::Namespace => (
                "namespace",
                "NAMESPACE",
                Left,
                (8, NAMESPACE_CELLS),
                200,
                TEXT,
                "Namespace of the pod",
            ),
            Self::Name => (
                "name",
                "NAME",
                Left,
                (18, NAME_CELLS),
                255,
                TEXT,
                "Name of the Pod object",
            ),
            Self::Ready => (
                "ready",
                "READY",
                Right,
                (5, 5),
                210,
                TEXT,
                "Ready containers of all, as kubectl counts them",
            ),
            Self::State => (
                "state",
                "STATE",
                Left,
                (9, 26),
                250,
                TEXT,
                "kubectl's STATUS word: ▲ on its way, ✖ needs you",
            ),
            Self::Restarts => (
                "restarts",
                "↻",
                Right,
                (3, 8),
                190,
                &[Unit::Count],
                "Restarts of the containers, and how long ago the last one was",
            ),
            Self::Cpu => (
                "cpu",
                "CPU",
                Right,
                (5, 8),
                180,
                &[Unit::Cores, Unit::Percent],
                "CPU in use, cores; compared in percent: part of one core",
            ),
            Self::CpuMax => (
                "cpu-max",
                "CPU MAX",
                Right,
                (12, 14),
                170,
                &[Unit::Count, Unit::Percent],
                "What the CPU limits became on Windows: ten-thousandths of the node (10 × millicores ÷ CPUs), a hard ceiling",
            ),
            Self::Commit => (
                "commit",
                "COMMIT ÷ LIMIT",
                Left,
                (16, 28),
                240,
                &[Unit::Percent, Unit::Bytes],
                "Committed memory ÷ limit of the container nearest to its limit, then the pod's commit: amber from 80 %, red from 90 %",
            ),
            Self::WorkingSet => (
                "ws",
                "WS",
                Right,
                (5, 9),
                185,
                &[Unit::Bytes],
                "Working set: what kubectl top shows; no limit looks at it",
            ),
            Self::Node => (
                "node",
                "NODE",
                Left,
                (10, NODE_CELLS),
                160,
                TEXT,
                "Node the pod is bound to",
            ),
            Self::Os => ("os", "OS", Left, (3, 3), 70, TEXT, "Operating system: win or lin"),
            Self::Ip => ("ip", "IP", Left, (9, 39), 60, TEXT, "Address of the pod"),
            Self::Age => (
                "age",
                "AGE",
                Right,
                (4, 6),
                90,
                &[Unit::Duration],
                "Age of the Pod object",
            ),
            Self::Owner => (
                "owner",
                "OWNER",
                Left,
                (8, 44),
                50,
                TEXT,
                "The controller that owns the pod",
            ),
            Self::Requests => (
                "requests",
                "REQUESTS",
                Left,
                (8, 16),
                40,
                TEXT,
                "Requests, CPU / memory: only the scheduler reads them, they reach nothing in the Windows kernel",
            ),
            Self::Limits => (
                "limits",
                "LIMITS",
                Left,
                (8, 16),
                45,
                &[Unit::Bytes],
                "Limits, CPU / memory; compared and sorted by memory",
            ),
            Self::Resources => (
                "resources",
                "RESOURCES",
                Left,
                (8, 17),
                30,
                TEXT,
                "Whether requests equal limits (what makes the QoS class; it has no effect in the Windows kernel)",
            ),
        };
        let wide = matches!(
            self,
            Self::Os | Self::Ip | Self::Age | Self::Owner | Self::Requests | Self::Limits | Self::Resources
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

    fn cell(self, row: &PodRow<'a>) -> Line {
        let pod = row.pod.row;
        let now = row.joins.now;
        let name = |text: &str, cells: u16| plain(elide(&sanitise(text), cells.into()), Role::Text);
        match self {
            Self::Namespace => name(&pod.namespace, NAMESPACE_CELLS),
            Self::Name => name(&pod.name, NAME_CELLS),
            Self::Ready => row.ready_cell(),
            Self::State => row.state_cell(),
            Self::Restarts => row.restarts_cell(),
            Self::Cpu => {
                let cpu = row.total(ContainerQuantity::CpuCores).reading;
                reading(&cpu, now, Role::Text, |cores| format!("{cores:.2}"))
            }
            Self::CpuMax => row.cpu_maximum_cell(),
            Self::Commit => row.commit_cell(),
            Self::WorkingSet => total_bytes(&row.total(ContainerQuantity::WorkingSet), now),
            Self::Node => match &pod.node {
                Some(node) => name(node, NODE_CELLS),
                None => absent(),
            },
            Self::Os => super::cells::os(row.joins.cluster.os_of(pod)),
            Self::Ip => address(pod.ip),
            Self::Age => age(pod.created_at, now),
            Self::Limits => text_or_dash(Some(&row.amounts(|container| container.limits))),
            Self::Owner | Self::Requests | Self::Resources => text_or_dash(self.text(row).as_deref()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes are compared with three digits")]
    fn number(self, row: &PodRow<'a>, unit: Unit) -> Option<f64> {
        let value = |reading: Reading<f64>| reading.value().copied();
        match (self, unit) {
            (Self::Restarts, Unit::Count) => Some(f64::from(row.pod.restarts)),
            (Self::Cpu, Unit::Cores | Unit::Percent) => value(row.total(ContainerQuantity::CpuCores).reading),
            (Self::CpuMax, Unit::Count | Unit::Percent) => match row.cpu_maximum() {
                PodCpuMaximum::Ceiling(sum) if unit == Unit::Percent => Some(f64::from(sum) / 10_000.0),
                PodCpuMaximum::Ceiling(sum) => Some(f64::from(sum)),
                PodCpuMaximum::NoLimit | PodCpuMaximum::Absent(_) => None,
            },
            (Self::Commit, Unit::Percent) => value(row.joins.worst_commit(row.pod)),
            (Self::Commit, Unit::Bytes) => value(row.total(ContainerQuantity::Commit).reading),
            (Self::WorkingSet, Unit::Bytes) => value(row.total(ContainerQuantity::WorkingSet).reading),
            (Self::Age, Unit::Duration) => row.pod.created_at.map(|at| elapsed(row.joins.now - at)),
            (Self::Limits, Unit::Bytes) => row.memory_limit().map(|limit| limit as f64),
            _ => None,
        }
    }

    fn text<'r>(self, row: &'r PodRow<'a>) -> Option<Cow<'r, str>> {
        let pod = row.pod.row;
        let text: Cow<'r, str> = match self {
            Self::Namespace => sanitise(&pod.namespace),
            Self::Name => sanitise(&pod.name),
            Self::Ready => format!("{}/{}", pod.ready, pod.ready_of).into(),
            Self::State => sanitise(&pod.state),
            Self::Node => sanitise(pod.node.as_ref()?),
            Self::Os => match row.joins.cluster.os_of(pod)? {
                Os::Windows => "windows".into(),
                Os::Linux => "linux".into(),
            },
            Self::Ip => pod.ip?.to_string().into(),
            Self::Owner => {
                let owner = pod.owner.as_ref()?;
                let text = format!("{}/{}", owner.kind, owner.name);
                sanitise(&text).into_owned().into()
            }
            Self::Requests => row.amounts(|container| container.requests).into(),
            Self::Resources => row.resources().into(),
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }
}

impl TableRow for PodRow<'_> {
    type Column = PodColumn;

    fn key(&self) -> RowKey {
        RowKey::Pod {
            namespace: self.pod.namespace.clone(),
            name: self.pod.name.clone(),
            uid: self.pod.uid.clone(),
        }
    }

    fn os(&self) -> Option<Os> {
        self.joins.cluster.os_of(&self.pod)
    }

    fn now(&self) -> Timestamp {
        self.joins.now
    }

    fn any_word(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        test(&self.pod.name)
            || test(&self.pod.namespace)
            || self.pod.node.as_ref().is_some_and(|node| test(node))
            || test(&self.pod.state)
    }

    fn summands(&self) -> [Summand; SUMS] {
        [ContainerQuantity::Commit, ContainerQuantity::WorkingSet].map(|quantity| {
            let total = self.total(quantity);
            match (total.reading.value(), total.reading.absence()) {
                (Some(bytes), _) if total.known == total.of => Summand::Value(whole(*bytes)),
                // Nothing runs, so nothing is missing.
                (None, _) if total.of == 0 => Summand::None,
                (None, Some(Absence::NotOnThisOs)) => Summand::None,
                _ => Summand::Absent,
            }
        })
    }
}
