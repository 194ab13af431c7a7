//! What the operator does, and what the screen answers.

use super::Operator;
use super::fixture::Cluster;
use crate::domain::Name;
use crate::sources::event::Demand;
use crate::store::view::Role;
use crate::tui::app::{Input, update};
use crate::tui::render::text::plain;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;

fn operator() -> Operator {
    Operator::at(100, 30, Cluster::article())
}

#[test]
fn the_selection_is_kept_when_rows_are_sorted_again() {
    let mut operator = operator();
    operator.press("2 j j");
    assert!(operator.pointed().contains("rfbzx"));
    operator.press("I");
    operator.sees("sorted by name ↓");
    assert!(operator.pointed().contains("rfbzx"));
}

#[test]
fn the_selection_is_kept_when_another_pod_disappears() {
    let mut operator = operator();
    operator.press("2 j j");
    operator.cluster.pods.remove(0);
    operator.look_again();
    assert!(operator.pointed().contains("rfbzx"), "{}", operator.pointed());
}

#[test]
fn a_selected_pod_that_disappears_gives_way_to_its_neighbour() {
    let mut operator = operator();
    operator.press("2 G");
    assert!(operator.pointed().contains("-39abc"));
    operator.cluster.pods.pop();
    operator.look_again();
    assert!(operator.pointed().contains("-38abc"));
}

#[test]
fn until_the_operator_moves_the_selection_stays_on_the_first_row() {
    let mut operator = operator();
    operator.press("2");
    let last = operator.cluster.pods.pop().unwrap();
    operator.cluster.pods.insert(0, last);
    operator.look_again();
    assert!(operator.pointed().contains("-39abc"));
}

#[test]
fn keys_move_by_rows_screens_and_to_the_ends() {
    let mut operator = operator();
    operator.press("2 pgdn");
    let height = operator.ui.settled.height;
    assert_eq!(operator.ui.table().cursor.index, height);
    operator.press("ctrl-u ctrl-d k j down up");
    assert_eq!(operator.ui.table().cursor.index, height);
    operator.press("G j");
    assert_eq!(operator.ui.table().cursor.index, 42);
    operator.press("g k");
    assert_eq!(operator.ui.table().cursor.index, 0);
}

#[test]
fn the_filter_works_while_it_is_typed_and_escape_takes_it_back() {
    let mut operator = operator();
    operator.press("2 j j /").types("tkfg6");
    operator.sees("/tkfg6").sees("1 of 43").sees_not("reports-writer");
    operator.press("esc");
    operator.sees_not("/tkfg6").sees("reports-writer");
    assert!(operator.pointed().contains("rfbzx"));
}

#[test]
fn an_accepted_filter_stays_until_escape() {
    let mut operator = operator();
    operator.press("2 /").types("win-demo").press("enter");
    operator.sees("3 of 43").sees("[esc] back");
    operator.press("esc");
    operator.sees_not("3 of 43");
    assert!(operator.asked().is_empty());
}

#[test]
fn a_filter_that_matches_nothing_says_so() {
    let mut operator = operator();
    operator.press("/").types("nothing-like-it");
    operator.sees("nothing matches the filter");
    assert_eq!(operator.pointed(), "");
    operator.press("enter enter");
    operator.sees("open: no row is selected");
}

#[test]
fn a_label_selector_is_the_servers_business() {
    let mut operator = operator();
    operator.press("2 /").types("hello -l app=web").press("enter");
    assert_eq!(
        operator.asked(),
        [r#"Rescope { namespace: None, pod_selector: "app=web" }"#]
    );
    // The header says what the data is, and the data is still the old one.
    operator.sees_not("-l app=web");
    operator.cluster.header.pod_selector = "app=web".into();
    operator.look_again();
    operator.sees("-l app=web");
    operator.press("/ esc esc esc");
    assert_eq!(
        operator.asked(),
        [r#"Rescope { namespace: None, pod_selector: "" }"#]
    );
}

#[test]
fn a_label_selector_on_nodes_is_refused_with_the_way_out() {
    let mut operator = operator();
    operator.press("/").types("-l app=web").press("enter");
    assert!(operator.asked().is_empty());
    operator.sees("press 2, then / again");
}

#[test]
fn a_namespace_scopes_the_watches() {
    let mut operator = operator();
    operator.press("n").types("win-demo").press("enter");
    assert_eq!(
        operator.asked(),
        [r#"Rescope { namespace: Some("win-demo"), pod_selector: "" }"#]
    );
    operator.cluster.header.namespace = Some(Name::from("win-demo"));
    operator.look_again();
    operator.sees("ns win-demo");
    operator.press("0");
    assert_eq!(
        operator.asked(),
        [r#"Rescope { namespace: None, pod_selector: "" }"#]
    );
}

#[test]
fn an_impossible_namespace_is_refused() {
    let mut operator = operator();
    operator.press("n").types("Win_Demo").press("enter");
    assert!(operator.asked().is_empty());
    operator.sees("'Win_Demo': a namespace has lower case letters");
}

#[test]
fn a_key_that_can_do_nothing_now_says_why_until_the_next_key() {
    let mut operator = operator();
    operator.press("0");
    assert_eq!(
        operator.footer(),
        " all namespaces: all namespaces are shown already"
    );
    operator.press("j");
    operator.sees("[enter] open");
}

#[test]
fn enter_opens_the_page_and_asks_for_its_details() {
    let mut operator = operator();
    operator.press("2 enter");
    operator.sees("what the limits became").sees("[esc] back");
    assert_eq!(
        operator.asked(),
        [r#"Detail(Pod("win-demo", "hello-win-759c899954-tq5nc"))"#]
    );
    operator.press("y");
    operator.sees("waiting for the API server");
    operator.cluster.yaml = Some(Ok("kind: Pod\nmetadata:\n  name: hello-win".to_owned()));
    operator.look_again();
    operator.sees("  name: hello-win");
    operator.press("esc esc");
    operator.sees("── pods ──");
}

#[test]
fn the_page_of_a_deleted_pod_says_that_it_is_gone() {
    let mut operator = operator();
    operator.press("2 enter");
    operator.cluster.pods.remove(0);
    operator.look_again();
    operator.sees("pod win-demo/hello-win-759c899954-tq5nc is gone");
}

#[test]
fn a_yaml_that_cannot_be_fetched_says_why() {
    let mut operator = operator();
    operator.cluster.yaml = Some(Err("get nodes \"k8s-lab-win-1\" is forbidden".to_owned()));
    operator.press("y");
    operator.sees("is forbidden");
}

#[test]
fn a_long_yaml_line_is_read_by_scrolling_right() {
    let mut operator = operator();
    operator.cluster.yaml = Some(Ok(format!("message: {}end", "x".repeat(120))));
    operator.press("y");
    operator.sees_not("end");
    operator.press("right right right right right right");
    operator.sees("xend");
    operator.press("right");
    operator.sees("right: everything to the right is on screen");
}

#[test]
fn the_sort_menu_sorts_numbers_from_the_largest() {
    let mut operator = operator();
    operator.press("s");
    operator.sees("sort by");
    // namespace of nodes: name, state, os, build, cpu.
    operator.press("down down down down enter");
    operator.sees("sorted by cpu ↓");
    operator.press("s enter");
    operator.sees("sorted by cpu ↑");
}

#[test]
fn the_operating_system_scope_goes_round() {
    let mut operator = operator();
    operator.press("o");
    operator.sees("Windows only").sees_not("k8s-lab-node-1");
    operator.press("o");
    operator.sees("Linux only").sees("k8s-lab-node-1");
    operator.press("o");
    operator.sees("all OS");
}

#[test]
fn hidden_columns_are_reached_by_scrolling_and_the_name_stays() {
    let mut operator = Operator::at(60, 15, Cluster::article());
    operator.press("2");
    operator.sees("more →").sees_not("k8s-lab-node-1");
    operator.press("right right right right right right right right");
    operator.sees("NODE").sees("NAME↑").sees("← 4");
    operator.press("right");
    operator.sees("right: everything to the right");
    operator.press("left left left left left left left");
    operator.sees("left: this is the left end");
}

#[test]
fn the_palette_finds_actions_contexts_and_namespaces() {
    let mut operator = operator();
    operator.ui.options.contexts = vec!["prod-eu".to_owned(), "lab".to_owned()];
    operator.press(":").types("pod").press("enter");
    operator.sees("── pods ──");
    operator.press(":").types("prod").press("enter");
    operator.press(":").types("ns shop").press("enter");
    operator.press(":").types("ctx elsewhere").press("enter");
    assert_eq!(
        operator.asked(),
        [
            r#"SwitchContext("prod-eu")"#,
            r#"Rescope { namespace: Some("shop"), pod_selector: "" }"#,
            r#"SwitchContext("elsewhere")"#,
        ]
    );
}

#[test]
fn the_palette_says_what_cannot_be_done_and_why() {
    let mut operator = operator();
    operator.press(":").types("all names");
    operator.sees("not now: all namespaces are shown already");
    operator.press("enter");
    operator.sees("all namespaces: all namespaces are shown already");
    operator.press(":").types("zzzz").press("enter");
    operator.sees("nothing is called 'zzzz'");
}

#[test]
fn going_to_another_context_closes_what_is_open() {
    let mut operator = operator();
    operator.press("2 j enter :").types("ctx prod").press("enter");
    operator.sees("── pods ──").sees("going to context prod");
    assert_eq!(operator.ui.table().cursor.index, 0);
}

#[test]
fn help_lists_every_key_of_the_place_and_the_columns() {
    let mut operator = Operator::at(120, 90, Cluster::article());
    operator.press("?");
    for words in [
        "ctrl-d",
        "Choose the column to sort by.",
        "What this column says.",
        "palette",
        "[?] help",
    ] {
        operator.sees(words);
    }
    operator.press("?");
    operator.sees("── nodes ──");
}

#[test]
fn the_tabs_are_walked_in_both_directions() {
    let mut operator = operator();
    for title in ["── pods ──", "── updates ──", "── smb ──", "── nodes ──"] {
        operator.press("tab").sees(title);
    }
    operator.press("backtab").sees("── smb ──");
    operator.press("backtab").sees("── updates ──");
    operator.press("3").sees("── updates ──").sees("update: restart");
    operator.press("4").sees("── smb ──").sees("left behind");
}

#[test]
fn q_closes_what_is_open_and_then_leaves() {
    let mut operator = operator();
    operator.press("enter q");
    operator.sees("── nodes ──");
    operator.asked();
    operator.press("q");
    assert_eq!(operator.asked(), ["quit"]);
}

#[test]
fn ctrl_c_leaves_and_ctrl_z_suspends_from_everywhere() {
    for way in ["", "enter", "y", "?", "i", "/", ":", "s"] {
        let mut operator = operator();
        operator.press(way);
        operator.asked();
        operator.press("ctrl-z ctrl-c");
        assert_eq!(operator.asked(), ["suspend", "quit"], "from {way}");
    }
}

#[test]
fn a_released_key_is_no_key() {
    let mut operator = operator();
    let mut event = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    event.kind = KeyEventKind::Release;
    assert!(update(&mut operator.ui, Input::Key(event)).is_empty());
}

#[test]
fn a_paste_goes_into_the_line_of_input_without_its_control_characters() {
    let mut operator = operator();
    operator.press("2 /");
    update(&mut operator.ui, Input::Paste("tk\u{1b}[31m\nfg6".to_owned()));
    operator.look_again();
    operator.sees("/tk[31mfg6");
    // Without a line of input a paste is no keys: nothing happens.
    operator.press("esc");
    update(&mut operator.ui, Input::Paste("q".to_owned()));
    assert!(operator.asked().is_empty());
}

#[test]
fn only_what_is_on_screen_is_measured() {
    let mut operator = operator();
    assert_eq!(
        operator.ui.demand(),
        Demand {
            nodes: true,
            containers: false,
            history: true,
            event_log: None,
            smb: false,
        }
    );
    operator.press("2");
    assert!(operator.ui.demand().containers && !operator.ui.demand().history);
    operator.press("1 enter");
    assert!(operator.ui.demand().containers && operator.ui.demand().history);
}

#[test]
fn after_a_smaller_size_the_selected_row_is_still_on_screen() {
    let mut operator = Operator::at(100, 50, Cluster::article());
    operator.press("2 G k k");
    let pointed = operator.ui.selected().cloned();
    update(&mut operator.ui, Input::Resize(Size::new(60, 15)));
    operator.look_again();
    assert_eq!(operator.ui.selected().cloned(), pointed);
    assert!(operator.pointed().contains("37abc"));
}

#[test]
fn an_escape_sequence_in_any_text_never_reaches_a_cell() {
    let mut operator = operator();
    operator.cluster.header.context = "evil\u{1b}]0;title\u{7}".into();
    operator.cluster.notice = Some(plain("a\u{1b}[2Jb\u{202e}c\u{9b}31m", Role::Error));
    operator.cluster.yaml = Some(Ok("key: \u{1b}[31mred".to_owned()));
    for keys in ["", "2", "y", "esc", "i", "esc", "enter"] {
        operator.press(keys);
        let cells = operator.frame.buffer.content.iter();
        for cell in cells {
            let harmful = |c: char| c.is_control() || c == '\u{202e}';
            assert!(
                !cell.symbol().contains(harmful),
                "{:?} after {keys}",
                cell.symbol()
            );
        }
    }
}

#[test]
fn the_marks_are_on_every_screen() {
    let mut operator = operator();
    operator.ui.options.demo = true;
    operator.ui.options.read_only = true;
    for keys in ["2", "enter", "y", "?", "1", "/", "esc", ":"] {
        operator.press(keys);
        operator.sees("READ-ONLY").sees("DEMO");
    }
}
