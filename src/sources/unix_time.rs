//! Times in seconds since 1970, as Prometheus and exporters write them.

use crate::domain::Timestamp;
use chrono::DateTime;

/// A time in seconds since 1970, as Prometheus and the exporter write it.
pub fn time(seconds: f64) -> Option<Timestamp> {
    // Milliseconds are the resolution of Prometheus; what does not fit is no time.
    #[allow(clippy::cast_possible_truncation)]
    let milliseconds = (seconds * 1000.0).round() as i64;
    seconds
        .is_finite()
        .then(|| DateTime::from_timestamp_millis(milliseconds))
        .flatten()
}
