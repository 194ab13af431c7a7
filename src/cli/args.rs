//! What may be typed. Flags that choose the cluster stand before or after the command.

use super::exit::CliError;
use super::logs::LogsFormat;
use super::loki_args::LokiArgs;
use super::maintain::args::MaintainArgs;
use super::prometheus_args::PrometheusArgs;
use super::reboot_args::{HostProcessArgs, RebootArgs};
use super::values::{FrameSize, lines, period, speed, theme, wait};
use crate::tui::Pane;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// A terminal dashboard for hybrid (Linux and Windows) Kubernetes clusters.
#[derive(Parser, Clone, Debug, PartialEq)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 fine, 1 warnings (lint: errors), 2 critical findings, 3 the source that was asked for \
                  could not be read, 64 wrong usage; of maintain: 10 blocked, 11 timed out, 12 refused, \
                  13 aborted, 14 restarted but not updated.\nWithout a command the screens open."
)]
pub struct CommandLine {
    /// What to look at.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How Prometheus is reached.
    #[command(flatten)]
    pub prometheus: PrometheusArgs,
    /// How Loki is reached.
    #[command(flatten)]
    pub loki: LokiArgs,
    /// How the screens look.
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// How nodes are maintained from the screens.
    #[command(flatten)]
    pub upkeep: UpkeepArgs,
    /// Print one frame of the screens as text and exit
    #[arg(long, global = true, value_name = "COLUMNSxLINES")]
    pub snapshot: Option<FrameSize>,
    /// Pane that --snapshot prints: nodes, pods, updates, smb, node/NAME or pod/NAMESPACE/NAME
    #[arg(long, global = true, value_name = "PANE", default_value = "nodes")]
    pub pane: Pane,
    /// The command; without one the screens open.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to look at.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ClusterArgs {
    /// Context of the kubeconfig; the current one by default
    #[arg(long, global = true, value_name = "NAME", help_heading = "Cluster")]
    pub context: Option<String>,
    /// The kubeconfig; by default those of KUBECONFIG, else ~/.kube/config, else the pod's service account
    #[arg(long, global = true, value_name = "FILE", help_heading = "Cluster")]
    pub kubeconfig: Option<PathBuf>,
    /// Only this namespace
    #[arg(long, short, global = true, value_name = "NAME", help_heading = "Cluster")]
    pub namespace: Option<String>,
    /// All namespaces (the default)
    #[arg(long, short = 'A', global = true, help_heading = "Cluster")]
    pub all_namespaces: bool,
    /// Longest wait for an answer: seconds, or 3s, 500ms, 2m
    #[arg(
        long, global = true, value_name = "TIME", value_parser = wait, default_value = "10s",
        help_heading = "Cluster"
    )]
    pub request_timeout: Duration,
    /// Change nothing on the cluster, whatever is typed
    #[arg(long, global = true, help_heading = "Cluster")]
    pub read_only: bool,
}

/// How the screens look.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ScreenArgs {
    /// Colours: terminal or monochrome; without colours by default where the environment says so
    #[arg(long, global = true, value_name = "NAME", value_parser = theme, help_heading = "Screens")]
    pub theme: Option<String>,
    /// ASCII characters only; the default where the locale is not UTF-8
    #[arg(long, global = true, help_heading = "Screens")]
    pub ascii: bool,
}

/// How nodes are maintained from the screens. These stand before the command: `maintain` has its own.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct UpkeepArgs {
    /// How a node is restarted from the screens.
    #[command(flatten)]
    pub reboot: RebootArgs,
    /// Node label whose value divides the nodes of one build into pools; one node of a pool is out at a time
    #[arg(long, value_name = "LABEL", help_heading = "Screens")]
    pub pool_label: Option<String>,
}

/// The commands.
#[derive(Subcommand, Clone, Debug, PartialEq)]
pub enum Command {
    /// Print the nodes with CPU, commit and services
    Nodes(PrintArgs),
    /// Print the pods with CPU maximum, commit and working set
    Pods(PrintArgs),
    /// Print the logs of a pod or of the pods of a node, from Loki and the kubelets
    Logs(LogsArgs),
    /// Print the SMB mappings of the Windows nodes, with their accounts, pods and faults
    Smb(PrintArgs),
    /// Ask every source, and say what was found, what is missing and how to get it
    Check,
    /// Check manifests for what fails on Windows nodes
    Lint(LintArgs),
    /// Print alert rules for Prometheus
    Rules(RulesArgs),
    /// Show the variants of an image, and which nodes take which
    Image(ImageArgs),
    /// Take nodes through drain, update, restart, proof of the restart, network check and uncordon
    Maintain(Box<MaintainArgs>),
    /// Read the truth of a Windows node by a short-lived HostProcess pod on it, which is removed afterwards
    Probe(ProbeArgs),
    /// Open the screens on a simulated cluster; needs no cluster and no network
    Demo(DemoArgs),
    /// Play Windows nodes on a test cluster that is marked for it
    #[command(subcommand)]
    Lab(LabCommand),
}

/// Which lines `logs` prints, and how.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct LogsArgs {
    /// A node, or a pod as NAMESPACE/POD
    #[arg(value_name = "NODE|NAMESPACE/POD")]
    pub target: String,
    /// Only this container of the pod
    #[arg(long, short, value_name = "NAME")]
    pub container: Option<String>,
    /// How far back: seconds, or 90s, 30m, 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = period, default_value = "1h")]
    pub since: Duration,
    /// At most this many lines, the newest
    #[arg(long, value_name = "LINES", value_parser = lines, default_value = "1000")]
    pub tail: usize,
    /// Only lines that this regular expression matches
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Only lines that it does not match
    #[arg(long, short = 'v', requires = "grep")]
    pub invert_match: bool,
    /// Format
    #[arg(long, short, value_enum, default_value_t)]
    pub output: LogsFormat,
}

/// How `nodes`, `pods` and `smb` print.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct PrintArgs {
    /// Format
    #[arg(long, short, value_enum, default_value_t)]
    pub output: OutputFormat,
}

/// The formats.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// A table
    #[default]
    Table,
    /// A table with more columns
    Wide,
    /// JSON, stable
    Json,
}

/// What `lint` checks.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct LintArgs {
    /// Files of YAML or JSON with any number of objects; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Format
    #[arg(long, short, value_enum, default_value_t)]
    pub output: LintFormat,
}

/// The formats of `lint`.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LintFormat {
    /// For people: what, where, why, and what to do
    #[default]
    Text,
    /// JSON, stable
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

/// What `rules` prints.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct RulesArgs {
    /// Format
    #[arg(long, short, value_enum, default_value_t)]
    pub output: RulesFormat,
}

/// The formats of `rules`.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RulesFormat {
    /// An object for the Prometheus operator
    #[default]
    PrometheusRule,
    /// A file for `rule_files` of Prometheus
    Plain,
}

/// What `image` shows.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ImageArgs {
    /// The image, as in a pod spec: [REGISTRY/]REPOSITORY[:TAG][@DIGEST]
    #[arg(value_name = "IMAGE")]
    pub image: String,
    /// Format
    #[arg(long, short, value_enum, default_value_t)]
    pub output: ImageFormat,
}

/// The formats of `image`.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageFormat {
    /// A table
    #[default]
    Table,
    /// JSON, stable
    Json,
}

/// The truth of one node.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ProbeArgs {
    /// Name of the node
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Format
    #[arg(long, short, value_enum, default_value_t)]
    pub output: ProbeFormat,
    /// Where its pod is made.
    #[command(flatten)]
    pub host_process: HostProcessArgs,
}

/// How `probe` prints.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProbeFormat {
    /// Lines
    #[default]
    Text,
    /// JSON, stable
    Json,
}

/// The simulated cluster.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct DemoArgs {
    /// Run the simulated cluster alone until stopped: writes a kubeconfig to --kubeconfig and prints its URLs
    #[arg(long)]
    pub serve: bool,
    /// Windows nodes: the article's one, and more like it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9), default_value = "1")]
    pub windows_nodes: u8,
    /// How much faster than in the article things happen
    #[arg(long, value_name = "FACTOR", value_parser = speed, default_value = "1")]
    pub speed: f64,
}

/// Commands for test clusters. Each refuses an API server that does not carry the lab's mark.
#[derive(Subcommand, Clone, Debug, PartialEq)]
pub enum LabCommand {
    /// Run the simulated nodes against the API server of --kubeconfig
    Attach(AttachArgs),
    /// Restart a simulated node, as its operator does; returns once begun, like the five below
    Reboot(NodeArgs),
    /// Install the updates of a simulated node and restart it: its revision grows
    Update(NodeArgs),
    /// Cut the power of a simulated node; it comes back by itself
    Crash(NodeArgs),
    /// Make the next restart of a simulated node take a quarter of an hour
    SlowDisk(NodeArgs),
    /// Make deleted pods of a simulated node hang in Terminating until its next restart
    Stuck(NodeArgs),
    /// Let a program on a simulated node log 10 MB a second until its next restart
    Flood(NodeArgs),
}

/// A simulated node.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct NodeArgs {
    /// Name of the node
    #[arg(value_name = "NODE")]
    pub node: String,
}

/// The simulated nodes on a real API server.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct AttachArgs {
    /// Number of nodes, with --pods; without both it is the cluster of the article
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// Number of pods
    #[arg(long, value_name = "M")]
    pub pods: Option<u32>,
    /// Windows nodes of the article's cluster: its one, and more like it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9), default_value = "1")]
    pub windows_nodes: u8,
    /// Most pods of each of these, for measuring
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=250), default_value = "40")]
    pub windows_max_pods: u32,
    /// Pod updates a second, for measuring
    #[arg(long, value_name = "RATE", default_value = "0")]
    pub churn: f64,
    /// How much faster than in the article things happen
    #[arg(long, value_name = "FACTOR", value_parser = speed, default_value = "1")]
    pub speed: f64,
}

impl CommandLine {
    /// What clap cannot check, because a flag may stand before the command and its partner behind it.
    pub fn check(&self) -> Result<(), CliError> {
        let wrong = |text: &str| Err(CliError::Usage(text.to_owned()));
        if self.cluster.all_namespaces && self.cluster.namespace.is_some() {
            return wrong("--namespace and --all-namespaces exclude each other");
        }
        if self.snapshot.is_some() && !matches!(self.command, None | Some(Command::Demo(_))) {
            return wrong("--snapshot prints the screens: it stands alone or with demo");
        }
        if self.upkeep != UpkeepArgs::default() && !matches!(self.command, None | Some(Command::Demo(_))) {
            return wrong(
                "--reboot-command, --reboot-pod and --pool-label before the command are for the screens: give them behind \
                 `maintain`",
            );
        }
        let kubeconfig = self.cluster.kubeconfig.is_some();
        match &self.command {
            Some(Command::Demo(demo)) if demo.serve && !kubeconfig => {
                return wrong("demo --serve needs --kubeconfig FILE, to write it there");
            }
            Some(Command::Demo(demo)) if !demo.serve && kubeconfig => {
                return wrong("demo needs no --kubeconfig; with --serve it writes one");
            }
            Some(Command::Lab(_)) if self.cluster.read_only => {
                return wrong("lab changes the cluster that it plays in: it does not go with --read-only");
            }
            Some(Command::Lab(LabCommand::Attach(_))) if !kubeconfig => {
                return wrong("lab attach needs --kubeconfig FILE: it never takes a cluster by default");
            }
            _ => {}
        }
        self.prometheus.check()?;
        self.loki.check()
    }
}

#[cfg(test)]
mod tests;
