//! Disruption budgets, and evictions that were only tried.

use super::*;
use crate::maintenance::effect::Eviction;
use crate::maintenance::pods::PodRef;
use std::time::Duration;

fn with_budgets(mut survey: Survey, budgets: &[DisruptionBudget]) -> Preflight {
    survey.budgets = Ok(budgets.to_vec());
    preflight(&survey)
}

#[test]
fn on_the_only_windows_node_the_second_pod_can_never_leave() {
    let hello = budget("hello", "hello", (1, 2, 1, 2));
    says(
        &with_budgets(one_windows_node(), &[hello]),
        Weight::Blocks,
        &[
            "budget win-demo/hello (minAvailable 1): 2 pods on this node, 1 disruption allowed now (2 of 2 healthy, 1 needed)",
            "2 of them fit on no other node",
            "after 1 eviction",
        ],
    );
}

#[test]
fn with_a_second_windows_node_the_pods_leave_one_after_another() {
    let hello = budget("hello", "hello", (1, 2, 1, 2));
    let found = with_budgets(two_windows_nodes(), &[hello]);
    says(
        &found,
        Weight::Warning,
        &["1 disruption allowed now", "one after another"],
    );
    assert!(found.weight() < Weight::Blocks);
}

#[test]
fn a_budget_that_allows_enough_is_not_worth_a_word() {
    let hello = budget("hello", "hello", (2, 4, 2, 4));
    is_silent(&with_budgets(two_windows_nodes(), &[hello]), "budget");
}

#[test]
fn a_budget_that_wants_all_of_its_pods_can_never_allow_it() {
    let hello = budget("hello", "hello", (0, 2, 2, 2));
    says(
        &with_budgets(two_windows_nodes(), &[hello]),
        Weight::Blocks,
        &[
            "(minAvailable 2)",
            "0 disruptions allowed now",
            "can never allow",
            "one replica more",
        ],
    );
}

#[test]
fn a_pod_with_two_budgets_is_never_evicted() {
    let budgets = [
        budget("hello", "hello", (2, 4, 2, 4)),
        budget("web", "hello", (2, 4, 2, 4)),
    ];
    says(
        &with_budgets(two_windows_nodes(), &budgets),
        Weight::Blocks,
        &[
            "2 budgets at once (hello, web)",
            "win-demo/hello-abc-1",
            "change the selectors",
        ],
    );
}

#[test]
fn a_budget_that_was_just_changed_refuses_until_its_status_follows() {
    let changed = DisruptionBudget {
        observed: false,
        ..budget("hello", "hello", (1, 2, 1, 2))
    };
    says(
        &with_budgets(two_windows_nodes(), &[changed]),
        Weight::Blocks,
        &["win-demo/hello", "status is older than its spec"],
    );
}

/// Public report 30: the last of three nodes; the replacements still pull an image of 12 GB, and the drain's time is
/// shorter than that.
#[test]
fn replacements_that_still_pull_their_image_hold_the_budget() {
    let mut survey = two_windows_nodes();
    let pulling = Pod {
        created_at: Some("2026-12-08T19:51:00Z".parse().unwrap()),
        phase: Phase::Pending,
        ..not_ready(pod("hello", "3", WIN_2), "ContainerCreating")
    };
    survey.pods.push(pulling);
    survey.budgets = Ok(vec![budget("hello", "hello", (0, 2, 2, 3))]);
    let options = Options {
        drain_timeout: Some(Duration::from_mins(10)),
        ..Options::default()
    };
    says(
        &assess(&survey, &options, now()),
        Weight::Blocks,
        &[
            "0 disruptions allowed now (2 of 3 healthy, 2 needed)",
            "not ready: hello-abc-3 (ContainerCreating on k8s-lab-win-2 for 9 m)",
            "the drain gives up after 10 m",
            "wait until these pods are ready",
        ],
    );
}

/// Public report 31: evictions answered with 429, "blocked by pdb".
#[test]
fn an_eviction_that_was_only_tried_tells_the_servers_own_words() {
    let mut survey = two_windows_nodes();
    let blocked = Eviction::Blocked {
        message: "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget hello needs 2 \
                  healthy pods and has 2 currently"
            .to_owned(),
        retry_after: None,
    };
    survey.dry_run_evictions = vec![
        (PodRef::of(&survey.pods[0]), blocked.clone()),
        (PodRef::of(&survey.pods[1]), blocked),
    ];
    says(
        &preflight(&survey),
        Weight::Blocks,
        &[
            "win-demo/hello-abc-1, win-demo/hello-abc-2",
            "hello needs 2 healthy pods and has 2",
        ],
    );
}

#[test]
fn a_refused_trial_refuses_and_one_that_passed_says_nothing() {
    let mut survey = two_windows_nodes();
    let pod = PodRef::of(&survey.pods[0]);
    survey.dry_run_evictions = vec![(pod.clone(), Eviction::Refused("pods is forbidden".to_owned()))];
    says(
        &preflight(&survey),
        Weight::Refuses,
        &["win-demo/hello-abc-1", "pods is forbidden"],
    );
    survey.dry_run_evictions = vec![(pod.clone(), Eviction::SeveralBudgets("more than one".to_owned()))];
    says(&preflight(&survey), Weight::Blocks, &["more than one"]);
    survey.dry_run_evictions = vec![(pod, Eviction::Accepted)];
    is_silent(&preflight(&survey), "tried without effect");
}

#[test]
fn a_pod_that_is_not_ready_may_go_where_the_budget_has_enough_others() {
    let mut survey = two_windows_nodes();
    survey.pods[0] = not_ready(pod("hello", "1", WIN_1), "CrashLoopBackOff");
    survey.pods[1].node = Some(WIN_2.into());
    is_silent(
        &with_budgets(survey.clone(), &[budget("hello", "hello", (0, 1, 1, 2))]),
        "budget",
    );
    let short = budget("hello", "hello", (0, 1, 2, 3));
    let found = with_budgets(survey.clone(), std::slice::from_ref(&short));
    says(
        &found,
        Weight::Blocks,
        &["no eviction is allowed", "hello-abc-1 (CrashLoopBackOff"],
    );
    let lenient = DisruptionBudget {
        unhealthy_always: true,
        ..short
    };
    is_silent(&with_budgets(survey, &[lenient]), "budget");
}

#[test]
fn budgets_that_may_not_be_read_are_said_to_be_unknown() {
    let mut survey = one_windows_node();
    survey.budgets = Err("poddisruptionbudgets is forbidden".to_owned());
    says(
        &preflight(&survey),
        Weight::Warning,
        &[
            "budgets",
            "could not be judged: poddisruptionbudgets is forbidden",
        ],
    );
}
