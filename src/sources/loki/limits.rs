//! What a Loki allows in one query. It is not told before it is exceeded (a gateway does not serve the
//! configuration), so Loki's defaults count until an error names others.

use crate::domain::log::{SECOND_NANOS, UnixNanos};

/// Limits of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most lines in an answer (`max_entries_limit_per_query`).
    pub entries: usize,
    /// Longest range in nanoseconds (`max_query_length`).
    pub range_ns: UnixNanos,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 5_000,
            range_ns: 721 * 3_600 * SECOND_NANOS,
        }
    }
}

impl Limits {
    /// Learns from an error text; false if it tells nothing new.
    pub fn learn(&mut self, said: &str) -> bool {
        let before = *self;
        if let Some(entries) = entries(said).filter(|entries| *entries > 0) {
            self.entries = self.entries.min(entries);
        }
        if let Some(range) = range(said).filter(|range| *range > 0) {
            self.range_ns = self.range_ns.min(range);
        }
        *self != before
    }
}

/// `max entries limit per query exceeded, limit > max_entries_limit_per_query (10000 > 5000)`.
fn entries(said: &str) -> Option<usize> {
    let (_, told) = said.split_once("max_entries_limit_per_query (")?;
    let (_, allowed) = told.split_once('>')?;
    allowed.split(')').next()?.trim().parse().ok()
}

/// `the query time range exceeds the limit (query length: 19200h0m0s, limit: 30d1h)`.
fn range(said: &str) -> Option<UnixNanos> {
    let (_, told) = said.split_once("the query time range exceeds the limit")?;
    let (_, allowed) = told.split_once("limit: ")?;
    duration(allowed.split(')').next()?.trim())
}

/// A duration of Prometheus's library or of Go: `30d1h`, `721h0m0s`.
fn duration(text: &str) -> Option<UnixNanos> {
    let mut total: UnixNanos = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: UnixNanos = rest.get(..digits)?.parse().ok()?;
        let tail = rest.get(digits..)?;
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let unit = match tail.get(..letters)? {
            "y" => 365 * 86_400 * SECOND_NANOS,
            "w" => 7 * 86_400 * SECOND_NANOS,
            "d" => 86_400 * SECOND_NANOS,
            "h" => 3_600 * SECOND_NANOS,
            "m" => 60 * SECOND_NANOS,
            "s" => SECOND_NANOS,
            "ms" => SECOND_NANOS / 1_000,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        rest = tail.get(letters..)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: UnixNanos = 3_600 * SECOND_NANOS;

    #[test]
    fn limits_are_learned_from_what_loki_says() {
        let mut limits = Limits::default();
        assert_eq!((limits.entries, limits.range_ns), (5_000, 721 * HOUR));
        assert!(!limits.learn(
            "max entries limit per query exceeded, limit > max_entries_limit_per_query (10000 > 5000)"
        ));
        assert!(limits.learn(
            "max entries limit per query exceeded, limit > max_entries_limit_per_query (5000 > 1000)"
        ));
        assert_eq!(limits.entries, 1_000);
        assert!(
            !limits.learn("the query time range exceeds the limit (query length: 19200h0m0s, limit: 30d1h)")
        );
        assert!(
            limits.learn("the query time range exceeds the limit (query length: 721h0m0s, limit: 12h30m)")
        );
        assert_eq!(limits.range_ns, 12 * HOUR + HOUR / 2);
    }

    #[test]
    fn nothing_is_learned_from_anything_else() {
        let mut limits = Limits::default();
        for said in [
            "",
            "parse error at line 1, col 22: syntax error: unexpected $end, expecting } or ,",
            "limit > max_entries_limit_per_query (x > 0)",
            "the query time range exceeds the limit (query length: 1h, limit: 99999999999999y)",
            "the query time range exceeds the limit (query length: 1h, limit: soon)",
        ] {
            assert!(!limits.learn(said), "{said}");
        }
    }
}
