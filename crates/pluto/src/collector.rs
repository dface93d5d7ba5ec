//! What Pluto's collector must know to find what is still used.
//!
//! It looks at registers, at the stack that runs, and at every stack that was registered, which are 256 in the life of a process.
//! So stacks are registered once, and used again. The first entry is the part of the process's own stack below the test; the second is
//! no stack, but a table of tasks that run: who spawned one may have forgotten it.
//!
//! A stack that is given back is never looked at again, and its entry is lost.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::Once;

use drawloom_capi as capi;

use crate::foreign::{Pending, gc_forget, gc_on, gc_register, gc_scan_stacks, pending, set_pending};
use crate::state;
use crate::task::Task;
use crate::{chance, ending, owners};

/// Entries of the collector.
const MOST_STACKS: usize = 256;
/// The first two are no task's, and one is main's.
pub(crate) const MOST_TASKS: usize = MOST_STACKS - 3;

/// Tasks that run; 0 where there is none.
struct Kept(std::cell::UnsafeCell<[usize; MOST_STACKS]>);

// SAFETY: one thread runs generated code, as Pluto has it, and nobody else gets here.
unsafe impl Sync for Kept {}

static KEPT: Kept = Kept(std::cell::UnsafeCell::new([0; MOST_STACKS]));

#[derive(Clone, Copy)]
struct Stack {
    low: usize,
    high: usize,
    /// Which entry of the collector's it is; none if it has no more.
    index: Option<c_int>,
    gone: bool,
}

thread_local! {
    static STACKS: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
    /// Which of them has this number.
    static NUMBERED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static ENTRIES: Cell<usize> = const { Cell::new(2) };
    /// Whether the collector knows the stack that runs.
    static IS_KNOWN: Cell<bool> = const { Cell::new(true) };
    static BOTTOM: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_getattr_np(thread: usize, attributes: *mut c_void) -> c_int;
    fn pthread_attr_getstack(attributes: *const c_void, low: *mut usize, size: *mut usize) -> c_int;
    fn pthread_attr_destroy(attributes: *mut c_void) -> c_int;
}

/// The end of this thread's own stack.
fn end_of_stack() -> usize {
    // More than any C library has for it.
    let mut attributes = [0u64; 32];
    let (mut low, mut size) = (0, 0);
    let place: *mut c_void = attributes.as_mut_ptr().cast();
    // SAFETY: there is room for what is written.
    unsafe {
        if pthread_getattr_np(pthread_self(), place) == 0 {
            pthread_attr_getstack(place, &raw mut low, &raw mut size);
            pthread_attr_destroy(place);
        }
    }
    low + size
}

/// Tells the collector where this thread's stack ends, and what is below `here`. Generated code passes no end, and so any collection
/// would go astray.
#[inline(never)]
pub(crate) fn begin() {
    static FIRST: Once = Once::new();
    let marker = 0usize;
    let here = &raw const marker as usize;
    FIRST.call_once(|| {
        let end = end_of_stack();
        BOTTOM.set(end);
        gc_register(here & !7, end);
        let table = KEPT.0.get() as usize;
        gc_register(table, table + size_of::<Kept>());
    });
    gc_on(-1, BOTTOM.get());
}

/// A test is explored from here on, or no longer.
pub(crate) fn explores(does: bool) {
    gc_scan_stacks(does);
    gc_on(-1, BOTTOM.get());
}

fn table() -> &'static mut [usize; MOST_STACKS] {
    // SAFETY: one thread runs generated code, and no reference is held while others get here.
    unsafe { &mut *KEPT.0.get() }
}

/// Keeps a task until it is done. False if there are too many.
pub(crate) fn keep(task: Task) -> bool {
    let kept = table();
    match kept[..MOST_TASKS].iter().position(|there| *there == 0) {
        Some(free) => {
            kept[free] = task.0 as usize;
            true
        }
        None => false,
    }
}

pub(crate) fn release(task: Task) {
    let kept = table();
    if let Some(at) = kept.iter().position(|there| *there == task.0 as usize) {
        kept[at] = 0;
    }
}

/// Tasks that are not done.
pub(crate) fn kept() -> impl Iterator<Item = Task> {
    (0..MOST_TASKS).map(|at| table()[at]).filter(|task| *task != 0).map(|task| Task(task as *mut i64))
}

/// Fails where the collector could not see what the running task uses.
pub(crate) fn check_stack() {
    if !IS_KNOWN.get() {
        ending::fail(format!("pluto: too many tasks at a time: the collector knows of {MOST_TASKS}"), std::ptr::null());
    }
}

extern "C" fn stack_register(_: *mut c_void, number: usize, low: *mut c_void, high: *mut c_void) {
    let (low, high) = (low as usize, high as usize);
    let at = STACKS.with_borrow_mut(|stacks| {
        if let Some(at) = stacks.iter().position(|stack| (stack.low, stack.high) == (low, high)) {
            stacks[at].gone = false;
            return at;
        }
        let entry = ENTRIES.get();
        let index = (entry < MOST_STACKS).then_some(entry as c_int);
        if index.is_some() {
            ENTRIES.set(entry + 1);
            gc_register(low, high);
        }
        stacks.push(Stack { low, high, index, gone: false });
        stacks.len() - 1
    });
    NUMBERED.with_borrow_mut(|numbered| {
        if numbered.len() <= number {
            numbered.resize(number + 1, usize::MAX);
        }
        numbered[number] = at;
    });
}

extern "C" fn stack_unregister(_: *mut c_void, number: usize) {
    let at = NUMBERED.with_borrow(|numbered| numbered[number]);
    STACKS.with_borrow_mut(|stacks| stacks[at].gone = true);
}

extern "C" fn switch_to(_: *mut c_void, task: u64, number: usize, _: *mut c_void, high: *mut c_void) {
    if task == 0 {
        return gc_on(-1, BOTTOM.get());
    }
    let at = NUMBERED.with_borrow(|numbered| numbered[number]);
    let index = STACKS.with_borrow(|stacks| stacks[at].index);
    IS_KNOWN.set(index.is_some());
    gc_on(index.unwrap_or(-1), high as usize);
}

extern "C" fn suspend(_: *mut c_void, _: u64, frame: *mut c_void) {
    // SAFETY: there is room for as much as was asked for, aligned to two words.
    unsafe { frame.cast::<Pending>().write(pending()) }
}

extern "C" fn resume(_: *mut c_void, _: u64, frame: *mut c_void) {
    // SAFETY: it is what `suspend` has written.
    set_pending(unsafe { frame.cast::<Pending>().read() });
}

extern "C" fn execution_begin(_: *mut c_void) {
    // Stacks that are no more were not registered again.
    STACKS.with_borrow_mut(|stacks| {
        for stack in stacks.iter_mut().filter(|stack| stack.gone) {
            stack.index.take().into_iter().for_each(gc_forget);
            (stack.low, stack.high) = (0, 0);
        }
    });
    table().fill(0);
    set_pending(Pending::default());
    state::begin_execution();
    chance::begin_execution();
    owners::begin_execution();
}

extern "C" fn execution_end(_: *mut c_void) {
    set_pending(Pending::default());
    table().fill(0);
    state::end_execution();
}

/// What the sessions of tests are told.
pub(crate) fn hooks() -> capi::Hooks {
    let hooks = capi::drawloom_hooks {
        size: size_of::<capi::drawloom_hooks>(),
        user: std::ptr::null_mut(),
        execution_begin: Some(execution_begin),
        execution_end: Some(execution_end),
        stack_register: Some(stack_register),
        stack_unregister: Some(stack_unregister),
        switch_to: Some(switch_to),
        suspend: Some(suspend),
        resume: Some(resume),
        task_end: None,
        abandon: None,
        write: None,
        frame_size: size_of::<Pending>(),
    };
    capi::Hooks::of(&hooks).expect("these are hooks of this library")
}
