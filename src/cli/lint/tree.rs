//! YAML with the line of each value.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::fmt;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Line in the file, from 1. Of a field: the line of its key.
    pub line: u64,
    /// The value.
    pub value: Value,
}

/// What YAML can say, as JSON has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object, in the order of the file.
    Map(Vec<(String, Node)>),
}

impl Value {
    /// What it is, for a message.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Flag(_) => "true or false",
            Self::Whole(_) | Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

impl Node {
    /// A field that is there and not null.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(fields) = &self.value else {
            return None;
        };
        fields
            .iter()
            .find_map(|(name, node)| (name == key && node.value != Value::Null).then_some(node))
    }

    /// A field deeper down.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Its items; none if it is no list.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Its text; `None` if it is something else.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A file that is no YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoYaml {
    /// Line, from 1, where the parser knows it.
    pub line: Option<u64>,
    /// What is wrong there, as the parser puts it: sanitise before showing.
    pub cause: String,
}

/// The documents of a file; empty ones are left out.
///
/// # Errors
/// Some part of it is no YAML, or more than any manifest needs (aliases that multiply).
pub fn documents(text: &str) -> Result<Vec<Node>, NoYaml> {
    let options = serde_saphyr::options! {
        // Rendered charts with their definitions have several hundred thousand nodes.
        budget: serde_saphyr::budget! {
            max_events: 20_000_000,
            max_nodes: 10_000_000,
            max_documents: 100_000,
            max_depth: 256,
        },
    };
    serde_saphyr::from_multiple_with_options::<Spanned<Value>>(text, options)
        .map(|documents| documents.into_iter().map(Node::from).collect())
        .map_err(|error| {
            let error = error.without_snippet();
            NoYaml {
                line: error.location().map(|location| location.line()),
                cause: error.to_string(),
            }
        })
}

impl From<Spanned<Value>> for Node {
    fn from(spanned: Spanned<Value>) -> Self {
        Self {
            line: spanned.referenced.line(),
            value: spanned.value,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "no field of a manifest needs whole numbers beyond 63 bits"
        )]
        Ok(i64::try_from(number).map_or(Value::Number(number as f64), Value::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Value>>()? {
            items.push(Node::from(item));
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Value>()? {
            let line = key.referenced.line();
            fields.push((key.value, Node { line, value }));
        }
        Ok(Value::Map(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn each_field_and_item_knows_its_line() {
        let text = "# a comment\nkind: Pod\nspec:\n  containers:\n  - name: hello\n    image: a\n  - image: b\n---\n---\nkind: List\n";
        let documents = documents(text).unwrap();
        assert_eq!(documents.len(), 2, "the empty one is left out");
        let containers = documents[0].at(&["spec", "containers"]).unwrap();
        assert_eq!(containers.line, 4);
        assert_eq!(containers.items()[0].get("image").unwrap().line, 6);
        assert_eq!(containers.items()[1].line, 7);
        assert_eq!(documents[1].get("kind").unwrap().line, 10);
    }

    #[test]
    fn a_merge_and_an_alias_are_followed() {
        let documents =
            documents("base: &base\n  image: a\n  port: 1\nspec:\n  <<: *base\n  port: 2\nagain: *base\n")
                .unwrap();
        let spec = documents[0].get("spec").unwrap();
        assert_eq!(spec.get("image").unwrap().text(), Some("a"));
        assert_eq!(spec.get("port").unwrap().value, Value::Whole(2));
        assert_eq!(documents[0].at(&["again", "image"]).unwrap().text(), Some("a"));
    }

    #[test]
    fn json_is_yaml() {
        let documents = documents("{\"kind\": \"Pod\",\n \"spec\": {\"a\": [1, 2.5, true, null]}}").unwrap();
        assert_eq!(
            documents[0]
                .at(&["spec", "a"])
                .map(Node::items)
                .map(<[Node]>::len),
            Some(4)
        );
    }

    #[test]
    fn what_is_no_yaml_says_where_and_why() {
        for (text, line) in [
            ("kind: Pod\nspec:\n  a: [1, 2\n", 3),
            ("kind: Pod\n  spec: x\n", 2),
            ("a: 1\nb: 2\na: 3\n", 3),
            ("image: {{ .Values.image }}\n", 1),
        ] {
            let error = documents(text).unwrap_err();
            assert!(
                error.line.is_some_and(|at| at.abs_diff(line) <= 1),
                "{text}: {error:?}"
            );
            assert!(!error.cause.is_empty());
            assert!(!error.cause.contains('\n'), "{}", error.cause);
        }
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let below = format!("*a{}", level - 1);
            let list = vec![below; 10].join(", ");
            let _ = writeln!(text, "a{level}: &a{level} [{list}]");
        }
        assert!(documents(&text).is_err());
    }
}
