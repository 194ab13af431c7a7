//! A value that was joined or measured is never a bare number: it says where it comes from and when it was
//! sampled, or why it is not there.

use super::Timestamp;
use std::fmt;
use std::sync::Arc;

/// Who gave a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The Kubernetes API (lists and watches).
    Kubernetes,
    /// A Prometheus server.
    Prometheus,
    /// `windows_exporter`, scraped directly through the API server's pod proxy.
    Exporter,
    /// The resource metrics API, `metrics.k8s.io` (what `kubectl top` shows).
    MetricsApi,
    /// A Loki server, which keeps logs. It measures nothing.
    Loki,
}

impl Source {
    /// All sources, in the order in which they are declared.
    pub const ALL: [Self; 5] = [
        Self::Kubernetes,
        Self::Prometheus,
        Self::Exporter,
        Self::MetricsApi,
        Self::Loki,
    ];

    /// The name shown to the operator and written to JSON (`source`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::Prometheus => "prometheus",
            Self::Exporter => "windows_exporter",
            Self::MetricsApi => "metrics.k8s.io",
            Self::Loki => "loki",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a value is not there. The text (its `Display`) is shown to the operator and written to JSON as
/// `{"absent":"reason"}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Absence {
    /// The source has not answered yet.
    NotYet,
    /// The source answered an error or not at all; the text says which source and what.
    SourceDown(Arc<str>),
    /// The API server refused; the text names verb and resource.
    Forbidden(Arc<str>),
    /// The series or field does not exist here: collector off, exporter too old, job label differs.
    NotCollected(Arc<str>),
    /// The quantity does not exist on this operating system.
    NotOnThisOs,
    /// The container has no limit, so there is nothing to divide by.
    NoLimit,
    /// The source works but has no sample for this object (just started, finished, or pending).
    NoSample,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotYet => f.write_str("not answered yet"),
            Self::SourceDown(text) | Self::Forbidden(text) | Self::NotCollected(text) => f.write_str(text),
            Self::NotOnThisOs => f.write_str("not on this operating system"),
            Self::NoLimit => f.write_str("no limit"),
            Self::NoSample => f.write_str("no sample for this object"),
        }
    }
}

/// A value with its source and the time of its newest raw sample, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading<T> {
    /// There is a value.
    Present {
        /// The value, in the unit that the field's doc comment names.
        value: T,
        /// Who gave it.
        source: Source,
        /// When the newest raw sample behind it was taken (never the time of the answer).
        sampled_at: Timestamp,
    },
    /// There is none, and why.
    Absent(Absence),
}

impl<T> Reading<T> {
    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Present { value, .. } => Some(value),
            Self::Absent(_) => None,
        }
    }

    /// The reason, if there is no value.
    pub fn absence(&self) -> Option<&Absence> {
        match self {
            Self::Present { .. } => None,
            Self::Absent(reason) => Some(reason),
        }
    }

    /// The same reading with its value changed: source and sample time stay.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Present {
                value,
                source,
                sampled_at,
            } => Reading::Present {
                value: change(value),
                source,
                sampled_at,
            },
            Self::Absent(reason) => Reading::Absent(reason),
        }
    }

    /// Age of the sample in whole seconds at `now`; a sample from the future (clock skew) has age 0.
    pub fn age_seconds(&self, now: Timestamp) -> Option<u64> {
        match self {
            Self::Present { sampled_at, .. } => {
                Some(u64::try_from((now - *sampled_at).num_seconds()).unwrap_or(0))
            }
            Self::Absent(_) => None,
        }
    }

    /// Whether the sample is older than the source's normal rhythm allows. A stale reading looks stale and
    /// gives way to a fresher source.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        match self {
            Self::Present { source, .. } => self
                .age_seconds(now)
                .is_some_and(|age| age > stale_after_seconds(*source)),
            Self::Absent(_) => false,
        }
    }
}

/// Seconds after which a sample of this source counts as stale: three usual scrape intervals of Prometheus
/// (30 s), of our own scrape of the exporter (15 s), and of metrics-server (its window is up to 60 s, on
/// Windows the kubelet's statistics lag by as much again). Loki is asked once a minute whether it answers.
pub const fn stale_after_seconds(source: Source) -> u64 {
    match source {
        Source::Kubernetes | Source::Prometheus => 90,
        Source::Exporter => 45,
        Source::MetricsApi | Source::Loki => 180,
    }
}
