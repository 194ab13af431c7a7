//! Every answer that was recorded from a real Loki is read as it means (`tests/data/loki`).

use super::super::connection::Connection;
use super::super::wire;
use super::super::{Options, catalogue};
use super::article_labels;
use crate::domain::log::{LogEntry, LogOrder, LogRange};
use crate::domain::reading::Source;
use crate::sources::bench::{Bench, Fake, Reply};
use crate::sources::transport::failure::{Failure, FailureKind};
use serde_json::{Value, json};
use std::path::Path;

/// A recorded request with its answer.
struct Recorded(Value);

impl Recorded {
    fn of(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/loki/{name}.json"));
        Self(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    fn query(&self) -> String {
        self.0["request"]["params"]["query"].as_str().unwrap().to_owned()
    }

    fn reply(&self) -> Reply {
        let status = u16::try_from(self.0["status"].as_u64().unwrap()).unwrap();
        let is_text = self.0["content_type"].as_str().unwrap().starts_with("text/plain");
        match &self.0["body"] {
            Value::String(text) => {
                assert!(is_text);
                Reply::of(status, "text/plain; charset=utf-8", text.clone())
            }
            body => Reply::of(status, "application/json; charset=UTF-8", body.to_string()),
        }
    }
}

/// A Loki with the article's labels that answers every query with this.
async fn answering(recorded: &Recorded) -> (Connection, Bench, impl Drop) {
    let bench = Bench::new(Source::Loki).await;
    let loki = Fake::default();
    for (path, name) in [
        ("/loki/api/v1/labels", "labels"),
        ("/loki/api/v1/label/job/values", "label-values-job"),
    ] {
        let reply = Recorded::of(name).reply();
        loki.on(path, move |_| reply.clone());
    }
    let reply = recorded.reply();
    let query = recorded.query();
    loki.on("/loki/api/v1/query_range", move |asked| {
        assert_eq!(
            asked.headers["x-loki-response-encoding-flags"],
            "categorize-labels"
        );
        assert_eq!(asked.parameters["query"], query);
        reply.clone()
    });
    let (url, server) = loki.serve().await;
    let options = Options {
        url: Some(url),
        ..Options::default()
    };
    let connection = Connection::open(&bench.context.client, bench.context.request_timeout, &options)
        .await
        .unwrap();
    assert_eq!(*connection.labels, article_labels());
    (connection, bench, server)
}

const HOUR: LogRange = LogRange {
    start_ns: 1_796_090_317_141_673_511,
    end_ns: 1_796_093_922_141_673_511,
};

async fn asked(name: &str) -> Result<Vec<LogEntry>, Failure> {
    let recorded = Recorded::of(name);
    let (loki, _bench, _server) = answering(&recorded).await;
    loki.query_range(&recorded.query(), HOUR, LogOrder::NewestFirst, 100)
        .await
}

async fn lines(name: &str) -> Vec<LogEntry> {
    asked(name).await.unwrap()
}

async fn refusal(name: &str) -> Failure {
    asked(name).await.unwrap_err()
}

#[tokio::test]
async fn container_lines_of_windows_come_with_their_pod_and_node() {
    for (name, first) in [
        ("range-backward", 1_796_093_797_141_673_535),
        ("range-forward", 1_796_093_317_141_673_511),
    ] {
        let entries = lines(name).await;
        assert_eq!(entries.len(), 3, "{name}");
        let hello = &entries[0];
        assert_eq!(hello.at_ns, first);
        assert!(hello.line.contains("request served"), "{}", hello.line);
        assert_eq!(hello.stream.namespace.as_deref(), Some("win-demo"));
        assert_eq!(hello.stream.node.as_deref(), Some("k8s-lab-win-1"));
        assert_eq!(hello.stream.container.as_deref(), Some("hello"));
        assert!(
            hello
                .stream
                .pod
                .as_deref()
                .unwrap()
                .starts_with("hello-win-759c899954-")
        );
    }
    let entries = lines("range-forward").await;
    let at_once = entries.iter().filter(|entry| entry.at_ns == entries[0].at_ns);
    assert_eq!(at_once.count(), 2, "two pods wrote in the same nanosecond");
    let paths = lines("filename-backslashes").await;
    let filename = &paths[0].stream.labels["filename"];
    assert!(
        filename.starts_with(r"C:\var\log\pods\win-demo_hello-win-"),
        "{filename}"
    );
}

#[tokio::test]
async fn metadata_is_told_from_labels_where_loki_tells_them_apart() {
    let told_apart = &lines("range-categorized").await[0];
    assert_eq!(&*told_apart.line, "with metadata");
    assert_eq!(&*told_apart.metadata["trace_id"], "abc123");
    assert!(!told_apart.stream.labels.contains_key("trace_id"));
    // A Loki that does not know the header.
    let merged = &lines("range-metadata-merged").await[0];
    assert_eq!(&*merged.stream.labels["trace_id"], "abc123");
    assert!(merged.metadata.is_empty());
}

#[tokio::test]
async fn records_of_the_event_log_are_read_with_what_was_parsed_out_of_them() {
    let record = &lines("events-7031-categorized").await[0];
    assert_eq!(record.stream.node.as_deref(), Some("k8s-lab-win-1"));
    assert_eq!(record.stream.pod, None);
    assert_eq!(&*record.parsed["event_id"], "7031");
    assert_eq!(&*record.parsed["execution_processName"], "services.exe");
    assert_eq!(&*record.metadata["detected_level"], "error");
    assert!(record.line.contains("terminated unexpectedly"));
    assert_eq!(lines("events-7031").await[0].at_ns, record.at_ns);

    let ids = |entries: &[LogEntry]| -> Vec<u64> {
        let mut entries: Vec<_> = entries
            .iter()
            .map(|entry| {
                let record: Value = serde_json::from_str(&entry.line).unwrap();
                (entry.at_ns, record["event_id"].as_u64().unwrap())
            })
            .collect();
        entries.sort_unstable();
        entries.into_iter().map(|(_, id)| id).collect()
    };
    assert_eq!(ids(&lines("events-boot").await), [7009, 7000, 7001]);
    assert_eq!(ids(&lines("events-crash").await), [41, 6008]);
    let formatted = &lines("events-line-format").await[0];
    assert!(
        formatted
            .line
            .starts_with("Service Control Manager 7031 Error: The containerd service")
    );
}

#[tokio::test]
async fn lines_of_the_smb_plugin_and_of_a_dying_program_are_read() {
    let mappings = lines("smb-mappings").await;
    assert_eq!(mappings.len(), 2);
    assert!(
        mappings
            .iter()
            .any(|entry| entry.line.contains(r"AZURE\svc-k8s-smb, requirePrivacy=true"))
    );
    let commit = lines("commit-failures").await;
    assert!(commit.iter().any(|entry| entry.line.ends_with("errno=1455")));
    // A line that a stage could not parse says so, and is there all the same.
    let unparsed = lines("error-json-stage").await;
    assert_eq!(unparsed.len(), 6);
    assert!(
        unparsed.iter().any(|entry| entry.line.is_empty()),
        "an empty line is a line"
    );
    assert!(lines("range-empty").await.is_empty());
}

#[tokio::test]
async fn refusals_in_plain_text_are_told_as_they_mean() {
    for (name, said) in [
        (
            "error-parse",
            "parse error at line 1, col 22: syntax error: unexpected $end, expecting } or ,",
        ),
        (
            "error-empty-matcher",
            "parse error : queries require at least one regexp or equality matcher",
        ),
        ("error-bad-time", "could not parse 'start' parameter"),
        (
            "error-start-after-end",
            "end timestamp must not be before or equal to start time",
        ),
        ("error-limit", "max entries limit per query exceeded"),
        (
            "error-range",
            "the query time range exceeds the limit (query length: 19200h0m0s, limit: 30d1h)",
        ),
        (
            "instant-log-refused",
            "log queries are not supported as an instant query type",
        ),
    ] {
        let failure = refusal(name).await;
        assert_eq!(failure.kind, FailureKind::Status(400), "{name}");
        assert!(failure.said.starts_with(said), "{name}: {}", failure.said);
        assert!(failure.problem.what.contains(said), "{name}: {}", failure.problem);
        assert!(
            !failure.problem.to_string().contains("Prometheus"),
            "{name}: {}",
            failure.problem
        );
    }
}

#[tokio::test]
async fn numbers_instead_of_lines_are_no_answer() {
    for (name, kind) in [("metric-rate", "matrix"), ("instant-metric", "vector")] {
        let failure = refusal(name).await;
        assert!(
            failure
                .problem
                .what
                .contains(&format!("with a {kind} instead of lines")),
            "{}",
            failure.problem
        );
    }
}

#[tokio::test]
async fn a_loki_that_is_not_ready_or_wants_a_tenant_says_what_to_do() {
    let opened = async |name: &str| {
        let bench = Bench::new(Source::Loki).await;
        let loki = Fake::default();
        let reply = Recorded::of(name).reply();
        loki.on("/loki/api/v1/labels", move |asked| {
            match asked.headers.get("x-scope-orgid") {
                Some(tenant) if tenant == "team-a" => Reply::json(&json!({"status": "success"})),
                _ => reply.clone(),
            }
        });
        let (url, _server) = loki.serve().await;
        let mut options = Options {
            url: Some(url),
            ..Options::default()
        };
        let refused = Connection::open(&bench.context.client, bench.context.request_timeout, &options)
            .await
            .err()
            .unwrap();
        options.tenant = Some("team-a".into());
        assert!(
            !Connection::open(&bench.context.client, bench.context.request_timeout, &options)
                .await
                .unwrap()
                .holds_lines
        );
        refused.problem
    };
    let tenant = opened("error-no-tenant").await;
    assert!(
        tenant.what.contains("answered 401") && tenant.what.contains("no org id"),
        "{tenant}"
    );
    assert_eq!(
        tenant.next_step,
        "this Loki keeps tenants apart: name yours with --loki-tenant"
    );
    let starting = opened("not-ready").await;
    assert!(
        starting.what.contains("503") && starting.what.contains("Ingester not ready"),
        "{starting}"
    );
    let other = opened("error-not-found").await;
    assert!(other.what.contains("answered 404"), "{other}");
    assert!(other.next_step.contains("server.http_path_prefix"), "{other}");
}

#[test]
fn the_frames_of_a_tail_are_read_and_what_it_drops_is_counted() {
    let labels = article_labels();
    let tail = Recorded::of("tail").0;
    let frames = tail["frames"].as_array().unwrap();
    let read: Vec<String> = frames
        .iter()
        .flat_map(|frame| {
            let (entries, dropped) = wire::frame(&frame.to_string(), &labels).unwrap();
            assert_eq!(dropped, 0);
            entries.into_iter().map(|entry| entry.line.into_string())
        })
        .collect();
    assert_eq!(read, ["line 0", "line 1", "line 2"]);
    let dropping = json!({"streams": null, "dropped_entries": [{"labels": {"pod": "a"}, "timestamp": "1"}]});
    let (entries, dropped) = wire::frame(&dropping.to_string(), &labels).unwrap();
    assert_eq!((entries.len(), dropped), (0, 1));
    assert!(wire::frame("pong", &labels).is_err());
}

/// The catalogue's own texts against the recorded ones.
#[test]
fn the_catalogue_asks_what_was_recorded() {
    use crate::domain::log::{LogQuery, LogScope};
    let events = LogQuery {
        scope: LogScope::Events("k8s-lab-win-1".into()),
        filter: None,
    };
    let asked = catalogue::logql(&events, &article_labels()).unwrap();
    assert!(Recorded::of("events-boot").query().starts_with(&asked), "{asked}");
}
