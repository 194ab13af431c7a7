//! The loop of the screens: keys first and drawn at once, data folded and drawn at most every 33 ms, nothing
//! drawn when nothing changed.

use super::actions::Place;
use super::app::{self, Effect, Input};
use super::maintain::{Order, Underway};
use super::render::{self, Frame, Look};
use super::scene;
use super::ui::{Message, Ui};
use super::views::Views;
use crate::domain::Timestamp;
use crate::maintenance::round::Round;
use crate::sources::event::{Request, SourceEvent};
use crate::store::Store;
use crate::store::view::Role;
use ratatui::layout::Size;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Shortest time between two frames for data.
const FRAME: Duration = Duration::from_millis(33);
/// Ages and the clock move once a second.
const TICK: Duration = Duration::from_secs(1);
/// Longest time that messages are folded before keys are looked at again.
const FOLDING: Duration = Duration::from_millis(8);

/// What the console heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The operator.
    Input(Input),
    /// A signal to stop for a while.
    Suspend,
    /// The program was stopped and goes on.
    Continued,
    /// A signal to end, or the terminal is gone.
    Leave,
}

/// Screen and keyboard.
pub trait Console {
    /// Size in cells.
    fn size(&self) -> io::Result<Size>;
    /// The next thing heard. Cancel safe.
    fn hear(&mut self) -> impl Future<Output = io::Result<Heard>>;
    /// Shows a frame.
    fn draw(&mut self, frame: &Frame) -> io::Result<()>;
    /// Gives the terminal to the shell, stops, and takes it again when the operator comes back.
    fn suspend(&mut self) -> io::Result<()>;
    /// Takes the terminal again after a stop that nobody announced.
    fn continued(&mut self) -> io::Result<()>;
    /// Puts a text into the clipboard of the terminal, which may ignore that.
    fn copy(&mut self, text: &str) -> io::Result<()>;
}

/// Does what the screens order.
pub trait Workshop<S> {
    /// Begins with it, or says why not.
    fn order(&mut self, order: Order, store: &S) -> Result<(), String>;
    /// Looks at the cluster.
    fn observe(&mut self, store: &S);
    /// Waits for the next thing to do and does it; what the operator must be told at once is answered. Cancel safe.
    fn work(&mut self) -> impl Future<Output = Option<Message>>;
    /// Takes note of the boots of the nodes, and tells the store what is remembered of them. Whether that changed anything
    /// visible.
    fn remember(&mut self, store: &mut S) -> bool;
    /// The maintenance as it is now, if that changed since it was asked last.
    fn news(&mut self) -> Option<Arc<Underway>>;
    /// The round as it is now, if that changed since it was asked last.
    fn round_news(&mut self) -> Option<Arc<Round>>;
}

/// What folds the messages of the sources.
pub trait Fold {
    /// Folds a message; whether anything visible may have changed.
    fn apply(&mut self, event: SourceEvent, now: Timestamp) -> bool;
}

impl Fold for Store {
    fn apply(&mut self, event: SourceEvent, now: Timestamp) -> bool {
        self.apply(event, now)
    }
}

/// The ways to and from the sources.
pub struct Lines<'a> {
    /// Messages of the sources.
    pub events: &'a mut mpsc::Receiver<SourceEvent>,
    /// Requests to the sources.
    pub requests: mpsc::UnboundedSender<Request>,
}

/// Runs until the operator leaves.
///
/// # Errors
/// The terminal cannot be read or written.
pub async fn run<S: Views + Fold>(
    console: &mut impl Console,
    store: &mut S,
    lines: &mut Lines<'_>,
    workshop: &mut impl Workshop<S>,
    ui: &mut Ui,
    look: &Look,
    clock: impl Fn() -> Timestamp,
) -> io::Result<()> {
    ui.size = console.size()?;
    ask(lines, Request::Demand(ui.demand()));
    let mut painter = Painter::default();
    painter.paint(console, store, ui, look, clock())?;
    let mut look_at = LookAt::default();
    loop {
        painter.stale |= workshop.remember(store);
        if LookAt::learn(ui, workshop) {
            painter.stale = true;
            look_at.again();
        }
        let data_frame = painter.data_frame();
        tokio::select! {
            biased;
            heard = console.hear() => {
                let begin = Instant::now();
                let mut next = Some(heard?);
                while let Some(heard) = next.take() {
                    let resized = matches!(heard, Heard::Input(Input::Resize(_)));
                    match answer(console, lines, (store, workshop), ui, heard, clock())? {
                        Next::Leave => return Ok(()),
                        Next::Again => painter.forget(),
                        Next::GoOn => {}
                    }
                    // A storm of sizes gets one frame, and so does what is typed into a line of input faster
                    // than it can be drawn. Any other key gets its own: the next one may be about the row that
                    // this one selects.
                    if (resized || ui.modal.is_some()) && begin.elapsed() < FRAME {
                        next = heard_already(console).await.transpose()?;
                    }
                }
                LookAt::learn(ui, workshop);
                look_at.again();
                painter.paint(console, store, ui, look, clock())?;
            }
            () = tokio::time::sleep_until(data_frame), if painter.stale => {
                painter.paint(console, store, ui, look, clock())?;
            }
            message = workshop.work() => {
                // The page of the maintenance says it itself.
                if message.is_some() && ui.reading_place() != Place::Workflow {
                    ui.message = message;
                }
                painter.stale = true;
            }
            () = tokio::time::sleep_until(look_at.due()), if look_at.is_wanted() && ui.at_work().is_some() => {
                workshop.observe(store);
                painter.stale |= look_at.looked(ui, workshop);
            }
            event = lines.events.recv(), if !lines.events.is_closed() || !lines.events.is_empty() => {
                let now = clock();
                let begin = Instant::now();
                let mut next = event;
                while let Some(event) = next {
                    if store.apply(event, now) {
                        painter.stale = true;
                        look_at.again();
                    }
                    next = if begin.elapsed() < FOLDING { lines.events.try_recv().ok() } else { None };
                }
            }
            () = tokio::time::sleep_until(painter.painted + TICK) => {
                painter.paint(console, store, ui, look, clock())?;
            }
        }
    }
}

/// What is there to hear without waiting. Polled with the waker of the loop's own task: crossterm's stream keeps the
/// waker of the first poll that found nothing, and one that wakes nobody would leave the next key unheard.
async fn heard_already(console: &mut impl Console) -> Option<io::Result<Heard>> {
    tokio::select! {
        biased;
        heard = console.hear() => Some(heard),
        () = std::future::ready(()) => None,
    }
}

/// When the maintenance that is under way looks at the cluster: after a change, and not oftener than data is painted.
struct LookAt {
    last: Instant,
    wanted: bool,
}

impl Default for LookAt {
    fn default() -> Self {
        Self {
            last: Instant::now(),
            wanted: false,
        }
    }
}

impl LookAt {
    const fn again(&mut self) {
        self.wanted = true;
    }

    const fn is_wanted(&self) -> bool {
        self.wanted
    }

    fn due(&self) -> Instant {
        self.last + FRAME
    }

    /// Takes what became of the maintenance to the screens; whether anything did.
    fn learn<S>(ui: &mut Ui, workshop: &mut impl Workshop<S>) -> bool {
        let (news, round) = (workshop.news(), workshop.round_news());
        let any = news.is_some() || round.is_some();
        if news.is_some() {
            ui.underway = news;
        }
        if round.is_some() {
            ui.round = round;
        }
        any
    }

    /// It has looked. A step that this led to looks once more: what it waits for may be there already.
    fn looked<S>(&mut self, ui: &mut Ui, workshop: &mut impl Workshop<S>) -> bool {
        let step = |ui: &Ui| ui.busy().map(|state| state.step);
        let before = step(ui);
        let any = Self::learn(ui, workshop);
        self.last = Instant::now();
        self.wanted = step(ui) != before;
        any
    }
}

/// What follows from something heard.
enum Next {
    Leave,
    /// The terminal shows something else now.
    Again,
    GoOn,
}

fn answer<S: Views>(
    console: &mut impl Console,
    lines: &Lines<'_>,
    (store, workshop): (&S, &mut impl Workshop<S>),
    ui: &mut Ui,
    heard: Heard,
    now: Timestamp,
) -> io::Result<Next> {
    let effects = match heard {
        Heard::Leave => return Ok(Next::Leave),
        Heard::Suspend => vec![Effect::Suspend],
        Heard::Continued => {
            console.continued()?;
            ui.size = console.size()?;
            return Ok(Next::Again);
        }
        Heard::Input(input) => app::update(ui, input),
    };
    let mut next = Next::GoOn;
    for effect in effects {
        match effect {
            Effect::Quit => return Ok(Next::Leave),
            Effect::Request(request) => ask(lines, request),
            Effect::Suspend => {
                console.suspend()?;
                ui.size = console.size()?;
                next = Next::Again;
            }
            Effect::Maintain(order) => {
                if let Err(text) = workshop.order(order, store) {
                    let role = Role::Error;
                    ui.message = Some(Message { text, role });
                }
            }
            Effect::CopyCommands => copy(console, store, ui, now)?,
        }
    }
    Ok(next)
}

fn copy<S: Views>(console: &mut impl Console, store: &S, ui: &mut Ui, now: Timestamp) -> io::Result<()> {
    let Some(state) = ui.busy() else { return Ok(()) };
    let commands = store.commands(state, now);
    console.copy(&commands.join("\n"))?;
    let lines = commands.len();
    let text = format!("{lines} lines are in the clipboard, if the terminal allows that");
    ui.message = Some(Message {
        text,
        role: Role::Muted,
    });
    Ok(())
}

/// Sources that are gone are told by their states; there is nobody else to tell.
fn ask(lines: &Lines<'_>, request: Request) {
    if lines.requests.send(request).is_err() {
        tracing::debug!("the sources are gone");
    }
}

/// Remembers what is on the screen.
struct Painter {
    shown: Option<Frame>,
    /// When it was last compared with what should be there.
    painted: Instant,
    /// Whether data came since.
    stale: bool,
}

impl Default for Painter {
    fn default() -> Self {
        Self {
            shown: None,
            painted: Instant::now(),
            stale: false,
        }
    }
}

impl Painter {
    /// When data may be painted next.
    fn data_frame(&self) -> Instant {
        self.painted + FRAME
    }

    /// The screen shows something else now.
    fn forget(&mut self) {
        self.shown = None;
    }

    /// Draws what changed, if anything.
    fn paint<S: Views>(
        &mut self,
        console: &mut impl Console,
        store: &mut S,
        ui: &mut Ui,
        look: &Look,
        now: Timestamp,
    ) -> io::Result<()> {
        let scene = scene::build(ui, store, now);
        let frame = render::frame(&scene, ui, look);
        self.painted = Instant::now();
        self.stale = false;
        if self.shown.as_ref() != Some(&frame) {
            console.draw(&frame)?;
            self.shown = Some(frame);
        }
        Ok(())
    }
}
