//! The work-stealing queue of Cilk ("THE" protocol), with a queue that is found full one item too late.

use std::sync::Arc;

use super::words::{Held, Lock, Var, alone, join, spawn, spin, zeroes};

const ITEMS: usize = 4;

/// How the two sides exclude each other where they must.
enum Exclusion {
    Mutex(Lock),
    Spinning(Var),
}

enum Excluded<'a> {
    Mutex { _held: Held<'a> },
    Spinning(&'a Var),
}

impl Exclusion {
    #[track_caller]
    fn enter(&self) -> Excluded<'_> {
        match self {
            Exclusion::Mutex(lock) => Excluded::Mutex { _held: lock.lock() },
            Exclusion::Spinning(taken) => {
                while taken.swap(1) != 0 {
                    spin();
                }
                Excluded::Spinning(taken)
            }
        }
    }
}

impl Drop for Excluded<'_> {
    fn drop(&mut self) {
        if let Excluded::Spinning(taken) = self {
            taken.write(0);
        }
    }
}

struct Queue {
    head: Var,
    tail: Var,
    mask: Var,
    elements: [Var; 16],
    exclusion: Exclusion,
    uses: [Var; ITEMS],
    /// How much more than the mask counts as room: nothing, if it is right.
    slack: i64,
}

impl Queue {
    fn new(exclusion: Exclusion, fixed: bool) -> Arc<Queue> {
        Arc::new(Queue {
            head: Var::new(0),
            tail: Var::new(0),
            mask: Var::new(1),
            elements: zeroes!(),
            exclusion,
            uses: zeroes!(),
            slack: i64::from(!fixed),
        })
    }

    fn take(&self, at: i64) -> usize {
        let mask = self.mask.read();
        self.elements[(at & mask) as usize].read() as usize
    }

    fn push(&self, item: usize) {
        let tail = self.tail.read();
        let mask = self.mask.read();
        if tail < self.head.read() + mask + self.slack {
            self.elements[(tail & mask) as usize].write(item as i64);
            self.tail.write(tail + 1);
        } else {
            self.push_with_room(item);
        }
    }

    fn push_with_room(&self, item: usize) {
        let _excluded = self.exclusion.enter();
        let head = self.head.read();
        let count = self.tail.read() - head;
        let mask = self.mask.read();
        let head = head & mask;
        self.head.write(head);
        self.tail.write(head + count);
        if count >= mask {
            let moved: Vec<i64> = (head..head + count).map(|at| self.elements[(at & mask) as usize].read()).collect();
            for (at, item) in moved.into_iter().enumerate() {
                self.elements[at].write(item);
            }
            self.mask.write(2 * mask + 1);
            self.head.write(0);
            self.tail.write(count);
        }
        let tail = self.tail.read();
        let mask = self.mask.read();
        self.elements[(tail & mask) as usize].write(item as i64);
        self.tail.write(tail + 1);
    }

    fn pop(&self) -> Option<usize> {
        let tail = self.tail.read() - 1;
        self.tail.write(tail);
        if self.head.read() <= tail {
            return Some(self.take(tail));
        }
        self.tail.write(tail + 1);
        let _excluded = self.exclusion.enter();
        let tail = self.tail.read() - 1;
        self.tail.write(tail);
        if self.head.read() <= tail {
            return Some(self.take(tail));
        }
        self.tail.write(tail + 1);
        if self.head.read() > tail {
            self.head.write(0);
            self.tail.write(0);
        }
        None
    }

    fn steal(&self) -> Option<usize> {
        let _excluded = self.exclusion.enter();
        let head = self.head.read();
        self.head.write(head + 1);
        if head < self.tail.read() {
            return Some(self.take(head));
        }
        self.head.write(head);
        None
    }

    fn make_use(&self, item: Option<usize>) {
        if let Some(item) = item {
            self.uses[item].plus(1);
        }
    }
}

fn thief(queue: &Queue) {
    for _ in 0..2 {
        queue.make_use(queue.steal());
    }
}

fn each_was_used_once(queue: Arc<Queue>) {
    for (item, uses) in alone(queue).uses.iter_mut().enumerate() {
        assert_eq!(uses.last(), 1, "uses of item {item}");
    }
}

/// The owner pushes two, pops one, twice; one thief steals.
fn one_thief(exclusion: Exclusion, fixed: bool) {
    let queue = Queue::new(exclusion, fixed);
    let thief = spawn(&queue, thief);
    for item in [0, 2] {
        queue.push(item);
        queue.push(item + 1);
        queue.make_use(queue.pop());
    }
    for _ in 0..2 {
        queue.make_use(queue.pop());
    }
    join([thief]);
    each_was_used_once(queue);
}

/// With a mutex.
pub(super) fn wsq_lock(fixed: bool) {
    one_thief(Exclusion::Mutex(Lock::new()), fixed);
}

/// With a spin lock.
pub(super) fn wsq_spin(fixed: bool) {
    one_thief(Exclusion::Spinning(Var::new(0)), fixed);
}

/// With a spin lock and two thieves; the owner pushes all, then pops all.
pub(super) fn wsq_state(fixed: bool) {
    let queue = Queue::new(Exclusion::Spinning(Var::new(0)), fixed);
    let thieves = [spawn(&queue, thief), spawn(&queue, thief)];
    for item in 0..ITEMS {
        queue.push(item);
    }
    for _ in 0..ITEMS {
        queue.make_use(queue.pop());
    }
    join(thieves);
    each_was_used_once(queue);
}
