//! The table of updates, and a node that is being worked on.

use super::cluster::*;
use super::tables::shown;
use crate::domain::Name;
use crate::domain::node::{CordonedBy, Node};
use crate::domain::object::{Change, Os};
use crate::domain::reading::Source;
use crate::maintenance::options::Purpose;
use crate::maintenance::record::{Reached, Record};
use crate::sources::event::Payload;
use crate::store::view::{RowKey, TableKind, TableQuery};
use std::collections::BTreeSet;

/// A record as it stands on a node that anna took out four minutes ago.
pub fn record(reached: Reached) -> Record {
    Record {
        id: "18f2-1".into(),
        by: "anna@desk".into(),
        started_at: ago(240),
        reached_at: ago(240),
        older_boot_ids: std::collections::BTreeSet::new(),
        new_boot_id: None,
        kept: crate::maintenance::options::Kept::default(),
        new_network_ids: std::collections::BTreeSet::new(),
        purpose: Purpose::Update,
        reached,
        node_uid: format!("uid-{WIN}").into(),
        boot_id: "11".into(),
        kernel_version: "10.0.26100.32995".into(),
        kubelet_version: "v1.37.2".into(),
        was_cordoned: false,
        reboot_started: false,
        network_ids: BTreeSet::new(),
        network_owners: BTreeSet::new(),
        ready_before: Vec::new(),
    }
}

/// The Windows node with this record on it.
pub fn in_work(reached: Reached) -> Node {
    let record = serde_json::to_string(&record(reached)).unwrap();
    Node {
        kernel_version: "10.0.26100.32995".into(),
        unschedulable: reached != Reached::PodsBack,
        maintenance: Some(record.into()),
        cordoned_by: Some(CordonedBy {
            manager: "drainboard".into(),
            at: Some(ago(232)),
        }),
        ..node(WIN, Os::Windows, 43)
    }
}

fn say(told: &mut Told, node: Node) {
    told.say(Source::Kubernetes, Payload::Nodes(vec![Change::Upsert(node)]));
}

/// A fleet of two Windows nodes, of which one is behind and in work.
fn fleet() -> Told {
    let mut told = Told::article();
    say(&mut told, in_work(Reached::Restart));
    say(&mut told, node("k8s-lab-win-2", Os::Windows, 44));
    told
}

#[test]
fn the_updates_of_a_fleet() {
    insta::assert_snapshot!(shown(&fleet().table(TableKind::Updates, &TableQuery::default())));
}

#[test]
fn the_node_that_is_furthest_behind_comes_first_and_linux_last() {
    let names = fleet().names(TableKind::Updates, &TableQuery::default());
    assert_eq!(names[..2], [WIN, "k8s-lab-win-2"]);
}

#[test]
fn a_node_in_work_is_found_by_what_is_done_and_by_whom() {
    let mut told = fleet();
    for filter in [
        "anna",
        "maintenance:restart",
        "state:restart",
        "behind>0",
        "cordoned:drainboard",
    ] {
        let query = super::tables::filtered(filter);
        assert_eq!(told.names(TableKind::Updates, &query), [WIN], "{filter}");
    }
}

#[test]
fn the_selection_follows_a_node_in_the_table_of_updates() {
    let mut told = fleet();
    let query = TableQuery::default();
    let key = RowKey::Node(Name::from("k8s-lab-win-2"));
    assert_eq!(told.store.position(TableKind::Updates, &query, &key), Some(1));
    // It installs nothing, the other does and is the newer one now.
    let mut updated = in_work(Reached::PodsBack);
    updated.kernel_version = "10.0.26100.33674".into();
    say(&mut told, updated);
    assert_eq!(told.store.position(TableKind::Updates, &query, &key), Some(0));
    assert_eq!(told.store.key_at(TableKind::Updates, &query, 0), Some(key));
}

#[test]
fn the_state_of_a_node_says_where_its_maintenance_is() {
    let mut told = Told::article();
    for (reached, state) in [
        (Reached::Drain, "Ready ⏸ drain"),
        (Reached::Restart, "Ready ⏸ restart"),
        (Reached::PodsBack, "Ready ⏸ pods back"),
    ] {
        say(&mut told, in_work(reached));
        let states = told.column(TableKind::Nodes, "state", &super::tables::filtered(WIN));
        assert_eq!(states, [state]);
    }
    let preview = told.store.preview(&RowKey::Node(WIN.into()), now());
    assert_eq!(
        text(&preview[0]),
        "⏸ update: pods back   begun by anna@desk 4 m ago   before it: boot id 11, 10.0.26100.32995"
    );
}

#[test]
fn a_record_of_another_version_is_told_and_not_guessed() {
    let mut told = Told::article();
    say(
        &mut told,
        Node {
            maintenance: Some("{\"v\":2,\"by\":\"\u{1b}[31m\"}".into()),
            ..node(WIN, Os::Windows, 43)
        },
    );
    let query = super::tables::filtered(WIN);
    assert_eq!(
        told.column(TableKind::Updates, "maintenance", &query),
        ["▲ not readable"]
    );
    assert_eq!(told.column(TableKind::Updates, "state", &query), ["Ready"]);
    let preview = told.store.preview(&RowKey::Node(WIN.into()), now());
    assert!(
        text(&preview[0]).contains("cannot be read"),
        "{}",
        text(&preview[0])
    );
}
