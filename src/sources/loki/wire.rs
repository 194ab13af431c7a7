//! Loki's answers.

use super::labels::Labels;
use crate::domain::Name;
use crate::domain::log::{LogEntry, LogLabels, LogStream, UnixNanos};
use crate::domain::reading::Source;
use crate::sources::transport::Answer;
use crate::sources::transport::failure::{Failure, FailureKind};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

#[derive(Deserialize)]
struct Envelope<D> {
    status: String,
    data: Option<D>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    result_type: String,
    #[serde(borrow, default)]
    result: Vec<Stream<'a>>,
}

/// The kind of result that lines are.
const LINES: &str = "streams";

/// What an answer holds, whatever that is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    result_type: String,
}

#[derive(Deserialize)]
struct Stream<'a> {
    #[serde(borrow, default)]
    stream: Map<'a>,
    #[serde(borrow, default)]
    values: Vec<Value<'a>>,
}

type Map<'a> = BTreeMap<Text<'a>, Text<'a>>;

/// A string, borrowed from the answer where it holds no escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// `["nanoseconds", "line"]`, with a third element where the labels are told apart.
struct Value<'a> {
    at_ns: UnixNanos,
    line: Cow<'a, str>,
    more: More<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct More<'a> {
    #[serde(borrow)]
    structured_metadata: Map<'a>,
    #[serde(borrow)]
    parsed: Map<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;
        impl<'de> Visitor<'de> for Elements {
            type Value = Value<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time and a line")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
                let time: Text<'de> = elements
                    .next_element()?
                    .ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let at_ns = time
                    .0
                    .parse()
                    .map_err(|_| de::Error::custom("a time that is no number of nanoseconds"))?;
                let line: Text<'de> = elements
                    .next_element()?
                    .ok_or_else(|| de::Error::invalid_length(1, &self))?;
                let more = elements.next_element()?.unwrap_or_default();
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value {
                    at_ns,
                    line: line.0,
                    more,
                })
            }
        }
        deserializer.deserialize_seq(Elements)
    }
}

/// Reads an answer of `query_range`, in no particular order.
///
/// # Errors
/// No JSON, cut off, or not the lines of streams.
pub fn entries(answer: &Answer, labels: &Labels) -> Result<Vec<LogEntry>, Failure> {
    let read = answer.json::<Envelope<Data<'_>>>().and_then(succeeded);
    match read {
        Ok(data) if data.result_type == LINES => Ok(Reader::new(labels).read(data.result)),
        Ok(Data {
            result_type: kind, ..
        }) => Err(numbers(&kind)),
        // Numbers have another shape.
        Err(failure) => match answer.json::<Envelope<Kind>>().and_then(succeeded) {
            Ok(Kind { result_type: kind }) if kind != LINES => Err(numbers(&kind)),
            _ => Err(failure),
        },
    }
}

fn numbers(kind: &str) -> Failure {
    Failure::new(
        FailureKind::Garbage,
        format!("Loki answered with a {kind} instead of lines"),
        "ask for lines, not for a metric: a query begins with a selector like {namespace=\"default\"}",
    )
}

/// Reads an answer of `labels` or `label/NAME/values`; without any, Loki leaves the list out.
///
/// # Errors
/// No JSON, or cut off.
pub fn names(answer: &Answer) -> Result<Vec<String>, Failure> {
    let envelope: Envelope<Vec<String>> = answer.json()?;
    if envelope.status == "success" {
        return Ok(envelope.data.unwrap_or_default());
    }
    succeeded(envelope)
}

fn succeeded<D>(envelope: Envelope<D>) -> Result<D, Failure> {
    match envelope.data {
        Some(data) if envelope.status == "success" => Ok(data),
        _ => Err(Failure::new(
            FailureKind::Garbage,
            format!("Loki answered {}", envelope.status),
            "look at its log; it is tried again by itself",
        )),
    }
}

/// What a tail sends.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    streams: Option<Vec<Stream<'a>>>,
    #[serde(default)]
    dropped_entries: Option<Vec<IgnoredAny>>,
}

/// Reads a message of `tail`: its lines, and how many others Loki has dropped because they were not read in time.
///
/// # Errors
/// No JSON of that shape.
pub fn frame(text: &str, labels: &Labels) -> Result<(Vec<LogEntry>, u64), serde_json::Error> {
    let frame: Frame<'_> = serde_json::from_str(text)?;
    let entries = Reader::new(labels).read(frame.streams.unwrap_or_default());
    let dropped = frame.dropped_entries.map_or(0, |dropped| dropped.len());
    Ok((entries, u64::try_from(dropped).unwrap_or(u64::MAX)))
}

/// Makes entries; equal texts and equal sets of labels are kept once for an answer.
struct Reader<'l> {
    labels: &'l Labels,
    texts: HashMap<Box<str>, Name>,
    sets: HashMap<LogLabels, Arc<LogLabels>>,
}

impl<'l> Reader<'l> {
    fn new(labels: &'l Labels) -> Self {
        Self {
            labels,
            texts: HashMap::new(),
            sets: HashMap::new(),
        }
    }

    fn read(&mut self, streams: Vec<Stream<'_>>) -> Vec<LogEntry> {
        let mut entries = Vec::new();
        for stream in streams {
            let labels = self.set(&stream.stream);
            let mut last: Option<(Arc<LogLabels>, Arc<LogStream>)> = None;
            for value in stream.values {
                let metadata = self.shared(&value.more.structured_metadata);
                let known = last.take().filter(|(of, _)| Arc::ptr_eq(of, &metadata));
                let (_, from) = known.unwrap_or_else(|| {
                    let from = self.labels.stream(labels.clone(), &metadata);
                    (Arc::clone(&metadata), Arc::new(from))
                });
                last = Some((Arc::clone(&metadata), Arc::clone(&from)));
                entries.push(LogEntry {
                    at_ns: value.at_ns,
                    line: value.line.into(),
                    stream: from,
                    metadata,
                    parsed: self.shared(&value.more.parsed),
                    source: Source::Loki,
                });
            }
        }
        entries
    }

    fn set(&mut self, map: &Map<'_>) -> LogLabels {
        map.iter()
            .map(|(name, value)| (self.text(&name.0), self.text(&value.0)))
            .collect()
    }

    fn shared(&mut self, map: &Map<'_>) -> Arc<LogLabels> {
        let set = self.set(map);
        let shared = self
            .sets
            .entry(set)
            .or_insert_with_key(|set| Arc::new(set.clone()));
        Arc::clone(shared)
    }

    fn text(&mut self, text: &str) -> Name {
        if let Some(known) = self.texts.get(text) {
            return Name::clone(known);
        }
        let name = Name::from(text);
        self.texts.insert(text.into(), Name::clone(&name));
        name
    }
}
