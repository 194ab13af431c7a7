//! The journal of a round, on this machine: its plan and what happened, line by line as JSON, appended and synced. One
//! file per round, beside the journals of the nodes. Whoever runs the round holds the file's lock.

use super::journal::{self, Lines};
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::Happening;
use crate::maintenance::pods::OwnerKey;
use crate::maintenance::round::Found;
use crate::maintenance::round::event::{RoundEvent, RoundHappening};
use crate::maintenance::round::plan::Plan;
use crate::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The round as it was begun, or as it is gone on with.
    Plan(Box<Plan>),
    /// Something happened in it.
    Happened(RoundEvent),
}

/// A round that can be gone on with, as its journal tells it.
#[derive(Debug)]
pub struct OpenRound {
    /// What was asked for.
    pub plan: Plan,
    /// What happened, oldest first.
    pub events: Vec<RoundEvent>,
    journal: RoundJournal,
}

/// The journal of a round, to write to.
#[derive(Debug)]
pub struct RoundJournal(Lines);

impl RoundJournal {
    /// Opens the journal of the round of this id in the cluster behind `server`.
    ///
    /// # Errors
    /// It cannot be written, or another run of the program is at this round.
    pub fn open(server: &str, id: &str) -> io::Result<Self> {
        Self::at(directory(server)?.join(format!("{id}.jsonl")))
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        let lines = Lines::open(path)?;
        if lines.lock()? {
            Ok(Self(lines))
        } else {
            Err(io::Error::other("another run of drainboard is at this round"))
        }
    }

    /// Notes the plan.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn plan(&mut self, plan: &Plan) -> io::Result<()> {
        self.0.append(&Line::Plan(Box::new(plan.clone())))
    }

    /// Notes an event.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn event(&mut self, event: &RoundEvent) -> io::Result<()> {
        self.0.append(&Line::Happened(event.clone()))
    }
}

impl OpenRound {
    /// The newest round of this cluster that is not over and has all of these nodes; without nodes, the newest.
    /// `None`: there is none on this machine.
    ///
    /// # Errors
    /// There is no state directory, or another run of the program is at it.
    pub fn find(server: &str, nodes: &[Name]) -> io::Result<Option<Self>> {
        let files = match std::fs::read_dir(directory(server)?) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let rounds = files.flatten().filter_map(|file| read(&file.path()));
        let meant = rounds.filter(|(_, plan, events)| {
            !is_over(events) && nodes.iter().all(|node| plan.nodes.contains(node))
        });
        let newest = meant.max_by_key(|(_, plan, _)| plan.started_at);
        newest
            .map(|(path, plan, events)| {
                let journal = RoundJournal::at(path)?;
                Ok(Self {
                    plan,
                    events,
                    journal,
                })
            })
            .transpose()
    }

    /// How its nodes are found in the cluster and in their own journals.
    pub fn found(&self, server: &str, store: &Store) -> BTreeMap<Name, Found> {
        let found = self.plan.nodes.iter().filter_map(|name| {
            let node = store.node(name)?;
            let found = Found {
                in_work: node.maintenance.is_some(),
                boot_id: node.boot_id.clone(),
                proven_boot: node.proven_boot.clone(),
                done_since: done_since(server, name, self.plan.started_at),
            };
            Some((name.clone(), found))
        });
        found.collect()
    }

    /// The controllers whose pods had left the node that was done last.
    pub fn workloads(&self, server: &str) -> BTreeSet<OwnerKey> {
        let last = self.events.iter().rev().find_map(|event| match &event.what {
            RoundHappening::NodeEnded { maintenance, .. } => Some((event.node.as_ref()?, maintenance)),
            _ => None,
        });
        let Some((node, maintenance)) = last else {
            return BTreeSet::new();
        };
        let records = journal::lines_of(server, node)
            .into_iter()
            .filter_map(|line| match line {
                journal::Line::Record(record) if record.id == *maintenance => Some(record),
                _ => None,
            });
        let owners = records
            .last()
            .map(|record| record.ready_before)
            .unwrap_or_default();
        owners.into_iter().map(|(owner, _)| owner).collect()
    }

    /// Gives it up: it cannot be gone on with any more.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn abandon(mut self, at: Timestamp) -> io::Result<()> {
        self.journal.event(&RoundEvent {
            what: RoundHappening::RoundAbandoned,
            at,
            node: None,
        })
    }

    /// Its plan, its events, and its journal to go on with.
    pub fn into_parts(self) -> (Plan, Vec<RoundEvent>, RoundJournal) {
        (self.plan, self.events, self.journal)
    }
}

fn directory(server: &str) -> io::Result<PathBuf> {
    Ok(journal::directory_of(server)?.join("rounds"))
}

fn read(path: &Path) -> Option<(PathBuf, Plan, Vec<RoundEvent>)> {
    let mut plan = None;
    let mut events = Vec::new();
    for line in journal::read(path).ok()? {
        match line {
            Line::Plan(newer) => plan = Some(*newer),
            Line::Happened(event) => events.push(event),
        }
    }
    Some((path.to_owned(), plan?, events))
}

fn is_over(events: &[RoundEvent]) -> bool {
    events.iter().any(|event| {
        matches!(
            event.what,
            RoundHappening::RoundDone { .. } | RoundHappening::RoundAbandoned
        )
    })
}

/// Whether the node's own journal tells that a maintenance ended well since then.
fn done_since(server: &str, node: &Name, since: Timestamp) -> bool {
    journal::lines_of(server, node).iter().any(|line| match line {
        journal::Line::Happened { event, .. } => {
            event.at >= since && matches!(event.what, Happening::Done { .. })
        }
        journal::Line::Record(_) | journal::Line::Output { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maintenance::options::{Kept, Purpose};
    use crate::maintenance::round::plan::Terms;

    fn plan(id: &str, nodes: &[&str], second: i64) -> Plan {
        Plan {
            id: id.to_owned(),
            by: "ops@desk".to_owned(),
            started_at: Timestamp::from_timestamp(1_794_045_600 + second, 0).unwrap(),
            purpose: Purpose::Update,
            kept: Kept::default(),
            terms: Terms::default(),
            nodes: nodes.iter().map(|node| Name::from(*node)).collect(),
        }
    }

    #[test]
    fn a_plan_and_its_events_are_read_as_they_were_written_and_the_lock_keeps_others_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rounds").join("a.jsonl");
        let mut journal = RoundJournal::at(path.clone()).unwrap();
        let mut written = plan("a", &["win-1", "win-2"], 0);
        written.terms.window = Some("Sat 22:00-04:00 Europe/Berlin".parse().unwrap());
        journal.plan(&written).unwrap();
        let begun = RoundEvent {
            what: RoundHappening::NodeBegun {
                number: 1,
                of: 2,
                boot_id: "11".into(),
            },
            at: written.started_at,
            node: Some("win-1".into()),
        };
        journal.event(&begun).unwrap();
        let again = RoundJournal::at(path.clone()).unwrap_err().to_string();
        assert!(again.contains("another run"), "{again}");
        drop(journal);
        RoundJournal::at(path.clone()).unwrap();
        // A power cut leaves half a line.
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"happened\":{\"event\":\"round_do");
        std::fs::write(&path, text).unwrap();
        let (_, plan, events) = read(&path).unwrap();
        assert_eq!((plan, &events[..]), (written, &[begun][..]));
        assert!(!is_over(&events));
    }
}
