//! A whole maintenance with the keyboard, on 80x24: drain, update, restart, network, uncordon, pods back.

use super::desk::Desk;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WIN: &str = "k8s-lab-win-1";
const DRAINBOARD: &str = env!("CARGO_BIN_EXE_drainboard");

/// The simulated cluster in a process of its own, which outlives the screens.
struct Lab {
    process: Child,
    home: TempDir,
}

impl Lab {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let process = Command::new(DRAINBOARD)
            .args(["demo", "--serve", "--speed", "20", "--kubeconfig"])
            .arg(home.path().join("kubeconfig"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let lab = Self { process, home };
        let begin = Instant::now();
        while !lab.home.path().join("kubeconfig").exists() {
            assert!(begin.elapsed() < Duration::from_mins(2), "the lab never started");
            thread::sleep(Duration::from_millis(20));
        }
        lab
    }

    fn kubeconfig(&self) -> String {
        self.home.path().join("kubeconfig").display().to_string()
    }

    /// The screens on it, with the operator's hand at the node.
    fn desk(&self, words: &[&str]) -> Desk {
        let reboot = format!("--reboot-command={DRAINBOARD} lab update {{node}}");
        let mut all = vec![reboot.as_str()];
        all.extend(words);
        let kubeconfig = self.kubeconfig();
        let state = self.home.path().display().to_string();
        let desk = Desk::with(
            DRAINBOARD,
            &all,
            &[("KUBECONFIG", &kubeconfig), ("XDG_STATE_HOME", &state)],
        );
        desk.until_open();
        desk.resize(80, 24);
        desk.until_it_shows(WIN);
        desk
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// From the table of updates to the question whether to begin.
fn asks_to_begin(desk: &mut Desk) {
    desk.types("3");
    desk.until_it_shows("Patch Tuesday 20");
    desk.types("/win-1\r");
    desk.until_it_shows("/win-1");
    desk.until_it_shows("[m] maintain…");
    desk.types("m");
    desk.until_it_shows("maintain k8s-lab-win-1 for: update");
    desk.types("\r");
    desk.until_it_shows("begin? k8s-lab-win-1 is cordoned");
}

#[test]
fn from_the_first_key_to_the_last_with_the_help_read_on_the_way() {
    let lab = Lab::start();
    let mut desk = lab.desk(&[]);
    asks_to_begin(&mut desk);
    desk.types("\rk8s-lab-win-1\r");
    desk.until_it_shows("waiting for a boot id other than");
    desk.types("?");
    desk.until_it_shows("Restart the node by --reboot-command");
    desk.types("?");
    desk.until_it_shows("[r] run reboot…");
    desk.types("rk8s-lab-win-1\r");
    desk.until_it_shows("✔ done: k8s-lab-win-1 takes pods again");
    desk.types("qqq");
    assert_eq!(desk.until_ended(), 0);
}

#[test]
fn work_that_was_left_is_gone_on_with_from_another_terminal() {
    let lab = Lab::start();
    let mut desk = lab.desk(&[]);
    asks_to_begin(&mut desk);
    desk.types("\rk8s-lab-win-1\r");
    desk.until_it_shows("waiting for a boot id other than");
    desk.types("q");
    desk.until_it_shows("⏸ k8s-lab-win-1 Restart");
    // The first closes the filter's table, and asks.
    desk.types("q");
    desk.until_it_shows("q again leaves");
    desk.types("q");
    assert_eq!(desk.until_ended(), 0);
    desk.until_it_shows("go on with `drainboard maintain k8s-lab-win-1 --resume`");
    let mut desk = lab.desk(&[]);
    desk.types("3/win-1\r");
    desk.until_it_shows("⏸ restart");
    desk.types("mk8s-lab-win-1\r");
    desk.until_it_shows("before this run of the program");
    desk.types("rk8s-lab-win-1\r");
    desk.until_it_shows("✔ done: k8s-lab-win-1 takes pods again");
}

#[test]
fn read_only_begins_nothing() {
    let lab = Lab::start();
    let mut desk = lab.desk(&["--read-only"]);
    desk.types("3m");
    desk.until_it_shows("started with --read-only");
    desk.types("C");
    desk.until_it_shows("cordon…: started with --read-only");
}
