//! Text of queries: selectors, quoted values, line filters.

use std::fmt::Write;

/// A selector with what follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogQl {
    matchers: Vec<String>,
    stages: String,
}

impl LogQl {
    /// A query that selects nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Streams whose label is this value.
    #[must_use]
    pub fn equal(self, label: &str, value: &str) -> Self {
        self.matcher(label, "=", value)
    }

    /// Streams whose label this regular expression matches as a whole.
    #[must_use]
    pub fn matching(self, label: &str, pattern: &str) -> Self {
        self.matcher(label, "=~", pattern)
    }

    fn matcher(mut self, label: &str, operator: &str, value: &str) -> Self {
        self.matchers.push(format!("{label}{operator}{}", quoted(value)));
        self
    }

    /// Lines in whose metadata this label is this value.
    #[must_use]
    pub fn with_metadata(mut self, label: &str, value: &str) -> Self {
        // Writing to a String cannot fail.
        let _ = write!(self.stages, " | {label}={}", quoted(value));
        self
    }

    /// The text.
    pub fn text(&self) -> String {
        format!("{{{}}}{}", self.matchers.join(", "), self.stages)
    }
}

/// `query` with a further filter: lines that the regular expression matches, or does not.
pub fn filtered(query: &str, pattern: &str, inverse: bool) -> String {
    let operator = if inverse { "!~" } else { "|~" };
    format!("{query} {operator} {}", quoted(pattern))
}

/// A string as `LogQL` (like Go) writes it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other if other.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_so_that_nothing_ends_the_selector_early() {
        let query = LogQl::new()
            .equal("pod", r#"a"} or {x="y"#)
            .matching("filename", r"C:\\var\\.*")
            .with_metadata("k8s_node_name", "win\n1");
        assert_eq!(
            query.text(),
            r#"{pod="a\"} or {x=\"y", filename=~"C:\\\\var\\\\.*"} | k8s_node_name="win\n1""#
        );
        assert_eq!(
            filtered("{a=\"b\"}", r"errno=1455|\d+", false),
            r#"{a="b"} |~ "errno=1455|\\d+""#
        );
    }
}
