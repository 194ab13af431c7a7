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
