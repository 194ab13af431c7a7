//! The only module that touches the terminal: it takes the screen and the keyboard, gives them back however the
//! program ends or pauses, and draws whole frames.

use super::app::Input;
use super::event_loop::{Console, Heard};
use super::render::Frame;
use futures::StreamExt;
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, EventStream};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::{Position, Rect, Size};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook_tokio::{Handle, Signals};
use std::io::{self, Stdout, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the modes are ours, so that they are given back exactly once.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Screen, keyboard and signals while they are ours; given back when dropped.
pub struct RealConsole {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    events: EventStream,
    signals: Signals,
    signals_handle: Handle,
    /// The next SIGCONT is the echo of our own suspension.
    resumed: bool,
}

impl RealConsole {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Standard input or output is no terminal, or the signals cannot be listened to.
    pub fn take() -> io::Result<Self> {
        restore_on_panic();
        let signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT])?;
        let signals_handle = signals.handle();
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).inspect_err(|_| leave())?;
        Ok(Self {
            terminal,
            events: EventStream::new(),
            signals,
            signals_handle,
            resumed: false,
        })
    }

    /// Takes the modes again after the shell had the terminal. Nothing is known about what is on it now.
    fn resume(&mut self) -> io::Result<()> {
        enter()?;
        // The size may have changed meanwhile, and the cells that were drawn are gone. `resize` clears without
        // asking where the cursor is, which would have to be read from the keyboard.
        let size = self.terminal.backend().size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }
}

impl Drop for RealConsole {
    fn drop(&mut self) {
        self.signals_handle.close();
        leave();
    }
}

impl Console for RealConsole {
    fn size(&self) -> io::Result<Size> {
        self.terminal.backend().size()
    }

    async fn hear(&mut self) -> io::Result<Heard> {
        loop {
            let event = tokio::select! {
                biased;
                signal = self.signals.next() => match signal {
                    Some(SIGTSTP) => return Ok(Heard::Suspend),
                    Some(SIGCONT) if std::mem::take(&mut self.resumed) => continue,
                    Some(SIGCONT) => return Ok(Heard::Continued),
                    Some(_) | None => return Ok(Heard::Leave),
                },
                event = self.events.next() => event,
            };
            match event {
                Some(Ok(Event::Key(key))) => return Ok(Heard::Input(Input::Key(key))),
                Some(Ok(Event::Paste(text))) => return Ok(Heard::Input(Input::Paste(text))),
                Some(Ok(Event::Resize(width, height))) => {
                    return Ok(Heard::Input(Input::Resize(Size::new(width, height))));
                }
                Some(Ok(Event::FocusGained | Event::FocusLost | Event::Mouse(_))) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(Heard::Leave),
            }
        }
    }

    fn draw(&mut self, frame: &Frame) -> io::Result<()> {
        execute!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.terminal.draw(|target| frame.show(target));
        let drawn = drawn.map(|_| ());
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    fn suspend(&mut self) -> io::Result<()> {
        leave();
        // Raw mode turned Ctrl-Z into a key; this is what the terminal would have done with it. The stream of
        // events lives on: a stopped program reads no keys, and crossterm 0.29 loses the first keys after a
        // stream was dropped (its waker hides that the terminal became readable in the same poll).
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        self.resumed = true;
        self.resume()
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(
            self.terminal.backend_mut(),
            CopyToClipboard::to_clipboard_from(text)
        )
    }

    fn continued(&mut self) -> io::Result<()> {
        // Stopped from outside (SIGSTOP): the shell may have changed the modes behind our back, so they are given
        // up before they are taken again; crossterm would otherwise think that it still has them.
        leave();
        self.resume()
    }
}

fn enter() -> io::Result<()> {
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)
}

/// Gives the terminal back. Errors have nobody to be told to: the terminal is gone, or the program is ending.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let shown = execute!(
        stdout(),
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let cooked = disable_raw_mode();
    if let Err(error) = shown.and(cooked) {
        tracing::debug!(%error, "the terminal could not be restored");
    }
}

/// A panic of the screens gives the terminal back before its message is printed. A panic in a background task
/// leaves the screens alone: the task's owner reports it as a failed source.
fn restore_on_panic() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if TAKEN.load(Ordering::SeqCst) && tokio::task::try_id().is_some() {
                tracing::error!(%panic, "a background task panicked");
                return;
            }
            leave();
            print(panic);
        }));
    });
}
