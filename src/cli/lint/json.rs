//! The report as JSON, stable.

use super::report::{Item, Report};
use serde::Serialize;

/// The report.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    files: usize,
    pod_templates: usize,
    windows_pod_templates: usize,
    items: Vec<Found<'a>>,
    unreadable: Vec<NotRead<'a>>,
}

/// A finding.
#[derive(Debug, Serialize)]
struct Found<'a> {
    severity: &'static str,
    id: &'static str,
    object: &'a str,
    title: &'a str,
    evidence: &'a [String],
    why: &'static str,
    remedy: &'a [String],
    file: &'a str,
    line: u64,
    field: &'a str,
}

/// A file that could not be read.
#[derive(Debug, Serialize)]
struct NotRead<'a> {
    file: &'a str,
    line: Option<u64>,
    cause: &'a str,
}

/// The report.
pub fn document(report: &Report) -> Document<'_> {
    Document {
        files: report.files,
        pod_templates: report.templates,
        windows_pod_templates: report.windows_templates,
        items: report.items.iter().map(found).collect(),
        unreadable: report
            .unreadable
            .iter()
            .map(|unreadable| NotRead {
                file: &unreadable.file,
                line: unreadable.line,
                cause: &unreadable.cause,
            })
            .collect(),
    }
}

fn found(item: &Item) -> Found<'_> {
    Found {
        severity: item.finding.severity.name(),
        id: item.finding.id,
        object: &item.object,
        title: &item.finding.title,
        evidence: &item.finding.evidence,
        why: item.finding.why,
        remedy: &item.finding.remedy,
        file: &item.file,
        line: item.line,
        field: &item.field,
    }
}
