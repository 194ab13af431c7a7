//! Permissions for every later step.

use super::*;

fn denied(deny: fn(&super::super::permissions::Access) -> bool) -> Preflight {
    let mut survey = one_windows_node();
    for (access, answer) in &mut survey.permissions {
        if deny(access) {
            *answer = Ok(false);
        }
    }
    preflight(&survey)
}

#[test]
fn with_every_permission_nothing_is_said() {
    is_silent(&preflight(&one_windows_node()), "you may not");
}

#[test]
fn what_is_denied_is_named_with_the_step_that_needs_it() {
    says(
        &denied(|access| access.subresource == "eviction"),
        Weight::Refuses,
        &[
            "you may not create pods/eviction in namespace win-demo",
            "needed for the drain",
            "ask for a role that may create pods/eviction",
        ],
    );
    says(
        &denied(|access| access.verb == "patch"),
        Weight::Refuses,
        &[
            "you may not patch nodes k8s-lab-win-1",
            "cordon, record and uncordon",
        ],
    );
    says(
        &denied(|access| access.resource == "leases" && access.verb == "create"),
        Weight::Refuses,
        &[
            "you may not create leases in namespace kube-system",
            "the Lease of the pool",
        ],
    );
}

#[test]
fn without_a_look_at_the_budgets_the_drain_goes_on_more_slowly() {
    let found = denied(|access| access.group == "policy");
    says(
        &found,
        Weight::Warning,
        &["you may not watch poddisruptionbudgets"],
    );
    assert!(found.weight() < Weight::Refuses);
}

#[test]
fn a_question_that_was_not_answered_is_told() {
    let mut survey = one_windows_node();
    for (_, answer) in &mut survey.permissions {
        *answer = Err("no answer within 10 s".to_owned());
    }
    says(
        &preflight(&survey),
        Weight::Warning,
        &[
            "the permission to patch nodes k8s-lab-win-1",
            "no answer within 10 s",
        ],
    );
}
