//! Random sequences of calls, polls and drops, under real tokio and under ours: every call answers the same, and the
//! same futures are woken.
//!
//! One thread makes all calls and polls all futures by hand, so nothing depends on time or on a scheduler.

mod families;

use std::any::Any;
use std::fmt::Debug;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

/// Calls of one sequence.
const CALLS: usize = 40;

/// splitmix64.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Whether a future was woken since it was polled.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// What a future gives: how it is written down, and what stays of it, a guard for instance.
pub(super) struct Given {
    shown: String,
    kept: Option<Box<dyn Any>>,
}

pub(super) fn gives(value: impl Debug) -> Given {
    Given { shown: format!("{value:?}"), kept: None }
}

pub(super) fn keeps(shown: &str, kept: impl Any) -> Given {
    Given { shown: shown.to_owned(), kept: Some(Box::new(kept)) }
}

struct Pending {
    name: String,
    future: Pin<Box<dyn Future<Output = Given>>>,
    woken: Arc<Woken>,
}

/// One sequence: what was called, and what came of it.
pub(super) struct Run {
    pub(super) numbers: Numbers,
    futures: Vec<Option<Pending>>,
    pub(super) kept: Vec<Box<dyn Any>>,
    /// Whether what is borrowed may stay for ever.
    pub(super) may_leak: bool,
    log: Vec<String>,
}

impl Run {
    pub(super) fn says(&mut self, call: &str, answer: impl Debug) {
        self.log.push(format!("{call}: {answer:?}"));
    }

    /// A new future, which is polled when it is its turn.
    pub(super) fn begins(&mut self, name: &str, future: impl Future<Output = Given> + 'static) {
        let name = format!("{name} {}", self.futures.len());
        self.futures.push(Some(Pending { name, future: Box::pin(future), woken: Arc::default() }));
        if self.numbers.below(4) > 0 {
            self.polls(self.futures.len() - 1);
        }
    }

    fn polls(&mut self, at: usize) {
        let Some(pending) = &mut self.futures[at] else { return };
        pending.woken.0.store(false, SeqCst);
        let waker = Waker::from(pending.woken.clone());
        match pending.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => self.log.push(format!("poll {}: pending", pending.name)),
            Poll::Ready(given) => {
                self.log.push(format!("poll {}: {}", pending.name, given.shown));
                self.kept.extend(given.kept);
                self.futures[at] = None;
            }
        }
    }

    /// Takes one of the things that were kept, if it is of this kind.
    pub(super) fn takes<T: 'static>(&mut self) -> Option<T> {
        if self.kept.is_empty() {
            return None;
        }
        let at = self.numbers.below(self.kept.len());
        if !self.kept[at].is::<T>() {
            return None;
        }
        self.kept.swap_remove(at).downcast().ok().map(|kept| *kept)
    }

    /// What every sequence does between its calls: a poll, or a drop.
    fn goes_on(&mut self) {
        let what = self.numbers.below(8);
        if what == 0 && !self.kept.is_empty() {
            let at = self.numbers.below(self.kept.len());
            drop(self.kept.swap_remove(at));
            self.log.push("drop what was kept".to_owned());
        } else if !self.futures.is_empty() {
            let at = self.numbers.below(self.futures.len());
            match what {
                1 => {
                    if let Some(pending) = self.futures[at].take() {
                        self.log.push(format!("drop {}", pending.name));
                    }
                }
                _ => self.polls(at),
            }
        }
    }

    fn woken(&mut self) {
        let woken: Vec<&str> = self
            .futures
            .iter()
            .flatten()
            .filter(|pending| pending.woken.0.load(SeqCst))
            .map(|pending| pending.name.as_str())
            .collect();
        if !woken.is_empty() {
            let woken = format!("  woken: {}", woken.join(", "));
            self.log.push(woken);
        }
    }
}

/// What `family` does with random calls: `call` makes one of them.
pub(super) fn run<S>(
    seed: u64,
    new: impl FnOnce(&mut Run) -> S,
    mut call: impl FnMut(&mut S, &mut Run),
) -> Vec<String> {
    let may_leak = seed % 2 == 0;
    let mut run = Run { numbers: Numbers(seed), futures: Vec::new(), kept: Vec::new(), may_leak, log: Vec::new() };
    let mut state = new(&mut run);
    for _ in 0..CALLS {
        let is_call = run.numbers.below(2) == 0;
        let made = catch_unwind(AssertUnwindSafe(|| if is_call { call(&mut state, &mut run) } else { run.goes_on() }));
        if let Err(payload) = made {
            let message = payload.downcast_ref::<&str>().map(ToString::to_string);
            let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
            run.log.push(format!("panics: {}", message.unwrap_or_default()));
            break;
        }
        run.woken();
    }
    run.log
}

/// Both say the same, for so many seeds.
fn same(name: &str, seeds: std::ops::Range<u64>, real: fn(u64) -> Vec<String>, ours: fn(u64) -> Vec<String>) {
    for seed in seeds {
        let (real, ours) = (real(seed), ours(seed));
        if let Some(at) = (0..real.len().max(ours.len())).find(|at| real.get(*at) != ours.get(*at)) {
            let before = real[..at.min(real.len())].join("\n  ");
            panic!("{name}, seed {seed}:\n  {before}\ntokio: {:?}\nours:  {:?}", real.get(at), ours.get(at));
        }
    }
}

macro_rules! families {
    ($($family:ident)*) => {
        $(#[test]
        fn $family() {
            same(stringify!($family), 0..300, families::real::$family, families::ours::$family);
        })*

        /// `cargo test --release -p drawloom-tokio --test parity random -- --ignored`
        #[test]
        #[ignore = "takes minutes"]
        fn many() {
            $(same(stringify!($family), 300..30_000, families::real::$family, families::ours::$family);)*
        }
    };
}

families! { semaphore notify mutex rwlock bounded unbounded oneshot watch broadcast once_cell barrier set_once }
