//! `windows_exporter` 0.31 of a simulated Windows node: what `/metrics` says, made from the figures of this moment.

mod collectors;
mod container;
mod exposition;
mod services;

pub use collectors::COLLECTORS;
pub use container::who;
pub use exposition::{Exposition, Family, Sample};

use crate::domain::Timestamp;
use crate::lab::machine::{Machine, Stage};
use crate::lab::off::silent_below;
use crate::lab::world::{RunningPod, World};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// Port of the exporter.
pub const EXPORTER_PORT: u16 = 9182;

/// The version that the article's chart installs.
pub const EXPORTER_VERSION: &str = "0.31.9";

/// What one scrape sees.
struct Scene<'a> {
    machine: &'a Machine,
    pods: &'a [Arc<RunningPod>],
    at: Timestamp,
}

/// The answer of `/metrics` on this machine at `at`, for the collectors that `wanted` accepts.
pub fn collect(
    machine: &Machine,
    pods: &[Arc<RunningPod>],
    at: Timestamp,
    wanted: impl Fn(&str) -> bool,
) -> Exposition {
    let scene = Scene { machine, pods, at };
    let mut exposition = Exposition::default();
    let chosen: Vec<_> = COLLECTORS
        .iter()
        .filter(|collector| wanted(collector.name))
        .collect();
    for collector in &chosen {
        (collector.write)(&scene, &mut exposition);
    }
    collectors::about_itself(&chosen, &mut exposition);
    exposition
}

#[derive(Clone)]
struct Exporter {
    world: World,
    node: Arc<str>,
}

/// The exporter's HTTP service on this node, while its HostProcess pods run.
pub fn router(world: World, node: &str) -> Router {
    let routes = Router::new()
        .route("/metrics", get(metrics))
        .route("/health", get(|| async { r#"{"status":"ok"}"# }))
        .route("/version", get(version))
        .with_state(Exporter {
            world: world.clone(),
            node: node.into(),
        });
    silent_below(Stage::Up, routes, world, node)
}

async fn version() -> impl IntoResponse {
    let body =
        format!(r#"{{"version":"{EXPORTER_VERSION}","goVersion":"go1.27","os":"windows","arch":"amd64"}}"#);
    ([(header::CONTENT_TYPE, "application/json")], body)
}

async fn metrics(State(exporter): State<Exporter>, RawQuery(query): RawQuery) -> Response {
    let Some(machine) = exporter.world.machine(&exporter.node) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let chosen = collect_filter(query.as_deref().unwrap_or_default());
    if let Some(unknown) = chosen
        .iter()
        .find(|name| !COLLECTORS.iter().any(|known| known.name == **name))
    {
        let text = format!("Couldn't create filtered metrics handler: unavailable collector: {unknown}\n");
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    let pods = exporter.world.pods_on(&exporter.node);
    let exposition = collect(&machine, &pods, chrono::Utc::now(), |name| {
        chosen.is_empty() || chosen.iter().any(|wanted| wanted == name)
    });
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], exposition.text()).into_response()
}

/// The names in `collect[]=a&collect[]=b`.
fn collect_filter(query: &str) -> Vec<String> {
    form_urlencoded::parse(query.as_bytes())
        .filter(|(key, _)| key == "collect[]")
        .map(|(_, value)| value.into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::article::{WINDOWS_NODE, machines};
    use crate::lab::world::tests::hello_win;
    use chrono::{TimeDelta, Utc};

    fn value(text: &str, series: &str) -> f64 {
        let line = text
            .lines()
            .find(|line| line.starts_with(series))
            .unwrap_or_else(|| panic!("{series} is not there"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    fn render(
        machine: &Machine,
        pods: &[Arc<RunningPod>],
        at: Timestamp,
        wanted: impl Fn(&str) -> bool,
    ) -> String {
        collect(machine, pods, at, wanted).text()
    }

    fn windows() -> Machine {
        machines(Utc::now())
            .into_iter()
            .find(|machine| &*machine.name == WINDOWS_NODE)
            .unwrap()
    }

    #[test]
    fn two_scrapes_give_the_articles_cpu_by_the_modes_that_exclude_each_other() {
        let machine = windows();
        let now = Utc::now();
        let sum = |text: &str, modes: &[&str]| -> f64 {
            modes
                .iter()
                .flat_map(|mode| {
                    (0..4).map(move |core| {
                        format!(r#"windows_cpu_time_total{{core="0,{core}",mode="{mode}"}}"#)
                    })
                })
                .map(|series| value(text, &series))
                .sum()
        };
        let first = render(&machine, &[], now, |_| true);
        let second = render(&machine, &[], now + TimeDelta::seconds(15), |_| true);
        let grown = |modes: &[&str]| sum(&second, modes) - sum(&first, modes);
        let percent = 100.0 * (1.0 - grown(&["idle"]) / grown(&["idle", "user", "privileged"]));
        assert_eq!(format!("{percent:.1}"), "5.4");
    }

    #[test]
    fn a_container_is_named_and_charged_as_in_the_article() {
        let text = render(&windows(), &[Arc::new(hello_win())], Utc::now(), |_| true);
        let labels = r#"{container="hello",container_id="containerd://1",namespace="win-demo",pod="hello-win-759c899954-tq5nc"}"#;
        let commit = value(
            &text,
            &format!("windows_container_memory_usage_commit_bytes{labels}"),
        );
        assert_eq!(format!("{:.0}", commit / 1_048_576.0), "98");
    }

    #[test]
    fn every_family_is_declared_once_and_before_its_samples() {
        let text = render(&windows(), &[Arc::new(hello_win())], Utc::now(), |_| true);
        let mut declared = std::collections::BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap();
                assert!(declared.insert(name.to_owned()), "{name} declared twice");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                assert!(declared.contains(name), "{name} not declared");
            }
        }
    }

    #[test]
    fn only_the_collectors_asked_for_answer() {
        let wanted = collect_filter("collect[]=os&collect%5B%5D=memory");
        assert_eq!(wanted, ["os", "memory"]);
        let text = render(&windows(), &[], Utc::now(), |name| {
            wanted.iter().any(|w| w == name)
        });
        assert!(text.contains("windows_os_info{"));
        assert!(!text.contains("windows_cpu_time_total"));
    }
}
