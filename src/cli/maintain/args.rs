//! What `drainboard maintain` takes. Flags that `kubectl drain` has mean here what they mean there.

use crate::cli::exit::CliError;
use crate::cli::reboot_args::RebootArgs;
use crate::cli::values::{limit, wait};
use crate::domain::selector::LabelSelector;
use crate::maintenance::options::{Options, Purpose};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The guided maintenance of nodes.
#[derive(Args, Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct MaintainArgs {
    /// The nodes, one after another; the first that does not end well ends the round
    #[arg(value_name = "NODE", required_unless_present = "status")]
    pub nodes: Vec<String>,
    /// What for: only an update asks whether the revision grew
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub purpose: PurposeArg,
    /// Give the confirmations beforehand; allows nothing else
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would happen, try the evictions on the server without effect, change nothing
    #[arg(long, conflicts_with_all = ["resume", "abandon", "status"])]
    pub dry_run: bool,
    /// Go on with the maintenance that is under way on the node
    #[arg(long, conflicts_with_all = ["abandon", "status"])]
    pub resume: bool,
    /// Give up the maintenance that is under way on the node, and leave the node as it is
    #[arg(long, conflicts_with = "status")]
    pub abandon: bool,
    /// List the maintenances that are under way
    #[arg(long)]
    pub status: bool,
    /// Take over the Lease and the record of somebody else, who gave up
    #[arg(long)]
    pub take_over: bool,
    /// Format: text, or one JSON object per line
    #[arg(long, short, value_enum, default_value_t)]
    pub output: EventFormat,
    /// Write a report at the end: Markdown, or JSON if the name ends with .json
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// How the node is restarted.
    #[command(flatten)]
    pub reboot: RebootArgs,
    /// Longest time from drained until the node's network is ready
    #[arg(long, value_name = "TIME", value_parser = wait, default_value = "30m", help_heading = "Restart")]
    pub restart_timeout: Duration,
    /// An update after which the revision is the same is fine
    #[arg(long, help_heading = "Restart")]
    pub accept_same_revision: bool,
    /// The update needs no restart: uncordon without one
    #[arg(long, help_heading = "Restart")]
    pub no_restart: bool,
    /// Labels of the pods that are the node's network, where they are not found by themselves
    #[arg(long, value_name = "SELECTOR", help_heading = "Restart")]
    pub network_selector: Option<LabelSelector>,
    /// The node has no network pods: do not wait for any
    #[arg(long, help_heading = "Restart")]
    pub no_network_gate: bool,
    /// Longest wait for the pods to be as ready as before
    #[arg(long, value_name = "TIME", value_parser = wait, default_value = "10m", help_heading = "Restart")]
    pub pods_timeout: Duration,
    /// Longest drain; 0 for no end
    #[arg(long, value_name = "TIME", value_parser = limit, default_value = "0", help_heading = "Drain, as kubectl has it")]
    pub timeout: Duration,
    /// Evict pods without a controller too: nothing brings them back
    #[arg(long, help_heading = "Drain, as kubectl has it")]
    pub force: bool,
    /// Evict pods with an emptyDir too: its data is lost
    #[arg(long, help_heading = "Drain, as kubectl has it")]
    pub delete_emptydir_data: bool,
    /// Seconds that each pod gets to stop; by default its own
    #[arg(long, value_name = "SECONDS", help_heading = "Drain, as kubectl has it")]
    pub grace_period: Option<u32>,
    /// Evict only pods with these labels
    #[arg(long, value_name = "SELECTOR", help_heading = "Drain, as kubectl has it")]
    pub pod_selector: Option<LabelSelector>,
    /// Do not wait for pods whose deletion is older than this many seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "0",
        help_heading = "Drain, as kubectl has it"
    )]
    pub skip_wait_for_delete_timeout: u32,
    /// Node label whose value divides the nodes of one build into pools; one node of a pool is out at a time
    #[arg(long, value_name = "LABEL")]
    pub pool_label: Option<String>,
}

/// What a maintenance is for.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurposeArg {
    /// Install updates and restart
    #[default]
    Update,
    /// Restart
    Restart,
    /// Bring a node back to health that restarted without drain
    Cleanup,
}

/// How events are printed.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventFormat {
    /// Sentences
    #[default]
    Text,
    /// One JSON object per line, stable
    Json,
}

impl MaintainArgs {
    /// The options of the maintenance.
    ///
    /// # Errors
    /// As [`RebootArgs::reboot`].
    pub fn options(&self) -> Result<Options, CliError> {
        Ok(Options {
            purpose: match self.purpose {
                PurposeArg::Update => Purpose::Update,
                PurposeArg::Restart => Purpose::Restart,
                PurposeArg::Cleanup => Purpose::Cleanup,
            },
            yes: self.yes,
            attended: false,
            grace_seconds: self.grace_period,
            drain_timeout: Some(self.timeout).filter(|limit| !limit.is_zero()),
            force: self.force,
            delete_emptydir_data: self.delete_emptydir_data,
            pod_selector: self.pod_selector.clone(),
            skip_wait_for_delete: (self.skip_wait_for_delete_timeout > 0)
                .then(|| Duration::from_secs(self.skip_wait_for_delete_timeout.into())),
            reboot: self.reboot.reboot()?,
            restart_timeout: self.restart_timeout,
            accept_same_revision: self.accept_same_revision,
            no_restart: self.no_restart,
            network_selector: self.network_selector.clone(),
            no_network_gate: self.no_network_gate,
            pods_timeout: self.pods_timeout,
            pool_label: self.pool_label.clone(),
        })
    }
}
