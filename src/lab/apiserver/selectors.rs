//! Label and field selectors, parsed and matched as the API server does.

use super::failure::{Failure, Outcome};
use super::json::text;
use serde_json::Value;

/// One term of a label selector.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

/// A label selector; the empty one matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Term>);

impl LabelSelector {
    /// Parses `a=b,c!=d,e in (f,g),h,!i`.
    ///
    /// # Errors
    /// 400 when a term cannot be read.
    pub fn parse(selector: &str) -> Outcome<Self> {
        split_terms(selector)
            .into_iter()
            .map(parse_term)
            .collect::<Outcome<Vec<_>>>()
            .map(Self)
    }

    /// The selector of a workload or a budget: `matchLabels` and `matchExpressions`.
    pub fn from_object(selector: &Value) -> Self {
        let mut terms: Vec<Term> = selector["matchLabels"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(label, value)| {
                Term::In(label.clone(), vec![value.as_str().unwrap_or_default().to_owned()])
            })
            .collect();
        for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
            let label = text(expression, "/key").to_owned();
            let values = expression["values"].as_array().into_iter().flatten();
            let values = values.filter_map(Value::as_str).map(str::to_owned).collect();
            terms.push(match text(expression, "/operator") {
                "In" => Term::In(label, values),
                "NotIn" => Term::NotIn(label, values),
                "DoesNotExist" => Term::Missing(label),
                _ => Term::Exists(label),
            });
        }
        Self(terms)
    }

    /// Whether nothing is selected by it in particular.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the labels of `object` match.
    pub fn matches(&self, object: &Value) -> bool {
        let label = |name: &str| object["metadata"]["labels"].get(name).and_then(Value::as_str);
        self.0.iter().all(|term| match term {
            Term::In(name, values) => label(name).is_some_and(|value| values.iter().any(|one| one == value)),
            Term::NotIn(name, values) => {
                label(name).is_none_or(|value| values.iter().all(|one| one != value))
            }
            Term::Exists(name) => label(name).is_some(),
            Term::Missing(name) => label(name).is_none(),
        })
    }
}

/// Splits at the commas outside of parentheses.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    selector
        .split(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        })
        .map(str::trim)
        .filter(|term| !term.is_empty())
        .collect()
}

fn parse_term(term: &str) -> Outcome<Term> {
    let word = |word: &str| {
        let word = word.trim();
        let strange = |letter: char| !letter.is_ascii_alphanumeric() && !"-_./".contains(letter);
        match word.find(strange) {
            Some(at) => {
                let rest = word.get(at..).unwrap_or_default().trim();
                Err(Failure::bad_request(format!(
                    "found '{rest}', expected: ',' or 'end of string'"
                )))
            }
            None => Ok(word.to_owned()),
        }
    };
    let name = |text: &str| match word(text)? {
        name if name.is_empty() => Err(Failure::bad_request(
            "found '', expected: !, identifier, or 'end of string'",
        )),
        name => Ok(name),
    };
    let set = |values: &str| {
        let inner = values
            .trim()
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let inner = inner.ok_or_else(|| Failure::bad_request(format!("found '{values}', expected: '('")))?;
        inner.split(',').map(word).collect::<Outcome<Vec<_>>>()
    };
    if let Some(missing) = term.strip_prefix('!') {
        return Ok(Term::Missing(name(missing)?));
    }
    if let Some((label, value)) = term.split_once("!=") {
        return Ok(Term::NotIn(name(label)?, vec![word(value)?]));
    }
    if let Some((label, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(Term::In(name(label)?, vec![word(value)?]));
    }
    if let Some((label, values)) = term.split_once(" notin ") {
        return Ok(Term::NotIn(name(label)?, set(values)?));
    }
    if let Some((label, values)) = term.split_once(" in ") {
        return Ok(Term::In(name(label)?, set(values)?));
    }
    Ok(Term::Exists(name(term)?))
}

/// A field selector; the empty one matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<(String, bool, String)>);

impl FieldSelector {
    /// Parses `spec.nodeName=a,status.phase!=Failed`. Only the fields that the real server indexes are known.
    ///
    /// # Errors
    /// 400 for an unknown field or an unreadable term.
    pub fn parse(selector: &str, kind: &str) -> Outcome<Self> {
        let mut terms = Vec::new();
        for term in selector.split(',').filter(|term| !term.is_empty()) {
            let (field, equal, value) = if let Some((field, value)) = term.split_once("!=") {
                (field, false, value)
            } else if let Some((field, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
                (field, true, value)
            } else {
                let message = format!("invalid selector: '{selector}'; can't understand '{term}'");
                return Err(Failure::bad_request(message));
            };
            if !selectable(kind, field) {
                let message = format!("field label not supported: {field}");
                return Err(Failure::bad_request(message));
            }
            terms.push((field.to_owned(), equal, value.to_owned()));
        }
        Ok(Self(terms))
    }

    /// Whether nothing is selected by it in particular.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the fields of `object` match.
    pub fn matches(&self, object: &Value) -> bool {
        self.0
            .iter()
            .all(|(field, equal, wanted)| (field_text(object, field) == *wanted) == *equal)
    }
}

fn selectable(kind: &str, field: &str) -> bool {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return true;
    }
    match kind {
        "Pod" => matches!(
            field,
            "spec.nodeName"
                | "spec.restartPolicy"
                | "spec.schedulerName"
                | "spec.serviceAccountName"
                | "spec.hostNetwork"
                | "status.phase"
                | "status.podIP"
                | "status.podIPs"
                | "status.nominatedNodeName"
        ),
        "Node" => field == "spec.unschedulable",
        "Namespace" => field == "status.phase",
        "Secret" => field == "type",
        "ReplicaSet" => field == "status.replicas",
        "Job" => field == "status.successful",
        "Event" => {
            field.starts_with("involvedObject.")
                || matches!(field, "type" | "reason" | "reportingComponent" | "source")
        }
        _ => false,
    }
}

/// A field as text; absent booleans are `false`, other absent fields empty.
fn field_text(object: &Value, field: &str) -> String {
    let pointer = match field {
        "source" => "/source/component".to_owned(),
        _ => format!("/{}", field.replace('.', "/")),
    };
    match object.pointer(&pointer) {
        Some(Value::String(value)) => value.clone(),
        Some(Value::Bool(value)) => value.to_string(),
        Some(Value::Number(value)) => value.to_string(),
        _ if matches!(field, "spec.unschedulable" | "spec.hostNetwork") => "false".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn object(labels: &Value) -> Value {
        json!({ "metadata": { "name": "p", "labels": labels }, "spec": { "nodeName": "win-1" } })
    }

    #[test]
    fn every_term_must_match() {
        let hello = object(&json!({ "app": "hello", "tier": "web" }));
        let matches = |selector: &str| LabelSelector::parse(selector).unwrap().matches(&hello);
        assert!(matches("") && matches("app") && matches("app=hello,tier in (web, db)"));
        assert!(matches("other!=x") && matches("!other") && matches("tier notin (db)"));
        assert!(!matches("app=hello,tier=db") && !matches("!app") && !matches("other in (x)"));
    }

    #[test]
    fn an_absent_flag_is_false_and_an_unknown_field_is_refused() {
        let node = json!({ "spec": {} });
        let selector = FieldSelector::parse("spec.unschedulable=false", "Node").unwrap();
        assert!(selector.matches(&node));
        assert_eq!(
            FieldSelector::parse("spec.podCIDR=x", "Node").unwrap_err().code,
            400
        );
    }

    proptest! {
        #[test]
        fn noise_is_read_or_refused_and_never_a_panic(noise in "\\PC{0,40}") {
            if let Err(failure) = LabelSelector::parse(&noise) {
                prop_assert_eq!(failure.code, 400);
            }
            if let Err(failure) = FieldSelector::parse(&noise, "Pod") {
                prop_assert_eq!(failure.code, 400);
            }
        }

        #[test]
        fn a_label_is_found_by_its_own_value_and_by_no_other(name in "[a-z]{1,8}", value in "[a-z]{1,8}") {
            let labelled = object(&json!({ name.as_str(): value }));
            let matches = |selector: String| LabelSelector::parse(&selector).unwrap().matches(&labelled);
            let (found, other, longer) =
                (format!("{name}={value}"), format!("{name}!={value}"), format!("{name}={value}x"));
            prop_assert!(matches(found));
            prop_assert!(!matches(other));
            prop_assert!(!matches(longer));
        }
    }
}
