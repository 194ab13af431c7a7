//! New lines as they come: on a websocket, and by asking.

use super::{answer, at, bench, serve, start, stream};
use crate::domain::log::{LogEntry, LogQuery, LogScope};
use crate::lab::loki::{self, Database};
use crate::sources::bench::Bench;
use crate::sources::event::{FollowMeans, LogsAnswer, LogsId, LogsQuestion, Problem};
use axum::http::StatusCode;
use axum::routing::get;
use chrono::Utc;

const ID: LogsId = LogsId(1);

fn now() -> i64 {
    Utc::now().timestamp_nanos_opt().unwrap()
}

fn follow(since_ns: i64) -> (LogsId, LogsQuestion) {
    let query = LogQuery {
        scope: LogScope::Pod {
            namespace: "win-demo".into(),
            pod: "a".into(),
            container: None,
        },
        filter: None,
    };
    (ID, LogsQuestion::Follow { query, since_ns })
}

/// What is told until that many lines have come.
async fn told(bench: &mut Bench, lines: usize) -> (Vec<LogEntry>, Vec<(FollowMeans, Option<Problem>)>) {
    let (mut all, mut means) = (Vec::new(), Vec::new());
    while all.len() < lines {
        match answer(bench, ID).await {
            LogsAnswer::News { entries, .. } => all.extend(entries),
            LogsAnswer::Following { means: how, trouble } => means.push((how, trouble)),
            other => panic!("{other:?}"),
        }
    }
    (all, means)
}

fn texts(entries: &[LogEntry]) -> Vec<&str> {
    entries.iter().map(|entry| &*entry.line).collect()
}

fn push(database: &Database, at: i64, line: &str) {
    database.push(&stream("a"), [(at, line.to_owned())]);
}

#[tokio::test]
async fn an_address_sends_new_lines_on_a_websocket() {
    let mut bench = bench().await;
    let database = Database::default();
    let begin = now();
    push(&database, begin - 1, "too old");
    push(&database, begin, "first");
    database.push(&stream("b"), [(begin, "another pod".to_owned())]);
    let (url, _server) = serve(loki::gateway(database.clone())).await;
    let ask = start(&bench, at(&url));
    ask.send(follow(begin)).unwrap();
    let (first, means) = told(&mut bench, 1).await;
    assert_eq!(texts(&first), ["first"]);
    assert_eq!(&*first[0].metadata["detected_level"], "unknown");
    assert_eq!(means, [(FollowMeans::Pushed, None)]);

    push(&database, begin + 1, "second");
    push(&database, begin + 1, "third");
    let (news, _) = told(&mut bench, 2).await;
    assert_eq!(texts(&news), ["second", "third"]);
}

#[tokio::test]
async fn a_websocket_that_breaks_is_opened_again_and_no_line_comes_twice() {
    let mut bench = bench().await;
    let database = Database::default();
    let begin = now();
    let (url, server) = serve(loki::gateway(database.clone())).await;
    let ask = start(&bench, at(&url));
    push(&database, begin, "before");
    ask.send(follow(begin)).unwrap();
    assert_eq!(texts(&told(&mut bench, 1).await.0), ["before"]);

    drop(server);
    let address = url.strip_prefix("http://").unwrap().to_owned();
    push(&database, begin + 1, "meanwhile");
    let listener = loop {
        match tokio::net::TcpListener::bind(&address).await {
            Ok(listener) => break listener,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let again = loki::gateway(database.clone());
    let serving = tokio::spawn(async move { axum::serve(listener, again).await });
    // The old connection lives on in a task of its own: whichever tells it, it is told once.
    assert_eq!(texts(&told(&mut bench, 1).await.0), ["meanwhile"]);
    push(&database, begin + 2, "after");
    assert_eq!(texts(&told(&mut bench, 1).await.0), ["after"]);
    serving.abort();
}

#[tokio::test]
async fn where_no_websocket_passes_it_is_asked_again_and_again() {
    let mut bench = bench().await;
    let database = Database::default();
    let begin = now();
    let router = loki::gateway(database.clone());
    // A proxy that does not know upgrades hides the tail behind it.
    let proxy = axum::Router::new()
        .route(
            "/loki/api/v1/tail",
            get(|| async { (StatusCode::BAD_REQUEST, "bad handshake\n") }),
        )
        .fallback_service(router);
    let (url, _server) = serve(proxy).await;
    let ask = start(&bench, at(&url));
    push(&database, begin + 5_000_000_000, "first");
    ask.send(follow(begin)).unwrap();
    let (first, means) = told(&mut bench, 1).await;
    assert_eq!(texts(&first), ["first"]);
    let (how, trouble) = &means[0];
    assert_eq!(*how, FollowMeans::Pushed);
    assert!(
        trouble.as_ref().unwrap().what.contains("bad handshake"),
        "{trouble:?}"
    );

    push(&database, begin + 2_000_000_000, "late, of another batch");
    push(&database, begin + 6_000_000_000, "second");
    let (news, means) = told(&mut bench, 2).await;
    assert_eq!(texts(&news), ["late, of another batch", "second"]);
    assert_eq!(means, [(FollowMeans::Polled, None)]);
}

#[tokio::test]
async fn who_stops_hears_no_more_and_a_wrong_question_ends_at_once() {
    let mut bench = bench().await;
    let database = Database::default();
    let (url, _server) = serve(loki::gateway(database.clone())).await;
    let ask = start(&bench, at(&url));
    let begin = now();
    push(&database, begin, "heard");
    ask.send(follow(begin)).unwrap();
    told(&mut bench, 1).await;
    ask.send((ID, LogsQuestion::Stop)).unwrap();

    let wrong = LogQuery {
        scope: LogScope::Raw("{pod=".into()),
        filter: None,
    };
    let other = LogsId(2);
    let question = LogsQuestion::Follow {
        query: wrong,
        since_ns: begin,
    };
    ask.send((other, question)).unwrap();
    push(&database, begin + 1, "unheard");
    loop {
        match answer(&mut bench, other).await {
            LogsAnswer::Failed(problem) => {
                assert!(problem.what.contains("parse error at line 1"), "{problem}");
                break;
            }
            LogsAnswer::Following { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}
