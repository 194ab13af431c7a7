//! Given the lab's Loki, this is what it keeps of the Windows node.

use super::restarts::{play, until_restarted};
use super::*;
use crate::lab::loki::Query;
use crate::lab::play::Verb;

const FOREVER: i64 = i64::MAX;

/// Waits until Loki has lines that this query takes and `enough` accepts, the oldest first.
async fn until_kept(lab: &Lab, query: &str, what: &str, enough: impl Fn(&[String]) -> bool) -> Vec<String> {
    let query = Query::parse(query).unwrap();
    let waited = async {
        loop {
            let found = lab.logs().read(&query, 0, FOREVER, 100_000, false);
            let lines: Vec<String> = found.iter().map(|(_, entry)| entry.line.to_string()).collect();
            if enough(&lines) {
                return lines;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("Loki never had: {what}"))
}

fn event_ids(lines: &[String]) -> Vec<u64> {
    lines
        .iter()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            assert!(
                record["level"].as_u64().unwrap() <= 3,
                "Alloy collects levels 1 to 3"
            );
            assert_eq!(record["computer"], "K8S-LAB-WIN-1");
            record["event_id"].as_u64().unwrap()
        })
        .collect()
}

const EVENTS: &str = r#"{job="windows-events", node="k8s-lab-win-1"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_the_windows_node_are_there_from_the_begin_and_the_smb_mapping_among_them() {
    let (lab, _client) = lab().await;
    let mapped = until_kept(
        &lab,
        r#"{pod=~"csi-smb-node-win-.*", container="smb"} |= "NewSmbGlobalMapping""#,
        "the mapping",
        |lines| !lines.is_empty(),
    )
    .await;
    assert!(
        mapped[0].contains(r"AZURE\svc-k8s-smb, requirePrivacy=true"),
        "{}",
        mapped[0]
    );
    let served = r#"{namespace="win-demo", container="hello", node="k8s-lab-win-1"} |= "request served""#;
    let before = until_kept(&lab, served, "lines of hello", |lines| lines.len() > 100)
        .await
        .len();
    until_kept(&lab, served, "new lines", |lines| lines.len() > before).await;
    let linux = lab.logs().read(
        &Query::parse(r#"{node="k8s-lab-node-1"}"#).unwrap(),
        0,
        FOREVER,
        1,
        true,
    );
    assert!(
        linux.is_empty(),
        "the article collects the Windows node's lines only"
    );
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_and_a_slow_disk_leave_their_records_and_an_orderly_restart_none() {
    let (lab, client) = lab_at(100.0).await;
    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    until_restarted(&client, "12").await;
    play(&client, WINDOWS_NODE, Verb::Crash).await.unwrap();
    until_restarted(&client, "13").await;
    let crash = until_kept(&lab, EVENTS, "the crash", |lines| lines.len() == 2).await;
    assert_eq!(event_ids(&crash), [41, 6008], "and nothing of the restart before");

    play(&client, WINDOWS_NODE, Verb::SlowDisk).await.unwrap();
    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    until_restarted(&client, "14").await;
    let all = until_kept(&lab, EVENTS, "the slow disk", |lines| lines.len() == 5).await;
    assert_eq!(event_ids(&all), [41, 6008, 7009, 7000, 7001]);
    lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_pours_until_the_next_restart() {
    let (lab, client) = lab().await;
    let mad = r#"{pod=~"hello-win-.*"} |= "trying again at once""#;
    play(&client, WINDOWS_NODE, Verb::Flood).await.unwrap();
    until_kept(&lab, mad, "a flood", |lines| lines.len() > 20_000).await;
    play(&client, WINDOWS_NODE, Verb::Reboot).await.unwrap();
    until_restarted(&client, "12").await;
    let dry = async {
        loop {
            let before = lab.logs().count();
            tokio::time::sleep(Duration::from_secs(1)).await;
            if lab.logs().count() - before < 1_000 {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, dry).await.unwrap();
    lab.stop().await;
}
