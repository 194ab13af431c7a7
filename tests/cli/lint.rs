//! Manifests in files and on standard input, and what the shell sees.

use crate::operator::Operator;
use serde_json::Value;

const GOOD: &str = include_str!("../data/lint/hello-win.yaml");
const BAD: &str = include_str!("../data/lint/linux-habits.yaml");

#[tokio::test]
async fn the_articles_manifest_is_fine() {
    let operator = Operator::new();
    operator.file("hello-win.yaml", GOOD);
    let ended = operator.drainboard(["lint", "hello-win.yaml"]).await;
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert_eq!(
        ended.out,
        "1 pod template, 1 for Windows: 0 errors, 0 warnings, 0 notes\n"
    );
}

#[tokio::test]
async fn what_was_carried_over_from_linux_is_told_line_by_line() {
    let operator = Operator::new();
    operator.file("linux-habits.yaml", BAD);
    let ended = operator.drainboard(["lint", "linux-habits.yaml"]).await;
    assert_eq!(ended.code, 1, "{}", ended.err);
    insta::assert_snapshot!("lint_text", ended.out);
}

#[tokio::test]
async fn json_has_the_same_for_scripts() {
    let operator = Operator::new();
    operator.file("hello-win.yaml", GOOD);
    operator.file("linux-habits.yaml", BAD);
    let ended = operator
        .drainboard(["lint", "-o", "json", "hello-win.yaml", "linux-habits.yaml"])
        .await;
    assert_eq!(ended.code, 1);
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(document["files"], 2);
    assert_eq!(document["pod_templates"], 3);
    assert_eq!(document["windows_pod_templates"], 2);
    for item in document["items"].as_array().unwrap() {
        assert_eq!(item["file"], "linux-habits.yaml");
        let line = usize::try_from(item["line"].as_u64().unwrap()).unwrap();
        assert!(BAD.lines().count() >= line);
        for field in ["severity", "id", "object", "title", "why"] {
            assert!(
                item[field].as_str().is_some_and(|text| !text.is_empty()),
                "{item}"
            );
        }
        assert!(!item["remedy"].as_array().unwrap().is_empty(), "{item}");
    }
}

#[tokio::test]
async fn standard_input_is_a_file_too() {
    let operator = Operator::new();
    let ended = operator.drainboard_given(&["lint", "-"], BAD).await;
    assert_eq!(ended.code, 1);
    assert!(ended.out.starts_with("stdin:"), "{}", ended.out);
    operator
        .drainboard(["lint", "-", "-"])
        .await
        .told(64, &["can be read once"]);
    operator.drainboard(["lint"]).await.told(64, &["FILE"]);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_told_beside_the_findings_of_the_others() {
    let operator = Operator::new();
    operator.file("linux-habits.yaml", BAD);
    operator.file(
        "template.yaml",
        "kind: Pod\nspec:\n  nodeName: {{ .Values.node }}\n",
    );
    let ended = operator
        .drainboard(["lint", "missing.yaml", "linux-habits.yaml", "template.yaml"])
        .await;
    ended.told(
        3,
        &[
            "missing.yaml: No such file",
            "template.yaml:3: no YAML: ",
            "helm template",
        ],
    );
    assert!(ended.out.contains("linux-habits.yaml:"));
}
