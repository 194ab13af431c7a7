//! A Loki that stalls, lies, breaks off or has no time.

use super::super::pages::page;
use super::{answer, at, bench, start};
use crate::domain::log::{LogOrder, LogPage, LogQuery, LogRange, LogScope};
use crate::sources::bench::{Bench, Fake, Reply};
use crate::sources::event::{LogsAnswer, LogsId, LogsQuestion, Problem};
use crate::sources::loki::connection::Connection;
use crate::sources::transport::failure::FailureKind;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const RANGE: LogRange = LogRange {
    start_ns: 1_000,
    end_ns: 2_000,
};

/// A Loki that answers queries like this.
async fn answering(reply: Reply) -> (Fake, String, impl Drop) {
    let loki = Fake::default();
    loki.on("/loki/api/v1/labels", |_| {
        Reply::json(&json!({"status": "success", "data": ["namespace", "pod"]}))
    });
    loki.on("/loki/api/v1/query_range", move |_| reply.clone());
    let (url, server) = loki.serve().await;
    (loki, url, server)
}

async fn asked(reply: Reply, limit: usize) -> Result<LogPage, (FailureKind, Problem)> {
    let bench = bench().await;
    let (_loki, url, _server) = answering(reply).await;
    let loki = Connection::open(&bench.context.client, bench.context.request_timeout, &at(&url))
        .await
        .unwrap();
    page(&loki, "{pod=\"a\"}", RANGE, LogOrder::NewestFirst, limit)
        .await
        .map_err(|failure| (failure.kind, failure.problem))
}

fn lines(values: &[(&str, &str)]) -> Reply {
    let values: Vec<Value> = values.iter().map(|(at, line)| json!([at, line])).collect();
    Reply::json(
        &json!({"status": "success", "data": {"resultType": "streams", "result": [
            {"stream": {"pod": "a"}, "values": values},
        ]}}),
    )
}

#[tokio::test]
async fn lines_of_another_time_are_left_out_and_a_page_of_them_is_no_endless_loop() {
    let page = asked(
        lines(&[("999", "before"), ("1500", "in"), ("2000", "after"), ("-5", "?")]),
        10,
    )
    .await
    .unwrap();
    assert_eq!(page.entries.len(), 1);
    assert_eq!((&*page.entries[0].line, page.rest), ("in", None));
    let (kind, problem) = asked(lines(&[("1", "a"), ("2", "b")]), 2).await.unwrap_err();
    assert_eq!(kind, FailureKind::Garbage);
    assert!(
        problem.what.contains("not of the time that was asked for"),
        "{problem}"
    );
}

#[tokio::test]
async fn more_lines_than_asked_for_and_in_no_order_are_put_in_order() {
    let page = asked(
        lines(&[("1100", "b"), ("1900", "d"), ("1050", "a"), ("1500", "c")]),
        3,
    )
    .await
    .unwrap();
    let read: Vec<&str> = page.entries.iter().map(|entry| &*entry.line).collect();
    assert_eq!(read, ["d", "c", "b"]);
    assert_eq!(page.rest.unwrap().end_ns, 1_051, "the cut moment is read again");
}

#[tokio::test]
async fn what_is_no_answer_is_named_as_what_it_is() {
    for (reply, kind, words) in [
        (
            Reply::of(429, "text/plain", "too many outstanding requests\n"),
            FailureKind::Busy,
            "too many outstanding",
        ),
        (
            Reply::of(502, "text/html", "<html><h1>502</h1>"),
            FailureKind::Status(502),
            "a web page",
        ),
        (
            Reply::of(200, "text/html", "<html>log in"),
            FailureKind::Garbage,
            "a web page (HTML)",
        ),
        (
            Reply::of(
                200,
                "application/json",
                "{\"status\":\"success\",\"data\":{\"resultType\":\"streams\",\"result\":[{\"str",
            ),
            FailureKind::Garbage,
            "was cut off after",
        ),
        (
            lines(&[("soon", "x")]),
            FailureKind::Garbage,
            "no number of nanoseconds",
        ),
        (
            Reply::json(&json!({"status": "error"})),
            FailureKind::Garbage,
            "Loki answered error",
        ),
        (
            Reply::of(
                400,
                "text/plain",
                "\u{1b}]52;c;aGk=\u{7}parse \u{1b}[31merror\u{202e}",
            ),
            FailureKind::Status(400),
            "parse error",
        ),
    ] {
        let (told, problem) = asked(reply, 10).await.unwrap_err();
        assert_eq!(told, kind, "{problem}");
        assert!(problem.what.contains(words), "{problem}");
        assert!(
            !problem.to_string().contains(['\u{1b}', '\u{202e}', '\u{7}']),
            "{problem:?}"
        );
        assert!(!problem.next_step.is_empty(), "{problem}");
    }
}

/// A server that answers the first bytes of a body and hangs up, or says nothing more.
async fn raw(hangs_up: bool) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut asked = [0; 4096];
                let read = stream.read(&mut asked).await.unwrap_or(0);
                let is_labels = String::from_utf8_lossy(&asked[..read]).contains("/labels");
                let body = r#"{"status":"success","data":["pod"]}"#;
                let length = if is_labels { body.len() } else { 1_000_000 };
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: \
                     close\r\n\r\n{body}"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
                if !hangs_up && !is_labels {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    url
}

async fn failure_of(bench: &Bench, url: &str) -> (FailureKind, Problem) {
    let loki = Connection::open(&bench.context.client, bench.context.request_timeout, &at(url))
        .await
        .unwrap();
    let failure = page(&loki, "{pod=\"a\"}", RANGE, LogOrder::NewestFirst, 10)
        .await
        .unwrap_err();
    (failure.kind, failure.problem)
}

#[tokio::test]
async fn a_body_that_breaks_off_or_never_ends_is_told() {
    let mut bench = bench().await;
    let (kind, problem) = failure_of(&bench, &raw(true).await).await;
    assert_eq!(kind, FailureKind::Unreachable, "{problem}");
    bench.context.request_timeout = Duration::from_millis(300);
    let (kind, problem) = failure_of(&bench, &raw(false).await).await;
    assert_eq!(kind, FailureKind::Timeout, "{problem}");
    assert!(problem.next_step.contains("--request-timeout"), "{problem}");
}

#[tokio::test]
async fn whoever_follows_a_busy_loki_is_told_and_goes_on_when_it_has_time() {
    let mut bench = bench().await;
    let (loki, url, _server) =
        answering(Reply::of(429, "text/plain", "too many outstanding requests\n")).await;
    loki.on("/loki/api/v1/tail", |_| {
        Reply::of(429, "text/plain", "too many\n")
    });
    let ask = start(&bench, at(&url));
    let id = LogsId(4);
    let query = LogQuery {
        scope: LogScope::Raw("{pod=\"a\"}".into()),
        filter: None,
    };
    ask.send((
        id,
        LogsQuestion::Follow {
            query,
            since_ns: 1_000,
        },
    ))
    .unwrap();
    let LogsAnswer::Following { trouble, .. } = answer(&mut bench, id).await else {
        panic!("no word of the trouble");
    };
    assert!(trouble.unwrap().what.contains("429"));
    loki.on("/loki/api/v1/query_range", |_| lines(&[("1500", "at last")]));
    loop {
        match answer(&mut bench, id).await {
            LogsAnswer::News { entries, .. } => {
                assert_eq!(&*entries[0].line, "at last");
                break;
            }
            LogsAnswer::Following { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}
