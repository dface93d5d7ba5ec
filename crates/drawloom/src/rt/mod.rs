//! The way from a std-shaped call to the engine.
//!
//! Every controlled type asks [`current`] first: inside an exploration it announces an operation and
//! carries it out when it is let; outside it does what std does.

pub(crate) mod interference;
mod slot;

use std::any::Any;
use std::panic::{Location, resume_unwind};

pub(crate) use drawloom_engine::{Look, OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};
pub(crate) use drawloom_fiber::{Handle, Seen, current};
pub(crate) use slot::Slot;

/// The caller's place, as the engine carries it.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(crate) fn here() -> Site {
    site(Location::caller())
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn site(location: &'static Location<'static>) -> Site {
    Site(std::ptr::from_ref(location) as usize)
}

/// The place that a site of this front end stands for.
pub(crate) fn location(site: Site) -> Option<&'static Location<'static>> {
    let pointer = site.0 as *const Location<'static>;
    // SAFETY: every site of this front end is null or was made from a `&'static Location` by `site`.
    unsafe { pointer.as_ref() }
}

/// The line of a site, for schedules.
pub(crate) fn line_of(site: Site) -> u32 {
    location(site).map_or(0, Location::line)
}

/// One of `outcomes` alternatives: a choice of the schedule, if there is one.
#[track_caller]
pub(crate) fn any_of(outcomes: usize) -> usize {
    match current() {
        Some(_) => crate::choose(outcomes),
        None => crate::chance::any_of(outcomes),
    }
}

/// Unwinds the caller with a payload that no hook sees; who catches it says [`caught`].
pub(crate) fn unwind(payload: Box<dyn Any + Send>) -> ! {
    match current() {
        Some(rt) => rt.unwind(payload),
        None => resume_unwind(payload),
    }
}

/// The caller does not unwind any more.
pub(crate) fn caught() {
    if let Some(rt) = current() {
        rt.caught();
    }
}

/// Announces an operation without a resource.
#[inline]
#[track_caller]
pub(crate) fn bare(rt: Handle, kind: OpKind, arg: u64) -> u32 {
    rt.step(Operation::new(kind, ResourceId::NONE, here()).with_arg(arg))
}
