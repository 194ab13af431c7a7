//! A node that restarted without drain: how it is found, where it is told, and what is no sign of it.

use super::cluster::*;
use super::pages::shown;
use super::tables::filtered;
use super::updates::record;
use crate::domain::node::{CordonedBy, Node};
use crate::domain::object::{Change, ClusterEvent, ObjectKey, Os};
use crate::domain::pod::{ContainerState, Owner, Pod};
use crate::domain::reading::Source;
use crate::domain::{Name, Timestamp};
use crate::maintenance::boots::{Boots, Sighting};
use crate::maintenance::record::Reached;
use crate::sources::event::{Payload, Scope, WatchState, Watched};
use crate::store::view::{RowKey, TableKind};
use chrono::TimeDelta;

fn booted(boot_id: &str) -> Node {
    Node {
        boot_id: boot_id.into(),
        ..node(WIN, Os::Windows, 43)
    }
}

/// A pod of this `DaemonSet` that runs since so many seconds ago.
fn network_pod(since: i64) -> Pod {
    let mut pod = pod(
        "calico-system",
        "calico-node-windows-q54h2",
        Some(WIN),
        Some(Os::Windows),
    );
    pod.owner = Some(Owner {
        kind: "DaemonSet".into(),
        name: "calico-node-windows".into(),
    });
    pod.containers[0].state = ContainerState::Running(Some(ago(since)));
    pod
}

fn say_node(told: &mut Told, node: Node) {
    told.say(Source::Kubernetes, Payload::Nodes(vec![Change::Upsert(node)]));
}

fn say_pods(told: &mut Told, pods: Vec<Pod>) {
    told.say(Source::Kubernetes, Payload::Pods(upserts(pods)));
}

fn event(kind: &str, namespace: Option<&str>, name: &str, reason: &str, message: &str) -> ClusterEvent {
    ClusterEvent {
        key: ObjectKey {
            namespace: Some("default".into()),
            name: format!("{name}.{reason}").into(),
            uid: reason.into(),
        },
        about_kind: kind.into(),
        about_namespace: namespace.map(Into::into),
        about_name: name.into(),
        about_uid: None,
        warning: true,
        reason: reason.into(),
        message: message.into(),
        count: 1,
        last_seen: Some(ago(50)),
    }
}

/// What is remembered; `look` notes what the store knows so many seconds before now.
#[derive(Default)]
struct Memory(Boots);

impl Memory {
    fn look(&mut self, told: &mut Told, seconds: i64) {
        let at = ago(seconds);
        let sightings = told.store.sightings(at).unwrap();
        self.0.note(&sightings, at);
        told.store.learn_restarts(self.0.restarted_without_drain());
    }
}

/// A node that lost its power two minutes ago, was seen before, and is back with the pods that it had.
fn crashed() -> (Told, Memory) {
    let mut told = Told::article();
    let mut memory = Memory::default();
    memory.look(&mut told, 120);
    say_node(&mut told, booted("12"));
    memory.look(&mut told, 60);
    (told, memory)
}

fn seen(told: &Told, at: Timestamp) -> Sighting {
    let sightings = told.store.sightings(at).unwrap();
    let uid = Name::from(format!("uid-{WIN}"));
    sightings
        .into_iter()
        .find(|sighting| sighting.node == uid)
        .unwrap()
}

fn states(told: &mut Told) -> Vec<String> {
    let states = |kind| told.column(kind, "state", &filtered(WIN));
    [TableKind::Nodes, TableKind::Updates]
        .into_iter()
        .flat_map(states)
        .collect()
}

fn page(told: &Told) -> String {
    shown(&told.store.node_page(&WIN.into(), now()).unwrap())
}

#[test]
fn a_crash_is_marked_in_the_tables_and_found_by_its_mark() {
    let (mut told, _) = crashed();
    assert_eq!(states(&mut told), ["Ready ▲ crash?"; 2]);
    assert_eq!(told.names(TableKind::Nodes, &filtered("crash")), [WIN]);
    assert!(told.store.standing(&WIN.into()).unwrap().restarted_without_drain);
    let preview = told.store.preview(&RowKey::Node(WIN.into()), now());
    assert_eq!(
        text(&preview[0]),
        "▲ restarted without drain: not healthy though Ready   boot id 11 → 12, first seen 1 m ago"
    );
    assert_eq!(
        told.store.restarted_without_drain()[WIN].to_string(),
        "boot id 11 became 12 between 2026-11-07 09:43:20 and 09:59:00 UTC"
    );
}

#[test]
fn the_page_of_the_node_has_the_evidence_and_what_to_do() {
    let (mut told, _) = crashed();
    let mut pods = pods();
    for pod in &mut pods {
        pod.containers[0].state = ContainerState::Running(Some(ago(100)));
    }
    pods.push(network_pod(70));
    say_pods(&mut told, pods);
    let pod = "hello-win-759c899954-tkfg6";
    let changed = "Pod sandbox changed, it will be killed and re-created.";
    told.say(
        Source::Kubernetes,
        Payload::Events(upserts(vec![
            event(
                "Node",
                None,
                WIN,
                "Rebooted",
                "Node k8s-lab-win-1 has been rebooted, boot id: 12",
            ),
            event("Pod", Some("win-demo"), pod, "SandboxChanged", changed),
        ])),
    );
    let page = page(&told);
    let section = page.split("\n== ").nth(1).unwrap();
    insta::assert_snapshot!(section);
}

#[test]
fn a_mark_stays_when_the_scope_changes_and_goes_with_the_boot_that_it_is_about() {
    let (mut told, mut memory) = crashed();
    memory.look(&mut told, 30);
    assert_eq!(states(&mut told), ["Ready ▲ crash?"; 2]);
    // Somebody drained it and restarted it.
    told.say(
        Source::Kubernetes,
        Payload::Pods(vec![Change::Restart, Change::Synced]),
    );
    say_node(&mut told, booted("13"));
    assert_eq!(states(&mut told), ["Ready"; 2]);
    memory.look(&mut told, 0);
    assert_eq!(states(&mut told), ["Ready"; 2]);
    assert_eq!(told.store.restarted_without_drain().len(), 0);
}

#[test]
fn a_restart_that_a_maintenance_prepared_is_never_marked() {
    let mut recorded = booted("12");
    recorded.maintenance = Some(serde_json::to_string(&record(Reached::Restart)).unwrap().into());
    let proven = Node {
        proven_boot: Some("12".into()),
        ..booted("12")
    };
    let newer = Node {
        maintenance: Some("{\"version\": 2}".into()),
        ..booted("12")
    };
    for node in [recorded, proven, newer] {
        let mut told = Told::article();
        let mut memory = Memory::default();
        memory.look(&mut told, 120);
        say_node(&mut told, node);
        memory.look(&mut told, 60);
        assert_eq!(told.store.restarted_without_drain().len(), 0);
    }
}

#[test]
fn a_power_cut_in_the_middle_of_a_drain_or_after_the_uncordon_is_marked_all_the_same() {
    for reached in [Reached::Drain, Reached::PodsBack] {
        let mut told = Told::article();
        let mut memory = Memory::default();
        memory.look(&mut told, 120);
        let mut recorded = booted("12");
        recorded.maintenance = Some(serde_json::to_string(&record(reached)).unwrap().into());
        say_node(&mut told, recorded);
        memory.look(&mut told, 60);
        assert_eq!(told.store.restarted_without_drain().len(), 1, "{reached:?}");
    }
}

#[test]
fn what_a_drain_leaves_on_a_node_is_no_sign_of_a_crash() {
    let mut told = Told::article();
    let mut mirror = pod("kube-system", "static-k8s-lab-win-1", Some(WIN), None);
    mirror.mirror = true;
    let mut bound = pod("win-demo", "hello-win-759c899954-new", Some(WIN), None);
    bound.started_at = None;
    let mut gone: Vec<Change<Pod>> = vec![Change::Restart];
    gone.extend(upserts(vec![network_pod(70), mirror, bound]));
    gone.push(Change::Synced);
    told.say(Source::Kubernetes, Payload::Pods(gone));
    let seen = seen(&told, now());
    assert_eq!(seen.pods, []);
    assert!(seen.pods_known && !seen.too_early && !seen.vouched);
}

#[test]
fn a_pod_that_started_just_before_the_network_pods_has_none() {
    let mut told = Told::article();
    for (started, too_early) in [(90, true), (60, false), (1000, false)] {
        let mut pods = pods();
        for pod in &mut pods {
            pod.started_at = Some(ago(started));
        }
        pods.push(network_pod(70));
        say_pods(&mut told, pods);
        assert_eq!(seen(&told, now()).too_early, too_early, "started {started} s ago");
    }
}

#[test]
fn the_last_sign_of_life_is_the_renewal_of_the_lease_and_not_the_look_at_a_dead_node() {
    let told = Told::article();
    let renewed = lease(&WIN.into(), 0).renew_time.unwrap();
    assert_eq!(seen(&told, now()).alive_at, renewed);
    // A clock that is ahead proves nothing beyond now.
    assert_eq!(
        seen(&told, renewed - TimeDelta::hours(1)).alive_at,
        renewed - TimeDelta::hours(1)
    );
}

#[test]
fn who_sees_a_part_of_the_pods_says_so() {
    let mut told = Told::article();
    told.say(
        Source::Kubernetes,
        Payload::Watch(Watched::Pods, WatchState::Loading),
    );
    assert!(!seen(&told, now()).pods_known);
    let part = Scope {
        namespace: Some("win-demo".into()),
        ..Scope::default()
    };
    let mut told = Told::article();
    told.say(Source::Kubernetes, Payload::Begin(part));
    assert!(!seen(&told, now()).pods_known);
    told.say(
        Source::Kubernetes,
        Payload::Watch(Watched::Nodes, WatchState::Loading),
    );
    assert_eq!(told.store.sightings(now()), None);
}

#[test]
fn another_look_is_worth_while_when_a_boot_changed_and_not_for_a_condition() {
    let mut told = Told::article();
    let version = told.store.boots_version();
    let mut cordoned = booted("11");
    cordoned.unschedulable = true;
    say_node(&mut told, cordoned);
    assert_eq!(told.store.boots_version(), version);
    say_node(&mut told, booted("12"));
    assert_eq!(told.store.boots_version(), version + 1);
}

#[test]
fn a_silent_node_that_is_ready_still_gets_traffic() {
    let told = Told::article();
    assert!(!page(&told).contains("is silent"));
    let later = |seconds| {
        let page = told
            .store
            .node_page(&WIN.into(), now() + TimeDelta::seconds(seconds));
        shown(&page.unwrap())
    };
    let page = later(31);
    assert!(
        page.contains("silent for 31 s: its endpoints stay ready up to 50 s (00:19 left)"),
        "{page}"
    );
    assert!(page.contains("its pods 300 s more (05:19 left)"), "{page}");
}

#[test]
fn a_cordoned_node_says_by_whom_or_that_nobody_tells() {
    let mut told = Told::article();
    let mut cordoned = booted("11");
    cordoned.unschedulable = true;
    say_node(&mut told, cordoned.clone());
    assert!(
        page(&told).contains("by whom is not known: its managedFields do not tell"),
        "{}",
        page(&told)
    );
    cordoned.cordoned_by = Some(CordonedBy {
        manager: "kubectl-cordon".into(),
        at: Some(ago(3 * 3600)),
    });
    say_node(&mut told, cordoned);
    assert!(
        page(&told)
            .contains("by kubectl-cordon<Warn>   3 h ago or earlier: its last change of the node was at"),
        "{}",
        page(&told)
    );
}
