//! The printed rules, judged by Prometheus's own tool.

use crate::operator::Operator;
use crate::part::part;
use std::process::Command;

#[tokio::test]
async fn promtool_takes_the_plain_file_and_its_unit_tests_hold() {
    let Some(promtool) = part("promtool") else {
        return;
    };
    let operator = Operator::new();
    let printed = operator.drainboard(["rules", "-o", "plain"]).await;
    assert_eq!(printed.code, 0, "{}", printed.err);
    operator.file("drainboard.rules.yaml", &printed.out);
    operator.file(
        "drainboard.test.yaml",
        include_str!("../data/rules/drainboard.test.yaml"),
    );
    for arguments in [
        [
            "check",
            "rules",
            "--lint=all",
            "--lint-fatal",
            "drainboard.rules.yaml",
        ]
        .as_slice(),
        &["test", "rules", "drainboard.test.yaml"],
    ] {
        let output = Command::new(&promtool)
            .args(arguments)
            .current_dir(operator.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "promtool {arguments:?}: {told}");
    }
}

#[tokio::test]
async fn the_object_of_the_operator_is_the_default() {
    let operator = Operator::new();
    let printed = operator.drainboard(["rules"]).await;
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(
        printed
            .out
            .starts_with("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n")
    );
    assert_eq!(
        printed.out,
        operator.drainboard(["rules", "-o", "prometheus-rule"]).await.out
    );
    operator
        .drainboard(["rules", "-o", "yaml"])
        .await
        .told(64, &["prometheus-rule", "plain"]);
}
