//! Families and samples, and the Prometheus text format as Go's client library writes it.

use std::fmt::Write;

/// Families in the making.
#[derive(Debug, Default)]
pub struct Exposition {
    families: Vec<Family>,
}

/// One family.
#[derive(Debug)]
pub struct Family {
    /// Name.
    pub name: &'static str,
    /// Samples.
    pub samples: Vec<Sample>,
    kind: &'static str,
    help: &'static str,
}

/// One sample.
#[derive(Debug)]
pub struct Sample {
    /// Labels in alphabetical order.
    pub labels: Vec<(&'static str, String)>,
    /// Value.
    pub value: f64,
}

impl Exposition {
    /// Begins a gauge.
    pub fn gauge(&mut self, name: &'static str, help: &'static str) -> &mut Family {
        self.family(name, "gauge", help)
    }

    /// Begins a counter.
    pub fn counter(&mut self, name: &'static str, help: &'static str) -> &mut Family {
        self.family(name, "counter", help)
    }

    fn family(&mut self, name: &'static str, kind: &'static str, help: &'static str) -> &mut Family {
        let family = Family {
            name,
            samples: Vec::new(),
            kind,
            help,
        };
        self.families.push_mut(family)
    }

    /// The families.
    pub fn into_families(self) -> Vec<Family> {
        self.families
    }

    /// The text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for family in &self.families {
            // writing to a String cannot fail
            let _ = writeln!(
                text,
                "# HELP {name} {}\n# TYPE {name} {}",
                family.help,
                family.kind,
                name = family.name
            );
            for sample in &family.samples {
                text.push_str(family.name);
                write_labels(&mut text, &sample.labels);
                text.push(' ');
                text.push_str(&number(sample.value));
                text.push('\n');
            }
        }
        text
    }
}

impl Family {
    /// Adds a sample; labels in alphabetical order, as Go sorts them.
    pub fn sample(&mut self, labels: &[(&'static str, &str)], value: f64) -> &mut Self {
        let labels = labels
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()))
            .collect();
        self.samples.push(Sample { labels, value });
        self
    }

    /// Adds the only sample of a family without labels.
    pub fn value(&mut self, value: f64) {
        self.sample(&[], value);
    }
}

fn write_labels(text: &mut String, labels: &[(&'static str, String)]) {
    for (position, (name, value)) in labels.iter().enumerate() {
        text.push(if position == 0 { '{' } else { ',' });
        text.push_str(name);
        text.push_str("=\"");
        for letter in value.chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                other => text.push(other),
            }
        }
        text.push('"');
    }
    if !labels.is_empty() {
        text.push('}');
    }
}

/// A number as Go formats it (`%g`, shortest): with an exponent from 10^6 on.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e6).contains(&magnitude) {
        return format!("{value}");
    }
    let scientific = format!("{value:e}");
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent
                .strip_prefix('-')
                .map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_go_prints_them() {
        assert_eq!(number(102_760_448.0), "1.02760448e+08");
        assert_eq!(number(1.0), "1");
        assert_eq!(number(0.25), "0.25");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(0.000_012), "1.2e-05");
    }

    #[test]
    fn label_values_are_escaped() {
        let mut exposition = Exposition::default();
        exposition
            .gauge("x", "y")
            .sample(&[("file", r"C:\pagefile.sys")], 1.0);
        assert!(exposition.text().ends_with("x{file=\"C:\\\\pagefile.sys\"} 1\n"));
    }
}
