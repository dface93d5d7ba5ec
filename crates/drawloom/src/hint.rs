//! `std::hint`, under control: a spinning task lets others continue, or waits.

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

use std::cell::Cell;

use crate::rt::{self, Look, OpKind, Operation};
use crate::sync::atomic::{Ordering, note_weaker};
pub use crate::until::Atomic;
use crate::until::spin_natively;

/// As [`std::hint::spin_loop`]: inside an exploration another task continues, if there is one that can.
#[inline]
#[track_caller]
pub fn spin_loop() {
    match rt::current() {
        None => std::hint::spin_loop(),
        Some(rt) => {
            rt::bare(rt, OpKind::Yield, 0);
        }
    }
}

/// Spins until the value of `atomic` meets `condition`, and returns that value.
///
/// The same as
///
/// ```
/// # use drawloom::sync::atomic::{AtomicU32, Ordering};
/// # fn spin_until(atomic: &AtomicU32, order: Ordering, condition: impl Fn(u32) -> bool) -> u32 {
/// loop {
///     let value = atomic.load(order);
///     if condition(value) {
///         return value;
///     }
///     drawloom::hint::spin_loop();
/// }
/// # }
/// ```
///
/// and in production nothing else; but it says that a round which fails has no effect. So inside an exploration no round
/// does fail: the task waits until the condition holds, and reads the value in one step. That is never a livelock:
/// if no running task can end the wait, it is reported as any endless wait. Under `exhaustive` it also means
/// fewer behaviours: failed rounds do not count.
///
/// `condition` must be a function of the value alone, without effect. It is asked as often as need be, also of values
/// that the atomic had before, and must not touch anything that is shared. Of a pointer it may look at the address,
/// but not at what it points to.
///
/// ```
/// use drawloom::hint::spin_until;
/// use drawloom::sync::Arc;
/// use drawloom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
///
/// // A ticket lock: as many behaviours as there are orders in which the tickets are drawn.
/// let exploration = drawloom::explore("exhaustive".parse().unwrap(), || {
///     let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
///     let tasks = [(); 3].map(|()| {
///         let lock = lock.clone();
///         drawloom::thread::spawn(move || {
///             let ticket = lock.0.fetch_add(1, SeqCst);
///             spin_until(&lock.1, SeqCst, |served| served == ticket);
///             lock.1.fetch_add(1, SeqCst);
///         })
///     });
///     tasks.into_iter().for_each(|task| task.join().unwrap());
/// });
/// assert_eq!((exploration.executions(), exploration.exhausted()), (6, true));
/// ```
#[track_caller]
pub fn spin_until<A: Atomic>(atomic: &A, order: Ordering, condition: impl Fn(A::Value) -> bool) -> A::Value {
    let Some(rt) = rt::current() else {
        return spin_natively(atomic, order, condition);
    };
    let site = rt::here();
    note_weaker(rt, &[order], site);
    let operation = Operation::new(OpKind::Await, atomic.resource(rt), site);
    let seen = Cell::new(None);
    rt.step_when(operation, || {
        let value = atomic.peek(order);
        seen.set(Some(value));
        let holds = condition(value);
        let Some(made) = rt.with_engine(|engine| engine.wants_looks_back().then_some(engine.steps().len())) else {
            return Look::now(holds);
        };
        Look::back(holds, made, |end| {
            let (write, found) = rt.with_engine(|engine| engine.value_before(operation.resource, end))?;
            Some((write, condition(A::of_shown(found, rt))))
        })
    });
    let value = seen.get().unwrap_or_else(|| atomic.peek(order));
    let shown = A::shown(value, rt);
    rt.with_engine(|engine| engine.note_value(shown));
    value
}

/// As std's `select_unpredictable`: one of the two values.
#[inline]
pub fn select_unpredictable<T>(condition: bool, true_val: T, false_val: T) -> T {
    if condition { true_val } else { false_val }
}

/// As std's `cold_path`: says that this path is rarely taken.
#[cold]
#[inline(never)]
pub const fn cold_path() {}
