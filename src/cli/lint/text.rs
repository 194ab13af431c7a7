//! The report for people.

use super::report::{Item, Report};
use crate::findings::Severity;
use std::fmt::Write as _;

/// The whole report: a block for each finding, then what was looked at; nothing if no file could be read.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    for item in &report.items {
        block(&mut text, item);
    }
    if report.files > 0 {
        let _ = writeln!(text, "{}", summary(report));
    }
    text
}

fn block(text: &mut String, item: &Item) {
    let finding = &item.finding;
    let _ = writeln!(
        text,
        "{}:{}: {}: {}: {} [{}]",
        item.file,
        item.line,
        word(finding.severity),
        item.object,
        finding.title,
        finding.id
    );
    for fact in &finding.evidence {
        let _ = writeln!(text, "    seen  {fact}");
    }
    let _ = writeln!(text, "    why   {}", finding.why);
    for step in &finding.remedy {
        let _ = writeln!(text, "    do    {step}");
    }
    text.push('\n');
}

/// As compilers call it.
const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn summary(report: &Report) -> String {
    let templates = counted(report.templates, "pod template");
    if report.windows_templates == 0 {
        return format!("{templates}, none of them for Windows: nothing to check");
    }
    format!(
        "{templates}, {} for Windows: {}, {}, {}",
        report.windows_templates,
        counted(report.count(Severity::Critical), word(Severity::Critical)),
        counted(report.count(Severity::Warning), word(Severity::Warning)),
        counted(report.count(Severity::Info), word(Severity::Info)),
    )
}

fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}
