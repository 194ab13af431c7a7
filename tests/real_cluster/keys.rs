//! Every key in every screen under `--read-only`, with the audit log of the real API server as the witness.

use std::thread;
use std::time::Duration;

use crate::desk::Desk;
use crate::lab::Lab;
use crate::parts::{User, kubeconfig};
use crate::read_only::{lines_so_far, requests_of_the_admin, writes};

/// Ways into the screens, from the table of nodes.
const SCREENS: &[&str] = &["1", "2", "3", "1\r", "2\r", "1y", "?", "i"];

/// Time between two keys: a terminal takes an escape that is followed at once by a letter for one key.
const BETWEEN_KEYS: Duration = Duration::from_millis(15);

/// Every printable key and every control key but those that leave or suspend the program, and a few longer ones.
fn keys() -> Vec<String> {
    let printable = (b' '..=b'~').filter(|key| *key != b'q');
    let control = (1..=26_u8).filter(|key| ![3, 26].contains(key));
    printable
        .chain(control)
        .map(|key| char::from(key).to_string())
        .chain(["\x1b[A", "\x1b[5~", "\x1bOP", "\x1b[3~"].map(str::to_owned))
        .collect()
}

fn press(desk: &mut Desk, keys: &str) {
    desk.types(keys);
    thread::sleep(BETWEEN_KEYS);
}

#[test]
fn no_key_writes() {
    let _lab = Lab::attach();
    let from = lines_so_far();
    let kubeconfig = kubeconfig(User::Admin);
    let words = ["--read-only", "--kubeconfig", kubeconfig.to_str().expect("UTF-8")];
    let mut desk = Desk::with(env!("CARGO_BIN_EXE_drainboard"), &words, &[]);
    desk.until_open();
    desk.until_it_shows("READ-ONLY");
    desk.until_it_shows("k8s-lab-win-1");
    for screen in SCREENS {
        for key in keys() {
            for way in screen.chars() {
                press(&mut desk, &way.to_string());
            }
            press(&mut desk, &key);
            // Whatever asks for a name gets it, and is confirmed.
            press(&mut desk, "k8s-lab-win-1");
            press(&mut desk, "\r");
            for _ in 0..2 {
                press(&mut desk, "\x1b");
            }
        }
    }
    assert!(desk.alternate(), "{}", desk.screen());
    desk.types("\x03");
    desk.until_ended();
    let events = requests_of_the_admin(from);
    assert!(events.len() > 50, "only {} requests were seen", events.len());
    assert_eq!(writes(&events), Vec::<String>::new());
}
