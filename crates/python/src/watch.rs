//! What happens in real time: somebody presses Ctrl-C, or a thread stands still in something that is not under control.
//!
//! Nothing here decides what an execution comes to, except that it is ended and said why.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use drawloom_engine::TaskId;
use drawloom_engine::finding::{Divergence, FindingKind};
use drawloom_gates::Baton;
use pyo3::prelude::*;

use crate::world::{aside, world};

/// How often the running thread is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// A thread that has used less between two looks stands still.
const STANDS_STILL: u64 = 1_000_000;
/// Looks until a thread that stands still is given up, once Ctrl-C was pressed.
const PATIENCE_WHEN_INTERRUPTED: u32 = 3;
const SIGINT: i32 = 2;

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_getcpuclockid(thread: usize, clock: *mut i32) -> i32;
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
    fn siginterrupt(number: i32, flag: i32) -> i32;
    fn pthread_kill(thread: usize, number: i32) -> i32;
}

/// Times that Ctrl-C was pressed in this exploration.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
/// The thread that runs, as Python names it, and its clock.
static THREAD: AtomicU64 = AtomicU64::new(0);
static CLOCK: AtomicI64 = AtomicI64::new(0);
static WATCHING: AtomicBool = AtomicBool::new(false);
static STARTED: AtomicBool = AtomicBool::new(false);
/// Looks for which a thread may stand still; 0 if it may for ever.
static PATIENCE: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static OWN: (u64, i64) = own();
}

fn own() -> (u64, i64) {
    let mut clock = 0;
    // SAFETY: of the calling thread, which lives.
    unsafe {
        let thread = pthread_self();
        match pthread_getcpuclockid(thread, &mut clock) {
            0 => (thread as u64, i64::from(clock)),
            _ => (thread as u64, 0),
        }
    }
}

/// The calling thread runs from now on.
pub(crate) fn runs_here() {
    let (thread, clock) = OWN.with(|own| *own);
    THREAD.store(thread, Ordering::Relaxed);
    CLOCK.store(clock, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
#[inline]
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0
}

extern "C" fn on_interrupt(_: i32) {
    // Who presses it again and again does not want to wait for anything.
    if INTERRUPTS.fetch_add(1, Ordering::Relaxed) >= 4 {
        // SAFETY: `signal` may be called by handlers; 0 is the default, which ends the process the next time.
        unsafe { signal(SIGINT, 0) };
    }
}

/// Watches while an exploration runs. `patience` is for how many seconds a thread may stand still; whether Ctrl-C ends
/// the exploration, too, is the second.
pub(crate) fn begin(patience: f64, interruptible: bool) {
    INTERRUPTS.store(0, Ordering::Relaxed);
    let looks = (patience / LOOK.as_secs_f64()).ceil().clamp(0.0, f64::from(u32::MAX)) as u32;
    PATIENCE.store(looks, Ordering::Relaxed);
    runs_here();
    WATCHING.store(true, Ordering::Relaxed);
    if interruptible {
        // SAFETY: the handler only counts. The Python side puts the interpreter's back.
        unsafe {
            signal(SIGINT, on_interrupt as *const () as usize);
            siginterrupt(SIGINT, 1);
        }
    }
    if !STARTED.swap(true, Ordering::Relaxed) {
        std::thread::spawn(watch);
    }
}

pub(crate) fn end() {
    WATCHING.store(false, Ordering::Relaxed);
}

fn used(clock: i64) -> Option<u64> {
    let mut time = [0; 2];
    // SAFETY: it is written to only.
    let known = clock != 0 && unsafe { clock_gettime(clock as i32, &mut time) } == 0;
    known.then(|| (time[0] as u64).wrapping_mul(1_000_000_000).wrapping_add(time[1] as u64))
}

/// Whether the thread that a clock belongs to would run if it were let: on a busy machine that may take a while. Where
/// that cannot be told, it would not.
fn is_runnable(clock: i64) -> bool {
    // The number of the thread is part of that of its clock, on Linux.
    let state = std::fs::read_to_string(format!("/proc/self/task/{}/stat", !(clock >> 3)));
    state.is_ok_and(|text| text.rsplit(") ").next().is_some_and(|rest| rest.starts_with('R')))
}

/// What the watching thread does. It counts looks, not time: a process that is stopped for a while is not at fault.
fn watch() {
    let (mut last, mut idle) = ((0, 0), 0u32);
    loop {
        std::thread::sleep(LOOK);
        let clock = CLOCK.load(Ordering::Relaxed);
        let now = (THREAD.load(Ordering::Relaxed), used(clock).unwrap_or(u64::MAX));
        let same = now.0 == last.0 && now.1 != u64::MAX && now.1.wrapping_sub(last.1) < STANDS_STILL;
        let still = same && WATCHING.load(Ordering::Relaxed) && !is_runnable(clock);
        (last, idle) = (now, if still { idle + 1 } else { 0 });
        let patience = match PATIENCE.load(Ordering::Relaxed) {
            _ if is_interrupted() => PATIENCE_WHEN_INTERRUPTED,
            0 => continue,
            looks => looks,
        };
        if idle >= patience {
            idle = 0;
            Python::with_gil(|py| stands_still(py, now.0));
        }
    }
}

/// Gives up the thread that stands still, unless it has gone on in the meantime.
fn stands_still(py: Python<'_>, thread: u64) {
    if !WATCHING.load(Ordering::Relaxed) || THREAD.load(Ordering::Relaxed) != thread {
        return;
    }
    let Some(baton) = world().baton else { return };
    let told = world().locate.as_ref().map(|locate| locate.clone_ref(py));
    let told =
        told.and_then(|locate| aside(|| locate.call1(py, (thread,))).ok()).and_then(|told| told.extract(py).ok());
    let place: String = told.unwrap_or_else(|| "code that is not written in Python".to_owned());
    let what = if is_interrupted() { "interrupted".to_owned() } else { format!("uncontrolled blocking in {place}") };
    let divergence = Divergence { step: 0, expected: String::new(), found: what.clone(), task: None };
    if is_interrupted() && baton.running() == TaskId::MAIN {
        // Main cannot be left behind: it is interrupted as it would be without us.
        // SAFETY: the thread that explores lives as long as the exploration.
        unsafe {
            pyo3::ffi::PyErr_SetInterrupt();
            pthread_kill(thread as usize, SIGINT);
        }
        return;
    }
    if baton.give_up_running(FindingKind::Divergence(Box::new(divergence))) {
        world().stuck.get_or_insert(place);
        world().unsupported.get_or_insert(what);
    }
}

/// The executor that runs executions, or none any more.
pub(crate) fn watched(baton: Option<Baton>) {
    world().baton = baton;
}
