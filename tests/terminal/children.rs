//! Programs that fall over on purpose. They run only as children on a terminal of another test, which names them
//! in the environment.

use super::desk::Desk;
use drainboard::sources::event::Payload;
use drainboard::store::Store;
use drainboard::tui::event_loop::{self, Console, Heard, Lines};
use drainboard::tui::glyphs::Charset;
use drainboard::tui::render::{Frame, Look};
use drainboard::tui::sessions::{Sessions, Terms};
use drainboard::tui::terminal::RealConsole;
use drainboard::tui::theme::Theme;
use drainboard::tui::ui::{Options, Ui};
use ratatui::layout::Size;
use std::io;
use tokio::sync::{mpsc, oneshot, watch};

/// Names the child to run.
const CHILD: &str = "DRAINBOARD_TEST_CHILD";

impl Desk {
    /// A child of this file on a terminal.
    pub fn with_child(name: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        let test = format!("children::{name}");
        Self::with(
            &program.to_string_lossy(),
            &["--exact", &test, "--nocapture"],
            &[(CHILD, name)],
        )
    }
}

/// The real console, which panics or not when it hears a key.
struct Falling {
    console: RealConsole,
    falls: bool,
}

impl Console for Falling {
    fn size(&self) -> io::Result<Size> {
        self.console.size()
    }

    async fn hear(&mut self) -> io::Result<Heard> {
        self.console.hear().await
    }

    fn draw(&mut self, frame: &Frame) -> io::Result<()> {
        self.console.draw(frame)?;
        assert!(!self.falls, "the screens fell over");
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.console.suspend()
    }

    fn continued(&mut self) -> io::Result<()> {
        self.console.continued()
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        self.console.copy(text)
    }
}

fn play(falls: bool) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut console = Falling {
            console: RealConsole::take().unwrap(),
            falls,
        };
        let (fell, told) = oneshot::channel::<Payload>();
        tokio::spawn(async move {
            let _fell = fell;
            assert!(falls, "in the background");
        });
        // The sender is dropped by the panic, or by the task's end.
        let _ = told.await;
        let look = Look {
            theme: Theme::named("terminal").unwrap(),
            charset: Charset::Unicode,
        };
        let (_events, mut said) = mpsc::channel(1);
        let (requests, _asked) = mpsc::unbounded_channel();
        let mut lines = Lines {
            events: &mut said,
            requests,
        };
        let (_nobody, client) = watch::channel(None);
        let mut ui = Ui::new(Options::default());
        event_loop::run(
            &mut console,
            &mut Store::new(),
            &mut lines,
            &mut Sessions::new(client, Terms::default()),
            &mut ui,
            &look,
            chrono::Utc::now,
        )
        .await
        .unwrap();
    });
}

#[test]
fn a_panic_of_the_screens() {
    if std::env::var(CHILD).is_ok_and(|name| name == "a_panic_of_the_screens") {
        play(true);
    }
}

#[test]
fn a_panic_in_the_background() {
    if std::env::var(CHILD).is_ok_and(|name| name == "a_panic_in_the_background") {
        play(false);
    }
}
