//! Public reports on drains and on the network after a reboot, as far as this machine speaks about them.

use super::objects::{app, budget, daemon, name};
use super::world::{World, headless};
use crate::domain::node::ConditionStatus;
use crate::maintenance::effect::Effect;
use crate::maintenance::event::{Ending, Happening};
use crate::maintenance::input::Command;
use crate::maintenance::options::Options;
use crate::maintenance::pods::PodRef;
use crate::maintenance::state::Step;
use std::time::Duration;

fn after_the_boot() -> World {
    let mut world = World::small(headless());
    world.live_to(Step::Restart);
    world.answer_all();
    world.coming.clear();
    world.boot();
    world.look();
    world
}

/// tigera/operator#3193, calico#8397, calico#5828: pods started before the network pods have no network.
#[test]
fn pods_do_not_start_before_the_network_pods() {
    let mut world = after_the_boot();
    for _ in 0..27 {
        world.observe();
        world.wait(1000);
        world.answer_all();
        assert!(world.node().unschedulable, "Ready, but Calico is not back");
    }
    world.network_starts("12");
    world.observe();
    assert_eq!(world.uncordons(), 1);
}

/// tigera/operator#3193, rke2#8174: a pod without network all the same is recognised by its probes and offered anew.
#[test]
fn a_pod_whose_probes_hang_is_offered_for_recreation() {
    let mut world = World::small(headless());
    world.live_to(Step::PodsBack);
    world.answer_all();
    let mut pod = app("hello-win", 11);
    (pod.ready, pod.restarts) = (0, 6);
    let reference = PodRef::of(&pod);
    world.pods.push(pod);
    let probe =
        "Startup probe failed: context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    world
        .probes_time_out
        .insert(reference.uid.clone(), (reference.clone(), probe.to_owned()));
    world.observe();
    assert_eq!(world.state.without_network[&reference.uid].1, probe);
    world.press(Command::Recreate(reference.uid));
    assert_eq!(world.evictions_of("hello-win-11").len(), 1);
}

/// calico#6974: Terminating for days, `FailedKillPod` with hcnDeleteNamespace.
#[test]
fn stuck_pods_need_a_restart_of_the_node() {
    let mut world = World::small(Options {
        drain_timeout: Some(Duration::from_mins(5)),
        ..headless()
    });
    let said = "hcnDeleteNamespace failed in Win32: The specified request is unsupported. (0x803b0015)";
    for number in [1, 2] {
        world.pod(&format!("hello-win-{number}")).deleted_at = Some(super::world::time(-9 * 86_400));
        world
            .unkillable
            .insert(name(&format!("uid-hello-win-{number}")), said.to_owned());
    }
    world.answer_all();
    world.observe();
    let told = |one: &Happening| {
        matches!(one, Happening::Blocked { reason, .. }
            if reason.contains("0x803b0015") && reason.contains("only cleans the API, restart the node"))
    };
    assert_eq!(world.happened(told), 2);
    world.wait(301_000);
    assert!(world.ending().1.contains("0x803b0015"));
}

/// calico#6974: with the option of kubectl, such pods are not waited for, and the restart cleans them up.
#[test]
fn long_deleted_pods_need_not_be_waited_for() {
    let mut world = World::small(Options {
        skip_wait_for_delete: Some(Duration::from_mins(1)),
        ..headless()
    });
    for number in [1, 2] {
        world.pod(&format!("hello-win-{number}")).deleted_at = Some(super::world::time(-9 * 86_400));
    }
    world.answer_all();
    assert!(world.told("drained"));
}

/// calico#5164: HNS is restarted, so the network containers start anew while the node waits for its restart. They are as
/// old as the boot that they started in.
#[test]
fn network_pods_that_restart_before_the_boot_prove_nothing() {
    let mut world = World::small(headless());
    world.live_to(Step::Restart);
    world.coming.clear();
    world.network_starts("11b");
    world.observe();
    world.answer_all();
    world.boot();
    world.look();
    assert!(
        world.state.waiting_for.contains("0 of 2 containers new"),
        "{}",
        world.state.waiting_for
    );
    assert_eq!(world.uncordons(), 0);
}

/// calico#11840: after the reboot the node has no network at all; in the API nothing changes but Ready.
#[test]
fn a_node_that_stays_away_is_looked_at_on_its_console() {
    let mut world = World::small(headless());
    world.live_to(Step::Restart);
    world.coming.clear();
    world.ready(ConditionStatus::Unknown);
    world.observe();
    world.wait(30 * 60 * 1000);
    let (ending, reason) = world.ending();
    assert_eq!(ending, Ending::TimedOut);
    assert!(reason.contains("look at its console"), "{reason}");
}

/// azure-container-networking#283: the HNS network is missing, the node stays not ready under its new boot id.
#[test]
fn a_node_that_is_back_but_not_ready_stays_cordoned() {
    let mut world = after_the_boot();
    world.ready(ConditionStatus::False);
    world.network_starts("12");
    world.observe();
    assert_eq!(world.state.waiting_for, "the node to be Ready");
    world.wait(30 * 60 * 1000);
    assert!(world.ending().1.contains("the node to be Ready"));
    assert!(world.node().unschedulable);
}

/// AKS#2114: the replacement still pulls its image, the budget blocks, and the time ends. Whoever blocks is named.
#[test]
fn a_drain_that_runs_out_of_time_names_what_blocks() {
    let mut world = World::small(Options {
        drain_timeout: Some(Duration::from_mins(10)),
        ..headless()
    });
    world.budgets = vec![budget("hello-win", 1)];
    world.answer_all();
    // One has left; the other waits for a replacement that is not ready in time.
    world.pods.retain(|pod| pod.deleted_at.is_none());
    world.observe();
    for _ in 0..10 {
        world.wait(60_000);
        world.answer_all();
    }
    let (ending, reason) = world.ending();
    assert_eq!(ending, Ending::Blocked);
    assert!(
        reason.contains("hello-win-2 (Cannot evict pod") && !reason.contains("hello-win-1"),
        "{reason}"
    );
}

/// AKS#3384: 429 "blocked by pdb" is not an error; the pod is named and goes when the budget opens.
#[test]
fn a_blocked_eviction_is_told_and_goes_on() {
    let mut world = World::small(headless());
    world.budgets = vec![budget("hello-win", 0)];
    world.answer_all();
    assert_eq!(world.happened(|one| matches!(one, Happening::Blocked { .. })), 2);
    world.live_to(Step::Restart);
}

/// AKS#1293: the maintenance of a node is not over before its pods are ready again; the Lease is held until then.
#[test]
fn the_next_node_waits_until_the_pods_of_this_one_are_ready() {
    let mut world = World::small(headless());
    world.live_to(Step::PodsBack);
    world.answer_all();
    world.observe();
    assert!(!world.is_over() && world.lease.is_some() && world.node().maintenance.is_some());
    world.live_until(World::is_over);
    assert!(world.lease.is_none());
}

/// cluster-api#1870, kubernetes#85577: evictions on an unreachable node are accepted, and nothing ever goes.
#[test]
fn accepted_evictions_on_a_silent_node_are_not_a_drain() {
    let mut world = World::small(headless());
    world.ready(ConditionStatus::Unknown);
    world.answer_all();
    world.observe();
    for _ in 0..20 {
        world.wait(60_000);
        world.answer_all();
        world.observe();
    }
    assert!(!world.told("drained"));
    assert!(world.lines().contains("--skip-wait-for-delete-timeout"));
    assert_eq!(
        world.evictions_of("hello-win-1").len(),
        1,
        "one that was accepted is not sent again"
    );
}

/// kured#63: Ready,SchedulingDisabled after the reboot. Another run picks it up from the record on the node.
#[test]
fn a_node_left_cordoned_after_its_reboot_is_finished_by_another_run() {
    let mut world = World::small(headless());
    world.live_to(Step::Restart);
    world.answer_all();
    world.coming.clear();
    world.boot();
    world.network_starts("12");
    world.kill();
    world.live_until(World::is_over);
    assert_eq!(world.ending().0, Ending::Done);
    assert!(!world.node().unschedulable);
}

/// nodewright#534: drained means gone, not accepted.
#[test]
fn accepted_is_not_drained() {
    let mut world = World::with_pods(
        headless(),
        vec![
            app("hello-win", 1),
            daemon("kube-system", "kube-proxy-windows", 1, "11"),
        ],
    );
    world.answer_all();
    world.observe();
    assert_eq!(
        world.sent(|effect| matches!(effect, Effect::Evict { .. })).len(),
        1
    );
    for _ in 0..30 {
        world.wait(1000);
        world.answer_all();
        assert!(!world.told("drained"), "it has thirty seconds of grace");
    }
    world.pods.retain(|pod| &*pod.name != "hello-win-1");
    world.observe();
    world.answer_all();
    assert!(world.told("drained"));
}
