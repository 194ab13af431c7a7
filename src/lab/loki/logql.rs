//! The part of `LogQL` that is answered: a selector, and line filters behind it.

use super::database::Labels;
use regex::Regex;

/// A query.
#[derive(Debug)]
pub struct Query {
    matchers: Vec<(String, Test)>,
    filters: Vec<Test>,
}

#[derive(Debug)]
enum Test {
    Is(String),
    IsNot(String),
    Holds(String),
    HoldsNot(String),
    Matches(Regex),
    MatchesNot(Regex),
}

impl Test {
    fn passes(&self, text: &str) -> bool {
        match self {
            Self::Is(value) => text == value,
            Self::IsNot(value) => text != value,
            Self::Holds(part) => text.contains(part.as_str()),
            Self::HoldsNot(part) => !text.contains(part.as_str()),
            Self::Matches(regex) => regex.is_match(text),
            Self::MatchesNot(regex) => !regex.is_match(text),
        }
    }
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// The text with which Loki refuses it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = Rest { text, position: 0 };
        rest.expect('{', "unexpected character, expecting {")?;
        let mut matchers = Vec::new();
        while !rest.accept("}") {
            if !matchers.is_empty() && !rest.accept(",") {
                return Err(rest.unexpected("expecting } or ,"));
            }
            matchers.push(rest.matcher()?);
        }
        let selects = matchers.iter().any(|(_, test)| match test {
            Test::Is(_) | Test::Matches(_) => !test.passes(""),
            _ => false,
        });
        if !selects {
            return Err(
                "parse error : queries require at least one regexp or equality matcher that does not have an \
                 empty-compatible value. For instance, app=~\".*\" does not meet this requirement, but app=~\".+\" \
                 will"
                    .to_owned(),
            );
        }
        let mut filters = Vec::new();
        while !rest.is_at_end() {
            filters.push(rest.filter()?);
        }
        Ok(Self { matchers, filters })
    }

    /// Whether it selects the stream with these labels.
    pub fn selects(&self, labels: &Labels) -> bool {
        self.matchers
            .iter()
            .all(|(name, test)| test.passes(labels.get(name).map_or("", String::as_str)))
    }

    /// Whether its filters let this line through.
    pub fn takes(&self, line: &str) -> bool {
        self.filters.iter().all(|test| test.passes(line))
    }
}

struct Rest<'a> {
    text: &'a str,
    position: usize,
}

impl Rest<'_> {
    fn left(&mut self) -> &str {
        let left = self.text.get(self.position..).unwrap_or_default();
        let spaces = left.len() - left.trim_start().len();
        self.position += spaces;
        self.text.get(self.position..).unwrap_or_default()
    }

    fn is_at_end(&mut self) -> bool {
        self.left().is_empty()
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.left().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    fn expect(&mut self, token: char, why: &str) -> Result<(), String> {
        if self.accept(token.encode_utf8(&mut [0; 4])) {
            Ok(())
        } else {
            Err(self.unexpected(why))
        }
    }

    fn unexpected(&mut self, why: &str) -> String {
        let column = self.text.len() - self.left().len();
        if self.is_at_end() {
            format!("parse error at line 1, col {column}: syntax error: unexpected $end, {why}")
        } else {
            format!("parse error at line 1, col {}: syntax error: {why}", column + 1)
        }
    }

    fn matcher(&mut self) -> Result<(String, Test), String> {
        let left = self.left();
        let length = left
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(left.len());
        let name = left.get(..length).unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(self.unexpected("expecting IDENTIFIER or }"));
        }
        self.position += length;
        let test = if self.accept("=~") {
            Test::Matches(self.regex(true)?)
        } else if self.accept("!~") {
            Test::MatchesNot(self.regex(true)?)
        } else if self.accept("!=") {
            Test::IsNot(self.string()?)
        } else if self.accept("=") {
            Test::Is(self.string()?)
        } else {
            return Err(self.unexpected("expecting = or != or =~ or !~"));
        };
        Ok((name, test))
    }

    fn filter(&mut self) -> Result<Test, String> {
        if self.accept("|=") {
            Ok(Test::Holds(self.string()?))
        } else if self.accept("!=") {
            Ok(Test::HoldsNot(self.string()?))
        } else if self.accept("|~") {
            Ok(Test::Matches(self.regex(false)?))
        } else if self.accept("!~") {
            Ok(Test::MatchesNot(self.regex(false)?))
        } else {
            Err(self.unexpected("this simulated Loki answers selectors with line filters only"))
        }
    }

    fn regex(&mut self, whole: bool) -> Result<Regex, String> {
        let pattern = self.string()?;
        let anchored = if whole {
            format!("^(?:{pattern})$")
        } else {
            pattern
        };
        Regex::new(&anchored).map_err(|error| {
            let last = error.to_string();
            let last = last.lines().last().unwrap_or_default();
            format!("parse error : error parsing regexp: {last}")
        })
    }

    /// `"…"` with Go's escapes, or between backquotes as it is.
    fn string(&mut self) -> Result<String, String> {
        if self.accept("`") {
            let left = self.text.get(self.position..).unwrap_or_default();
            let Some(end) = left.find('`') else {
                return Err(self.unexpected("expecting STRING"));
            };
            let value = left.get(..end).unwrap_or_default().to_owned();
            self.position += end + 1;
            return Ok(value);
        }
        let left = self.left();
        let mut escaped = false;
        let end = left.char_indices().skip(1).find(|(_, character)| {
            let ends = *character == '"' && !escaped;
            escaped = *character == '\\' && !escaped;
            ends
        });
        let token = end.and_then(|(end, _)| left.get(..=end));
        // Go's escapes that are used here are those of JSON.
        let value = token.and_then(|token| Some((token.len(), serde_json::from_str::<String>(token).ok()?)));
        let Some((length, value)) = value.filter(|_| left.starts_with('"')) else {
            return Err(self.unexpected("expecting STRING"));
        };
        self.position += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn selectors_and_filters_take_what_lokis_would() {
        let query =
            Query::parse(r#"{namespace="win-demo", pod=~"hello.*",x!="y"} |= "served" !~ "\\d{3} ms""#)
                .unwrap();
        let hello = labels(&[("namespace", "win-demo"), ("pod", "hello-win-1")]);
        assert!(query.selects(&hello));
        assert!(!query.selects(&labels(&[("namespace", "win-demo"), ("pod", "say-hello")])));
        assert!(query.takes("request served in 12 ms"));
        assert!(!query.takes("request served in 123 ms"));
        let path = Query::parse(r"{filename=~`C:\\var\\.*`}").unwrap();
        assert!(path.selects(&labels(&[("filename", r"C:\var\log\0.log")])));
    }

    /// The texts are those of the recorded server.
    #[test]
    fn what_is_wrong_is_refused_as_loki_refuses_it() {
        assert_eq!(
            Query::parse(r#"{namespace="win-demo""#).unwrap_err(),
            "parse error at line 1, col 21: syntax error: unexpected $end, expecting } or ,"
        );
        let empty = "parse error : queries require at least one regexp or equality matcher";
        assert!(Query::parse("{}").unwrap_err().starts_with(empty));
        assert!(Query::parse(r#"{app=~".*"}"#).unwrap_err().starts_with(empty));
        assert!(
            Query::parse(r#"{app="x"} | json"#)
                .unwrap_err()
                .contains("line filters only")
        );
        assert!(
            Query::parse(r#"{app="x"#)
                .unwrap_err()
                .contains("expecting STRING")
        );
    }
}
