//! What the library and an exploration say to each other. Both sides are compiled from this file.

use std::ffi::CStr;

/// Changes whenever anything else here does.
pub const VERSION: u32 = 1;

/// The function with which hooks are registered: [`Register`].
pub const REGISTER: &CStr = c"drawloom_preload_register";

/// Registers hooks, for as long as an exploration runs; null takes them back. Whether the versions agree.
pub type Register = unsafe extern "C" fn(*const Hooks) -> bool;

/// No limit of time.
pub const FOR_EVER: u64 = u64::MAX;

/// What a hook answers.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer(pub u32);

impl Answer {
    /// Done; a wait was ended by another task.
    pub const DONE: Answer = Answer(0);
    /// Nobody looks: the call is to be made as if nobody had been asked.
    pub const PLAIN: Answer = Answer(1);
    /// The same; but who waits is to be woken, since the exploration knows of the call by other means.
    pub const ANNOUNCED: Answer = Answer(6);
    /// The execution is over: a call that would have to wait is to fail.
    pub const ENDING: Answer = Answer(2);
    /// The same, and has been so for long: any call is to fail.
    pub const TORN_DOWN: Answer = Answer(3);
    /// The time was up.
    pub const TIMED_OUT: Answer = Answer(4);
    /// Nobody else can go on, now or later.
    pub const ALONE: Answer = Answer(5);
}

/// A text, of which the hook keeps nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// UTF-8, as far as names of files are.
    pub start: *const u8,
    /// In bytes.
    pub length: usize,
}

impl Text {
    /// That text, while it lives.
    pub fn of(text: &str) -> Text {
        Text { start: text.as_ptr(), length: text.len() }
    }
}

/// What the library calls, on threads that are tasks of an exploration and on no others. Hooks may be called with or
/// without a lock of the runtime that the thread belongs to, and are not called again from within.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// [`VERSION`].
    pub version: u32,
    /// Whether the calling thread is a task of an exploration. Asked on every call.
    pub controlled: extern "C" fn() -> bool,
    /// The execution and the task: a number that no other has.
    pub task: extern "C" fn() -> u64,
    /// One step on what is called so, which may write. What it announces is done as soon as it returns.
    pub touch: unsafe extern "C" fn(name: Text, write: bool) -> Answer,
    /// From now on the task is woken with those who wait for what is called so. To be said right after a step on it.
    pub enlist: unsafe extern "C" fn(name: Text),
    /// No longer.
    pub leave: unsafe extern "C" fn(name: Text),
    /// Wakes who waits for what is called so, now or as soon as it begins to.
    pub wake: unsafe extern "C" fn(name: Text) -> Answer,
    /// Waits to be woken, for so many nanoseconds at most. With `alone` also until nobody else can go on.
    pub wait: unsafe extern "C" fn(name: Text, nanos: u64, alone: bool) -> Answer,
    /// Lets those who hold what the task waits for and cannot do without end first, once the execution is over.
    pub give_way: extern "C" fn() -> Answer,
    /// Lets virtual time pass.
    pub sleep: extern "C" fn(nanos: u64) -> Answer,
    /// Something was waited for that no task of the exploration brings about.
    pub outside: unsafe extern "C" fn(name: Text),
}
