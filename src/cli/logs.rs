//! `drainboard logs`: lines of a pod or a node, once, from Loki and the kubelets.

use super::args::LogsArgs;
use super::exit::{CliError, Outcome};
use super::json::Document;
use super::output;
use crate::domain::Name;
use crate::domain::log::{LogEntry, LogFilter, LogQuery, LogRange, LogScope};
use crate::domain::text::sanitise;
use crate::sources::SourcesOptions;
use crate::sources::event::Problem;
use crate::sources::kubernetes::config::{self, Choice};
use crate::sources::logs::{Logs, Wanted, read};
use crate::sources::transport::failure::FailureKind;
use chrono::{SecondsFormat, TimeDelta, Utc};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How `logs` prints.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogsFormat {
    /// A line a line
    #[default]
    Text,
    /// JSON, stable
    Json,
}

/// Prints the logs.
///
/// # Errors
/// No usable kubeconfig, context or credentials; neither Loki nor a kubelet could be read; or the output is gone.
pub async fn run(args: &LogsArgs, options: SourcesOptions) -> Result<Outcome, CliError> {
    let session = config::open(Choice {
        kubeconfig: options.kubeconfig,
        context: options.context,
        connect_timeout: options.request_timeout,
        interactive: options.interactive,
    })
    .await?;
    let now = Utc::now();
    let since = now - TimeDelta::from_std(args.since).unwrap_or(TimeDelta::MAX);
    let nanos = |at: chrono::DateTime<Utc>| at.timestamp_nanos_opt();
    let wanted = Wanted {
        query: LogQuery {
            scope: scope(args)?,
            filter: args.grep.as_ref().map(|pattern| LogFilter {
                pattern: pattern.as_str().into(),
                inverse: args.invert_match,
            }),
        },
        range: LogRange {
            start_ns: nanos(since).unwrap_or(0),
            end_ns: nanos(now).unwrap_or(i64::MAX),
        },
        lines: args.tail,
    };
    let logs = read(&session.client, options.request_timeout, &options.loki, &wanted)
        .await
        .map_err(|failure| match failure.kind {
            FailureKind::Options => CliError::Usage(failure.problem.to_string()),
            _ => CliError::from(failure.problem),
        })?;
    if !logs.answered {
        return Err(unreadable(logs, &args.target).into());
    }
    match args.output {
        LogsFormat::Text => output::print(&text(&logs.entries, &wanted.query.scope))?,
        LogsFormat::Json => output::print_json(&document(&logs.entries))?,
    }
    if logs.entries.is_empty() {
        output::say(&format!(
            "drainboard: no such lines of {} since {}",
            args.target,
            since.format("%F %T UTC")
        ));
    }
    for problem in &logs.problems {
        output::say(&format!("drainboard: {problem}"));
    }
    if logs.more {
        output::say(&format!(
            "drainboard: the newest {} lines; there are older ones: raise --tail",
            logs.entries.len()
        ));
    }
    Ok(Outcome::Fine)
}

/// Why nothing could be read: all of it, as the last resort failed, too.
fn unreadable(logs: Logs, target: &str) -> Problem {
    let mut problems = logs.problems.into_iter().rev();
    let last = problems.next().unwrap_or_else(|| Problem {
        what: format!("neither Loki nor a kubelet has logs of {target}"),
        next_step: "see with `drainboard pods` what there is".to_owned(),
    });
    problems.fold(last, |last, other| Problem {
        what: format!("{}; {}", last.what, other.what),
        ..last
    })
}

/// `NAMESPACE/POD`, or the name of a node.
fn scope(args: &LogsArgs) -> Result<LogScope, CliError> {
    match args.target.split_once('/') {
        Some((namespace, pod)) if is_name(namespace) && is_name(pod) => Ok(LogScope::Pod {
            namespace: namespace.into(),
            pod: pod.into(),
            container: args.container.as_deref().map(Name::from),
        }),
        None if args.container.is_some() => Err(CliError::Usage(
            "--container is for a pod: name it as NAMESPACE/POD".to_owned(),
        )),
        None if is_name(&args.target) => Ok(LogScope::Node(args.target.as_str().into())),
        _ => Err(CliError::Usage(format!(
            "{}: expected the name of a node, or NAMESPACE/POD",
            sanitise(&args.target)
        ))),
    }
}

/// Names go into paths.
fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    !text.is_empty() && text.chars().all(allowed) && !text.starts_with('.')
}

/// Time, place, line. What lines hold is not to steer the terminal.
fn text(entries: &[LogEntry], scope: &LogScope) -> String {
    let of_one_pod = matches!(scope, LogScope::Pod { .. });
    let container = |entry: &LogEntry| entry.stream.container.clone();
    let one_container = entries.windows(2).all(|pair| match pair {
        [one, other] => container(one) == container(other),
        _ => true,
    });
    let mut text = String::new();
    for entry in entries {
        let stream = &entry.stream;
        let parts: &[&Option<Name>] = match (of_one_pod, one_container) {
            (true, true) => &[],
            (true, false) => &[&stream.container],
            (false, _) => &[&stream.namespace, &stream.pod, &stream.container],
        };
        let place: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
        let time = entry.at().to_rfc3339_opts(SecondsFormat::Millis, true);
        let space = if place.is_empty() { "" } else { " " };
        let (place, line) = (place.join("/"), sanitise(&entry.line));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{time}{space}{} {line}", sanitise(&place));
    }
    text
}

/// The lines as JSON.
fn document(entries: &[LogEntry]) -> Document<Item<'_>> {
    Document {
        items: entries.iter().map(Item::of).collect(),
    }
}

/// A line.
#[derive(Debug, Serialize)]
pub struct Item<'a> {
    /// RFC 3339 with nanoseconds.
    time: String,
    /// Namespace of the pod.
    namespace: Option<&'a str>,
    /// Pod.
    pod: Option<&'a str>,
    /// Container.
    container: Option<&'a str>,
    /// Node.
    node: Option<&'a str>,
    /// The line as it was written.
    line: &'a str,
    /// `loki` or `kubernetes` (the kubelet).
    source: &'static str,
    /// What the keeper attached to the line.
    metadata: BTreeMap<&'a str, &'a str>,
}

impl<'a> Item<'a> {
    fn of(entry: &'a LogEntry) -> Self {
        let stream = &entry.stream;
        Self {
            time: entry.at().to_rfc3339_opts(SecondsFormat::Nanos, true),
            namespace: stream.namespace.as_deref(),
            pod: stream.pod.as_deref(),
            container: stream.container.as_deref(),
            node: stream.node.as_deref(),
            line: &entry.line,
            source: entry.source.name(),
            metadata: entry
                .metadata
                .iter()
                .map(|(name, value)| (&**name, &**value))
                .collect(),
        }
    }
}
