//! Sizes, colours and characters of terminals.

use super::desk::Desk;

#[test]
fn after_a_storm_of_sizes_the_screen_fits_the_last_one() {
    let mut desk = Desk::with_drainboard();
    desk.until_open();
    for step in 0..60 {
        desk.resize(60 + step, 15 + step / 2);
    }
    desk.resize(72, 20);
    desk.until("the footer in the last row", |desk| {
        let screen = desk.screen();
        let lines: Vec<&str> = screen.lines().collect();
        lines.len() == 20 && lines[19].contains("[?] help") && lines[1].contains("1 Nodes")
    });
    desk.types("q");
    assert_eq!(desk.until_ended(), 0);
}

#[test]
fn a_terminal_that_is_too_small_says_so_and_grows_back() {
    let desk = Desk::with_drainboard();
    desk.until_open();
    desk.resize(40, 10);
    desk.until_it_shows("at least 60x15, this is 40x10");
    desk.resize(80, 24);
    desk.until_open();
}

#[test]
fn without_colours_and_utf_8_only_plain_characters_are_sent() {
    let mut desk = Desk::with(
        env!("CARGO_BIN_EXE_drainboard"),
        &[],
        &[("NO_COLOR", "1"), ("LANG", "C")],
    );
    desk.until_open();
    desk.types("q");
    desk.until_ended();
    let bytes = desk.bytes();
    assert!(bytes.is_ascii());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let colours = text
        .split("\x1b[")
        .skip(1)
        .filter_map(|rest| rest.split_once('m'))
        .filter(|(codes, _)| codes.chars().all(|c| c.is_ascii_digit() || c == ';'))
        .flat_map(|(codes, _)| codes.split(';'))
        .filter_map(|code| code.parse::<u16>().ok())
        .filter(|code| matches!(code, 30..=38 | 40..=48 | 90..=107));
    assert_eq!(colours.count(), 0, "{text:?}");
}

#[test]
fn the_terminal_is_never_asked_for_its_cursor() {
    let mut desk = Desk::with_drainboard();
    desk.until_open();
    desk.types("\x1a");
    desk.until("stopped", |desk| !desk.alternate());
    Desk::signal("CONT", desk.process());
    desk.until_open();
    desk.types("q");
    desk.until_ended();
    assert!(!String::from_utf8_lossy(&desk.bytes()).contains("\x1b[6n"));
}
