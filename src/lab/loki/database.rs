//! Streams and their lines.

use super::logql::Query;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

/// Labels of a stream, or what is attached to a line.
pub type Labels = BTreeMap<String, String>;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Nanoseconds since 1970.
    pub at: i64,
    /// Its text.
    pub line: Arc<str>,
    /// What Loki found out about it.
    pub metadata: Arc<Labels>,
}

/// A line with the labels of its stream.
pub type Labelled = (Arc<Labels>, Entry);

/// Bytes that a stream keeps: what is older is gone, so that a flood ends somewhere.
const KEPT_BYTES: usize = 64 << 20;

/// Lines that a tail can be late.
const RECENT: usize = 100_000;

struct Stream {
    labels: Arc<Labels>,
    /// In order of time, and of arrival within one moment.
    entries: VecDeque<Entry>,
    bytes: usize,
    /// Lines of the newest moment: Loki takes an equal line of one moment once.
    newest: HashSet<Arc<str>>,
}

#[derive(Default)]
struct Inner {
    streams: BTreeMap<Labels, Stream>,
    recent: VecDeque<Labelled>,
    /// Lines that ever came.
    count: u64,
    levels: BTreeMap<&'static str, Arc<Labels>>,
}

/// All streams. Cheap to clone; all clones are one database.
#[derive(Clone, Default)]
pub struct Database {
    inner: Arc<RwLock<Inner>>,
}

impl Database {
    /// Takes in lines of one stream.
    pub fn push(&self, labels: &Labels, lines: impl IntoIterator<Item = (i64, String)>) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let Inner {
            streams,
            recent,
            count,
            levels,
        } = &mut *inner;
        let stream = streams.entry(labels.clone()).or_insert_with_key(|labels| Stream {
            labels: Arc::new(labels.clone()),
            entries: VecDeque::new(),
            bytes: 0,
            newest: HashSet::new(),
        });
        for (at, line) in lines {
            let level = detected_level(&line);
            let metadata = levels
                .entry(level)
                .or_insert_with(|| Arc::new([("detected_level".to_owned(), level.to_owned())].into()));
            let entry = Entry {
                at,
                line: line.into(),
                metadata: Arc::clone(metadata),
            };
            if stream.take(entry.clone()) {
                *count += 1;
                recent.push_back((Arc::clone(&stream.labels), entry));
                if recent.len() > RECENT {
                    recent.pop_front();
                }
            }
        }
    }

    /// Lines of `start..end` that the query takes, at most `limit` of them, the newest or the oldest first.
    pub fn read(
        &self,
        query: &Query,
        start: i64,
        end: i64,
        limit: usize,
        newest_first: bool,
    ) -> Vec<Labelled> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<Labelled> = Vec::new();
        for stream in inner
            .streams
            .values()
            .filter(|stream| query.selects(&stream.labels))
        {
            let entries = &stream.entries;
            let first = entries.partition_point(|entry| entry.at < start);
            let last = entries.partition_point(|entry| entry.at < end).max(first);
            let wanted = entries.range(first..last);
            let labelled = |entry: &Entry| (Arc::clone(&stream.labels), entry.clone());
            let takes = |entry: &&Entry| query.takes(&entry.line);
            if newest_first {
                found.extend(wanted.rev().filter(takes).take(limit).map(labelled));
            } else {
                found.extend(wanted.filter(takes).take(limit).map(labelled));
            }
        }
        found.sort_by_key(|(_, entry)| if newest_first { -entry.at } else { entry.at });
        found.truncate(limit);
        found
    }

    /// How many lines ever came.
    pub fn count(&self) -> u64 {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).count
    }

    /// The lines that came after the first `count`, and how many of them are forgotten already.
    pub fn since(&self, query: &Query, count: u64) -> (Vec<Labelled>, u64) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let fresh = inner.count - count.min(inner.count);
        let kept = u64::try_from(inner.recent.len()).unwrap_or(u64::MAX);
        let skipped = kept.saturating_sub(fresh);
        let lines = inner
            .recent
            .iter()
            .skip(usize::try_from(skipped).unwrap_or(usize::MAX))
            .filter(|(labels, entry)| query.selects(labels) && query.takes(&entry.line));
        (lines.cloned().collect(), fresh.saturating_sub(kept))
    }

    /// Names of labels, and the values of each.
    pub fn labels(&self) -> BTreeMap<String, std::collections::BTreeSet<String>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
        for (name, value) in inner.streams.keys().flatten() {
            all.entry(name.clone()).or_default().insert(value.clone());
        }
        all
    }

    /// Forgets everything: its volume is gone with its pod.
    pub fn clear(&self) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.streams.clear();
        inner.recent.clear();
    }
}

impl Stream {
    /// Takes a line in; false if it is there already.
    fn take(&mut self, entry: Entry) -> bool {
        let last = self.entries.back().map(|last| last.at);
        if last.is_none_or(|last| last < entry.at) {
            self.newest.clear();
        }
        if last.is_none_or(|last| last <= entry.at) {
            if !self.newest.insert(Arc::clone(&entry.line)) {
                return false;
            }
            self.bytes += entry.line.len();
            self.entries.push_back(entry);
        } else {
            let place = self.entries.partition_point(|other| other.at <= entry.at);
            let mut same = self
                .entries
                .range(..place)
                .rev()
                .take_while(|other| other.at == entry.at);
            if same.any(|other| other.line == entry.line) {
                return false;
            }
            self.bytes += entry.line.len();
            self.entries.insert(place, entry);
        }
        while self.bytes > KEPT_BYTES
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes -= oldest.line.len();
        }
        true
    }
}

/// What Loki attaches to a line as `detected_level`.
fn detected_level(line: &str) -> &'static str {
    let level = serde_json::from_str::<serde_json::Value>(line)
        .ok()
        .and_then(|line| {
            let level = line.get("level").or_else(|| line.get("levelText"))?;
            let text = line.get("levelText").and_then(serde_json::Value::as_str);
            text.or_else(|| level.as_str()).map(str::to_ascii_lowercase)
        });
    match level.as_deref() {
        Some("critical") => "critical",
        Some("error") => "error",
        Some("warn" | "warning") => "warn",
        Some("info" | "information") => "info",
        Some("debug") => "debug",
        None if line.contains("fatal") => "fatal",
        None if line.contains("error") || line.contains("Error") => "error",
        _ => "unknown",
    }
}
