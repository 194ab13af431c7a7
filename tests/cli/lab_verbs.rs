//! Given the lab in another process, the operator plays on its nodes from a shell.

use crate::operator::Operator;
use drainboard::lab::embedded::{Lab, LabOptions};
use serde_json::Value;
use std::time::Duration;

const WIN: &str = "k8s-lab-win-1";
const PATIENCE: Duration = Duration::from_mins(1);

async fn lab() -> (Lab, Operator) {
    let options = LabOptions {
        speed: 40.0,
        ..LabOptions::default()
    };
    let lab = Lab::start(options).await.unwrap();
    let operator = Operator::new();
    operator.file("config", lab.kubeconfig());
    (lab, operator)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_begun_and_the_node_comes_back_with_a_new_boot_id_and_revision() {
    let (lab, operator) = lab().await;
    let begun = operator
        .drainboard([
            "lab",
            "update",
            WIN,
            "--kubeconfig",
            "config",
            "--request-timeout",
            "60s",
        ])
        .await;
    begun.told(0, &["node k8s-lab-win-1 has installed its updates and restarts"]);
    let came_back = async {
        loop {
            let ended = operator
                .drainboard(["nodes", "-o", "json", "--kubeconfig", "config"])
                .await;
            let nodes: Value = serde_json::from_str(&ended.out).unwrap_or_default();
            let mut items = nodes["items"].as_array().into_iter().flatten();
            if items.any(|node| node["name"] == WIN && node["boot_id"] == "12" && node["revision"] == 33674) {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, came_back).await.unwrap();
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_node_is_wrong_usage() {
    let (lab, operator) = lab().await;
    let ended = operator
        .drainboard(["lab", "crash", "k8s-lab-win-9", "--kubeconfig", "config"])
        .await;
    ended.told(64, &["there is no node `k8s-lab-win-9`", "drainboard nodes"]);
    lab.stop().await;
}

#[tokio::test]
async fn without_a_kubeconfig_no_cluster_is_taken_by_default() {
    let operator = Operator::new();
    let ended = operator.drainboard(["lab", "stuck", WIN]).await;
    ended.told(64, &["--kubeconfig FILE or KUBECONFIG"]);
}
