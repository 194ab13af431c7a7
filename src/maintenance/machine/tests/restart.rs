//! The restart, its command, and the gates after it.

use super::objects::{daemon, name};
use super::world::{OLD, World, attended, headless};
use crate::domain::node::ConditionStatus;
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::input::{Command, Heard};
use crate::maintenance::options::{Options, Reboot};
use crate::maintenance::state::{Question, Step};

fn with_command() -> Options {
    Options {
        reboot: Some(Reboot::Command(vec![
            "ssh".to_owned(),
            "{node}".to_owned(),
            "restart".to_owned(),
        ])),
        ..headless()
    }
}

fn commands(world: &World) -> usize {
    world.sent(|effect| *effect == Effect::RunRebootCommand).len()
}

/// In the restart, nothing has happened yet.
fn awaiting(options: Options) -> World {
    let mut world = World::small(options);
    let asks = world.options.attended;
    world.live_until(|world| world.state.step == Step::Restart || (asks && world.state.question.is_some()));
    if asks {
        world.press(Command::Begin);
        world.live_to(Step::Restart);
    }
    world.coming.clear();
    world
}

/// Until the reboot command is to be started: its record is on the way.
fn starting() -> World {
    let mut world = World::small(with_command());
    let reboot = |effect: &Effect| matches!(effect, Effect::Save(record) if record.reboot_started);
    while world.index(reboot).is_none() {
        world.answer_all_but(reboot);
        world.settle();
        world.observe();
        world.wait(100);
    }
    world
}

#[test]
fn the_reboot_command_is_started_when_its_start_is_on_record() {
    let mut world = starting();
    assert_eq!(commands(&world), 0);
    world.lose(0, false);
    world.wait(1000);
    assert_eq!(commands(&world), 0, "its record was lost");
    world.answer(0);
    assert_eq!(commands(&world), 1);
    assert!(world.record().reboot_started);
}

#[test]
fn killed_before_the_reboot_command_is_on_record_it_is_started_by_the_next_run() {
    let mut world = starting();
    world.kill();
    world.live_until(World::is_over);
    assert_eq!((commands(&world), world.ending().0), (1, Ending::Done));
}

#[test]
fn killed_after_the_reboot_command_is_on_record_it_is_not_started_again() {
    let mut world = starting();
    world.perform(0);
    world.kill();
    world.answer_all();
    world.wait(60_000);
    assert_eq!(commands(&world), 0);
    assert!(
        world.state.waiting_for.contains("is not started again by itself"),
        "{}",
        world.state.waiting_for
    );
}

#[test]
fn the_operator_may_start_the_reboot_command_but_not_twice_at_once() {
    let mut world = awaiting(Options {
        reboot: with_command().reboot,
        ..attended()
    });
    world.press(Command::RunRebootCommand);
    world.press(Command::RunRebootCommand);
    world.answer(0);
    world.press(Command::RunRebootCommand);
    assert_eq!(commands(&world), 1);
    world.hear(Heard::Answered(Answer::RebootCommand(Ok(1))));
    assert_eq!(
        world.state.step,
        Step::Restart,
        "the operator decides what that means"
    );
    assert!(world.lines().contains("ended with 1"));
}

#[test]
fn a_failing_reboot_command_is_obeyed_and_a_lost_ssh_is_not() {
    let mut world = starting();
    world.answer(0);
    world.hear(Heard::Answered(Answer::RebootCommand(Ok(255))));
    assert_eq!(world.state.step, Step::Restart);
    let mut world = starting();
    world.answer(0);
    world.hear(Heard::Answered(Answer::RebootCommand(Ok(3))));
    assert_eq!(world.ending().0, Ending::Refused);
    assert!(world.ending().1.contains("ended with 3"));
}

#[test]
fn where_nothing_was_started_the_next_run_may_start_it() {
    let mut world = starting();
    world.answer(0);
    let why = "RebootRequired is not set".to_owned();
    world.hear(Heard::Answered(Answer::RebootCommand(Err(why))));
    assert_eq!(world.ending().0, Ending::Refused);
    assert!(
        world
            .ending()
            .1
            .contains("was not restarted: RebootRequired is not set"),
        "{}",
        world.ending().1
    );
    world.answer_all();
    assert!(!world.record().reboot_started);
}

#[test]
fn ready_is_no_proof() {
    let mut world = awaiting(headless());
    for _ in 0..100 {
        world.observe();
        world.wait(1000);
    }
    assert_eq!(world.state.step, Step::Restart);
}

#[test]
fn the_same_revision_is_asked_about_and_the_time_of_the_decision_is_not_the_nodes() {
    let mut world = awaiting(attended());
    world.next_kernel = OLD;
    world.boot();
    world.look();
    assert_eq!(world.state.question, Some(Question::SameRevision));
    world.wait(3 * 60 * 60 * 1000);
    world.press(Command::AcceptSameRevision);
    assert_eq!(world.state.step, Step::Network);
    world.network_starts("12");
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn the_same_revision_ends_it_headless_unless_accepted() {
    let mut world = awaiting(headless());
    world.next_kernel = OLD;
    world.boot();
    world.look();
    assert_eq!(world.ending().0, Ending::NotUpdated);
    assert!(world.node().unschedulable && world.ending().1.contains("--accept-same-revision"));

    let mut world = awaiting(Options {
        accept_same_revision: true,
        ..headless()
    });
    world.next_kernel = OLD;
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_second_boot_answers_the_question_about_the_first() {
    let mut world = awaiting(attended());
    world.next_kernel = OLD;
    world.boot();
    world.look();
    world.next_kernel = super::world::NEW;
    world.boot();
    world.look();
    assert_eq!((world.state.question, world.state.step), (None, Step::Network));
}

#[test]
fn an_older_boot_that_a_late_watch_shows_is_not_another_restart() {
    let mut world = awaiting(headless());
    let before = world.observation();
    world.boot();
    world.look();
    let first = world.observation();
    world.boot();
    world.look();
    world.show(first);
    world.show(before);
    assert_eq!(
        world.happened(|one| matches!(one, Happening::BootIdChanged { .. })),
        2
    );
    assert_eq!(world.state.boot_id, Some(name("13")));
}

#[test]
fn a_boot_that_a_late_watch_shows_after_the_next_one_is_not_believed() {
    let mut world = awaiting(headless());
    world.boot();
    let missed = world.observation();
    world.boot();
    world.look();
    world.show(missed);
    assert!(
        world.index(|effect| *effect == Effect::ListPods).is_some(),
        "it asks"
    );
    world.answer_all();
    assert_eq!(world.state.boot_id, Some(name("13")));
    world.network_starts("13");
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn after_a_second_boot_the_containers_of_the_first_are_old_even_for_another_run() {
    let mut world = awaiting(headless());
    world.boot();
    world.network_starts("12");
    world.pod("kube-proxy-windows-x").containers[0].ready = false;
    world.look();
    // While the program is down, the node restarts once more, and still shows the containers of the boot before.
    world.boot();
    world.network_pods_ready();
    world.kill();
    world.look();
    assert_eq!(world.state.step, Step::Network);
    world.network_starts("13");
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn network_pods_that_come_late_are_waited_for_by_name() {
    let mut world = awaiting(headless());
    world.boot();
    world.look();
    let waiting = world.state.waiting_for.clone();
    assert!(
        waiting.contains("calico-system/calico-node-windows-x (0 of 2 containers new and ready)"),
        "{waiting}"
    );
    world.network_starts("12");
    world.pod("calico-node-windows-x").containers[1].ready = false;
    world.observe();
    assert!(
        world
            .state
            .waiting_for
            .contains("(1 of 2 containers new and ready)")
    );
    assert_eq!(world.uncordons(), 0);
}

#[test]
fn a_network_pod_that_is_missing_or_leaving_is_waited_for() {
    let mut world = awaiting(headless());
    world.boot();
    world.network_starts("12");
    let calico = world.pod("calico-node-windows-x").clone();
    world.pods.retain(|pod| pod.uid != calico.uid);
    world.look();
    assert!(
        world.state.waiting_for.contains("calico-node-windows (no pod)"),
        "{}",
        world.state.waiting_for
    );
    let mut leaving = calico;
    leaving.deleted_at = Some(world.at);
    world.pods.push(leaving);
    world.observe();
    assert_eq!(world.state.step, Step::Network);
}

#[test]
fn a_node_without_network_pods_needs_a_word_of_the_operator() {
    let nothing = |options: Options| {
        let mut world = World::with_pods(options, vec![daemon("monitoring", "alloy-windows", 1, "11")]);
        world.live_until(|world| world.told("awaiting_reboot"));
        world.coming.clear();
        world.boot();
        world.look();
        world
    };
    let world = nothing(headless());
    assert_eq!(world.ending().0, Ending::Refused);
    assert!(world.ending().1.contains("--network-selector"));
    let mut world = nothing(Options {
        no_network_gate: true,
        ..headless()
    });
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
}

#[test]
fn a_node_that_is_not_ready_is_waited_for() {
    let mut world = awaiting(headless());
    world.boot();
    world.network_starts("12");
    world.ready(ConditionStatus::False);
    world.look();
    assert_eq!(world.state.waiting_for, "the node to be Ready");
    world.ready(ConditionStatus::True);
    world.observe();
    assert_eq!(world.state.step, Step::Uncordon);
}

#[test]
fn no_version_is_no_revision_yet() {
    let mut world = awaiting(headless());
    world.next_kernel = "";
    world.boot();
    world.look();
    assert_eq!(world.state.step, Step::Revision);
    world.node().kernel_version = name(super::world::NEW);
    world.observe();
    assert_eq!(world.state.step, Step::Network);
}

#[test]
fn containers_that_the_watch_of_the_pods_showed_before_the_boot_are_believed_after_two_minutes() {
    let mut world = awaiting(headless());
    // The watch of the nodes is later than that of the pods.
    world.network_starts("12");
    world.observe();
    world.boot();
    world.look();
    assert!(world.state.waiting_for.contains("0 of 2 containers new"));
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    let uncordoned = world.sent(|effect| matches!(effect, Effect::Uncordon { .. }))[0];
    assert!(
        (uncordoned - world.state.times[3].from).num_seconds() >= 120,
        "{:?}",
        world.state.times
    );
}
