//! The objects of one resource and the window of their changes: what a watch replays, and how a paged list
//! still sees the revision that its first page saw.

use super::objects::{Key, Snapshot};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::watch;

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
}

/// One change of one object.
#[derive(Debug, Clone)]
pub struct Change {
    /// The revision that the change made.
    pub revision: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// Whose change it is.
    pub key: Key,
    /// The object after the change; of a deletion, its last state.
    pub object: Arc<Value>,
    /// The object before the change, if there was one.
    pub previous: Option<Arc<Value>>,
}

/// The revision asked for is older than the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {asked} ({oldest})")]
pub struct Expired {
    /// The revision asked for.
    pub asked: u64,
    /// The oldest revision that can still be answered.
    pub oldest: u64,
}

/// The objects of one resource.
#[derive(Debug)]
pub struct Shelf {
    objects: Snapshot,
    changes: VecDeque<Change>,
    capacity: usize,
    /// Changes up to this revision are forgotten.
    forgotten: u64,
    latest: watch::Sender<u64>,
}

impl Shelf {
    /// An empty shelf that remembers `capacity` changes.
    pub fn new(capacity: usize) -> Self {
        Self {
            objects: Snapshot::new(),
            changes: VecDeque::new(),
            capacity,
            forgotten: 0,
            latest: watch::Sender::new(0),
        }
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<Arc<Value>> {
        self.objects.get(key).cloned()
    }

    /// Whether any object is in this namespace.
    pub fn has_namespace(&self, namespace: &str) -> bool {
        self.objects
            .range((namespace.to_owned(), String::new())..)
            .next()
            .is_some_and(|(key, _)| key.0 == namespace)
    }

    /// All objects as they are now.
    pub fn objects(&self) -> Snapshot {
        self.objects.clone()
    }

    /// All objects as they were at `revision`: the changes since then are taken back.
    pub fn objects_at(&self, revision: u64) -> Result<Snapshot, Expired> {
        let later = self.changes_after(revision)?;
        let mut objects = self.objects.clone();
        for change in later.into_iter().rev() {
            match change.previous {
                Some(previous) => objects.insert(change.key, previous),
                None => objects.remove(&change.key),
            };
        }
        Ok(objects)
    }

    /// The changes after `revision`, oldest first.
    pub fn changes_after(&self, revision: u64) -> Result<Vec<Change>, Expired> {
        if revision < self.forgotten {
            return Err(Expired {
                asked: revision,
                oldest: self.forgotten,
            });
        }
        let first = self.changes.partition_point(|change| change.revision <= revision);
        Ok(self.changes.iter().skip(first).cloned().collect())
    }

    /// Wakes at each change.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// Forgets every change so far. Who has seen the latest one has missed nothing and goes on.
    pub fn compact(&mut self) {
        if let Some(latest) = self.changes.back() {
            self.forgotten = latest.revision;
        }
        self.changes.clear();
    }

    /// Keeps a change and wakes the watches.
    pub fn record(&mut self, revision: u64, key: Key, kind: ChangeKind, object: Arc<Value>) {
        let previous = match kind {
            ChangeKind::Deleted => self.objects.remove(&key),
            ChangeKind::Added | ChangeKind::Modified => self.objects.insert(key.clone(), Arc::clone(&object)),
        };
        self.changes.push_back(Change {
            revision,
            kind,
            key,
            object,
            previous,
        });
        if self.changes.len() > self.capacity
            && let Some(oldest) = self.changes.pop_front()
        {
            self.forgotten = oldest.revision;
        }
        self.latest.send_replace(revision);
    }
}
