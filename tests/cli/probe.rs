//! `probe`: the truth of a node, and nothing left behind.

use crate::operator::Operator;
use drainboard::lab::embedded::{Lab, LabOptions};
use serde_json::Value;

const NODE: &str = "k8s-lab-win-1";

async fn lab() -> (Lab, Operator) {
    let options = LabOptions {
        speed: 20.0,
        ..LabOptions::default()
    };
    let lab = Lab::start(options).await.unwrap();
    let operator = Operator::new();
    operator.file("config", lab.kubeconfig());
    (lab, operator)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_windows_node_tells_what_its_operator_would_look_up_by_hand() {
    let (lab, operator) = lab().await;
    let ended = operator
        .drainboard([
            "--kubeconfig",
            "config",
            "--request-timeout",
            "60s",
            "probe",
            NODE,
            "-o",
            "json",
        ])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    let truth: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(truth["reboot_required"]["value"], true);
    let mapping = &truth["smb_mappings"]["value"][0];
    assert_eq!(
        (&mapping["status"], &mapping["require_privacy"]),
        (&"OK".into(), &true.into())
    );
    assert_eq!(
        truth["smb_stagings"]["value"][0]["target"],
        mapping["remote_path"]
    );
    let limits = truth["limits"]["value"].as_array().unwrap();
    let hello = limits
        .iter()
        .find(|limits| limits["container"] == "hello")
        .unwrap();
    assert_eq!(
        (&hello["cpu_maximum"], &hello["memory_limit_bytes"]),
        (&1250.into(), &268_435_456.into())
    );
    assert_eq!(
        truth["hns_namespaces"]["value"], 8,
        "the node's own, and seven pods"
    );
    assert!(ended.err.contains("is removed"), "{}", ended.err);

    let ended = operator
        .drainboard([
            "--kubeconfig",
            "config",
            "--request-timeout",
            "60s",
            "probe",
            NODE,
        ])
        .await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.out, ended.err);
    for words in [
        "restart due: yes: RebootRequired is set",
        "OK, requires encryption",
        "3.1.1, encrypted, opened by WORKGROUP\\K8S-LAB-WIN-1$ (not the account of the Secret)",
        "CpuMaximum 1250 (12.5 % of the node), commit limit 268435456 bytes",
        "sandboxes that are not ready: none",
    ] {
        assert!(ended.out.contains(words), "`{words}` is not in:\n{}", ended.out);
    }
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_probed_says_why() {
    let (lab, operator) = lab().await;
    let probe = ["--kubeconfig", "config", "--request-timeout", "60s", "probe"];
    for (words, code, told) in [
        (
            &["k8s-lab-node-1"][..],
            3,
            "node k8s-lab-node-1 runs linux: only Windows nodes have HostProcess pods",
        ),
        (&["nowhere"], 3, "there is no node nowhere"),
        (&[NODE, "--read-only"], 12, "--read-only"),
        (
            &[NODE, "--host-process-namespace", "demo"],
            3,
            "namespace demo does not admit HostProcess pods",
        ),
    ] {
        let all: Vec<&str> = probe.iter().chain(words).copied().collect();
        operator.drainboard_with(&all).await.told(code, &[told]);
    }
    lab.stop().await;
}
