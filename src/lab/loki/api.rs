//! The HTTP API of Loki, as far as drainboard asks it, with the refusals of the real one.

use super::database::{Database, Labelled, Labels};
use super::logql::Query;
use super::tail::tail;
use axum::extract::{Path, RawForm, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::HashMap;

/// `max_entries_limit_per_query`.
const MOST_ENTRIES: usize = 5_000;

const HOUR_NANOS: i64 = 3_600_000_000_000;

/// `max_query_length`, 30d1h.
const LONGEST_RANGE: i64 = 721 * HOUR_NANOS;

/// Loki itself.
pub fn router(database: Database) -> Router {
    let ready = Router::new().route("/ready", get(|| async { "ready\n" }));
    queries(database).merge(ready)
}

/// Its gateway: everything but `/ready`.
pub fn gateway(database: Database) -> Router {
    queries(database).route("/", get(|| async { "OK" }))
}

fn queries(database: Database) -> Router {
    Router::new()
        .route("/loki/api/v1/query_range", get(query_range).post(query_range))
        .route("/loki/api/v1/query", get(query).post(query))
        .route("/loki/api/v1/labels", get(labels))
        .route("/loki/api/v1/label/{name}/values", get(values))
        .route("/loki/api/v1/status/buildinfo", get(build_info))
        .route("/loki/api/v1/tail", get(open_tail))
        .fallback(|| async { Refusal(StatusCode::NOT_FOUND, "404 page not found\n".to_owned()) })
        .with_state(database)
}

/// An error, in plain text.
pub struct Refusal(StatusCode, String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(code, text) = self;
        (code, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
    }
}

/// 400 with this text.
pub fn bad(text: impl Into<String>) -> Refusal {
    Refusal(StatusCode::BAD_REQUEST, text.into())
}

fn success(data: &Value) -> Response {
    Json(json!({"status": "success", "data": data})).into_response()
}

/// Parameters of a request, from its address or its form.
pub struct Parameters(HashMap<String, String>);

impl Parameters {
    /// Reads them.
    pub fn read(form: &[u8]) -> Self {
        Self(form_urlencoded::parse(form).into_owned().collect())
    }

    /// The query.
    pub fn query(&self) -> Result<Query, Refusal> {
        Query::parse(self.0.get("query").map_or("", String::as_str)).map_err(bad)
    }

    /// A number of lines.
    pub fn limit(&self) -> Result<usize, Refusal> {
        let text = self.0.get("limit").map_or("100", String::as_str);
        let limit: usize = text.parse().map_err(|_| {
            bad(format!(
                "could not parse 'limit' parameter: strconv.Atoi: parsing \"{text}\": invalid syntax"
            ))
        })?;
        if limit > MOST_ENTRIES {
            return Err(bad(format!(
                "max entries limit per query exceeded, limit > max_entries_limit_per_query ({limit} > {MOST_ENTRIES})"
            )));
        }
        Ok(limit)
    }

    /// A point in time in nanoseconds: nanoseconds or seconds since 1970, or RFC 3339.
    pub fn time(&self, name: &str, default: i64) -> Result<i64, Refusal> {
        let Some(text) = self.0.get(name) else {
            return Ok(default);
        };
        if let Ok(number) = text.parse::<i64>() {
            // Ten digits and fewer are seconds.
            return Ok(if text.len() <= 10 {
                number * 1_000_000_000
            } else {
                number
            });
        }
        let time = DateTime::parse_from_rfc3339(text).ok();
        time.and_then(|time| time.timestamp_nanos_opt()).ok_or_else(|| {
            bad(format!(
                "could not parse '{name}' parameter: strconv.ParseInt: parsing \"{text}\": invalid syntax"
            ))
        })
    }

    fn is_backward(&self) -> Result<bool, Refusal> {
        match self
            .0
            .get("direction")
            .map(|text| text.to_ascii_lowercase())
            .as_deref()
        {
            None | Some("backward") => Ok(true),
            Some("forward") => Ok(false),
            Some(other) => Err(bad(format!("invalid direction '{other}'"))),
        }
    }
}

/// Now, in nanoseconds.
pub fn now() -> i64 {
    Utc::now().timestamp_nanos_opt().unwrap_or(0)
}

async fn query_range(
    State(database): State<Database>,
    headers: HeaderMap,
    RawForm(form): RawForm,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(&form);
    let now = now();
    let end = parameters.time("end", now)?;
    let start = parameters.time("start", end.min(now) - HOUR_NANOS)?;
    let (limit, backward) = (parameters.limit()?, parameters.is_backward()?);
    if end <= start {
        return Err(bad("end timestamp must not be before or equal to start time"));
    }
    let query = parameters.query()?;
    if end - start > LONGEST_RANGE {
        let length = (end - start) / 1_000_000_000;
        return Err(bad(format!(
            "the query time range exceeds the limit (query length: {}h{}m{}s, limit: 30d1h)",
            length / 3_600,
            length / 60 % 60,
            length % 60
        )));
    }
    let found = database.read(&query, start, end, limit, backward);
    let categorized = is_categorized(&headers);
    let mut data = json!({"resultType": "streams", "result": streams(found, categorized), "stats": {}});
    if categorized {
        data["encodingFlags"] = json!(["categorize-labels"]);
    }
    Ok(success(&data))
}

/// Whether labels of the stream and of the line are to be told apart.
pub fn is_categorized(headers: &HeaderMap) -> bool {
    headers
        .get("x-loki-response-encoding-flags")
        .and_then(|flags| flags.to_str().ok())
        .is_some_and(|flags| flags.split(',').any(|flag| flag.trim() == "categorize-labels"))
}

/// Lines by stream, as they are answered; a stream stands where its first line stood.
pub fn streams(found: Vec<Labelled>, categorized: bool) -> Vec<Value> {
    let mut places: HashMap<Labels, usize> = HashMap::new();
    let mut streams: Vec<(Labels, Vec<Value>)> = Vec::new();
    for (labels, entry) in found {
        let mut labels = (*labels).clone();
        let time = entry.at.to_string();
        let value = if categorized {
            json!([time, &*entry.line, {"structuredMetadata": &*entry.metadata}])
        } else {
            labels.extend((*entry.metadata).clone());
            json!([time, &*entry.line])
        };
        let place = *places.entry(labels).or_insert_with_key(|labels| {
            streams.push((labels.clone(), Vec::new()));
            streams.len() - 1
        });
        if let Some((_, values)) = streams.get_mut(place) {
            values.push(value);
        }
    }
    let answered = |(labels, values): (Labels, Vec<Value>)| json!({"stream": labels, "values": values});
    streams.into_iter().map(answered).collect()
}

async fn query() -> Refusal {
    bad(
        "log queries are not supported as an instant query type, please change your query to a range query type",
    )
}

async fn labels(State(database): State<Database>) -> Response {
    let names: Vec<String> = database.labels().into_keys().collect();
    list(&names)
}

async fn values(State(database): State<Database>, Path(name): Path<String>) -> Response {
    let values = database.labels().remove(&name).unwrap_or_default();
    list(&values.into_iter().collect::<Vec<_>>())
}

/// Loki leaves an empty list out.
fn list(items: &[String]) -> Response {
    if items.is_empty() {
        return Json(json!({"status": "success"})).into_response();
    }
    success(&json!(items))
}

async fn build_info() -> Response {
    Json(json!({
        "version": "3.8.0", "revision": "lab", "branch": "", "buildUser": "", "buildDate": "", "goVersion": "go1.26.8",
    }))
    .into_response()
}

async fn open_tail(State(database): State<Database>, request: Request) -> Result<Response, Refusal> {
    tail(database, request)
}
