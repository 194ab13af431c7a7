//! A maintenance with the keyboard.

use super::Operator;
use super::fixture::Cluster;
use crate::domain::Name;
use crate::maintenance::effect::Answer;
use crate::maintenance::input::{Command, Heard};
use crate::maintenance::options::{Options, Reboot};
use crate::maintenance::pods::PodRef;
use crate::maintenance::record::Reached;
use crate::store::tests::work::Work;
use crate::tui::maintain::Underway;
use crate::tui::theme::Theme;
use std::sync::Arc;

const WIN: &str = "k8s-lab-win-1";

fn operator() -> Operator {
    Operator::at(120, 40, Cluster::article())
}

impl Operator {
    /// The maintenance is here now.
    fn stands(&mut self, mut work: Work) -> &mut Self {
        let at = work.at;
        self.ui.underway = Some(Arc::new(Underway {
            state: work.state.take().unwrap(),
            log: vec![
                (at, "cordoned".to_owned()),
                (at, "drained: 7 pods left in 21.0 s".to_owned()),
            ],
        }));
        self.look_again();
        self
    }
}

/// An operator on the page of this maintenance.
fn on_the_page(work: Work) -> Operator {
    let mut operator = operator();
    operator.stands(work).press("m");
    operator
}

#[test]
fn a_maintenance_is_begun_by_purpose_and_then_by_the_name_of_the_node() {
    let mut operator = operator();
    operator.press("m").sees("maintain k8s-lab-win-1 for: update");
    operator.press("enter");
    let asked = operator.asked();
    assert!(
        asked[0].starts_with(r#"Start { node: "k8s-lab-win-1""#),
        "{asked:?}"
    );
    assert!(
        asked[0].contains("purpose: Update") && asked[0].contains("attended: true"),
        "{asked:?}"
    );
    operator.stands(Work::asked());
    operator
        .sees("begin? k8s-lab-win-1 is cordoned")
        .sees("[enter] begin…");
    operator.press("enter").types("k8s-lab-win-2").press("enter");
    operator.sees("not confirmed: 'k8s-lab-win-1' was to be typed");
    assert!(operator.asked().is_empty());
    operator.press("enter").types(WIN).press("enter");
    assert_eq!(operator.asked(), ["Decide(Begin)"]);
}

#[test]
fn what_is_allowed_is_typed_behind_the_purpose() {
    let mut operator = operator();
    operator
        .press("m")
        .types(" --force --delete-emptydir-data")
        .press("enter");
    let asked = operator.asked().concat();
    for words in [
        "force: true",
        "delete_emptydir_data: true",
        "no_network_gate: false",
        "take_over: false",
    ] {
        assert!(asked.contains(words), "{words} in {asked}");
    }
    let mut operator = self::operator();
    operator.press("m").types(" --now").press("enter");
    operator.sees("'--now' is not understood");
    assert!(operator.asked().is_empty());
}

#[test]
fn each_step_offers_its_own_keys() {
    let restarting = on_the_page(Work::restarting());
    restarting
        .sees("[c] copy")
        .sees("[f] no restart…")
        .sees("[A] abandon…")
        .sees_not("[r]");
    let back = on_the_page(Work::uncordoned());
    back.sees("[s] stop waiting…")
        .sees_not("[c] copy")
        .sees_not("[e]");
    let same = on_the_page(Work::restarted("10.0.26100.32995"));
    same.sees("[a] accept revision…");
    let command = Options {
        reboot: Some(Reboot::Command(vec!["ssh".to_owned()])),
        attended: true,
        ..Options::default()
    };
    on_the_page(Work::restarting_with(command)).sees("[r] run reboot…");
}

#[test]
fn decisions_with_consequences_are_confirmed_by_the_name_of_the_node() {
    for (work, key, decision) in [
        (Work::restarted("10.0.26100.32995"), "a", "AcceptSameRevision"),
        (Work::restarting(), "f", "FinishWithoutRestart"),
        (Work::restarting(), "A", "Abandon"),
        (Work::uncordoned(), "s", "StopWaiting"),
    ] {
        let mut operator = on_the_page(work);
        operator.press(key).types(WIN).press("enter");
        assert_eq!(operator.asked(), [format!("Decide({decision})")]);
        operator.press(key).press("enter");
        assert!(operator.asked().is_empty(), "{decision} without the name");
    }
}

#[test]
fn a_pod_without_network_is_recreated_by_its_name() {
    let mut work = Work::uncordoned();
    work.observed(|observation| {
        let pod = PodRef {
            namespace: "win-demo".into(),
            name: "aspnetapp-btj9j".into(),
            uid: "uid-btj9j".into(),
        };
        let said = "context deadline exceeded".to_owned();
        observation
            .probes_time_out
            .insert("uid-btj9j".into(), (pod, said));
    });
    let mut operator = on_the_page(work);
    operator.sees("pods without network").sees("[e] recreate…");
    operator.press("e").sees("recreate: win-demo/aspnetapp-btj9j");
    operator.types("x").press("enter");
    operator.sees("is none of the pods without network");
    operator.press("e enter");
    assert_eq!(operator.asked(), [r#"Decide(Recreate("uid-btj9j"))"#]);
}

#[test]
fn a_node_that_restarted_without_drain_is_cleaned_up() {
    let mut operator = operator();
    operator.cluster.standings[0].restarted_without_drain = true;
    operator.look_again();
    operator.press("m").sees("cleanup");
    operator.press("enter");
    let asked = operator.asked();
    assert!(asked[0].contains("purpose: Cleanup"), "{asked:?}");
}

#[test]
fn a_maintenance_found_on_the_node_is_gone_on_with() {
    let mut operator = operator();
    operator.cluster.standings[0].record = Some(Ok(Box::new(Work::record(Reached::Restart))));
    operator.look_again();
    operator
        .press("m")
        .sees("type k8s-lab-win-1 to go on with the update of anna@desk");
    operator.types(WIN).press("enter");
    let asked = operator.asked();
    assert!(
        asked[0].starts_with(r#"Resume { node: "k8s-lab-win-1""#),
        "{asked:?}"
    );
    operator.press("esc C");
    operator.sees("a maintenance is under way on the node");
    operator.cluster.standings[0].record = Some(Err("unknown field".to_owned()));
    operator.look_again();
    operator
        .press("m")
        .sees("written by another version of this program");
}

#[test]
fn leaving_the_page_does_not_end_the_work_and_leaving_the_program_says_how_to_go_on() {
    let mut operator = on_the_page(Work::restarting());
    operator
        .press("esc")
        .sees("── nodes ──")
        .sees("⏸ k8s-lab-win-1 Restart");
    assert!(operator.asked().is_empty());
    operator
        .press("q")
        .sees("here `m` goes on with it, or `maintain k8s-lab-win-1 --resume`");
    assert!(operator.asked().is_empty());
    // Another key takes it back.
    operator.press("j q");
    assert!(operator.asked().is_empty());
    operator.press("q");
    assert_eq!(operator.asked(), ["quit"]);
    // Before the cordon there is nothing to go on with.
    let mut operator = on_the_page(Work::asked());
    operator.press("esc q");
    assert_eq!(operator.asked(), ["quit"]);
}

#[test]
fn one_node_at_a_time() {
    let mut operator = operator();
    operator.stands(Work::restarting());
    operator
        .press("j m")
        .sees("maintain…: another node is being worked on");
    let mut done = Work::uncordoned();
    done.hear(Heard::Operator(Command::StopWaiting));
    done.answered(Answer::Cleared(Ok(())));
    operator
        .stands(done)
        .press("m")
        .sees("maintain k8s-lab-node-1 for: update");
}

#[test]
fn while_it_is_under_way_the_screens_stay_with_its_cluster_and_see_everything() {
    let mut operator = operator();
    operator.stands(Work::restarting());
    operator.press(":").types("ctx prod").press("enter");
    operator.sees("end or abandon that before you go to another cluster");
    operator.press("n").types("win-demo").press("enter");
    operator.sees("needs to see all namespaces");
    assert!(operator.asked().is_empty());
}

#[test]
fn in_one_namespace_nothing_is_begun() {
    let mut operator = operator();
    operator.cluster.header.namespace = Some(Name::from("win-demo"));
    operator.look_again();
    operator
        .press("m")
        .sees("is seen in all namespaces only: 0 watches them");
    // A pod is no node.
    operator.press("2 m").sees("maintain…: no node is selected");
}

#[test]
fn cordon_and_uncordon_are_confirmed() {
    let mut operator = operator();
    operator.press("C").sees("type k8s-lab-win-1 to cordon it");
    operator.types(WIN).press("enter");
    assert_eq!(
        operator.asked(),
        [r#"Cordon { node: "k8s-lab-win-1", uid: "uid-k8s-lab-win-1", cordoned: true }"#]
    );
    operator.cluster.standings[0].cordoned = true;
    operator.look_again();
    operator.press("C").sees("to uncordon it");
    operator.press("esc");
    assert!(operator.asked().is_empty());
}

#[test]
fn read_only_refuses_all_of_it() {
    let mut operator = operator();
    operator.ui.options.read_only = true;
    for key in ["m", "C"] {
        operator.press(key).sees("started with --read-only");
    }
    assert!(operator.asked().is_empty());
}

#[test]
fn the_page_at_every_size() {
    for (width, height) in [(60, 15), (80, 24), (120, 40), (200, 60)] {
        for (name, work) in [
            ("begin", Work::asked()),
            ("drain", Work::draining()),
            ("restart", Work::restarting()),
            ("back", Work::uncordoned()),
        ] {
            let mut operator = Operator::at(width, height, Cluster::article());
            operator.stands(work).press("m");
            insta::assert_snapshot!(format!("workflow_{name}_{width}x{height}"), operator.screen());
        }
    }
}

#[test]
fn without_colour_and_in_ascii_the_page_says_the_same() {
    let mut operator = Operator::at(100, 30, Cluster::article());
    operator.look.charset = crate::tui::glyphs::Charset::Ascii;
    operator.look.theme = Theme::named("monochrome").unwrap();
    operator.stands(Work::restarting()).press("m");
    assert!(operator.screen().is_ascii());
    operator.sees("+ Drain").sees("* Restart").sees("o Network");
}
