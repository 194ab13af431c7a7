//! Times of the API: RFC 3339 with seconds (`Time`) or microseconds (`MicroTime`).

use crate::domain::Timestamp;
use chrono::{DateTime, Utc};

/// The time, or `None` where the text is empty or no time.
pub fn parse(text: &str) -> Option<Timestamp> {
    if text.is_empty() {
        return None;
    }
    DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|time| time.with_timezone(&Utc))
}
