//! Cluster events, bounded: the newest of each object, and no more than a fixed number in all. Events are a
//! hint and expire in the cluster too; a storm of them must not fill the memory.

use super::fold::Id;
use crate::domain::Name;
use crate::domain::object::{Change, ClusterEvent};
use std::collections::HashMap;

/// Newest events kept for one object.
pub const PER_OBJECT: usize = 20;
/// Events kept in all, about 10 MB.
pub const IN_ALL: usize = 20_000;

type About = (Name, Option<Name>, Name);

fn about(event: &ClusterEvent) -> About {
    (
        event.about_kind.clone(),
        event.about_namespace.clone(),
        event.about_name.clone(),
    )
}

struct Held {
    event: ClusterEvent,
    list: u32,
}

/// The events that are kept.
#[derive(Default)]
pub struct EventLog {
    events: HashMap<Id, Held>,
    by_object: HashMap<About, Vec<Id>>,
    list: u32,
    relisting: bool,
}

impl EventLog {
    /// Folds one step of the events watch.
    pub fn apply(&mut self, change: Change<ClusterEvent>) {
        match change {
            Change::Restart => {
                self.list = self.list.wrapping_add(1);
                self.relisting = true;
            }
            Change::Upsert(event) => self.upsert(event),
            Change::Delete(key) => {
                let id = (key.namespace, key.name);
                if self
                    .events
                    .get(&id)
                    .is_some_and(|held| held.event.key.uid == key.uid)
                {
                    self.remove(&id);
                }
            }
            Change::Synced if std::mem::take(&mut self.relisting) => {
                let gone: Vec<Id> = self
                    .events
                    .iter()
                    .filter(|(_, held)| held.list != self.list)
                    .map(|(id, _)| id.clone())
                    .collect();
                for id in gone {
                    self.remove(&id);
                }
            }
            Change::Synced => {}
        }
    }

    fn upsert(&mut self, event: ClusterEvent) {
        let id = (event.key.namespace.clone(), event.key.name.clone());
        self.remove(&id);
        let ids = self.by_object.entry(about(&event)).or_default();
        ids.push(id.clone());
        let oldest = (ids.len() > PER_OBJECT).then(|| {
            let events = &self.events;
            ids.iter()
                .min_by_key(|id| match events.get(*id) {
                    Some(held) => held.event.last_seen,
                    None => event.last_seen,
                })
                .cloned()
        });
        self.events.insert(
            id,
            Held {
                event,
                list: self.list,
            },
        );
        if let Some(Some(oldest)) = oldest {
            self.remove(&oldest);
        }
        if self.events.len() > IN_ALL {
            self.drop_oldest(IN_ALL / 10);
        }
    }

    fn drop_oldest(&mut self, count: usize) {
        let mut by_time: Vec<_> = self
            .events
            .iter()
            .map(|(id, held)| (held.event.last_seen, id.clone()))
            .collect();
        by_time.sort_unstable();
        for (_, id) in by_time.into_iter().take(count) {
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &Id) {
        let Some(held) = self.events.remove(id) else {
            return;
        };
        let about = about(&held.event);
        if let Some(ids) = self.by_object.get_mut(&about) {
            ids.retain(|other| other != id);
            if ids.is_empty() {
                self.by_object.remove(&about);
            }
        }
    }

    /// Events about an object, newest first.
    pub fn about(&self, kind: &str, namespace: Option<&Name>, name: &Name) -> Vec<&ClusterEvent> {
        let about = (Name::from(kind), namespace.cloned(), name.clone());
        let mut events: Vec<&ClusterEvent> = self
            .by_object
            .get(&about)
            .into_iter()
            .flatten()
            .filter_map(|id| Some(&self.events.get(id)?.event))
            .collect();
        events.sort_by(|a, b| b.last_seen.cmp(&a.last_seen).then_with(|| a.key.cmp(&b.key)));
        events
    }

    /// All events, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &ClusterEvent> {
        self.events.values().map(|held| &held.event)
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.events.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;
    use crate::domain::object::ObjectKey;

    fn event(number: usize, pod: usize) -> ClusterEvent {
        ClusterEvent {
            key: ObjectKey {
                namespace: Some("shop".into()),
                name: format!("event-{number}").into(),
                uid: format!("uid-{number}").into(),
            },
            about_kind: "Pod".into(),
            about_namespace: Some("shop".into()),
            about_name: format!("web-{pod}").into(),
            about_uid: None,
            warning: false,
            reason: "Pulled".into(),
            message: "…".into(),
            count: 1,
            last_seen: Timestamp::from_timestamp(i64::try_from(number).unwrap(), 0),
        }
    }

    #[test]
    fn of_a_chatty_pod_the_newest_twenty_are_kept() {
        let mut log = EventLog::default();
        for number in 0..100 {
            log.apply(Change::Upsert(event(number, 0)));
        }
        let kept = log.about("Pod", Some(&"shop".into()), &"web-0".into());
        assert_eq!(kept.len(), PER_OBJECT);
        assert_eq!(&*kept[0].key.name, "event-99");
        assert_eq!(&*kept[PER_OBJECT - 1].key.name, "event-80");
        assert_eq!(log.len(), PER_OBJECT);
    }

    #[test]
    fn a_storm_over_many_pods_stays_bounded_and_the_newest_win() {
        let mut log = EventLog::default();
        for number in 0..IN_ALL + 500 {
            log.apply(Change::Upsert(event(number, number)));
        }
        assert!(log.len() <= IN_ALL);
        let newest = format!("web-{}", IN_ALL + 499);
        assert_eq!(
            log.about("Pod", Some(&"shop".into()), &newest.as_str().into())
                .len(),
            1
        );
        assert!(log.about("Pod", Some(&"shop".into()), &"web-0".into()).is_empty());
        assert_eq!(log.by_object.len(), log.len());
    }

    #[test]
    fn an_event_that_repeats_replaces_itself_and_one_that_expired_goes() {
        let mut log = EventLog::default();
        log.apply(Change::Upsert(event(1, 0)));
        let mut again = event(1, 0);
        again.count = 7;
        log.apply(Change::Upsert(again.clone()));
        assert_eq!(log.about("Pod", Some(&"shop".into()), &"web-0".into()), [&again]);
        log.apply(Change::Restart);
        log.apply(Change::Synced);
        assert_eq!(log.len(), 0);
    }
}
