//! Who may send.
//!
//! Pluto counts the senders of a channel: one is the function's that has made it, and each spawn that captures a sender adds one.
//! At the end of that function, and of the task, generated code takes one away. If each task takes away no more than it has, and sends
//! only as long as it has one, the last one to take away comes after all that was sent; so taking away commutes with
//! sends, and there is little to explore.
//!
//! But `tx.close()` takes one away, too, and the end of the function another; and a sender may arrive in a message. Then the count
//! belongs to nobody, and whoever brings it to 0 closes the channel for all. A test in which that happens is explored again in
//! this manner, where each change of the count is a step that depends on the others.

use std::cell::{Cell, RefCell};

use drawloom_capi as capi;

use crate::foreign::Word;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Owned,
    Unowned,
}

thread_local! {
    static MANNER: Cell<Manner> = const { Cell::new(Manner::Owned) };
    /// Somebody has taken away what it does not have, or sent or passed on without.
    static SEEN: Cell<bool> = const { Cell::new(false) };
    /// Of each task, by its number, the channels of which it has senders: one entry each.
    static OWNED: RefCell<Vec<Vec<Word>>> = const { RefCell::new(Vec::new()) };
    /// Those that the next task to be spawned will have.
    static PASSED: RefCell<Vec<Word>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn manner() -> Manner {
    MANNER.get()
}

/// Another test begins.
pub(crate) fn begin_test() {
    MANNER.set(Manner::Owned);
    SEEN.set(false);
}

/// The exploration that comes is made in the manner that is needed, as far as is known.
pub(crate) fn begin_exploration() {
    MANNER.set(if SEEN.get() { Manner::Unowned } else { Manner::Owned });
}

/// Whether the exploration was made in a manner that its test does not stand.
pub(crate) fn was_wrong() -> bool {
    SEEN.get() && MANNER.get() == Manner::Owned
}

pub(crate) fn begin_execution() {
    OWNED.with_borrow_mut(|owned| owned.iter_mut().for_each(Vec::clear));
    PASSED.with_borrow_mut(Vec::clear);
}

fn with_own<R>(act: impl FnOnce(&mut Vec<Word>) -> R) -> R {
    of(capi::drawloom_task_self(), act)
}

fn of<R>(task: u64, act: impl FnOnce(&mut Vec<Word>) -> R) -> R {
    let number = capi::drawloom_task_number(task) as usize;
    OWNED.with_borrow_mut(|owned| {
        if owned.len() <= number {
            owned.resize_with(number + 1, Vec::new);
        }
        act(&mut owned[number])
    })
}

/// The running task has made a channel.
pub(crate) fn create(channel: Word) {
    if MANNER.get() == Manner::Owned {
        with_own(|own| own.push(channel));
    }
}

/// The task that is spawned next gets a sender.
pub(crate) fn pass(channel: Word) {
    send(channel);
    PASSED.with_borrow_mut(|passed| passed.push(channel));
}

pub(crate) fn spawned(task: u64) {
    if MANNER.get() == Manner::Owned {
        PASSED.with_borrow_mut(|passed| of(task, |own| own.append(passed)));
    }
}

/// The running task takes a sender away: whether it has one.
pub(crate) fn give_back(channel: Word) -> bool {
    let has = with_own(|own| own.iter().position(|known| *known == channel).map(|at| own.swap_remove(at)).is_some());
    if !has {
        SEEN.set(true);
    }
    has
}

/// The running task sends, or passes a sender on.
pub(crate) fn send(channel: Word) {
    if MANNER.get() == Manner::Owned && !with_own(|own| own.contains(&channel)) {
        SEEN.set(true);
    }
}

/// The running task closes a channel, whoever has senders.
pub(crate) fn close() {
    SEEN.set(true);
}
