//! Lines of one nanosecond that are more than an answer takes. Time cannot part them, so their beginnings do: a set
//! that is too large is divided into the lines that go on with each of the characters that were seen, and the rest.

use super::connection::Connection;
use super::logql::filtered;
use super::pages::sort;
use crate::domain::log::{LogEntry, LogOrder, LogRange, UnixNanos};
use crate::sources::transport::failure::Failure;
use std::collections::BTreeSet;

/// Lines that begin with `prefix`, but with none of `without`.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    prefix: String,
    without: BTreeSet<String>,
}

/// All lines of that moment, and at least how many cannot be had: copies of one line in more streams than an answer
/// takes.
pub async fn crowd(
    loki: &Connection,
    logql: &str,
    at_ns: UnixNanos,
) -> Result<(Vec<LogEntry>, u64), Failure> {
    let moment = LogRange {
        start_ns: at_ns,
        end_ns: at_ns.saturating_add(1),
    };
    let limit = loki.limits().entries;
    let mut entries = Vec::new();
    let mut lost = 0;
    let mut parts = vec![Part {
        prefix: String::new(),
        without: BTreeSet::new(),
    }];
    while let Some(part) = parts.pop() {
        let found = loki
            .query_range(&part.query(logql), moment, LogOrder::OldestFirst, limit)
            .await?;
        let is_all = found.len() < limit;
        let smaller = if is_all { Vec::new() } else { part.divided(&found) };
        if smaller.is_empty() {
            lost += u64::from(!is_all);
            entries.extend(found);
        } else {
            parts.extend(smaller);
        }
    }
    entries.retain(|entry| entry.at_ns == at_ns);
    sort(&mut entries, LogOrder::OldestFirst);
    Ok((entries, lost))
}

impl Part {
    fn query(&self, logql: &str) -> String {
        let mut query = logql.to_owned();
        if !self.prefix.is_empty() {
            query = filtered(&query, &format!("^{}", regex::escape(&self.prefix)), false);
        }
        if !self.without.is_empty() {
            let all: Vec<String> = self.without.iter().map(|text| regex::escape(text)).collect();
            query = filtered(&query, &format!("^(?:{})", all.join("|")), true);
        }
        query
    }

    /// Smaller parts that are this one together, seen some of its lines; none if these are all the same.
    fn divided(&self, found: &[LogEntry]) -> Vec<Self> {
        let lines: Vec<&str> = found.iter().map(|entry| &*entry.line).collect();
        let common = common_beginning(&lines);
        let next: BTreeSet<String> = lines
            .iter()
            .filter_map(|line| {
                let after = line.strip_prefix(common)?.chars().next()?;
                Some(format!("{common}{after}"))
            })
            .collect();
        let all_the_same = next.is_empty() && common.len() == self.prefix.len();
        if all_the_same || !common.starts_with(&self.prefix) {
            return Vec::new();
        }
        let mut parts = Vec::new();
        if common.len() > self.prefix.len() {
            let mut without = self.without.clone();
            without.insert(common.to_owned());
            parts.push(Self {
                prefix: self.prefix.clone(),
                without,
            });
        }
        let excluded_below = |prefix: &str| -> BTreeSet<String> {
            self.without
                .iter()
                .filter(|text| text.starts_with(prefix))
                .cloned()
                .collect()
        };
        // What goes on with a character that was not seen, or ends here.
        let mut without = excluded_below(common);
        without.extend(next.iter().cloned());
        parts.push(Self {
            prefix: common.to_owned(),
            without,
        });
        parts.extend(next.into_iter().map(|prefix| Self {
            without: excluded_below(&prefix),
            prefix,
        }));
        parts
    }
}

fn common_beginning<'a>(lines: &[&'a str]) -> &'a str {
    let Some(first) = lines.first() else { return "" };
    let mut length = first.len();
    for line in lines {
        let same = first
            .bytes()
            .zip(line.bytes())
            .take_while(|(one, other)| one == other);
        length = length.min(same.count());
    }
    while !first.is_char_boundary(length) {
        length -= 1;
    }
    first.get(..length).unwrap_or_default()
}
