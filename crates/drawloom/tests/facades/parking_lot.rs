//! `drawloom::parking_lot`.

use std::sync::Arc;
use std::time::Duration;

use super::same;

macro_rules! bodies {
    ($module:ident, $($krate:ident)::+, $($thread:ident)::+) => {
        mod $module {
            use super::*;
            use $($krate)::+::{Condvar, Mutex, MutexGuard, RwLock, RwLockWriteGuard};
            use $($thread)::+ as thread;

            pub fn a_queue_with_a_condition() -> u32 {
                let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
                let theirs = shared.clone();
                let producer = thread::spawn(move || {
                    theirs.0.lock().push(42);
                    theirs.1.notify_one();
                });
                let mut queue = shared.0.lock();
                shared.1.wait_while(&mut queue, |queue| queue.is_empty());
                let got = queue.pop().unwrap();
                drop(queue);
                producer.join().unwrap();
                got
            }

            pub fn a_panic_poisons_nothing() -> u32 {
                let lock = Arc::new(Mutex::new(1));
                let theirs = lock.clone();
                let panics = thread::spawn(move || {
                    *theirs.lock() += 1;
                    let _held = theirs.lock();
                    std::panic::resume_unwind(Box::new("on purpose"));
                });
                let _ = panics.join();
                *lock.lock()
            }

            pub fn a_lock_can_be_done_without_for_a_while() -> (bool, bool, u32) {
                let lock = Mutex::new(1);
                let mut guard = lock.lock();
                let locked = lock.is_locked();
                let free = MutexGuard::unlocked(&mut guard, || lock.try_lock().is_some());
                *guard += 1;
                (locked, free, *guard)
            }

            pub fn readers_and_writers() -> (bool, bool, u32) {
                let lock = RwLock::new(1);
                let mut writer = lock.write();
                *writer += 1;
                let locked = lock.try_read().is_none();
                let reader = RwLockWriteGuard::downgrade(writer);
                let shared = lock.try_read().is_some();
                (locked, shared, *reader)
            }

            pub fn time_is_up() -> bool {
                let lock = Mutex::new(());
                Condvar::new().wait_for(&mut lock.lock(), Duration::from_millis(1)).timed_out()
            }
        }
    };
}
bodies!(real, parking_lot, std::thread);
bodies!(ours, drawloom::parking_lot, drawloom::thread);

#[test]
fn it_does_what_parking_lot_does() {
    same(real::a_queue_with_a_condition, ours::a_queue_with_a_condition);
    same(real::a_panic_poisons_nothing, ours::a_panic_poisons_nothing);
    same(real::a_lock_can_be_done_without_for_a_while, ours::a_lock_can_be_done_without_for_a_while);
    same(real::readers_and_writers, ours::readers_and_writers);
    same(real::time_is_up, ours::time_is_up);
}
