//! Back to work: the uncordon and the pods.

use super::executor::blocked;
use super::objects::{app, budget, condition, daemon, name};
use super::world::{World, headless};
use crate::domain::node::ConditionStatus;
use crate::maintenance::effect::{Effect, Eviction};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::input::Command;
use crate::maintenance::pods::PodRef;
use crate::maintenance::state::Step;

/// All gates hold; the uncordon is sent and not answered.
fn uncordoning() -> World {
    let mut world = World::small(headless());
    world.live_to(Step::Network);
    world.network_starts("12");
    world.answer_all();
    world.observe();
    assert_eq!((world.state.step, world.uncordons()), (Step::Uncordon, 1));
    world
}

fn back() -> World {
    let mut world = World::small(headless());
    world.live_to(Step::PodsBack);
    world.answer_all();
    world
}

#[test]
fn a_gate_that_is_lost_while_the_uncordon_was_lost_is_waited_for_again() {
    let mut world = uncordoning();
    world.ready(ConditionStatus::False);
    world.observe();
    world.lose(0, false);
    world.wait(60_000);
    assert_eq!(world.uncordons(), 1);
    world.ready(ConditionStatus::True);
    world.live_until(World::is_over);
    assert_eq!((world.ending().0, world.uncordons()), (Ending::Done, 2));
}

#[test]
fn an_uncordon_whose_answer_was_lost_is_seen_on_the_node() {
    let mut world = uncordoning();
    world.lose(0, true);
    world.observe();
    assert_eq!(world.state.step, Step::PodsBack);
    world.live_until(World::is_over);
    assert_eq!((world.ending().0, world.uncordons()), (Ending::Done, 1));
    assert_eq!(
        world.happened(|one| matches!(one, Happening::Uncordoned { .. })),
        1
    );
}

#[test]
fn an_uncordon_whose_answer_was_lost_is_not_written_over() {
    let mut world = uncordoning();
    let mut late = world.observation();
    world.lose(0, true);
    // A watch from before it shows that a gate is lost, and a network container that was not known.
    late.node.as_mut().unwrap().conditions = Box::new([condition(ConditionStatus::False)]);
    late.pods.last_mut().unwrap().containers[0].container_id = name("containerd://unknown");
    world.show(late);
    world.wait(5000);
    assert!(world.pending.is_empty(), "{:?}", world.pending);
    world.look();
    assert_eq!(world.state.step, Step::PodsBack);
}

#[test]
fn an_uncordon_that_succeeds_while_the_node_restarts_again_is_not_forgotten() {
    let mut world = uncordoning();
    world.perform(0);
    world.boot();
    world.observe();
    world.answer_all();
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert!(!world.node().unschedulable);
    assert_eq!(
        world.happened(|one| matches!(one, Happening::Uncordoned { .. })),
        1
    );
}

#[test]
fn a_restart_just_before_the_uncordon_brings_all_gates_back() {
    let mut world = uncordoning();
    world.boot();
    world.answer_all();
    assert!(world.node().unschedulable);
    world.observe();
    assert_eq!(world.state.step, Step::Network);
    world.network_starts("13");
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_node_that_was_cordoned_before_stays_so() {
    let mut world = World::small(headless());
    world.node().unschedulable = true;
    world.cordoned_by = "kubectl-cordon";
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert_eq!(world.uncordons(), 0);
    assert!(world.node().unschedulable && world.node().maintenance.is_none());
    assert!(world.told("left_cordoned") && !world.told("uncordoned"));
}

#[test]
fn pods_are_back_when_each_owner_has_as_many_as_before() {
    let mut world = back();
    world.observe();
    assert_eq!(world.state.waiting_for, "ReplicaSet win-demo/hello-win 0 of 2");
    world.pods.push(app("hello-win", 11));
    world.observe();
    assert_eq!(world.state.waiting_for, "ReplicaSet win-demo/hello-win 1 of 2");
    world.pods.push(app("hello-win", 12));
    world.observe();
    assert!(world.told("pods_ready"));
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_watch_that_still_shows_the_time_before_does_not_bring_the_pods_back() {
    let mut world = back();
    let before = world.history[0].clone();
    world.show(before);
    // The node is up to date, the pods are not.
    let mut mixed = world.history[0].clone();
    mixed.node.clone_from(&world.node);
    world.show(mixed);
    assert!(!world.told("pods_ready"));
}

#[test]
fn the_operator_need_not_wait_for_the_rest() {
    let mut world = back();
    world.observe();
    world.press(Command::StopWaiting);
    world.observe();
    let clear = world
        .index(|effect| matches!(effect, Effect::Clear { .. }))
        .unwrap();
    world.lose(clear, false);
    world.observe();
    world.wait(1000);
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Done);
    assert!(
        !world.told("pods_ready")
            && world
                .lines()
                .contains("not waited for any longer: ReplicaSet win-demo/hello-win 0 of 2")
    );
}

#[test]
fn a_removed_record_that_the_watch_shows_before_its_answer_is_no_foreign_hand() {
    let mut world = back();
    world.settle();
    world.settle();
    world.observe();
    let clear = world
        .index(|effect| matches!(effect, Effect::Clear { .. }))
        .unwrap();
    world.perform(clear);
    world.observe();
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Done);
}

fn without_network(world: &mut World, name_of: &str) {
    let pod = PodRef::of(world.pod(name_of));
    let words = "Readiness probe failed: context deadline exceeded".to_owned();
    world.probes_time_out.insert(pod.uid.clone(), (pod, words));
}

#[test]
fn a_pod_without_network_is_offered_and_recreated_by_eviction() {
    let mut world = back();
    let mut pod = app("hello-win", 11);
    pod.ready = 0;
    world.pods.push(pod);
    without_network(&mut world, "hello-win-11");
    world.observe();
    assert!(world.state.without_network.contains_key("uid-hello-win-11"));
    assert_eq!(world.evictions_of("hello-win-11").len(), 0, "offered, not done");
    world.press(Command::Recreate(name("uid-hello-win-11")));
    world.press(Command::Recreate(name("uid-hello-win-11")));
    assert_eq!(world.evictions_of("hello-win-11").len(), 1);
    world.answer_all();
    assert!(world.lines().contains("is created anew"));
    world.probes_time_out.clear();
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_recreation_that_a_budget_refuses_is_told_and_not_repeated_within_a_second() {
    let mut world = back();
    world.pods.push(app("hello-win", 11));
    world.budgets = vec![budget("hello-win", 0)];
    without_network(&mut world, "hello-win-11");
    world.observe();
    world.evictions.push_back(blocked(None));
    let again = Command::Recreate(name("uid-hello-win-11"));
    world.press(again.clone());
    world.answer_all();
    assert!(
        world
            .lines()
            .contains("came up without network, but Cannot evict pod")
    );
    world.press(again.clone());
    assert_eq!(world.evictions_of("hello-win-11").len(), 1);
    world.wait(1000);
    world.press(again);
    assert_eq!(world.evictions_of("hello-win-11").len(), 2);
}

#[test]
fn only_what_a_drain_would_evict_is_recreated() {
    let mut world = back();
    let mut data = app("reports", 1);
    data.empty_dir = true;
    world.pods.push(data);
    world.pods.push(daemon("monitoring", "alloy-windows", 1, "12"));
    without_network(&mut world, "reports-1");
    without_network(&mut world, "alloy-windows-x");
    world.observe();
    world.press(Command::Recreate(name("uid-reports-1")));
    world.press(Command::Recreate(name("uid-alloy-windows")));
    world.press(Command::Recreate(name("uid-unknown")));
    assert_eq!(world.sent(|effect| matches!(effect, Effect::Evict { pod, .. } if &*pod.name != "hello-win-1" && &*pod.name != "hello-win-2")).len(), 0);
}

#[test]
fn a_lost_answer_to_a_recreation_is_told() {
    let mut world = back();
    world.pods.push(app("hello-win", 11));
    without_network(&mut world, "hello-win-11");
    world.observe();
    world.evictions.push_back(Eviction::Retry("no answer".to_owned()));
    world.press(Command::Recreate(name("uid-hello-win-11")));
    world.answer_all();
    assert!(world.lines().contains("could not be evicted: no answer"));
}

#[test]
fn a_node_that_is_cordoned_again_is_told_while_pods_are_missing() {
    let mut world = back();
    world.node().unschedulable = true;
    world.observe();
    assert!(world.state.waiting_for.ends_with("(the node was cordoned again)"));
}

#[test]
fn a_restart_after_the_uncordon_is_told_once() {
    let mut world = back();
    world.boot();
    world.observe();
    world.observe();
    let told = |one: &Happening| matches!(one, Happening::Note { text } if text.contains("restarted again"));
    assert_eq!(world.happened(told), 1);
}
