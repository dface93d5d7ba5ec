//! Programs with one bug each, of which the fewest preemptions that show it are known.
//!
//! Every access to a shared variable is a step: variables are atomics. The programs are those of SCTBench and
//! ConVul, and some of our own, in a few lines each.

use drawloom::sync::atomic::{AtomicI32, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// Shared variables, by number, all 0 at first.
pub struct Memory<const N: usize>([AtomicI32; N]);

impl<const N: usize> Memory<N> {
    pub fn new() -> Self {
        Memory([const { AtomicI32::new(0) }; N])
    }

    pub fn get(&self, at: usize) -> i32 {
        self.0[at].load(SeqCst)
    }

    pub fn set(&self, at: usize, value: i32) {
        self.0[at].store(value, SeqCst);
    }

    /// A load and a store.
    pub fn add(&self, at: usize, value: i32) -> i32 {
        let new = self.get(at) + value;
        self.set(at, new);
        new
    }

    /// One step; the value before.
    pub fn fetch_add(&self, at: usize, value: i32) -> i32 {
        self.0[at].fetch_add(value, SeqCst)
    }

    pub fn swap(&self, at: usize, value: i32) -> i32 {
        self.0[at].swap(value, SeqCst)
    }
}

/// What a task does with shared variables and locks.
type Body<const N: usize, const M: usize> = fn(&Memory<N>, &[Mutex<()>; M]);

/// Runs tasks over shared memory and mutexes, and joins them in order.
pub fn tasks<const N: usize, const M: usize>(
    initial: &[(usize, i32)],
    tasks: &[Body<N, M>],
) -> Arc<(Memory<N>, [Mutex<()>; M])> {
    let shared = Arc::new((Memory::<N>::new(), [const { Mutex::new(()) }; M]));
    let start = shared.clone();
    // Before anybody else is there these are no choices, and they come first in every schedule.
    initial.iter().for_each(|(at, value)| start.0.set(*at, *value));
    let spawn = |task: &Body<N, M>| {
        let (task, shared) = (*task, shared.clone());
        thread::spawn(move || task(&shared.0, &shared.1))
    };
    let handles: Vec<_> = tasks.iter().map(spawn).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    shared
}

/// B01: the checker must come last. 0 preemptions.
pub fn account() {
    const BALANCE: usize = 0;
    const DEPOSITED: usize = 1;
    const WITHDRAWN: usize = 2;
    tasks::<3, 1>(
        &[(BALANCE, 1)],
        &[
            |v, [m]| {
                let _held = m.lock();
                if v.get(DEPOSITED) == 1 && v.get(WITHDRAWN) == 1 {
                    assert_eq!(v.get(BALANCE), -5);
                }
            },
            |v, [m]| {
                let _held = m.lock();
                v.add(BALANCE, 2);
                v.set(DEPOSITED, 1);
            },
            |v, [m]| {
                let _held = m.lock();
                v.add(BALANCE, -4);
                v.set(WITHDRAWN, 1);
            },
        ],
    );
}

/// B02: a check, the stop in between, then the act. 1 preemption.
pub fn bluetooth() {
    const PENDING: usize = 0;
    const STOPPING: usize = 1;
    const EVENT: usize = 2;
    const STOPPED: usize = 3;
    tasks::<4, 0>(
        &[(PENDING, 1)],
        &[
            |v, _| {
                v.set(STOPPING, 1);
                if v.fetch_add(PENDING, -1) == 1 {
                    v.set(EVENT, 1);
                }
                if v.get(EVENT) == 1 {
                    v.set(STOPPED, 1);
                }
            },
            |v, _| {
                if v.get(STOPPING) == 0 {
                    v.fetch_add(PENDING, 1);
                    assert_eq!(v.get(STOPPED), 0, "it works although it was stopped");
                }
                if v.fetch_add(PENDING, -1) == 1 {
                    v.set(EVENT, 1);
                }
            },
        ],
    );
}

/// B03: one holds `l` and wants `m`, the other holds `m` and wants `l`. 1 preemption.
pub fn carter() {
    fn counted(v: &Memory<2>, [m, l]: &[Mutex<()>; 2], at: usize) {
        let mut inner = None;
        {
            let _held = m.lock();
            if v.add(at, 1) == 1 {
                inner = Some(l.lock());
            }
        }
        let _held = m.lock();
        if v.add(at, -1) == 0 {
            drop(inner);
        }
    }
    tasks::<2, 2>(&[], &[|v, l| counted(v, l, 0), |v, l| counted(v, l, 1), |_, _| {}, |_, _| {}]);
}

/// B04: a buffer that wants strict alternation. 1 preemption.
pub fn circular_buffer() {
    const SEND: usize = 0;
    const RECEIVE: usize = 1;
    const FIRST: usize = 2;
    const NEXT: usize = 3;
    const BUFFER: usize = 4;
    tasks::<14, 1>(
        &[(SEND, 1)],
        &[
            |v, [m]| {
                for i in 0..7 {
                    let _held = m.lock();
                    if v.get(SEND) == 1 {
                        let next = v.get(NEXT);
                        v.set(BUFFER + next as usize, i);
                        v.set(NEXT, (next + 1) % 10);
                        v.set(SEND, 0);
                        v.set(RECEIVE, 1);
                    }
                }
            },
            |v, [m]| {
                for i in 0..7 {
                    let _held = m.lock();
                    if v.get(RECEIVE) == 1 {
                        let (next, first) = (v.get(NEXT), v.get(FIRST));
                        let some = next > 0 && first < 10;
                        if some {
                            v.set(FIRST, first + 1);
                        }
                        let value = if some { v.get(BUFFER + first as usize) } else { -1 };
                        assert_eq!(value, i, "one was left out");
                        v.set(RECEIVE, 0);
                        v.set(SEND, 1);
                    }
                }
            },
        ],
    );
}

/// B05: two locks, two orders. 1 preemption.
pub fn lock_order() {
    tasks::<1, 2>(
        &[],
        &[
            |v, [a, b]| {
                let _a = a.lock();
                let _b = b.lock();
                v.add(0, 1);
            },
            |v, [a, b]| {
                let _b = b.lock();
                let _a = a.lock();
                v.add(0, 1);
            },
        ],
    );
}

/// B06: fails unless the third comes early. 0 preemptions.
pub fn lazy() {
    fn add(v: &Memory<1>, [m]: &[Mutex<()>; 1], amount: i32) {
        let _held = m.lock();
        v.add(0, amount);
    }
    tasks::<1, 1>(
        &[],
        &[
            |v, l| add(v, l, 1),
            |v, l| add(v, l, 2),
            |v, [m]| {
                let _held = m.lock();
                assert!(v.get(0) < 3);
            },
        ],
    );
}

/// B08 with two setters: one early step of one of them, then the checker. 1 preemption.
pub fn reorder() {
    fn setter(v: &Memory<2>, _: &[Mutex<()>; 0]) {
        v.set(0, 1);
        v.set(1, -1);
    }
    tasks::<2, 0>(
        &[],
        &[setter, setter, |v, _| {
            if v.get(0) == 0 && v.get(1) == 0 {
                return;
            }
            assert!(v.get(0) == 1 && v.get(1) == -1, "half of it was seen");
        }],
    );
}

/// B09: the popper gets ahead of the pusher. 1 preemption.
pub fn stack() {
    const TOP: usize = 0;
    const FLAG: usize = 1;
    const SLOTS: usize = 2;
    tasks::<12, 1>(
        &[],
        &[
            |v, [m]| {
                for _ in 0..10 {
                    let _held = m.lock();
                    let top = v.get(TOP);
                    assert!(top < 10, "it is full");
                    v.set(SLOTS + top as usize, 1);
                    v.set(TOP, top + 1);
                    v.set(FLAG, 1);
                }
            },
            |v, [m]| {
                for _ in 0..10 {
                    let _held = m.lock();
                    if v.get(FLAG) == 1 {
                        let top = v.get(TOP);
                        assert!(top > 0, "there is nothing to pop");
                        v.set(TOP, top - 1);
                        v.get(SLOTS + top as usize - 1);
                    }
                }
            },
        ],
    );
}

/// B11: the reader comes between the stages of the writer. 1 preemption.
pub fn two_stages() {
    tasks::<2, 2>(
        &[],
        &[
            |v, [m1, m2]| {
                {
                    let _held = m1.lock();
                    v.set(0, 1);
                }
                let _held = m2.lock();
                let first = v.get(0);
                v.set(1, first + 1);
            },
            |v, [m1, m2]| {
                let first = {
                    let _held = m1.lock();
                    if v.get(0) == 0 {
                        return;
                    }
                    v.get(0)
                };
                let second = {
                    let _held = m2.lock();
                    v.get(1)
                };
                assert_eq!(second, first + 1, "only the first stage was done");
            },
        ],
    );
}

/// C03: a check without the lock. 1 preemption.
pub fn revoked_key() {
    tasks::<2, 1>(
        &[(1, 1)],
        &[
            |v, [m]| {
                if v.get(0) == 0 {
                    let _held = m.lock();
                    assert_ne!(v.get(1), 0, "the key is gone");
                }
            },
            |v, [m]| {
                let _held = m.lock();
                v.set(0, 2);
                v.set(1, 0);
            },
        ],
    );
}

/// C04: freed while the other still counts on it. 1 preemption.
pub fn freed_early() {
    const WAITERS: usize = 0;
    const DONE: usize = 1;
    const POINTER: usize = 2;
    fn task(v: &Memory<3>, [m]: &[Mutex<()>; 1]) {
        let alive = || assert_ne!(v.get(POINTER), 0, "it was freed");
        if v.get(DONE) != 0 {
            return;
        }
        v.add(WAITERS, 1);
        alive();
        {
            let _held = m.lock();
            alive();
            if v.get(DONE) == 0 {
                v.set(DONE, 1);
            }
        }
        if v.add(WAITERS, -1) == 0 {
            alive();
            v.set(POINTER, 0);
        }
    }
    tasks::<3, 1>(&[(POINTER, 1)], &[task, task]);
}

/// C06: checked, then used. 1 preemption.
pub fn checked_then_used() {
    tasks::<1, 1>(
        &[(0, 1)],
        &[
            |v, _| {
                if v.get(0) != 0 {
                    assert_ne!(v.get(0), 0, "it was there a moment ago");
                }
            },
            |v, [m]| {
                let _held = m.lock();
                v.get(0);
                v.set(0, 0);
            },
        ],
    );
}

/// C07: both free the same. 1 preemption.
pub fn double_free() {
    fn task(v: &Memory<3>, [m]: &[Mutex<()>; 1], id: i32) {
        {
            let _held = m.lock();
            v.set(0, id);
        }
        let mine = v.get(0);
        assert_eq!(v.swap(mine as usize, 1), 0, "it was freed twice");
    }
    tasks::<3, 1>(&[], &[|v, l| task(v, l, 1), |v, l| task(v, l, 2)]);
}

/// X1: two increments, one update. 1 preemption.
pub fn lost_update() {
    fn task(v: &Memory<1>, _: &[Mutex<()>; 0]) {
        v.add(0, 1);
    }
    let shared = tasks::<1, 0>(&[], &[task, task]);
    assert_eq!(shared.0.get(0), 2, "an update was lost");
}

/// X2: the same among much that does not matter. 1 preemption.
pub fn lost_update_padded() {
    fn pad(v: &Memory<3>, own: usize) {
        (0..20).for_each(|i| v.set(own, i));
    }
    fn task(v: &Memory<3>, own: usize) {
        pad(v, own);
        v.add(0, 1);
        pad(v, own);
    }
    let shared = tasks::<3, 0>(&[], &[|v, _| task(v, 1), |v, _| task(v, 2)]);
    assert_eq!(shared.0.get(0), 2, "an update was lost");
}

/// X3: the follower must stay behind. 0 preemptions.
pub fn stale_read() {
    const ACKED: usize = 0;
    const CHANNEL: usize = 1;
    const REPLICA: usize = 2;
    tasks::<3, 0>(
        &[],
        &[
            |v, _| {
                for i in 1..=3 {
                    v.set(ACKED, i);
                    v.fetch_add(CHANNEL, 1);
                }
            },
            |v, _| {
                let mut seen = 0;
                while seen < 3 {
                    if v.get(CHANNEL) > seen {
                        seen += 1;
                        v.set(REPLICA, seen);
                    } else {
                        thread::yield_now();
                    }
                }
            },
            |v, _| {
                let stale = (0..6).filter(|_| v.get(ACKED) >= 3 && v.get(REPLICA) == 0).count();
                assert!(stale < 3, "it stays behind for too long");
            },
        ],
    );
}

/// X5: A stopped, B stopped, C, then B before A. 2 preemptions.
pub fn three_in_order() {
    const A: usize = 0;
    const B: usize = 1;
    const C: usize = 2;
    const S: usize = 3;
    const OTHER: usize = 4;
    fn pad(v: &Memory<5>) {
        (0..3).for_each(|_| v.set(OTHER, 0));
    }
    tasks::<5, 0>(
        &[],
        &[
            |v, _| {
                v.set(A, 1);
                pad(v);
                assert_ne!(v.get(S), 2, "in just this order");
            },
            |v, _| {
                if v.get(A) == 1 {
                    v.set(B, 1);
                }
                pad(v);
                if v.get(C) == 1 && v.get(S) == 1 {
                    v.set(S, 2);
                }
            },
            |v, _| {
                if v.get(B) == 1 {
                    v.set(C, 1);
                    v.set(S, 1);
                }
            },
        ],
    );
}
