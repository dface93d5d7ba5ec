//! `std::cell`, with the accesses of [`UnsafeCell`] and [`Cell`] under control.
//!
//! Each access is a scheduling point, so that two tasks that touch the same plain memory are seen in
//! both orders. Two accesses, at least one a write, that nothing orders are a finding: a data race.
//! The other cells never leave their thread and are std's own.

mod access;
#[allow(clippy::module_inception)]
mod cell;
mod unsafe_cell;

pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};

pub use access::UnsafeCellExt;
pub use cell::Cell;
pub use unsafe_cell::UnsafeCell;

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State};

/// Waits for the turn of an access to the memory that `slot` stands for.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn announce(slot: &Slot, kind: OpKind) {
    let site = rt::here();
    if let Some(rt) = rt::current() {
        rt.step(Operation::new(kind, resource(slot, rt), site));
    }
}

#[inline]
fn resource(slot: &Slot, rt: Handle) -> ResourceId {
    slot.resource(rt, ResourceKind::Cell, || State::Plain)
}
