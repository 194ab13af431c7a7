//! `drainboard demo`: a simulated cluster in this process, over real HTTP on loopback, with the screens on it or
//! alone for other programs.

use super::args::DemoArgs;
use super::exit::{CliError, Outcome};
use super::values::FrameSize;
use super::{screens, signals, snapshot};
use crate::lab::embedded::{Lab, LabOptions};
use crate::lab::serve::serve;
use crate::sources::SourcesOptions;
use crate::tui::{Pane, TuiOptions};
use std::io::Write;
use tempfile::NamedTempFile;

/// Starts the cluster, opens the screens on it, or prints one frame of them, and stops it.
///
/// # Errors
/// The cluster cannot be started; what the screens say.
pub async fn run(
    options: SourcesOptions,
    demo: &DemoArgs,
    frame: Option<(FrameSize, &Pane)>,
    look: &TuiOptions,
) -> Result<Outcome, CliError> {
    let lab = Lab::start(lab_options(demo)).await?;
    // The sources read a file, here as everywhere; it is gone when the demo ends.
    let mut kubeconfig = NamedTempFile::new()?;
    kubeconfig.write_all(lab.kubeconfig().as_bytes())?;
    let options = SourcesOptions {
        kubeconfig: Some(kubeconfig.path().to_owned()),
        ..options
    };
    let outcome = match frame {
        Some((size, pane)) => snapshot::run(options, size, pane, look).await,
        None => screens::run(options, look).await,
    };
    lab.stop().await;
    outcome
}

/// Runs the cluster alone until a signal ends it; its kubeconfig is written to `--kubeconfig`.
///
/// # Errors
/// The file is somebody else's, or the cluster cannot be started.
pub async fn serve_alone(options: &SourcesOptions, demo: &DemoArgs) -> Result<Outcome, CliError> {
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
        ..LabOptions::default()
    }
}
