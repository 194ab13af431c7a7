//! A few lines about the selected row, below its table.

use super::{measured, undrained};
use crate::domain::cpu_maximum::CpuMaximum;
use crate::domain::measurement::{NodeQuantity, ServiceState};
use crate::domain::memory::{EVICTION_LINE_BYTES, commit_severity};
use crate::domain::node::Node;
use crate::domain::object::Os;
use crate::domain::pod::{ContainerKind, Pod};
use crate::domain::text::sanitise;
use crate::domain::{Timestamp, format};
use crate::store::Store;
use crate::store::cluster::record;
use crate::store::columns::cells::{
    ABSENT, bytes, gauge, glyph_of, plain, reading, role_of, sparkline, whole,
};
use crate::store::fold::At;
use crate::store::join::Joins;
use crate::store::view::{Line, Role, RowKey, Span};
use std::fmt::Write as _;

/// Cells of an hour.
const HOUR_CELLS: u16 = 24;

impl Store {
    /// Lines about a row; none if it is gone.
    pub fn preview(&self, key: &RowKey, now: Timestamp) -> Vec<Line> {
        let joins = self.joins(now);
        match key {
            RowKey::Node(name) => self.cluster.node(name).map(|node| {
                let mut lines = of_node(joins, node);
                if node.os == Some(Os::Windows)
                    && let Some(last) = lines.last_mut()
                {
                    last.extend(self.smb_brief(name));
                }
                lines.splice(0..0, in_work(node, now));
                lines.splice(0..0, undrained::brief(joins, node));
                lines
            }),
            RowKey::Pod { namespace, name, uid } => {
                let id = (Some(namespace.clone()), name.clone());
                let pod = self.cluster.pod(&id).filter(|pod| pod.uid == *uid);
                pod.map(|pod| of_pod(joins, pod))
            }
            RowKey::Smb { node, remote } => self.smb_preview(node, remote),
        }
        .unwrap_or_default()
    }
}

/// `⏸ update: restart   by anna@desk since 13:40:12 UTC   boot id 11 before   10.0.26100.32995 before`.
fn in_work(node: &Node, now: Timestamp) -> Option<Line> {
    let Some(record) = record(node) else {
        return cordoned(node, now);
    };
    let record = match record {
        Ok(record) => record,
        Err(error) => {
            let text = format!("▲ the record of a maintenance on the node cannot be read: {error}");
            return Some(plain(sanitise(&text), Role::Warn));
        }
    };
    let since = format::ago((now - record.started_at).num_seconds());
    let what = format!("⏸ {}: {}", record.purpose.name(), record.reached.title());
    let about = format!(
        "   begun by {} {since}   before it: boot id {}, {}",
        record.by, record.boot_id, record.kernel_version
    );
    Some(vec![
        Span::new(what, Role::Warn),
        Span::new(sanitise(&about).into_owned(), Role::Text),
    ])
}

/// `⏸ cordoned by kubectl-cordon, at least 3 m ago: no new pods come`.
fn cordoned(node: &Node, now: Timestamp) -> Option<Line> {
    if !node.unschedulable {
        return None;
    }
    let by = node.cordoned_by.as_ref().map_or_else(String::new, |by| {
        let since = by.at.map_or_else(String::new, |at| {
            format!(", {}", format::ago((now - at).num_seconds()))
        });
        format!(" by {}{since}", sanitise(&by.manager))
    });
    Some(vec![
        Span::new(format!("⏸ cordoned{by}"), Role::Warn),
        Span::new(": no new pods come until it is uncordoned", Role::Text),
    ])
}

/// `commit 5.0 GiB of 16 GiB (31 %, charged)   working set 2.4 GiB   page file ≈ 8.0 GiB …`, the services, the hour.
fn of_node(joins: Joins<'_>, node: &Node) -> Vec<Line> {
    let now = joins.now;
    let facts = joins.node_facts(node);
    if node.os != Some(Os::Windows) {
        let mut line = plain("working set ", Role::Muted);
        line.extend(bytes(&facts.working_set, now, Role::Text));
        line.push(Span::new("   CPU ", Role::Muted));
        line.extend(reading(&facts.cpu_ratio, now, Role::Text, |ratio| {
            format::percent(*ratio)
        }));
        line.extend(cpus(node));
        line.push(Span::new(format!("   {}", sanitise(&node.os_image)), Role::Muted));
        return vec![line];
    }
    let mut first = plain("commit ", Role::Muted);
    first.extend(measured_without_source(&facts.commit, |commit| {
        let mut text = format::bytes_long(whole(commit));
        if let (Some(limit), Some(ratio)) = (facts.commit_limit.value(), facts.commit_ratio.value()) {
            let limit = format::bytes_long(whole(*limit));
            // Writing to a String cannot fail.
            let _ = write!(text, " of {limit} ({}, charged)", format::percent(*ratio));
        }
        let severity = facts
            .commit_ratio
            .value()
            .map(|ratio| commit_severity(*ratio))
            .unwrap_or_default();
        plain(text, role_of(severity, Role::Text))
    }));
    first.push(Span::new("   working set ", Role::Muted));
    first.extend(reading(&facts.working_set, now, Role::Text, |value| {
        format::bytes_long(whole(*value))
    }));
    first.push(Span::new("   page file ", Role::Muted));
    first.extend(reading(&facts.page_file, now, Role::Text, |value| {
        format!("≈ {} (limit − RAM)", format::bytes_long(whole(*value)))
    }));
    first.extend(cpus(node));
    let line = format::bytes_long(EVICTION_LINE_BYTES);
    first.push(Span::new(format!("   eviction line at {line} left"), Role::Muted));
    let mut services = plain("services ", Role::Muted);
    for (service, state) in &facts.services {
        let (glyph, role) = match state.value().map(|found| found.state) {
            Some(ServiceState::Running) => ("●", Role::Ok),
            Some(ServiceState::Stopped | ServiceState::Paused) => ("✖", Role::Error),
            Some(_) => ("▲", Role::Warn),
            None => (ABSENT, Role::Absent),
        };
        services.push(Span::new(format!("  {service} "), Role::Muted));
        services.push(Span::new(glyph, role));
    }
    let mut hour = plain("last hour  commit ", Role::Muted);
    let scale = facts.commit_limit.value().copied().unwrap_or(1.0);
    for (label, quantity, scale, role) in [
        ("", NodeQuantity::Commit, scale, Role::Series1),
        ("   CPU ", NodeQuantity::CpuRatio, 1.0, Role::Series2),
    ] {
        hour.push(Span::new(label, Role::Muted));
        match joins.history(&node.name, quantity) {
            [] => hour.push(Span::new(ABSENT, Role::Absent)),
            points => hour.push(Span::new(sparkline(points, now, HOUR_CELLS, scale), role)),
        }
    }
    vec![first, services, hour]
}

fn measured_without_source(
    reading: &crate::domain::reading::Reading<f64>,
    value: impl FnOnce(f64) -> Line,
) -> Line {
    match reading.value() {
        Some(held) => value(*held),
        None => measured(reading, Timestamp::UNIX_EPOCH, |_| Line::new()),
    }
}

fn cpus(node: &Node) -> Line {
    match node.capacity.cpu_millicores {
        Some(millicores) => {
            let cpus = crate::domain::cpu_maximum::cpu_text(millicores);
            plain(format!("   {cpus} CPUs"), Role::Muted)
        }
        None => Line::new(),
    }
}

/// A line for each container.
fn of_pod(joins: Joins<'_>, pod: At<'_, Pod>) -> Vec<Line> {
    let now = joins.now;
    let windows = joins.cluster.os_of(&pod) == Some(Os::Windows);
    pod.containers
        .iter()
        .filter(|container| container.kind != ContainerKind::Init)
        .map(|container| {
            let facts = joins.container_facts(pod, container);
            let mut line = plain(format!("{}  ", sanitise(&container.name)), Role::Text);
            if windows {
                line.push(Span::new("commit ", Role::Muted));
                line.extend(bytes(&facts.commit, now, Role::Text));
                line.push(Span::new(" ", Role::Muted));
                match &facts.commit_to_limit {
                    ratio if ratio.value().is_some() => line.extend(gauge(ratio, now, commit_severity, 10)),
                    _ if container.limits.memory_bytes.is_none() => {
                        line.push(Span::new("no limit", Role::Warn));
                    }
                    _ => {}
                }
            }
            line.push(Span::new("   working set ", Role::Muted));
            line.extend(bytes(&facts.working_set, now, Role::Text));
            if let (true, Ok(cpus), Some(limit)) =
                (windows, joins.cpus_of(&pod), container.limits.cpu_millicores)
            {
                let arithmetic = CpuMaximum::arithmetic(limit, cpus).unwrap_or_default();
                line.push(Span::new(format!("   {arithmetic}"), Role::Muted));
            }
            if let Some(last) = &container.last_termination {
                let code = crate::domain::exit_code::text(last.exit_code, joins.cluster.os_of(&pod));
                let glyph = glyph_of(crate::domain::severity::Severity::Warning).unwrap_or_default();
                line.push(Span::new(
                    format!("   {glyph} last exit {}", sanitise(&code)),
                    Role::Warn,
                ));
            }
            line
        })
        .collect()
}
