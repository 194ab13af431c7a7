//! Which lines were told already, so that a time that is read again tells only what is new.

use crate::domain::log::{LogEntry, SECOND_NANOS, UnixNanos};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// How far back is read again: collectors send in batches, and one stream may be later than another.
const OVERLAP: UnixNanos = 10 * SECOND_NANOS;

/// Most lines that are remembered; in a flood it is less than [`OVERLAP`] that is read again.
const MOST: usize = 100_000;

/// The lines that were told of the last moments.
#[derive(Default)]
pub struct Seen {
    hashes: RandomState,
    /// How often a line was told, by time and hash.
    told: BTreeMap<(UnixNanos, u64), u32>,
    /// What of that the present reading has not met yet.
    awaited: BTreeMap<(UnixNanos, u64), u32>,
    newest: Option<UnixNanos>,
}

impl Seen {
    /// Begins to read again; answers from when on.
    pub fn begin(&mut self, since_ns: UnixNanos) -> UnixNanos {
        let newest = self.newest.unwrap_or(since_ns);
        let mut from = since_ns.max(newest.saturating_sub(OVERLAP));
        if self.told.len() > MOST
            && let Some((at_ns, _)) = self.told.keys().rev().nth(MOST)
        {
            // That moment may be remembered in part only.
            from = from.max(at_ns.saturating_add(1));
        }
        self.told = self.told.split_off(&(from, 0));
        self.awaited = self.told.clone();
        from
    }

    /// Those of the lines that were not told before. They count as told now.
    pub fn news(&mut self, mut entries: Vec<LogEntry>) -> Vec<LogEntry> {
        entries.retain(|entry| {
            let key = (entry.at_ns, self.hash(entry));
            if let Some(count) = self.awaited.get_mut(&key).filter(|count| **count > 0) {
                *count -= 1;
                return false;
            }
            *self.told.entry(key).or_default() += 1;
            true
        });
        let newest = entries.iter().map(|entry| entry.at_ns).max();
        self.newest = self.newest.max(newest);
        if self.told.len() > 2 * MOST {
            let cut = self.told.keys().rev().nth(MOST).copied();
            self.told = cut.map(|cut| self.told.split_off(&cut)).unwrap_or_default();
        }
        entries
    }

    fn hash(&self, entry: &LogEntry) -> u64 {
        self.hashes.hash_one((&entry.stream.labels, &entry.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reading::Source;
    use std::sync::Arc;

    fn entry(at_ns: UnixNanos, line: &str) -> LogEntry {
        LogEntry {
            at_ns,
            line: line.into(),
            stream: Arc::default(),
            metadata: Arc::default(),
            parsed: Arc::default(),
            source: Source::Loki,
        }
    }

    fn lines(entries: &[LogEntry]) -> Vec<&str> {
        entries.iter().map(|entry| &*entry.line).collect()
    }

    #[test]
    fn what_is_read_again_is_told_once_and_a_late_line_all_the_same() {
        let mut seen = Seen::default();
        let second = SECOND_NANOS;
        assert_eq!(seen.begin(5), 5);
        let first = seen.news(vec![entry(5, "a"), entry(5, "a"), entry(30 * second, "b")]);
        assert_eq!(lines(&first), ["a", "a", "b"]);

        let from = seen.begin(5);
        assert_eq!(from, 20 * second);
        let again = seen.news(vec![
            entry(25 * second, "late"),
            entry(30 * second, "b"),
            entry(30 * second, "b"),
        ]);
        assert_eq!(
            lines(&again),
            ["late", "b"],
            "a second copy of a line is a line of its own"
        );
    }

    #[test]
    fn a_flood_does_not_grow_the_memory() {
        let mut seen = Seen::default();
        seen.begin(0);
        for batch in 0..50 {
            let entries = (0..10_000)
                .map(|line| entry(batch * 10_000 + line, "x"))
                .collect();
            assert_eq!(seen.news(entries).len(), 10_000);
            assert!(seen.told.len() <= 2 * MOST + 1);
        }
        let from = seen.begin(0);
        assert!(from > 0 && seen.told.len() <= MOST);
    }
}
