use super::cluster::*;
use crate::domain::object::{Change, ObjectKey, Os};
use crate::domain::reading::Source;
use crate::sources::event::Payload;
use crate::store::view::{Direction, OsScope, TableKind, TableQuery, TableWindow};

pub fn shown(window: &TableWindow) -> String {
    let mut lines = vec![
        window
            .columns
            .iter()
            .map(|column| column.id)
            .collect::<Vec<_>>()
            .join(" | "),
    ];
    for row in &window.rows {
        lines.push(row.cells.iter().map(roles).collect::<Vec<_>>().join(" | "));
    }
    lines.push(roles(&window.summary));
    lines.extend(window.notice.as_ref().map(roles));
    lines.join("\n")
}

fn sorted(column: &str, direction: Direction) -> TableQuery {
    TableQuery {
        sort: Some((column.into(), direction)),
        ..TableQuery::default()
    }
}

pub fn filtered(filter: &str) -> TableQuery {
    TableQuery {
        filter: filter.into(),
        ..TableQuery::default()
    }
}

#[test]
fn the_nodes_of_the_article() {
    let mut told = Told::article();
    insta::assert_snapshot!(shown(&told.table(TableKind::Nodes, &TableQuery::default())));
}

#[test]
fn the_pods_of_the_article() {
    let mut told = Told::article();
    let query = TableQuery {
        wide: true,
        ..TableQuery::default()
    };
    insta::assert_snapshot!(shown(&told.table(TableKind::Pods, &query)));
}

#[test]
fn the_node_nearest_to_its_commit_limit_comes_first() {
    let mut told = Told::article();
    assert_eq!(told.names(TableKind::Nodes, &TableQuery::default())[0], WIN);
}

#[test]
fn pods_are_sorted_by_working_set_and_keep_their_names_as_tie_break() {
    let mut told = Told::article();
    let names = told.names(TableKind::Pods, &sorted("ws", Direction::Descending));
    assert_eq!(
        names,
        [
            "hello-win-759c899954-tkfg6",
            "hello-win-759c899954-tq5nc",
            "hello-55fb8f8684-69mvv"
        ]
    );
}

#[test]
fn the_operator_narrows_the_pods_step_by_step() {
    let mut told = Told::article();
    for (filter, matched) in [
        ("", 3),
        ("hellowin", 2),
        ("!win", 1),
        ("node:win-1", 2),
        ("!node:win-1", 1),
        ("commit>30%", 2),
        ("commit>80%", 0),
        ("!commit>80%", 2),
        ("commit<100Mi", 2),
        ("ws>=42Mi", 2),
        ("ws=42Mi", 2),
        ("cpu-max=1250", 2),
        ("cpu-max>12%", 2),
        ("restarts:0", 3),
        ("age<2h", 3),
        ("age>2h tkfg6", 0),
        ("namespace=demo", 1),
        ("namespace:demo", 3),
        ("state:run ready:1/1", 3),
        ("os:windows -l app=web", 2),
    ] {
        let window = told.table(TableKind::Pods, &filtered(filter));
        assert_eq!(window.matched, matched, "{filter}");
        assert_eq!(window.total, 3, "{filter}");
    }
}

#[test]
fn a_filter_that_is_not_understood_says_what_there_is_and_hides_nothing() {
    let mut told = Told::article();
    for (filter, told_about) in [
        ("comit>80%", "namespace, name, ready"),
        ("commit>80", "commit>80% or commit>1Gi"),
        ("commit>", "commit>80% or commit>1Gi"),
        ("name>3", "name:text"),
        ("-l", "-l app=web"),
    ] {
        let window = told.table(TableKind::Pods, &filtered(filter));
        let notice = text(&window.notice.expect(filter));
        assert!(notice.contains(told_about), "{filter}: {notice}");
        assert_eq!(window.matched, 3, "{filter}");
    }
}

#[test]
fn the_operating_system_restricts_the_table_before_the_filter() {
    let mut told = Told::article();
    for (os, nodes, pods) in [
        (OsScope::All, 4, 3),
        (OsScope::Windows, 1, 2),
        (OsScope::Linux, 3, 1),
    ] {
        let query = TableQuery {
            os,
            ..TableQuery::default()
        };
        assert_eq!(told.table(TableKind::Nodes, &query).total, nodes);
        assert_eq!(told.table(TableKind::Pods, &query).total, pods);
    }
}

#[test]
fn the_selection_follows_its_pod_when_the_order_changes() {
    let mut told = Told::article();
    let by_restarts = sorted("restarts", Direction::Descending);
    let kind = TableKind::Pods;
    let key = told.store.key_at(kind, &by_restarts, 2).unwrap();
    let mut crashing = pods().remove(2);
    crashing.restarts = 3;
    assert!(told.say(Source::Kubernetes, Payload::Pods(vec![Change::Upsert(crashing)])));
    assert_eq!(told.store.position(kind, &by_restarts, &key), Some(0));
    assert_eq!(told.store.position(kind, &filtered("69mvv"), &key), None);
}

#[test]
fn a_pod_of_the_same_name_is_another_pod() {
    let mut told = Told::article();
    let query = TableQuery::default();
    let key = told.store.key_at(TableKind::Pods, &query, 1).unwrap();
    let mut successor = pods().remove(1);
    successor.uid = "uid-successor".into();
    told.say(Source::Kubernetes, Payload::Pods(vec![Change::Upsert(successor)]));
    assert_eq!(told.store.position(TableKind::Pods, &query, &key), None);
    assert_eq!(told.table(TableKind::Pods, &query).matched, 3);
}

#[test]
fn the_number_of_pods_on_a_node_follows_them() {
    let mut told = Told::article();
    let counts = |told: &mut Told| told.column(TableKind::Nodes, "pods", &filtered("name:win-1"));
    assert_eq!(counts(&mut told), ["2"]);
    let mut ended = pods().remove(1);
    ended.phase = crate::domain::pod::Phase::Succeeded;
    told.say(Source::Kubernetes, Payload::Pods(vec![Change::Upsert(ended)]));
    assert_eq!(counts(&mut told), ["1"]);
    let gone = ObjectKey {
        namespace: Some("win-demo".into()),
        name: "hello-win-759c899954-tq5nc".into(),
        uid: "uid-hello-win-759c899954-tq5nc".into(),
    };
    told.say(Source::Kubernetes, Payload::Pods(vec![Change::Delete(gone)]));
    assert_eq!(counts(&mut told), ["0"]);
}

#[test]
fn a_node_behind_the_newest_revision_of_its_build_is_marked() {
    let mut older = node("k8s-lab-win-2", Os::Windows, 44);
    older.kernel_version = "10.0.26100.32995".into();
    let mut other_build = node("k8s-lab-win-3", Os::Windows, 45);
    other_build.kernel_version = "10.0.20348.1".into();
    let mut told = Told::rows([nodes(), vec![older, other_build]].concat(), Vec::new());
    let revisions = told.column(
        TableKind::Nodes,
        "revision",
        &sorted("name", Direction::Ascending),
    );
    assert_eq!(revisions, ["–", "–", "–", "33438", "32995 ▲ −443", "1"]);
}

#[test]
fn a_late_lease_is_counted_from_when_its_renewal_was_seen() {
    let mut told = Told::article();
    let win = told.column(TableKind::Nodes, "state", &filtered("name:win-1"));
    assert_eq!(win, ["Ready"]);
    let later = now() + chrono::TimeDelta::seconds(31);
    // The node's clock is a quarter of an hour behind ours: only that it renewed counts.
    let changes = nodes()[..3]
        .iter()
        .map(|node| Change::Upsert(lease(&node.name, 3)))
        .collect();
    told.say_at(Source::Kubernetes, Payload::Leases(changes), later);
    let window = told
        .store
        .table(TableKind::Nodes, &TableQuery::default(), 0, 9, later);
    let states: Vec<String> = window.rows.iter().map(|row| text(&row.cells[1])).collect();
    assert_eq!(states, ["Ready ▲ lease 31 s", "Ready", "Ready", "Ready"]);
}

#[test]
fn a_renewal_of_a_node_that_was_not_late_repaints_nothing() {
    let mut told = Told::article();
    let renewed = |renewals| Payload::Leases(vec![Change::Upsert(lease(&WIN.into(), renewals))]);
    let at = |seconds| now() + chrono::TimeDelta::seconds(seconds);
    assert!(!told.say_at(Source::Kubernetes, renewed(1), at(10)));
    assert!(
        told.say_at(Source::Kubernetes, renewed(2), at(35)),
        "it was late and is no more"
    );
}

#[test]
fn what_did_not_change_repaints_nothing() {
    let mut told = Told::article();
    assert!(!told.say(Source::Kubernetes, Payload::Pods(upserts(pods()))));
    assert!(!told.say(Source::Kubernetes, Payload::Nodes(upserts(nodes()))));
}

#[test]
fn control_characters_in_names_never_reach_a_cell() {
    let mut told = Told::article();
    let mut hostile = pod("demo", "evil\u{1b}[2J\u{202e}pod", Some(WIN), None);
    hostile.state = "Err\u{7}or".into();
    told.say(Source::Kubernetes, Payload::Pods(vec![Change::Upsert(hostile)]));
    let query = TableQuery {
        wide: true,
        ..filtered("name:evil")
    };
    let window = told.table(TableKind::Pods, &query);
    let cells: String = window.rows[0].cells.iter().map(text).collect();
    assert!(cells.contains("evilpod"), "{cells}");
    assert!(!cells.chars().any(char::is_control));
}

#[test]
fn only_the_rows_of_the_window_are_built_and_the_window_stays_full() {
    let mut told = Told::article();
    let window = told
        .store
        .table(TableKind::Pods, &TableQuery::default(), 2, 2, now());
    assert_eq!((window.first, window.rows.len(), window.matched), (1, 2, 3));
}

#[test]
fn a_fuzzy_word_finds_names_by_letters_in_order_and_minds_capitals_only_if_typed() {
    let mut told = Told::rows(
        nodes(),
        vec![
            pod("demo", "Müller-Web-0", Some(WIN), None),
            pod("demo", "web-1", None, None),
        ],
    );
    for (filter, names) in [
        ("mw0", vec!["Müller-Web-0"]),
        ("muller", vec!["Müller-Web-0"]),
        ("Web", vec!["Müller-Web-0"]),
        ("wb1", vec!["web-1"]),
        ("bw", vec!["Müller-Web-0"]),
        ("1web", vec![]),
    ] {
        let query = filtered(filter);
        let found = told.names(TableKind::Pods, &query);
        assert_eq!(found, names, "{filter}");
    }
}

#[test]
fn rows_follow_the_values_of_each_round() {
    use crate::domain::measurement::ContainerQuantity::WorkingSet;
    let mut told = Told::article();
    let by_ws = sorted("ws", Direction::Descending);
    for (second, first) in [("tkfg6", "tq5nc"), ("tq5nc", "tkfg6")] {
        let mut round = article_windows(ago(2));
        for sample in &mut round.containers {
            if sample.quantity == WorkingSet && format!("{:?}", sample.container).contains(first) {
                sample.sample.value *= 2.0;
            }
        }
        told.measure(Source::Prometheus, round);
        let names = told.names(TableKind::Pods, &by_ws);
        assert!(
            names[0].ends_with(first) && names[1].ends_with(second),
            "{names:?}"
        );
        assert!(text(&told.table(TableKind::Pods, &by_ws).summary).contains("126 MiB"));
    }
}
