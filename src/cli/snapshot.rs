//! `drainboard --snapshot 120x40 --pane nodes`: one frame of the screens as text.

use super::collect::{self, Wanted};
use super::exit::{CliError, Outcome};
use super::output;
use super::values::FrameSize;
use crate::sources::SourcesOptions;
use crate::sources::event::{Demand, DetailKey, Watched};
use crate::tui::{self, Pane, TuiOptions};
use chrono::Utc;
use ratatui::layout::Size;

/// Prints exactly as many lines as the frame has, taken once each source has answered or failed.
///
/// # Errors
/// No usable kubeconfig, context or credentials; what the pane is about cannot be read; or the output is gone.
pub async fn run(
    options: SourcesOptions,
    size: FrameSize,
    pane: &Pane,
    look: &TuiOptions,
) -> Result<Outcome, CliError> {
    let wanted = Wanted {
        demand: demand(pane),
        detail: detail(pane),
        logs: true,
    };
    let mut collected = collect::everything(options, wanted).await?;
    if !look.demo {
        collected.remember_boots();
    }
    let size = Size::new(size.width, size.height);
    let lines = tui::snapshot(&mut collected.store, pane, size, look, Utc::now())?;
    let mut text = lines.join("\n");
    text.push('\n');
    output::print(&text)?;
    match collect::unreadable(&collected.store, watched(pane)) {
        // The frame says it too, but a script reads the exit code.
        Some(problem) => Err(problem.into()),
        None => Ok(Outcome::Fine),
    }
}

/// The list that a pane cannot do without.
const fn watched(pane: &Pane) -> Watched {
    match pane {
        Pane::Nodes | Pane::Node(_) | Pane::Updates | Pane::Smb => Watched::Nodes,
        Pane::Pods | Pane::Pod(..) => Watched::Pods,
    }
}

/// What the screens would ask for with this pane on top.
fn demand(pane: &Pane) -> Demand {
    let nothing = Demand::default();
    match pane {
        Pane::Nodes => Demand {
            nodes: true,
            history: true,
            ..nothing
        },
        Pane::Updates => Demand {
            nodes: true,
            ..nothing
        },
        Pane::Pods | Pane::Pod(..) => Demand {
            containers: true,
            ..nothing
        },
        Pane::Smb => Demand { smb: true, ..nothing },
        Pane::Node(name) => Demand {
            nodes: true,
            containers: true,
            history: true,
            event_log: Some(name.clone()),
            smb: true,
        },
    }
}

/// What a page shows that no watch brings.
fn detail(pane: &Pane) -> Option<DetailKey> {
    match pane {
        Pane::Nodes | Pane::Pods | Pane::Updates | Pane::Smb => None,
        Pane::Node(name) => Some(DetailKey::Node(name.clone())),
        Pane::Pod(namespace, name) => Some(DetailKey::Pod(namespace.clone(), name.clone())),
    }
}
