//! Tasks that share nothing with the one that spawned them.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::time::Duration;

use super::spawn::{Task, spawn};

/// Spawns a task on a copy of `arguments`, deep enough that nothing is shared: what either side does to
/// its own, the other never sees.
///
/// `f` is a function, not a closure, so that it brings nothing along.
///
/// ```
/// use drawloom::task;
///
/// let mut words = vec!["one".to_string()];
/// let task = task::spawn_isolated(&words, |words| words.len());
/// words.push("two".to_string());
/// assert_eq!(task.get().unwrap(), 1);
/// ```
#[track_caller]
pub fn spawn_isolated<A, T>(arguments: &A, f: fn(A) -> T) -> Task<T>
where
    A: Isolate + Send + 'static,
    T: Send + 'static,
{
    let copy = arguments.clone();
    spawn(move || f(copy))
}

/// Values whose clone shares nothing with the original.
///
/// Implement it for types of your own whose fields are all `Isolate`. Reference counts, references, raw
/// pointers and channels are not.
///
/// ```
/// use drawloom::task::{self, Isolate};
///
/// #[derive(Clone)]
/// struct Order {
///     item: String,
///     count: u32,
/// }
/// impl Isolate for Order {}
///
/// let order = Order { item: "tea".to_owned(), count: 2 };
/// let count = task::spawn_isolated(&order, |order| order.count).get();
/// assert_eq!(count.unwrap(), 2);
/// # let _ = order.item;
/// ```
pub trait Isolate: Clone {}

macro_rules! isolated {
    ($($t:ty)*) => { $(impl Isolate for $t {})* };
}
isolated!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char String Duration);

impl<T: Isolate> Isolate for Option<T> {}
impl<T: Isolate, E: Isolate> Isolate for Result<T, E> {}
impl<T: Isolate> Isolate for Box<T> {}
impl<T: Isolate> Isolate for Box<[T]> {}
impl Isolate for () {}
impl Isolate for Box<str> {}
impl<T: Isolate> Isolate for Vec<T> {}
impl<T: Isolate> Isolate for VecDeque<T> {}
impl<T: Isolate> Isolate for LinkedList<T> {}
impl<T: Isolate + Ord> Isolate for BinaryHeap<T> {}
impl<T: Isolate + Ord> Isolate for BTreeSet<T> {}
impl<K: Isolate + Ord, V: Isolate> Isolate for BTreeMap<K, V> {}
impl<T: Isolate, S: Clone> Isolate for HashSet<T, S> {}
impl<K: Isolate, V: Isolate, S: Clone> Isolate for HashMap<K, V, S> {}
impl<T: Isolate, const N: usize> Isolate for [T; N] {}

macro_rules! isolated_tuples {
    ($(($($T:ident)+))*) => { $(impl<$($T: Isolate),+> Isolate for ($($T,)+) {})* };
}
isolated_tuples!((A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F));
