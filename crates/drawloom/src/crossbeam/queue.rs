//! Queues that never wait.

use std::collections::{VecDeque, vec_deque};
use std::fmt;

use crate::object::Object;

/// As `crossbeam::queue::ArrayQueue`.
pub struct ArrayQueue<T> {
    queue: Object<VecDeque<T>>,
    capacity: usize,
}

impl<T> ArrayQueue<T> {
    /// A queue with room for `capacity` values.
    ///
    /// # Panics
    ///
    /// If there is no room at all.
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "capacity must be non-zero");
        ArrayQueue { queue: Object::new(VecDeque::with_capacity(capacity)), capacity }
    }

    /// Adds a value, which comes back if there is no room.
    #[track_caller]
    pub fn push(&self, value: T) -> Result<(), T> {
        self.queue.update(|queue| {
            if queue.len() == self.capacity {
                return Err(value);
            }
            queue.push_back(value);
            Ok(())
        })
    }

    /// Adds a value; the oldest comes back if there was no room.
    #[track_caller]
    pub fn force_push(&self, value: T) -> Option<T> {
        self.queue.update(|queue| {
            let oldest = if queue.len() == self.capacity { queue.pop_front() } else { None };
            queue.push_back(value);
            oldest
        })
    }

    /// For how many values there is room.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether there is no room for another one.
    #[track_caller]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity
    }
}

/// As `crossbeam::queue::SegQueue`.
pub struct SegQueue<T> {
    queue: Object<VecDeque<T>>,
}

impl<T> SegQueue<T> {
    /// A queue that never fills.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        SegQueue { queue: Object::new(VecDeque::new()) }
    }

    /// Adds a value.
    #[track_caller]
    pub fn push(&self, value: T) {
        self.queue.update(|queue| queue.push_back(value));
    }
}

impl<T> Default for SegQueue<T> {
    #[track_caller]
    fn default() -> Self {
        SegQueue::new()
    }
}

macro_rules! takes {
    ($Queue:ident) => {
        impl<T> $Queue<T> {
            /// Takes the oldest value, if there is one.
            #[track_caller]
            pub fn pop(&self) -> Option<T> {
                self.queue.update(VecDeque::pop_front)
            }

            /// How many values there are.
            #[track_caller]
            pub fn len(&self) -> usize {
                self.queue.look(VecDeque::len)
            }

            /// Whether there are none.
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T> IntoIterator for $Queue<T> {
            type Item = T;
            type IntoIter = vec_deque::IntoIter<T>;

            fn into_iter(self) -> Self::IntoIter {
                self.queue.into_inner().into_iter()
            }
        }

        impl<T> fmt::Debug for $Queue<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!(stringify!($Queue), " { .. }"))
            }
        }
    };
}

takes!(ArrayQueue);
takes!(SegQueue);
