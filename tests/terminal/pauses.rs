//! Ctrl-Z and fg, as an operator's shell does them; and stops that nobody announced.

use super::desk::Desk;
use super::ends::SCREENS;

/// An interactive shell whose prompt is known.
fn shell() -> Desk {
    let desk = Desk::with(
        "bash",
        &["--norc", "--noprofile", "-i"],
        &[("PS1", "at-the-shell> ")],
    );
    desk.until_it_shows("at-the-shell>");
    desk
}

fn run_drainboard(desk: &mut Desk) {
    desk.types(concat!(env!("CARGO_BIN_EXE_drainboard"), "\n"));
    desk.until_open();
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_comes_back() {
    let mut desk = shell();
    run_drainboard(&mut desk);
    for keys in SCREENS {
        desk.types(keys);
        desk.types("\x1a");
        desk.until("the shell", |desk| {
            !desk.alternate() && desk.screen().contains("Stopped")
        });
        desk.types("clear; echo here-$((40 + 2))\n");
        desk.until_it_shows("here-42");
        desk.types("fg\n");
        desk.until("the screens", Desk::alternate);
        desk.until_it_shows("nowhere");
        desk.types("\x1b");
    }
    desk.types("\x03");
    desk.until("the shell", |desk| !desk.alternate());
    desk.types("echo done-$((1 + 1))\n");
    desk.until_it_shows("done-2");
}

#[test]
fn after_a_stop_from_outside_the_screens_are_drawn_again() {
    let mut desk = Desk::with_drainboard();
    desk.until_open();
    let drawn = desk.bytes().len();
    Desk::signal("STOP", desk.process());
    Desk::signal("CONT", desk.process());
    desk.until("drawn again", |desk| {
        let bytes = desk.bytes();
        let text = String::from_utf8_lossy(&bytes[drawn..]).into_owned();
        text.contains("\x1b[?1049h") && text.contains("help")
    });
    desk.until_open();
    desk.types("q");
    assert_eq!(desk.until_ended(), 0);
    desk.until("a cooked terminal", Desk::is_cooked);
}
