//! Handles: what a number that a program holds stands for.
//!
//! The upper half is the number of the execution, so that a handle of an earlier one is known as such; then what it is a
//! handle of, and which one. The lower half is the same whenever a schedule is repeated.

use crate::status::drawloom_handle;

/// What a handle is one of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    Task = 1,
    Channel,
    Mutex,
    RwLock,
    Condvar,
    Semaphore,
    Barrier,
    Once,
    Event,
    Timer,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Task => "task",
            Kind::Channel => "channel",
            Kind::Mutex => "mutex",
            Kind::RwLock => "rwlock",
            Kind::Condvar => "condition variable",
            Kind::Semaphore => "semaphore",
            Kind::Barrier => "barrier",
            Kind::Once => "once",
            Kind::Event => "event",
            Kind::Timer => "timer",
        }
    }

    fn of(number: u8) -> Option<Kind> {
        use Kind::*;
        [Task, Channel, Mutex, RwLock, Condvar, Semaphore, Barrier, Once, Event, Timer]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

const INDEX_BITS: u32 = 24;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The handle of number `index` among `kind`'s table, in the execution with this number.
#[inline(always)]
pub(crate) fn handle(execution: u32, kind: Kind, index: usize) -> drawloom_handle {
    (u64::from(execution) << 32) | ((kind as u64) << INDEX_BITS) | (index as u64 & INDEX_MASK)
}

/// The index of a handle of `kind` of the execution with this number.
#[inline(always)]
pub(crate) fn index(execution: u32, kind: Kind, handle: drawloom_handle) -> Option<usize> {
    let rest = handle ^ ((u64::from(execution) << 32) | ((kind as u64) << INDEX_BITS));
    (rest <= INDEX_MASK).then_some(rest as usize)
}

/// What is wrong with a number that is no handle of `kind` in the execution with this number.
pub(crate) fn complaint(execution: u32, kind: Kind, handle: drawloom_handle) -> String {
    let wanted = kind.word();
    let found = Kind::of((handle >> INDEX_BITS) as u8);
    match found {
        _ if handle == 0 => format!("misuse: handle 0 is not a {wanted}"),
        Some(found) if (handle >> 32) as u32 == execution && found != kind => {
            format!("misuse: a {wanted} is needed, and this is the handle of a {}", found.word())
        }
        Some(found) if found == kind && (handle >> 32) as u32 != execution => {
            format!("misuse: this {wanted} belongs to an earlier execution: each execution makes its own")
        }
        _ => format!("misuse: this number is not the handle of a {wanted}"),
    }
}
