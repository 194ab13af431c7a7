//! However the program ends, the terminal is as it was.

use super::desk::Desk;

/// Ways into every screen that exists without a cluster: tables, help, sources, palette, prompts, sort menu.
pub const SCREENS: [&str; 7] = ["", "2", "?", "i", ":", "/", "s"];

#[test]
fn q_leaves_and_the_terminal_is_as_before() {
    let mut desk = Desk::with_drainboard();
    desk.until_open();
    desk.until_it_shows("nowhere");
    assert!(!desk.is_cooked());
    desk.types("q");
    assert_eq!(desk.until_ended(), 0);
    desk.until("a cooked terminal", Desk::is_cooked);
}

#[test]
fn an_unreachable_server_is_told_on_the_screen_with_what_to_do() {
    let desk = Desk::with_drainboard();
    desk.until_it_shows("Connection refused");
    desk.until_it_shows("check");
}

#[test]
fn a_signal_in_any_screen_restores_the_terminal() {
    for (signal, keys) in ["TERM", "HUP", "INT"].iter().cycle().zip(SCREENS) {
        let mut desk = Desk::with_drainboard();
        desk.until_open();
        desk.types(keys);
        Desk::signal(signal, desk.process());
        desk.until_ended();
        desk.until("a cooked terminal", Desk::is_cooked);
    }
}

#[test]
fn a_lost_terminal_ends_the_program() {
    let mut desk = Desk::with_drainboard();
    desk.until_open();
    desk.close();
    desk.until_ended();
}

#[test]
fn a_panic_of_the_screens_restores_the_terminal_and_tells_its_message_there() {
    let mut desk = Desk::with_child("a_panic_of_the_screens");
    desk.until_it_shows("the screens fell over");
    desk.until_ended();
    desk.until("a cooked terminal", Desk::is_cooked);
    assert!(
        desk.screen().contains("the screens fell over"),
        "{}",
        desk.screen()
    );
}

#[test]
fn a_panic_in_a_background_task_leaves_the_screens_alone() {
    let mut desk = Desk::with_child("a_panic_in_the_background");
    desk.until_open();
    desk.types("q");
    desk.until_ended();
    let text = String::from_utf8_lossy(&desk.bytes()).into_owned();
    assert!(!text.contains("in the background"), "{text}");
    desk.until("a cooked terminal", Desk::is_cooked);
}

#[test]
fn without_a_terminal_nothing_is_taken() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_drainboard"))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("need a terminal"), "{told}");
    assert!(output.stdout.is_empty());
}
