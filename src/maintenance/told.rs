//! What was told already. A maintenance tells each step once, however often the program was restarted in between.

use super::event::{Event, Happening};
use super::pods::PodRef;
use crate::domain::{Name, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Memory of what was told, by this run of the program and, through the journal, by earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Told {
    steps: BTreeSet<Milestone>,
    evicting: BTreeMap<Name, (PodRef, Timestamp)>,
    evicted: BTreeSet<Name>,
}

/// What happens once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Milestone {
    Cordoned,
    Drained,
    AwaitingReboot,
    BootIdChanged(Name),
    /// Once after each boot.
    Revision,
    /// Once after each boot.
    NetworkReady,
    Uncordoned,
    LeftCordoned,
    PodsReady,
}

impl Told {
    /// What the journal of this maintenance has.
    pub fn from_journal(journal: &[Event]) -> Self {
        let mut told = Self::default();
        for event in journal {
            told.is_news(&event.what, event.at);
        }
        told
    }

    /// Remembers it; false if it was told before and has to be told once only.
    pub fn is_news(&mut self, happening: &Happening, at: Timestamp) -> bool {
        let milestone = match happening {
            Happening::Evicting { pod } => {
                let known = self.evicting.contains_key(&pod.uid);
                self.evicting.entry(pod.uid.clone()).or_insert((pod.clone(), at));
                return !known;
            }
            Happening::Evicted { pod, .. } => return self.evicted.insert(pod.uid.clone()),
            Happening::Cordoned { .. } => Milestone::Cordoned,
            Happening::Drained { .. } => Milestone::Drained,
            Happening::AwaitingReboot { .. } => Milestone::AwaitingReboot,
            Happening::BootIdChanged { after, .. } => Milestone::BootIdChanged(after.clone()),
            Happening::Revision { .. } => Milestone::Revision,
            Happening::NetworkReady { .. } => Milestone::NetworkReady,
            Happening::Uncordoned { .. } => Milestone::Uncordoned,
            Happening::LeftCordoned => Milestone::LeftCordoned,
            Happening::PodsReady { .. } => Milestone::PodsReady,
            Happening::Preflight { .. }
            | Happening::Blocked { .. }
            | Happening::RebootCommand { .. }
            | Happening::Done { .. }
            | Happening::Failed { .. }
            | Happening::ApiLost { .. }
            | Happening::ApiRegained { .. }
            | Happening::Note { .. } => return true,
        };
        let another_boot = matches!(milestone, Milestone::BootIdChanged(_));
        let news = self.steps.insert(milestone);
        if news && another_boot {
            self.steps.remove(&Milestone::Revision);
            self.steps.remove(&Milestone::NetworkReady);
        }
        news
    }

    /// How many pods were told to be gone.
    pub fn evicted(&self) -> usize {
        self.evicted.len()
    }

    /// When the first eviction of this pod was sent.
    pub fn evicting_since(&self, uid: &Name) -> Option<Timestamp> {
        self.evicting.get(uid).map(|(_, at)| *at)
    }

    /// Pods whose eviction was sent and of which nothing was heard since.
    pub fn unaccounted(&self) -> Vec<PodRef> {
        let open = self.evicting.iter();
        open.filter(|(uid, _)| !self.evicted.contains(*uid))
            .map(|(_, (pod, _))| pod.clone())
            .collect()
    }
}
