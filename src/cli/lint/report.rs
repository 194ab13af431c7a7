//! What was found in the files.

use super::around::Around;
use super::reader::{Fault, Reader, template};
use super::tree::{self, Node};
use super::workload::{Workload, line_of, objects, workload};
use crate::domain::text::sanitise;
use crate::findings::manifest::{Place, judge, sign};
use crate::findings::{Finding, Severity};
use crate::sources::event::Problem;

/// What was found in the files.
#[derive(Debug, Default)]
pub struct Report {
    /// Files that were read.
    pub files: usize,
    /// Pod templates in them.
    pub templates: usize,
    /// Those for Windows: only they are checked.
    pub windows_templates: usize,
    /// What was found, by file and line.
    pub items: Vec<Item>,
    /// Files that could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// A finding in a file. All of its texts are fit for a terminal.
#[derive(Debug)]
pub struct Item {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Field of the pod spec, e.g. `containers[0].image`; empty for the whole spec.
    pub field: String,
    /// The object in words.
    pub object: String,
    /// The finding.
    pub finding: Finding,
}

/// A file that could not be read, or that is no YAML.
#[derive(Debug)]
pub struct Unreadable {
    /// File.
    pub file: String,
    /// Line, if it has to do with one.
    pub line: Option<u64>,
    /// Why.
    pub cause: String,
    /// What to do.
    pub next_step: &'static str,
}

impl From<&Unreadable> for Problem {
    fn from(unreadable: &Unreadable) -> Self {
        let at = unreadable
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        Self {
            what: format!("{}{at}: {}", unreadable.file, unreadable.cause),
            next_step: unreadable.next_step.to_owned(),
        }
    }
}

impl Report {
    /// Checks files, given as name and text. A RuntimeClass or a claim in one of them counts for all.
    pub fn add(&mut self, files: Vec<(String, String)>) {
        let mut parsed = Vec::new();
        let mut around = Around::default();
        for (file, text) in files {
            match tree::documents(&text) {
                Ok(documents) => {
                    for object in objects(&documents) {
                        around.note(object);
                    }
                    parsed.push((file, documents));
                }
                Err(error) => self.unreadable.push(Unreadable {
                    file,
                    line: error.line,
                    cause: format!("no YAML: {}", sanitise(&error.cause)),
                    next_step: "correct it; render a chart first: helm template CHART | drainboard lint -",
                }),
            }
        }
        self.files += parsed.len();
        for (file, documents) in &parsed {
            self.check(file, documents, &around);
        }
    }

    fn check(&mut self, file: &str, documents: &[Node], around: &Around) {
        let mut items = Vec::new();
        for workload in objects(documents).into_iter().filter_map(workload) {
            self.templates += 1;
            let mut reader = Reader::default();
            let template = template(&mut reader, &workload, around);
            if sign(&template).is_none() {
                continue;
            }
            self.windows_templates += 1;
            let item = |line, field: &Place, finding| Item::new(file, line, field, finding);
            items.extend(reader.faults.iter().map(|fault| {
                let finding = wrong_value(&workload, fault);
                item(fault.line, &Place::spec(), finding)
            }));
            items.extend(judge(&template).into_iter().map(|remark| {
                let line = line_of(workload.spec, remark.place.steps());
                item(line, &remark.place, remark.finding)
            }));
        }
        items.sort_by_key(|item| item.line);
        self.items.append(&mut items);
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.items
            .iter()
            .filter(|item| item.finding.severity == severity)
            .count()
    }

    /// Whether something certainly fails.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Critical) > 0
    }
}

impl Item {
    fn new(file: &str, line: u64, place: &Place, finding: Finding) -> Self {
        let clean = |text: String| sanitise(&text).into_owned();
        let clean_all = |texts: Vec<String>| texts.into_iter().map(clean).collect();
        Self {
            file: file.to_owned(),
            line,
            field: place.to_string(),
            object: clean(finding.object.to_string()),
            finding: Finding {
                title: clean(finding.title),
                evidence: clean_all(finding.evidence),
                remedy: clean_all(finding.remedy),
                ..finding
            },
        }
    }
}

fn wrong_value(workload: &Workload<'_>, fault: &Fault) -> Finding {
    Finding {
        severity: Severity::Critical,
        id: "wrong-value",
        object: workload.object.clone(),
        title: fault.text.clone(),
        evidence: Vec::new(),
        why: "The API server refuses the object.",
        remedy: vec![
            "correct the value; kubectl apply --dry-run=server shows all that the API server refuses"
                .to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests;
