//! The API server goes away and comes back.

use super::world::{World, headless};
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::input::Heard;
use crate::maintenance::state::Step;

const REFUSED: &str = "cannot watch nodes: connection refused";

/// What was told of the API server: in which step it was lost and why, or regained after how many seconds.
fn told(world: &World) -> Vec<String> {
    world
        .journal
        .iter()
        .filter_map(|event| match &event.what {
            Happening::ApiLost { step, cause } => Some(format!("{} lost: {cause}", step.title())),
            Happening::ApiRegained { step, seconds } => {
                Some(format!("{} back: {seconds:.0} s", step.title()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn in_every_step_it_is_told_once_that_it_is_lost_and_once_that_it_is_back() {
    for step in [Step::Drain, Step::Restart, Step::Network, Step::PodsBack] {
        let mut world = World::small(headless());
        world.live_to(step);
        let title = step.title();
        for _ in 0..3 {
            world.hear(Heard::Blind(REFUSED.to_owned()));
            world.wait(20_000);
        }
        let lost = format!("{title} lost: {REFUSED}");
        assert_eq!(told(&world), [lost.as_str()], "{step:?}");
        assert_eq!(world.state.waiting_for, format!("the API server: {REFUSED}"));
        world.live();
        assert_eq!(told(&world)[..1], [lost.as_str()], "{step:?}");
        assert!(
            told(&world)[1].ends_with(" s") && told(&world).len() == 2,
            "{:?}",
            told(&world)
        );
        world.live_until(World::is_over);
        assert_eq!(world.ending().0, Ending::Done, "{step:?}");
        assert_eq!(told(&world).len(), 2, "{step:?}");
    }
}

#[test]
fn a_preflight_that_it_did_not_answer_is_made_again() {
    let mut world = World::small(headless());
    for _ in 0..3 {
        world.lose(0, false);
        world.wait(1000);
    }
    assert_eq!(told(&world), ["Preflight lost: the connection was lost"]);
    assert!(!world.told("preflight"));
    world.answer(0);
    assert_eq!(told(&world)[1..], ["Cordon back: 3 s"]);
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_cordon_that_it_did_not_answer_is_sent_again() {
    let mut world = World::small(headless());
    world.answer(0);
    assert_eq!(world.state.step, Step::Cordon);
    world.lose(0, false);
    assert_eq!(told(&world), ["Cordon lost: the connection was lost"]);
    world.live_until(World::is_over);
    assert_eq!(told(&world).len(), 2);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_node_that_restarts_again_is_no_lost_api_server() {
    let mut world = World::small(headless());
    world.live_to(Step::Network);
    world.network_starts("12");
    world.answer_all_but(|effect| matches!(effect, Effect::Uncordon { .. }));
    world.observe();
    assert_eq!(world.state.step, Step::Uncordon);
    world.boot();
    world.answer_all();
    world.network_starts("13");
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert_eq!(told(&world), Vec::<String>::new());
}
