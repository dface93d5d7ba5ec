//! Sorting, and maps and sets in order, for what is small or seldom: all of it is compiled once.
//!
//! std's sorts, maps and sets are compiled anew for each type that they are used with, 2,000 to 8,000 lines of LLVM's code each time.
//! Where a user's test binary was built for the first time, that was a third of the work on the reports. Here the work is done on
//! places in a list, which are numbers whatever lies there. On the paths that make executions std's own are right.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Index;

/// Sorts as `slice::sort`, which keeps equals as they are.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts as `slice::sort_by_key`.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts as `slice::sort_by`.
pub fn sort_by<T>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    let swaps = swaps(items.len(), &|a, b| order(&items[a], &items[b]));
    swaps.into_iter().enumerate().for_each(|(to, from)| items.swap(to, from));
}

/// With what each place is exchanged, from the first to the last, so that all are in order.
fn swaps(count: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| order(*a, *b));
    for to in 0..count {
        // What was at a place before this one has gone to where that one came from.
        while places[to] < to {
            places[to] = places[places[to]];
        }
    }
    places
}

/// Where what is looked for lies, or belongs.
fn search(count: usize, order: &dyn Fn(usize) -> Ordering) -> Result<usize, usize> {
    let (mut from, mut to) = (0, count);
    // Most often it is the newest, or comes after it.
    if let Some(last) = count.checked_sub(1) {
        match order(last) {
            Ordering::Less => return Err(count),
            Ordering::Equal => return Ok(last),
            Ordering::Greater => to = last,
        }
    }
    while from < to {
        let middle = usize::midpoint(from, to);
        match order(middle) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => to = middle,
        }
    }
    Err(from)
}

/// A list of keys and values in the order of the keys. To insert before others moves these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<K, V>(Vec<(K, V)>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map(Vec::new())
    }
}

impl<K: Ord, V> Map<K, V> {
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        search(self.0.len(), &|place| self.0[place].0.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&self.0[place].1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&mut self.0[place].1)
    }

    /// Whether it has the key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// The value of a key, which is `value` if there is none yet.
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.0.insert(place, (key, value()));
            place
        });
        &mut self.0[place].1
    }

    /// The value of a key, which is the default if there is none yet.
    pub fn at(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }

    /// Gives a key its value, and returns the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// Takes a key away, and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// All keys and values, in the order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    /// All values, in the order of the keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(all: I) -> Self {
        let mut map = Map::default();
        for (key, value) in all {
            map.insert(key, value);
        }
        map
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is there")
    }
}

/// A list in order, each once. To insert before others moves these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set<K>(Vec<K>);

impl<K> Default for Set<K> {
    fn default() -> Self {
        Set(Vec::new())
    }
}

impl<K: Ord> Set<K> {
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        search(self.0.len(), &|place| self.0[place].borrow().cmp(key))
    }

    /// Whether it is in there.
    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Puts it in, and says whether it was new.
    pub fn insert(&mut self, key: K) -> bool {
        match self.place(&key) {
            Ok(_) => false,
            Err(place) => {
                self.0.insert(place, key);
                true
            }
        }
    }

    /// Takes it out, and says whether it was in there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).map(|place| self.0.remove(place)).is_ok()
    }

    /// The least one.
    pub fn first(&self) -> Option<&K> {
        self.0.first()
    }

    /// Keeps what is `kept`.
    pub fn retain(&mut self, kept: impl FnMut(&K) -> bool) {
        self.0.retain(kept);
    }

    /// All of them, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, K> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord> Extend<K> for Set<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, all: I) {
        for key in all {
            self.insert(key);
        }
    }
}

impl<K: Ord> FromIterator<K> for Set<K> {
    fn from_iter<I: IntoIterator<Item = K>>(all: I) -> Self {
        let mut set = Set::default();
        set.extend(all);
        set
    }
}

impl<K> IntoIterator for Set<K> {
    type Item = K;
    type IntoIter = std::vec::IntoIter<K>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K> IntoIterator for &'a Set<K> {
    type Item = &'a K;
    type IntoIter = std::slice::Iter<'a, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Lists of pairs from small numbers, so that many are equal.
    fn lists() -> impl Iterator<Item = Vec<(u8, usize)>> {
        let mut state = 1_u64;
        (0..400).map(move |length| {
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8 % 23
            };
            (0..length % 60).map(|number| (draw(), number)).collect()
        })
    }

    #[test]
    fn it_sorts_as_std_does_and_keeps_equals_as_they_are() {
        for list in lists() {
            let (mut ours, mut theirs) = (list.clone(), list);
            sort_by_key(&mut ours, |(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            assert_eq!(ours, theirs);
            sort_by(&mut ours, |a, b| b.cmp(a));
            theirs.sort_by(|a, b| b.cmp(a));
            assert_eq!(ours, theirs);
            sort(&mut ours);
            theirs.sort();
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn maps_and_sets_are_as_those_of_std() {
        for list in lists() {
            let (mut ours, mut theirs) = (Map::default(), BTreeMap::new());
            let (mut our_set, mut their_set) = (Set::default(), BTreeSet::new());
            for (key, number) in list {
                match number % 5 {
                    0 => assert_eq!(ours.remove(&key), theirs.remove(&key)),
                    1 => *ours.at(key) += number,
                    2 => {
                        let change = |value: &mut usize| *value *= 2;
                        assert_eq!(ours.get_mut(&key).map(change), theirs.get_mut(&key).map(change));
                    }
                    _ => assert_eq!(ours.insert(key, number), theirs.insert(key, number)),
                }
                if number % 5 == 1 {
                    *theirs.entry(key).or_default() += number;
                }
                assert_eq!((ours.get(&key), ours.contains_key(&key)), (theirs.get(&key), theirs.contains_key(&key)));
                match number % 3 {
                    0 => assert_eq!(our_set.remove(&key), their_set.remove(&key)),
                    _ => assert_eq!(our_set.insert(key), their_set.insert(key)),
                }
                assert_eq!(our_set.contains(&key), their_set.contains(&key));
            }
            assert!(
                ours.iter().eq(theirs.iter()) && ours.keys().eq(theirs.keys()) && ours.values().eq(theirs.values())
            );
            assert!(our_set.iter().eq(their_set.iter()) && our_set.len() == their_set.len());
        }
    }
}
