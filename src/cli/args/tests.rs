use super::*;
use clap::CommandFactory;

fn parsed(line: &str) -> CommandLine {
    typed(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn typed(line: &str) -> Result<CommandLine, String> {
    let words = std::iter::once("drainboard").chain(line.split_whitespace());
    let line = CommandLine::try_parse_from(words).map_err(|error| error.to_string())?;
    line.check().map_err(|error| error.to_string())?;
    Ok(line)
}

#[test]
fn the_definition_is_sound() {
    CommandLine::command().debug_assert();
}

#[test]
fn without_anything_the_screens_open_on_the_current_context() {
    let line = parsed("");
    assert_eq!(line.command, None);
    assert_eq!(line.cluster.context, None);
    assert_eq!(line.cluster.request_timeout, Duration::from_secs(10));
}

#[test]
fn flags_that_choose_the_cluster_stand_before_or_after_the_command() {
    let before = parsed("--context lab --request-timeout 3 -n win-demo --read-only pods -o json");
    let after = parsed("pods -o json --read-only --namespace win-demo --request-timeout 3s --context lab");
    assert_eq!(before, after);
    assert_eq!(before.cluster.namespace.as_deref(), Some("win-demo"));
    assert_eq!(before.cluster.request_timeout, Duration::from_secs(3));
    assert_eq!(
        before.command,
        Some(Command::Pods(PrintArgs {
            output: OutputFormat::Json
        }))
    );
}

#[test]
fn a_snapshot_names_size_and_pane() {
    let line = parsed("--snapshot 120x40 --pane pods");
    assert_eq!(
        line.snapshot,
        Some(FrameSize {
            width: 120,
            height: 40
        })
    );
    assert_eq!(line.pane, Pane::Pods);
    assert!(parsed("--snapshot 80x24 demo").snapshot.is_some());
}

#[test]
fn the_lab_is_served_with_a_kubeconfig_to_write() {
    let line = parsed("demo --serve --kubeconfig lab.yaml --speed 60");
    assert_eq!(line.cluster.kubeconfig, Some("lab.yaml".into()));
    assert_eq!(
        line.command,
        Some(Command::Demo(DemoArgs {
            windows_nodes: 1,
            serve: true,
            speed: 60.0
        }))
    );
}

#[test]
fn what_does_not_fit_together_is_refused_wherever_it_stands() {
    for (line, said) in [
        ("-A pods -n demo", "exclude each other"),
        ("pods -A -n demo", "exclude each other"),
        ("nodes --snapshot 80x24", "--snapshot"),
        ("--snapshot 80x24 nodes", "--snapshot"),
        ("demo --serve", "--kubeconfig"),
        ("demo --kubeconfig f", "--kubeconfig"),
        ("lab attach", "--kubeconfig"),
        ("lab reboot", "NODE"),
        ("lab crash k8s-lab-win-1 --read-only", "--read-only"),
        ("lab attach --kubeconfig f --read-only", "--read-only"),
        ("--prometheus-user me nodes", "--prometheus-password-file"),
        ("nodes --prometheus-token-file f", "--prometheus"),
        (
            "--prometheus http://p --prometheus-cert c nodes",
            "--prometheus-key",
        ),
        ("nodes -o yaml", "table, wide, json"),
        ("pots", "pots"),
        ("--snapshot 80", "COLUMNSxLINES"),
        ("--request-timeout 0 nodes", "more than zero"),
        ("--pane logs", "nodes, pods"),
        ("--theme pink", "pink"),
        ("nodes extra", "extra"),
    ] {
        let error = typed(line).expect_err(line);
        assert!(error.contains(said), "{line}: {error}");
    }
}

#[test]
fn each_verb_of_the_lab_names_a_node() {
    let of = NodeArgs {
        node: "k8s-lab-win-1".to_owned(),
    };
    for (verb, command) in [
        ("reboot", LabCommand::Reboot(of.clone())),
        ("update", LabCommand::Update(of.clone())),
        ("crash", LabCommand::Crash(of.clone())),
        ("slow-disk", LabCommand::SlowDisk(of.clone())),
        ("stuck", LabCommand::Stuck(of)),
    ] {
        let line = parsed(&format!("--kubeconfig lab.yaml lab {verb} k8s-lab-win-1"));
        assert_eq!(line.command, Some(Command::Lab(command)));
    }
}
