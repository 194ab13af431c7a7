//! What the node plugin of one node told, kept bounded, and what it comes down to for each mapping.

use super::failure::Failure;
use super::log::{About, Privacy, Seen, What};
use super::remote::RemotePath;
use crate::domain::{Name, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is kept of one node's log: the newest so many facts.
const KEPT: usize = 1000;

/// The facts of one node's log, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    seen: Vec<Seen>,
}

/// What was told of one mapping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// `DOMAIN\user` of the newest attempt that said it, and when.
    pub account: Option<(Name, Timestamp)>,
    /// Whether encryption was demanded, and when.
    pub privacy: Option<(Privacy, Timestamp)>,
    /// The newest thing that happened to it.
    pub last: Option<(LastHappened, Timestamp)>,
    /// When its volume was staged, unless it went since.
    pub staged_at: Option<Timestamp>,
    /// When it was found unusable (`Disconnected`) last.
    pub invalid_at: Option<Timestamp>,
    /// Names of its volumes.
    pub volumes: BTreeSet<Name>,
    /// UIDs of the pods that have it now.
    pub pods: BTreeSet<Name>,
}

/// The newest thing that happened to a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastHappened {
    /// An attempt to map it began.
    Begun,
    /// It is mapped, and its volume staged.
    Mapped,
    /// The last attempt failed, so many times in a row.
    Failed(Failure, u32),
    /// It was removed.
    Removed,
    /// Its volume is no longer staged, and the mapping was left: the driver is not asked to remove it, or could not.
    Left(Option<Failure>),
}

impl Ledger {
    /// Adds what was read of the log since, in the order of the lines. What is known already is not added twice.
    pub fn add(&mut self, read: Vec<Seen>) {
        let newest = self.seen.last().map(|seen| seen.at);
        let known: Vec<Seen> = self
            .seen
            .iter()
            .rev()
            .take_while(|seen| Some(seen.at) == newest)
            .cloned()
            .collect();
        for seen in read {
            let old = newest.is_some_and(|newest| seen.at < newest);
            let same = |other: &Seen| other.at == seen.at && other.event == seen.event;
            if old || known.iter().any(same) {
                continue;
            }
            self.push(seen);
        }
        let over = self.seen.len().saturating_sub(KEPT);
        self.seen.drain(..over);
    }

    /// A failure that repeats (the kubelet tries on) is one with a count.
    fn push(&mut self, seen: Seen) {
        let failing = matches!(seen.event.what, What::Failed(_));
        if failing
            && let Some(earlier) = self
                .seen
                .iter()
                .rposition(|earlier| earlier.event == seen.event)
                .filter(|earlier| {
                    self.seen[*earlier..]
                        .iter()
                        .all(|since| !matches!(since.event.what, What::Staged | What::Removing))
                })
        {
            let mut earlier = self.seen.remove(earlier);
            earlier.at = seen.at;
            earlier.times += seen.times;
            self.seen.push(earlier);
            return;
        }
        self.seen.push(seen);
    }

    /// What the log comes down to for each mapping. `known` finds the share of a volume by what the cluster's volumes
    /// say, where the line itself does not.
    pub fn mappings(&self, known: impl Fn(&About) -> Option<RemotePath>) -> BTreeMap<RemotePath, Told> {
        let joined: HashMap<Name, RemotePath> = self
            .seen
            .iter()
            .filter_map(|seen| {
                let about = &seen.event.about;
                Some((about.hash.clone()?, about.any_remote()?))
            })
            .collect();
        let mut mappings: BTreeMap<RemotePath, Told> = BTreeMap::new();
        for seen in &self.seen {
            let about = &seen.event.about;
            let remote = about
                .any_remote()
                .or_else(|| joined.get(about.hash.as_ref()?).cloned())
                .or_else(|| known(about));
            if let Some(remote) = remote {
                mappings.entry(remote).or_default().take(seen);
            }
        }
        mappings
    }
}

impl Told {
    fn take(&mut self, seen: &Seen) {
        let at = seen.at;
        match &seen.event.what {
            What::Joined | What::Kept => {}
            What::Staging { account } => self.of_account(account.as_ref(), at),
            What::Mapping { account, privacy } => {
                self.of_account(account.as_ref(), at);
                self.privacy = Some((*privacy, at));
                self.last = Some((LastHappened::Begun, at));
            }
            What::Staged => self.staged(at),
            What::Published { pod, volume } => {
                self.volumes.extend(volume.clone());
                self.pods.extend(pod.clone());
                if !matches!(self.last, Some((LastHappened::Mapped, _))) {
                    self.staged(at);
                }
            }
            What::Unpublished { pod } => {
                if let Some(pod) = pod {
                    self.pods.remove(pod);
                }
            }
            What::Removing => {
                self.staged_at = None;
                self.last = Some((LastHappened::Removed, at));
            }
            What::RemovalFailed(failure) => {
                self.last = Some((LastHappened::Left(Some(failure.clone())), at));
            }
            What::Unstaged => {
                self.staged_at = None;
                // Removed before the link went, or left for good.
                if !matches!(
                    self.last,
                    Some((LastHappened::Removed | LastHappened::Left(_), _))
                ) {
                    self.last = Some((LastHappened::Left(None), at));
                }
            }
            What::Invalid => self.invalid_at = Some(at),
            What::Failed(failure) => {
                self.last = Some((LastHappened::Failed(failure.clone(), seen.times), at));
            }
        }
    }

    fn staged(&mut self, at: Timestamp) {
        self.staged_at.get_or_insert(at);
        self.last = Some((LastHappened::Mapped, at));
    }

    fn of_account(&mut self, account: Option<&Name>, at: Timestamp) {
        if let Some(account) = account {
            self.account = Some((account.clone(), at));
        }
    }
}
