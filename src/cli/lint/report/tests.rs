//! Given such files, the operator is told which lines are wrong.

use super::super::{sarif, text};
use super::*;

const HELLO: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: hello-win
  namespace: win-demo
spec:
  template:
    spec:
      os:
        name: windows
      runtimeClassName: windows-2025
      containers:
      - name: hello
        image: ghcr.io/example/hello:1.3
        resources:
          limits:
            memory: 256Mi
        securityContext:
          runAsUser: 65532
";

fn checked(files: &[(&str, &str)]) -> Report {
    let mut report = Report::default();
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    report.add(files.collect());
    report
}

fn found(report: &Report) -> Vec<(&str, u64, &str)> {
    report
        .items
        .iter()
        .map(|item| (item.file.as_str(), item.line, item.finding.id))
        .collect()
}

#[test]
fn a_finding_stands_at_its_line() {
    let report = checked(&[("hello.yaml", HELLO)]);
    assert_eq!(found(&report), [("hello.yaml", 19, "linux-only-field")]);
    assert_eq!(report.items[0].object, "Deployment win-demo/hello-win");
    assert_eq!(report.items[0].field, "containers[0].securityContext.runAsUser");
    assert!(report.has_errors());
}

#[test]
fn a_missing_field_is_shown_at_the_nearest_one_above() {
    let report = checked(&[(
        "hello.yaml",
        &HELLO.replace("          limits:\n            memory: 256Mi\n", ""),
    )]);
    assert!(
        found(&report).contains(&("hello.yaml", 13, "no-memory-limit")),
        "{report:?}"
    );
}

#[test]
fn every_workload_kind_is_looked_into_and_lists_too() {
    let spec = "{os: {name: windows}, hostPID: true, runtimeClassName: w, containers: [{name: a, image: b, resources: {limits: {memory: 1Gi}}}]}";
    let template = format!("{{template: {{spec: {spec}}}}}");
    let with_template = [
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
        "Rollout",
    ];
    let mut texts: Vec<String> = with_template
        .iter()
        .map(|kind| format!("{{kind: {kind}, metadata: {{name: x}}, spec: {template}}}"))
        .collect();
    texts.push(format!("{{kind: Pod, metadata: {{name: x}}, spec: {spec}}}"));
    texts.push(format!(
        "{{kind: PodTemplate, metadata: {{name: x}}, template: {{spec: {spec}}}}}"
    ));
    texts.push(format!(
        "{{kind: CronJob, metadata: {{name: x}}, spec: {{jobTemplate: {{spec: {template}}}}}}}"
    ));
    let stream = texts.join("\n---\n");
    let report = checked(&[("all.yaml", &stream)]);
    assert_eq!((report.templates, report.windows_templates), (10, 10));
    assert_eq!(report.count(Severity::Critical), 10, "{:?}", found(&report));
    let list = format!("{{kind: List, items: [\n{}\n]}}", texts.join(",\n"));
    let report = checked(&[("list.yaml", &list)]);
    assert_eq!(report.windows_templates, 10);
    assert_eq!(report.items[3].line, 5, "the fourth item stands there");
}

#[test]
fn what_is_not_for_windows_is_counted_and_passed_over() {
    let report = checked(&[(
        "linux.yaml",
        "kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: nginx, securityContext: {privileged: true}}]}\n---\nkind: Service\nspec: {ports: []}\n---\njust text\n",
    )]);
    assert_eq!(
        (report.templates, report.windows_templates, report.items.len()),
        (1, 0, 0)
    );
    assert_eq!(
        text::text(&report),
        "1 pod template, none of them for Windows: nothing to check\n"
    );
}

#[test]
fn a_runtime_class_and_a_claim_in_another_file_count() {
    let workload = HELLO.replace(
        "        securityContext:\n          runAsUser: 65532\n",
        "      volumes:\n      - name: data\n        persistentVolumeClaim: {claimName: data}\n",
    );
    let around = "\
kind: RuntimeClass
metadata: {name: windows-2025}
handler: runhcs-wcow-process
scheduling:
  nodeSelector: {kubernetes.io/os: windows, node.kubernetes.io/windows-build: 10.0.20348}
---
kind: PersistentVolumeClaim
metadata: {name: data, namespace: win-demo}
spec: {storageClassName: files}
---
kind: StorageClass
metadata: {name: files}
provisioner: nfs.csi.k8s.io
";
    assert_eq!(found(&checked(&[("hello.yaml", &workload)])), []);
    let report = checked(&[("hello.yaml", &workload), ("around.yaml", around)]);
    assert_eq!(
        found(&report),
        [
            ("hello.yaml", 8, "taint-not-tolerated"),
            ("hello.yaml", 19, "nfs-volume"),
        ]
    );
}

#[test]
fn values_that_the_api_server_refuses_are_errors_at_their_lines() {
    let report = checked(&[(
        "wrong.yaml",
        &HELLO
            .replace("256Mi", "256MB")
            .replace("runAsUser: 65532", "runAsNonRoot: perhaps"),
    )]);
    let titles: Vec<(u64, &str)> = report
        .items
        .iter()
        .filter(|item| item.finding.id == "wrong-value")
        .map(|item| (item.line, item.finding.title.as_str()))
        .collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert_eq!(titles[0].0, 17);
    assert!(titles[0].1.contains("`256MB`"), "{titles:?}");
    assert_eq!(
        titles[1],
        (19, "runAsNonRoot is text, and has to be true or false")
    );
}

#[test]
fn bad_yaml_is_told_with_its_line_and_the_other_files_are_checked() {
    let report = checked(&[("bad.yaml", "kind: Pod\nspec: [\n"), ("hello.yaml", HELLO)]);
    assert_eq!(report.items.len(), 1);
    let problem = Problem::from(&report.unreadable[0]);
    assert!(problem.what.starts_with("bad.yaml:2: no YAML: "), "{problem}");
    assert!(problem.next_step.contains("helm template"));
}

#[test]
fn hostile_names_steer_no_terminal() {
    let report = checked(&[(
        "hello.yaml",
        &HELLO.replace("name: hello-win", "name: \"a\\e]52;c;eA==\\a\\u202eb\""),
    )]);
    let text = text::text(&report);
    assert!(text.contains("Deployment win-demo/ab:"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']));
}

#[test]
fn sarif_follows_the_schema_of_the_standard() {
    let schema = include_str!("../../../../tests/data/sarif/sarif-schema-2.1.0.json");
    // Its regular expression for a language has a bracket that Rust takes for a mistake.
    let schema = schema.replace("{2}]?$", "{2}$");
    let schema = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for files in [
        &[("folder\\my file:1.yaml", HELLO), ("bad.yaml", "a: [")][..],
        &[],
    ] {
        let log = serde_json::to_value(sarif::log(&checked(files))).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, [] as [String; 0], "{log:#}");
        if !files.is_empty() {
            let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "folder/my%20file%3A1.yaml");
            assert_eq!(place["region"]["startLine"], 19);
            assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
        }
    }
}
