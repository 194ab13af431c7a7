//! Logs of a pod or a node, once: from Loki where there is one, from the kubelets where there is none or where it
//! may not have the newest lines yet, joined so that no line stands there twice.

use super::kubernetes::logs::{ContainerLog, Portion, of_node, of_pod};
use super::loki::connection::Connection;
use super::loki::{self, catalogue, pages};
use super::transport::HttpTransport;
use super::transport::failure::{Failure, FailureKind};
use super::transport::route::Route;
use crate::domain::log::{
    LogEntry, LogOrder, LogQuery, LogRange, LogScope, LogStream, SECOND_NANOS, UnixNanos,
};
use crate::sources::event::Problem;
use futures::StreamExt;
use regex::Regex;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// What is read.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Whose lines, and which of them.
    pub query: LogQuery,
    /// Of which time.
    pub range: LogRange,
    /// At most this many, the newest.
    pub lines: usize,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Logs {
    /// The lines, the oldest first.
    pub entries: Vec<LogEntry>,
    /// Whether there are older lines in the range that were asked for.
    pub more: bool,
    /// Whether Loki or a kubelet could be read at all.
    pub answered: bool,
    /// What could not be read, and what to do about it.
    pub problems: Vec<Problem>,
}

/// Kubelets that are asked at the same time.
const AT_ONCE: usize = 8;

/// Lines of each container among which a filter looks.
const FILTERED: usize = 100_000;

/// A collector that does not take over the time of the container runtime gives lines a later one.
const DELAY: UnixNanos = 60 * SECOND_NANOS;

/// Reads.
///
/// # Errors
/// The filter is no regular expression ([`FailureKind::Options`]); or there is no such pod, container or node, and
/// Loki has no lines of it.
pub async fn read(
    client: &kube::Client,
    timeout: Duration,
    options: &loki::Options,
    wanted: &Wanted,
) -> Result<Logs, Failure> {
    let filter = compiled(&wanted.query)?;
    let mut logs = Logs::default();
    let kept = match Connection::open(client, timeout, options).await {
        Ok(loki) => from_loki(&loki, wanted).await,
        Err(failure) => Err(failure),
    };
    let kept = match kept {
        Ok((entries, more)) => {
            logs.more = more;
            logs.answered = true;
            entries
        }
        Err(failure) => {
            logs.problems.push(failure.problem);
            Vec::new()
        }
    };
    // The kubelets of a whole node are asked only when nobody else has its lines.
    let ask_kubelets = match &wanted.query.scope {
        LogScope::Pod { .. } => true,
        LogScope::Node(_) => kept.is_empty(),
        LogScope::Events(_) | LogScope::SmbMappings(_) | LogScope::NetworkWaits(_) | LogScope::Raw(_) => {
            false
        }
    };
    let mut live = Vec::new();
    if ask_kubelets {
        let api = HttpTransport::through(client.clone(), Route::Api, timeout);
        match containers(&api, &wanted.query.scope).await {
            Ok(containers) => {
                live = from_kubelets(&api, containers, wanted, &mut logs).await;
                live.retain(|entry| filter.takes(&entry.line));
            }
            // A pod that is gone may have left lines in Loki.
            Err(failure) if failure.kind == FailureKind::NotFound && !kept.is_empty() => {}
            Err(mut failure) if failure.kind == FailureKind::NotFound => {
                "see with `drainboard pods` and `drainboard nodes` what there is"
                    .clone_into(&mut failure.problem.next_step);
                return Err(failure);
            }
            Err(failure) if failure.kind == FailureKind::Options && kept.is_empty() => return Err(failure),
            Err(failure) => logs.problems.push(failure.problem),
        }
    }
    logs.entries = joined(kept, live);
    logs.entries.retain(|entry| wanted.range.holds(entry.at_ns));
    if let Some(surplus) = logs
        .entries
        .len()
        .checked_sub(wanted.lines)
        .filter(|surplus| *surplus > 0)
    {
        logs.entries.drain(..surplus);
        logs.more = true;
    }
    Ok(logs)
}

struct Filter(Option<(Regex, bool)>);

impl Filter {
    fn takes(&self, line: &str) -> bool {
        self.0
            .as_ref()
            .is_none_or(|(regex, inverse)| regex.is_match(line) != *inverse)
    }
}

fn compiled(query: &LogQuery) -> Result<Filter, Failure> {
    let Some(filter) = &query.filter else {
        return Ok(Filter(None));
    };
    let regex = Regex::new(&filter.pattern).map_err(|error| {
        let text = error.to_string();
        let reason = text
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        Failure::new(
            FailureKind::Options,
            format!("'{}' is no regular expression: {reason}", filter.pattern),
            "correct it; a character that is meant literally stands behind a backslash",
        )
    })?;
    Ok(Filter(Some((regex, filter.inverse))))
}

/// The newest lines that Loki has, and whether it has older ones.
async fn from_loki(loki: &Connection, wanted: &Wanted) -> Result<(Vec<LogEntry>, bool), Failure> {
    let logql = catalogue::logql(&wanted.query, &loki.labels)?;
    let mut entries = Vec::new();
    let mut rest = Some(wanted.range);
    while let Some(range) = rest
        && entries.len() < wanted.lines
    {
        let page = pages::page(loki, &logql, range, LogOrder::NewestFirst, wanted.lines + 1).await?;
        entries.extend(page.entries);
        rest = page.rest;
    }
    entries.reverse();
    Ok((entries, rest.is_some()))
}

async fn containers(api: &HttpTransport, scope: &LogScope) -> Result<Vec<ContainerLog>, Failure> {
    match scope {
        LogScope::Pod {
            namespace,
            pod,
            container,
        } => {
            let mut all = of_pod(api, namespace, pod).await?;
            if let Some(wanted) = container {
                let names: Vec<String> = all.iter().map(|log| log.container.to_string()).collect();
                all.retain(|log| log.container == *wanted);
                if all.is_empty() {
                    return Err(Failure::new(
                        FailureKind::Options,
                        format!("pod {namespace}/{pod} has no container {wanted}"),
                        format!("choose one of: {}", names.join(", ")),
                    ));
                }
            }
            Ok(all)
        }
        LogScope::Node(node) => of_node(api, node).await,
        _ => Ok(Vec::new()),
    }
}

async fn from_kubelets(
    api: &HttpTransport,
    containers: Vec<ContainerLog>,
    wanted: &Wanted,
    logs: &mut Logs,
) -> Vec<LogEntry> {
    let portion = Portion {
        since_ns: wanted.range.start_ns,
        // A filter is applied here, behind the kubelet's own cut; the one line more tells that there are older ones.
        lines: match wanted.query.filter {
            Some(_) => wanted.lines.max(FILTERED),
            None => wanted.lines.saturating_add(1),
        },
    };
    let mut answers = futures::stream::iter(containers)
        .map(|container| async move { container.read(api, portion).await })
        .buffered(AT_ONCE);
    let mut entries = Vec::new();
    while let Some(answer) = answers.next().await {
        match answer {
            Ok(lines) => {
                logs.answered = true;
                entries.extend(lines);
            }
            Err(failure) => logs.problems.push(failure.problem),
        }
    }
    entries
}

/// Both in order of time. A line of a container that both have counts once: first those of exactly one time are
/// paired, then those whose collector gave them another one.
fn joined(kept: Vec<LogEntry>, live: Vec<LogEntry>) -> Vec<LogEntry> {
    let mut unpaired: HashMap<(Container, Box<str>), VecDeque<LogEntry>> = HashMap::new();
    for entry in live {
        let key = (Container::of(&entry.stream), entry.line.clone());
        unpaired.entry(key).or_default().push_back(entry);
    }
    let mut later = Vec::new();
    for entry in &kept {
        let Some(same) = unpaired.get_mut(&(Container::of(&entry.stream), entry.line.clone())) else {
            continue;
        };
        match same.iter().position(|other| other.at_ns == entry.at_ns) {
            Some(place) => {
                same.remove(place);
            }
            None => later.push(entry),
        }
    }
    for entry in later {
        if let Some(same) = unpaired.get_mut(&(Container::of(&entry.stream), entry.line.clone()))
            && let Some(place) = same
                .iter()
                .position(|other| (0..=DELAY).contains(&entry.at_ns.saturating_sub(other.at_ns)))
        {
            same.remove(place);
        }
    }
    let mut all = kept;
    all.extend(unpaired.into_values().flatten());
    all.sort_by(|one, other| (one.at_ns, &one.stream).cmp(&(other.at_ns, &other.stream)));
    all
}

/// Namespace, pod and container.
#[derive(PartialEq, Eq, Hash)]
struct Container([Option<crate::domain::Name>; 3]);

impl Container {
    fn of(stream: &LogStream) -> Self {
        Self([
            stream.namespace.clone(),
            stream.pod.clone(),
            stream.container.clone(),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reading::Source;
    use std::sync::Arc;

    fn entry(at_seconds: i64, line: &str, source: Source) -> LogEntry {
        LogEntry {
            at_ns: at_seconds * SECOND_NANOS,
            line: line.into(),
            stream: Arc::new(LogStream {
                pod: Some("a".into()),
                ..LogStream::default()
            }),
            metadata: Arc::default(),
            parsed: Arc::default(),
            source,
        }
    }

    fn told(entries: &[LogEntry]) -> Vec<(i64, &str, Source)> {
        entries
            .iter()
            .map(|entry| (entry.at_ns / SECOND_NANOS, &*entry.line, entry.source))
            .collect()
    }

    #[test]
    fn what_both_have_counts_once_and_what_one_has_is_there() {
        use Source::{Kubernetes, Loki};
        let kept = vec![
            entry(1, "rotated away", Loki),
            entry(5, "tick", Loki),
            entry(15, "tick", Loki),
        ];
        let live = vec![
            entry(5, "tick", Kubernetes),
            entry(15, "tick", Kubernetes),
            entry(25, "tick", Kubernetes),
        ];
        assert_eq!(
            told(&joined(kept, live)),
            [
                (1, "rotated away", Loki),
                (5, "tick", Loki),
                (15, "tick", Loki),
                (25, "tick", Kubernetes)
            ]
        );
    }

    #[test]
    fn a_collector_that_stamps_lines_when_it_sends_them_makes_no_doubles() {
        use Source::{Kubernetes, Loki};
        let kept = vec![
            entry(7, "tick", Loki),
            entry(17, "tick", Loki),
            entry(500, "much later", Loki),
        ];
        let live = vec![
            entry(5, "tick", Kubernetes),
            entry(15, "tick", Kubernetes),
            entry(16, "much later", Kubernetes),
        ];
        assert_eq!(
            told(&joined(kept, live)),
            [
                (7, "tick", Loki),
                (16, "much later", Kubernetes),
                (17, "tick", Loki),
                (500, "much later", Loki)
            ]
        );
    }
}
