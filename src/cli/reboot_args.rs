//! How this program restarts a node, as `maintain` and the screens take it, and where its HostProcess pods are made.

use super::exit::CliError;
use crate::domain::host_process::{DEFAULT_IMAGE, DEFAULT_NAMESPACE, HostPod};
use crate::maintenance::options::Reboot;
use clap::Args;

/// How a node is restarted.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct RebootArgs {
    /// Command that restarts a node, split into words, without a shell; {node} and {address} are replaced
    #[arg(long, value_name = "COMMAND", help_heading = "Restart")]
    pub reboot_command: Option<String>,
    /// Restart a Windows node by a short-lived HostProcess pod on it; an update only if updates wait for it
    #[arg(long, conflicts_with = "reboot_command", help_heading = "Restart")]
    pub reboot_pod: bool,
    /// Where its pod is made.
    #[command(flatten)]
    pub host_process: HostProcessArgs,
}

/// Where HostProcess pods are made, and from what.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct HostProcessArgs {
    /// Image of the HostProcess pod: any Windows image, none of its programs is used
    #[arg(long, value_name = "IMAGE", help_heading = "HostProcess pod")]
    pub host_process_image: Option<String>,
    /// Namespace of the HostProcess pod, kube-system by default; its Pod Security must be privileged
    #[arg(long, value_name = "NAME", help_heading = "HostProcess pod")]
    pub host_process_namespace: Option<String>,
}

impl HostProcessArgs {
    /// What was asked for, or the defaults.
    pub fn place(&self) -> HostPod {
        let image = self.host_process_image.as_deref().unwrap_or(DEFAULT_IMAGE);
        let namespace = self
            .host_process_namespace
            .as_deref()
            .unwrap_or(DEFAULT_NAMESPACE);
        HostPod {
            image: image.to_owned(),
            namespace: namespace.into(),
        }
    }
}

impl RebootArgs {
    /// What was asked for; `None` leaves the restart to the operator's hand.
    ///
    /// # Errors
    /// The command is empty or has an open quote; a pod is described but not asked for.
    pub fn reboot(&self) -> Result<Option<Reboot>, CliError> {
        if let Some(command) = &self.reboot_command {
            return words(command).map(|words| Some(Reboot::Command(words)));
        }
        if self.reboot_pod {
            return Ok(Some(Reboot::Pod(self.host_process.place())));
        }
        if self.host_process != HostProcessArgs::default() {
            return Err(CliError::Usage(
                "--host-process-image and --host-process-namespace go with --reboot-pod".to_owned(),
            ));
        }
        Ok(None)
    }
}

fn words(command: &str) -> Result<Vec<String>, CliError> {
    shell_words::split(command)
        .ok()
        .filter(|words| !words.is_empty())
        .ok_or_else(|| CliError::Usage(format!("--reboot-command '{command}' cannot be split into words")))
}
