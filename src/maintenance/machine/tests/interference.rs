//! Other people's hands.

use super::world::{World, headless};
use crate::maintenance::effect::Effect;
use crate::maintenance::event::Ending;
use crate::maintenance::state::Step;

/// Draining, its annotation seen, everything answered.
fn at(step: Step) -> World {
    let mut world = World::small(headless());
    world.live_to(step);
    world.coming.clear();
    world.answer_all();
    world.observe();
    world
}

fn ends(world: &mut World, ending: Ending, words: &str) {
    world.observe();
    world.answer_all();
    let (how, reason) = world.ending();
    assert_eq!(how, ending, "{reason}");
    assert!(reason.contains(words), "{reason}");
    assert_eq!(world.uncordons(), 0);
}

#[test]
fn somebody_uncordons_the_node() {
    for step in [Step::Drain, Step::Restart, Step::Network] {
        let mut world = at(step);
        world.node().unschedulable = false;
        ends(
            &mut world,
            Ending::Aborted,
            "somebody uncordoned node k8s-lab-win-1",
        );
        assert!(!world.node().unschedulable, "left as it is");
    }
}

#[test]
fn somebody_takes_the_maintenance_over() {
    let mut world = at(Step::Restart);
    world.take_over();
    ends(
        &mut world,
        Ending::Aborted,
        "grace@ws2 took node k8s-lab-win-1 over",
    );
}

#[test]
fn somebody_takes_the_lease_of_the_pool_over() {
    for (step, left) in [
        (Step::Drain, "stays cordoned and half drained"),
        (Step::Restart, "stays cordoned and drained"),
        (Step::Network, "stays cordoned and drained"),
    ] {
        let mut world = at(step);
        world.renewal_fails();
        let (how, reason) = world.ending();
        assert_eq!(how, Ending::Aborted, "{reason}");
        assert!(
            reason.contains("grace@ws2 took the pool's Lease over"),
            "{reason}"
        );
        assert!(reason.contains(left), "{reason}");
        assert!(world.record_is_there(), "it can be resumed");
        assert_eq!(world.uncordons(), 0);
    }
    // The node is back at work: what is left needs no Lease.
    let mut world = at(Step::PodsBack);
    world.renewal_fails();
    assert!(!world.is_over());
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn somebody_abandons_it_from_elsewhere() {
    let mut world = at(Step::Restart);
    world.node().maintenance = None;
    ends(
        &mut world,
        Ending::Aborted,
        "the annotation of node k8s-lab-win-1 is gone",
    );
}

#[test]
fn the_node_is_deleted_and_joins_again() {
    let mut world = at(Step::Restart);
    world.node().uid = "node-uid-2".into();
    world.node().unschedulable = false;
    world.node().maintenance = None;
    world.boot();
    world.network_starts("12");
    ends(&mut world, Ending::Refused, "it is another node now");
}

#[test]
fn the_node_is_deleted() {
    let mut world = at(Step::Drain);
    world.node = None;
    ends(&mut world, Ending::Aborted, "is not there any more");
}

#[test]
fn somebody_else_cordoned_meanwhile_so_the_uncordon_is_refused() {
    let mut world = at(Step::Network);
    world.cordoned_by = "kubectl-cordon";
    world.network_starts("12");
    world.observe();
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Refused);
    assert!(world.node().unschedulable);
}

#[test]
fn the_lease_of_the_pool_is_held_by_somebody_else() {
    let mut world = World::small(headless());
    world.lease = Some("grace@ws2 (m-2, k8s-lab-win-2)".to_owned());
    world.answer_all();
    let (ending, reason) = world.ending();
    assert_eq!(ending, Ending::Refused);
    assert!(
        reason.contains("grace@ws2") && reason.contains("--take-over"),
        "{reason}"
    );
    let node = world.node.as_ref().unwrap();
    assert!(!node.unschedulable && node.maintenance.is_none() && world.lease.is_some());
}

#[test]
fn a_resumed_maintenance_takes_the_lease_again_before_it_changes_anything() {
    let mut world = at(Step::Drain);
    world.lease = Some("grace@ws2 (m-2, k8s-lab-win-2)".to_owned());
    let before = world.effects.len();
    world.kill();
    world.answer_all();
    assert_eq!(world.ending().0, Ending::Refused);
    let since = world.effects[before..].iter().map(|(_, effect)| effect);
    let changes = since.filter(|effect| !matches!(effect, Effect::ListPods | Effect::Lock));
    assert_eq!(changes.count(), 0);
    assert!(world.node().maintenance.is_some(), "it can be resumed");
}

#[test]
fn a_watch_that_goes_back_in_time_is_checked_and_not_believed() {
    let mut world = at(Step::Restart);
    let before = world.history[0].clone();
    assert!(before.node.as_ref().unwrap().maintenance.is_none());
    world.show(before);
    assert!(
        world.index(|effect| *effect == Effect::ListPods).is_some(),
        "it asks"
    );
    world.answer_all();
    assert_eq!(world.state.step, Step::Restart);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn nothing_is_changed_while_it_is_in_doubt() {
    let mut world = at(Step::Network);
    let before = world.history[0].clone();
    world.show(before);
    world.network_starts("12");
    world.observe();
    assert_eq!(world.uncordons(), 0);
    world.lose(0, false);
    world.wait(500);
    assert_eq!(world.uncordons(), 0);
    world.wait(500);
    world.answer_all();
    world.observe();
    assert_eq!(world.uncordons(), 1);
}
