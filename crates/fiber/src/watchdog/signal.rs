//! What happens on a watched thread when the monitor asks: the handler of a signal.
//!
//! The handler may interrupt anything. It counts steps without touching anything else. It allocates, to capture a stack,
//! only if the thread is not in the C library, where the allocator is, or sleeps.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drawloom_engine::TaskId;

use super::Watch;
use crate::overflow::print_at_once;
use crate::runtime::current;

/// What the monitor asks.
pub(super) mod question {
    pub(crate) const NONE: u8 = 0;
    /// How many steps were made?
    pub(crate) const COUNT: u8 = 1;
    /// Where does the task stand?
    pub(crate) const CAPTURE: u8 = 2;
}

/// What the handler answers.
pub(super) mod answer {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const COUNTED: u8 = 1;
    /// The stack is there, and the thread waits for the verdict.
    pub(crate) const CAPTURED: u8 = 2;
    /// No task is running.
    pub(crate) const ELSEWHERE: u8 = 3;
    /// The thread is in the C library.
    pub(crate) const BUSY: u8 = 4;
}

/// What becomes of a task whose stack was captured.
pub(super) mod verdict {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const GO_ON: u8 = 1;
    pub(crate) const LEAVE: u8 = 2;
    /// It did not come in time, and the thread has gone on.
    pub(crate) const EXPIRED: u8 = 3;
    /// The thread knows it: until then nothing else may be asked.
    pub(crate) const HEARD: u8 = 4;
}

/// Ignored unless somebody asks for it, and seldom used.
pub(super) const SIGNAL: libc::c_int = libc::SIGURG;

/// Whether a thread can be made to go on elsewhere on this platform.
pub(crate) const CAN_LEAVE: bool = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));

/// Room on a task's stack that leaving it takes.
const ROOM_TO_LEAVE: usize = 8 * 1024;

thread_local! {
    static WATCH: Cell<*const Watch> = const { Cell::new(std::ptr::null()) };
}

/// The calling thread answers through `watch`, until [`unwatch`].
pub(super) fn watch(watch: &Arc<Watch>) {
    WATCH.set(Arc::as_ptr(watch));
}

pub(super) fn unwatch() {
    WATCH.set(std::ptr::null());
}

/// The C library's code: from where to where. Written by the monitor before it asks for a stack.
pub(super) static FORBIDDEN: [(AtomicUsize, AtomicUsize); 8] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 8];

/// Where a thread was when a signal interrupted it.
struct Interrupted {
    pc: usize,
    sp: usize,
}

impl Interrupted {
    /// Whether it is at a system call, about to be restarted, or has just come back from one.
    fn is_in_system_call(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        const CALL: [u8; 2] = [0x0f, 0x05];
        #[cfg(not(target_arch = "x86_64"))]
        const CALL: [u8; 4] = [0x01, 0x00, 0x00, 0xd4];
        let is_call = |at: usize| {
            // SAFETY: the instruction that was interrupted, or the one before it in the same function of the C library.
            unsafe { (at as *const [u8; CALL.len()]).read() == CALL }
        };
        is_call(self.pc) || is_call(self.pc - CALL.len())
    }
}

/// Installs the handler of the monitor's signal. Called once, by the monitor.
pub(super) fn install() {
    // SAFETY: the handler has the signature that SA_SIGINFO asks for. Calls that it interrupts are restarted.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        let mut previous: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(SIGNAL, &action, &mut previous) == 0 {
            PREVIOUS.store(previous.sa_sigaction, Ordering::Release);
            PREVIOUS_FLAGS.store(previous.sa_flags as usize, Ordering::Release);
        }
    }
}

/// The handler that was there before.
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);
static PREVIOUS_FLAGS: AtomicUsize = AtomicUsize::new(0);

#[inline(never)]
extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the calling thread's own errno, which what is interrupted may be about to read.
    let errno = unsafe { *errno() };
    // SAFETY: the watch is alive until its thread has called `unwatch`.
    let watch = unsafe { WATCH.get().as_ref() };
    let asked = watch.map_or(question::NONE, |watch| watch.question.swap(question::NONE, Ordering::AcqRel));
    match (watch, asked) {
        (Some(watch), question::COUNT) => {
            count(watch);
            watch.answer.store(answer::COUNTED, Ordering::Release);
        }
        (Some(watch), question::CAPTURE) => capture(watch, context),
        _ => pass_on(signal, info, context),
    }
    // SAFETY: as above.
    unsafe { *errno_mut() = errno };
}

fn errno() -> *const libc::c_int {
    errno_mut()
}

fn errno_mut() -> *mut libc::c_int {
    // SAFETY: it has no preconditions.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::__errno_location()
    }
    // SAFETY: it has no preconditions.
    #[cfg(not(target_os = "linux"))]
    unsafe {
        libc::__error()
    }
}

/// Somebody else has sent it.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let handler = PREVIOUS.load(Ordering::Acquire);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        return;
    }
    // SAFETY: it is what `sigaction` has called the handler that was there before, with the flags that say what it takes.
    unsafe {
        if PREVIOUS_FLAGS.load(Ordering::Acquire) & libc::SA_SIGINFO as usize != 0 {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}

fn count(watch: &Watch) {
    if let Some(handle) = current().filter(|_| watch.is_over()) {
        handle.inner().engine.cut();
    }
    let steps = current().map_or(0, |handle| handle.inner().engine.steps().len());
    watch.steps.store(steps as u64, Ordering::Relaxed);
}

/// Captures the stack of the running task, and does with the task what the monitor says.
#[cfg_attr(not(debug_assertions), inline(always))]
fn capture(watch: &Watch, context: *mut libc::c_void) {
    count(watch);
    let interrupted = in_a_task(context);
    if CAN_LEAVE && interrupted.is_none() {
        watch.answer.store(answer::ELSEWHERE, Ordering::Release);
        return;
    }
    let is_within = |(from, to): &(AtomicUsize, AtomicUsize)| {
        let code = from.load(Ordering::Relaxed)..to.load(Ordering::Relaxed);
        interrupted.as_ref().is_some_and(|interrupted| code.contains(&interrupted.pc))
    };
    let waits =
        || watch.sleeps.load(Ordering::Relaxed) && interrupted.as_ref().is_some_and(Interrupted::is_in_system_call);
    if FORBIDDEN.iter().any(is_within) && !waits() {
        watch.answer.store(answer::BUSY, Ordering::Release);
        return;
    }
    let captured = Box::new(Backtrace::force_capture());
    watch.captured.store(Box::into_raw(captured), Ordering::Release);
    watch.answer.store(answer::CAPTURED, Ordering::Release);
    if wait_for_verdict(watch) == verdict::LEAVE {
        go_on_in_leave(context);
    }
}

/// The monitor needs a while to find names; but if it needs something that this thread holds, it must not wait for ever.
fn wait_for_verdict(watch: &Watch) -> u8 {
    const A_MOMENT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    const MOST_MOMENTS: usize = 30_000;
    for _ in 0..MOST_MOMENTS {
        let verdict = watch.verdict.load(Ordering::Acquire);
        if verdict != verdict::NONE {
            watch.verdict.store(verdict::HEARD, Ordering::Release);
            return verdict;
        }
        // SAFETY: a valid duration, and nobody wants to know what was left of it.
        unsafe { libc::nanosleep(&A_MOMENT, std::ptr::null_mut()) };
    }
    let expired = watch.verdict.compare_exchange(verdict::NONE, verdict::EXPIRED, Ordering::AcqRel, Ordering::Acquire);
    let verdict = expired.err().unwrap_or(verdict::EXPIRED);
    watch.verdict.store(verdict::HEARD, Ordering::Release);
    verdict
}

/// Where the running task was interrupted, if one was, and if there is room on its stack to leave it.
fn in_a_task(context: *mut libc::c_void) -> Option<Interrupted> {
    let interrupted = registers(context)?;
    let handle = current()?;
    // SAFETY: during an execution the fiber that ran last is alive, if there was one.
    let fiber = unsafe { handle.inner().running_fiber.as_ref() }?;
    let (lowest, highest) = fiber.bounds;
    (lowest + ROOM_TO_LEAVE..highest).contains(&interrupted.sp).then_some(interrupted)
}

/// Where a task goes on that is left: nowhere. The executor finds out why.
extern "C" fn leave() -> ! {
    loop {
        if let Some(handle) = current() {
            let inner = handle.inner();
            inner.left = true;
            inner.resumes = TaskId::NONE;
            handle.switch();
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn registers(context: *mut libc::c_void) -> Option<Interrupted> {
    // SAFETY: the kernel passes a valid context to a handler installed with SA_SIGINFO.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    Some(Interrupted { pc: registers[libc::REG_RIP as usize] as usize, sp: registers[libc::REG_RSP as usize] as usize })
}

/// Has the interrupted thread go on in [`leave`] when the handler returns, as if it had called it where it was: below
/// the red zone of its function, on an aligned stack, and with the direction flag as every function expects it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn go_on_in_leave(context: *mut libc::c_void) {
    const DIRECTION: i64 = 1 << 10;
    // SAFETY: as in `registers`. `leave` never returns, so what it overwrites below the stack pointer, and the registers
    // that it does not keep, are nobody's any more.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let sp = registers[libc::REG_RSP as usize] as usize;
    registers[libc::REG_RSP as usize] = (((sp - 512) & !15) - 8) as i64;
    registers[libc::REG_RIP as usize] = leave as *const () as usize as i64;
    registers[libc::REG_EFL as usize] &= !DIRECTION;
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn registers(context: *mut libc::c_void) -> Option<Interrupted> {
    // SAFETY: the kernel passes a valid context to a handler installed with SA_SIGINFO.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    Some(Interrupted { pc: registers.pc as usize, sp: registers.sp as usize })
}

/// Has the interrupted thread go on in [`leave`] when the handler returns, on the same stack.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn go_on_in_leave(context: *mut libc::c_void) {
    // SAFETY: as in `registers`. `leave` never returns, so what it overwrites below the stack pointer, and the registers
    // that it does not keep, are nobody's any more.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext };
    registers.sp = (registers.sp - 512) & !15;
    registers.pc = leave as *const () as usize as u64;
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn registers(_: *mut libc::c_void) -> Option<Interrupted> {
    None
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn go_on_in_leave(_: *mut libc::c_void) {}

/// Has an abort that follows a fatal panic of a task leave that task instead. Once in a process.
pub(crate) fn catch_aborts() {
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: as in `install`.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_abort as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            let mut previous: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGABRT, &action, &mut previous) == 0 {
                (&raw mut BEFORE_ABORTS).cast::<libc::sigaction>().write(previous);
            }
        }
    });
}

/// What was done at an abort before; written before ours can run.
static mut BEFORE_ABORTS: std::mem::MaybeUninit<libc::sigaction> = std::mem::MaybeUninit::uninit();

extern "C" fn on_abort(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if let Some(handle) = current() {
        let inner = handle.inner();
        if let Some(fatal) = &inner.panics.fatal {
            if in_a_task(context).is_some() {
                return go_on_in_leave(context);
            }
            print_at_once(&fatal.text);
        }
    }
    // What was there before gets the signal as soon as this handler has returned.
    // SAFETY: it was written before this handler could run.
    unsafe {
        libc::sigaction(libc::SIGABRT, (&raw const BEFORE_ABORTS).cast(), std::ptr::null_mut());
        libc::raise(libc::SIGABRT);
    }
}

/// A stack for handlers: std's, which has room for little more than the registers, is not enough to walk another one.
pub(super) struct HandlerStack(*mut libc::c_void);

const HANDLER_STACK: usize = 256 * 1024;

impl HandlerStack {
    pub(super) fn new() -> HandlerStack {
        // SAFETY: memory of our own, which is readable and writable and stays until it is dropped.
        unsafe {
            let memory = libc::mmap(
                std::ptr::null_mut(),
                HANDLER_STACK,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANON,
                -1,
                0,
            );
            if memory == libc::MAP_FAILED {
                return HandlerStack(std::ptr::null_mut());
            }
            let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: HANDLER_STACK };
            libc::sigaltstack(&stack, std::ptr::null_mut());
            HandlerStack(memory)
        }
    }
}

impl Drop for HandlerStack {
    fn drop(&mut self) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the memory is ours, and no handler runs on it: we are not in one, and nobody is told of it any more.
        unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(std::ptr::null(), &mut stack);
            if stack.ss_sp == self.0 {
                stack.ss_flags = libc::SS_DISABLE;
                libc::sigaltstack(&stack, std::ptr::null_mut());
            }
            libc::munmap(self.0, HANDLER_STACK);
        }
    }
}
