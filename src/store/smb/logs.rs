//! What the node plugins logged, by node.

use crate::domain::reading::{Absence, Reading, Source};
use crate::domain::smb::ledger::Ledger;
use crate::domain::{Name, Timestamp};
use crate::sources::event::{PluginLog, PluginLogs, Problem};
use std::collections::BTreeMap;

/// What the node plugins logged.
#[derive(Default)]
pub struct Logs {
    by_node: BTreeMap<Name, NodeLog>,
    /// Why the plugins could not be found; `Ok` once they were.
    found: Option<Result<(), Problem>>,
}

/// What the plugin of one node logged.
#[derive(Default)]
pub struct NodeLog {
    /// What its lines tell.
    pub ledger: Ledger,
    /// The plugin's pod: namespace/name.
    pub pod: Name,
    /// When it was read last.
    pub read_at: Timestamp,
    /// Time of the oldest line read.
    begins: Option<Timestamp>,
    problem: Option<Problem>,
}

impl Logs {
    /// Takes a round.
    pub fn take(&mut self, round: PluginLogs) {
        let plugins = match round.plugins {
            Ok(plugins) => plugins,
            Err(problem) => {
                self.found = Some(Err(problem));
                return;
            }
        };
        self.found = Some(Ok(()));
        self.by_node
            .retain(|node, _| plugins.iter().any(|plugin| plugin.node == *node));
        for PluginLog { node, pod, outcome } in plugins {
            let log = self.by_node.entry(node).or_default();
            log.pod = format!("{}/{}", pod.0, pod.1).into();
            match outcome {
                Ok(part) => {
                    log.ledger.add(part.seen);
                    log.begins = part.begins.or(log.begins);
                    log.read_at = round.read_at;
                    log.problem = None;
                }
                Err(problem) => log.problem = Some(problem),
            }
        }
    }

    /// Of one node.
    pub fn of(&self, node: &Name) -> Option<&NodeLog> {
        self.by_node.get(node)
    }

    /// A value that a line of this node told, or why none did.
    pub fn reading<T>(&self, node: &Name, told: Option<T>) -> Reading<T> {
        match (told, self.of(node)) {
            (Some(value), Some(log)) => Reading::Present {
                value,
                source: Source::Kubernetes,
                sampled_at: log.read_at,
            },
            _ => Reading::Absent(self.absence(node)),
        }
    }

    fn absence(&self, node: &Name) -> Absence {
        match (&self.found, self.of(node)) {
            (None, _) => Absence::NotYet,
            (Some(Err(problem)), None) => Absence::SourceDown(problem.to_string().into()),
            (Some(Ok(())), None) => {
                Absence::NotCollected(format!("no SMB node plugin was found on {node}").into())
            }
            (Some(_), Some(log)) => match (&log.problem, log.begins) {
                (Some(problem), _) => Absence::SourceDown(problem.to_string().into()),
                (None, None) => Absence::NotCollected("the log of the node plugin is empty".into()),
                (None, Some(begins)) => Absence::NotCollected(
                    format!(
                        "the log of the node plugin does not tell; it begins at {}",
                        begins.format("%Y-%m-%d %H:%M:%S UTC")
                    )
                    .into(),
                ),
            },
        }
    }
}
