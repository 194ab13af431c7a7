//! The HTTP API of Prometheus, as far as drainboard asks it.

use super::answers::instant;
use super::scrape::SCRAPE_INTERVAL;
use super::series::{Database, Labels};
use crate::sources::prometheus::catalogue::{FIRING, QueryName, queries};
use crate::sources::prometheus::matcher::Matcher;
use axum::extract::{RawForm, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Clone)]
struct Prometheus {
    database: Database,
    /// Texts of the catalogue's queries, without a cluster matcher.
    known: Arc<HashMap<String, QueryName>>,
}

/// The HTTP service over this database.
pub fn router(database: Database) -> Router {
    let known = queries(&Matcher::default())
        .into_iter()
        .map(|query| (query.promql, query.name))
        .collect();
    Router::new()
        .route("/-/ready", get(|| async { "Prometheus Server is Ready.\n" }))
        .route("/-/healthy", get(|| async { "Prometheus Server is Healthy.\n" }))
        .route("/api/v1/query", get(query).post(query))
        .route("/api/v1/query_range", get(query_range).post(query_range))
        .route("/api/v1/status/buildinfo", get(build_info))
        .route("/api/v1/targets", get(targets))
        .with_state(Prometheus {
            database,
            known: Arc::new(known),
        })
}

/// An error in Prometheus's envelope.
struct Refusal(StatusCode, &'static str, String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(code, kind, text) = self;
        let body = json!({"status": "error", "errorType": kind, "error": text});
        (code, Json(body)).into_response()
    }
}

fn bad_data(text: impl Into<String>) -> Refusal {
    Refusal(StatusCode::BAD_REQUEST, "bad_data", text.into())
}

fn success(data: &Value) -> Response {
    Json(json!({"status": "success", "data": data})).into_response()
}

/// Parameters of a request, from its address or its form.
struct Parameters(HashMap<String, String>);

impl Parameters {
    fn read(form: &[u8]) -> Self {
        Self(form_urlencoded::parse(form).into_owned().collect())
    }

    fn query(&self, prometheus: &Prometheus) -> Result<QueryName, Refusal> {
        let text = self.0.get("query").map_or("", String::as_str);
        if text.is_empty() {
            return Err(bad_data(
                "invalid parameter \"query\": unknown position: parse error: no expression found in input"
                    .to_owned(),
            ));
        }
        prometheus.known.get(text).copied().ok_or_else(|| {
            bad_data(
                "invalid parameter \"query\": 1:1: parse error: this simulated Prometheus answers only \
                 the queries that drainboard puts"
                    .to_owned(),
            )
        })
    }

    /// A point in time in milliseconds: seconds since 1970 or RFC 3339.
    fn time(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.0.get(name) else {
            return Ok(None);
        };
        let invalid = || {
            bad_data(format!(
                "invalid parameter \"{name}\": cannot parse \"{text}\" to a valid timestamp"
            ))
        };
        if let Ok(seconds) = text.parse::<f64>() {
            return millis(seconds).map(Some).ok_or_else(invalid);
        }
        DateTime::parse_from_rfc3339(text)
            .map(|time| Some(time.timestamp_millis()))
            .map_err(|_| invalid())
    }

    /// `step` in milliseconds: seconds, or a duration such as `60s`, `1m`.
    fn step(&self) -> Result<i64, Refusal> {
        let text = self.0.get("step").map_or("", String::as_str);
        let (number, factor) = match text.strip_suffix(['s', 'm', 'h']) {
            Some(number) if text.ends_with('m') => (number, 60.0),
            Some(number) if text.ends_with('h') => (number, 3600.0),
            Some(number) => (number, 1.0),
            None => (text, 1.0),
        };
        let step = number
            .parse::<f64>()
            .ok()
            .and_then(|number| millis(number * factor))
            .ok_or_else(|| {
                bad_data(format!(
                    "invalid parameter \"step\": cannot parse \"{text}\" to a valid duration"
                ))
            })?;
        if step <= 0 {
            return Err(bad_data(
                "invalid parameter \"step\": zero or negative query resolution step widths are not accepted. Try a positive integer".to_owned(),
            ));
        }
        Ok(step)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn millis(seconds: f64) -> Option<i64> {
    let millis = seconds * 1000.0;
    (millis.is_finite() && millis.abs() < 9e15).then_some(millis as i64)
}

async fn query(State(prometheus): State<Prometheus>, RawForm(form): RawForm) -> Result<Response, Refusal> {
    let parameters = Parameters::read(&form);
    if parameters
        .0
        .get("query")
        .is_some_and(|query| query.starts_with(FIRING))
    {
        // It has no rules, so that no alert fires.
        return Ok(success(&json!({"resultType": "vector", "result": []})));
    }
    let name = parameters.query(&prometheus)?;
    let at = parameters
        .time("time")?
        .unwrap_or_else(|| Utc::now().timestamp_millis());
    let answer = instant(name, &prometheus.database.view(), at);
    let result: Vec<_> = answer
        .into_iter()
        .map(|(labels, value)| json!({"metric": labels, "value": point(at, value)}))
        .collect();
    Ok(success(&json!({"resultType": "vector", "result": result})))
}

/// Prometheus refuses answers with more points than this in a series.
const MOST_POINTS: i64 = 11_000;

async fn query_range(
    State(prometheus): State<Prometheus>,
    RawForm(form): RawForm,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(&form);
    let name = parameters.query(&prometheus)?;
    let required = |name| {
        parameters.time(name)?.ok_or_else(|| {
            bad_data(format!(
                "invalid parameter \"{name}\": cannot parse \"\" to a valid timestamp"
            ))
        })
    };
    let (start, end, step) = (required("start")?, required("end")?, parameters.step()?);
    if end < start {
        return Err(bad_data(
            "invalid parameter \"end\": end timestamp must not be before start time".to_owned(),
        ));
    }
    if (end - start) / step > MOST_POINTS {
        return Err(bad_data(
            "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)".to_owned(),
        ));
    }
    let view = prometheus.database.view();
    let mut matrix: BTreeMap<Labels, Vec<Value>> = BTreeMap::new();
    let mut at = start;
    while at <= end {
        let answer = instant(name, &view, at);
        for (labels, value) in answer {
            matrix.entry(labels).or_default().push(point(at, value));
        }
        at += step;
    }
    let result: Vec<_> = matrix
        .into_iter()
        .map(|(labels, values)| json!({"metric": labels, "values": values}))
        .collect();
    Ok(success(&json!({"resultType": "matrix", "result": result})))
}

/// `[seconds, "value"]`.
fn point(at: i64, value: f64) -> Value {
    let seconds = DateTime::from_timestamp_millis(at).map_or(0.0, crate::lab::figures::seconds_since_epoch);
    json!([seconds, value.to_string()])
}

async fn build_info() -> Response {
    success(&json!({
        "version": "3.13.1", "revision": "lab", "branch": "HEAD", "buildUser": "", "buildDate": "", "goVersion": "go1.27.0",
    }))
}

async fn targets(State(prometheus): State<Prometheus>) -> Response {
    let now = Utc::now();
    let view = prometheus.database.view();
    let active: Vec<_> = view
        .series("up")
        .filter_map(|up| up.instant(now.timestamp_millis()).map(|sample| (up, sample)))
        .map(|(up, (at, value))| {
            let healthy = value > 0.0;
            let instance = up.labels.get("instance").map_or("", String::as_str);
            let scraped = DateTime::from_timestamp_millis(at).unwrap_or(now);
            json!({
                "discoveredLabels": {},
                "labels": up.labels,
                "scrapePool": "serviceMonitor/monitoring/kps-prometheus-windows-exporter/0",
                "scrapeUrl": format!("http://{instance}/metrics"),
                "globalUrl": format!("http://{instance}/metrics"),
                "lastError": if healthy {
                    String::new()
                } else {
                    format!("Get \"http://{instance}/metrics\": dial tcp {instance}: connect: connection refused")
                },
                "lastScrape": scraped.to_rfc3339(),
                "lastScrapeDuration": 0.11,
                "health": if healthy { "up" } else { "down" },
                "scrapeInterval": format!("{}s", SCRAPE_INTERVAL.as_secs()),
                "scrapeTimeout": "10s",
            })
        })
        .collect();
    success(&json!({"activeTargets": active, "droppedTargets": []}))
}
