//! Arrays of counters that all processes share.

use std::fmt;
use std::sync::Arc;

use crate::sync::atomic::{AtomicI64, Ordering};

/// An array of integers that processes share, Erlang's `atomics`: each operation is atomic, and a step under control.
///
/// ```
/// use drawloom::actor::Atomics;
///
/// let counters = Atomics::new(2);
/// counters.add(0, 40);
/// assert_eq!(counters.add_get(0, 2), 42);
/// assert_eq!(counters.compare_exchange(1, 0, 7), Ok(0));
/// assert_eq!(counters.compare_exchange(1, 0, 8), Err(7));
/// ```
#[derive(Clone)]
pub struct Atomics {
    all: Arc<[AtomicI64]>,
}

impl Atomics {
    /// Makes `many` numbers, all 0.
    #[track_caller]
    pub fn new(many: usize) -> Atomics {
        Atomics { all: (0..many).map(|_| AtomicI64::new(0)).collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The value at a place, from 0.
    #[track_caller]
    pub fn get(&self, at: usize) -> i64 {
        self.all[at].load(Ordering::SeqCst)
    }

    /// Sets the value.
    #[track_caller]
    pub fn put(&self, at: usize, value: i64) {
        self.all[at].store(value, Ordering::SeqCst);
    }

    /// Adds to the value; wraps around.
    #[track_caller]
    pub fn add(&self, at: usize, more: i64) {
        self.all[at].fetch_add(more, Ordering::SeqCst);
    }

    /// Subtracts from the value; wraps around.
    #[track_caller]
    pub fn sub(&self, at: usize, less: i64) {
        self.all[at].fetch_sub(less, Ordering::SeqCst);
    }

    /// Adds to the value, and says the result.
    #[track_caller]
    pub fn add_get(&self, at: usize, more: i64) -> i64 {
        self.all[at].fetch_add(more, Ordering::SeqCst).wrapping_add(more)
    }

    /// Subtracts from the value, and says the result.
    #[track_caller]
    pub fn sub_get(&self, at: usize, less: i64) -> i64 {
        self.all[at].fetch_sub(less, Ordering::SeqCst).wrapping_sub(less)
    }

    /// Sets the value, and says what it was.
    #[track_caller]
    pub fn exchange(&self, at: usize, value: i64) -> i64 {
        self.all[at].swap(value, Ordering::SeqCst)
    }

    /// Sets the value if it is the `expected` one; what it was.
    ///
    /// # Errors
    ///
    /// What it is, if it is another one.
    #[track_caller]
    pub fn compare_exchange(&self, at: usize, expected: i64, value: i64) -> Result<i64, i64> {
        self.all[at].compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
    }
}

impl fmt::Debug for Atomics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} atomics", self.len())
    }
}
