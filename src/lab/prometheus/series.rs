//! Series and their samples.

use crate::lab::exporter::Family;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Labels of a series, its name left out.
pub type Labels = BTreeMap<String, String>;

/// A sample: milliseconds since 1970, and the value; no value marks the end of the series, as Prometheus marks
/// a series that a scrape did not find again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When.
    pub at: i64,
    /// How much.
    pub value: Option<f64>,
}

/// A series.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its labels.
    pub labels: Labels,
    points: VecDeque<Point>,
}

/// How long an instant query looks back.
const LOOKBACK_MILLIS: i64 = 300_000;
/// How long samples are kept.
const RETENTION_MILLIS: i64 = 3_900_000;

impl Series {
    /// The newest sample that an instant query at `at` sees.
    pub fn instant(&self, at: i64) -> Option<(i64, f64)> {
        let newest = self.points.iter().rev().find(|point| point.at <= at)?;
        let fresh = newest.at > at - LOOKBACK_MILLIS;
        newest.value.filter(|_| fresh).map(|value| (newest.at, value))
    }

    /// The samples of the five minutes before `at`, in time order.
    pub fn window(&self, at: i64) -> Vec<(i64, f64)> {
        self.points
            .iter()
            .filter(|point| point.at <= at && point.at > at - LOOKBACK_MILLIS)
            .filter_map(|point| point.value.map(|value| (point.at, value)))
            .collect()
    }
}

#[derive(Default)]
struct Inner {
    by_name: BTreeMap<String, HashMap<Labels, Series>>,
}

/// All series. Cheap to clone; all clones are one database.
#[derive(Clone, Default)]
pub struct Database {
    inner: Arc<RwLock<Inner>>,
}

/// The database while it is read.
pub struct View<'a>(RwLockReadGuard<'a, Inner>);

impl View<'_> {
    /// The series with this name.
    pub fn series(&self, name: &str) -> impl Iterator<Item = &Series> {
        self.0.by_name.get(name).into_iter().flat_map(HashMap::values)
    }
}

impl Database {
    /// Reads.
    pub fn view(&self) -> View<'_> {
        View(self.inner.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in what one scrape of one target found, and what was recorded of it; each part with the labels that
    /// are attached to its samples. Series of the target that no part holds end here.
    pub fn ingest(&self, at: i64, target: &Labels, parts: &[(&Labels, &[Family])]) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        for (attached, families) in parts {
            for family in *families {
                inner.add(at, attached, family);
            }
        }
        inner.end_what_is_missing(target, at);
    }
}

impl Inner {
    fn add(&mut self, at: i64, attached: &Labels, family: &Family) {
        let all = self.by_name.entry(family.name.to_owned()).or_default();
        for sample in &family.samples {
            let labels = attach(attached, &sample.labels);
            let series = all.entry(labels).or_insert_with_key(|labels| Series {
                labels: labels.clone(),
                points: VecDeque::new(),
            });
            series.points.push_back(Point {
                at,
                value: Some(sample.value),
            });
        }
    }

    fn end_what_is_missing(&mut self, target: &Labels, at: i64) {
        for all in self.by_name.values_mut() {
            for series in all.values_mut() {
                let of_target = ["instance", "job"]
                    .iter()
                    .all(|label| series.labels.get(*label) == target.get(*label));
                let last = series.points.back().copied();
                if of_target && last.is_some_and(|point| point.at < at && point.value.is_some()) {
                    series.points.push_back(Point { at, value: None });
                }
                while series
                    .points
                    .front()
                    .is_some_and(|point| point.at < at - RETENTION_MILLIS)
                {
                    series.points.pop_front();
                }
            }
            all.retain(|_, series| !series.points.is_empty());
        }
    }
}

/// The labels of a sample of a target: the target's own win, the sample's are kept as `exported_…`
/// (`honor_labels: false`).
fn attach(target: &Labels, own: &[(&'static str, String)]) -> Labels {
    let mut labels = target.clone();
    for (name, value) in own {
        if value.is_empty() {
            continue;
        }
        let name = if target.contains_key(*name) {
            format!("exported_{name}")
        } else {
            (*name).to_owned()
        };
        labels.insert(name, value.clone());
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::exporter::Exposition;

    fn target() -> Labels {
        [
            ("instance", "192.168.10.25:9182"),
            ("job", "windows-exporter"),
            ("pod", "exporter"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    fn scraped(value: f64) -> Vec<Family> {
        let mut exposition = Exposition::default();
        exposition
            .gauge("windows_x", "")
            .sample(&[("pod", "hello-win"), ("zone", "")], value);
        exposition.into_families()
    }

    #[test]
    fn labels_of_the_target_win_and_those_of_the_sample_become_exported() {
        let database = Database::default();
        database.ingest(1000, &target(), &[(&target(), &scraped(1.0))]);
        let view = database.view();
        let labels = &view.series("windows_x").next().unwrap().labels;
        assert_eq!(labels["pod"], "exporter");
        assert_eq!(labels["exported_pod"], "hello-win");
        assert!(!labels.contains_key("zone"), "an empty label is no label");
    }

    #[test]
    fn a_series_that_a_scrape_did_not_find_again_has_no_instant_value_but_its_samples_stay() {
        let database = Database::default();
        database.ingest(1000, &target(), &[(&target(), &scraped(1.0))]);
        database.ingest(16_000, &target(), &[]);
        let view = database.view();
        let series = view.series("windows_x").next().unwrap();
        assert_eq!(series.instant(1500), Some((1000, 1.0)));
        assert_eq!(series.instant(20_000), None);
        assert_eq!(series.window(20_000), [(1000, 1.0)]);
    }

    #[test]
    fn a_sample_is_answered_for_five_minutes_when_no_scrape_follows() {
        let database = Database::default();
        database.ingest(1000, &target(), &[(&target(), &scraped(1.0))]);
        let view = database.view();
        let series = view.series("windows_x").next().unwrap();
        assert!(series.instant(300_000).is_some());
        assert!(series.instant(302_000).is_none());
    }
}
