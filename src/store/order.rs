//! The order in which a table shows its rows: vectors of slots that are mended when rows change and built
//! anew only when the operator asks for another sort or filter.
//!
//! Three layers, each a subset or a permutation of the one before: all rows in their natural order (namespace,
//! name), the rows sorted, and those of them that match. A new filter walks the sorted layer and needs no
//! sort; an update takes its rows out of each layer and puts them back in their place.

use super::view::Direction;
use crate::domain::Name;
use std::cmp::Ordering;

/// What a row is sorted by.
#[derive(Clone, Debug, PartialEq)]
pub enum SortKey {
    /// A number.
    Number(f64),
    /// Text.
    Text(Name),
    /// Not there: last in both directions.
    Absent,
}

impl SortKey {
    fn compare(&self, other: &Self, direction: Direction) -> Ordering {
        let order = match (self, other) {
            (Self::Absent, Self::Absent) => return Ordering::Equal,
            (Self::Absent, _) => return Ordering::Greater,
            (_, Self::Absent) => return Ordering::Less,
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        };
        match direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        }
    }
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not in the table: no row, or of another operating system.
    Out,
    /// In the table, but the filter hides it.
    Hidden,
    /// Shown.
    Shown,
}

/// A summand of the line below a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summand {
    /// The quantity does not exist for this row.
    #[default]
    None,
    /// It exists, but its value is not known.
    Absent,
    /// Its value.
    Value(u64),
}

/// How many quantities are summed.
pub const SUMS: usize = 2;

/// Sum of one quantity over the rows shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Sum of the values that are known.
    pub total: u64,
    /// How many are known.
    pub known: usize,
    /// For how many rows the quantity exists.
    pub of: usize,
}

impl Sum {
    fn add(&mut self, summand: Summand) {
        match summand {
            Summand::None => {}
            Summand::Absent => self.of += 1,
            Summand::Value(value) => {
                self.of += 1;
                self.known += 1;
                self.total = self.total.saturating_add(value);
            }
        }
    }

    fn remove(&mut self, summand: Summand) {
        match summand {
            Summand::None => {}
            Summand::Absent => self.of -= 1,
            Summand::Value(value) => {
                self.of -= 1;
                self.known -= 1;
                self.total = self.total.saturating_sub(value);
            }
        }
    }
}

/// What an order must know of the rows. Slots run from 0 to `capacity`.
pub trait Rows {
    /// Number of slots, used or not.
    fn capacity(&self) -> usize;
    /// Whether there is a row in this slot.
    fn exists(&self, slot: u32) -> bool;
    /// Natural order of two rows; never equal for two different slots.
    fn natural(&self, a: u32, b: u32) -> Ordering;
    /// Sort key of a row in the sort that was asked for.
    fn key(&mut self, slot: u32) -> SortKey;
    /// Where a row stands under the filter that was asked for.
    fn place(&mut self, slot: u32) -> Place;
    /// What a row adds to the sums while it is shown; asked again only when its content changed.
    fn summands(&mut self, slot: u32) -> [Summand; SUMS];
}

/// How much of a row changed since the layers were mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Dirt {
    #[default]
    Clean,
    /// Its content.
    Changed,
    /// It appeared, vanished, or the slot went to another row.
    Moved,
}

/// What must be found out anew about every row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Anew {
    /// What it is sorted by.
    keys: bool,
    /// Whether it matches.
    places: bool,
    /// What it adds to the sums.
    summands: bool,
}

impl Anew {
    const ALL: Self = Self {
        keys: true,
        places: true,
        summands: true,
    };
}

/// The layers of one table.
#[derive(Debug, Default)]
pub struct Order {
    natural: Vec<u32>,
    /// Position in `natural`, `u32::MAX` for a slot that is not in it: the tie-break of every sort.
    rank: Vec<u32>,
    /// `None` while the table is in its natural order.
    direction: Option<Direction>,
    sorted: Vec<u32>,
    keys: Vec<SortKey>,
    shown: Vec<u32>,
    places: Vec<Place>,
    summands: Vec<[Summand; SUMS]>,
    in_scope: usize,
    sums: [Sum; SUMS],
    dirt: Vec<Dirt>,
    dirty: Vec<u32>,
    anew: Anew,
}

const NOWHERE: u32 = u32::MAX;

impl Order {
    /// A row's content changed.
    pub fn changed(&mut self, slot: u32) {
        self.mark(slot, Dirt::Changed);
    }

    /// A row appeared, vanished, or gave its slot to another.
    pub fn moved(&mut self, slot: u32) {
        self.mark(slot, Dirt::Moved);
    }

    /// Something that all rows depend on changed (a round of samples).
    pub fn all_changed(&mut self) {
        self.anew = Anew::ALL;
    }

    /// All rows are gone. The sort stays.
    pub fn clear(&mut self) {
        *self = Self {
            direction: self.direction,
            ..Self::default()
        };
    }

    fn mark(&mut self, slot: u32, dirt: Dirt) {
        let index = slot as usize;
        if index >= self.dirt.len() {
            self.dirt.resize(index + 1, Dirt::Clean);
        }
        if self.dirt[index] == Dirt::Clean {
            self.dirty.push(slot);
        }
        self.dirt[index] = self.dirt[index].max(dirt);
    }

    /// Asks for another sort: `None` for the natural order.
    pub fn sort(&mut self, direction: Option<Direction>) {
        self.direction = direction;
        self.anew.keys = true;
    }

    /// Asks for another filter.
    pub fn filter(&mut self) {
        self.anew.places = true;
    }

    /// Whether [`Order::mend`] has something to do.
    pub fn needs_mending(&self) -> bool {
        !self.dirty.is_empty() || self.anew != Anew::default()
    }

    /// Brings the layers up to date.
    pub fn mend(&mut self, rows: &mut impl Rows) {
        if !self.needs_mending() {
            return;
        }
        let capacity = rows.capacity();
        self.dirt.resize(capacity.max(self.dirt.len()), Dirt::Clean);
        self.rank.resize(capacity, NOWHERE);
        self.keys.resize(capacity, SortKey::Absent);
        self.places.resize(capacity, Place::Out);
        self.summands.resize(capacity, [Summand::None; SUMS]);
        self.dirty.retain(|slot| (*slot as usize) < capacity);
        self.mend_natural(rows);
        let anew = std::mem::take(&mut self.anew);
        self.renew(anew, rows);
        if anew.keys {
            self.sort_all();
        } else {
            self.mend_sorted(rows);
        }
        self.show();
        for slot in self.dirty.drain(..) {
            self.dirt[slot as usize] = Dirt::Clean;
        }
    }

    /// Finds out what the dirty rows are now, and of all rows what must be found out anew: all rows in their
    /// natural order, in which a list brings them and they lie in memory.
    fn renew(&mut self, anew: Anew, rows: &mut impl Rows) {
        let dirty = std::mem::take(&mut self.dirty);
        for slot in &dirty {
            self.renew_row(*slot, Anew::ALL, rows);
        }
        self.dirty = dirty;
        if anew != Anew::default() {
            let natural = std::mem::take(&mut self.natural);
            for slot in &natural {
                if self.dirt[*slot as usize] == Dirt::Clean {
                    self.renew_row(*slot, anew, rows);
                }
            }
            self.natural = natural;
        }
    }

    /// All that is asked of a row is asked at once, while it is at hand.
    fn renew_row(&mut self, slot: u32, anew: Anew, rows: &mut impl Rows) {
        let index = slot as usize;
        let exists = rows.exists(slot);
        if anew.places {
            self.forget(slot);
        }
        if anew.keys {
            let sorted = exists && self.direction.is_some();
            self.keys[index] = if sorted { rows.key(slot) } else { SortKey::Absent };
        }
        if anew.summands {
            self.summands[index] = if exists {
                rows.summands(slot)
            } else {
                Default::default()
            };
        }
        if anew.places && exists {
            self.place(slot, rows);
        }
    }

    fn mend_natural(&mut self, rows: &impl Rows) {
        let mut new: Vec<u32> = self.dirty.clone();
        new.retain(|slot| self.dirt[*slot as usize] == Dirt::Moved);
        if new.is_empty() {
            return;
        }
        self.natural
            .retain(|slot| self.dirt[*slot as usize] != Dirt::Moved);
        for slot in &new {
            self.rank[*slot as usize] = NOWHERE;
        }
        new.retain(|slot| rows.exists(*slot));
        new.sort_unstable_by(|a, b| rows.natural(*a, *b));
        merge(&mut self.natural, &new, |a, b| rows.natural(a, b));
        for (rank, slot) in (0u32..).zip(&self.natural) {
            self.rank[*slot as usize] = rank;
        }
    }

    /// Puts the dirty rows into the sort.
    fn mend_sorted(&mut self, rows: &impl Rows) {
        if self.dirty.is_empty() || self.direction.is_none() {
            return;
        }
        let mut renewed = self.dirty.clone();
        renewed.retain(|slot| rows.exists(*slot));
        self.sort_slots(&mut renewed);
        self.sorted
            .retain(|slot| self.dirt[*slot as usize] == Dirt::Clean);
        let order = Comparison::of(self.direction, &self.keys, &self.rank);
        merge(&mut self.sorted, &renewed, |a, b| order.compare(a, b));
    }

    fn sort_all(&mut self) {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        if self.direction.is_some() {
            sorted.extend_from_slice(&self.natural);
            self.sort_slots(&mut sorted);
        }
        self.sorted = sorted;
    }

    /// Sorts slots by their keys. These are laid side by side for it: through the slots, each comparison would
    /// miss the cache.
    fn sort_slots(&mut self, slots: &mut [u32]) {
        let Some(direction) = self.direction else { return };
        let mut keyed: Vec<(SortKey, u32, u32)> = Vec::with_capacity(slots.len());
        for slot in slots.iter() {
            let key = std::mem::replace(&mut self.keys[*slot as usize], SortKey::Absent);
            keyed.push((key, self.rank[*slot as usize], *slot));
        }
        keyed.sort_unstable_by(|(a, rank, _), (b, other, _)| {
            a.compare(b, direction).then_with(|| rank.cmp(other))
        });
        for (place, (key, _, slot)) in slots.iter_mut().zip(keyed) {
            self.keys[slot as usize] = key;
            *place = slot;
        }
    }

    /// Picks what is shown from the layer before.
    fn show(&mut self) {
        let layer = if self.direction.is_some() {
            &self.sorted
        } else {
            &self.natural
        };
        let shown = layer
            .iter()
            .filter(|slot| self.places[**slot as usize] == Place::Shown);
        self.shown.clear();
        self.shown.extend(shown);
    }

    fn place(&mut self, slot: u32, rows: &mut impl Rows) {
        let place = rows.place(slot);
        self.places[slot as usize] = place;
        if place != Place::Out {
            self.in_scope += 1;
        }
        if place == Place::Shown {
            for (sum, summand) in self.sums.iter_mut().zip(self.summands[slot as usize]) {
                sum.add(summand);
            }
        }
    }

    fn forget(&mut self, slot: u32) {
        let place = std::mem::replace(&mut self.places[slot as usize], Place::Out);
        if place != Place::Out {
            self.in_scope -= 1;
        }
        if place == Place::Shown {
            for (sum, summand) in self.sums.iter_mut().zip(self.summands[slot as usize]) {
                sum.remove(summand);
            }
        }
    }

    /// The slots that are shown, in order.
    pub fn shown(&self) -> &[u32] {
        &self.shown
    }

    /// Rows in the table before the filter.
    pub fn in_scope(&self) -> usize {
        self.in_scope
    }

    /// Sums over the rows shown.
    pub fn sums(&self) -> [Sum; SUMS] {
        self.sums
    }

    /// Where this slot stands among the rows shown.
    pub fn position(&self, slot: u32) -> Option<usize> {
        if self.places.get(slot as usize) != Some(&Place::Shown) {
            return None;
        }
        let order = Comparison::of(self.direction, &self.keys, &self.rank);
        self.shown
            .binary_search_by(|other| order.compare(*other, slot))
            .ok()
    }
}

/// Compares slots by the keys that were cached, so that the layers stay in one consistent order.
struct Comparison<'a> {
    direction: Option<Direction>,
    keys: &'a [SortKey],
    rank: &'a [u32],
}

impl<'a> Comparison<'a> {
    fn of(direction: Option<Direction>, keys: &'a [SortKey], rank: &'a [u32]) -> Self {
        Self {
            direction,
            keys,
            rank,
        }
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (a as usize, b as usize);
        let by_key = match self.direction {
            Some(direction) => self.keys[a].compare(&self.keys[b], direction),
            None => Ordering::Equal,
        };
        by_key.then_with(|| self.rank[a].cmp(&self.rank[b]))
    }
}

/// Puts `new` (in order) into `into` (in order): a search each that looks nearby first, then one copy. Few new
/// rows cost little more than the copy, many no more than a merge.
fn merge(into: &mut Vec<u32>, new: &[u32], compare: impl Fn(u32, u32) -> Ordering) {
    if new.is_empty() {
        return;
    }
    let mut merged = Vec::with_capacity(into.len() + new.len());
    let mut rest = into.as_slice();
    for slot in new {
        let before = |other: &u32| compare(*other, *slot) == Ordering::Less;
        let (mut passed, mut step) = (0, 1);
        while rest.get(passed + step - 1).is_some_and(before) {
            passed += step;
            step *= 2;
        }
        let near = &rest[passed..rest.len().min(passed + step)];
        let (smaller, others) = rest.split_at(passed + near.partition_point(before));
        merged.extend_from_slice(smaller);
        merged.push(*slot);
        rest = others;
    }
    merged.extend_from_slice(rest);
    *into = merged;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows with a name, a sort value and a flag for the filter.
    #[derive(Clone, Debug, Default)]
    struct Fake {
        rows: Vec<Option<(String, Option<i8>, bool)>>,
    }

    impl Rows for Fake {
        fn capacity(&self) -> usize {
            self.rows.len()
        }
        fn exists(&self, slot: u32) -> bool {
            self.rows[slot as usize].is_some()
        }
        fn natural(&self, a: u32, b: u32) -> Ordering {
            let name = |slot: u32| self.rows[slot as usize].as_ref().map(|row| (&row.0, slot));
            name(a).cmp(&name(b))
        }
        fn key(&mut self, slot: u32) -> SortKey {
            match self.rows[slot as usize].as_ref().unwrap().1 {
                Some(value) => SortKey::Number(f64::from(value)),
                None => SortKey::Absent,
            }
        }
        fn place(&mut self, slot: u32) -> Place {
            if self.rows[slot as usize].as_ref().unwrap().2 {
                Place::Shown
            } else {
                Place::Hidden
            }
        }
        fn summands(&mut self, slot: u32) -> [Summand; SUMS] {
            let value = self.rows[slot as usize].as_ref().unwrap().1;
            let summand = match value {
                Some(value) => Summand::Value(u64::from(value.unsigned_abs())),
                None => Summand::Absent,
            };
            [summand, Summand::None]
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Set(usize, String, Option<i8>, bool),
        Remove(usize),
        Sort(Option<Direction>),
        Filter,
        Everything,
        Mend,
    }

    fn step() -> impl Strategy<Value = Step> {
        let row = (0usize..24, "[a-c]{1,2}", prop::option::of(-3i8..4), any::<bool>());
        prop_oneof![
            8 => row.prop_map(|(slot, name, value, shown)| Step::Set(slot, name, value, shown)),
            3 => (0usize..24).prop_map(Step::Remove),
            1 => prop_oneof![
                Just(None),
                Just(Some(Direction::Ascending)),
                Just(Some(Direction::Descending)),
            ]
            .prop_map(Step::Sort),
            1 => Just(Step::Filter),
            1 => Just(Step::Everything),
            4 => Just(Step::Mend),
        ]
    }

    proptest! {
        /// However updates, sorts and filters alternate: what was mended equals what is sorted from nothing.
        #[test]
        fn mending_equals_a_full_sort(steps in prop::collection::vec(step(), 1..60)) {
            let mut fake = Fake { rows: vec![None; 24] };
            let mut mended = Order::default();
            let mut direction = None;
            for step in steps {
                match step {
                    Step::Set(slot, name, value, shown) => {
                        let row = Some((name, value, shown));
                        let number = u32::try_from(slot).unwrap();
                        let same_name = fake.rows[slot].as_ref().map(|r| &r.0) == row.as_ref().map(|r| &r.0);
                        fake.rows[slot] = row;
                        if same_name { mended.changed(number) } else { mended.moved(number) }
                    }
                    Step::Remove(slot) => {
                        if fake.rows[slot].take().is_some() {
                            mended.moved(u32::try_from(slot).unwrap());
                        }
                    }
                    Step::Sort(wanted) => {
                        direction = wanted;
                        mended.sort(direction);
                    }
                    Step::Filter => mended.filter(),
                    Step::Everything => mended.all_changed(),
                    Step::Mend => mended.mend(&mut fake),
                }
            }
            mended.mend(&mut fake);
            let mut fresh = Order::default();
            for slot in 0..24u32 {
                fresh.moved(slot);
            }
            fresh.sort(direction);
            fresh.mend(&mut fake);
            prop_assert_eq!(&mended.shown, &fresh.shown);
            prop_assert_eq!(mended.sums, fresh.sums);
            prop_assert_eq!(mended.in_scope, fresh.in_scope);
            for (position, slot) in fresh.shown.iter().enumerate() {
                prop_assert_eq!(mended.position(*slot), Some(position));
            }
        }

        #[test]
        fn absent_sorts_last_in_both_directions(
            values in prop::collection::vec(prop::option::of(any::<i8>()), 1..30),
            descending in any::<bool>(),
        ) {
            let mut fake = Fake {
                rows: values.iter().map(|value| Some(("a".into(), *value, true))).collect(),
            };
            let mut order = Order::default();
            for slot in 0..values.len() {
                order.moved(u32::try_from(slot).unwrap());
            }
            order.sort(Some(if descending { Direction::Descending } else { Direction::Ascending }));
            order.mend(&mut fake);
            let known = values.iter().flatten().count();
            let sorted: Vec<_> = order.shown().iter().map(|slot| values[*slot as usize]).collect();
            prop_assert!(sorted[..known].iter().all(Option::is_some));
            let in_order = sorted[..known]
                .windows(2)
                .all(|pair| if descending { pair[0] >= pair[1] } else { pair[0] <= pair[1] });
            prop_assert!(in_order);
            prop_assert_eq!(order.sums()[0].known, known);
            prop_assert_eq!(order.sums()[0].of, values.len());
        }
    }
}
