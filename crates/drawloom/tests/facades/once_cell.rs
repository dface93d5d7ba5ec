//! `drawloom::once_cell` and `drawloom::lazy_static`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{any_of, same};

macro_rules! bodies {
    ($module:ident, $($once_cell:ident)::+, $($lazy_static:ident)::+, $($thread:ident)::+) => {
        mod $module {
            use super::*;
            use $($lazy_static)::+::{initialize, lazy_static};
            use $($once_cell)::+::{sync::Lazy, sync::OnceCell, unsync};
            use $($thread)::+ as thread;

            pub fn one_of_two_makes_it() -> (u32, u32) {
                let cell = Arc::new(OnceCell::new());
                let theirs = cell.clone();
                let other = thread::spawn(move || *theirs.get_or_init(|| 1));
                let mine = *cell.get_or_init(|| 2);
                (mine, other.join().unwrap())
            }

            pub fn who_fails_leaves_it_to_the_next() -> (Result<u32, &'static str>, Option<u32>, u32, Result<(), u32>) {
                let cell = OnceCell::new();
                let failed = cell.get_or_try_init(|| Err("on purpose")).copied();
                let empty = cell.get().copied();
                let made = *cell.get_or_init(|| 3);
                (failed, empty, made, cell.set(4))
            }

            pub fn a_failure_and_a_success_race() -> (bool, u32) {
                let cell = Arc::new(OnceCell::new());
                let theirs = cell.clone();
                let other = thread::spawn(move || theirs.get_or_try_init(|| Err::<u32, ()>(())).is_ok());
                let mine = *cell.get_or_init(|| 2);
                (other.join().unwrap(), mine)
            }

            pub fn values_come_and_go() -> (Option<u32>, bool, u32, Option<u32>) {
                let mut cell = OnceCell::with_value(5);
                let same = cell == OnceCell::from(5) && cell.clone().try_insert(6) == Err((&5, 6));
                *cell.get_mut().unwrap() += 1;
                let waited = *cell.wait();
                (cell.take(), same, waited, cell.into_inner())
            }

            pub fn a_lazy_value_is_made_once() -> (u32, u32) {
                let made = Arc::new(AtomicU32::new(0));
                let theirs = made.clone();
                let lazy = Arc::new(Lazy::new(move || theirs.fetch_add(1, Ordering::SeqCst) + 7));
                let other = lazy.clone();
                let other = thread::spawn(move || **other);
                let sum = **lazy + other.join().unwrap();
                (sum, made.load(Ordering::SeqCst))
            }

            pub fn statics_are_lazy() -> (usize, u32) {
                lazy_static! {
                    /// Two of them.
                    static ref WORDS: Vec<&'static str> = vec!["warp", "weft"];
                    pub(super) static ref NUMBER: u32 = 40 + WORDS.len() as u32;
                }
                static LAZY: Lazy<u32> = Lazy::new(|| *NUMBER);
                initialize(&WORDS);
                let other = thread::spawn(|| WORDS.len());
                (other.join().unwrap(), *LAZY)
            }

            pub fn of_one_thread() -> u32 {
                *unsync::OnceCell::new().get_or_init(|| 1)
            }
        }
    };
}
bodies!(real, once_cell, lazy_static, std::thread);
bodies!(ours, drawloom::once_cell, drawloom::lazy_static, drawloom::thread);

#[test]
fn cells_do_what_those_of_once_cell_do() {
    any_of([(1, 1), (2, 2)], real::one_of_two_makes_it, ours::one_of_two_makes_it);
    same(real::who_fails_leaves_it_to_the_next, ours::who_fails_leaves_it_to_the_next);
    any_of([(false, 2), (true, 2)], real::a_failure_and_a_success_race, ours::a_failure_and_a_success_race);
    same(real::values_come_and_go, ours::values_come_and_go);
    same(real::of_one_thread, ours::of_one_thread);
}

#[test]
fn lazy_values_are_made_once() {
    same(real::a_lazy_value_is_made_once, ours::a_lazy_value_is_made_once);
    same(real::statics_are_lazy, ours::statics_are_lazy);
}
