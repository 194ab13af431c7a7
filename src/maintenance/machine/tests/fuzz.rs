//! Random interleavings: watches that lag and repeat, answers that are late or lost, other people, restarts of the node
//! and of the program. What must hold is asserted by [`super::oracle`].

use super::objects::{app, budget, name};
use super::world::{World, attended, headless};
use crate::domain::node::ConditionStatus;
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::input::{Command, Heard};
use crate::maintenance::options::{Options, Reboot};
use crate::maintenance::state::Step;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Act {
    // The executor.
    Answer(usize),
    Perform(usize),
    Lose(usize, bool),
    // The watches.
    Observe,
    ObserveLate(usize),
    ObserveMixed(usize, usize),
    Blind,
    // Time.
    Wait(u16),
    Live,
    // The node.
    Reboot,
    Network(bool),
    NetworkPodFlaps(usize),
    Ready(bool),
    NoBootId,
    // Pods and budgets.
    PodsGo,
    PodAppears,
    PodIsDeleted(usize),
    Budget(bool),
    Probes(usize),
    // The program and its operator.
    Kill,
    Press(usize),
    // Other people.
    Foreign(usize),
}

/// What can happen in a cluster in which nobody interferes.
fn friendly() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => (0..4_usize).prop_map(Act::Answer),
        3 => (0..4_usize).prop_map(Act::Perform),
        3 => (0..4_usize, any::<bool>()).prop_map(|(index, performed)| Act::Lose(index, performed)),
        8 => Just(Act::Observe),
        2 => (0..12_usize).prop_map(Act::ObserveLate),
        2 => (0..12_usize, 0..12_usize).prop_map(|(node, pods)| Act::ObserveMixed(node, pods)),
        1 => Just(Act::Blind),
        6 => (0..3000_u16).prop_map(Act::Wait),
        6 => Just(Act::Live),
        2 => Just(Act::Reboot),
        3 => any::<bool>().prop_map(Act::Network),
        1 => (0..4_usize).prop_map(Act::NetworkPodFlaps),
        2 => any::<bool>().prop_map(Act::Ready),
        1 => Just(Act::NoBootId),
        4 => Just(Act::PodsGo),
        1 => Just(Act::PodAppears),
        1 => (0..4_usize).prop_map(Act::PodIsDeleted),
        2 => any::<bool>().prop_map(Act::Budget),
        1 => (0..4_usize).prop_map(Act::Probes),
        1 => Just(Act::Kill),
    ]
}

fn anything() -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => friendly(),
        2 => (0..9_usize).prop_map(Act::Press),
        1 => (0..8_usize).prop_map(Act::Foreign),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let base = prop_oneof![Just(headless()), Just(attended())];
    (base, any::<[bool; 4]>()).prop_map(|(base, [command, same, gate, limit])| Options {
        reboot: command.then(|| Reboot::Command(vec!["restart".to_owned()])),
        accept_same_revision: same,
        no_network_gate: gate,
        drain_timeout: limit.then(|| std::time::Duration::from_mins(1)),
        ..base
    })
}

fn act(world: &mut World, act: Act) {
    let past = |world: &World, back: usize| {
        let index = world.history.len().saturating_sub(1 + back);
        world.history[index].clone()
    };
    match act {
        Act::Answer(index) => world.answer(index),
        Act::Perform(index) => world.perform(index),
        Act::Lose(index, performed) => world.lose(index, performed),
        Act::Observe => world.observe(),
        Act::ObserveLate(back) => {
            let late = past(world, back);
            world.show(late);
        }
        Act::ObserveMixed(node, pods) => {
            let mut mixed = past(world, pods);
            mixed.node = past(world, node).node;
            world.show(mixed);
        }
        Act::Blind => world.hear(Heard::Blind("the connection was refused".to_owned())),
        Act::Wait(milliseconds) => world.wait(milliseconds.into()),
        Act::Live => world.live(),
        Act::Reboot if world.node.is_some() => world.boot(),
        Act::Network(again) => {
            let boot_id = world
                .node
                .as_ref()
                .map(|node| node.boot_id.to_string())
                .unwrap_or_default();
            world.network_starts(&format!("{boot_id}{}", if again { "-again" } else { "" }));
        }
        Act::NetworkPodFlaps(index) => {
            let pods = world.pods.len();
            let pod = &mut world.pods[index % pods.max(1)];
            if pod.host_process {
                pod.containers[0].ready ^= true;
            }
            world.changed();
        }
        Act::Ready(ready) if world.node.is_some() => {
            world.ready(if ready {
                ConditionStatus::True
            } else {
                ConditionStatus::Unknown
            });
            world.changed();
        }
        Act::NoBootId => {
            // A kubelet that could not read it: only this once.
            let mut observation = world.observation();
            if let Some(node) = &mut observation.node {
                node.boot_id = name("");
            }
            world.show(observation);
        }
        Act::PodsGo => {
            world.pods.retain(|pod| pod.deleted_at.is_none());
            world.changed();
        }
        Act::PodAppears => {
            let number = 100 + u32::try_from(world.effects.len()).unwrap();
            world.pods.push(app("late", number));
            world.changed();
        }
        Act::PodIsDeleted(index) => {
            let at = world.at;
            let pods = world.pods.len();
            if let Some(pod) = world
                .pods
                .get_mut(index % pods.max(1))
                .filter(|pod| !pod.host_process)
            {
                pod.deleted_at.get_or_insert(at);
            }
            world.changed();
        }
        Act::Budget(open) => {
            world.budgets = vec![budget("hello-win", open.into())];
            world.changed();
        }
        Act::Probes(index) => {
            let pods = world.pods.len();
            if let Some(pod) = world.pods.get(index % pods.max(1)) {
                let pod = crate::maintenance::pods::PodRef::of(pod);
                world
                    .probes_time_out
                    .insert(pod.uid.clone(), (pod, "timed out".to_owned()));
            }
        }
        Act::Kill => world.kill(),
        Act::Press(index) => press(world, index),
        Act::Foreign(index) if world.node.is_some() => foreign(world, index),
        Act::Reboot | Act::Ready(_) | Act::Foreign(_) => {}
    }
}

fn press(world: &mut World, index: usize) {
    let first = world.probes_time_out.keys().next().cloned();
    let commands = [
        Command::Begin,
        Command::Begin,
        Command::RunRebootCommand,
        Command::AcceptSameRevision,
        Command::FinishWithoutRestart,
        Command::Recreate(first.unwrap_or_else(|| name("none"))),
        Command::StopWaiting,
        Command::Abandon,
    ];
    if let Some(command) = commands.get(index) {
        world.press(command.clone());
    }
}

fn foreign(world: &mut World, index: usize) {
    match index {
        0 => world.node().unschedulable = false,
        1 => {
            world.node().unschedulable = true;
            world.cordoned_by = "kubectl-cordon";
        }
        2 => world.node().maintenance = None,
        3 if world.record_is_there() => world.take_over(),
        4 => {
            world.node().uid = name("node-uid-2");
            world.node().maintenance = None;
        }
        5 => world.node = None,
        6 => world.renewal_fails(),
        _ => world.lease = Some("grace@ws2".to_owned()),
    }
    world.changed();
}

fn each_step_once(world: &World) {
    let count = |event: &str| world.events().iter().filter(|one| *one == event).count();
    for once in [
        "cordoned",
        "drained",
        "awaiting_reboot",
        "uncordoned",
        "left_cordoned",
        "pods_ready",
        "done",
    ] {
        assert!(count(once) <= 1, "{once} {} times", count(once));
    }
    let commands = world.sent(|effect| *effect == Effect::RunRebootCommand).len();
    let by_itself = usize::from(world.options.yes);
    assert!(
        commands <= by_itself + world.commands,
        "{commands} reboot commands"
    );
    let mut gone: Vec<_> = world
        .journal
        .iter()
        .filter_map(|event| match &event.what {
            Happening::Evicted { pod, .. } => Some(&pod.uid),
            _ => None,
        })
        .collect();
    let all = gone.len();
    gone.sort();
    gone.dedup();
    assert_eq!(gone.len(), all, "a pod is gone once");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn whatever_happens(options in options(), was_cordoned in any::<bool>(), acts in prop::collection::vec(anything(), 20..160)) {
        let mut world = World::small(options);
        world.node().unschedulable = was_cordoned;
        world.changed();
        for one in acts {
            act(&mut world, one);
        }
        each_step_once(&world);
    }

    #[test]
    fn where_nobody_interferes_it_ends_well(command in any::<bool>(), acts in prop::collection::vec(friendly(), 20..120)) {
        let options = Options {
            reboot: command.then(|| Reboot::Command(vec!["restart".to_owned()])),
            accept_same_revision: true,
            restart_timeout: std::time::Duration::from_hours(10),
            pods_timeout: std::time::Duration::from_hours(10),
            ..headless()
        };
        let mut world = World::small(options);
        for one in acts {
            act(&mut world, one);
        }
        each_step_once(&world);
        world.ready(ConditionStatus::True);
        world.probes_time_out.clear();
        for round in 0..600 {
            if world.is_over() {
                break;
            }
            if world.state.step == Step::Restart && round > 5 {
                world.begin_restart();
            }
            if round % 60 == 59 && world.state.step >= Step::Network {
                world.network_starts(&format!("end{round}"));
            }
            world.live();
        }
        prop_assert!(world.is_over(), "{:?}: {}", world.state.step, world.state.waiting_for);
        each_step_once(&world);
        if let Some((ending, reason)) = &world.state.ending {
            prop_assert_eq!(*ending, Ending::Done, "{}", reason);
        }
        let node = world.node.as_ref().unwrap();
        prop_assert!(!node.unschedulable && node.maintenance.is_none());
        for step in ["cordoned", "drained", "boot_id_changed", "revision", "network_ready", "uncordoned", "pods_ready"] {
            prop_assert!(world.told(step), "{} is missing: {:?}", step, world.events());
        }
    }
}
