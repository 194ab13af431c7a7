//! The report of a maintenance: steps, times, pods, who, revisions before and after. Built from the events of the
//! journal, so that it covers every run of the program that had a part in it.

use super::journal;
use super::session::Session;
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::{Ending, Event, Happening};
use crate::maintenance::options::Purpose;
use crate::maintenance::round::event::{RoundEvent, RoundHappening};
use crate::maintenance::round::plan::Plan;
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The node.
    pub node: Name,
    /// Who started it.
    pub by: String,
    /// Names the maintenance.
    pub id: String,
    /// What for.
    pub purpose: &'static str,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended; `None` while it is under way.
    pub ending: Option<Ending>,
    /// Why, where it did not end well.
    pub reason: String,
    /// Kernel version before and after; `None` where the node did not restart.
    pub revision: Option<(Name, Name)>,
    /// Boot id before and after.
    pub boot_id: Option<(Name, Name)>,
    /// Pods that left, with the seconds that took.
    pub pods: Vec<(String, Option<f64>)>,
    /// Everything that happened, oldest first.
    pub events: Vec<Event>,
}

impl Report {
    /// The report of this maintenance with these events, oldest first; how it ended is in the last one.
    pub fn new(
        node: Name,
        id: String,
        by: String,
        purpose: Purpose,
        started_at: Timestamp,
        events: Vec<Event>,
    ) -> Self {
        let (ending, reason) = match events.last().map(|event| &event.what) {
            Some(Happening::Done { .. }) => (Some(Ending::Done), String::new()),
            Some(Happening::Failed { ending, reason, .. }) => (Some(*ending), reason.clone()),
            _ => (None, String::new()),
        };
        let mut report = Self {
            node,
            by,
            id,
            purpose: purpose.name(),
            started_at,
            ended_at: events.last().map(|event| event.at),
            ending,
            reason,
            revision: None,
            boot_id: None,
            pods: Vec::new(),
            events: Vec::new(),
        };
        for event in &events {
            match &event.what {
                Happening::Revision { before, after, .. } => {
                    report.revision = Some((before.clone(), after.clone()));
                }
                Happening::BootIdChanged { before, after, .. } => {
                    let first = report
                        .boot_id
                        .take()
                        .map_or_else(|| before.clone(), |(first, _)| first);
                    report.boot_id = Some((first, after.clone()));
                }
                Happening::Evicted { pod, seconds } => report.pods.push((pod.to_string(), *seconds)),
                _ => {}
            }
        }
        report.events = events;
        report
    }

    /// What the session did, in this and earlier runs of the program.
    ///
    /// # Errors
    /// Its journal cannot be read.
    pub fn of(session: &Session) -> io::Result<Option<Self>> {
        let Some(state) = session.state() else {
            return Ok(None);
        };
        let (node, id, by) = (state.node.clone(), state.id.clone(), state.by.clone());
        let events = session.history()?;
        Ok(Some(Self::new(
            node,
            id,
            by,
            state.options.purpose,
            state.started_at,
            events,
        )))
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# Maintenance of {}\n", self.node);
        let _ = writeln!(text, "| | |\n|---|---|");
        let _ = writeln!(text, "| purpose | {} |", self.purpose);
        let _ = writeln!(text, "| by | {} |", self.by);
        let _ = writeln!(text, "| started | {} |", clock(self.started_at));
        if let Some(ended) = self.ended_at {
            let took = ended - self.started_at;
            let _ = writeln!(text, "| ended | {} ({} s) |", clock(ended), took.num_seconds());
        }
        let ending = match self.ending {
            None => "under way".to_owned(),
            Some(Ending::Done) => "done".to_owned(),
            Some(_) => self.reason.clone(),
        };
        let _ = writeln!(text, "| result | {ending} |");
        if let Some((before, after)) = &self.boot_id {
            let _ = writeln!(text, "| boot id | {before} → {after} |");
        }
        if let Some((before, after)) = &self.revision {
            let _ = writeln!(text, "| revision | {before} → {after} |");
        }
        if !self.pods.is_empty() {
            let _ = writeln!(text, "\n## Pods that left\n\n| pod | seconds |\n|---|---|");
            for (pod, seconds) in &self.pods {
                let took = seconds.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1}"));
                let _ = writeln!(text, "| {pod} | {took} |");
            }
        }
        let _ = writeln!(text, "\n## What happened\n");
        for event in &self.events {
            let _ = writeln!(text, "- {} {}", clock(event.at), event.what);
        }
        text
    }
}

/// The report of a round: what happened between its nodes, and the report of each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundReport {
    /// Names the round.
    pub round: String,
    /// Who began it.
    pub by: String,
    /// When.
    pub started_at: Timestamp,
    /// The last that happened.
    pub ended_at: Option<Timestamp>,
    /// The nodes, in order, with how each ended; `None`: not begun, or under way.
    pub result: Vec<(Name, Option<Ending>)>,
    /// What happened in the round, oldest first.
    pub events: Vec<RoundEvent>,
    /// The maintenances of its nodes, in the order in which they ended.
    pub nodes: Vec<Report>,
}

impl RoundReport {
    /// The report of this round, with what the journals of its nodes hold.
    pub fn new(plan: &Plan, events: &[RoundEvent], server: &str) -> Self {
        let mut nodes: Vec<Report> = Vec::new();
        let mut result: Vec<(Name, Option<Ending>)> =
            plan.nodes.iter().map(|node| (node.clone(), None)).collect();
        for event in events {
            let (
                RoundHappening::NodeEnded {
                    ending, maintenance, ..
                },
                Some(node),
            ) = (&event.what, &event.node)
            else {
                continue;
            };
            if let Some((_, ended)) = result.iter_mut().find(|(one, _)| one == node) {
                *ended = Some(*ending);
            }
            // A maintenance that was gone on with ended more than once.
            nodes.retain(|report| report.id != *maintenance);
            let told = journal::events_of(journal::lines_of(server, node), maintenance);
            let started_at = told.first().map_or(event.at, |first| first.at);
            let (id, by) = (maintenance.clone(), plan.by.clone());
            nodes.push(Report::new(node.clone(), id, by, plan.purpose, started_at, told));
        }
        Self {
            round: plan.id.clone(),
            by: plan.by.clone(),
            started_at: plan.started_at,
            ended_at: events.last().map(|event| event.at),
            result,
            events: events.to_vec(),
            nodes,
        }
    }

    /// As Markdown: a section for each node.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# Round of {} nodes\n", self.result.len());
        let _ = writeln!(text, "| | |\n|---|---|");
        let _ = writeln!(text, "| by | {} |", self.by);
        let _ = writeln!(text, "| started | {} |", clock(self.started_at));
        if let Some(ended) = self.ended_at {
            let took = ended - self.started_at;
            let _ = writeln!(text, "| ended | {} ({} s) |", clock(ended), took.num_seconds());
        }
        for (node, ending) in &self.result {
            let ending = match ending {
                None => "not done",
                Some(Ending::Done) => "done",
                Some(Ending::Blocked) => "blocked",
                Some(Ending::TimedOut) => "timed out",
                Some(Ending::Refused) => "refused",
                Some(Ending::Aborted) => "aborted",
                Some(Ending::NotUpdated) => "restarted, not updated",
            };
            let _ = writeln!(text, "| {node} | {ending} |");
        }
        let _ = writeln!(text, "\n## What happened in the round\n");
        for event in &self.events {
            let node = event.node.as_deref().unwrap_or("round");
            let _ = writeln!(text, "- {} {node}: {}", clock(event.at), event.what);
        }
        for report in &self.nodes {
            text.push('\n');
            for line in report.markdown().lines() {
                let deeper = if line.starts_with('#') { "#" } else { "" };
                let _ = writeln!(text, "{deeper}{line}");
            }
        }
        text
    }
}

/// Writes a report: as JSON if the name of the file ends with `.json`, else as Markdown.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, report: &impl Serialize, markdown: impl FnOnce() -> String) -> io::Result<()> {
    let text = if path.extension().is_some_and(|extension| extension == "json") {
        serde_json::to_string_pretty(report)? + "\n"
    } else {
        markdown()
    };
    std::fs::write(path, text)
}

fn clock(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}
