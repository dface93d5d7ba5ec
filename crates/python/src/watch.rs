//! What happens in real time: somebody presses Ctrl-C, a thread stands still in something that is not under control, or
//! runs on and on.
//!
//! Nothing here decides what an execution comes to, except that it is ended and said why. A thread of its own looks at
//! the clocks, and needs nothing of the interpreter for that; what needs the interpreter's lock a second one does, its
//! hand, so that the first can say so if the lock is never to be had.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use drawloom_engine::Site;
use drawloom_gates::Baton;
use pyo3::prelude::*;

use crate::unending::{self, Progress, Why};
use crate::world::{place, world};

/// How often the running thread is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// A thread that has used less between two looks stands still.
const STANDS_STILL: u64 = 1_000_000;
/// Looks until a thread that stands still, or goes on all the same, is given up once Ctrl-C was pressed.
const PATIENCE_WHEN_INTERRUPTED: u32 = 3;
/// Looks at an execution before it is ended because the time is up: others are made until then, and end by themselves.
const LEAST_LOOKS: u32 = 5;
/// Nanoseconds of its own that a thread may compute without a step. A busy machine makes no difference.
const LONGEST_STRETCH: u64 = 8_000_000_000;
/// After so many of them it is looked whether it has made a step.
const ASKED_EACH: u64 = 1_000_000_000;
/// For so long the interpreter's lock may be out of reach before that is said, or ends the process.
const LOCKED_OUT: Duration = Duration::from_secs(5);
/// Nanoseconds after which an execution is not like others, if it takes most of the time as well.
const UNUSUALLY_LONG: u64 = 2_000_000_000;
const SIGINT: i32 = 2;

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_getcpuclockid(thread: usize, clock: *mut i32) -> i32;
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
    fn siginterrupt(number: i32, flag: i32) -> i32;
    fn pthread_kill(thread: usize, number: i32) -> i32;
    fn getpid() -> i32;
    fn kill(process: i32, number: i32) -> i32;
}

/// Times that Ctrl-C was pressed in this exploration.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
/// The thread that runs, as Python names it, and its clock; 0 while one hands over to another.
static THREAD: AtomicU64 = AtomicU64::new(0);
static CLOCK: AtomicI64 = AtomicI64::new(0);
static WATCHING: AtomicBool = AtomicBool::new(false);
/// The signal that has main look up; 0 if there is none.
static WAKES: AtomicI32 = AtomicI32::new(0);
static STARTED: AtomicBool = AtomicBool::new(false);
/// Looks for which a thread may stand still; 0 if it may for ever, and may compute for ever, too.
static PATIENCE: AtomicU32 = AtomicU32::new(0);
/// When the time is up, in nanoseconds since the process began to explore; 0 if there is no such limit.
static DEADLINE: AtomicU64 = AtomicU64::new(0);
/// When the exploration began, and the execution that runs, in the same way.
static BEGAN: AtomicU64 = AtomicU64::new(0);
static EXECUTION_BEGAN: AtomicU64 = AtomicU64::new(0);
/// Counts executions: odd while one is made.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
/// The last place at which something was called.
static CALLED_AT: AtomicUsize = AtomicUsize::new(0);

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
    CLOCK.store(clock, Ordering::Relaxed);
    THREAD.store(thread, Ordering::Relaxed);
}

/// The calling thread lets another one run, which may take a while to be woken on a busy machine.
pub(crate) fn hands_over() {
    THREAD.store(0, Ordering::Relaxed);
}

/// Something is called at `site`: that may be C code that never comes back.
#[inline]
pub(crate) fn calls_at(site: Site) {
    CALLED_AT.store(site.0, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
#[inline]
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0
}

/// The thread that runs, as Python names it.
pub(crate) fn running_thread() -> u64 {
    THREAD.load(Ordering::Relaxed)
}

/// Whether an exploration is watched, and this execution is the one that runs.
pub(crate) fn is_current(execution: u64) -> bool {
    WATCHING.load(Ordering::Relaxed) && EXECUTIONS.load(Ordering::Relaxed) == execution
}

extern "C" fn on_interrupt(_: i32) {
    // Who presses it again and again does not want to wait for anything.
    if INTERRUPTS.fetch_add(1, Ordering::Relaxed) >= 4 {
        end_process_next_time();
    }
}

/// Ctrl-C was pressed, and main stands still: it is interrupted as it would be without us.
pub(crate) fn interrupt_main(thread: u64) {
    // SAFETY: the thread that explores lives as long as the exploration, and has the handler above.
    unsafe {
        pyo3::ffi::PyErr_SetInterrupt();
        pthread_kill(thread as usize, SIGINT);
    }
}

/// Main stands still and is to look up: what it calls returns, and the interpreter raises something. Python does that in
/// its main thread only; another one would stand there for ever, so that the process ends.
pub(crate) fn wake_main(thread: u64, place: &str) {
    let number = WAKES.load(Ordering::Relaxed);
    if number == 0 {
        say(&format!(
            "drawloom: {place} blocks in code outside drawloom's control. It is not the main thread and \
             cannot be woken: the process ends"
        ));
        std::process::abort();
    }
    // SAFETY: the thread that explores lives as long as the exploration, and the Python side has set a handler.
    unsafe { pthread_kill(thread as usize, number) };
}

fn end_process_next_time() {
    // SAFETY: `signal` may be called by handlers; 0 is the default, which ends the process.
    unsafe { signal(SIGINT, 0) };
}

/// For how long an exploration may do what.
pub(crate) struct RealTime {
    /// Seconds for which a thread may stand still.
    pub(crate) patience: f64,
    /// Whether Ctrl-C ends the exploration.
    pub(crate) interruptible: bool,
    /// The signal whose handler raises something in the main thread, if that is the one that explores; or 0.
    pub(crate) wakes: i32,
    /// All of it.
    pub(crate) timeout: Option<Duration>,
}

/// Nanoseconds since the process began to explore.
fn now() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos().min(u128::from(u64::MAX)) as u64
}

/// What is left of the time; none if there is no limit.
pub(crate) fn left() -> Option<Duration> {
    let deadline = DEADLINE.load(Ordering::Relaxed);
    (deadline != 0).then(|| Duration::from_nanos(deadline.saturating_sub(now())))
}

/// Whether the execution that runs has taken most of the time, and so long that the machine is hardly to blame.
pub(crate) fn takes_unusually_long() -> bool {
    let since = |began: &AtomicU64| now().saturating_sub(began.load(Ordering::Relaxed));
    let age = since(&EXECUTION_BEGAN);
    age >= UNUSUALLY_LONG && 2 * age >= since(&BEGAN)
}

/// Watches while an exploration runs.
pub(crate) fn begin(limits: &RealTime) {
    INTERRUPTS.store(0, Ordering::Relaxed);
    let looks = (limits.patience / LOOK.as_secs_f64()).ceil().clamp(0.0, f64::from(u32::MAX)) as u32;
    PATIENCE.store(looks, Ordering::Relaxed);
    let deadline = limits.timeout.map_or(0, |timeout| now().saturating_add(timeout.as_nanos() as u64).max(1));
    DEADLINE.store(deadline, Ordering::Relaxed);
    BEGAN.store(now(), Ordering::Relaxed);
    WAKES.store(limits.wakes, Ordering::Relaxed);
    runs_here();
    WATCHING.store(true, Ordering::Relaxed);
    if limits.interruptible {
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
    DEADLINE.store(0, Ordering::Relaxed);
}

/// The executor that runs an execution from now on, or none any more.
pub(crate) fn watched(baton: Option<Baton>) {
    world().baton = baton;
    if DEADLINE.load(Ordering::Relaxed) != 0 {
        EXECUTION_BEGAN.store(now(), Ordering::Relaxed);
    }
    EXECUTIONS.fetch_add(1, Ordering::Relaxed);
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

/// What is seen of the thread that runs.
#[derive(Clone, Copy, Default)]
struct Look {
    thread: u64,
    /// Nanoseconds that it has computed.
    used: u64,
    execution: u64,
}

/// A thread that computes, and how much it had when it was last seen to have come forward.
#[derive(Clone, Copy, Default)]
struct Stretch {
    thread: u64,
    execution: u64,
    since: u64,
    asked: u64,
    progress: Progress,
}

/// What the watching thread does. It counts looks, not time: a process that is stopped for a while is not at fault.
fn watch() {
    let mut hand = Hand::new();
    let (mut last, mut idle, mut same_execution, mut interrupted) = (Look::default(), 0u32, 0u32, 0u32);
    let mut stretch = Stretch::default();
    loop {
        std::thread::sleep(LOOK);
        let execution = EXECUTIONS.load(Ordering::Relaxed);
        if !WATCHING.load(Ordering::Relaxed) || execution % 2 == 0 {
            (idle, same_execution, interrupted) = (0, 0, 0);
            continue;
        }
        let clock = CLOCK.load(Ordering::Relaxed);
        let look = Look { thread: THREAD.load(Ordering::Relaxed), used: used(clock).unwrap_or(u64::MAX), execution };
        let same = look.thread == last.thread && look.thread != 0 && look.used != u64::MAX;
        let still = same && look.used.wrapping_sub(last.used) < STANDS_STILL && !is_runnable(clock);
        idle = if still { idle + 1 } else { 0 };
        same_execution = if execution == last.execution { same_execution + 1 } else { 0 };
        interrupted = if is_interrupted() && execution == last.execution { interrupted + 1 } else { 0 };
        last = look;
        let patience = PATIENCE.load(Ordering::Relaxed);
        if is_interrupted() {
            if interrupted >= PATIENCE_WHEN_INTERRUPTED {
                interrupted = 0;
                hand.act(look, Why::Interrupted { stands_still: idle >= PATIENCE_WHEN_INTERRUPTED });
            }
            continue;
        }
        if left().is_some_and(|left| left.is_zero()) && same_execution >= LEAST_LOOKS {
            hand.act(look, Why::OutOfTime { stands_still: idle >= PATIENCE_WHEN_INTERRUPTED });
            continue;
        }
        if patience > 0 && idle >= patience {
            idle = 0;
            hand.act(look, Why::StandsStill);
        } else if patience > 0 && same {
            let longest = LONGEST_STRETCH.max(u64::from(patience) * LOOK.as_nanos() as u64);
            compute(&mut hand, &mut stretch, look, longest);
        }
    }
}

/// Looks at a thread that computes: sometimes, whether it has made a step; and ends it, if it has not for long.
fn compute(hand: &mut Hand, stretch: &mut Stretch, look: Look, longest: u64) {
    if (stretch.thread, stretch.execution) != (look.thread, look.execution) || look.used < stretch.asked {
        let Look { thread, used, execution } = look;
        *stretch = Stretch { thread, execution, since: used, asked: used, progress: Progress::default() };
    }
    if look.used - stretch.asked < ASKED_EACH {
        return;
    }
    stretch.asked = look.used;
    match hand.ask(look) {
        Some(progress) if progress != stretch.progress => (stretch.progress, stretch.since) = (progress, look.used),
        Some(_) if look.used - stretch.since >= longest => hand.act(look, Why::NoStep),
        Some(_) | None => {}
    }
}

/// What the hand is to do with the interpreter's lock.
enum Errand {
    Ask(Look),
    Act(Look, Why),
}

/// The thread that takes the interpreter's lock on behalf of the one that watches.
struct Hand {
    errands: Sender<Errand>,
    done: Receiver<Option<Progress>>,
    /// It has not come back from an errand.
    is_out: bool,
    /// How many looks it has been out for.
    looks: u32,
}

impl Hand {
    fn new() -> Hand {
        let (errands, asked) = channel();
        let (answers, done) = channel();
        std::thread::spawn(move || {
            for errand in asked {
                let answer = Python::with_gil(|py| match errand {
                    Errand::Ask(look) => unending::progress(look.execution),
                    Errand::Act(look, why) => {
                        unending::act(py, look.thread, look.execution, why);
                        None
                    }
                });
                if answers.send(answer).is_err() {
                    return;
                }
            }
        });
        Hand { errands, done, is_out: false, looks: 0 }
    }

    fn ask(&mut self, look: Look) -> Option<Progress> {
        self.send(Errand::Ask(look))
    }

    fn act(&mut self, look: Look, why: Why) {
        self.send(Errand::Act(look, why));
    }

    /// Sends it out, and waits for it a little: what it finds, if it has found it by then.
    fn send(&mut self, errand: Errand) -> Option<Progress> {
        if !self.is_out {
            if self.errands.send(errand).is_err() {
                return None;
            }
            (self.is_out, self.looks) = (true, 0);
        }
        match self.done.recv_timeout(LOOK) {
            Ok(answer) => {
                self.is_out = false;
                answer
            }
            Err(_) => {
                self.looks += 1;
                self.locked_out();
                None
            }
        }
    }

    /// Somebody keeps the interpreter's lock: that is said once, and ends the process if Ctrl-C was pressed.
    fn locked_out(&self) {
        let most = (LOCKED_OUT.as_nanos() / LOOK.as_nanos()) as u32;
        let called = place(Site(CALLED_AT.load(Ordering::Relaxed)));
        let called = called.map_or_else(String::new, |place| format!(", called at {}:{},", place.file, place.line));
        let kept = format!("drawloom: code not written in Python{called} keeps the interpreter's lock");
        if is_interrupted() && self.looks >= most {
            say(&format!("{kept}: Ctrl-C cannot end the exploration, and ends the process"));
            end_process_next_time();
            // SAFETY: it sends a signal, whose default is taken.
            unsafe { kill(getpid(), SIGINT) };
        } else if self.looks == most {
            say(&format!("{kept} and cannot be interrupted; Ctrl-C ends the process"));
        }
    }
}

fn say(what: &str) {
    static SAYING: Mutex<()> = Mutex::new(());
    let _one = SAYING.lock();
    eprintln!("{what}");
}
