//! Giving up, in each step, and what is said to be left behind.

use super::objects::budget;
use super::world::{World, attended, headless};
use crate::maintenance::effect::Effect;
use crate::maintenance::event::Ending;
use crate::maintenance::input::Command;
use crate::maintenance::state::Step;

/// Abandons, with all answers coming, and says what is left behind.
fn abandoned(world: &mut World) -> String {
    world.press(Command::Abandon);
    world.observe();
    world.answer_all();
    let (ending, reason) = world.ending();
    assert_eq!(ending, Ending::Aborted, "{reason}");
    let reason = reason.to_owned();
    assert!(world.node().maintenance.is_none() && world.lease.is_none());
    reason
}

#[test]
fn before_it_began() {
    let mut world = World::small(attended());
    world.answer_all();
    assert_eq!(abandoned(&mut world), "abandoned before anything was changed");
    assert!(!world.node().unschedulable);
}

#[test]
fn while_the_lease_is_being_taken() {
    let mut world = World::small(headless());
    world.answer(0);
    assert!(world.index(|effect| *effect == Effect::Lock).is_some());
    assert_eq!(abandoned(&mut world), "abandoned before anything was changed");
    assert!(!world.node().unschedulable);
}

#[test]
fn while_the_cordon_is_under_way() {
    let mut world = World::small(headless());
    world.answer(0);
    world.answer(0);
    assert!(
        world
            .index(|effect| matches!(effect, Effect::Cordon(_)))
            .is_some()
    );
    let reason = abandoned(&mut world);
    assert!(
        reason.contains("stays cordoned and half drained: 0 pods are gone"),
        "{reason}"
    );
    assert!(world.node().unschedulable);
    assert_eq!(world.evictions_of("hello-win-1").len(), 0);
}

#[test]
fn when_the_answer_to_the_cordon_was_lost() {
    let mut world = World::small(headless());
    world.answer(0);
    world.answer(0);
    world.lose(0, true);
    world.press(Command::Abandon);
    world.wait(1000);
    world.answer_all();
    assert!(
        world.ending().1.contains("may be cordoned; nothing was evicted"),
        "{}",
        world.ending().1
    );
    assert!(world.node().maintenance.is_none());
}

#[test]
fn half_drained() {
    let mut world = World::small(headless());
    world.budgets = vec![budget("hello-win", 1)];
    world.answer_all();
    world.observe();
    world.pods.retain(|pod| pod.deleted_at.is_none());
    world.observe();
    let reason = abandoned(&mut world);
    assert!(
        reason.contains("half drained: 1 pods are gone, 1 are still there"),
        "{reason}"
    );
    assert!(reason.contains("`kubectl uncordon k8s-lab-win-1` gives it back"));
}

#[test]
fn while_the_restart_is_awaited() {
    let mut world = World::small(headless());
    world.live_to(Step::Restart);
    let reason = abandoned(&mut world);
    assert!(reason.contains("stays cordoned and drained"), "{reason}");
    world.boot();
    world.observe();
}

#[test]
fn after_the_boot() {
    let mut world = World::small(headless());
    world.live_to(Step::Network);
    assert!(abandoned(&mut world).contains("stays cordoned and drained"));
}

#[test]
fn while_the_uncordon_is_under_way() {
    let mut world = World::small(headless());
    world.live_to(Step::Network);
    world.network_starts("12");
    world.answer_all();
    world.observe();
    assert_eq!(world.uncordons(), 1);
    let reason = abandoned(&mut world);
    assert!(
        reason.contains("is uncordoned; not all pods are ready again"),
        "{reason}"
    );
    assert!(!world.node().unschedulable);
}

#[test]
fn when_the_answer_to_the_uncordon_was_lost() {
    let mut world = World::small(headless());
    world.live_to(Step::Network);
    world.network_starts("12");
    world.answer_all();
    world.observe();
    world.lose(0, true);
    world.press(Command::Abandon);
    world.wait(1000);
    world.answer_all();
    assert!(
        world
            .ending()
            .1
            .contains("look whether node k8s-lab-win-1 is uncordoned"),
        "{}",
        world.ending().1
    );
}

#[test]
fn while_the_pods_come_back() {
    let mut world = World::small(headless());
    world.live_to(Step::PodsBack);
    world.answer_all();
    assert!(abandoned(&mut world).contains("is uncordoned; not all pods are ready again"));
}

#[test]
fn a_node_that_was_cordoned_before_is_said_to_be() {
    let mut world = World::small(headless());
    world.node().unschedulable = true;
    world.live_to(Step::Restart);
    assert!(abandoned(&mut world).ends_with("stays cordoned and drained; it was cordoned before"));
}

#[test]
fn the_record_is_removed_again_and_again_until_the_api_server_is_back() {
    let mut world = World::small(headless());
    world.live_to(Step::Restart);
    world.answer_all();
    world.press(Command::Abandon);
    for _ in 0..50 {
        world.lose(0, false);
        world.wait(60_000);
    }
    assert!(!world.is_over());
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Aborted);
}
