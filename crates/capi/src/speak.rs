//! What a program says: that it has failed, what it does, what things are called.

use std::ffi::{CStr, c_char};

use drawloom_engine::finding::About;

use crate::execution::here;
use crate::handle::{self, Kind};
use crate::place::{self, drawloom_loc, site};
use crate::status::*;

/// A text of C's; none if it is null. What is no UTF-8 is replaced.
pub(crate) fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: whoever passes a text vouches that it has a zero at its end.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The program has failed: a finding, with `message`. `kind` is "assertion", or any other word. In a task it does not return;
/// outside of a session it prints the message and aborts.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_fail(kind: *const c_char, message: *const c_char, at: *const drawloom_loc) -> ! {
    let message = text(message).unwrap_or_else(|| "failed".into());
    fail(message, text(kind).as_deref() == Some("assertion"), at)
}

/// As [`drawloom_fail`], for front ends that stand on this one.
pub fn fail(message: String, is_assertion: bool, at: *const drawloom_loc) -> ! {
    let about = if is_assertion { About::Assertion } else { About::Anything };
    match here() {
        Ok(here) => here.fail(message, about, site(at)),
        Err(_) => {
            let place = place::text(site(at));
            eprintln!("drawloom: {}{message}", if place.is_empty() { place } else { format!("{place}: ") });
            std::process::abort()
        }
    }
}

/// Gives a channel, a lock or anything else the name that reports know it by, for the rest of the execution.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_resource_name(resource: drawloom_handle, name: *const c_char) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let Some(name) = text(name) else { return DRAWLOOM_E_NULL };
    let execution = here.state();
    let known = |kind| handle::index(execution.number, kind, resource);
    let kinds = [
        Kind::Channel,
        Kind::Mutex,
        Kind::RwLock,
        Kind::Condvar,
        Kind::Semaphore,
        Kind::Barrier,
        Kind::Once,
        Kind::Event,
        Kind::Timer,
    ];
    let Some(at) = kinds.into_iter().find_map(known).filter(|at| *at < execution.objects.len()) else {
        return DRAWLOOM_E_RANGE;
    };
    let id = execution.objects[at].resource;
    here.control().engine(|engine| engine.name_resource(id, &name));
    DRAWLOOM_OK
}

/// The same for memory that was accessed under control, by its address.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_memory_name(address: *const std::ffi::c_void, name: *const c_char) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let Some(name) = text(name) else { return DRAWLOOM_E_NULL };
    here.name_memory(address as usize, &name);
    DRAWLOOM_OK
}

/// Says something beside what goes wrong in this execution: reports show what was said first.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_note(note: *const c_char) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let Some(note) = text(note) else { return DRAWLOOM_E_NULL };
    here.control().engine(|engine| engine.mention(&note));
    DRAWLOOM_OK
}
