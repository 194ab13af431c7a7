//! When a polled source asks again: on its rhythm while something visible needs it, at once when more is needed
//! or the operator asks, never otherwise.

use super::context::{EventSink, SourceContext};
use super::event::{Demand, Payload, Problem, SourcePhase, SourceState};
use crate::domain::Timestamp;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Waits for the next round of one source.
pub struct Pace {
    demand: watch::Receiver<Demand>,
    refresh: watch::Receiver<u64>,
    /// What this source can serve of a demand.
    serves: fn(&Demand) -> Demand,
    served: Demand,
}

/// Why a round begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// What is needed.
    pub demand: Demand,
    /// Whether the operator asked, so that nothing remembered counts.
    pub refreshed: bool,
}

impl Pace {
    /// For a source that serves this part of a demand.
    pub fn new(context: &SourceContext, serves: fn(&Demand) -> Demand) -> Self {
        Self {
            demand: context.demand.clone(),
            refresh: context.refresh.clone(),
            serves,
            served: Demand::default(),
        }
    }

    /// Waits until something is needed and `rest` has passed since the last round, or more is needed than that
    /// round served, or the operator asks.
    pub async fn next(&mut self, rest: Duration) -> Round {
        let due = Instant::now() + rest;
        let mut refreshed = self.refresh.has_changed().unwrap_or(false);
        self.refresh.mark_unchanged();
        loop {
            let demand = (self.serves)(&self.demand.borrow_and_update());
            let needed = demand != Demand::default();
            if needed && (refreshed || exceeds(&demand, &self.served) || Instant::now() >= due) {
                self.served = demand.clone();
                return Round { demand, refreshed };
            }
            tokio::select! {
                () = tokio::time::sleep_until(due), if needed => {}
                () = changed(&mut self.demand) => {}
                () = changed(&mut self.refresh) => refreshed = true,
            }
        }
    }
}

fn exceeds(new: &Demand, old: &Demand) -> bool {
    (new.nodes && !old.nodes)
        || (new.containers && !old.containers)
        || (new.history && !old.history)
        || (new.event_log.is_some() && new.event_log != old.event_log)
        || (new.smb && !old.smb)
}

/// Never returns after the sender is gone: the program ends then.
async fn changed<T>(receiver: &mut watch::Receiver<T>) {
    if receiver.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Tells how a source is; remembers what stays the same.
pub struct Reporter {
    sink: EventSink,
    state: SourceState,
}

impl Reporter {
    /// Says that the source starts.
    pub async fn start(sink: EventSink) -> Self {
        let state = SourceState {
            phase: SourcePhase::Starting,
            reached: String::new(),
            last_answer: None,
            last_error: None,
        };
        let reporter = Self { sink, state };
        reporter.send().await;
        reporter
    }

    /// It answered; a problem beside that (duplicate targets, missing rights) is told, too.
    pub async fn answered(&mut self, reached: &str, at: Timestamp, problem: Option<Problem>) {
        reached.clone_into(&mut self.state.reached);
        self.state.phase = SourcePhase::Connected;
        self.state.last_answer = Some(at);
        self.state.last_error = problem;
        self.send().await;
    }

    /// It failed, and is tried again.
    pub async fn failed(&mut self, problem: Problem) {
        self.state.phase = SourcePhase::Failed;
        self.state.last_error = Some(problem);
        self.send().await;
    }

    /// It does not exist here (with a problem that says how to get it), or is not wanted now.
    pub async fn off(&mut self, reached: &str, problem: Option<Problem>) {
        reached.clone_into(&mut self.state.reached);
        self.state.phase = SourcePhase::Off;
        self.state.last_error = problem;
        self.send().await;
    }

    async fn send(&self) {
        self.sink.send(Payload::State(self.state.clone())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> (watch::Sender<Demand>, watch::Sender<u64>, Pace) {
        let demand = watch::Sender::new(Demand::default());
        let refresh = watch::Sender::new(0);
        let pace = Pace {
            demand: demand.subscribe(),
            refresh: refresh.subscribe(),
            serves: Clone::clone,
            served: Demand::default(),
        };
        (demand, refresh, pace)
    }

    const NODES: Demand = Demand {
        nodes: true,
        containers: false,
        history: false,
        event_log: None,
        smb: false,
    };

    #[tokio::test(start_paused = true)]
    async fn nothing_is_asked_while_no_pane_needs_it() {
        let (_demand, refresh, mut pace) = pace();
        refresh.send_modify(|count| *count += 1);
        let waited = tokio::time::timeout(Duration::from_hours(1), pace.next(Duration::ZERO)).await;
        assert!(waited.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_pane_that_needs_more_is_served_at_once_and_then_on_the_rhythm() {
        let (demand, refresh, mut pace) = pace();
        let rest = Duration::from_secs(15);
        demand.send_replace(NODES);
        let begin = Instant::now();
        assert_eq!(pace.next(rest).await.demand, NODES);
        assert_eq!(begin.elapsed(), Duration::ZERO);

        pace.next(rest).await;
        assert_eq!(begin.elapsed(), rest);

        let both = Demand {
            containers: true,
            ..NODES
        };
        demand.send_replace(both.clone());
        assert_eq!(pace.next(rest).await.demand, both);
        assert_eq!(begin.elapsed(), rest);

        refresh.send_modify(|count| *count += 1);
        assert!(pace.next(rest).await.refreshed);
        assert_eq!(begin.elapsed(), rest);
    }
}
