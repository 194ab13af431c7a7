//! `drainboard demo`: the screens on a simulated cluster in this process, over real HTTP on loopback.

use super::args::DemoArgs;
use super::exit::{CliError, Outcome};
use super::values::FrameSize;
use super::{screens, snapshot};
use crate::lab::embedded::{Lab, LabOptions};
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
    let lab = Lab::start(LabOptions {
        speed: demo.speed,
        ..LabOptions::default()
    })
    .await?;
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
