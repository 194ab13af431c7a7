//! The stable JSON of `nodes`, `pods` and `smb` with `-o json`: `{"items":[…]}`.
//!
//! A value that was joined or measured is `{"value":…,"unit":…,"source":…,"age_seconds":…}`, or
//! `{"absent":"reason"}` where there is none. Plain numbers come from the objects' specs.

use crate::domain::Timestamp;
use crate::domain::reading::{Absence, Reading};
use crate::domain::severity::Severity;
use serde::Serialize;

/// A list of objects.
#[derive(Debug, Serialize)]
pub struct Document<T> {
    /// The objects.
    pub items: Vec<T>,
}

/// A reading.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measured<T> {
    /// A value.
    Present {
        /// The value in `unit`.
        value: T,
        /// `bytes`, `ratio`, `percent`, `cores`, `state` or `text`.
        unit: &'static str,
        /// Who measured it.
        source: &'static str,
        /// Age of the newest raw sample, seconds.
        age_seconds: u64,
    },
    /// None, and why.
    Absent {
        /// The reason.
        absent: String,
    },
}

impl<T> Measured<T> {
    /// A reading, its value as `value` gives it.
    fn of<R>(reading: &Reading<R>, unit: &'static str, now: Timestamp, value: impl FnOnce(&R) -> T) -> Self {
        match reading {
            Reading::Present {
                value: raw, source, ..
            } => Self::Present {
                value: value(raw),
                unit,
                source: source.name(),
                age_seconds: reading.age_seconds(now).unwrap_or(0),
            },
            Reading::Absent(reason) => Self::Absent {
                absent: reason.to_string(),
            },
        }
    }
}

/// Whole bytes.
pub fn bytes(reading: &Reading<f64>, now: Timestamp) -> Measured<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and bytes are not negative"
    )]
    Measured::of(reading, "bytes", now, |bytes| bytes.round() as u64)
}

/// A ratio, 1.0 is all; four decimals.
pub fn ratio(reading: &Reading<f64>, now: Timestamp) -> Measured<f64> {
    Measured::of(reading, "ratio", now, |&ratio| rounded(ratio, 10_000.0))
}

/// A ratio (1.0 is all) as percent; two decimals.
pub fn percent(reading: &Reading<f64>, now: Timestamp) -> Measured<f64> {
    Measured::of(reading, "percent", now, |&ratio| rounded(ratio * 100.0, 100.0))
}

/// Cores; six decimals.
pub fn cores(reading: &Reading<f64>, now: Timestamp) -> Measured<f64> {
    Measured::of(reading, "cores", now, |&cores| rounded(cores, 1_000_000.0))
}

/// A state in words.
pub fn state<R>(
    reading: &Reading<R>,
    now: Timestamp,
    word: impl FnOnce(&R) -> &'static str,
) -> Measured<&'static str> {
    Measured::of(reading, "state", now, word)
}

/// A text.
pub fn text<R>(reading: &Reading<R>, now: Timestamp, text: impl FnOnce(&R) -> String) -> Measured<String> {
    Measured::of(reading, "text", now, text)
}

/// What objects of the cluster say, or why they cannot be read.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Known<T> {
    /// It is known.
    Known(T),
    /// It is not, and why.
    Absent {
        /// The reason.
        absent: String,
    },
}

/// What objects of the cluster say.
pub fn known<R, T>(known: &Result<R, Absence>, value: impl FnOnce(&R) -> T) -> Known<T> {
    match known {
        Ok(held) => Known::Known(value(held)),
        Err(reason) => Known::Absent {
            absent: reason.to_string(),
        },
    }
}

/// How much a finding matters, in a word.
pub const fn finding_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Fine => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reading::Source;
    use serde_json::json;

    fn measured(value: f64) -> Reading<f64> {
        Reading::Present {
            value,
            source: Source::Prometheus,
            sampled_at: Timestamp::from_timestamp(88, 0).unwrap(),
        }
    }

    fn now() -> Timestamp {
        Timestamp::from_timestamp(100, 0).unwrap()
    }

    #[test]
    fn a_value_names_unit_source_and_age() {
        assert_eq!(
            serde_json::to_value(bytes(&measured(102_760_448.4), now())).unwrap(),
            json!({"value": 102_760_448, "unit": "bytes", "source": "prometheus", "age_seconds": 12})
        );
        assert_eq!(
            serde_json::to_value(percent(&measured(0.054_000_000_1), now())).unwrap(),
            json!({"value": 5.4, "unit": "percent", "source": "prometheus", "age_seconds": 12})
        );
        assert_eq!(
            serde_json::to_value(ratio(&measured(0.382_812_5), now())).unwrap(),
            json!({"value": 0.3828, "unit": "ratio", "source": "prometheus", "age_seconds": 12})
        );
    }

    #[test]
    fn nothing_is_a_reason_and_never_a_number() {
        let absent = Reading::Absent(Absence::NoLimit);
        for document in [
            serde_json::to_value(ratio(&absent, now())).unwrap(),
            serde_json::to_value(bytes(&absent, now())).unwrap(),
            serde_json::to_value(cores(&absent, now())).unwrap(),
        ] {
            assert_eq!(document, json!({"absent": "no limit"}));
        }
    }
}
