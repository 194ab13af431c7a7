//! Reading page by page loses no line and tells none twice, whatever times they have.

use super::super::connection::Connection;
use super::super::pages::page;
use super::{bench, connected, serve, stream};
use crate::domain::log::{LogEntry, LogOrder, LogPage, LogRange};
use crate::lab::loki::{self, Database, Labelled, Query, streams};
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const EVERYTHING: &str = r#"{namespace="win-demo"}"#;

/// All pages of a range, and how many there were.
async fn all_pages(
    loki: &Connection,
    range: LogRange,
    order: LogOrder,
    limit: usize,
) -> (Vec<LogEntry>, usize) {
    let (mut entries, mut pages) = (Vec::new(), 0);
    let mut rest = Some(range);
    while let Some(range) = rest {
        let LogPage {
            entries: found,
            rest: unread,
            lost,
        } = page(loki, EVERYTHING, range, order, limit).await.unwrap();
        assert_eq!(lost, 0);
        if let (Some(range), Some(last)) = (unread, found.last()) {
            assert!(!range.holds(last.at_ns), "the rest begins behind the page");
        }
        entries.extend(found);
        rest = unread;
        pages += 1;
        assert!(pages < 1_000, "the pages come to an end");
    }
    (entries, pages)
}

/// Each line once, in order.
fn is_whole(entries: &[LogEntry], order: LogOrder, lines: usize) {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for entry in entries {
        *counts
            .entry((entry.stream.pod.as_deref().unwrap(), &entry.line))
            .or_default() += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "no line twice");
    assert_eq!(counts.len(), lines, "no line lost");
    assert!(entries.is_sorted_by(|one, other| match order {
        LogOrder::OldestFirst => one.at_ns <= other.at_ns,
        LogOrder::NewestFirst => one.at_ns >= other.at_ns,
    }));
}

const START: i64 = 1_796_093_000_000_000_000;

const RANGE: LogRange = LogRange {
    start_ns: START,
    end_ns: START + 1_000_000,
};

/// 20,000 lines of four pods, `per_moment` of them in each nanosecond.
fn filled(per_moment: usize) -> Database {
    let database = Database::default();
    let mut lines: HashMap<&str, Vec<(i64, String)>> = HashMap::new();
    for number in 0..20_000 {
        let pod = ["a", "b", "c", "d"][number % 4];
        let at = START + i64::try_from(number / per_moment).unwrap();
        lines
            .entry(pod)
            .or_default()
            .push((at, format!("line (no. {number}) of *all*")));
    }
    for (pod, lines) in lines {
        database.push(&stream(pod), lines);
    }
    database
}

/// A Loki that orders the lines of one moment differently with each answer: which of them a limit lets through is
/// not promised.
fn moody(database: Database) -> Router {
    let answers = Arc::new(AtomicUsize::new(1));
    let range = move |RawQuery(query): RawQuery| {
        let (database, turn) = (database.clone(), answers.fetch_add(7, Ordering::Relaxed));
        async move { moody_answer(&database, &query.unwrap_or_default(), turn) }
    };
    Router::new()
        .route(
            "/loki/api/v1/labels",
            get(|| async {
                Json(json!({"status": "success", "data": ["container", "namespace", "node", "pod"]}))
            }),
        )
        .route("/loki/api/v1/query_range", get(range))
}

fn moody_answer(database: &Database, query: &str, turn: usize) -> Response {
    let parameters: HashMap<String, String> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let number = |name: &str| parameters[name].parse::<i64>().unwrap();
    let limit = usize::try_from(number("limit")).unwrap();
    if limit > 1_000 {
        let text = format!(
            "max entries limit per query exceeded, limit > max_entries_limit_per_query ({limit} > 1000)"
        );
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    let query = Query::parse(&parameters["query"]).unwrap();
    let backward = parameters["direction"] == "backward";
    let mut found = database.read(&query, number("start"), number("end"), usize::MAX, backward);
    let shuffled = |(_, entry): &Labelled| {
        let hash = entry.line.bytes().fold(turn, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(usize::from(byte)) % 1_000_003
        });
        (if backward { -entry.at } else { entry.at }, hash)
    };
    found.sort_by_cached_key(shuffled);
    found.truncate(limit);
    Json(json!({"status": "success", "data": {"resultType": "streams", "result": streams(found, true)}}))
        .into_response()
}

/// From 1 line in a nanosecond to all 20,000 of them in one.
#[tokio::test]
async fn twenty_thousand_lines_come_each_once_from_both_ends() {
    let bench = bench().await;
    for per_moment in [1, 7, 1_500, 20_000] {
        let (url, _server) = serve(loki::gateway(filled(per_moment))).await;
        let loki = connected(&bench, &url).await;
        for order in [LogOrder::NewestFirst, LogOrder::OldestFirst] {
            let (entries, pages) = all_pages(&loki, RANGE, order, 5_000).await;
            is_whole(&entries, order, 20_000);
            assert!(pages <= 6, "{pages} pages");
        }
    }
}

#[tokio::test]
async fn which_lines_of_a_moment_a_limit_lets_through_does_not_matter() {
    let bench = bench().await;
    for per_moment in [7, 600, 2_500] {
        let (url, _server) = serve(moody(filled(per_moment))).await;
        let loki = connected(&bench, &url).await;
        for order in [LogOrder::NewestFirst, LogOrder::OldestFirst] {
            let (entries, _) = all_pages(&loki, RANGE, order, 5_000).await;
            is_whole(&entries, order, 20_000);
        }
        assert_eq!(loki.limits().entries, 1_000, "the limit was learned");
    }
}

#[tokio::test]
async fn a_small_page_is_as_large_as_it_was_wanted_where_times_allow_it() {
    let bench = bench().await;
    let (url, _server) = serve(loki::gateway(filled(1))).await;
    let loki = connected(&bench, &url).await;
    let first = page(&loki, EVERYTHING, RANGE, LogOrder::NewestFirst, 100)
        .await
        .unwrap();
    assert!((99..=100).contains(&first.entries.len()));
    assert!(first.entries[0].line.starts_with("line (no. 19999)"));
    let rest = first.rest.unwrap();
    let next = page(&loki, EVERYTHING, rest, LogOrder::NewestFirst, 100)
        .await
        .unwrap();
    assert_eq!(first.entries.last().unwrap().at_ns - 1, next.entries[0].at_ns);
}

#[tokio::test]
async fn the_same_line_in_more_streams_than_an_answer_takes_is_counted_as_lost() {
    let bench = bench().await;
    let database = Database::default();
    for number in 0..1_200 {
        database.push(
            &stream(&format!("pod-{number}")),
            [(START, "the same".to_owned())],
        );
    }
    database.push(&stream("another"), [(START, "another".to_owned())]);
    let (url, _server) = serve(moody(database)).await;
    let loki = connected(&bench, &url).await;
    let page = page(&loki, EVERYTHING, RANGE, LogOrder::NewestFirst, 5_000)
        .await
        .unwrap();
    assert_eq!((page.entries.len(), page.lost), (1_001, 1));
}

#[tokio::test]
async fn a_range_longer_than_loki_allows_is_read_in_parts() {
    let bench = bench().await;
    let day = 86_400_000_000_000;
    let database = Database::default();
    for days in [1, 40, 41, 199] {
        database.push(&stream("a"), [(START - days * day, format!("{days} days ago"))]);
    }
    let (url, _server) = serve(loki::gateway(database)).await;
    let loki = connected(&bench, &url).await;
    let range = LogRange {
        start_ns: START - 200 * day,
        end_ns: START,
    };
    for (order, expected) in [
        (LogOrder::NewestFirst, ["1", "40", "41", "199"]),
        (LogOrder::OldestFirst, ["199", "41", "40", "1"]),
    ] {
        let (entries, _) = all_pages(&loki, range, order, 5_000).await;
        let days: Vec<&str> = entries
            .iter()
            .map(|entry| entry.line.split(' ').next().unwrap())
            .collect();
        assert_eq!(days, expected);
    }
    let nothing = LogRange {
        start_ns: START,
        end_ns: START,
    };
    assert_eq!(
        page(&loki, EVERYTHING, nothing, LogOrder::NewestFirst, 10)
            .await
            .unwrap(),
        LogPage::default()
    );
}
