//! The kubelet API that `kubectl logs` reaches through the API server.

use super::logs::Log;
use crate::domain::Timestamp;
use crate::lab::machine::Stage;
use crate::lab::off::silent_below;
use crate::lab::world::{Mount, RunningPod, World};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chrono::{SecondsFormat, TimeDelta, Utc};
use futures::stream;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// The kubelet API of a node, while its kubelet runs.
pub fn router(world: World, node: &str) -> Router {
    let routes = Router::new()
        .route("/containerLogs/{namespace}/{pod}/{container}", get(logs))
        .route("/healthz", get(|| async { "ok" }))
        .with_state(world.clone());
    silent_below(Stage::Reporting, routes, world, node)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Options {
    follow: bool,
    previous: bool,
    timestamps: bool,
    tail_lines: Option<usize>,
    since_seconds: Option<i64>,
    since_time: Option<Timestamp>,
}

/// How often a followed log is looked at.
const FOLLOW_PERIOD: Duration = Duration::from_millis(500);

async fn logs(
    State(world): State<World>,
    Path((namespace, pod, container)): Path<(String, String, String)>,
    Query(options): Query<Options>,
) -> Response {
    if let Some(left) = world.log_left(&namespace, &pod) {
        return left.into_response();
    }
    let Some(running) = world.pod(&namespace, &pod) else {
        let text = format!("pod \"{pod}\" in namespace \"{namespace}\" has no running containers");
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    let Some(position) = running
        .containers
        .iter()
        .position(|known| *known.name == *container)
    else {
        let text = format!("container \"{container}\" in pod \"{pod}\" not found");
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    if options.previous {
        let text = format!("previous terminated container \"{container}\" in pod \"{pod}\" not found");
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    let now = Utc::now();
    let mounts = world.mounts_on(&running.node);
    let (written, mut first) = log_of(&running, position, &mounts, now, |log| {
        let first = since(&options, now).map_or(0, |since| log.first_since(since));
        (log.written(), first)
    });
    if let Some(lines) = options.tail_lines {
        first = first.max(written.saturating_sub(lines));
    }
    let reader = Reader {
        world,
        running,
        position,
        timestamps: options.timestamps,
    };
    if options.follow {
        reader.follow(first)
    } else {
        reader.text(first..written, now).into_response()
    }
}

fn since(options: &Options, now: Timestamp) -> Option<Timestamp> {
    options.since_time.or_else(|| {
        options
            .since_seconds
            .map(|seconds| now - TimeDelta::seconds(seconds))
    })
}

fn log_of<T>(
    pod: &RunningPod,
    position: usize,
    mounts: &[Mount],
    now: Timestamp,
    read: impl FnOnce(&Log<'_>) -> T,
) -> T
where
    T: Default,
{
    pod.containers
        .get(position)
        .map(|container| read(&Log::of(pod, container, mounts, now)))
        .unwrap_or_default()
}

struct Reader {
    world: World,
    running: Arc<RunningPod>,
    position: usize,
    timestamps: bool,
}

impl Reader {
    fn text(&self, lines: std::ops::Range<usize>, now: Timestamp) -> String {
        let mounts = self.world.mounts_on(&self.running.node);
        log_of(&self.running, self.position, &mounts, now, |log| {
            let mut text = String::new();
            for (at, line) in lines.filter_map(|line| log.line(line)) {
                if self.timestamps {
                    text += &at.to_rfc3339_opts(SecondsFormat::Nanos, true);
                    text.push(' ');
                }
                text += &line;
                text.push('\n');
            }
            text
        })
    }

    /// New lines as they come, until the container stops.
    fn follow(self, first: usize) -> Response {
        let lines = stream::unfold((self, first), |(reader, first)| async move {
            loop {
                let same_run = reader
                    .world
                    .pod(&reader.running.namespace, &reader.running.name)
                    .is_some_and(|pod| pod.uid == reader.running.uid);
                if !same_run {
                    return None;
                }
                let now = Utc::now();
                let mounts = reader.world.mounts_on(&reader.running.node);
                let written = log_of(&reader.running, reader.position, &mounts, now, |log| {
                    log.written()
                });
                if written > first {
                    let text = reader.text(first..written, now);
                    return Some((Ok::<_, std::convert::Infallible>(text), (reader, written)));
                }
                tokio::time::sleep(FOLLOW_PERIOD).await;
            }
        });
        Body::from_stream(lines).into_response()
    }
}
