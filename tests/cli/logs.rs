//! Given the lab, an operator reads logs from a shell.

use crate::operator::Operator;
use drainboard::lab::embedded::{Lab, LabOptions, Switch};
use serde_json::Value;

async fn lab() -> (Lab, Operator) {
    let lab = Lab::start(LabOptions::default()).await.unwrap();
    let operator = Operator::new();
    operator.file("config", lab.kubeconfig());
    (lab, operator)
}

fn items(out: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(out).unwrap();
    document["items"].as_array().unwrap().clone()
}

const HELLO: &str = "win-demo/hello-win-759c899954-tq5nc";

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_a_pod_come_from_loki_and_the_kubelet_and_none_twice() {
    let (lab, operator) = lab().await;
    let ended = operator
        .drainboard([
            "logs",
            HELLO,
            "-o",
            "json",
            "--since",
            "12h",
            "--kubeconfig",
            "config",
        ])
        .await;
    ended.told(0, &[]);
    let lines = items(&ended.out);
    let mut times: Vec<&str> = lines.iter().map(|line| line["time"].as_str().unwrap()).collect();
    assert!(times.is_sorted());
    times.dedup();
    assert_eq!(times.len(), lines.len(), "each line once");
    let from = |source: &str| lines.iter().filter(|line| line["source"] == source).count();
    assert!(from("loki") > 100, "{}", from("loki"));
    assert_eq!(lines[lines.len() - 1]["node"], "k8s-lab-win-1");
    assert!(
        lines
            .iter()
            .all(|line| line["pod"] == "hello-win-759c899954-tq5nc")
    );
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_loki_the_kubelets_answer_and_the_operator_is_told() {
    let (lab, operator) = lab().await;
    lab.set(Switch::Loki, false);
    let ended = operator
        .drainboard([
            "logs",
            HELLO,
            "-o",
            "json",
            "--tail",
            "5",
            "--kubeconfig",
            "config",
        ])
        .await;
    ended.told(0, &["loki", "raise --tail"]);
    let lines = items(&ended.out);
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|line| line["source"] == "kubernetes"));
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_linux_node_that_loki_does_not_know_is_asked_itself() {
    let (lab, operator) = lab().await;
    let ended = operator
        .drainboard([
            "logs",
            "k8s-lab-node-1",
            "--grep",
            "iteration",
            "--tail",
            "3",
            "--kubeconfig",
            "config",
        ])
        .await;
    ended.told(0, &[]);
    assert_eq!(ended.out.lines().count(), 3);
    assert!(
        ended.out.lines().all(|line| line.contains("iteration")),
        "{}",
        ended.out
    );
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_said_with_what_to_do() {
    let (lab, operator) = lab().await;
    for (words, code, told) in [
        (&["win-demo/nope"][..], 3, "`drainboard pods`"),
        (&["k8s-lab-node-9"], 3, "`drainboard nodes`"),
        (&[HELLO, "-c", "side"], 64, "choose one of: hello"),
        (&["a/b/c"], 64, "NAMESPACE/POD"),
        (&["k8s-lab-win-1", "-c", "hello"], 64, "--container is for a pod"),
        (&[HELLO, "--grep", "("], 64, "is no regular expression"),
    ] {
        let mut all = vec!["logs"];
        all.extend(words);
        all.extend(["--kubeconfig", "config"]);
        operator.drainboard_with(&all).await.told(code, &[told]);
    }
    lab.stop().await;
}
