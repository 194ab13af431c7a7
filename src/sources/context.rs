//! What every source task gets when it starts.

use super::event::{Demand, Generation, Payload, SourceEvent};
use crate::domain::reading::Source;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// What a source task works with. Cloned for each task; a task ends when `cancel` fires.
#[derive(Clone)]
pub struct SourceContext {
    /// Client of the API server without hidden retries; long reads have no timeout, so wrap unary calls in
    /// `request_timeout`.
    pub client: kube::Client,
    /// Where its messages go.
    pub sink: EventSink,
    /// What is needed now.
    pub demand: watch::Receiver<Demand>,
    /// Counts up when the operator asks to ask again now.
    pub refresh: watch::Receiver<u64>,
    /// Longest wait for one answer.
    pub request_timeout: Duration,
    /// Ends the task.
    pub cancel: CancellationToken,
}

/// Sends messages of one generation of one source.
#[derive(Clone)]
pub struct EventSink {
    source: Source,
    generation: Generation,
    events: mpsc::Sender<SourceEvent>,
}

impl EventSink {
    /// A sink for this source and generation.
    pub fn new(source: Source, generation: Generation, events: mpsc::Sender<SourceEvent>) -> Self {
        Self {
            source,
            generation,
            events,
        }
    }

    /// Sends; waits while the receiver is busy, so that a burst cannot grow the memory. A receiver that is gone
    /// means that the program ends: the message is dropped.
    pub async fn send(&self, payload: Payload) {
        let event = SourceEvent {
            source: self.source,
            generation: self.generation,
            payload,
        };
        if self.events.send(event).await.is_err() {
            tracing::debug!(source = %self.source, "the receiver of source events is gone");
        }
    }
}
