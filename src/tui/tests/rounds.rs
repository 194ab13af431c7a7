//! A round of nodes with the keyboard.

use super::Operator;
use super::fixture::Cluster;
use crate::domain::{Name, Timestamp};
use crate::maintenance::event::Ending;
use crate::maintenance::options::{Kept, Purpose};
use crate::maintenance::round::plan::{Plan, Terms};
use crate::maintenance::round::{self, Heard, Round};
use std::sync::Arc;

fn operator() -> Operator {
    let mut operator = Operator::at(120, 40, Cluster::article());
    operator.press("3");
    operator
}

/// A round over two nodes that pauses after the first, which took ten minutes.
fn paused() -> Round {
    let at: Timestamp = "2026-08-04T14:00:00Z".parse().unwrap();
    let plan = Plan {
        id: "r".to_owned(),
        by: "ops@desk".to_owned(),
        started_at: at,
        purpose: Purpose::Update,
        kept: Kept::default(),
        terms: Terms {
            pause_after_first: true,
            ..Terms::default()
        },
        nodes: ["k8s-lab-win-1", "k8s-lab-win-2"].map(Name::from).to_vec(),
    };
    let (round, _) = round::start(plan, None, true, at);
    let ended = Heard::Ended {
        ending: Ending::Done,
        seconds: 600.0,
        maintenance: "m".to_owned(),
    };
    round::step(round, ended, at + chrono::TimeDelta::minutes(10)).0
}

#[test]
fn nodes_are_marked_in_order_and_begun_as_a_round() {
    let mut operator = operator();
    operator
        .press("j")
        .types(" ")
        .press("k")
        .types(" ")
        .sees("▸●k8s-lab-win-1")
        .sees(" ●k8s-lab-win-2");
    operator.press("m").sees("round of 2 nodes, for: update");
    operator
        .types(" --yes --soak 10m --window '22:00-04:00 Europe/Berlin' --patch-tuesday-plus 4-5")
        .press("enter");
    let asked = operator.asked().concat();
    for words in [
        r#"Round { nodes: ["k8s-lab-win-2", "k8s-lab-win-1"]"#,
        "yes: true",
        "soak: Some(600s)",
        "after: Some(",
    ] {
        assert!(asked.contains(words), "`{words}` is not in {asked}");
    }
    assert!(operator.ui.marked.is_empty());
}

#[test]
fn a_mark_is_taken_away_by_the_same_key_and_one_node_is_maintained_as_ever() {
    let mut operator = operator();
    operator
        .types(" ")
        .types(" ")
        .press("m")
        .sees("maintain k8s-lab-");
}

#[test]
fn what_is_not_understood_is_said_and_nothing_begun() {
    for (typed, told) in [
        (" --soak", "--soak needs a value"),
        (" --soak soon", "--soak: expected seconds"),
        (" --window 22:00", "expected [DAYS]"),
        (" --patch-tuesday-plus 4", "needs --window"),
        (" --everything", "'--everything' is not understood"),
    ] {
        let mut operator = operator();
        operator
            .types(" ")
            .press("m")
            .types(typed)
            .press("enter")
            .sees(told);
        assert!(operator.asked().is_empty());
    }
}

#[test]
fn the_line_of_a_round_stands_on_every_screen_and_its_pause_is_confirmed_by_the_next_name() {
    let mut operator = operator();
    operator.ui.round = Some(Arc::new(paused()));
    for tab in ["1", "2", "3"] {
        operator
            .press(tab)
            .sees("round: node 2 of 2 (k8s-lab-win-2) · forecast of the end: 2026-08-04 14:20 UTC")
            .sees("waiting: the first node is done");
    }
    operator.press("m").sees("a round is under way: X stops it");
    operator
        .press("p")
        .types("yes")
        .press("enter")
        .sees("not confirmed");
    operator.press("p").types("k8s-lab-win-2").press("enter");
    assert_eq!(operator.asked(), ["GoOn"]);
    operator.press("X");
    assert_eq!(operator.asked(), ["StopRound"]);
    operator.press("q").sees("`maintain --resume` goes on with it");
}
