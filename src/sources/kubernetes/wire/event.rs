//! `v1` Event, old style (`count`, `lastTimestamp`) and new style (`series`, `eventTime`) folded together.

use super::super::intern::Interner;
use super::value::Text;
use super::{Meta, time};
use crate::domain::object::ClusterEvent;
use serde::Deserialize;

/// An Event.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Event<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// What it is about.
    pub involved_object: Reference<'a>,
    /// Machine-readable reason.
    pub reason: Text<'a>,
    /// Text for people.
    pub message: Text<'a>,
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    /// Old style: how often.
    pub count: Option<i64>,
    /// Old style: last seen.
    pub last_timestamp: Text<'a>,
    /// New style: first seen.
    #[serde(rename = "eventTime")]
    pub first_time: Text<'a>,
    /// New style: repetitions.
    pub series: Option<Series<'a>>,
}

/// Reference to an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Reference<'a> {
    /// Kind.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// Namespace.
    pub namespace: Text<'a>,
    /// Name.
    pub name: Text<'a>,
    /// UID.
    pub uid: Text<'a>,
}

/// Repetitions of an Event.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Series<'a> {
    /// How often.
    pub count: Option<i64>,
    /// Last seen.
    #[serde(borrow)]
    pub last_observed_time: Text<'a>,
}

impl Event<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> ClusterEvent {
        let series = self.series.as_ref();
        let count = self
            .count
            .max(series.and_then(|series| series.count))
            .unwrap_or(1);
        let last_seen = [
            time::parse(&self.last_timestamp),
            series.and_then(|series| time::parse(&series.last_observed_time)),
            time::parse(&self.first_time),
        ]
        .into_iter()
        .flatten()
        .max()
        .or_else(|| time::parse(&self.metadata.creation_timestamp));
        ClusterEvent {
            key: self.metadata.key(names),
            about_kind: names.get(&self.involved_object.kind),
            about_namespace: self
                .involved_object
                .namespace
                .present()
                .map(|text| names.get(text)),
            about_name: names.get(&self.involved_object.name),
            about_uid: self.involved_object.uid.present().map(|uid| names.get(uid)),
            warning: &*self.kind == "Warning",
            reason: names.get(&self.reason),
            message: Box::from(&*self.message),
            count: u32::try_from(count.max(1)).unwrap_or(u32::MAX),
            last_seen,
        }
    }
}
