//! Disruption budgets: which of them will hold the drain up, and for how long.

use super::Weight;
use super::assess::Case;
use super::notes::{Notes, count, listed, verb};
use super::placement::Homes;
use crate::domain::budget::DisruptionBudget;
use crate::domain::format::spoken_age;
use crate::domain::object::ObjectKey;
use crate::domain::pod::{Phase, Pod};
use crate::domain::text::truncate;
use crate::maintenance::effect::Eviction;
use crate::maintenance::pods::{ended, is_ready};
use std::collections::BTreeMap;

/// Longest text of the server that is passed on, in cells.
const LONGEST_MESSAGE: usize = 300;

pub fn judge(case: &Case<'_>, homes: Option<&Homes<'_>>, notes: &mut Notes) {
    match &case.survey.budgets {
        Ok(budgets) => protected(case, homes, budgets, notes),
        Err(reason) => notes.unknown("which disruption budgets will hold the drain up", reason),
    }
    dry_run(case, notes);
}

fn protected(case: &Case<'_>, homes: Option<&Homes<'_>>, budgets: &[DisruptionBudget], notes: &mut Notes) {
    let mut groups: BTreeMap<Vec<&ObjectKey>, (Vec<&DisruptionBudget>, Vec<&Pod>)> = BTreeMap::new();
    for pod in case.leaving().filter(|pod| asks_budget(pod)) {
        let protecting: Vec<_> = budgets.iter().filter(|budget| budget.protects(pod)).collect();
        let keys = protecting.iter().map(|budget| &budget.key).collect();
        groups
            .entry(keys)
            .or_insert_with(|| (protecting, Vec::new()))
            .1
            .push(pod);
    }
    for (budgets, mut pods) in groups.into_values() {
        match budgets.as_slice() {
            [] => {}
            [budget] => {
                pods.retain(|pod| !may_go_anyway(pod, budget));
                if !pods.is_empty() {
                    one_budget(case, homes, budget, &pods, notes);
                }
            }
            several => protected_twice(&pods, several, notes),
        }
    }
}

/// Whether the server asks a budget before it evicts the pod: not for one that ended, never started or is going.
const fn asks_budget(pod: &Pod) -> bool {
    !ended(pod) && !matches!(pod.phase, Phase::Pending) && pod.deleted_at.is_none()
}

/// A pod that is not ready is no loss to a budget that has enough others, or that says so.
fn may_go_anyway(pod: &Pod, budget: &DisruptionBudget) -> bool {
    !is_ready(pod)
        && budget.observed
        && (budget.unhealthy_always || (budget.desired > 0 && budget.healthy >= budget.desired))
}

fn name(budget: &DisruptionBudget) -> String {
    let namespace = budget.key.namespace.as_deref().unwrap_or_default();
    let wants = match (&budget.min_available, &budget.max_unavailable) {
        (Some(least), _) => format!(" (minAvailable {least})"),
        (None, Some(most)) => format!(" (maxUnavailable {most})"),
        (None, None) => String::new(),
    };
    format!("budget {namespace}/{}{wants}", budget.key.name)
}

fn protected_twice(pods: &[&Pod], budgets: &[&DisruptionBudget], notes: &mut Notes) {
    notes.add(
        Weight::Blocks,
        format!(
            "{} protected by {} budgets at once ({}), and the server never evicts such a pod: {}",
            verb(pods.len(), "one pod is", "pods are"),
            budgets.len(),
            listed(budgets.iter().map(|budget| &budget.key.name)),
            listed(pods.iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)))
        ),
        "change the selectors, so that one budget is left for each pod",
    );
}

fn one_budget(
    case: &Case<'_>,
    homes: Option<&Homes<'_>>,
    budget: &DisruptionBudget,
    pods: &[&Pod],
    notes: &mut Notes,
) {
    let here = pods.len();
    let allowed = usize::try_from(budget.allowed).unwrap_or(usize::MAX);
    let homeless = pods
        .iter()
        .filter(|pod| homes.is_some_and(|homes| homes.is_homeless(pod)))
        .count();
    let numbers = format!(
        "{}: {} on this node, {} allowed now ({} of {} healthy, {} needed)",
        name(budget),
        count(here, "pod"),
        count(allowed, "disruption"),
        budget.healthy,
        budget.expected,
        budget.desired
    );
    if !budget.observed {
        notes.add(
            Weight::Blocks,
            format!(
                "{}: its status is older than its spec, and the server refuses every eviction until then",
                name(budget)
            ),
            "it should pass within seconds; if not, look at kube-controller-manager",
        );
    } else if budget.is_impossible() {
        notes.add(
            Weight::Blocks,
            format!("{numbers}: it can never allow an eviction, because it wants all of its pods"),
            "one replica more, or a weaker budget, for the time of the maintenance",
        );
    } else if allowed == 0 {
        let missing = missing(case, budget);
        let (why, remedy) = if missing.is_empty() {
            (
                String::new(),
                "wait until more of its pods are healthy, or add replicas",
            )
        } else {
            (
                format!("; not ready: {}", listed(missing)),
                "wait until these pods are ready, or repair them",
            )
        };
        notes.add(
            Weight::Blocks,
            format!("{numbers}: no eviction is allowed{why}{}", patience(case)),
            remedy,
        );
    } else if homeless > allowed {
        notes.add(
            Weight::Blocks,
            format!(
                "{numbers}: {homeless} of them {} on no other node, so that after {} no replacement gets ready and the \
                 drain never ends",
                verb(homeless, "fits", "fit"),
                count(allowed, "eviction")
            ),
            "a second node that takes them, or a weaker budget for the time of the maintenance",
        );
    } else if here > allowed {
        notes.add(
            Weight::Warning,
            format!(
                "{numbers}: they leave one after another, as their replacements get ready elsewhere{}",
                patience(case)
            ),
            "",
        );
    }
}

/// The drain's own end, which a budget may outlast.
fn patience(case: &Case<'_>) -> String {
    let limit = case.options.drain_timeout;
    let seconds = limit.and_then(|limit| i64::try_from(limit.as_secs()).ok());
    seconds.map_or_else(String::new, |seconds| {
        format!("; the drain gives up after {}", spoken_age(seconds))
    })
}

/// Pods of the budget that are not ready, anywhere: with them it would allow more.
fn missing(case: &Case<'_>, budget: &DisruptionBudget) -> Vec<String> {
    case.survey
        .pods
        .iter()
        .filter(|pod| budget.protects(pod) && !ended(pod) && !is_ready(pod))
        .map(|pod| {
            let node = pod
                .node
                .as_ref()
                .map_or_else(String::new, |node| format!(" on {node}"));
            let age = pod.created_at.map_or_else(String::new, |created| {
                format!(" for {}", spoken_age((case.now - created).num_seconds()))
            });
            format!("{} ({}{node}{age})", pod.name, pod.state)
        })
        .collect()
}

/// What the server said to evictions that it was asked to try only.
fn dry_run(case: &Case<'_>, notes: &mut Notes) {
    let mut answers: BTreeMap<(Weight, String), Vec<String>> = BTreeMap::new();
    for (pod, eviction) in &case.survey.dry_run_evictions {
        let (weight, said) = match eviction {
            Eviction::Accepted | Eviction::Gone | Eviction::Replaced => continue,
            Eviction::Blocked { message, .. } | Eviction::SeveralBudgets(message) => {
                (Weight::Blocks, message.clone())
            }
            Eviction::Refused(message) => (Weight::Refuses, message.clone()),
            Eviction::NamespaceTerminating => (Weight::Info, "its namespace is being deleted".to_owned()),
            Eviction::Throttled { .. } => (Weight::Warning, "the server asks for fewer requests".to_owned()),
            Eviction::Retry(problem) => (Weight::Warning, problem.clone()),
        };
        answers.entry((weight, said)).or_default().push(pod.to_string());
    }
    for ((weight, said), pods) in answers {
        notes.add(
            weight,
            format!(
                "tried without effect, the eviction of {} was answered: {}",
                listed(pods),
                truncate(&said, LONGEST_MESSAGE)
            ),
            "",
        );
    }
}
