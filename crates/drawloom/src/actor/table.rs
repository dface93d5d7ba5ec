//! Tables in ETS's sense.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use crate::object::Object;

/// A table that processes share: each operation is atomic, and one step under control. In the order of its keys, as an
/// `ordered_set` of ETS.
///
/// ```
/// use drawloom::actor::Table;
///
/// let stock = Table::new();
/// assert!(stock.insert_new("apples", 3));
/// assert!(!stock.insert_new("apples", 9));
/// assert_eq!(stock.update_counter("apples", -1, 0), 2);
/// assert_eq!(stock.update_counter("pears", 5, 0), 5);
/// assert_eq!(stock.lookup(&"apples"), Some(2));
/// assert_eq!(stock.to_vec(), [("apples", 2), ("pears", 5)]);
/// ```
///
/// What is passed to it as a closure runs in the middle of that step: it must not use actors, locks or the table itself.
pub struct Table<K, V> {
    rows: Arc<Object<BTreeMap<K, V>>>,
}

/// A number that [`Table::update_counter`] can add to.
///
/// ```
/// use drawloom::actor::Counter;
///
/// assert_eq!(Counter::plus(40_u64, 2), 42);
/// ```
pub trait Counter: Copy {
    /// The sum.
    #[must_use]
    fn plus(self, more: Self) -> Self;
}

macro_rules! counters {
    ($($Number:ty)*) => {
        $(impl Counter for $Number {
            fn plus(self, more: Self) -> Self {
                self + more
            }
        })*
    };
}

counters!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    /// An empty table.
    #[track_caller]
    pub fn new() -> Table<K, V> {
        Table { rows: Arc::new(Object::new(BTreeMap::new())) }
    }

    /// Inserts a row, in place of the one that has that key; that one.
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        self.rows.update(|rows| rows.insert(key, value))
    }

    /// Inserts rows, all at once.
    #[track_caller]
    pub fn insert_all(&self, new: impl IntoIterator<Item = (K, V)>) {
        let new: Vec<(K, V)> = new.into_iter().collect();
        self.rows.update(|rows| rows.extend(new));
    }

    /// Inserts a row if there is none of that key; whether it did.
    #[track_caller]
    pub fn insert_new(&self, key: K, value: V) -> bool {
        self.rows.update(|rows| match rows.entry(key) {
            Entry::Vacant(place) => {
                place.insert(value);
                true
            }
            Entry::Occupied(_) => false,
        })
    }

    /// The value of a key.
    #[track_caller]
    pub fn lookup(&self, key: &K) -> Option<V> {
        self.rows.look(|rows| rows.get(key).cloned())
    }

    /// Whether there is a row of that key.
    #[track_caller]
    pub fn member(&self, key: &K) -> bool {
        self.rows.look(|rows| rows.contains_key(key))
    }

    /// Deletes the row of a key; whether there was one.
    #[track_caller]
    pub fn delete(&self, key: &K) -> bool {
        self.take(key).is_some()
    }

    /// Deletes the row of a key; its value.
    #[track_caller]
    pub fn take(&self, key: &K) -> Option<V> {
        self.rows.update(|rows| rows.remove(key))
    }

    /// Deletes the row of a key if it has that value; whether it did.
    #[track_caller]
    pub fn delete_object(&self, key: &K, value: &V) -> bool
    where
        V: PartialEq,
    {
        self.rows.update(|rows| rows.get(key) == Some(value) && rows.remove(key).is_some())
    }

    /// Adds to the number of a key, which is `default` if there is none; the result.
    #[track_caller]
    pub fn update_counter(&self, key: K, more: V, default: V) -> V
    where
        V: Counter,
    {
        self.rows.update(|rows| {
            let count = rows.entry(key).or_insert(default);
            *count = count.plus(more);
            *count
        })
    }

    /// Changes the value of a key, if there is one; what the closure says.
    #[track_caller]
    pub fn update_element<R>(&self, key: &K, change: impl FnOnce(&mut V) -> R) -> Option<R> {
        self.rows.update(|rows| rows.get_mut(key).map(change))
    }

    /// Changes the value of a key, or removes it, or makes one: all in one step.
    #[track_caller]
    pub fn upsert<R>(&self, key: K, change: impl FnOnce(&mut Option<V>) -> R) -> R {
        self.rows.update(|rows| {
            let mut value = rows.remove(&key);
            let result = change(&mut value);
            if let Some(value) = value {
                rows.insert(key, value);
            }
            result
        })
    }

    /// The rows for which `wanted` says yes.
    #[track_caller]
    pub fn select(&self, wanted: impl Fn(&K, &V) -> bool) -> Vec<(K, V)> {
        let row = |(key, value): (&K, &V)| (key.clone(), value.clone());
        self.rows.look(|rows| rows.iter().filter(|(key, value)| wanted(key, value)).map(row).collect())
    }

    /// Deletes the rows for which `wanted` says yes; how many.
    #[track_caller]
    pub fn select_delete(&self, wanted: impl Fn(&K, &V) -> bool) -> usize {
        self.rows.update(|rows| {
            let before = rows.len();
            rows.retain(|key, value| !wanted(key, value));
            before - rows.len()
        })
    }

    /// Changes all values, and deletes those for which `keep` says no: one step.
    #[track_caller]
    pub(super) fn retain_in(&self, mut keep: impl FnMut(&mut V) -> bool) {
        self.rows.update(|rows| rows.retain(|_, value| keep(value)));
    }

    /// How many rows there are for which `wanted` says yes.
    #[track_caller]
    pub fn select_count(&self, wanted: impl Fn(&K, &V) -> bool) -> usize {
        self.rows.look(|rows| rows.iter().filter(|(key, value)| wanted(key, value)).count())
    }

    /// All rows, in the order of keys: `tab2list`.
    #[track_caller]
    pub fn to_vec(&self) -> Vec<(K, V)> {
        self.select(|_, _| true)
    }

    /// Deletes all rows.
    #[track_caller]
    pub fn clear(&self) {
        self.rows.update(BTreeMap::clear);
    }

    /// How many rows there are.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.rows.look(BTreeMap::len)
    }

    /// Whether there is none.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first key.
    #[track_caller]
    pub fn first(&self) -> Option<K> {
        self.rows.look(|rows| rows.keys().next().cloned())
    }

    /// The last key.
    #[track_caller]
    pub fn last(&self) -> Option<K> {
        self.rows.look(|rows| rows.keys().next_back().cloned())
    }

    /// The key after this one, which need not be there.
    #[track_caller]
    pub fn next(&self, key: &K) -> Option<K> {
        let after = (Bound::Excluded(key), Bound::Unbounded);
        self.rows.look(|rows| rows.range(after).next().map(|(key, _)| key.clone()))
    }

    /// The key before this one, which need not be there.
    #[track_caller]
    pub fn prev(&self, key: &K) -> Option<K> {
        let before = (Bound::Unbounded, Bound::Excluded(key));
        self.rows.look(|rows| rows.range(before).next_back().map(|(key, _)| key.clone()))
    }
}

impl<K: Ord + Clone, V: Clone> Default for Table<K, V> {
    #[track_caller]
    fn default() -> Self {
        Table::new()
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        Table { rows: Arc::clone(&self.rows) }
    }
}

impl<K, V> fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}
