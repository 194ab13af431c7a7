//! Folds list-and-watch steps into rows that keep their place: a row is a slot number, so that indexes and
//! sort orders are vectors of `u32` and an update touches one slot.

use crate::domain::Name;
use crate::domain::budget::DisruptionBudget;
use crate::domain::node::Node;
use crate::domain::object::{Change, DaemonSet, NodeLease, ObjectKey};
use crate::domain::pod::Pod;
use crate::domain::storage::{CsiDriver, CsiNode, PersistentVolume, StorageClass, VolumeClaim};
use std::collections::HashMap;
use std::ops::Deref;

/// Namespace (none for cluster-scoped kinds) and name: what is unique at any one time.
pub type Id = (Option<Name>, Name);

/// An object that can be folded.
pub trait Object: PartialEq {
    /// Namespace and name.
    fn id(&self) -> Id;
    /// `metadata.uid`: tells a re-created object of the same name apart.
    fn uid(&self) -> &Name;
}

impl Object for Node {
    fn id(&self) -> Id {
        (None, self.name.clone())
    }
    fn uid(&self) -> &Name {
        &self.uid
    }
}

impl Object for Pod {
    fn id(&self) -> Id {
        (Some(self.namespace.clone()), self.name.clone())
    }
    fn uid(&self) -> &Name {
        &self.uid
    }
}

impl Object for NodeLease {
    fn id(&self) -> Id {
        (None, self.node.clone())
    }
    fn uid(&self) -> &Name {
        &self.uid
    }
}

macro_rules! keyed {
    ($($row:ty),*) => {$(
        impl Object for $row {
            fn id(&self) -> Id {
                (self.key.namespace.clone(), self.key.name.clone())
            }
            fn uid(&self) -> &Name {
                &self.key.uid
            }
        }
    )*};
}

keyed!(
    DaemonSet,
    DisruptionBudget,
    PersistentVolume,
    VolumeClaim,
    StorageClass,
    CsiNode,
    CsiDriver
);

/// What one step did to one slot.
pub struct Touched<'a, T> {
    /// Which slot.
    pub slot: u32,
    /// What was there.
    pub before: Option<&'a T>,
    /// What is there now.
    pub after: Option<&'a T>,
}

/// A row that is there, with its slot: what is kept beside the rows is found by the slot.
pub struct At<'a, T> {
    /// Which slot.
    pub slot: u32,
    /// What stands in it.
    pub row: &'a T,
}

impl<T> Clone for At<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for At<'_, T> {}

impl<T> Deref for At<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.row
    }
}

struct Row<T> {
    /// The list that named this row last; rows of an older list are swept when the new one is complete.
    list: u32,
    value: T,
}

/// The rows of one watched resource.
pub struct Folded<T> {
    /// Boxed, so that growing moves pointers and not rows.
    slots: Vec<Option<Box<Row<T>>>>,
    free: Vec<u32>,
    by_id: HashMap<Id, u32>,
    list: u32,
    relisting: bool,
}

impl<T> Default for Folded<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            list: 0,
            relisting: false,
        }
    }
}

impl<T: Object> Folded<T> {
    /// Folds one step. `touched` hears of each slot whose content differs afterwards; an update that changes
    /// nothing is not told.
    pub fn apply(&mut self, change: Change<T>, touched: &mut impl FnMut(Touched<'_, T>)) {
        match change {
            Change::Restart => {
                self.list = self.list.wrapping_add(1);
                self.relisting = true;
            }
            Change::Upsert(value) => self.upsert(value, touched),
            Change::Delete(key) => self.delete(&key, touched),
            Change::Synced => self.sweep(touched),
        }
    }

    fn upsert(&mut self, value: T, touched: &mut impl FnMut(Touched<'_, T>)) {
        let id = value.id();
        if let Some(&slot) = self.by_id.get(&id) {
            if let Some(row) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) {
                row.list = self.list;
                if row.value != value {
                    let before = std::mem::replace(&mut row.value, value);
                    touched(Touched {
                        slot,
                        before: Some(&before),
                        after: Some(&row.value),
                    });
                }
            }
            return;
        }
        let row = Box::new(Row {
            list: self.list,
            value,
        });
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            // 4 billion rows do not fit into memory, so the number always fits.
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let row = self.slots[slot as usize].insert(row);
        self.by_id.insert(id, slot);
        touched(Touched {
            slot,
            before: None,
            after: Some(&row.value),
        });
    }

    /// A DELETE that arrives after the name was taken by a new object (other UID) concerns the old one.
    fn delete(&mut self, key: &ObjectKey, touched: &mut impl FnMut(Touched<'_, T>)) {
        let id = (key.namespace.clone(), key.name.clone());
        let Some(&slot) = self.by_id.get(&id) else { return };
        if self.get(slot).is_some_and(|value| *value.uid() == key.uid) {
            self.remove(slot, touched);
        }
    }

    fn remove(&mut self, slot: u32, touched: &mut impl FnMut(Touched<'_, T>)) {
        let Some(row) = self.slots.get_mut(slot as usize).and_then(Option::take) else {
            return;
        };
        self.by_id.remove(&row.value.id());
        self.free.push(slot);
        touched(Touched {
            slot,
            before: Some(&row.value),
            after: None,
        });
    }

    fn sweep(&mut self, touched: &mut impl FnMut(Touched<'_, T>)) {
        if !std::mem::take(&mut self.relisting) {
            return;
        }
        for slot in 0..self.slots.len() {
            let unnamed = self.slots[slot].as_ref().is_some_and(|row| row.list != self.list);
            if unnamed {
                self.remove(u32::try_from(slot).unwrap_or(u32::MAX), touched);
            }
        }
    }

    /// The row in this slot.
    pub fn get(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.as_ref().map(|row| &row.value)
    }

    /// The row in this slot, with the slot.
    pub fn at(&self, slot: u32) -> Option<At<'_, T>> {
        self.get(slot).map(|row| At { slot, row })
    }

    /// The slot of this object.
    pub fn slot(&self, id: &Id) -> Option<u32> {
        self.by_id.get(id).copied()
    }

    /// The object of this name.
    pub fn find(&self, id: &Id) -> Option<&T> {
        self.get(self.slot(id)?)
    }

    /// All rows, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = At<'_, T>> {
        (0u32..).zip(&self.slots).filter_map(|(slot, row)| {
            let row = &row.as_ref()?.value;
            Some(At { slot, row })
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// How many slots there are, used or free: slots are `0..capacity()`.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn lease(name: u8, uid: u8) -> NodeLease {
        NodeLease {
            node: format!("n{name}").into(),
            uid: format!("u{uid}").into(),
            renew_time: None,
            duration_seconds: Some(u32::from(uid)),
        }
    }

    fn key(name: u8, uid: u8) -> ObjectKey {
        ObjectKey {
            namespace: None,
            name: format!("n{name}").into(),
            uid: format!("u{uid}").into(),
        }
    }

    fn steps() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
        prop::collection::vec((0u8..10, 0u8..6, 0u8..3), 0..80)
    }

    proptest! {
        /// Whatever the watch does, the rows are those that a plain map would hold, and what is told to the
        /// indexes adds up to exactly the rows.
        #[test]
        fn the_fold_equals_a_plain_map(steps in steps()) {
            let mut folded = Folded::default();
            let mut told: BTreeMap<u32, NodeLease> = BTreeMap::new();
            let mut plain: BTreeMap<Name, (NodeLease, bool)> = BTreeMap::new();
            let mut relisting = false;
            for (what, name, uid) in steps {
                let change = match what {
                    0 => Change::Restart,
                    1 => Change::Synced,
                    2..=3 => Change::Delete(key(name, uid)),
                    _ => Change::Upsert(lease(name, uid)),
                };
                match &change {
                    Change::Restart => {
                        relisting = true;
                        for row in plain.values_mut() {
                            row.1 = false;
                        }
                    }
                    Change::Synced if relisting => {
                        relisting = false;
                        plain.retain(|_, row| row.1);
                    }
                    Change::Synced => {}
                    Change::Delete(key) => {
                        if plain.get(&key.name).is_some_and(|row| row.0.uid == key.uid) {
                            plain.remove(&key.name);
                        }
                    }
                    Change::Upsert(lease) => {
                        plain.insert(lease.node.clone(), (lease.clone(), true));
                    }
                }
                folded.apply(change, &mut |touched: Touched<'_, NodeLease>| {
                    assert_eq!(told.get(&touched.slot), touched.before);
                    match touched.after {
                        Some(after) => told.insert(touched.slot, after.clone()),
                        None => told.remove(&touched.slot),
                    };
                });
                let mut rows: Vec<NodeLease> = folded.iter().map(|at| at.row.clone()).collect();
                rows.sort_by(|a, b| a.node.cmp(&b.node));
                let expected: Vec<NodeLease> = plain.values().map(|row| row.0.clone()).collect();
                prop_assert_eq!(&rows, &expected);
                prop_assert_eq!(folded.len(), expected.len());
                let mut heard: Vec<NodeLease> = told.values().cloned().collect();
                heard.sort_by(|a, b| a.node.cmp(&b.node));
                prop_assert_eq!(heard, expected);
            }
        }
    }

    #[test]
    fn a_relist_keeps_the_rows_on_screen_until_it_is_complete() {
        let mut folded = Folded::default();
        let quiet = &mut |_: Touched<'_, NodeLease>| {};
        folded.apply(Change::Upsert(lease(1, 1)), quiet);
        folded.apply(Change::Upsert(lease(2, 1)), quiet);
        folded.apply(Change::Restart, quiet);
        folded.apply(Change::Upsert(lease(2, 1)), quiet);
        assert_eq!(folded.len(), 2);
        folded.apply(Change::Synced, quiet);
        assert!(folded.find(&(None, "n1".into())).is_none());
        assert!(folded.find(&(None, "n2".into())).is_some());
    }

    #[test]
    fn a_late_delete_of_the_old_object_leaves_the_new_one_of_the_same_name() {
        let mut folded = Folded::default();
        let quiet = &mut |_: Touched<'_, NodeLease>| {};
        folded.apply(Change::Upsert(lease(1, 1)), quiet);
        folded.apply(Change::Upsert(lease(1, 2)), quiet);
        folded.apply(Change::Delete(key(1, 1)), quiet);
        assert_eq!(folded.len(), 1);
    }
}
