//! Programs of more than a screen: a queue, a buffer with condition variables, a string buffer, a
//! work-stealing queue.

use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread;

use crate::programs::{Memory, tasks};

/// B07: as the circular buffer, with twenty elements. 1 preemption.
pub fn queue() {
    const ENQUEUE: usize = 0;
    const DEQUEUE: usize = 1;
    const HEAD: usize = 2;
    const TAIL: usize = 3;
    const AMOUNT: usize = 4;
    const ELEMENTS: usize = 5;
    const STORED: usize = 26;
    fn after(at: i32) -> i32 {
        if at == 20 { 1 } else { at + 1 }
    }
    fn enqueue(v: &Memory<47>, value: i32) {
        let tail = v.get(TAIL);
        v.set(ELEMENTS + tail as usize, value);
        v.add(AMOUNT, 1);
        v.set(TAIL, after(tail));
    }
    tasks::<47, 1>(
        &[(ENQUEUE, 1)],
        &[
            |v, [m]| {
                let mut value = 0;
                {
                    let _held = m.lock();
                    enqueue(v, value);
                    v.set(STORED, value);
                }
                for i in 0..19 {
                    let _held = m.lock();
                    if v.get(ENQUEUE) == 1 {
                        value += 1;
                        enqueue(v, value);
                        v.set(STORED + i + 1, value);
                        v.set(ENQUEUE, 0);
                        v.set(DEQUEUE, 1);
                    }
                }
            },
            |v, [m]| {
                for i in 0..20 {
                    let _held = m.lock();
                    if v.get(DEQUEUE) == 1 {
                        let head = v.get(HEAD);
                        let element = v.get(ELEMENTS + head as usize);
                        v.add(AMOUNT, -1);
                        v.set(HEAD, after(head));
                        assert_eq!(v.get(STORED + i), element, "another one was stored");
                        v.set(DEQUEUE, 0);
                        v.set(ENQUEUE, 1);
                    }
                }
            },
        ],
    );
}

/// B14: the length of another buffer is read twice, and it shrinks and grows in between. 2 preemptions.
pub fn string_buffer() {
    const COUNT: usize = 0;
    const OWN: usize = 1;
    let shared = Arc::new((Memory::<2>::new(), Mutex::new(()), Mutex::new(())));
    shared.0.set(COUNT, 3);
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        let (v, m, _) = &*theirs;
        {
            let _held = m.lock();
            v.add(COUNT, -3);
        }
        let _held = m.lock();
        v.add(COUNT, 3);
    });
    let (v, m, own) = &*shared;
    {
        let _own = own.lock();
        let length = {
            let _held = m.lock();
            v.get(COUNT)
        };
        v.get(OWN);
        {
            let _held = m.lock();
            assert!(length <= v.get(COUNT), "it is shorter now");
        }
        v.set(OWN, 1);
    }
    other.join().unwrap();
}

/// B15: the lock is dropped between the check and the removal. 1 preemption.
pub fn bounded_buffer() {
    const HEAD: usize = 0;
    const REAR: usize = 1;
    const PUTTERS: usize = 2;
    const GETTERS: usize = 3;
    struct Buffer {
        v: Memory<4>,
        m: Mutex<()>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    fn put(Buffer { v, m, not_full, not_empty }: &Buffer) {
        let full = || (v.get(REAR) + 1) % 3 == v.get(HEAD);
        let mut held = m.lock().unwrap();
        if full() {
            v.add(PUTTERS, 1);
            while full() {
                held = not_full.wait(held).unwrap();
            }
            v.add(PUTTERS, -1);
        }
        let rear = v.get(REAR);
        v.set(REAR, (rear + 1) % 3);
        if v.get(GETTERS) > 0 {
            not_empty.notify_one();
        }
        drop(held);
    }
    fn take(Buffer { v, m, not_full, not_empty }: &Buffer) {
        let empty = || v.get(HEAD) == v.get(REAR);
        let mut held = m.lock().unwrap();
        if empty() {
            v.add(GETTERS, 1);
            while empty() {
                held = not_empty.wait(held).unwrap();
            }
            v.add(GETTERS, -1);
        }
        drop(held);
        let held = m.lock().unwrap();
        assert!(!empty(), "somebody else took it");
        let head = v.get(HEAD);
        v.set(HEAD, (head + 1) % 3);
        if v.get(PUTTERS) > 0 {
            not_full.notify_one();
        }
        drop(held);
    }
    let buffer =
        Arc::new(Buffer { v: Memory::new(), m: Mutex::new(()), not_full: Condvar::new(), not_empty: Condvar::new() });
    let bodies: [fn(&Buffer); 4] = [put, put, take, take];
    let handles = bodies.map(|body| {
        let buffer = buffer.clone();
        thread::spawn(move || (0..4).for_each(|_| body(&buffer)))
    });
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

const HEAD: usize = 0;
const TAIL: usize = 1;
const MASK: usize = 2;
/// How often each item was used.
const USED: usize = 3;
const ELEMENTS: usize = 7;

/// B16: a work-stealing queue that thinks it has room for one more. 2 preemptions.
pub struct Stealing {
    v: Memory<16>,
    lock: Mutex<()>,
}

impl Stealing {
    fn at(&self, index: i32, mask: i32) -> usize {
        ELEMENTS + (index & mask) as usize
    }

    fn push(&self, element: i32) {
        let Stealing { v, lock } = self;
        let tail = v.get(TAIL);
        let mask = v.get(MASK);
        if tail < v.get(HEAD) + mask + 1 {
            v.set(self.at(tail, mask), element);
            v.set(TAIL, tail + 1);
            return;
        }
        let _held = lock.lock();
        let head = v.get(HEAD);
        let count = v.get(TAIL) - head;
        let mask = v.get(MASK);
        let head = head & mask;
        v.set(HEAD, head);
        v.set(TAIL, head + count);
        if count >= mask {
            let all: Vec<i32> = (0..count).map(|i| v.get(self.at(head + i, mask))).collect();
            all.into_iter().zip(0..).for_each(|(element, i)| v.set(ELEMENTS + i, element));
            v.set(MASK, mask * 2 + 1);
            v.set(HEAD, 0);
            v.set(TAIL, count);
        }
        let tail = v.get(TAIL);
        let mask = v.get(MASK);
        v.set(self.at(tail, mask), element);
        v.set(TAIL, tail + 1);
    }

    fn element(&self, index: i32) -> i32 {
        let mask = self.v.get(MASK);
        self.v.get(self.at(index, mask))
    }

    fn pop(&self) -> Option<i32> {
        let Stealing { v, lock } = self;
        let tail = v.get(TAIL) - 1;
        v.set(TAIL, tail);
        if v.get(HEAD) <= tail {
            return Some(self.element(tail));
        }
        v.set(TAIL, tail + 1);
        let _held = lock.lock();
        let tail = v.get(TAIL) - 1;
        v.set(TAIL, tail);
        if v.get(HEAD) <= tail {
            return Some(self.element(tail));
        }
        v.set(TAIL, tail + 1);
        if v.get(HEAD) > tail {
            v.set(HEAD, 0);
            v.set(TAIL, 0);
        }
        None
    }

    fn steal(&self) -> Option<i32> {
        let Stealing { v, lock } = self;
        let _held = lock.lock();
        let head = v.get(HEAD);
        v.set(HEAD, head + 1);
        if head < v.get(TAIL) {
            return Some(self.element(head));
        }
        v.set(HEAD, head);
        None
    }

    fn use_up(&self, item: Option<i32>) {
        if let Some(item) = item.filter(|item| (1..=4).contains(item)) {
            self.v.add(USED + item as usize - 1, 1);
        }
    }
}

/// See [`Stealing`].
pub fn work_stealing() {
    let queue = Arc::new(Stealing { v: Memory::new(), lock: Mutex::new(()) });
    queue.v.set(MASK, 1);
    let theirs = queue.clone();
    let thief = thread::spawn(move || (0..2).for_each(|_| theirs.use_up(theirs.steal())));
    for first in [1, 3] {
        queue.push(first);
        queue.push(first + 1);
        queue.use_up(queue.pop());
    }
    queue.use_up(queue.pop());
    queue.use_up(queue.pop());
    thief.join().unwrap();
    let used: Vec<i32> = (0..4).map(|i| queue.v.get(USED + i)).collect();
    assert_eq!(used, [1; 4], "an item was lost or used twice");
}
