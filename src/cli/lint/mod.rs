//! `drainboard lint`: manifests checked for what fails on Windows, before any cluster sees them.

mod around;
mod json;
mod reader;
mod report;
mod sarif;
mod text;
mod tree;
mod workload;

use super::args::{LintArgs, LintFormat};
use super::exit::{CliError, Outcome};
use super::output;
use crate::domain::text::sanitise;
use crate::sources::event::Problem;
use report::{Report, Unreadable};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Checks the files and prints what was found.
///
/// # Errors
/// Wrong usage, or the output is gone. A file that cannot be read is told beside the findings of the others.
pub fn run(args: &LintArgs) -> Result<Outcome, CliError> {
    if args.files.iter().filter(|file| is_stdin(file)).count() > 1 {
        return Err(CliError::Usage("standard input (-) can be read once".to_owned()));
    }
    let mut report = Report::default();
    let mut read = Vec::new();
    for file in &args.files {
        let name = shown_name(file);
        match text_of(file) {
            Ok(text) => read.push((name, text)),
            Err(cause) => report.unreadable.push(Unreadable {
                file: name,
                line: None,
                cause: cause.to_string(),
                next_step: "name files of YAML or JSON, or - for standard input",
            }),
        }
    }
    report.add(read);
    match args.output {
        LintFormat::Text => output::print(&text::text(&report))?,
        LintFormat::Json => output::print_json(&json::document(&report))?,
        LintFormat::Sarif => output::print_json(&sarif::log(&report))?,
    }
    for unreadable in &report.unreadable {
        let _ = output::fail(&Problem::from(unreadable).into());
    }
    Ok(if !report.unreadable.is_empty() {
        Outcome::Unreadable
    } else if report.has_errors() {
        Outcome::Warnings
    } else {
        Outcome::Fine
    })
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn shown_name(file: &Path) -> String {
    if is_stdin(file) {
        "stdin".to_owned()
    } else {
        sanitise(&file.to_string_lossy()).into_owned()
    }
}

fn text_of(file: &PathBuf) -> io::Result<String> {
    if is_stdin(file) {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text)?;
        Ok(text)
    } else {
        std::fs::read_to_string(file)
    }
}
