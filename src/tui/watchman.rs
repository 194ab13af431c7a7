//! Remembers the boots of the nodes while the screens are open: whenever one changes, and now and then to know how long
//! each has been seen. The disk is waited for beside the screens.

use crate::domain::{Name, Timestamp};
use crate::maintenance::boots::UndrainedRestart;
use crate::runner::boots::Memory;
use crate::store::Store;
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::future::pending;
use tokio::task::JoinSet;

/// Longest time between two looks.
const LOOK: TimeDelta = TimeDelta::seconds(60);

/// What a look was about: another of these is worth another look.
type Seen = (String, u64, bool);

/// Takes notes.
#[derive(Default)]
pub struct Watchman {
    /// The notes are kept for later commands.
    keeps: bool,
    memory: Option<(String, Memory)>,
    last: Option<(Seen, Timestamp)>,
    noting: JoinSet<Noted>,
    noted: Option<BTreeMap<Name, UndrainedRestart>>,
}

type Noted = (String, Memory, BTreeMap<Name, UndrainedRestart>);

impl Watchman {
    /// A watchman whose notes are kept for later commands, or end with the program.
    pub fn new(keeps: bool) -> Self {
        Self {
            keeps,
            ..Self::default()
        }
    }

    /// Begins to take note if it is time, and tells the store what was noted. Whether that changed anything visible.
    pub fn remember(&mut self, store: &mut Store, now: Timestamp) -> bool {
        let changed = self
            .noted
            .take()
            .is_some_and(|restarts| store.learn_restarts(restarts));
        let server = store.scope().server;
        let seen = (server.to_string(), store.boots_version(), store.knows_all_pods());
        let is_due = self
            .last
            .as_ref()
            .is_none_or(|(last, at)| *last != seen || now - *at >= LOOK);
        if !is_due || !self.noting.is_empty() {
            return changed;
        }
        let Some(sightings) = store.sightings(now) else {
            return changed;
        };
        let server = seen.0.clone();
        self.last = Some((seen, now));
        let mut memory = match self.memory.take() {
            Some((of, memory)) if of == server => memory,
            _ if self.keeps => Memory::of(&server),
            _ => Memory::in_program(),
        };
        self.noting.spawn_blocking(move || {
            let restarts = memory.note(&sightings, now);
            (server, memory, restarts)
        });
        changed
    }

    /// Waits until something is noted. Cancel safe.
    pub async fn noted(&mut self) {
        match self.noting.join_next().await {
            Some(Ok((server, memory, restarts))) => {
                self.memory = Some((server, memory));
                self.noted = Some(restarts);
            }
            Some(Err(error)) => tracing::warn!(%error, "boots are not remembered"),
            None => pending().await,
        }
    }

    /// Waits for the last note.
    pub async fn finish(mut self) {
        while self.noting.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::node::Node;
    use crate::domain::object::{Change, Os};
    use crate::domain::reading::Source;
    use crate::sources::event::Payload;
    use crate::store::tests::cluster::{Told, WIN, ago, node};
    use std::time::Duration;

    #[tokio::test]
    async fn a_crash_while_the_screens_are_open_is_told_as_soon_as_it_is_noted() {
        let mut told = Told::article();
        let mut watchman = Watchman::new(false);
        assert!(!watchman.remember(&mut told.store, ago(120)));
        watchman.noted().await;
        assert!(!watchman.remember(&mut told.store, ago(119)));
        let is_idle = tokio::time::timeout(Duration::ZERO, watchman.noted()).await;
        assert!(is_idle.is_err(), "nothing changed, and a minute has not passed");

        let booted = Node {
            boot_id: "12".into(),
            ..node(WIN, Os::Windows, 43)
        };
        told.say(Source::Kubernetes, Payload::Nodes(vec![Change::Upsert(booted)]));
        assert!(!watchman.remember(&mut told.store, ago(60)));
        watchman.noted().await;
        assert!(watchman.remember(&mut told.store, ago(59)));
        assert_eq!(&*told.store.restarted_without_drain()[WIN].before, "11");
        watchman.finish().await;
    }
}
