//! The System log of the node on screen.

use super::{at, bench, start};
use crate::domain::event_record::{EventRecord, Meaning, RecordLevel};
use crate::sources::bench::{Bench, EVERYTHING, Fake, Reply};
use crate::sources::event::{Demand, EventLog, Payload, Problem};
use serde_json::{Value, json};
use std::path::Path;

fn recorded(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/loki/{name}.json"));
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    whole["body"].clone()
}

/// A Loki with these labels of `job` that answers every query with this.
async fn loki(jobs: &'static [&'static str], answer: Value) -> (String, impl Drop) {
    let fake = Fake::default();
    fake.on("/loki/api/v1/labels", |_| {
        Reply::json(&json!({"status": "success", "data": ["container", "job", "namespace", "node", "pod"]}))
    });
    fake.on("/loki/api/v1/label/job/values", move |_| {
        Reply::json(&json!({"status": "success", "data": jobs}))
    });
    fake.on("/loki/api/v1/query_range", move |asked| {
        assert_eq!(
            asked.parameters["query"],
            r#"{job="windows-events", node="k8s-lab-win-1"}"#
        );
        Reply::json(&answer)
    });
    fake.serve().await
}

async fn told(bench: &mut Bench) -> Result<EventLog, Problem> {
    bench.need(Demand {
        event_log: Some("k8s-lab-win-1".into()),
        ..EVERYTHING
    });
    bench
        .until("the event log", |payload| match payload {
            Payload::EventLog(node, told) if &*node == "k8s-lab-win-1" => match told {
                // Before Loki was found.
                Err(problem) if problem.what.contains("not answered yet") => None,
                told => Some(told),
            },
            _ => None,
        })
        .await
}

#[tokio::test]
async fn after_a_crash_the_lost_power_is_told() {
    let (url, _server) = loki(&["windows-events"], recorded("events-crash")).await;
    let mut bench = bench().await;
    let _ask = start(&bench, at(&url));
    let log = told(&mut bench).await.unwrap();
    let known = |record: &EventRecord| (record.id, record.meaning());
    assert!(
        log.records
            .iter()
            .map(known)
            .any(|known| known == (41, Some(Meaning::PowerLost))),
        "{log:?}"
    );
    let power = log.records.iter().find(|record| record.id == 41).unwrap();
    assert_eq!(power.level, RecordLevel::Critical);
    assert_eq!(power.at.to_rfc3339(), "2026-12-01T02:56:57+00:00");
    assert_eq!(log.unread, 0);
}

#[tokio::test]
async fn lines_that_are_no_records_are_counted() {
    let answer = json!({"status": "success", "data": {"resultType": "streams", "result": [{
        "stream": {"job": "windows-events", "node": "k8s-lab-win-1"},
        "values": [["1796093817141673515", "no record"], ["1796093817141673514", "{\"event_id\": 7036}"]],
    }]}});
    let (url, _server) = loki(&["windows-events"], answer).await;
    let mut bench = bench().await;
    let _ask = start(&bench, at(&url));
    let log = told(&mut bench).await.unwrap();
    assert_eq!((log.records.len(), log.unread), (1, 1));
    assert_eq!(log.records[0].level, RecordLevel::Information);
}

#[tokio::test]
async fn a_loki_without_event_logs_says_what_to_collect() {
    let (url, _server) = loki(&["kubelet"], json!({})).await;
    let mut bench = bench().await;
    let _ask = start(&bench, at(&url));
    let problem = told(&mut bench).await.unwrap_err();
    assert!(problem.what.contains("event log"), "{problem:?}");
}
