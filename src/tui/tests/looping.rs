//! The loop: what is drawn when, and what the sources are asked.

use super::fixture::Cluster;
use super::{key, look, now};
use crate::domain::reading::Source;
use crate::maintenance::round::Round;
use crate::sources::event::{Generation, Payload, Request, Scope, SourceEvent};
use crate::store::tests::work::Work;
use crate::tui::app::Input;
use crate::tui::event_loop::{self, Console, Heard, Lines, Workshop};
use crate::tui::maintain::{Order, Underway};
use crate::tui::render::Frame;
use crate::tui::ui::{Message, Options, Ui};
use ratatui::layout::Size;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// A terminal that remembers what was done with it.
struct FakeConsole {
    heard: mpsc::UnboundedReceiver<Heard>,
    log: mpsc::UnboundedSender<Did>,
    size: Size,
}

#[derive(Debug, PartialEq, Eq)]
enum Did {
    Draw(Size),
    Suspend,
    Continue,
    Copy(String),
}

impl Console for FakeConsole {
    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    async fn hear(&mut self) -> io::Result<Heard> {
        Ok(self.heard.recv().await.unwrap_or(Heard::Leave))
    }

    fn draw(&mut self, frame: &Frame) -> io::Result<()> {
        self.log.send(Did::Draw(frame.buffer.area.as_size())).unwrap();
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.log.send(Did::Suspend).unwrap();
        Ok(())
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        self.log.send(Did::Copy(text.to_owned())).unwrap();
        Ok(())
    }

    fn continued(&mut self) -> io::Result<()> {
        self.log.send(Did::Continue).unwrap();
        Ok(())
    }
}

/// A maintenance that does what the test says.
struct FakeWorkshop {
    /// What it hears next, as a maintenance.
    next: mpsc::UnboundedReceiver<Work>,
    news: Option<Arc<Underway>>,
    log: mpsc::UnboundedSender<String>,
}

impl Workshop<Cluster> for FakeWorkshop {
    fn order(&mut self, order: Order, _: &Cluster) -> Result<(), String> {
        self.log.send(format!("{order:?}")).unwrap();
        match order {
            Order::Cordon { .. } => Err("the cluster cannot be reached".to_owned()),
            _ => Ok(()),
        }
    }

    fn observe(&mut self, _: &Cluster) {
        self.log.send("observe".to_owned()).unwrap();
    }

    async fn work(&mut self) -> Option<Message> {
        let Some(mut work) = self.next.recv().await else {
            return std::future::pending().await;
        };
        self.news = Some(Arc::new(Underway {
            state: work.state.take().unwrap(),
            log: Vec::new(),
        }));
        None
    }

    fn remember(&mut self, _: &mut Cluster) -> bool {
        false
    }

    fn news(&mut self) -> Option<Arc<Underway>> {
        self.news.take()
    }

    fn round_news(&mut self) -> Option<Arc<Round>> {
        None
    }
}

/// The loop with its ends in the test's hands.
struct Stage {
    says: mpsc::UnboundedSender<Heard>,
    did: mpsc::UnboundedReceiver<Did>,
    events: mpsc::Sender<SourceEvent>,
    requests: mpsc::UnboundedReceiver<Request>,
    works: mpsc::UnboundedSender<Work>,
    ordered: mpsc::UnboundedReceiver<String>,
    running: tokio::task::JoinHandle<(io::Result<()>, Cluster)>,
}

fn stage(cluster: Cluster) -> Stage {
    let (says, heard) = mpsc::unbounded_channel();
    let (log, did) = mpsc::unbounded_channel();
    let (events, said) = mpsc::channel(64);
    let (asks, requests) = mpsc::unbounded_channel();
    let (works, next) = mpsc::unbounded_channel();
    let (orders, ordered) = mpsc::unbounded_channel();
    let running = tokio::spawn(async move {
        let mut workshop = FakeWorkshop {
            next,
            news: None,
            log: orders,
        };
        let mut cluster = cluster;
        let mut console = FakeConsole {
            heard,
            log,
            size: Size::new(80, 24),
        };
        let mut said = said;
        let mut lines = Lines {
            events: &mut said,
            requests: asks,
        };
        let mut ui = Ui::new(Options::default());
        let end = event_loop::run(
            &mut console,
            &mut cluster,
            &mut lines,
            &mut workshop,
            &mut ui,
            &look(),
            now,
        )
        .await;
        (end, cluster)
    });
    Stage {
        says,
        did,
        events,
        requests,
        works,
        ordered,
        running,
    }
}

impl Stage {
    fn hears(&self, name: &str) {
        self.says.send(Heard::Input(Input::Key(key(name)))).unwrap();
    }

    async fn said(&self) {
        let event = SourceEvent {
            source: Source::Kubernetes,
            generation: Generation(1),
            payload: Payload::Begin(Scope::default()),
        };
        self.events.send(event).await.unwrap();
    }

    /// What the loop does next, within a minute of the paused clock.
    async fn next(&mut self) -> Option<Did> {
        timeout(Duration::from_mins(1), self.did.recv())
            .await
            .ok()
            .flatten()
    }

    async fn end(self) -> (io::Result<()>, Cluster) {
        timeout(Duration::from_mins(1), self.running)
            .await
            .unwrap()
            .unwrap()
    }
}

const DRAWN: Did = Did::Draw(Size::new(80, 24));

#[tokio::test(start_paused = true)]
async fn a_key_is_drawn_at_once_and_q_leaves() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    let begin = Instant::now();
    stage.hears("j");
    assert_eq!(stage.next().await, Some(DRAWN));
    assert_eq!(begin.elapsed(), Duration::ZERO);
    stage.hears("q");
    assert!(stage.end().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_faster_than_it_can_be_drawn_gets_one_frame_and_other_keys_get_their_own() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    for name in ["/", "k", "8", "s", "-", "enter", "j", "j"] {
        stage.hears(name);
    }
    for _ in ["the filter", "j", "j"] {
        assert_eq!(stage.next().await, Some(DRAWN));
    }
    assert_eq!(stage.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_drawn_while_nothing_changes() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    // A minute: the clock of the test stands still, so not one cell changes.
    assert_eq!(stage.next().await, None);
    stage.hears("ctrl-c");
    let (_, cluster) = stage.end().await;
    assert!(
        (50..=70).contains(&cluster.frames),
        "{} frames were compared",
        cluster.frames
    );
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_data_is_folded_and_compared_at_most_every_33_ms() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    for _ in 0..500 {
        stage.said().await;
        sleep(Duration::from_millis(1)).await;
    }
    stage.hears("ctrl-c");
    let (_, cluster) = stage.end().await;
    assert_eq!(cluster.folded, 500);
    assert!(cluster.frames <= 18, "{} frames for 500 ms", cluster.frames);
}

#[tokio::test(start_paused = true)]
async fn data_that_changes_nothing_costs_no_frame() {
    let mut cluster = Cluster::article();
    cluster.changes = false;
    let mut stage = stage(cluster);
    assert_eq!(stage.next().await, Some(DRAWN));
    for _ in 0..500 {
        stage.said().await;
        sleep(Duration::from_millis(1)).await;
    }
    stage.hears("ctrl-c");
    let (_, cluster) = stage.end().await;
    assert_eq!((cluster.folded, cluster.frames), (500, 1));
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_sizes_is_drawn_once_with_the_last() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    for width in 61..=160 {
        let size = Size::new(width, 48);
        stage.says.send(Heard::Input(Input::Resize(size))).unwrap();
    }
    assert_eq!(stage.next().await, Some(Did::Draw(Size::new(160, 48))));
    assert_eq!(stage.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn after_a_suspension_everything_is_drawn_again() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    stage.hears("ctrl-z");
    assert_eq!(stage.next().await, Some(Did::Suspend));
    assert_eq!(stage.next().await, Some(DRAWN));
    stage.says.send(Heard::Continued).unwrap();
    assert_eq!(stage.next().await, Some(Did::Continue));
    assert_eq!(stage.next().await, Some(DRAWN));
    stage.says.send(Heard::Leave).unwrap();
    assert!(stage.end().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_sources_are_told_what_is_on_screen() {
    let mut stage = stage(Cluster::article());
    assert!(matches!(stage.requests.recv().await, Some(Request::Demand(demand)) if demand.nodes));
    stage.hears("2");
    assert!(matches!(stage.requests.recv().await, Some(Request::Demand(demand)) if demand.containers));
    stage.hears("ctrl-r");
    assert!(matches!(stage.requests.recv().await, Some(Request::Refresh)));
}

#[tokio::test(start_paused = true)]
async fn sources_that_are_gone_do_not_take_the_screens_with_them() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    let (gone, _) = mpsc::channel(1);
    stage.events = gone;
    stage.hears("2");
    assert_eq!(stage.next().await, Some(DRAWN));
    stage.hears("q");
    assert!(stage.end().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_maintenance_looks_at_the_cluster_after_each_change_but_not_at_each_event() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    // Nothing is under way: nobody looks.
    stage.said().await;
    sleep(Duration::from_secs(1)).await;
    assert!(stage.ordered.try_recv().is_err());
    stage.works.send(Work::draining()).ok().unwrap();
    assert_eq!(stage.ordered.recv().await.as_deref(), Some("observe"));
    for _ in 0..500 {
        stage.said().await;
        sleep(Duration::from_millis(1)).await;
    }
    sleep(Duration::from_secs(1)).await;
    let looks = std::iter::from_fn(|| stage.ordered.try_recv().ok()).count();
    assert!((10..=20).contains(&looks), "{looks} looks for 500 ms");
    // The cluster rests, and so does it.
    sleep(Duration::from_mins(1)).await;
    assert!(stage.ordered.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn the_mark_of_a_maintenance_is_drawn_without_a_key() {
    let mut stage = stage(Cluster::article());
    assert_eq!(stage.next().await, Some(DRAWN));
    stage.works.send(Work::draining()).ok().unwrap();
    assert_eq!(stage.next().await, Some(DRAWN));
}

#[tokio::test(start_paused = true)]
async fn the_commands_for_the_node_go_to_the_clipboard() {
    let mut stage = stage(Cluster::article());
    stage.works.send(Work::restarting()).ok().unwrap();
    assert_eq!(stage.ordered.recv().await.as_deref(), Some("observe"));
    stage.hears("m");
    stage.hears("c");
    loop {
        match stage.next().await {
            Some(Did::Copy(text)) => {
                assert!(
                    text.contains("sconfig") && text.ends_with("Restart-Computer"),
                    "{text}"
                );
                break;
            }
            Some(_) => {}
            None => panic!("nothing was copied"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_order_goes_to_the_workshop_once() {
    let mut stage = stage(Cluster::article());
    stage.hears("m");
    stage.hears("enter");
    let order = stage.ordered.recv().await.unwrap();
    assert!(order.starts_with("Start { node: \"k8s-lab-win-1\""), "{order}");
    stage.hears("ctrl-c");
    assert!(stage.end().await.0.is_ok());
}
