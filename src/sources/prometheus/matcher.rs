//! The label matchers that pick one cluster out of a Prometheus that holds several.

/// Label matchers that are added to every selector, e.g. `cluster="prod"`. Checked, so that they can only
/// narrow a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matcher(Vec<String>);

/// Text that is not a list of label matchers.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{text}' is not a list of label matchers: {reason}; write for example cluster=\"prod\"")]
pub struct MatcherError {
    text: String,
    reason: &'static str,
}

impl Matcher {
    /// Reads `label="value"`, also with `!=`, `=~`, `!~`, several of them separated by commas, with or without
    /// braces around. Regular expressions are left for the server to judge.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let trimmed = text.trim();
        let inner = trimmed
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(trimmed);
        parse_list(inner).map(Self).map_err(|reason| MatcherError {
            text: text.chars().filter(|c| !c.is_control()).collect(),
            reason,
        })
    }

    /// Reads matchers of alerts as Alertmanager writes them: a plain value may stand without quotes.
    ///
    /// # Errors
    /// It is no such list, or an empty one.
    pub fn of_alerts(text: &str) -> Result<Self, MatcherError> {
        let quoted: Vec<String> = text.split(',').map(with_quotes).collect();
        let matcher = Self::parse(&quoted.join(","))?;
        if matcher.0.is_empty() {
            return Err(MatcherError {
                text: String::new(),
                reason: "it names no alert",
            });
        }
        Ok(matcher)
    }

    /// The matchers, one by one.
    pub fn labels(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// A selector of the series `name` with `labels` (matchers, may be empty) and these matchers.
    pub fn selector(&self, name: &str, labels: &[&str]) -> String {
        let all: Vec<&str> = labels
            .iter()
            .copied()
            .chain(self.0.iter().map(String::as_str))
            .collect();
        if all.is_empty() {
            name.to_owned()
        } else {
            format!("{name}{{{}}}", all.join(","))
        }
    }
}

/// `severity=critical` as `severity="critical"`; anything else stays as it is.
fn with_quotes(matcher: &str) -> String {
    let plain = |value: &str| {
        !value.is_empty()
            && value
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '|' | '*'))
    };
    let operator = |c: char| matches!(c, '=' | '~' | '!');
    match matcher.rfind(operator).map(|at| matcher.split_at(at + 1)) {
        Some((label, value)) if plain(value.trim()) => format!("{label}\"{}\"", value.trim()),
        _ => matcher.to_owned(),
    }
}

fn parse_list(text: &str) -> Result<Vec<String>, &'static str> {
    let mut matchers = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let label_end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .ok_or("an operator is missing")?;
        let (label, after) = rest.split_at(label_end);
        if label.is_empty() || label.starts_with(|c: char| c.is_ascii_digit()) {
            return Err("a label name is missing");
        }
        let after = after.trim_start();
        let operator = ["=~", "!~", "!=", "="]
            .into_iter()
            .find(|operator| after.starts_with(operator))
            .ok_or("the operator must be one of =, !=, =~, !~")?;
        let (value, after) = quoted(after[operator.len()..].trim_start())?;
        matchers.push(format!("{label}{operator}{value}"));
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if after.is_empty() => after,
            None => return Err("matchers are separated by commas"),
        };
    }
    Ok(matchers)
}

/// Splits off a double-quoted string with its quotes; a backslash hides the next character.
fn quoted(text: &str) -> Result<(&str, &str), &'static str> {
    let mut characters = text.char_indices();
    if characters.next().map(|(_, c)| c) != Some('"') {
        return Err("the value must stand in double quotes");
    }
    let mut escaped = false;
    for (at, character) in characters {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok(text.split_at(at + 1)),
            '\n' | '\r' => return Err("the value must stay on one line"),
            _ => {}
        }
    }
    Err("the closing quote is missing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_matcher_narrows_every_selector() {
        let matcher = Matcher::parse(r#"{cluster="prod", region=~"eu-.*"}"#).unwrap();
        assert_eq!(
            matcher.selector("up", &[r#"job="x""#]),
            r#"up{job="x",cluster="prod",region=~"eu-.*"}"#
        );
        assert_eq!(Matcher::default().selector("up", &[]), "up");
    }

    #[test]
    fn text_that_would_change_the_query_is_refused_with_an_example() {
        for bad in [
            r#"cluster="a"} or up{x="b""#,
            "cluster",
            "cluster=prod",
            r#"="x""#,
            r#"cluster="prod"#,
            r#"cluster="a" zone="b""#,
            r#"1a="b""#,
        ] {
            let error = Matcher::parse(bad).unwrap_err().to_string();
            assert!(error.contains("cluster=\"prod\""), "{error}");
        }
    }

    #[test]
    fn alerts_may_be_named_without_quotes_and_must_be_named() {
        let selector = |text: &str| Matcher::of_alerts(text).map(|matcher| matcher.selector("ALERTS", &[]));
        assert_eq!(
            selector("severity=critical, team!=web").unwrap(),
            r#"ALERTS{severity="critical",team!="web"}"#
        );
        assert_eq!(
            selector(r#"alertname=~Etcd.*|KubeAPI.*,namespace="a b""#).unwrap(),
            r#"ALERTS{alertname=~"Etcd.*|KubeAPI.*",namespace="a b"}"#
        );
        for bad in ["", "  ", "{}", "severity", "=critical", "severity=a b"] {
            assert!(selector(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_one_selector_for_a_promql_parser(text in r#"[a-z]{1,3}(=|!=|=~|!~)"[a-z{}\\",]{0,6}"?"#) {
            if let Ok(matcher) = Matcher::parse(&text) {
                let selector = matcher.selector("up", &[]);
                // Escapes and regular expressions are the server's to judge; the shape is ours.
                if let Ok(parsed) = promql_parser::parser::parse(&selector) {
                    prop_assert!(matches!(parsed, promql_parser::parser::Expr::VectorSelector(_)));
                }
            }
        }
    }
}
