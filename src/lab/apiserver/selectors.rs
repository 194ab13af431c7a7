//! Label and field selectors, parsed and matched as the API server does.

use super::failure::{Failure, Outcome};
use super::json::text;
use crate::domain::selector::{LabelSelector, SelectorError, Term};
use serde_json::Value;

/// Parses `a=b,c!=d,e in (f,g),h,!i`.
///
/// # Errors
/// 400 when a term cannot be read.
pub fn label_selector(text: &str) -> Outcome<LabelSelector> {
    text.parse()
        .map_err(|error: SelectorError| Failure::bad_request(error.to_string()))
}

/// The selector of a workload or a budget: `matchLabels` and `matchExpressions`.
pub fn selector_of(selector: &Value) -> LabelSelector {
    let mut terms: Vec<Term> = selector["matchLabels"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(label, value)| Term::In(label.clone(), vec![value.as_str().unwrap_or_default().to_owned()]))
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
    LabelSelector::new(terms)
}

/// Whether the labels of `object` match.
pub fn selects(selector: &LabelSelector, object: &Value) -> bool {
    selector.matches(|name| object["metadata"]["labels"].get(name).and_then(Value::as_str))
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
            if let Err(failure) = FieldSelector::parse(&noise, "Pod") {
                prop_assert_eq!(failure.code, 400);
            }
        }
    }
}
