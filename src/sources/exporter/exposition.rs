//! The Prometheus text exposition format, version 0.0.4, as exporters write it.
//!
//! A line that cannot be read is counted and skipped: one odd collector must not hide the others.

use std::borrow::Cow;
use std::collections::HashMap;

/// One sample line.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Name of the series.
    pub name: &'a str,
    /// Labels.
    pub labels: Labels<'a>,
    /// Value; may be NaN or infinite.
    pub value: f64,
}

/// Labels of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels<'a>(Vec<(&'a str, Cow<'a, str>)>);

impl Labels<'_> {
    /// The label's value; empty if there is none, as Prometheus itself sees it.
    pub fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(label, _)| *label == name)
            .map_or("", |(_, value)| value.as_ref())
    }
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exposition<'a> {
    /// The samples that were asked for; of two lines for one series the later one.
    pub samples: Vec<Sample<'a>>,
    /// Lines that could not be read.
    pub malformed: usize,
    /// Whether the last line has no end: the answer was cut off, and that line is not used.
    pub truncated: bool,
}

/// Reads the samples whose names `wanted` accepts.
pub fn parse<'a>(text: &'a str, wanted: impl Fn(&str) -> bool) -> Exposition<'a> {
    let mut exposition = Exposition::default();
    let mut places: HashMap<(&'a str, Labels<'a>), usize> = HashMap::new();
    let complete = match text.rfind('\n') {
        Some(end) => &text[..=end],
        None => "",
    };
    exposition.truncated = complete.len() < text.len();
    for line in complete.lines() {
        let line = line.trim_start_matches([' ', '\t']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let name = name_of(line);
        if !name.is_empty() && !wanted(name) {
            continue;
        }
        let Some(sample) = sample(name, &line[name.len()..]) else {
            exposition.malformed += 1;
            continue;
        };
        let next = exposition.samples.len();
        let place = *places.entry((sample.name, sample.labels.clone())).or_insert(next);
        if place == next {
            exposition.samples.push(sample);
        } else {
            exposition.samples[place].value = sample.value;
        }
    }
    exposition
}

fn name_of(line: &str) -> &str {
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
        .unwrap_or(line.len());
    &line[..end]
}

/// The rest of a line behind its name: labels, value, and a timestamp that is not used, because exporters that
/// are scraped directly answer with what they measure now.
fn sample<'a>(name: &'a str, rest: &'a str) -> Option<Sample<'a>> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => labels(inner)?,
        None => (Labels::default(), rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    if let Some(timestamp) = words.next() {
        timestamp.parse::<i64>().ok()?;
    }
    words.next().is_none().then_some(Sample { name, labels, value })
}

/// Labels up to the closing brace, and what follows it.
fn labels(mut text: &str) -> Option<(Labels<'_>, &str)> {
    let mut found = Vec::new();
    loop {
        text = text.trim_start_matches([' ', '\t']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((Labels(found), rest));
        }
        let name = name_of(text);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let after = text[name.len()..]
            .trim_start_matches([' ', '\t'])
            .strip_prefix('=')?;
        let (value, after) = quoted(after.trim_start_matches([' ', '\t']).strip_prefix('"')?)?;
        found.push((name, value));
        text = after.trim_start_matches([' ', '\t']);
        match text.strip_prefix(',') {
            Some(rest) => text = rest,
            None if text.starts_with('}') => {}
            None => return None,
        }
    }
}

/// A label value up to its closing quote. `\\`, `\"` and `\n` are the only escapes.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let end = text.find(['"', '\\'])?;
    if text[end..].starts_with('"') {
        return Some((Cow::Borrowed(&text[..end]), &text[end + 1..]));
    }
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((Cow::Owned(value), &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                // Not an escape of the format: kept as it stands, as Prometheus keeps it.
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Exposition<'_> {
        parse(text, |_| true)
    }

    #[test]
    fn names_labels_escapes_and_special_values_are_read() {
        let text = "# HELP windows_pagefile_free_bytes x\n\
                    windows_pagefile_free_bytes{file=\"C:\\\\pagefile.sys\"} 6.025797632e+09\n\
                    windows_a{ x = \"say \\\"hi\\\"\\n\" , } NaN 1700000000000\n\
                    windows_b +Inf\n\
                    \twindows_c -3\n";
        let exposition = all(text);
        assert_eq!(exposition.malformed, 0);
        assert!(!exposition.truncated);
        let [file, a, b, c] = &exposition.samples[..] else {
            panic!("{exposition:?}");
        };
        assert_eq!(file.labels.get("file"), r"C:\pagefile.sys");
        assert!((file.value - 6_025_797_632.0).abs() < f64::EPSILON);
        assert_eq!(a.labels.get("x"), "say \"hi\"\n");
        assert!(a.value.is_nan());
        assert!(b.value.is_infinite());
        assert!((c.value + 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn an_odd_line_is_counted_and_hides_no_other() {
        let exposition =
            all("windows_a{x=\"1} 2\nwindows_b\nwindows_c{x=1} 2\n9windows 1\nwindows_d 4 x\nwindows_e 5\n");
        assert_eq!(exposition.malformed, 5);
        assert_eq!(exposition.samples.len(), 1);
        assert_eq!(exposition.samples[0].name, "windows_e");
    }

    #[test]
    fn an_answer_that_was_cut_off_says_so_and_its_last_number_is_not_believed() {
        let exposition = all("windows_a 1\nwindows_b 12");
        assert!(exposition.truncated);
        assert_eq!(exposition.samples.len(), 1);
    }

    #[test]
    fn of_two_lines_for_one_series_the_later_counts() {
        let exposition = all("windows_a{x=\"1\"} 1\nwindows_a{x=\"2\"} 2\nwindows_a{x=\"1\"} 3\n");
        let values: Vec<f64> = exposition.samples.iter().map(|sample| sample.value).collect();
        assert_eq!(values, [3.0, 2.0]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            all(&text);
        }

        #[test]
        fn what_is_written_is_read_back(
            name in "[a-z_:][a-z0-9_:]{0,8}",
            label in "[a-z_][a-z0-9_]{0,5}",
            value in any::<String>(),
            number in any::<f64>().prop_filter("finite", |number| number.is_finite()),
        ) {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            // A bare carriage return is no line end of the format, but of `lines()` when a newline follows.
            let text = format!("{name}{{{label}=\"{escaped}\"}} {number}\n");
            let exposition = all(&text);
            prop_assert_eq!(exposition.samples.len(), 1, "{:?}", text);
            prop_assert_eq!(exposition.samples[0].labels.get(&label), value.as_str());
            prop_assert!((exposition.samples[0].value - number).abs() <= f64::EPSILON * number.abs());
        }
    }
}
