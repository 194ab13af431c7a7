//! `drainboard check`: asks every source, and says what was found, what is missing and how to get it.

use super::collect::{self, Collected, Wanted};
use super::exit::{CliError, Outcome};
use super::output;
use crate::domain::Timestamp;
use crate::domain::format::ago;
use crate::domain::measurement::{ContainerQuantity, Missing, NodeKey, NodeQuantity, Quantity};
use crate::domain::reading::{Absence, Source};
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, Problem, SourcePhase, SourceState, WatchState, Watched};
use chrono::Utc;
use std::time::Duration;

/// Asks every source and prints the report.
///
/// # Errors
/// No usable kubeconfig, context or credentials; or the output is gone.
pub async fn run(options: SourcesOptions) -> Result<Outcome, CliError> {
    let timeout = options.request_timeout;
    let wanted = Wanted {
        demand: Demand {
            nodes: true,
            containers: true,
            history: true,
            event_log: None,
            smb: false,
        },
        detail: None,
        logs: true,
    };
    let mut collected = collect::everything(options, wanted).await?;
    collected.remember_boots();
    let report = Report::of(&collected, timeout, Utc::now());
    output::print(&report.text)?;
    Ok(report.outcome)
}

/// The report, line by line, and the worst of what it says.
struct Report {
    text: String,
    outcome: Outcome,
}

impl Report {
    fn of(collected: &Collected, timeout: Duration, now: Timestamp) -> Self {
        let mut report = Self {
            text: String::new(),
            outcome: Outcome::Fine,
        };
        report.cluster(collected, timeout, now);
        for source in [Source::Prometheus, Source::Exporter, Source::MetricsApi] {
            report.measuring(source, collected, timeout, now);
        }
        report.source(Source::Loki, collected, timeout, now);
        report.coverage(collected, now);
        let verdict = match report.outcome {
            Outcome::Fine => "● all is well",
            Outcome::Warnings => "▲ works, with gaps",
            _ => "✖ what the screens need is not there",
        };
        report.line(&format!("\n{verdict}"));
        report
    }

    fn cluster(&mut self, collected: &Collected, timeout: Duration, now: Timestamp) {
        let header = collected.store.header(now);
        let version = header.version.as_deref().unwrap_or("version unknown");
        let namespace = header.namespace.as_deref().unwrap_or("all namespaces");
        self.line(&format!(
            "context {} · {} · Kubernetes {version} · {namespace}\n",
            header.context, header.server
        ));
        self.source(Source::Kubernetes, collected, timeout, now);
        let watches = collected.store.watch_states();
        for watched in Watched::ALL {
            let state = watches
                .iter()
                .find(|(other, _)| *other == watched)
                .map(|(_, state)| *state);
            self.watch(watched, state);
        }
        let readable = watches.iter().any(|(_, state)| matches!(state, WatchState::Live));
        if !readable {
            self.note(Outcome::Unreadable);
        }
    }

    fn watch(&mut self, watched: Watched, state: Option<&WatchState>) {
        let plural = watched.plural();
        match state {
            Some(WatchState::Live) => self.line(&format!("    ● {plural}")),
            Some(WatchState::Loading) | None => {
                self.found(Outcome::Warnings, &format!("    ◌ {plural}: no list in time"));
            }
            Some(WatchState::Forbidden(problem) | WatchState::Failed(problem)) => {
                self.found(Outcome::Warnings, &format!("    ▲ {plural}: {}", problem.what));
                self.next_step(problem);
            }
        }
    }

    fn measuring(&mut self, source: Source, collected: &Collected, timeout: Duration, now: Timestamp) {
        self.source(source, collected, timeout, now);
        for missing in collected.missing.get(&source).into_iter().flatten() {
            if !matches!(missing.reason, Absence::NotOnThisOs | Absence::NoLimit) {
                self.found(Outcome::Warnings, &format!("    ▲ {}", missing_text(missing)));
            }
        }
    }

    fn source(&mut self, source: Source, collected: &Collected, timeout: Duration, now: Timestamp) {
        let states = collected.store.source_states();
        let state = states
            .into_iter()
            .find_map(|(other, state)| (other == source).then_some(state));
        match state {
            Some(state) if !collected.silent.contains(&source) => self.answered(source, state, now),
            _ => {
                let seconds = timeout.as_secs_f32();
                let text = format!("◌ {source}: not answered within {seconds} s");
                self.found(Outcome::Warnings, &text);
            }
        }
        if let Some(problem) = state.and_then(|state| state.last_error.as_ref()) {
            self.line(&format!("    {}", problem.what));
            self.next_step(problem);
        }
    }

    fn answered(&mut self, source: Source, state: &SourceState, now: Timestamp) {
        let reached = if state.reached.is_empty() {
            String::new()
        } else {
            format!(" · {}", state.reached)
        };
        let answer = state
            .last_answer
            .map(|at| format!(", answered {}", ago((now - at).num_seconds())))
            .unwrap_or_default();
        match state.phase {
            SourcePhase::Connected => self.line(&format!("● {source}: connected{answer}{reached}")),
            SourcePhase::Off => self.line(&format!("– {source}: off{reached}")),
            SourcePhase::Failed => {
                self.found(Outcome::Warnings, &format!("▲ {source}: failed{answer}{reached}"));
            }
            SourcePhase::Starting => {
                self.found(Outcome::Warnings, &format!("◌ {source}: starting{reached}"));
            }
        }
    }

    /// Windows nodes that nobody measures are what this program must not overlook.
    fn coverage(&mut self, collected: &Collected, now: Timestamp) {
        let windows = collected.store.header(now).counts.windows_nodes;
        let states = collected.store.source_states();
        let measured = states.iter().any(|(source, state)| {
            matches!(source, Source::Prometheus | Source::Exporter) && state.phase == SourcePhase::Connected
        });
        if windows > 0 && !measured {
            let nodes = if windows == 1 { "node" } else { "nodes" };
            self.found(
                Outcome::Critical,
                &format!(
                    "\n✖ {windows} Windows {nodes}, and nobody measures commit\n      \
                     → install windows_exporter with its collectors memory and container"
                ),
            );
        }
    }

    fn found(&mut self, outcome: Outcome, text: &str) {
        self.note(outcome);
        self.line(text);
    }

    fn note(&mut self, outcome: Outcome) {
        self.outcome = self.outcome.max(outcome);
    }

    fn next_step(&mut self, problem: &Problem) {
        if !problem.next_step.is_empty() {
            self.line(&format!("      → {}", problem.next_step));
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }
}

/// What is missing, where, and why.
fn missing_text(missing: &Missing) -> String {
    let place = match &missing.node {
        None => String::new(),
        Some(NodeKey::Name(name)) => format!(" of node {name}"),
        Some(NodeKey::Address(address)) => format!(" of the node with address {address}"),
        Some(NodeKey::Pod(namespace, pod)) => format!(" of the node of exporter {namespace}/{pod}"),
    };
    format!("{}{place}: {}", quantity_text(missing.quantity), missing.reason)
}

const fn quantity_text(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Node(node) => match node {
            NodeQuantity::Commit => "node commit",
            NodeQuantity::CommitLimit => "node commit limit",
            NodeQuantity::PhysicalMemory => "node memory",
            NodeQuantity::PhysicalFree => "free node memory",
            NodeQuantity::CpuRatio => "node CPU",
            NodeQuantity::CpuCores => "node CPU in cores",
            NodeQuantity::WorkingSet => "node working set",
            NodeQuantity::BootTime => "boot time",
            NodeQuantity::SystemDiskFree => "free space on C:",
        },
        Quantity::Container(container) => match container {
            ContainerQuantity::Commit => "container commit",
            ContainerQuantity::CommitPeak => "container commit peak",
            ContainerQuantity::WorkingSet => "container working set",
            ContainerQuantity::CpuCores => "container CPU",
        },
        Quantity::Services => "services",
    }
}

#[cfg(test)]
mod tests;
