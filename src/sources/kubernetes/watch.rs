//! List and watch of one resource, for ever: the list once, then watch after watch from where the last one
//! ended; a new list only when the server has forgotten that place (410).

use super::failure::Failure;
use super::follow;
use super::http::ApiServer;
use super::intern::Interner;
use super::list::{self, Style};
use super::resource::{Resource, Target};
use crate::sources::context::EventSink;
use crate::sources::event::{Payload, WatchState};
use kube::runtime::watcher::DefaultBackoff;
use std::marker::PhantomData;
use std::time::{Duration, Instant};
use tokio::sync::watch::Receiver;

/// A right that is missing now seldom comes within seconds.
const FORBIDDEN_PAUSE: Duration = Duration::from_mins(1);
/// A watch that lived shorter than this was no success.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// List and watch of one resource.
pub struct Watcher<R> {
    api: ApiServer,
    target: Target,
    sink: EventSink,
    /// Changes when it is worth trying at once: the operator asked, or the API server is back.
    nudge: Receiver<u64>,
    names: Interner,
    /// 0.8 to 30 seconds, doubling, with jitter.
    backoff: DefaultBackoff,
    /// Where the watch stands; `None` before the list.
    version: Option<String>,
    style: Style,
    told: Option<WatchState>,
    resource: PhantomData<fn() -> R>,
}

impl<R: Resource> Watcher<R> {
    /// A watcher that has not listed yet.
    pub fn new(api: ApiServer, target: Target, sink: EventSink, nudge: Receiver<u64>) -> Self {
        Self {
            api,
            target,
            sink,
            nudge,
            names: Interner::default(),
            backoff: DefaultBackoff::default(),
            version: None,
            style: Style::Whole,
            told: None,
            resource: PhantomData,
        }
    }

    /// Lists and watches until the task is dropped.
    pub async fn run(mut self) {
        self.tell(WatchState::Loading).await;
        loop {
            let verb = if self.version.is_some() { "watch" } else { "list" };
            if let Err(failure) = self.round().await {
                self.recover(failure, verb).await;
            }
        }
    }

    /// One list, or one watch from its opening to its end.
    async fn round(&mut self) -> Result<(), Failure> {
        let Some(mut version) = self.version.clone() else {
            let version =
                list::run::<R>(&self.api, &self.target, self.style, &self.sink, &mut self.names).await?;
            self.version = Some(version);
            return Ok(());
        };
        let follow = follow::open::<R>(&self.api, &self.target, &version).await?;
        self.tell(WatchState::Live).await;
        let opened = Instant::now();
        self.nudge.mark_unchanged();
        let outcome = tokio::select! {
            outcome = follow.run::<R>(&mut version, &self.sink, &mut self.names) => outcome,
            // Somebody doubts the connection: a fresh one goes on from the same place.
            _ = self.nudge.changed() => return self.keep(version),
        };
        self.keep(version)?;
        outcome?;
        if opened.elapsed() < SHORT_LIFE {
            self.pause(None).await;
        } else {
            self.backoff = DefaultBackoff::default();
        }
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends a round")]
    fn keep(&mut self, version: String) -> Result<(), Failure> {
        self.version = Some(version);
        Ok(())
    }

    async fn recover(&mut self, failure: Failure, verb: &'static str) {
        tracing::info!(resource = R::WATCHED.plural(), verb, %failure, "a watch failed");
        let asked = self.target.asked::<R>(verb);
        if failure.is_gone() && self.version.take().is_some() {
            // The server has forgotten our place; what is on screen stays until the new list is complete.
            self.pause(None).await;
            return;
        }
        if matches!(failure, Failure::Truncated | Failure::Timeout(_)) {
            self.style = Style::Paged;
        }
        let problem = failure.problem(&asked, &self.api.scope);
        if failure.is_forbidden() {
            self.tell(WatchState::Forbidden(problem)).await;
            self.pause(Some(FORBIDDEN_PAUSE)).await;
        } else {
            self.tell(WatchState::Failed(problem)).await;
            self.pause(failure.retry_after()).await;
        }
    }

    /// Waits for the backoff or for `at_least`, whichever is longer, or until a nudge.
    async fn pause(&mut self, at_least: Option<Duration>) {
        let pause = self.backoff.next().unwrap_or(FORBIDDEN_PAUSE);
        let pause = at_least.map_or(pause, |least| pause.max(least));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // Without a sender there is nobody left to nudge: the wait is the rest of the task's life.
            nudged = self.nudge.changed() => if nudged.is_err() {
                tokio::time::sleep(pause).await;
            },
        }
    }

    /// Says how the watch is, once for each change.
    async fn tell(&mut self, state: WatchState) {
        if self.told.as_ref() != Some(&state) {
            self.told = Some(state.clone());
            self.sink.send(Payload::Watch(R::WATCHED, state)).await;
        }
    }
}
