//! A pseudo-terminal with a screen that can be read, and a program on it.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest wait for a condition: a busy machine is not a failure.
const PATIENCE: Duration = Duration::from_mins(2);

/// What the terminal got.
struct Received {
    screen: vt100::Parser,
    bytes: Vec<u8>,
    /// The connection is lost: nobody reads any more.
    lost: bool,
}

/// A terminal and what runs on it.
pub struct Desk {
    received: Arc<Mutex<Received>>,
    master: Option<Box<dyn MasterPty + Send>>,
    keyboard: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    _home: TempDir,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn screen_of(columns: u16, rows: u16) -> vt100::Parser {
    let nonzero = |cells| NonZeroU16::new(cells).unwrap();
    vt100::Parser::new(nonzero(rows), nonzero(columns), 0)
}

/// A kubeconfig whose API server refuses every connection: the screens open and say so.
fn kubeconfig(home: &Path) {
    let text = "\
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
clusters: [{name: nowhere, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: nobody, user: {token: none}}]
";
    std::fs::write(home.join("kubeconfig"), text).unwrap();
}

impl Desk {
    /// `drainboard` on a terminal of 100x30.
    pub fn with_drainboard() -> Self {
        Self::with(env!("CARGO_BIN_EXE_drainboard"), &[], &[])
    }

    /// A program on a terminal of 100x30, in an environment of its own.
    pub fn with(program: &str, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        kubeconfig(home.path());
        let mut command = CommandBuilder::new(program);
        command.args(words);
        command.env_clear();
        command.cwd(home.path());
        command.env("HOME", home.path());
        command.env("KUBECONFIG", home.path().join("kubeconfig"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in variables {
            command.env(name, value);
        }
        let pair = native_pty_system().openpty(size(100, 30)).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        let received = Arc::new(Mutex::new(Received {
            screen: screen_of(100, 30),
            bytes: Vec::new(),
            lost: false,
        }));
        listen(pair.master.try_clone_reader().unwrap(), Arc::clone(&received));
        Self {
            received,
            keyboard: Some(pair.master.take_writer().unwrap()),
            master: Some(pair.master),
            child,
            _home: home,
        }
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap()
    }

    /// The screen as text.
    pub fn screen(&self) -> String {
        self.received().screen.screen().contents()
    }

    /// Everything that the terminal got.
    pub fn bytes(&self) -> Vec<u8> {
        self.received().bytes.clone()
    }

    /// Whether the program has the alternate screen.
    pub fn alternate(&self) -> bool {
        self.received().screen.screen().alternate_screen()
    }

    /// Whether cursor, bracketed paste and the line discipline are as a shell expects them.
    pub fn is_cooked(&self) -> bool {
        let cooked = self.line_discipline().contains("ICANON");
        let received = self.received();
        let screen = received.screen.screen();
        cooked && !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
    }

    fn line_discipline(&self) -> String {
        let termios = self.master.as_ref().and_then(|master| master.get_termios());
        format!("{:?}", termios.unwrap().local_flags)
    }

    /// Waits for a condition.
    #[track_caller]
    pub fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(
                begin.elapsed() < PATIENCE,
                "never {what}; on the screen:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for words on the screen.
    #[track_caller]
    pub fn until_it_shows(&self, words: &str) {
        self.until(&format!("'{words}' on the screen"), |desk| {
            desk.screen().contains(words)
        });
    }

    /// Waits for the screens of drainboard.
    #[track_caller]
    pub fn until_open(&self) {
        self.until("the screens", |desk| {
            desk.alternate() && desk.screen().contains("[?] help")
        });
    }

    /// Types.
    pub fn types(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Sends a signal to a process by its id.
    pub fn signal(name: &str, process: u32) {
        let sent = Command::new("kill")
            .args(["-s", name, &process.to_string()])
            .status()
            .unwrap();
        assert!(sent.success(), "kill -s {name} {process}");
    }

    /// Process id of the program.
    pub fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Changes the size of the terminal.
    pub fn resize(&self, columns: u16, rows: u16) {
        let mut received = self.received();
        received.screen = screen_of(columns, rows);
        // A new emulator starts on the main screen, where the program left it for the alternate one.
        received.screen.process(b"\x1b[?1049h");
        self.master.as_ref().unwrap().resize(size(columns, rows)).unwrap();
    }

    /// Closes the terminal, as a lost connection does. The reader notices with the next byte, at the latest
    /// when the clock of the screens moves.
    pub fn close(&mut self) {
        self.received().lost = true;
        self.keyboard = None;
        self.master = None;
    }

    /// Waits for the program's end and answers its exit code.
    #[track_caller]
    pub fn until_ended(&mut self) -> u32 {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "never ended; on the screen:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // A failed test leaves nothing behind; a program that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what the program writes until the terminal is closed.
fn listen(mut reader: Box<dyn Read + Send>, received: Arc<Mutex<Received>>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            let read = reader.read(&mut bytes).unwrap_or(0);
            let Ok(mut received) = received.lock() else { return };
            if read == 0 || received.lost {
                return;
            }
            received.bytes.extend_from_slice(&bytes[..read]);
            received.screen.process(&bytes[..read]);
        }
    });
}
