//! `drainboard demo`: the simulated cluster with the screens on it, or alone for other programs.

use super::args::DemoArgs;
use super::exit::{CliError, Outcome};
use super::values::FrameSize;
use super::{screens, signals, snapshot};
use crate::lab::embedded::{Lab, LabOptions};
use crate::lab::serve::serve;
use crate::maintenance::options::Reboot;
use crate::sources::SourcesOptions;
use crate::tui::{Pane, TuiOptions};
use std::io::Write;
use std::path::Path;

/// Starts the lab and opens the screens on it, or prints one frame of them.
///
/// # Errors
/// The lab cannot be started; what the screens say.
pub async fn screens_on_lab(
    demo: &DemoArgs,
    mut options: SourcesOptions,
    frame: Option<(FrameSize, &Pane)>,
    look: &TuiOptions,
) -> Result<Outcome, CliError> {
    let lab = Lab::start(lab_options(demo)).await?;
    // the sources read a file, like everybody else; it holds a token and is gone with the demo
    let mut file = tempfile::Builder::new().prefix("drainboard-demo-").tempfile()?;
    file.write_all(lab.kubeconfig().as_bytes())?;
    options.kubeconfig = Some(file.path().to_owned());
    options.context = None;
    let mut look = look.clone();
    if look.maintenance.options.reboot.is_none() {
        look.maintenance.options.reboot = operators_hand(file.path()).map(Reboot::Command);
    }
    let outcome = match frame {
        Some((size, pane)) => snapshot::run(options, size, pane, &look).await,
        None => screens::run(options, &look).await,
    };
    lab.stop().await;
    outcome
}

/// The reboot command of the demo: nobody sits at its nodes, so the lab installs the updates and restarts.
fn operators_hand(kubeconfig: &Path) -> Option<Vec<String>> {
    let program = std::env::current_exe().ok()?;
    let words = [
        program.to_str()?,
        "--kubeconfig",
        kubeconfig.to_str()?,
        "lab",
        "update",
        "{node}",
    ];
    Some(words.map(str::to_owned).to_vec())
}

/// Runs the lab alone until a signal ends it.
///
/// # Errors
/// The kubeconfig is somebody else's, or the lab cannot be started.
pub async fn serve_alone(demo: &DemoArgs, options: &SourcesOptions) -> Result<Outcome, CliError> {
    let Some(kubeconfig) = &options.kubeconfig else {
        return Err(CliError::Usage(
            "demo --serve needs --kubeconfig FILE, to write it there".to_owned(),
        ));
    };
    let cancel = signals::cancelled_by_signals()?;
    serve(lab_options(demo), kubeconfig, &mut std::io::stdout(), cancel).await?;
    Ok(Outcome::Fine)
}

fn lab_options(demo: &DemoArgs) -> LabOptions {
    LabOptions {
        speed: demo.speed,
        windows_nodes: demo.windows_nodes,
        ..LabOptions::default()
    }
}
