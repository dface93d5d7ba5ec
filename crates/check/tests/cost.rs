//! What explanations cost: steps in proportion to the verdict, and little memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use drawloom_check::explain;
use drawloom_check::linearizable::Checker;
use drawloom_check::model::{
    ContainerOp, ContainerRet, FifoQueue, LifoStack, Model, PriorityQueue, Register, RegisterOp, RegisterRet,
};
use drawloom_check::{Budget, History, Outcome, Process};

/// Counts what is allocated, and the most that ever was.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is the system's; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An explanation takes at most this many bytes, whatever it explains. The default budget is a gigabyte.
const MEMORY: usize = 256 << 20;

/// Explains a history that is not linearizable, and looks at what that costs.
fn explained<M: Model>(what: &str, model: &M, history: &History<M::Op, M::Ret>)
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut checker = Checker::new();
    assert!(checker.check(model, history, Budget::default()).is_illegal(), "{what}");
    let verdict = checker.steps();
    drop(checker);
    MOST.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = NOW.load(Ordering::Relaxed);
    let why = explain::linearizability(model, history, Budget::default()).expect("it is illegal");
    let bytes = MOST.load(Ordering::Relaxed) - before;
    println!(
        "{what}: verdict {verdict} steps, explanation {} steps, {} of {} operations, {} MB{}",
        why.steps,
        why.left,
        history.len(),
        bytes >> 20,
        if why.given_up { ", given up" } else { "" }
    );
    assert!(why.steps <= 200_000 + 50 * history.len() as u64 + 2 * verdict, "{what}: {} steps", why.steps);
    assert!(bytes < MEMORY, "{what}: {bytes} bytes");
}

/// Writes that all overlap, reads of all of them in between, and one read that is stale.
fn window(writes: u64) -> History<RegisterOp<u64>, RegisterRet<u64>> {
    let mut history = History::builder();
    for value in 1..=writes {
        history = history.invoke(value, RegisterOp::Write(value));
    }
    for read in 0..writes {
        // Some order of the values without a pattern.
        history = history.call(writes + 1, RegisterOp::Read, RegisterRet::Value(1 + read * 7 % writes));
    }
    history = history.call(writes + 2, RegisterOp::Read, RegisterRet::Value(1));
    for value in 1..=writes {
        history = history.ok(value, RegisterRet::Written);
    }
    history.build().unwrap()
}

/// Few values, many of each, all inserted at once and removed at once, with one remove of the wrong value.
fn equal(count: u64, values: u64) -> History<ContainerOp<u64>, ContainerRet<u64>> {
    let mut history = History::builder();
    (0..count).for_each(|at| history = std::mem::take(&mut history).invoke(at, ContainerOp::Insert(at % values)));
    (0..count).for_each(|at| history = std::mem::take(&mut history).ok(at, ContainerRet::Inserted));
    (0..count).for_each(|at| history = std::mem::take(&mut history).invoke(at, ContainerOp::Remove));
    for at in 0..count {
        let value = if at == 0 { values - 1 } else { at % values };
        history = history.ok(at, ContainerRet::Removed(value));
    }
    history.build().unwrap()
}

/// One test, since it counts what the whole process allocates.
#[test]
fn explanations_cost_steps_in_proportion_and_little_memory() {
    for writes in [10, 13, 16, 24, 40] {
        explained(&format!("register, {writes} writes at once"), &Register::new(0), &window(writes));
    }
    explained("queue, 16 of 3 values", &FifoQueue::new(), &equal(16, 3));
    explained("stack, 40 of 2 values", &LifoStack::new(), &equal(40, 2));
    explained("priority queue, 40 of 2 values", &PriorityQueue::new(), &equal(40, 2));
    // One more than there were.
    let mut more = equal(20, 1);
    more.invoke(Process(0), ContainerOp::Remove).unwrap();
    more.complete(Process(0), Outcome::Ok(ContainerRet::Removed(0))).unwrap();
    explained("stack, 20 and one more", &LifoStack::new(), &more);
}
