//! Prometheus's answers. Labels that nobody here reads are skipped; the text is borrowed from the answer.

use crate::sources::transport::Answer;
use crate::sources::transport::failure::{Failure, FailureKind, clean};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// An instant vector.
#[derive(Debug, Default)]
pub struct Vector<'a> {
    /// Its series.
    pub rows: Vec<Row<'a>>,
    /// What the server warns about.
    pub warnings: Vec<String>,
}

/// One series of an instant vector.
#[derive(Debug, Deserialize)]
pub struct Row<'a> {
    /// Labels.
    #[serde(borrow)]
    pub metric: Labels<'a>,
    /// Time of the evaluation and value; a native histogram has none.
    #[serde(default)]
    pub value: Option<(f64, Number)>,
}

/// One series of a range.
#[derive(Debug, Deserialize)]
pub struct Series<'a> {
    /// Labels.
    #[serde(borrow)]
    pub metric: Labels<'a>,
    /// Times, seconds since 1970, and values.
    #[serde(default)]
    pub values: Vec<(f64, Number)>,
}

/// The labels that the catalogue asks for; empty where a series has none, as Prometheus itself sees it.
#[derive(Debug, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(default)]
pub struct Labels<'a> {
    /// Name of the series.
    #[serde(borrow, rename = "__name__")]
    pub name_of_series: Cow<'a, str>,
    /// Which cluster, where several are told apart.
    #[serde(borrow)]
    pub cluster: Cow<'a, str>,
    /// Collector of the exporter.
    #[serde(borrow)]
    pub collector: Cow<'a, str>,
    /// Container, with its runtime's scheme.
    #[serde(borrow)]
    pub container_id: Cow<'a, str>,
    /// Container, as the exporter saw it.
    #[serde(borrow)]
    pub exported_container: Cow<'a, str>,
    /// Namespace, as the exporter saw it.
    #[serde(borrow)]
    pub exported_namespace: Cow<'a, str>,
    /// Pod, as the exporter saw it.
    #[serde(borrow)]
    pub exported_pod: Cow<'a, str>,
    /// Address of the target.
    #[serde(borrow)]
    pub instance: Cow<'a, str>,
    /// Scrape job.
    #[serde(borrow)]
    pub job: Cow<'a, str>,
    /// Windows service.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Namespace of the target's pod.
    #[serde(borrow)]
    pub namespace: Cow<'a, str>,
    /// Node, where relabelling adds it.
    #[serde(borrow)]
    pub node: Cow<'a, str>,
    /// The target's pod.
    #[serde(borrow)]
    pub pod: Cow<'a, str>,
    /// Which quantity the series holds.
    #[serde(borrow)]
    pub quantity: Cow<'a, str>,
    /// State of a service.
    #[serde(borrow)]
    pub state: Cow<'a, str>,
    /// Version of the exporter.
    #[serde(borrow)]
    pub version: Cow<'a, str>,
}

/// A sample value: a number written as a string, also `NaN`, `+Inf`, `-Inf`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Number {
    /// The value, unless it is NaN or infinite: those are no measurement.
    pub fn finite(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number in quotes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(|_| E::custom("not a number"))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
struct Envelope<R> {
    status: String,
    data: Option<Data<R>>,
    #[serde(default)]
    error: String,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
struct Data<R> {
    result: Vec<R>,
}

/// Reads an answer of `/api/v1/query`.
pub fn vector(answer: &Answer) -> Result<Vector<'_>, Failure> {
    let (rows, warnings) = result(answer)?;
    Ok(Vector { rows, warnings })
}

/// An alert that fires.
#[derive(Debug, Deserialize)]
pub struct Alert {
    /// Its labels.
    pub metric: BTreeMap<String, String>,
}

/// Reads an answer about alerts.
pub fn alerts(answer: &Answer) -> Result<Vec<Alert>, Failure> {
    result(answer).map(|(alerts, _)| alerts)
}

/// Reads an answer of `/api/v1/query_range`.
pub fn matrix(answer: &Answer) -> Result<Vec<Series<'_>>, Failure> {
    result(answer).map(|(series, _)| series)
}

fn result<'a, R: Deserialize<'a>>(answer: &'a Answer) -> Result<(Vec<R>, Vec<String>), Failure> {
    let envelope: Envelope<R> = answer.json()?;
    match envelope.data {
        Some(data) if envelope.status == "success" => {
            let warnings = envelope.warnings.iter().map(|text| clean(text)).collect();
            Ok((data.result, warnings))
        }
        _ => Err(Failure::new(
            FailureKind::Garbage,
            format!("Prometheus answered {}: {}", envelope.status, envelope.error),
            "look at its log; it is tried again by itself",
        )),
    }
}
