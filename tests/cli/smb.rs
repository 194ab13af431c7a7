//! Given the cluster of the article, `drainboard smb` prints its mapping.

use crate::operator::Operator;
use drainboard::lab::apiserver::User;
use drainboard::lab::embedded::{Lab, LabOptions};
use serde_json::{Value, json};

async fn printed(operator: &Operator, words: &[&str]) -> String {
    let mut all = vec!["--kubeconfig", "config", "--request-timeout", "60s", "smb"];
    all.extend(words);
    let ended = operator.drainboard_with(&all).await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    ended.out
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mapping_of_the_article_as_a_table_and_as_json() {
    let lab = Lab::start(LabOptions::default()).await.unwrap();
    let operator = Operator::new();
    operator.file("config", lab.kubeconfig());

    let document: Value = serde_json::from_str(&printed(&operator, &["-o", "json"]).await).unwrap();
    let items = document["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{document}");
    let item = &items[0];
    let volume = "pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
    let remote = format!(r"\\files.example.com\k8s\win-demo-reports-{volume}");
    assert_eq!(item["node"], "k8s-lab-win-1");
    assert_eq!(item["remote_path"], remote.as_str());
    assert_eq!(
        item["volumes"],
        json!([{
            "name": volume,
            "phase": "Bound",
            "claim": "win-demo/reports",
            "claim_phase": "Bound",
            "storage_class": "smb",
            "staging_hash": "baecf4ef08a658e21cb8545a32bc8fa6d0e686b7609dd86a15c949060a26e442",
        }])
    );
    assert_eq!(item["pods"][0]["running"], true);
    assert_eq!(item["account"]["value"], r"AZURE\svc-k8s-smb");
    assert_eq!(item["account"]["source"], "kubernetes");
    assert_eq!(item["privacy"]["value"], "on");
    assert!(item["staged_at"]["value"].is_string(), "{item}");
    assert_eq!(
        (&item["state"], &item["state_source"]),
        (&json!("mapped"), &json!("log"))
    );
    assert_eq!(item["failure"], Value::Null);
    let warnings: Vec<_> = item["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| (&warning["id"], &warning["severity"]))
        .collect();
    let info = json!("info");
    assert_eq!(
        warnings,
        [
            (&json!("smb-domain-filled-in"), &info),
            (&json!("smb-mount-options-ignored"), &info),
            (&json!("smb-visible-on-node"), &info),
        ]
    );

    let table = printed(&operator, &[]).await;
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("NODE"), "{table}");
    let row = lines.next().unwrap();
    assert!(row.contains(&remote) && row.contains("mapped"), "{table}");
    let wide = printed(&operator, &["-o", "wide"]).await;
    assert!(
        wide.contains(volume) && wide.contains("win-demo/reports "),
        "{wide}"
    );
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_read_nodes_and_pods_only_is_told_what_is_missing() {
    let lab = Lab::start(LabOptions::default()).await.unwrap();
    let operator = Operator::new();
    operator.file("config", &lab.api().kubeconfig(User::FewRights));
    let words = [
        "--kubeconfig",
        "config",
        "--request-timeout",
        "60s",
        "smb",
        "-o",
        "table",
    ];
    let ended = operator.drainboard_with(&words).await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("persistentvolumes"), "{}", ended.err);
    lab.stop().await;
}
