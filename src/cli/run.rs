//! From the parsed command line to its command.

use super::args::{Command, CommandLine};
use super::exit::{CliError, Outcome};
use super::{
    check, demo, image, lab, lint, logs, maintain, nodes, pods, probe, rules, screens, smb, snapshot,
};
use crate::maintenance::options::Options;
use crate::sources::SourcesOptions;
use crate::tui::TuiOptions;
use crate::tui::sessions::Terms;

/// Runs what the command line asks for.
///
/// # Errors
/// Wrong usage, or what the command says.
pub async fn run(line: CommandLine) -> Result<Outcome, CliError> {
    line.check()?;
    let options = sources_options(&line)?;
    let demo = matches!(line.command, Some(Command::Demo(_)));
    let look = TuiOptions {
        read_only: line.cluster.read_only,
        demo,
        ascii: line.screen.ascii,
        theme: line.screen.theme,
        maintenance: Terms {
            options: Options {
                reboot: line.upkeep.reboot.reboot()?,
                pool_label: line.upkeep.pool_label.clone(),
                ..Options::default()
            },
            by: maintain::by(),
            request_timeout: line.cluster.request_timeout,
            // The next demo is another cluster.
            remembers_boots: !demo,
        },
    };
    match (line.command, line.snapshot) {
        (Some(Command::Nodes(print)), _) => nodes::run(options, print.output).await,
        (Some(Command::Pods(print)), _) => pods::run(options, print.output).await,
        (Some(Command::Smb(print)), _) => smb::run(options, print.output).await,
        (Some(Command::Maintain(args)), _) => {
            Box::pin(maintain::run(&args, options, line.cluster.read_only)).await
        }
        (Some(Command::Lint(args)), _) => lint::run(&args),
        (Some(Command::Rules(args)), _) => rules::run(args.output),
        (Some(Command::Image(args)), _) => image::run(&args, options).await,
        (Some(Command::Logs(args)), _) => logs::run(&args, options).await,
        (Some(Command::Check), _) => check::run(options).await,
        (Some(Command::Probe(args)), _) => probe::run(&args, options, line.cluster.read_only).await,
        (Some(Command::Demo(args)), _) if args.serve => demo::serve_alone(&args, &options).await,
        (Some(Command::Demo(args)), size) => {
            let frame = size.map(|size| (size, &line.pane));
            Box::pin(demo::screens_on_lab(&args, options, frame, &look)).await
        }
        (Some(Command::Lab(command)), _) => lab::run(&command, options).await,
        (None, Some(size)) => snapshot::run(options, size, &line.pane, &look).await,
        (None, None) => screens::run(options, &look).await,
    }
}

fn sources_options(line: &CommandLine) -> Result<SourcesOptions, CliError> {
    Ok(SourcesOptions {
        kubeconfig: line.cluster.kubeconfig.clone(),
        context: line.cluster.context.clone(),
        namespace: line.cluster.namespace.clone(),
        pod_selector: String::new(),
        prometheus: line.prometheus.options()?,
        loki: line.loki.options()?,
        request_timeout: line.cluster.request_timeout,
        interactive: true,
    })
}
