//! The report as SARIF 2.1.0, which code hosts and editors show beside the lines. Only what is needed of it: the types
//! of the format's own crate bring a code generator along.

use super::report::{Item, Report, Unreadable};
use crate::findings::Severity;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use std::collections::BTreeSet;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What may not stand in the path of a URI reference.
const NOT_IN_A_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// `sarifLog`.
#[derive(Debug, Serialize)]
pub struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    invocations: [Invocation<'a>; 1],
    results: Vec<Outcome<'a>>,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
struct Rule {
    id: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'a> {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification<'a>>,
}

/// Something about the run itself: a file that could not be read.
#[derive(Debug, Serialize)]
struct Notification<'a> {
    level: &'static str,
    message: Message<'a>,
    locations: [Location<'a>; 1],
}

/// `result`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'static str,
    level: &'static str,
    message: Message<'a>,
    locations: [Location<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Debug, Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    fully_qualified_name: &'a str,
}

/// The report.
pub fn log(report: &Report) -> Log<'_> {
    let rules: BTreeSet<&str> = report.items.iter().map(|item| item.finding.id).collect();
    Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "drainboard",
                    version: env!("CARGO_PKG_VERSION"),
                    rules: rules.into_iter().map(|id| Rule { id }).collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: report.unreadable.is_empty(),
                tool_execution_notifications: report.unreadable.iter().map(notification).collect(),
            }],
            results: report.items.iter().map(outcome).collect(),
        }],
    }
}

fn notification(unreadable: &Unreadable) -> Notification<'_> {
    Notification {
        level: "error",
        message: Message {
            text: unreadable.cause.as_str().into(),
        },
        locations: [location(&unreadable.file, unreadable.line, None)],
    }
}

fn outcome(item: &Item) -> Outcome<'_> {
    let finding = &item.finding;
    let mut text = format!("{}. {}", finding.title, finding.why);
    for step in &finding.remedy {
        text.push_str("\n- ");
        text.push_str(step);
    }
    Outcome {
        rule_id: finding.id,
        level: match finding.severity {
            Severity::Critical => "error",
            Severity::Warning => "warning",
            Severity::Info => "note",
        },
        message: Message { text: text.into() },
        locations: [location(&item.file, Some(item.line), Some(&item.object))],
    }
}

fn location<'a>(file: &str, line: Option<u64>, object: Option<&'a str>) -> Location<'a> {
    Location {
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: utf8_percent_encode(&file.replace('\\', "/"), NOT_IN_A_PATH).to_string(),
            },
            region: line.map(|start_line| Region { start_line }),
        },
        logical_locations: object
            .map(|fully_qualified_name| LogicalLocation { fully_qualified_name })
            .into_iter()
            .collect(),
    }
}
