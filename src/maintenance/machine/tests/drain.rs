//! Evictions: budgets, throttling, replaced and stuck pods.

use super::executor::blocked;
use super::objects::{app, budget, daemon, name};
use super::world::{World, headless};
use crate::domain::node::ConditionStatus;
use crate::domain::pod::Phase;
use crate::maintenance::effect::{Effect, Eviction};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::options::Options;
use crate::maintenance::state::{LeavingStatus, Step};
use std::time::Duration;

/// One pod of hello-win with its budget closed, and its eviction sent.
fn one_pod(options: Options) -> World {
    let pods = vec![
        app("hello-win", 1),
        daemon("kube-system", "kube-proxy-windows", 1, "11"),
    ];
    let mut world = World::with_pods(options, pods);
    world.budgets = vec![budget("hello-win", 0)];
    while world.evictions_of("hello-win-1").is_empty() {
        world.answer(0);
        world.observe();
    }
    world
}

/// The same, with this answer to the first eviction.
fn answered(eviction: Eviction) -> World {
    let mut world = one_pod(headless());
    world.evictions.push_back(eviction);
    let index = world
        .index(|effect| matches!(effect, Effect::Evict { .. }))
        .unwrap();
    world.answer(index);
    world
}

fn tries(world: &World) -> usize {
    world.evictions_of("hello-win-1").len()
}

fn status(world: &World) -> &LeavingStatus {
    &world.state.leaving["uid-hello-win-1"].status
}

#[test]
fn a_blocked_pod_names_its_budget_and_is_tried_again_after_five_seconds() {
    let mut world = answered(blocked(None));
    assert_eq!(
        status(&world)
            .reason()
            .map(|reason| reason.contains("hello-win needs 1")),
        Some(true)
    );
    assert!(
        world
            .lines()
            .contains(r#""event":"blocked","namespace":"win-demo","name":"hello-win-1""#)
    );
    world.wait(4999);
    assert_eq!(tries(&world), 1);
    world.wait(1);
    assert_eq!(tries(&world), 2);
}

#[test]
fn retry_after_is_honoured_while_the_budget_does_not_move() {
    let mut world = answered(blocked(Some(30)));
    world.wait(15_000);
    world.observe();
    world.wait(14_999);
    assert_eq!(tries(&world), 1);
    world.wait(1);
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_budget_that_opens_is_used_at_once_whatever_retry_after_said() {
    let mut world = answered(blocked(Some(600)));
    world.wait(1200);
    world.budgets = vec![budget("hello-win", 1)];
    world.observe();
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_budget_that_opens_within_the_second_waits_for_its_end() {
    let mut world = answered(blocked(Some(600)));
    world.wait(300);
    world.budgets = vec![budget("hello-win", 1)];
    world.observe();
    assert_eq!(tries(&world), 1);
    world.wait(700);
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_budget_that_opens_while_the_refusal_is_on_its_way_is_not_missed() {
    let mut world = one_pod(headless());
    world.evictions.push_back(blocked(Some(600)));
    let index = world
        .index(|effect| matches!(effect, Effect::Evict { .. }))
        .unwrap();
    world.perform(index);
    world.wait(200);
    world.budgets = vec![budget("hello-win", 1)];
    world.observe();
    world.answer(index);
    world.wait(999);
    assert_eq!(tries(&world), 1);
    world.wait(1);
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_budget_that_opened_before_anything_else_was_seen_is_not_missed() {
    let mut world = answered(blocked(Some(600)));
    world.wait(2000);
    // The first look after the refusal shows it open already.
    world.budgets = vec![budget("hello-win", 1)];
    world.observe();
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_throttled_eviction_waits_as_asked_even_if_a_budget_moves() {
    let mut world = answered(Eviction::Throttled {
        retry_after: Some(Duration::from_secs(10)),
    });
    world.wait(2000);
    world.budgets = vec![budget("hello-win", 1)];
    world.observe();
    world.wait(7999);
    assert_eq!(tries(&world), 1);
    world.wait(1);
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_storm_of_refusals_is_under_one_request_a_second() {
    let mut world = one_pod(headless());
    for round in 0..60_u32 {
        world
            .evictions
            .push_back(Eviction::Throttled { retry_after: None });
        world.budgets = vec![budget("hello-win", round % 2)];
        if let Some(index) = world.index(|effect| matches!(effect, Effect::Evict { .. })) {
            world.answer(index);
        }
        world.observe();
        world.wait(250);
    }
    assert!(tries(&world) <= 16, "{} in 15 s", tries(&world));
}

#[test]
fn two_budgets_on_one_pod_are_told_and_waited_for() {
    let mut world = answered(Eviction::SeveralBudgets(
        "more than one PodDisruptionBudget".to_owned(),
    ));
    assert!(
        status(&world)
            .reason()
            .unwrap()
            .contains("change the selector of one")
    );
    world.wait(5000);
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_replaced_pod_is_done() {
    let mut world = one_pod(headless());
    world.pod("hello-win-1").uid = name("another");
    world.pod("hello-win-1").node = None;
    let index = world
        .index(|effect| matches!(effect, Effect::Evict { .. }))
        .unwrap();
    world.answer(index);
    assert_eq!(*status(&world), LeavingStatus::Gone);
    assert_eq!(world.happened(|one| matches!(one, Happening::Evicted { .. })), 1);
    assert_eq!(tries(&world), 1);
}

#[test]
fn a_terminating_namespace_is_waited_for() {
    let mut world = answered(Eviction::NamespaceTerminating);
    assert_eq!(*status(&world), LeavingStatus::NamespaceTerminating);
    assert!(world.lines().contains("its namespace is being deleted"));
    world.pods.retain(|pod| &*pod.name != "hello-win-1");
    world.observe();
    world.answer_all();
    assert!(world.told("drained"));
}

#[test]
fn a_refused_eviction_ends_the_drain_when_nothing_else_is_left() {
    let mut world = answered(Eviction::Refused("pods/eviction: create is forbidden".to_owned()));
    world.answer_all();
    let (ending, reason) = world.ending();
    assert_eq!(ending, Ending::Refused);
    assert!(
        reason.contains("win-demo/hello-win-1 (pods/eviction: create is forbidden)"),
        "{reason}"
    );
    assert!(world.node().unschedulable && world.node().maintenance.is_some());
}

#[test]
fn a_pod_that_was_deleted_already_is_waited_for_and_not_evicted() {
    let pods = vec![
        app("hello-win", 1),
        app("hello-win", 2),
        daemon("kube-system", "kube-proxy-windows", 1, "11"),
    ];
    let mut world = World::with_pods(headless(), pods);
    world.pod("hello-win-1").deleted_at = Some(world.at);
    world.answer_all();
    assert_eq!(world.evictions_of("hello-win-1").len(), 0);
    assert_eq!(world.evictions_of("hello-win-2").len(), 1);
    assert_eq!(world.state.step, Step::Drain);
}

#[test]
fn a_pod_that_nothing_may_evict_goes_once_it_has_ended() {
    let mut alone = super::objects::pod("win-demo", "alone", "uid-alone", None);
    alone.labels = Box::default();
    let pods = vec![app("hello-win", 1), alone];
    let mut world = World::with_pods(headless(), pods);
    world.budgets = vec![budget("hello-win", 0)];
    world.answer_all();
    assert_eq!(world.evictions_of("alone").len(), 0);
    world.pod("alone").phase = Phase::Succeeded;
    world.observe();
    assert_eq!(world.evictions_of("alone").len(), 1);
}

#[test]
fn a_pod_that_appears_after_the_list_was_asked_for_is_not_taken_for_gone() {
    let mut world = World::with_pods(
        headless(),
        vec![daemon("kube-system", "kube-proxy-windows", 1, "11")],
    );
    while world.index(|effect| *effect == Effect::ListPods).is_none() {
        world.answer(0);
    }
    let list = world.index(|effect| *effect == Effect::ListPods).unwrap();
    world.perform(list);
    // It was bound just before the cordon.
    world.wait(50);
    world.pods.push(app("hello-win", 1));
    world.observe();
    world.answer(list);
    assert!(!world.told("drained") && !world.told("evicted"));
    world.live_to(Step::Restart);
    assert_eq!(world.evictions_of("hello-win-1").len(), 1);
}

#[test]
fn an_accepted_eviction_that_came_to_nothing_is_sent_again() {
    let mut world = one_pod(headless());
    world.evictions.push_back(Eviction::Accepted);
    let index = world
        .index(|effect| matches!(effect, Effect::Evict { .. }))
        .unwrap();
    world.answer(index);
    world.answer_all();
    assert_eq!(*status(&world), LeavingStatus::Stopping);
    // The pod is still there, and nothing deletes it.
    world.wait(10_000);
    world.answer_all();
    assert_eq!(tries(&world), 2);
}

#[test]
fn a_pod_that_the_kubelet_cannot_remove_is_told_with_what_it_means() {
    let mut world = answered(Eviction::Accepted);
    world.pod("hello-win-1").deleted_at = Some(world.at);
    world.unkillable.insert(
        name("uid-hello-win-1"),
        "hcnDeleteNamespace failed in Win32: The specified request is unsupported".to_owned(),
    );
    world.observe();
    world.observe();
    assert!(matches!(status(&world), LeavingStatus::Stuck(_)));
    let stuck = |one: &Happening| matches!(one, Happening::Blocked { reason, .. } if reason.contains("restart the node"));
    assert_eq!(world.happened(stuck), 1);
}

#[test]
fn on_a_silent_node_a_stopping_pod_is_told_to_be_unconfirmed() {
    let mut world = answered(Eviction::Accepted);
    world.pod("hello-win-1").deleted_at = Some(world.at);
    world.ready(ConditionStatus::Unknown);
    world.observe();
    assert!(
        status(&world)
            .reason()
            .unwrap()
            .contains("the node does not answer")
    );
    world.ready(ConditionStatus::True);
    world.observe();
    assert_eq!(*status(&world), LeavingStatus::Stopping);
}

#[test]
fn no_grace_is_sent_unless_asked_for() {
    let grace = |options: Options| {
        let world = one_pod(options);
        let evictions = world.effects.iter().filter_map(|(_, effect)| match effect {
            Effect::Evict { grace_seconds, .. } => Some(*grace_seconds),
            _ => None,
        });
        evictions.collect::<Vec<_>>()
    };
    assert_eq!(grace(headless()), [None]);
    let asked = Options {
        grace_seconds: Some(0),
        ..headless()
    };
    assert_eq!(grace(asked), [Some(0)]);
}

#[test]
fn the_list_is_made_again_in_case_the_watch_has_died() {
    let mut world = answered(Eviction::Accepted);
    world.answer_all();
    // It goes, and no watch tells.
    world.pods.retain(|pod| &*pod.name != "hello-win-1");
    world.wait(10_000);
    world.answer_all();
    assert!(world.told("drained"));
}

#[test]
fn a_drained_save_that_is_lost_is_made_again() {
    let mut world = answered(Eviction::Gone);
    world.pods.retain(|pod| &*pod.name != "hello-win-1");
    world.answer_all_but(|effect| matches!(effect, Effect::Save(_)));
    for performed in [false, true] {
        let save = world.index(|effect| matches!(effect, Effect::Save(_))).unwrap();
        world.lose(save, performed);
        assert_eq!(world.state.step, Step::Drain);
        assert!(world.state.waiting_for.contains("the connection was lost"));
        world.wait(1000);
    }
    world.answer_all();
    assert_eq!(world.state.step, Step::Restart);
    assert_eq!(world.happened(|one| matches!(one, Happening::Drained { .. })), 1);
    assert!(world.state.waiting_for.starts_with("a boot id other than 11"));
}

#[test]
fn a_restart_during_the_drain_does_not_count() {
    let mut world = answered(Eviction::Accepted);
    let late = world.observation();
    world.boot();
    world.network_starts("12");
    world.observe();
    world.pods.retain(|pod| &*pod.name != "hello-win-1");
    world.observe();
    world.answer_all();
    assert_eq!(world.state.step, Step::Restart);
    assert!(world.lines().contains("that restart does not count"));
    assert_eq!(&*world.record().boot_id, "12");
    // Neither does a look at the node from before it.
    world.show(late);
    assert_eq!(world.state.step, Step::Restart);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert!(world.lines().contains(r#""before":"12","after":"13""#));
}

#[test]
fn a_node_without_boot_id_does_not_make_the_old_one_new() {
    let mut world = answered(Eviction::Accepted);
    world.pods.retain(|pod| &*pod.name != "hello-win-1");
    world.node().boot_id = name("");
    world.observe();
    world.answer_all();
    assert_eq!(&*world.record().boot_id, "11");
    world.node().boot_id = name("11");
    world.observe();
    assert_eq!(world.state.step, Step::Restart);
    assert!(!world.told("boot_id_changed"));
}
