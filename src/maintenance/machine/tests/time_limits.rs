//! Limits of time, and what is said when they end.

use super::objects::budget;
use super::world::{World, headless};
use crate::maintenance::effect::Effect;
use crate::maintenance::event::Ending;
use crate::maintenance::options::Options;
use crate::maintenance::state::Step;
use std::time::Duration;

fn limited() -> Options {
    Options {
        drain_timeout: Some(Duration::from_mins(1)),
        restart_timeout: Duration::from_mins(30),
        pods_timeout: Duration::from_mins(10),
        ..headless()
    }
}

fn ended(world: &World, words: &[&str]) {
    ended_as(world, Ending::TimedOut, words);
}

fn ended_as(world: &World, expected: Ending, words: &[&str]) {
    let (ending, reason) = world.ending();
    assert_eq!(ending, expected, "{reason}");
    for word in words {
        assert!(reason.contains(word), "{word} in: {reason}");
    }
}

#[test]
fn the_drain() {
    let mut world = World::small(limited());
    world.budgets = vec![budget("hello-win", 0)];
    world.answer_all();
    world.wait(61_000);
    ended_as(
        &world,
        Ending::Blocked,
        &["--timeout", "win-demo/hello-win-1 (Cannot evict pod", "--resume"],
    );
    assert!(world.node().maintenance.is_some(), "it can be resumed");
}

#[test]
fn the_drain_has_no_limit_unless_asked_for() {
    let mut world = World::small(headless());
    world.budgets = vec![budget("hello-win", 0)];
    for _ in 0..100 {
        world.answer_all();
        world.wait(600_000);
    }
    assert_eq!(world.state.step, Step::Drain);
}

#[test]
fn the_cordon_while_the_api_server_is_away() {
    let mut world = World::small(limited());
    world.answer(0);
    while !world.is_over() {
        if world.pending.is_empty() {
            world.wait(500);
        } else {
            world.lose(0, false);
        }
    }
    ended(&world, &["was not cordoned", "the connection was lost"]);
}

#[test]
fn the_restart_of_a_node_that_never_comes_back() {
    let mut world = World::small(limited());
    world.live_to(Step::Restart);
    world.coming.clear();
    world.wait(29 * 60 * 1000);
    assert_eq!(
        world.state.step,
        Step::Restart,
        "a slow disk took fifteen minutes"
    );
    world.wait(61_000);
    ended(
        &world,
        &["a boot id other than 11", "look at its console", "--resume"],
    );
    assert!(world.node().unschedulable);
}

#[test]
fn the_network_after_the_boot() {
    let mut world = World::small(limited());
    world.live_to(Step::Restart);
    world.coming.clear();
    world.boot();
    world.look();
    world.wait(31 * 60 * 1000);
    ended(&world, &["calico-node-windows", "stays cordoned"]);
}

#[test]
fn the_uncordon_while_the_api_server_is_away() {
    let mut world = World::small(limited());
    world.live_to(Step::Network);
    world.network_starts("12");
    world.answer_all();
    world.observe();
    while !world.is_over() {
        if world.pending.is_empty() {
            world.wait(60_000);
        } else {
            world.lose(0, false);
        }
    }
    ended(&world, &["was not uncordoned in time", "the connection was lost"]);
}

#[test]
fn the_pods() {
    let mut world = World::small(limited());
    world.live_to(Step::PodsBack);
    world.answer_all();
    world.observe();
    world.wait(10 * 60 * 1000);
    ended(&world, &["ReplicaSet win-demo/hello-win 0 of 2", "--resume"]);
    assert!(!world.node().unschedulable);
}

#[test]
fn resuming_gives_new_time_and_counts_from_where_the_step_began() {
    let mut world = World::small(limited());
    world.live_to(Step::Restart);
    world.coming.clear();
    world.wait(31 * 60 * 1000);
    ended(&world, &[]);
    world.kill();
    assert_eq!(world.state.step, Step::Restart);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    let line = world.lines();
    let changed = line
        .lines()
        .find(|line| line.contains("boot_id_changed"))
        .unwrap();
    let event: serde_json::Value = serde_json::from_str(changed).unwrap();
    assert!(event["seconds"].as_f64().unwrap() > 31.0 * 60.0, "{changed}");
    assert_eq!(world.sent(|effect| matches!(effect, Effect::Cordon(_))).len(), 1);
}
