//! The one task that changes things, one after another in the order in which they were asked for, and that renews the
//! Lease in between.

use super::{Desk, lock, node, tell};
use crate::domain::Name;
use crate::maintenance::effect::{Answer, LockError, WriteError};
use crate::maintenance::record::Record;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// A change.
#[derive(Debug)]
pub enum Write {
    /// Take the Lease of the pool.
    Lock,
    /// Cordon and write the record.
    Cordon(Box<Record>),
    /// Write the record.
    Save(Box<Record>),
    /// Uncordon and write the record.
    Uncordon {
        /// The record.
        record: Box<Record>,
        /// The boot id of the proof.
        boot_id: Name,
    },
    /// Remove the record, leave the boot that was proved, give the Lease back.
    Clear {
        /// The boot id.
        proven_boot: Option<Name>,
    },
    /// Give the Lease back.
    Unlock,
    /// All changes before it are answered.
    Passed(oneshot::Sender<()>),
}

/// Makes the changes.
pub struct Writer {
    desk: Arc<Desk>,
    answers: mpsc::UnboundedSender<Answer>,
    /// The Lease that was asked for: even if that was never answered, it may be ours.
    lease: Option<String>,
    /// Who took it over: no change is made any more but to give up what is ours.
    lost_to: Option<String>,
    /// When it is renewed; `None` as long as it is not known to be ours.
    renew_at: Option<Instant>,
    /// Pause between two renewals.
    renewal: Duration,
}

impl Writer {
    /// A writer that holds nothing.
    pub fn new(desk: Arc<Desk>, answers: mpsc::UnboundedSender<Answer>, renewal: Duration) -> Self {
        Self {
            desk,
            answers,
            lease: None,
            lost_to: None,
            renew_at: None,
            renewal,
        }
    }

    /// Works until nobody can ask any more.
    pub async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Write>) {
        loop {
            let renewal = self.renew_at;
            tokio::select! {
                biased;
                write = queue.recv() => match write {
                    Some(write) => self.make(write).await,
                    None => return,
                },
                () = sleep_until(renewal.unwrap_or_else(Instant::now)), if renewal.is_some() => self.renew().await,
            }
        }
    }

    async fn make(&mut self, write: Write) {
        let desk = self.desk.clone();
        let answer = match write {
            Write::Lock => Answer::Locked(self.lock().await),
            Write::Cordon(record) => Answer::Cordoned(match self.still_locked() {
                Ok(()) => node::cordon(&desk, &record).await,
                lost => lost,
            }),
            Write::Save(record) => Answer::Saved(match self.still_locked() {
                Ok(()) => node::save(&desk, &record).await,
                lost => lost,
            }),
            Write::Uncordon { record, boot_id } => Answer::Uncordoned(match self.still_locked() {
                Ok(()) => node::uncordon(&desk, &record, &boot_id).await,
                lost => lost,
            }),
            Write::Clear { proven_boot } => Answer::Cleared(self.clear(proven_boot.as_deref()).await),
            Write::Unlock => {
                self.renew_at = None;
                if let Some(lease) = self.lease.take()
                    && let Err(problem) = lock::give_back(&desk, &lease).await
                {
                    tracing::warn!(?problem, "the Lease of a pool was not given back");
                }
                return;
            }
            Write::Passed(done) => {
                // Who waited for it may have ended.
                let _ = done.send(());
                return;
            }
        };
        tell(&self.answers, answer);
    }

    fn still_locked(&self) -> Result<(), WriteError> {
        match &self.lost_to {
            None => Ok(()),
            Some(by) => Err(WriteError::Refused(format!("{by} took the pool's Lease over"))),
        }
    }

    async fn lock(&mut self) -> Result<(), LockError> {
        let lease = lock::free_pool(&self.desk).await?;
        self.lease = Some(lease.clone());
        lock::take(&self.desk, &lease, self.desk.take_over).await?;
        self.lost_to = None;
        self.renew_at = Some(Instant::now() + self.renewal);
        Ok(())
    }

    async fn clear(&mut self, proven_boot: Option<&str>) -> Result<(), WriteError> {
        let of_node = node::clear(&self.desk, proven_boot).await?;
        // A maintenance that was resumed may find the Lease of its first run.
        if let Some(lease) = self.lease.clone().or(of_node) {
            lock::give_back(&self.desk, &lease).await?;
        }
        self.lease = None;
        self.renew_at = None;
        Ok(())
    }

    async fn renew(&mut self) {
        self.renew_at = None;
        let Some(lease) = &self.lease else { return };
        match lock::take(&self.desk, lease, false).await {
            Err(LockError::Held { by, .. }) => {
                tracing::warn!(by, "somebody took the Lease of the pool over");
                self.lost_to = Some(by.clone());
                tell(&self.answers, Answer::LeaseLost { by });
                return;
            }
            // It is good for three renewals.
            Err(problem) => tracing::warn!(?problem, "the Lease of the pool was not renewed"),
            Ok(()) => {}
        }
        self.renew_at = Some(Instant::now() + self.renewal);
    }
}
