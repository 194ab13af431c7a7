//! `policy/v1` `PodDisruptionBudget`.

use super::super::intern::Interner;
use super::Meta;
use super::value::{List, Pairs, Text};
use crate::domain::budget;
use crate::domain::selector::{LabelSelector, Term};
use serde::Deserialize;

/// A `PodDisruptionBudget`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DisruptionBudget<'a> {
    /// Metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Spec.
    pub spec: Spec<'a>,
    /// Status.
    pub status: Status,
}

/// `spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec<'a> {
    /// Which pods of the namespace; null selects none, empty all.
    #[serde(borrow)]
    pub selector: Option<Selector<'a>>,
    /// A number of pods, or a percentage.
    pub min_available: Text<'a>,
    /// A number of pods, or a percentage.
    pub max_unavailable: Text<'a>,
    /// `IfHealthyBudget` or `AlwaysAllow`.
    pub unhealthy_pod_eviction_policy: Text<'a>,
}

/// A label selector of a spec.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Selector<'a> {
    /// Labels with their values.
    #[serde(borrow)]
    pub match_labels: Pairs<'a>,
    /// Further terms; all must match.
    pub match_expressions: List<Expression<'a>>,
}

/// One of the further terms.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Expression<'a> {
    /// The label.
    #[serde(borrow)]
    pub key: Text<'a>,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: Text<'a>,
    /// Values for the first two.
    pub values: List<Text<'a>>,
}

/// `status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Status {
    /// Evictions that are allowed now.
    pub disruptions_allowed: Option<i64>,
    /// Healthy pods.
    pub current_healthy: Option<i64>,
    /// Least number of healthy pods.
    pub desired_healthy: Option<i64>,
    /// Pods that the budget counts.
    pub expected_pods: Option<i64>,
    /// Which generation of the spec this status is about.
    pub observed_generation: Option<i64>,
}

impl DisruptionBudget<'_> {
    /// The row.
    pub fn to_row(&self, names: &mut Interner) -> budget::DisruptionBudget {
        let (spec, status) = (&self.spec, &self.status);
        let count = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        budget::DisruptionBudget {
            key: self.metadata.key(names),
            selector: spec.selector.as_ref().and_then(Selector::to_row),
            min_available: spec.min_available.present().map(|text| names.get(text)),
            max_unavailable: spec.max_unavailable.present().map(|text| names.get(text)),
            unhealthy_always: &*spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
            allowed: count(status.disruptions_allowed),
            healthy: count(status.current_healthy),
            desired: count(status.desired_healthy),
            expected: count(status.expected_pods),
            // The comparison with which the server itself decides.
            observed: status.observed_generation.unwrap_or(0) >= self.metadata.generation.unwrap_or(0),
        }
    }
}

impl Selector<'_> {
    /// The selector; `None` with an operator that is not known, where the server protects no pod either.
    fn to_row(&self) -> Option<LabelSelector> {
        let labels = self
            .match_labels
            .iter()
            .map(|(label, value)| Some(Term::In(label.to_string(), vec![value.to_string()])));
        let expressions = self.match_expressions.iter().map(Expression::to_row);
        labels
            .chain(expressions)
            .collect::<Option<_>>()
            .map(LabelSelector::new)
    }
}

impl Expression<'_> {
    fn to_row(&self) -> Option<Term> {
        let label = self.key.to_string();
        let values = || self.values.iter().map(|value| value.to_string()).collect();
        match &*self.operator {
            "In" => Some(Term::In(label, values())),
            "NotIn" => Some(Term::NotIn(label, values())),
            "Exists" => Some(Term::Exists(label)),
            "DoesNotExist" => Some(Term::Missing(label)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Name;
    use serde_json::{Value, json};

    fn row(object: &Value) -> budget::DisruptionBudget {
        let text = object.to_string();
        let wire: DisruptionBudget<'_> = serde_json::from_str(&text).unwrap();
        wire.to_row(&mut Interner::default())
    }

    /// The row of a budget with this selector.
    fn selecting(selector: &Value) -> budget::DisruptionBudget {
        row(&json!({"metadata": {"name": "b", "namespace": "demo"}, "spec": {"selector": selector}}))
    }

    fn selects(selector: &Value, labels: &[(&str, &str)]) -> bool {
        let labels: Vec<(Name, Name)> = labels
            .iter()
            .map(|(name, value)| (Name::from(*name), Name::from(*value)))
            .collect();
        selecting(selector)
            .selector
            .is_some_and(|selector| selector.selects(&labels))
    }

    #[test]
    fn the_articles_budget_says_what_it_allows() {
        let hello = row(&json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "hello", "namespace": "demo", "uid": "u", "generation": 1, "resourceVersion": "4711",
                "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {"f:minAvailable": {}}}}]},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "hello"}}},
            "status": {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2,
                "observedGeneration": 1, "conditions": [{"type": "DisruptionAllowed", "status": "True"}]},
        }));
        assert_eq!(
            (hello.key.namespace.as_deref(), &*hello.key.name),
            (Some("demo"), "hello")
        );
        assert_eq!(
            (hello.min_available.as_deref(), hello.max_unavailable),
            (Some("1"), None)
        );
        assert_eq!(
            (hello.allowed, hello.healthy, hello.desired, hello.expected),
            (1, 2, 1, 2)
        );
        assert!(hello.observed && !hello.unhealthy_always);
        assert_eq!(
            hello.selector.unwrap().to_string(),
            "app.kubernetes.io/name in (hello)"
        );
    }

    #[test]
    fn numbers_and_percentages_stay_as_they_are_written() {
        let spec =
            row(&json!({"spec": {"maxUnavailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow"}}));
        assert_eq!(
            (spec.min_available, spec.max_unavailable.as_deref()),
            (None, Some("50%"))
        );
        assert!(spec.unhealthy_always);
        let none =
            row(&json!({"spec": {"maxUnavailable": 0, "unhealthyPodEvictionPolicy": "IfHealthyBudget"}}));
        assert_eq!(none.max_unavailable.as_deref(), Some("0"));
        assert!(!none.unhealthy_always);
    }

    #[test]
    fn a_null_selector_selects_nothing_and_an_empty_one_everything() {
        for none in [
            json!(null),
            json!({"matchExpressions": [{"key": "app", "operator": "Near"}]}),
        ] {
            assert_eq!(selecting(&none).selector, None);
        }
        assert_eq!(row(&json!({"spec": {}})).selector, None);
        for all in [json!({}), json!({"matchLabels": null, "matchExpressions": null})] {
            assert!(selects(&all, &[]) && selects(&all, &[("app", "hello")]));
        }
    }

    #[test]
    fn all_terms_of_a_selector_must_match() {
        let selector = json!({
            "matchLabels": {"app": "hello"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["web", "api"]},
                {"key": "track", "operator": "NotIn", "values": ["canary"]},
                {"key": "version", "operator": "Exists"},
                {"key": "batch", "operator": "DoesNotExist", "values": null},
            ],
        });
        let whole = [("app", "hello"), ("tier", "web"), ("version", "1.3")];
        assert!(selects(&selector, &whole));
        for (name, value) in [
            ("app", "other"),
            ("tier", "db"),
            ("track", "canary"),
            ("batch", ""),
        ] {
            let mut labels: Vec<_> = whole.into_iter().filter(|(label, _)| *label != name).collect();
            labels.push((name, value));
            assert!(!selects(&selector, &labels), "{name}={value}");
        }
        assert!(!selects(&selector, &whole[..2]));
    }

    #[test]
    fn a_status_of_an_older_spec_is_not_the_budgets() {
        let observed = |generation: Value, observed: Value| {
            row(&json!({"metadata": {"generation": generation}, "status": {"observedGeneration": observed}}))
                .observed
        };
        assert!(observed(json!(2), json!(2)));
        assert!(!observed(json!(2), json!(1)));
        assert!(
            !observed(json!(1), json!(null)),
            "the controller has not seen it yet"
        );
        assert!(observed(json!(null), json!(null)));
        let new = row(&json!({"metadata": {"name": "b"}, "status": {"disruptionsAllowed": null}}));
        assert_eq!((new.allowed, new.expected), (0, 0));
    }
}
