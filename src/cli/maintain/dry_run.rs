//! `maintain --dry-run`: the preflight, and nothing else.

use super::args::EventFormat;
use crate::cli::exit::{CliError, Outcome};
use crate::cli::output;
use crate::domain::Name;
use crate::domain::text::sanitise;
use crate::maintenance::effect::SurveyError;
use crate::maintenance::pods::{Loss, Refusal, Stays};
use crate::maintenance::preflight::{Fate, Preflight, Weight};
use crate::runner::session::Setup;
use crate::sources::event::Problem;
use crate::sources::kubernetes::survey;
use serde_json::{Value, json};

/// Surveys each node; evictions are tried on the server without effect. No cordon, annotation or Lease is written.
///
/// # Errors
/// The cluster cannot be read, or the output is gone.
pub async fn run(nodes: &[Name], setup: &Setup, format: EventFormat) -> Result<Outcome, CliError> {
    let mut outcome = Outcome::Fine;
    for node in nodes {
        let intent = setup.intent(node.clone(), String::new(), true);
        let preflight = survey::survey(setup.client.clone(), setup.request_timeout, &intent)
            .await
            .map_err(|(SurveyError::Failed(what) | SurveyError::Refused(what))| {
                CliError::Unreadable(Problem {
                    what,
                    next_step: String::new(),
                })
            })?;
        match format {
            EventFormat::Json => output::print(&format!("{}\n", as_json(node, &preflight)))?,
            EventFormat::Text => output::print(&as_text(node, &preflight))?,
        }
        outcome = outcome.max(match preflight.weight() {
            Weight::Info | Weight::Warning => Outcome::Fine,
            Weight::Blocks => Outcome::Blocked,
            Weight::Refuses => Outcome::Refused,
        });
    }
    Ok(outcome)
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Leaves(None) => "leaves",
        Fate::Leaves(Some(Loss::EmptyDir)) => "leaves, its emptyDir is lost",
        Fate::Leaves(Some(Loss::Uncontrolled)) => "leaves, nothing brings it back",
        Fate::Leaves(Some(Loss::Both)) => "leaves, its emptyDir is lost, nothing brings it back",
        Fate::Stays(Stays::DaemonSet) => "stays (DaemonSet)",
        Fate::Stays(Stays::Mirror) => "stays (static pod)",
        Fate::Stays(Stays::NotSelected) => "stays (not selected)",
        Fate::Stays(Stays::LongDeleted) => "stays (deleted long ago)",
        Fate::Refused(Refusal::EmptyDir) => "refused: emptyDir, --delete-emptydir-data allows it",
        Fate::Refused(Refusal::Uncontrolled) => "refused: no controller, --force allows it",
    }
}

const fn weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Info => "info",
        Weight::Warning => "warning",
        Weight::Blocks => "blocks",
        Weight::Refuses => "refuses",
    }
}

fn as_text(node: &str, preflight: &Preflight) -> String {
    let mut lines = vec![format!("{node}: what would happen")];
    lines.extend(
        preflight
            .pods
            .iter()
            .map(|(pod, fate)| format!("  {pod}  {}", word(*fate))),
    );
    lines.extend(
        preflight
            .notes
            .iter()
            .map(|note| format!("  {}: {}", weight(note.weight), sanitise(&note.sentence()))),
    );
    lines.join("\n") + "\n"
}

fn as_json(node: &str, preflight: &Preflight) -> Value {
    let pods: Vec<_> = preflight
        .pods
        .iter()
        .map(|(pod, fate)| json!({"namespace": pod.namespace, "name": pod.name, "uid": pod.uid, "fate": word(*fate)}))
        .collect();
    let notes: Vec<_> = preflight
        .notes
        .iter()
        .map(|note| json!({"weight": weight(note.weight), "text": note.text, "remedy": note.remedy}))
        .collect();
    json!({
        "event": "preflight",
        "node": node,
        "at": chrono::Utc::now(),
        "blocked": preflight.weight() >= Weight::Blocks,
        "pods": pods,
        "notes": notes,
    })
}
