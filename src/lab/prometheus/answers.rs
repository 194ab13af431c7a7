//! Answers to the queries of the catalogue, one function a query. Each says in Rust what the query says in
//! `PromQL`, over the formulas that both take from the same table.

use super::series::{Labels, Series, View};
use crate::domain::measurement::WATCHED_SERVICES;
use crate::sources::exporter::names::{
    BUILD_INFO, COLLECTOR_SUCCESS, COLLECTOR_TIMEOUT, CONTAINER_FAMILIES, ContainerFamily, Formula,
    NODE_FAMILIES, NodeFamily, SERVICE_PROCESS, SERVICE_STATE,
};
use crate::sources::prometheus::catalogue::{
    HISTORY, QUANTITY, QueryName, TARGET_LABELS, TIME_SUFFIX, known_series,
};
use std::collections::BTreeMap;

/// An instant vector: labels and values, each label set once.
pub type Vector = BTreeMap<Labels, f64>;

/// Answers a query at `at` (milliseconds since 1970).
pub fn instant(query: QueryName, view: &View<'_>, at: i64) -> Vector {
    match query {
        QueryName::Nodes => nodes(view, at),
        QueryName::Services => services(view, at),
        QueryName::Containers => containers(view, at),
        QueryName::Exporters => exporters(view, at),
        QueryName::Series => series(view, at),
        QueryName::NodeHistory => node_history(view, at),
    }
}

fn nodes(view: &View<'_>, at: i64) -> Vector {
    let mut all = Vector::new();
    for family in &NODE_FAMILIES {
        or(&mut all, tagged(node_value(family, view, at), family.key));
        let time = any(family.chain.iter().map(|formula| {
            let (name, label) = match *formula {
                Formula::Gauge(name) | Formula::Difference(name, _) => (name, None),
                Formula::SystemVolumeShare(name, _) => (name, Some(("volume", "C:"))),
                Formula::BusyShare(name) => (name, Some(("mode", "idle"))),
            };
            max_by(&target_labels(), selected(view, name, label, at), |(time, _)| {
                seconds(time)
            })
        }));
        or(&mut all, tagged(time, &format!("{}{TIME_SUFFIX}", family.key)));
    }
    all
}

fn node_history(view: &View<'_>, at: i64) -> Vector {
    any(NODE_FAMILIES
        .iter()
        .filter(|family| HISTORY.contains(&family.quantity))
        .map(|family| tagged(node_value(family, view, at), family.key)))
}

fn node_value(family: &NodeFamily, view: &View<'_>, at: i64) -> Vector {
    any(family
        .chain
        .iter()
        .map(|formula| formula_value(*formula, view, at)))
}

fn formula_value(formula: Formula, view: &View<'_>, at: i64) -> Vector {
    let by = target_labels();
    let gauge = |name, label| max_by(&by, selected(view, name, label, at), |(_, value)| value);
    match formula {
        Formula::Gauge(name) => gauge(name, None),
        Formula::Difference(whole, part) => joined(&gauge(whole, None), &gauge(part, None), |a, b| a - b),
        Formula::SystemVolumeShare(part, whole) => {
            let volume = Some(("volume", "C:"));
            joined(&gauge(part, volume), &gauge(whole, volume), |a, b| a / b)
        }
        Formula::BusyShare(counter) => {
            let grown = |modes: &[&str]| {
                let mut sums = Vector::new();
                for series in view.series(counter) {
                    let mode = series.labels.get("mode").map_or("", String::as_str);
                    if modes.contains(&mode)
                        && let Some(rate) = rate(&series.window(at))
                    {
                        *sums.entry(kept(&by, &series.labels)).or_insert(0.0) += rate;
                    }
                }
                sums
            };
            joined(
                &grown(&["idle"]),
                &grown(&["idle", "user", "privileged"]),
                |idle, whole| 1.0 - idle / whole,
            )
        }
    }
}

fn services(view: &View<'_>, at: i64) -> Vector {
    let watched = |series: &&Series| {
        series.labels.get("name").is_some_and(|name| {
            WATCHED_SERVICES
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
        })
    };
    let of = |name: &'static str| {
        view.series(name)
            .filter(watched)
            .filter_map(move |series| series.instant(at).map(|sample| (series, sample)))
    };
    let mut by = target_labels();
    by.push("name");
    let mut by_state = by.clone();
    by_state.push("state");
    let current = of(SERVICE_STATE).filter(|(_, (_, value))| (value - 1.0).abs() < f64::EPSILON);
    any([
        tagged(max_by(&by_state, current, |(_, value)| value), "state"),
        tagged(max_by(&by, of(SERVICE_PROCESS), |(_, value)| value), "started_at"),
        tagged(
            max_by(&by, of(SERVICE_STATE), |(time, _)| seconds(time)),
            &format!("state{TIME_SUFFIX}"),
        ),
    ])
}

fn containers(view: &View<'_>, at: i64) -> Vector {
    let mut all = Vector::new();
    for family in &CONTAINER_FAMILIES {
        let values = any(container_series(family).map(|(by, name)| {
            let samples = identified(view, name, by).filter_map(|series| {
                let value = if family.counter {
                    irate(&series.window(at))
                } else {
                    series.instant(at).map(|(_, value)| value)
                };
                value.map(|value| (series, (at, value)))
            });
            max_by(by, samples, |(_, value)| value)
        }));
        or(&mut all, tagged(values, family.key));
    }
    if let Some(commit) = CONTAINER_FAMILIES.first() {
        let times = any(container_series(commit).map(|(by, name)| {
            let samples = identified(view, name, by)
                .filter_map(|series| series.instant(at).map(|sample| (series, sample)));
            max_by(by, samples, |(time, _)| seconds(time))
        }));
        or(&mut all, tagged(times, &format!("{}{TIME_SUFFIX}", commit.key)));
    }
    all
}

const BY_ID: &[&str] = &["container_id"];
const BY_NAME: &[&str] = &["exported_namespace", "exported_pod", "exported_container"];

/// The chain of a container's series and what identifies the container in each.
fn container_series(
    family: &ContainerFamily,
) -> impl Iterator<Item = (&'static [&'static str], &'static str)> {
    [(BY_ID, family.series), (BY_NAME, family.series)]
        .into_iter()
        .chain(family.recorded.map(|recorded| (BY_ID, recorded)))
}

/// The series that carry these labels; those known by name have no id.
fn identified<'a>(
    view: &'a View<'_>,
    name: &str,
    by: &'static [&'static str],
) -> impl Iterator<Item = &'a Series> {
    view.series(name).filter(move |series| {
        by.iter().all(|label| series.labels.contains_key(*label))
            && (by == BY_ID || !series.labels.contains_key("container_id"))
    })
}

fn exporters(view: &View<'_>, at: i64) -> Vector {
    let with = |label| {
        let mut by = target_labels();
        by.push(label);
        by
    };
    let of = |name, label| max_by(&with(label), selected(view, name, None, at), |(_, value)| value);
    any([
        of(BUILD_INFO, "version"),
        tagged(of(COLLECTOR_SUCCESS, "collector"), "success"),
        tagged(of(COLLECTOR_TIMEOUT, "collector"), "timeout"),
    ])
}

fn series(view: &View<'_>, at: i64) -> Vector {
    let mut counts = Vector::new();
    for name in known_series() {
        for (series, _) in selected(view, name, None, at) {
            let mut labels = kept(&["job"], &series.labels);
            labels.insert("__name__".to_owned(), name.to_owned());
            *counts.entry(labels).or_insert(0.0) += 1.0;
        }
    }
    counts
}

fn target_labels() -> Vec<&'static str> {
    TARGET_LABELS.split(", ").collect()
}

/// The series with this name and, where given, this label, that have a sample at `at`.
fn selected<'a>(
    view: &'a View<'_>,
    name: &str,
    label: Option<(&'static str, &'static str)>,
    at: i64,
) -> impl Iterator<Item = (&'a Series, (i64, f64))> {
    view.series(name)
        .filter(move |series| {
            label.is_none_or(|(name, value)| series.labels.get(name).is_some_and(|own| own == value))
        })
        .filter_map(move |series| series.instant(at).map(|sample| (series, sample)))
}

/// `max by (by) (value)`.
fn max_by<'a>(
    by: &[&str],
    samples: impl Iterator<Item = (&'a Series, (i64, f64))>,
    value: impl Fn((i64, f64)) -> f64,
) -> Vector {
    let mut all = Vector::new();
    for (series, sample) in samples {
        let value = value(sample);
        all.entry(kept(by, &series.labels))
            .and_modify(|known: &mut f64| *known = known.max(value))
            .or_insert(value);
    }
    all
}

fn kept(by: &[&str], labels: &Labels) -> Labels {
    labels
        .iter()
        .filter(|(name, _)| by.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A binary operation on vectors with the same labels.
fn joined(left: &Vector, right: &Vector, operation: impl Fn(f64, f64) -> f64) -> Vector {
    left.iter()
        .filter_map(|(labels, a)| right.get(labels).map(|b| (labels.clone(), operation(*a, *b))))
        .collect()
}

/// `left or right`: what is on the left stays.
fn or(left: &mut Vector, right: Vector) {
    for (labels, value) in right {
        left.entry(labels).or_insert(value);
    }
}

fn any(vectors: impl IntoIterator<Item = Vector>) -> Vector {
    let mut all = Vector::new();
    for vector in vectors {
        or(&mut all, vector);
    }
    all
}

/// `label_replace(vector, "quantity", key, "", "")`.
fn tagged(vector: Vector, key: &str) -> Vector {
    vector
        .into_iter()
        .map(|(mut labels, value)| {
            labels.insert(QUANTITY.to_owned(), key.to_owned());
            (labels, value)
        })
        .collect()
}

/// Growth a second over the whole window; a counter that went back starts from zero.
fn rate(window: &[(i64, f64)]) -> Option<f64> {
    let (first, last) = (window.first()?, window.last()?);
    let grown: f64 = window.windows(2).map(|pair| growth(pair[0].1, pair[1].1)).sum();
    per_second(grown, first.0, last.0)
}

/// Growth a second over the last two samples.
fn irate(window: &[(i64, f64)]) -> Option<f64> {
    let [.., (before, old), (after, new)] = window else {
        return None;
    };
    per_second(growth(*old, *new), *before, *after)
}

fn growth(old: f64, new: f64) -> f64 {
    if new < old { new } else { new - old }
}

fn per_second(grown: f64, from: i64, to: i64) -> Option<f64> {
    (to > from).then(|| grown / (seconds(to) - seconds(from)))
}

/// Milliseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit 52 bits")]
fn seconds(millis: i64) -> f64 {
    millis as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::series::Database;
    use super::super::{SCRAPE_INTERVAL, Scraper};
    use super::*;
    use crate::lab::article::machines;
    use crate::lab::backends::Backends;
    use crate::lab::exporter::{EXPORTER_PORT, router};
    use crate::lab::world::World;
    use crate::lab::world::tests::hello_win;
    use chrono::Utc;

    fn database() -> Database {
        let world = World::new(machines(Utc::now()));
        world.started(hello_win());
        let backends = Backends::default();
        let address = format!("192.168.10.25:{EXPORTER_PORT}").parse().unwrap();
        backends.register(address, router(world.clone(), "k8s-lab-win-1"));
        let database = Database::default();
        let scraper = Scraper {
            world,
            backends,
            database: database.clone(),
        };
        scraper.tell_the_past(Utc::now());
        database
    }

    fn of_quantity<'a>(vector: &'a Vector, key: &str) -> Vec<(&'a Labels, f64)> {
        vector
            .iter()
            .filter(|(labels, _)| labels.get(QUANTITY).is_some_and(|quantity| quantity == key))
            .map(|(labels, value)| (labels, *value))
            .collect()
    }

    fn one(vector: &Vector, key: &str) -> f64 {
        let all = of_quantity(vector, key);
        assert_eq!(all.len(), 1, "{key}");
        all[0].1
    }

    #[test]
    fn the_nodes_query_gives_the_articles_figures() {
        let database = database();
        let now = Utc::now().timestamp_millis();
        let answer = instant(QueryName::Nodes, &database.view(), now);
        let ratio = one(&answer, "commit") / one(&answer, "commit_limit");
        assert_eq!(format!("{ratio:.2}"), "0.31");
        assert_eq!(format!("{:.1}", 100.0 * one(&answer, "cpu_ratio")), "5.4");
        assert!(one(&answer, "commit.time") <= seconds(now));
        assert!(one(&answer, "commit.time") > seconds(now) - SCRAPE_INTERVAL.as_secs_f64());
    }

    #[test]
    fn the_containers_query_gives_hello_wins_commit_by_its_id() {
        let database = database();
        let answer = instant(
            QueryName::Containers,
            &database.view(),
            Utc::now().timestamp_millis(),
        );
        let commits = of_quantity(&answer, "commit");
        assert_eq!(commits.len(), 1);
        assert_eq!(commits[0].0["container_id"], "containerd://1");
        assert_eq!(format!("{:.0}", commits[0].1 / 1_048_576.0), "98");
        assert_eq!(format!("{:.0}", one(&answer, "working_set") / 1_048_576.0), "42");
    }

    #[test]
    fn kubelet_and_containerd_run() {
        let database = database();
        let answer = instant(
            QueryName::Services,
            &database.view(),
            Utc::now().timestamp_millis(),
        );
        for service in ["kubelet", "containerd"] {
            let states: Vec<_> = of_quantity(&answer, "state")
                .into_iter()
                .filter(|(labels, _)| labels["name"] == service)
                .collect();
            assert_eq!(states.len(), 1);
            assert_eq!(states[0].0["state"], "running");
        }
    }

    #[test]
    fn an_hour_of_history_is_there_from_the_beginning() {
        let database = database();
        let now = Utc::now().timestamp_millis();
        let view = database.view();
        for minute in 1..59 {
            let answer = instant(QueryName::NodeHistory, &view, now - minute * 60_000);
            assert_eq!(of_quantity(&answer, "commit").len(), 1, "{minute} minutes ago");
        }
    }
}
