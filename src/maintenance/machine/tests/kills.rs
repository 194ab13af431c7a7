//! The program is killed at every instant, and goes on from the record on the node.

use super::world::{World, headless};
use crate::maintenance::effect::Effect;
use crate::maintenance::options::{Options, Reboot};

fn with_command() -> Options {
    Options {
        reboot: Some(Reboot::Command(vec!["restart".to_owned()])),
        ..headless()
    }
}

/// Everything ends as without the kill, and each step is told once.
fn ends_well(world: &World, when: &str) {
    let node = world.node.as_ref().unwrap();
    assert!(!node.unschedulable && node.maintenance.is_none(), "{when}");
    assert_eq!(node.proven_boot.as_ref(), Some(&node.boot_id), "{when}");
    let events = world.events();
    let count = |name: &str| events.iter().filter(|one| *one == name).count();
    for once in [
        "cordoned",
        "drained",
        "awaiting_reboot",
        "boot_id_changed",
        "revision",
        "network_ready",
        "uncordoned",
        "pods_ready",
    ] {
        assert_eq!(count(once), 1, "{once}, {when}: {events:?}");
    }
    assert_eq!(
        (count("evicting"), count("evicted")),
        (2, 2),
        "{when}: {events:?}"
    );
    assert!(count("done") <= 1, "{when}");
    let commands = world.sent(|effect| *effect == Effect::RunRebootCommand).len();
    assert!(commands <= 1, "{when}: {commands} reboots");
}

/// Runs a maintenance, and kills the program just before its `nth` input, after all that was asked is `performed` or
/// nothing of it.
fn killed_at(nth: usize, performed: bool, options: Options) -> Option<World> {
    let mut world = World::small(options);
    let mut inputs = 0;
    for _ in 0..4000 {
        let more = !world.pending.is_empty();
        if inputs == nth {
            if performed {
                (0..world.pending.len())
                    .rev()
                    .for_each(|index| world.perform(index));
            }
            world.kill();
            // If the command died with the program before it did anything, the operator restarts the node.
            if world.options.reboot.is_some() && world.record_is_there() && world.record().reboot_started {
                world.begin_restart();
            }
        }
        inputs += 1;
        if world.is_over() {
            return (inputs > nth).then_some(world);
        }
        if more && !world.pending.is_empty() {
            world.answer(0);
        } else {
            world.live();
        }
    }
    panic!(
        "killed at {nth}, it never ends: {:?}, {}",
        world.state.step, world.state.waiting_for
    );
}

#[test]
fn at_every_instant() {
    for performed in [false, true] {
        for (options, what) in [(headless(), "by hand"), (with_command(), "by command")] {
            let mut nth = 0;
            while let Some(world) = killed_at(nth, performed, options.clone()) {
                ends_well(
                    &world,
                    &format!("killed before input {nth}, performed {performed}, {what}"),
                );
                nth += 1;
            }
            assert!(nth > 30, "{nth}");
        }
    }
}
