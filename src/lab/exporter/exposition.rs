//! The Prometheus text format, as Go's client library writes it.

use std::fmt::Write;

/// A text in the making.
#[derive(Default)]
pub struct Exposition {
    text: String,
}

impl Exposition {
    /// Begins a gauge.
    pub fn gauge(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    /// Begins a counter.
    pub fn counter(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        // writing to a String cannot fail
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family {
            text: &mut self.text,
            name,
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A family whose samples are being written.
pub struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Family<'_> {
    /// Writes a sample; labels in alphabetical order, as Go sorts them.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Self {
        self.text.push_str(self.name);
        for (position, (name, value)) in labels.iter().enumerate() {
            self.text.push(if position == 0 { '{' } else { ',' });
            self.text.push_str(name);
            self.text.push_str("=\"");
            for letter in value.chars() {
                match letter {
                    '\\' => self.text.push_str("\\\\"),
                    '"' => self.text.push_str("\\\""),
                    '\n' => self.text.push_str("\\n"),
                    other => self.text.push(other),
                }
            }
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        self.text.push(' ');
        self.text.push_str(&number(value));
        self.text.push('\n');
        self
    }

    /// Writes the only sample of a family without labels.
    pub fn value(&mut self, value: f64) {
        self.sample(&[], value);
    }
}

/// A number as Go formats it (`%g`, shortest): with an exponent from 10^6 on.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) {
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
    } else {
        format!("{value}")
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
        let mut text = Exposition::default();
        text.gauge("x", "y").sample(&[("file", r"C:\pagefile.sys")], 1.0);
        assert!(text.finish().ends_with("x{file=\"C:\\\\pagefile.sys\"} 1\n"));
    }
}
