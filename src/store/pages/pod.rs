//! The page of a pod.

use super::{events_section, labelled, lines, measured, table, working_set_line};
use crate::domain::cpu_maximum::{CpuMaximum, cpu_text};
use crate::domain::memory::commit_severity;
use crate::domain::object::Os;
use crate::domain::pod::{
    Container, ContainerDetail, ContainerKind, ContainerState, Pod, PodDetail, Resources, Termination,
};
use crate::domain::reading::Absence;
use crate::domain::severity::Severity;
use crate::domain::text::sanitise;
use crate::domain::{Name, Timestamp, exit_code, format};
use crate::sources::event::{Detail, DetailKey, Watched};
use crate::store::Store;
use crate::store::columns::cells::{ABSENT, gauge, plain, role_of, whole};
use crate::store::columns::pods::{PodColumn, PodRow};
use crate::store::columns::{Column, cells};
use crate::store::facts::ContainerFacts;
use crate::store::fold::At;
use crate::store::join::Joins;
use crate::store::view::{Align, Line, Page, Role, Section, Span};
use std::fmt::Write as _;

const BAR_CELLS: u16 = 10;

type Fetched<'a> = Result<Option<&'a PodDetail>, &'a str>;

impl Store {
    /// The page of a pod; `None` if there is no such pod.
    pub fn pod_page(&self, namespace: &Name, name: &Name, now: Timestamp) -> Option<Page> {
        let pod = self.cluster.pod(&(Some(namespace.clone()), name.clone()))?;
        let joins = self.joins(now);
        let detail: Fetched<'_> = match self.detail(&DetailKey::Pod(namespace.clone(), name.clone())) {
            Some(Ok(Detail::Pod(detail))) => Ok(Some(detail)),
            Some(Ok(Detail::Node(_) | Detail::Yaml(_))) | None => Ok(None),
            Some(Err(problem)) => Err(problem),
        };
        let mut sections: Vec<Section> = self.smb_of_pod(namespace, name).into_iter().collect();
        let containers = pod.row.containers.iter();
        sections.extend(containers.map(|container| container_section(joins, pod, container, &detail)));
        sections.push(pod_section(joins, pod, &detail));
        sections.push(self.volumes(&pod, &detail, now));
        let events = self.cluster.events.about("Pod", Some(namespace), name);
        let absence = self
            .cluster
            .watch_absence(Watched::Events)
            .map(|reason| reason.to_string());
        sections.push(events_section(events, absence, now));
        Some(Page {
            title: title(PodRow { joins, pod }),
            sections,
        })
    }
}

/// `win-demo/hello-win-…  1/1 Running  on k8s-lab-win-1`.
fn title(row: PodRow<'_>) -> Line {
    let pod = row.pod;
    let name = format!("{}/{}  ", pod.namespace, pod.name);
    let mut line = plain(sanitise(&name), Role::Title);
    line.extend(PodColumn::Ready.cell(&row));
    line.push(Span::new("  ", Role::Muted));
    line.extend(PodColumn::State.cell(&row));
    if !pod.reason.is_empty() && pod.reason != pod.state {
        line.push(Span::new(format!(" ({})", sanitise(&pod.reason)), Role::Muted));
    }
    match &pod.node {
        Some(node) => line.push(Span::new(format!("   on {}", sanitise(node)), Role::Muted)),
        None => line.push(Span::new("   not bound to a node", Role::Warn)),
    }
    if pod.host_process {
        line.push(Span::new("   HostProcess", Role::Windows));
    }
    line
}

fn container_section(
    joins: Joins<'_>,
    pod: At<'_, Pod>,
    container: &Container,
    detail: &Fetched<'_>,
) -> Section {
    let facts = joins.container_facts(pod, container);
    let now = joins.now;
    let os = joins.cluster.os_of(&pod);
    let mut page = vec![plain(sanitise(&container.image), Role::Text)];
    page[0].extend(state_spans(container, os, now));
    if os == Some(Os::Windows) {
        page.extend(what_limits_became(joins, pod, container));
        page.extend(windows_memory(&facts, pod, now));
    } else {
        page.push(labelled("limits", amounts(container.limits)));
        page.push(labelled("requests", amounts(container.requests)));
    }
    page.push(working_set_line(&facts.working_set, now));
    page.push(labelled(
        "CPU",
        measured(&facts.cpu_cores, now, |cores| {
            plain(format!("{cores:.3} cores"), Role::Text)
        }),
    ));
    if let Some(termination) = &container.last_termination {
        page.push(labelled("last run", ended(termination, os, now)));
    }
    page.extend(probes(container, detail));
    let kind = match container.kind {
        ContainerKind::Init => "init container",
        ContainerKind::Sidecar => "sidecar",
        ContainerKind::App => "container",
    };
    lines(&format!("{kind} {}", sanitise(&container.name)), page)
}

fn state_spans(container: &Container, os: Option<Os>, now: Timestamp) -> Line {
    let mut line = plain("   ", Role::Muted);
    match &container.state {
        ContainerState::Unreported => line.push(Span::new("no status yet", Role::Muted)),
        ContainerState::Waiting(reason) => {
            let severity = crate::store::columns::pods::state_severity(reason);
            let glyph = cells::glyph_of(severity).unwrap_or("");
            let text = format!("waiting: {} {glyph}", sanitise(reason));
            line.push(Span::new(text, role_of(severity, Role::Text)));
        }
        ContainerState::Running(since) => {
            let since = since.map(|at| format::spoken_age((now - at).num_seconds()));
            let since = since.map(|age| format!(" {age}")).unwrap_or_default();
            line.push(Span::new(format!("running{since}"), Role::Ok));
        }
        ContainerState::Terminated(termination) => line.extend(ended(termination, os, now)),
    }
    line.push(Span::new(format!("   ↻ {}", container.restarts), Role::Muted));
    line
}

/// How the limits and requests arrive at the Windows kernel.
fn what_limits_became(joins: Joins<'_>, pod: At<'_, Pod>, container: &Container) -> Vec<Line> {
    let cpu = match (
        container.limits.cpu_millicores.filter(|limit| *limit > 0),
        joins.cpus_of(&pod),
    ) {
        (None, _) => "cpu: no limit → may take every CPU of the node".to_owned(),
        (Some(limit), Ok(cpus)) => match CpuMaximum::arithmetic(limit, cpus) {
            Some(arithmetic) => format!("{arithmetic} of the node, a hard ceiling"),
            None => format!("cpu {} → the node reports no whole CPU", cpu_text(limit)),
        },
        (Some(limit), Err(Absence::NoSample)) => {
            format!(
                "cpu {} → depends on the CPUs of the node, which is not known yet",
                cpu_text(limit)
            )
        }
        (Some(limit), Err(reason)) => format!("cpu {} → {reason}", cpu_text(limit)),
    };
    let memory = match container.limits.memory_bytes.filter(|limit| *limit > 0) {
        Some(limit) => format!(
            "memory {} → job object commit limit {}",
            format::bytes_short(limit),
            format::grouped(limit)
        ),
        None => "memory: no limit → may take all commit of the node".to_owned(),
    };
    let unlimited = container.limits.memory_bytes.is_none_or(|limit| limit == 0);
    let memory_role = if unlimited && !pod.host_process {
        Role::Warn
    } else {
        Role::Text
    };
    let memory = if memory_role == Role::Warn {
        format!("▲ {memory}")
    } else {
        memory
    };
    let requests = if container.requests == Resources::default() {
        "no requests; they would reach nothing in the Windows kernel".to_owned()
    } else {
        format!(
            "requests {} → nothing in the Windows kernel, only the scheduler reads them",
            amounts_text(container.requests)
        )
    };
    vec![
        labelled("limits became", plain(sanitise(&cpu), Role::Text)),
        labelled("", plain(memory, memory_role)),
        labelled("", plain(requests, Role::Muted)),
    ]
}

fn windows_memory(facts: &ContainerFacts, pod: At<'_, Pod>, now: Timestamp) -> Vec<Line> {
    let commit = measured(&facts.commit, now, |commit| {
        let mut line = plain(format::bytes_long(whole(*commit)), Role::Text);
        line.push(Span::new("  ", Role::Muted));
        match facts.commit_to_limit.absence() {
            None => {
                line.extend(gauge(&facts.commit_to_limit, now, commit_severity, BAR_CELLS));
                line.push(Span::new(" of the limit", Role::Muted));
            }
            Some(Absence::NoLimit) if pod.host_process => line.push(Span::new("no limit", Role::Muted)),
            Some(Absence::NoLimit) => line.push(Span::new("▲ no limit", Role::Warn)),
            Some(_) => {}
        }
        if let Some(peak) = facts.commit_peak.value() {
            line.push(Span::new(
                format!("   peak {}", format::bytes_long(whole(*peak))),
                Role::Muted,
            ));
        }
        line
    });
    let mut page = vec![labelled("commit", commit)];
    if facts.memory_limit.is_some_and(|limit| limit > 0) {
        page.push(labelled(
            "",
            plain(
                "when commit meets the limit Windows kills nothing: allocations fail (1455), the program decides",
                Role::Muted,
            ),
        ));
    }
    page
}

fn amounts_text(resources: Resources) -> String {
    format!(
        "{} / {}",
        resources
            .cpu_millicores
            .map_or_else(|| ABSENT.to_owned(), cpu_text),
        resources
            .memory_bytes
            .map_or_else(|| ABSENT.to_owned(), format::bytes_short),
    )
}

fn amounts(resources: Resources) -> Line {
    if resources == Resources::default() {
        return plain("none", Role::Muted);
    }
    plain(amounts_text(resources), Role::Text)
}

/// `ended 3 m ago: exit 2 …, reason Error`.
fn ended(termination: &Termination, os: Option<Os>, now: Timestamp) -> Line {
    let severity = if termination.exit_code == 0 {
        Severity::Fine
    } else {
        Severity::Warning
    };
    let ago = termination
        .finished_at
        .map(|at| format::ago((now - at).num_seconds()));
    let ago = ago.map(|ago| format!(" {ago}")).unwrap_or_default();
    let mut text = format!("ended{ago}: exit {}", exit_code::text(termination.exit_code, os));
    if let Some(signal) = termination.signal.filter(|signal| *signal != 0) {
        // Writing to a String cannot fail.
        let _ = write!(text, ", signal {signal}");
    }
    if !termination.reason.is_empty() {
        let _ = write!(text, ", reason {}", sanitise(&termination.reason));
    }
    let mut line = plain(sanitise(&text), role_of(severity, Role::Text));
    if let (Some(started), Some(finished)) = (termination.started_at, termination.finished_at) {
        let ran = format::kubectl_duration((finished - started).num_seconds().max(0));
        line.push(Span::new(format!("  after {ran}"), Role::Muted));
    }
    line
}

fn probes(container: &Container, detail: &Fetched<'_>) -> Vec<Line> {
    let detail = match detail {
        Err(problem) => return vec![labelled("probes", plain(sanitise(problem), Role::Warn))],
        Ok(None) => return vec![labelled("probes", plain("being fetched…", Role::Muted))],
        Ok(Some(detail)) => detail
            .containers
            .iter()
            .find(|found| *found.name == *container.name),
    };
    let Some(ContainerDetail { probes, mounts, .. }) = detail else {
        return Vec::new();
    };
    let mut page = Vec::new();
    if probes.is_empty() && container.kind != ContainerKind::Init {
        page.push(labelled(
            "probes",
            plain("none: Running says nothing about its network", Role::Muted),
        ));
    }
    for (index, probe) in probes.iter().enumerate() {
        let label = if index == 0 { "probes" } else { "" };
        page.push(labelled(label, plain(sanitise(probe), Role::Text)));
    }
    for (index, (path, volume)) in mounts.iter().enumerate() {
        let label = if index == 0 { "mounts" } else { "" };
        let mut line = plain(sanitise(path), Role::Text);
        line.push(Span::new(format!("  from {}", sanitise(volume)), Role::Muted));
        page.push(labelled(label, line));
    }
    page
}

fn pod_section(joins: Joins<'_>, pod: At<'_, Pod>, detail: &Fetched<'_>) -> Section {
    let row = PodRow { joins, pod };
    let mut page = vec![
        labelled("age", PodColumn::Age.cell(&row)),
        labelled("restarts", PodColumn::Restarts.cell(&row)),
        labelled("address", PodColumn::Ip.cell(&row)),
        labelled("owner", PodColumn::Owner.cell(&row)),
    ];
    if let Some(runtime_class) = &pod.runtime_class {
        page.push(labelled(
            "RuntimeClass",
            plain(sanitise(runtime_class), Role::Text),
        ));
    }
    if let Ok(Some(PodDetail {
        grace_period_seconds: Some(grace),
        ..
    })) = detail
    {
        page.push(labelled("grace period", plain(format!("{grace} s"), Role::Text)));
    }
    if pod.empty_dir {
        let text = "has an emptyDir: its data is lost when the pod leaves the node";
        page.push(labelled("▲ data", plain(text, Role::Warn)));
    }
    if let Some(at) = pod.deleted_at {
        let ago = format::ago((joins.now - at).num_seconds());
        page.push(labelled(
            "deleted",
            plain(format!("its grace period ends or ended {ago}"), Role::Warn),
        ));
    }
    let labels: Vec<String> = pod
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    page.push(labelled("labels", cells::text_or_dash(Some(&labels.join("  ")))));
    lines("pod", page)
}

impl Store {
    fn volumes(&self, pod: &Pod, detail: &Fetched<'_>, now: Timestamp) -> Section {
        let (volumes, empty) = match detail {
            Err(problem) => (&[][..], (*problem).to_owned()),
            Ok(None) => (&[][..], "being fetched…".to_owned()),
            Ok(Some(detail)) => (&detail.volumes[..], "none".to_owned()),
        };
        let rows = volumes
            .iter()
            .map(|(name, what)| {
                let mut what_it_is = plain(sanitise(what), Role::Text);
                if let Some(claim) = what.strip_prefix("claim ") {
                    let mapping = self.smb_of_claim((&pod.namespace, &pod.name), claim, now);
                    what_it_is.extend(mapping.into_iter().flatten());
                }
                vec![plain(sanitise(name), Role::Text), what_it_is]
            })
            .collect();
        let heads = vec![("VOLUME", Align::Left), ("WHAT", Align::Left)];
        table("volumes", heads, rows, empty)
    }
}
