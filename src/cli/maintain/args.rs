//! What `drainboard maintain` takes. Flags that `kubectl drain` has mean here what they mean there.

use crate::cli::exit::CliError;
use crate::cli::reboot_args::RebootArgs;
use crate::cli::values::{limit, wait};
use crate::domain::selector::LabelSelector;
use crate::maintenance::options::{Options, Purpose};
use crate::maintenance::round::plan::Terms;
use crate::maintenance::window::{DaysAfter, Window};
use crate::sources::prometheus::matcher::Matcher;
use clap::{Args, ValueEnum};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// The guided maintenance of nodes.
#[derive(Args, Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct MaintainArgs {
    /// The nodes, one after another; the first that does not end well stops the round
    #[arg(value_name = "NODE", required_unless_present_any = ["status", "resume", "abandon", "pool", "selector"])]
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
    /// Go on with the maintenance that is under way on the node; without NODE, with the round that was begun last here
    #[arg(long, conflicts_with_all = ["abandon", "status"])]
    pub resume: bool,
    /// Give up the maintenance that is under way on the node, or without NODE the round; nodes are left as they are
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
    /// All nodes of a pool: a Windows build (10.0.26100) or linux, followed by -VALUE with --pool-label
    #[arg(long, value_name = "POOL", conflicts_with_all = ["nodes", "status"], help_heading = "Round")]
    pub pool: Option<String>,
    /// All nodes with these labels
    #[arg(
        long, short = 'l', value_name = "SELECTOR", conflicts_with_all = ["nodes", "pool", "status"],
        help_heading = "Round"
    )]
    pub selector: Option<LabelSelector>,
    /// Which node comes first; by default as given, and by name where --pool or --selector chooses
    #[arg(long, value_enum, value_name = "ORDER", conflicts_with_all = ["resume", "abandon"], help_heading = "Round")]
    pub order: Option<Order>,
    /// After the first node, go on only once somebody confirms; without a terminal the round ends there (--resume goes on)
    #[arg(long, help_heading = "Round")]
    pub pause_after_first: bool,
    /// After each node, wait this long; a pod of its workloads that does not stay ready stops the round
    #[arg(long, value_name = "TIME", value_parser = wait, help_heading = "Round")]
    pub soak: Option<Duration>,
    /// Begin nodes in this window only: [DAYS] HH:MM-HH:MM ZONE, for example 'Sat,Sun 22:00-04:00 Europe/Berlin'
    #[arg(long, value_name = "WINDOW", help_heading = "Round")]
    pub window: Option<Window>,
    /// The window opens only so many days after Patch Tuesday: 4, or 4-6
    #[arg(long, value_name = "DAYS", requires = "window", help_heading = "Round")]
    pub patch_tuesday_plus: Option<DaysAfter>,
    /// Begin no node while alerts with these labels fire, or while Prometheus does not tell; for example severity=critical
    #[arg(long, value_name = "MATCHERS", help_heading = "Round")]
    pub block_on_alerts: Option<String>,
}

/// Which node of a round comes first.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By name
    Name,
    /// The node with the fewest pods first
    FewestPods,
    /// As they stand on the command line
    AsGiven,
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

    /// What stands between the nodes of a round.
    ///
    /// # Errors
    /// The window never opens, or the alerts are none.
    pub fn terms(&self) -> Result<Terms, CliError> {
        let wrong = |flag: &str, error: &dyn Display| CliError::Usage(format!("{flag}: {error}"));
        if let Some(matchers) = &self.block_on_alerts {
            Matcher::of_alerts(matchers).map_err(|error| wrong("--block-on-alerts", &error))?;
        }
        let window = match (self.window.clone(), self.patch_tuesday_plus.clone()) {
            (Some(window), Some(after)) => {
                let bounded = window.on_days_after(after);
                Some(bounded.map_err(|error| wrong("--patch-tuesday-plus", &error))?)
            }
            (window, _) => window,
        };
        Ok(Terms {
            pause_after_first: self.pause_after_first,
            soak: self.soak,
            window,
            alerts: self.block_on_alerts.clone(),
        })
    }
}
