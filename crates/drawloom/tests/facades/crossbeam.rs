//! `drawloom::crossbeam`.

use std::time::Duration;

use super::{any_of, same};

macro_rules! bodies {
    ($module:ident, $($krate:ident)::+, $($time:ident)::+) => {
        mod $module {
            use super::*;
            use $($krate)::+::atomic::AtomicCell;
            use $($krate)::+::channel::{after, at, bounded, never, tick, unbounded};
            use $($krate)::+::queue::{ArrayQueue, SegQueue};
            use $($krate)::+::sync::{Parker, ShardedLock, WaitGroup};
            use $($krate)::+::utils::{Backoff, CachePadded};
            use $($krate)::+::{scope, select};
            use $($time)::+::Instant;

            pub fn threads_borrow_and_are_joined() -> (u32, u32) {
                let words = [1, 2, 3];
                let sum = scope(|s| {
                    let first = s.spawn(|_| words[0]);
                    let nested = s.spawn(|s| s.spawn(|_| words[1] + words[2]).join().unwrap());
                    first.join().unwrap() + nested.join().unwrap()
                });
                (sum.unwrap(), words.len() as u32)
            }

            pub fn a_panic_is_a_result_of_the_scope() -> (bool, bool) {
                let unjoined = scope(|s| {
                    s.spawn(|_| std::panic::resume_unwind(Box::new("on purpose")));
                });
                let joined = scope(|s| {
                    let panics = s.builder().name("panics".into()).spawn(|_| {
                        std::panic::resume_unwind(Box::new("on purpose"))
                    });
                    let panics: Result<(), _> = panics.unwrap().join();
                    panics.is_err()
                });
                (unjoined.is_err(), joined.unwrap())
            }

            pub fn threads_pass_messages() -> u32 {
                let (sender, receiver) = bounded(1);
                scope(|s| {
                    s.spawn(move |_| (1..=2).for_each(|n| sender.send(n).unwrap()));
                    receiver.iter().sum()
                })
                .unwrap()
            }

            pub fn one_of_two_arms() -> u32 {
                let (first, ones) = unbounded();
                let (second, twos) = unbounded();
                scope(|s| {
                    s.spawn(move |_| first.send(1).is_ok());
                    s.spawn(move |_| second.send(2).is_ok());
                    select! {
                        recv(ones) -> one => one.unwrap_or(10),
                        recv(twos) -> two => two.unwrap_or(20),
                    }
                })
                .unwrap()
            }

            /// Whether it was late, and by how many periods at least.
            pub fn time_brings_messages() -> (bool, bool, bool, bool, bool) {
                let start = Instant::now();
                let ms = Duration::from_millis;
                let late = select! {
                    recv(never::<()>()) -> _ => false,
                    recv(after(ms(2))) -> due => due.unwrap() >= start + ms(2),
                };
                let ticks = tick(ms(3));
                let empty = ticks.try_recv().is_err() && ticks.is_empty();
                let (one, two) = (ticks.recv().unwrap(), ticks.recv().unwrap());
                let deadline = at(Instant::now());
                let received = deadline.recv().is_ok();
                let only_once = deadline.recv_timeout(ms(1)).is_err();
                (late, empty, two.duration_since(one) >= ms(3), received, only_once)
            }

            pub fn patience_ends_before_a_tick() -> (bool, bool) {
                let ticks = tick(Duration::from_secs(60));
                let select = select! {
                    recv(ticks) -> _ => false,
                    default(Duration::from_millis(1)) => true,
                };
                (select, ticks.recv_timeout(Duration::from_millis(1)).is_err())
            }

            pub fn cells_are_shared() -> (u32, Result<u32, u32>, u32, bool) {
                let cell = AtomicCell::new(0_u32);
                scope(|s| {
                    s.spawn(|_| cell.fetch_add(1));
                    cell.fetch_add(2);
                })
                .unwrap();
                let sum = cell.load();
                let refused = cell.compare_exchange(7, 8);
                let updated = cell.fetch_update(|n| Some(n * 2)).unwrap();
                let flag = AtomicCell::new(true);
                (sum, refused, updated + cell.swap(1) + cell.take(), flag.fetch_and(false) && !flag.into_inner())
            }

            pub fn who_pops_first() -> (Option<u32>, Option<u32>) {
                let queue = SegQueue::new();
                queue.push(1);
                scope(|s| {
                    let other = s.spawn(|_| queue.pop());
                    let mine = queue.pop();
                    (mine, other.join().unwrap())
                })
                .unwrap()
            }

            pub fn a_queue_has_so_much_room() -> (Result<(), u32>, Option<u32>, Vec<u32>) {
                let queue = ArrayQueue::new(2);
                queue.push(1).unwrap();
                queue.push(2).unwrap();
                let refused = queue.push(3);
                let oldest = queue.force_push(4);
                assert!(queue.is_full() && queue.len() == queue.capacity());
                (refused, oldest, queue.into_iter().collect())
            }

            pub fn a_group_is_waited_for() -> u32 {
                let count = AtomicCell::new(0_u32);
                let group = WaitGroup::new();
                scope(|s| {
                    for _ in 0..2 {
                        let (group, count) = (group.clone(), &count);
                        s.spawn(move |_| {
                            count.fetch_add(1);
                            drop(group);
                        });
                    }
                    group.wait();
                    count.load()
                })
                .unwrap()
            }

            pub fn a_parker_waits_for_its_token() -> u32 {
                let parker = Parker::new();
                let unparker = parker.unparker().clone();
                let done = AtomicCell::new(0_u32);
                scope(|s| {
                    s.spawn(|_| {
                        done.store(1);
                        unparker.unpark();
                    });
                    parker.park();
                    let seen = done.load();
                    parker.park_timeout(Duration::from_millis(1));
                    seen
                })
                .unwrap()
            }

            pub fn backing_off_lets_others_go_on() -> bool {
                let ready = CachePadded::new(AtomicCell::new(false));
                scope(|s| {
                    s.spawn(|_| ready.store(true));
                    let backoff = Backoff::new();
                    while !ready.load() {
                        backoff.snooze();
                    }
                    backoff.reset();
                    backoff.is_completed()
                })
                .unwrap()
            }

            pub fn a_sharded_lock_is_a_reader_writer_lock() -> u32 {
                let lock = ShardedLock::new(1);
                *lock.write().unwrap() += 1;
                let first = lock.read().unwrap();
                *first + *lock.read().unwrap()
            }
        }
    };
}
bodies!(real, crossbeam, std::time);
bodies!(ours, drawloom::crossbeam, drawloom::time);

#[test]
fn scopes_do_what_crossbeams_do() {
    same(real::threads_borrow_and_are_joined, ours::threads_borrow_and_are_joined);
    same(real::a_panic_is_a_result_of_the_scope, ours::a_panic_is_a_result_of_the_scope);
}

#[test]
fn channels_do_what_crossbeams_do() {
    same(real::threads_pass_messages, ours::threads_pass_messages);
    any_of([1, 2], real::one_of_two_arms, ours::one_of_two_arms);
}

#[test]
fn time_brings_messages_as_it_does_to_crossbeams() {
    same(real::time_brings_messages, ours::time_brings_messages);
    same(real::patience_ends_before_a_tick, ours::patience_ends_before_a_tick);
}

#[test]
fn what_is_shared_does_what_crossbeams_does() {
    same(real::cells_are_shared, ours::cells_are_shared);
    any_of([(Some(1), None), (None, Some(1))], real::who_pops_first, ours::who_pops_first);
    same(real::a_queue_has_so_much_room, ours::a_queue_has_so_much_room);
    same(real::backing_off_lets_others_go_on, ours::backing_off_lets_others_go_on);
    same(real::a_sharded_lock_is_a_reader_writer_lock, ours::a_sharded_lock_is_a_reader_writer_lock);
}

#[test]
fn waiting_does_what_crossbeams_does() {
    same(real::a_group_is_waited_for, ours::a_group_is_waited_for);
    same(real::a_parker_waits_for_its_token, ours::a_parker_waits_for_its_token);
}
