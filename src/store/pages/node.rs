//! The page of a node.

use super::{events_section, labelled, lines, measured, silence, table, undrained, working_set_line};
use crate::domain::measurement::{NodeQuantity, Sample, ServiceState};
use crate::domain::memory::{EVICTION_LINE_BYTES, beyond_eviction_line, commit_severity};
use crate::domain::node::{ConditionStatus, Node, NodeDetail};
use crate::domain::object::Os;
use crate::domain::pod::Pod;
use crate::domain::reading::Reading;
use crate::domain::severity::Severity;
use crate::domain::text::sanitise;
use crate::domain::{Name, Timestamp, format};
use crate::sources::event::{Detail, DetailKey, Watched};
use crate::store::Store;
use crate::store::columns::Column;
use crate::store::columns::cells::{
    ABSENT, absent, bar, gauge, glyph_of, plain, reading, role_at, role_of, text_or_dash, whole,
};
use crate::store::columns::nodes::{NodeColumn, NodeRow};
use crate::store::columns::pods::{PodColumn, PodRow};
use crate::store::facts::NodeFacts;
use crate::store::fold::At;
use crate::store::join::Joins;
use crate::store::view::{Align, Body, Line, Page, Role, Section, Series, Span};

const BAR_CELLS: u16 = 20;

impl Store {
    /// The page of a node; `None` if there is no such node.
    pub fn node_page(&self, name: &Name, now: Timestamp) -> Option<Page> {
        let node = self.cluster.node(name)?;
        let joins = self.joins(now);
        let facts = joins.node_facts(node);
        let windows = node.os == Some(Os::Windows);
        let detail = self.node_detail(name);
        let mut sections: Vec<Section> = [undrained::section(joins, node), silence::section(joins, node)]
            .into_iter()
            .flatten()
            .collect();
        sections.push(lines("memory and CPU", gauges(&facts, node, now)));
        if windows {
            sections.push(last_hour(joins, &facts, node));
            sections.push(services(&facts, now));
        }
        sections.push(conditions(node, now));
        if windows {
            sections.push(self.host_process_pods(joins, name));
        }
        sections.push(csi_drivers(&detail));
        sections.extend(self.smb_of_node(name, now));
        sections.push(self.pods_section(joins, name));
        sections.push(images(&detail));
        if windows {
            sections.push(self.event_log_section(name, None, now));
        }
        let events = self.cluster.events.about("Node", None, name);
        let absence = self
            .cluster
            .watch_absence(Watched::Events)
            .map(|reason| reason.to_string());
        sections.push(events_section(events, absence, now));
        Some(Page {
            title: title(NodeRow { joins, node }),
            sections,
        })
    }

    /// What was fetched for the page: `Ok(None)` while it is on its way.
    fn node_detail(&self, name: &Name) -> Result<Option<&NodeDetail>, &str> {
        match self.detail(&DetailKey::Node(name.clone())) {
            Some(Ok(Detail::Node(detail))) => Ok(Some(detail)),
            Some(Ok(Detail::Pod(_) | Detail::Yaml(_))) | None => Ok(None),
            Some(Err(problem)) => Err(problem),
        }
    }

    fn host_process_pods(&self, joins: Joins<'_>, node: &Name) -> Section {
        let pods = self.cluster.pods_of(node);
        let rows = pods
            .into_iter()
            .filter(|pod| pod.host_process)
            .map(|pod| {
                pod_cells(
                    joins,
                    pod,
                    &[
                        PodColumn::Namespace,
                        PodColumn::Name,
                        PodColumn::Ready,
                        PodColumn::State,
                        PodColumn::Restarts,
                        PodColumn::Age,
                    ],
                )
            })
            .collect();
        let heads = vec![
            ("NAMESPACE", Align::Left),
            ("NAME", Align::Left),
            ("READY", Align::Right),
            ("STATE", Align::Left),
            ("↻", Align::Right),
            ("AGE", Align::Right),
        ];
        let empty = self.pods_absence().unwrap_or_else(|| "none".into());
        table("HostProcess pods", heads, rows, empty)
    }

    fn pods_section(&self, joins: Joins<'_>, node: &Name) -> Section {
        let windows = self
            .cluster
            .node(node)
            .is_some_and(|node| node.os == Some(Os::Windows));
        let mut columns = vec![
            PodColumn::Namespace,
            PodColumn::Name,
            PodColumn::Ready,
            PodColumn::State,
            PodColumn::Restarts,
            PodColumn::Cpu,
        ];
        if windows {
            columns.extend([PodColumn::CpuMax, PodColumn::Commit]);
        }
        columns.push(PodColumn::WorkingSet);
        let rows = self
            .cluster
            .pods_of(node)
            .into_iter()
            .map(|pod| pod_cells(joins, pod, &columns))
            .collect();
        let heads = columns
            .iter()
            .map(|column| Column::<PodRow<'_>>::head(*column))
            .map(|head| (head.title, head.align))
            .collect();
        let empty = self.pods_absence().unwrap_or_else(|| "none".into());
        table("pods", heads, rows, empty)
    }

    fn pods_absence(&self) -> Option<String> {
        self.cluster
            .watch_absence(Watched::Pods)
            .map(|reason| reason.to_string())
    }
}

fn pod_cells(joins: Joins<'_>, pod: At<'_, Pod>, columns: &[PodColumn]) -> Vec<Line> {
    let row = PodRow { joins, pod };
    columns.iter().map(|column| column.cell(&row)).collect()
}

/// `k8s-lab-win-1  Ready   Windows Server 2025 10.0.26100.33438   kubelet v1.37.2 …`.
fn title(row: NodeRow<'_>) -> Line {
    let node = row.node;
    let mut line = plain(format!("{}  ", sanitise(&node.name)), Role::Title);
    line.extend(NodeColumn::State.cell(&row));
    let version = crate::store::cluster::windows_version(node);
    let product = match version.and_then(|version| version.build.product()) {
        Some(product) => product.to_owned(),
        None => sanitise(&node.os_image).into_owned(),
    };
    let parts = [
        product,
        sanitise(&node.kernel_version).into_owned(),
        format!("kubelet {}", sanitise(&node.kubelet_version)),
        sanitise(&node.container_runtime).into_owned(),
        node.internal_ips
            .first()
            .map(ToString::to_string)
            .unwrap_or_default(),
        node.roles.join(","),
    ];
    for part in parts.iter().filter(|part| !part.is_empty()) {
        line.push(Span::new(format!("   {}", sanitise(part)), Role::Muted));
    }
    line
}

fn gauges(facts: &NodeFacts, node: &Node, now: Timestamp) -> Vec<Line> {
    let mut page = Vec::new();
    if node.os == Some(Os::Windows) {
        page.extend(commit_lines(facts, now));
    }
    page.push(working_set_line(&facts.working_set, now));
    page.push(labelled(
        "CPU",
        measured(&facts.cpu_ratio, now, |ratio| {
            let mut line = bar(*ratio, BAR_CELLS, role_at(&facts.cpu_ratio, now, Role::Series2));
            line.push(Span::new(format!(" {:>6}", format::percent(*ratio)), Role::Text));
            if let Some(millicores) = node.capacity.cpu_millicores {
                let cpus = crate::domain::cpu_maximum::cpu_text(millicores);
                line.push(Span::new(format!(" of {cpus} CPUs"), Role::Muted));
            }
            line
        }),
    ));
    if node.os == Some(Os::Windows) {
        page.push(labelled(
            "C: free",
            measured(&facts.system_disk_free, now, |ratio| {
                plain(format::percent(*ratio), Role::Text)
            }),
        ));
    }
    page.push(labelled("boot", boot(facts, now)));
    page.push(labelled("lease", lease(facts)));
    if node.unschedulable {
        page.push(labelled("cordoned", cordoned(node, now)));
    }
    page
}

/// By whom, as far as the API server tells, and since when at the latest.
fn cordoned(node: &Node, now: Timestamp) -> Line {
    let Some(by) = &node.cordoned_by else {
        return vec![
            Span::new(ABSENT, Role::Absent),
            Span::new(
                "  by whom is not known: its managedFields do not tell",
                Role::Muted,
            ),
        ];
    };
    let mut line = plain(format!("by {}", sanitise(&by.manager)), Role::Warn);
    line.push(match by.at {
        Some(at) => Span::new(
            format!(
                "   {} or earlier: its last change of the node was at {}",
                format::ago((now - at).num_seconds()),
                at.format("%Y-%m-%d %H:%M:%S UTC")
            ),
            Role::Muted,
        ),
        None => Span::new("   since when is not known", Role::Muted),
    });
    line
}

/// Commit against its limit, what is left before the kubelet evicts, and what the limit is made of.
fn commit_lines(facts: &NodeFacts, now: Timestamp) -> Vec<Line> {
    let limit = facts.commit_limit.value().copied();
    let commit = measured(&facts.commit, now, |commit| {
        let mut line = plain(format::bytes_long(whole(*commit)), Role::Text);
        if let Some(limit) = limit {
            line.push(Span::new(
                format!(" of {}  ", format::bytes_long(whole(limit))),
                Role::Muted,
            ));
            line.extend(gauge(&facts.commit_ratio, now, commit_severity, BAR_CELLS));
        }
        line.push(Span::new("  charged against the limit", Role::Muted));
        line
    });
    let left = measured(&facts.commit_left, now, |left| {
        let severity = if beyond_eviction_line(*left) {
            Severity::Critical
        } else {
            Severity::Fine
        };
        let mut line = plain(format::bytes_long(whole(*left)), role_of(severity, Role::Text));
        if let Some(glyph) = glyph_of(severity) {
            line.push(Span::new(format!(" {glyph}"), Role::Error));
        }
        line.push(Span::new(
            format!(
                "  eviction line at {} left",
                format::bytes_long(EVICTION_LINE_BYTES)
            ),
            Role::Muted,
        ));
        line
    });
    let page_file = measured(&facts.page_file, now, |bytes| {
        vec![
            Span::new(format!("≈ {}", format::bytes_long(whole(*bytes))), Role::Text),
            Span::new("  (commit limit − RAM)", Role::Muted),
        ]
    });
    vec![
        labelled("commit", commit),
        labelled("commit left", left),
        labelled("page file", page_file),
    ]
}

fn boot(facts: &NodeFacts, now: Timestamp) -> Line {
    let id = sanitise(&facts.boot_id);
    let mut line = text_or_dash(Some(&id));
    if facts.os == Some(Os::Windows) {
        line.push(Span::new("   up ", Role::Muted));
        line.extend(measured(&facts.booted_at, now, |at| {
            let up = format::kubectl_duration((now - *at).num_seconds().max(0));
            vec![
                Span::new(up, Role::Text),
                Span::new(
                    format!(" since {}", at.format("%Y-%m-%d %H:%M:%S UTC")),
                    Role::Muted,
                ),
            ]
        }));
    }
    line
}

fn lease(facts: &NodeFacts) -> Line {
    match &facts.lease_age_seconds {
        Ok(age) => vec![
            Span::new(format!("{age} s"), Role::Text),
            Span::new(
                "  since its renewal was seen; usual is up to 10 s, the node is given up at 40 s",
                Role::Muted,
            ),
        ],
        Err(reason) => measured(
            &Reading::<f64>::Absent(reason.clone()),
            Timestamp::UNIX_EPOCH,
            |_| absent(),
        ),
    }
}

/// One hour of commit and CPU, both as parts of all.
fn last_hour(joins: Joins<'_>, facts: &NodeFacts, node: &Node) -> Section {
    let now = joins.now;
    let commit = joins.history(&node.name, NodeQuantity::Commit);
    let limit = joins.history(&node.name, NodeQuantity::CommitLimit);
    let cpu = joins.history(&node.name, NodeQuantity::CpuRatio);
    let newest = |ratio: &Reading<f64>| match ratio.absence() {
        Some(reason) => vec![
            Span::new("– ", Role::Absent),
            Span::new(sanitise(&reason.to_string()).into_owned(), Role::Muted),
        ],
        None => reading(ratio, now, Role::Text, |ratio| format::percent(*ratio)),
    };
    let series = vec![
        Series {
            label: "commit, part of the limit".to_owned(),
            role: Role::Series1,
            points: ratios(commit, limit),
            bounds: (0.0, 1.0),
            now: newest(&facts.commit_ratio),
        },
        Series {
            label: "CPU, part of the node".to_owned(),
            role: Role::Series2,
            points: cpu.iter().map(|point| (point.at, point.value)).collect(),
            bounds: (0.0, 1.0),
            now: newest(&facts.cpu_ratio),
        },
    ];
    Section {
        title: "last hour".to_owned(),
        body: Body::Chart(series),
    }
}

/// Commit ÷ limit at each time for which both are known: the limit moves with the page file.
fn ratios(commit: &[Sample], limit: &[Sample]) -> Vec<(Timestamp, f64)> {
    commit
        .iter()
        .filter_map(|point| {
            let index = limit.binary_search_by_key(&point.at, |limit| limit.at).ok()?;
            let limit = limit[index].value;
            (limit > 0.0).then_some((point.at, point.value / limit))
        })
        .collect()
}

fn services(facts: &NodeFacts, now: Timestamp) -> Section {
    let rows = facts
        .services
        .iter()
        .map(|(name, reading)| {
            let state = measured(reading, now, |service| {
                let severity = match service.state {
                    ServiceState::Running => Severity::Fine,
                    ServiceState::StartPending
                    | ServiceState::StopPending
                    | ServiceState::ContinuePending => Severity::Warning,
                    ServiceState::Stopped | ServiceState::Paused | ServiceState::PausePending => {
                        Severity::Critical
                    }
                };
                let glyph = glyph_of(severity).unwrap_or("●");
                plain(
                    format!("{glyph} {}", service.state.name()),
                    role_of(severity, Role::Ok),
                )
            });
            let started = reading.value().and_then(|service| service.started_at);
            let since = started.map(|at| format::kubectl_duration((now - at).num_seconds().max(0)));
            vec![plain(*name, Role::Text), state, text_or_dash(since.as_deref())]
        })
        .collect();
    let heads = vec![
        ("SERVICE", Align::Left),
        ("STATE", Align::Left),
        ("UP", Align::Right),
    ];
    table("services", heads, rows, "")
}

fn conditions(node: &Node, now: Timestamp) -> Section {
    let rows = node
        .conditions
        .iter()
        .map(|condition| {
            let good = if &*condition.kind == "Ready" {
                ConditionStatus::True
            } else {
                ConditionStatus::False
            };
            let (word, severity) = match condition.status {
                status if status == good => (status_word(status), Severity::Fine),
                ConditionStatus::Unknown => ("Unknown", Severity::Critical),
                status if &*condition.kind == "Ready" => (status_word(status), Severity::Critical),
                status => (status_word(status), Severity::Warning),
            };
            let glyph = glyph_of(severity)
                .map(|glyph| format!(" {glyph}"))
                .unwrap_or_default();
            let since = condition
                .since
                .map(|at| format::kubectl_duration((now - at).num_seconds().max(0)));
            vec![
                plain(sanitise(&condition.kind), Role::Text),
                plain(format!("{word}{glyph}"), role_of(severity, Role::Ok)),
                text_or_dash(since.as_deref()),
                plain(sanitise(&condition.reason), Role::Text),
                plain(sanitise(&condition.message), Role::Muted),
            ]
        })
        .collect();
    let heads = vec![
        ("CONDITION", Align::Left),
        ("STATUS", Align::Left),
        ("SINCE", Align::Right),
        ("REASON", Align::Left),
        ("MESSAGE", Align::Left),
    ];
    table("conditions", heads, rows, "the node reports none")
}

const fn status_word(status: ConditionStatus) -> &'static str {
    match status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    }
}

type Fetched<'a> = Result<Option<&'a NodeDetail>, &'a str>;

fn csi_drivers(detail: &Fetched<'_>) -> Section {
    let title = "registered CSI drivers";
    let line = match detail {
        Err(problem) => plain(sanitise(problem), Role::Warn),
        Ok(None) => plain("being fetched…", Role::Muted),
        Ok(Some(detail)) => match &detail.csi_drivers {
            None => plain("not known: csinodes could not be read", Role::Muted),
            Some(drivers) if drivers.is_empty() => plain("none", Role::Muted),
            Some(drivers) => plain(sanitise(&drivers.join("  ")), Role::Text),
        },
    };
    lines(title, vec![line])
}

fn images(detail: &Fetched<'_>) -> Section {
    let (images, empty) = match detail {
        Err(problem) => (&[][..], (*problem).to_owned()),
        Ok(None) => (&[][..], "being fetched…".to_owned()),
        Ok(Some(detail)) => (&detail.images[..], "the node reports none".to_owned()),
    };
    let mut images: Vec<&(Name, u64)> = images.iter().collect();
    images.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rows = images
        .into_iter()
        .map(|(name, size)| {
            vec![
                plain(format::bytes_short(*size), Role::Text),
                plain(sanitise(name), Role::Text),
            ]
        })
        .collect();
    let heads = vec![("SIZE", Align::Right), ("IMAGE", Align::Left)];
    table("images (the kubelet reports at most 50)", heads, rows, empty)
}
