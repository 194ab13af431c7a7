//! The article's session, and the same with everything that a friendly cluster may vary.

use super::objects::{self, app, budget, daemon, name};
use super::world::{NEW, World, attended, headless};
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::input::Command;
use crate::maintenance::options::Options;
use crate::maintenance::state::{Question, Step};

#[test]
fn the_articles_session() {
    let mut world = World::new(headless());
    world.live_until(World::is_over);

    assert_eq!(world.ending().0, Ending::Done);
    let events = world.events();
    let steps: Vec<&str> = events
        .iter()
        .map(String::as_str)
        .filter(|one| !one.starts_with("evict"))
        .collect();
    assert_eq!(
        steps,
        [
            "preflight",
            "cordoned",
            "drained",
            "awaiting_reboot",
            "boot_id_changed",
            "revision",
            "network_ready",
            "uncordoned",
            "pods_ready",
            "done"
        ]
    );
    assert_eq!(events.iter().filter(|one| *one == "evicting").count(), 7);
    assert_eq!(events.iter().filter(|one| *one == "evicted").count(), 7);
    let lines = world.lines();
    assert!(
        lines.contains(r#""event":"preflight","leaving":7,"staying":5"#),
        "{lines}"
    );
    assert!(lines.contains(r#""event":"drained","pods":7"#), "{lines}");
    assert!(lines.contains(r#""before":"11","after":"12""#), "{lines}");
    assert!(
        lines.contains(r#""before":"10.0.26100.33438","after":"10.0.26100.33674","grown":true"#),
        "{lines}"
    );
    assert!(
        lines.contains(r#""event":"uncordoned","after_milliseconds":0"#),
        "{lines}"
    );
    assert!(
        lines.contains(r#""event":"pods_ready","ready":7,"before":7"#),
        "{lines}"
    );
    let node = world.node.as_ref().unwrap();
    assert!(!node.unschedulable && node.maintenance.is_none() && world.lease.is_none());
}

#[test]
fn the_operator_decides_to_begin_and_nothing_is_touched_before() {
    let mut world = World::new(attended());
    world.answer_all();
    assert_eq!(world.state.question, Some(Question::Begin));
    assert_eq!(world.effects.len(), 1, "only the survey: {:?}", world.effects);
    world.press(Command::Begin);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn nobody_to_confirm_and_no_yes_is_a_refusal() {
    let mut world = World::new(Options::default());
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Refused);
    assert!(world.ending().1.contains("--yes"));
}

#[test]
fn a_budget_that_lets_one_go_at_a_time_makes_the_drain_slower_and_no_more() {
    let mut world = World::new(headless());
    world.budgets = vec![budget("hello-win", 1)];
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert!(world.told("blocked"), "{:?}", world.events());
}

#[test]
fn a_linux_node_has_no_revision_to_ask_for() {
    let mut world = World::small(headless());
    let node = world.node();
    node.kernel_version = name("6.8.0-45-generic");
    node.boot_id = name("1c9f1b1e-7a3e-4f0a-9f57-2f6f0f8f6c11");
    world.next_kernel = "6.8.0-45-generic";
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_node_without_pods_to_move_is_drained_at_once() {
    let pods = vec![daemon("calico-system", "calico-node-windows", 2, "11")];
    let mut world = World::with_pods(headless(), pods);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert!(
        world
            .lines()
            .contains(r#""event":"pods_ready","ready":0,"before":0"#)
    );
}

#[test]
fn an_update_without_restart_is_finished_knowingly() {
    let options = Options {
        no_restart: true,
        ..headless()
    };
    let mut world = World::small(options);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert!(!world.told("boot_id_changed") && world.lines().contains("without a restart, knowingly"));
}

#[test]
fn finishing_without_restart_goes_on_although_the_network_pods_are_the_old_ones() {
    let mut world = World::small(attended());
    world.answer_all();
    world.press(Command::Begin);
    world.live_to(Step::Restart);
    world.coming.clear();
    world.press(Command::FinishWithoutRestart);
    // The answer is lost, and the watch shows the node as it was.
    let index = world
        .index(|effect| matches!(effect, Effect::Uncordon { .. }))
        .unwrap();
    world.lose(index, false);
    world.observe();
    assert_eq!(world.state.step, Step::Uncordon);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn the_preflight_counts_pods_that_must_not_go_and_the_drain_stops_at_them() {
    let mut alone = objects::pod("win-demo", "alone", "uid-alone", None);
    alone.empty_dir = true;
    let pods = vec![
        app("hello-win", 1),
        alone,
        daemon("kube-system", "kube-proxy-windows", 1, "11"),
    ];
    let mut world = World::with_pods(headless(), pods);
    world.live_until(World::is_over);
    let (ending, reason) = world.ending();
    assert_eq!(ending, Ending::Refused);
    assert!(
        reason.contains("win-demo/alone") && reason.contains("--delete-emptydir-data"),
        "{reason}"
    );
    assert_eq!(world.evictions_of("alone").len(), 0);
}

#[test]
fn two_restarts_in_a_row_are_two_boots_and_the_network_of_the_first_proves_nothing() {
    let mut world = World::small(headless());
    world.live_to(Step::Network);
    world.boot();
    world.next_kernel = NEW;
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert_eq!(
        world.happened(|one| matches!(one, Happening::BootIdChanged { .. })),
        2
    );
    assert_eq!(world.happened(|one| matches!(one, Happening::Revision { .. })), 2);
}
