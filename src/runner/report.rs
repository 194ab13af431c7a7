//! The report of a maintenance: steps, times, pods, who, revisions before and after. Built from the events of the
//! journal, so that it covers every run of the program that had a part in it.

use crate::domain::{Name, Timestamp};
use crate::maintenance::event::{Ending, Event, Happening};
use crate::maintenance::state::State;
use serde::Serialize;
use std::fmt::Write as _;

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
    /// The report of this maintenance with these events.
    pub fn new(state: &State, events: Vec<Event>) -> Self {
        let mut report = Self {
            node: state.node.clone(),
            by: state.by.clone(),
            id: state.id.clone(),
            purpose: state.options.purpose.name(),
            started_at: state.started_at,
            ended_at: events.last().map(|event| event.at),
            ending: state.ending.as_ref().map(|(ending, _)| *ending),
            reason: state
                .ending
                .as_ref()
                .map(|(_, reason)| reason.clone())
                .unwrap_or_default(),
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

fn clock(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}
