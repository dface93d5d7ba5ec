//! What we call of Pluto's runtime: its collector, its strings and its errors.

use std::ffi::{c_char, c_int, c_void};

/// Everything that Pluto's code passes: an integer, or a pointer as one.
pub(crate) type Word = i64;

/// Tags of the collector's objects.
pub(crate) const TASK: u8 = 7;
pub(crate) const CHANNEL: u8 = 9;

unsafe extern "C" {
    fn gc_alloc(size: usize, tag: u8, slots: u16) -> *mut c_void;
    fn __pluto_alloc(size: Word) -> *mut c_void;
    fn __pluto_string_new(bytes: *const c_char, length: Word) -> *mut c_void;
    fn __pluto_string_data(string: *mut c_void, bytes: *mut *const c_char, length: *mut Word);
    fn __pluto_raise_error(error: *mut c_void);
    fn __pluto_gc_init(bottom: *mut c_void);
    fn __pluto_gc_register_fiber_stack(base: *mut c_char, size: usize);
    fn __pluto_gc_mark_fiber_complete(index: c_int);
    fn __pluto_gc_set_current_fiber(index: c_int);
    fn __pluto_gc_enable_fiber_scanning();
    fn __pluto_gc_disable_fiber_scanning();
    fn calloc(count: usize, size: usize) -> *mut c_void;
}

/// An object of Pluto's heap, of so many words, of which the collector looks at the first `seen`. They are 0.
pub(crate) fn allocate(words: usize, tag: u8, seen: u16) -> *mut Word {
    // SAFETY: the collector knows all roots, as `collector` sees to.
    unsafe { gc_alloc(words * size_of::<Word>(), tag, seen).cast() }
}

/// Memory of the C library, which the collector frees with the object that it belongs to.
pub(crate) fn words(count: usize) -> *mut Word {
    // SAFETY: it is asked for memory, and may say no.
    let memory = unsafe { calloc(count, size_of::<Word>()) };
    assert!(!memory.is_null(), "out of memory");
    memory.cast()
}

/// Raises an error with this message in the running task.
pub(crate) fn raise(message: &str) {
    // SAFETY: the string is kept by a register or our frame until the error has it, and the collector looks at both.
    unsafe {
        let text = __pluto_string_new(message.as_ptr().cast(), message.len() as Word);
        let error = __pluto_alloc(size_of::<Word>() as Word);
        error.cast::<*mut c_void>().write(text);
        __pluto_raise_error(error);
    }
}

/// The text of a string, which may be a slice of another.
pub(crate) fn text(string: *mut c_void) -> String {
    if string.is_null() {
        return String::new();
    }
    let (mut bytes, mut length) = (std::ptr::null(), 0);
    // SAFETY: it is a string, as the caller says, and no collection can come in between.
    let bytes = unsafe {
        __pluto_string_data(string, &raw mut bytes, &raw mut length);
        std::slice::from_raw_parts(bytes.cast::<u8>(), usize::try_from(length).unwrap_or_default())
    };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The message of an error: its first field.
pub(crate) fn message(error: Word) -> String {
    // SAFETY: an error that was raised is an object, whose first field is its message.
    text(unsafe { (error as *const *mut c_void).read() })
}

/// Where the running task's state is: an error that is pending, its type, and the task.
///
/// They are variables of the thread, which Rust cannot name; there is one thread.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Pending {
    pub(crate) error: Word,
    pub(crate) kind: Word,
    pub(crate) task: Word,
}

#[cfg(target_arch = "x86_64")]
macro_rules! address_of_variable {
    ($name:literal, $variable:literal) => {
        concat!(
            ".hidden ",
            $name,
            "\n.globl ",
            $name,
            "\n.type ",
            $name,
            ",@function\n",
            $name,
            ":\n",
            "movq ",
            $variable,
            "@gottpoff(%rip), %rax\naddq %fs:0, %rax\nret\n.size ",
            $name,
            ", .-",
            $name,
            "\n"
        )
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! address_of_variable {
    ($name:literal, $variable:literal) => {
        concat!(
            ".hidden ",
            $name,
            "\n.globl ",
            $name,
            "\n.type ",
            $name,
            ",@function\n",
            $name,
            ":\n",
            "mrs x0, tpidr_el0\nadrp x1, :gottprel:",
            $variable,
            "\nldr x1, [x1, :gottprel_lo12:",
            $variable,
            "]\nadd x0, x0, x1\nret\n.size ",
            $name,
            ", .-",
            $name,
            "\n"
        )
    };
}

mod variables {
    #[cfg(target_arch = "x86_64")]
    std::arch::global_asm!(
        ".text",
        address_of_variable!("drawloom_pluto_error", "__pluto_current_error"),
        address_of_variable!("drawloom_pluto_error_type", "__pluto_current_error_type"),
        address_of_variable!("drawloom_pluto_task", "__pluto_current_task"),
        options(att_syntax)
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::global_asm!(
        ".text",
        address_of_variable!("drawloom_pluto_error", "__pluto_current_error"),
        address_of_variable!("drawloom_pluto_error_type", "__pluto_current_error_type"),
        address_of_variable!("drawloom_pluto_task", "__pluto_current_task"),
    );
}

unsafe extern "C" {
    fn drawloom_pluto_error() -> *mut Word;
    fn drawloom_pluto_error_type() -> *mut Word;
    fn drawloom_pluto_task() -> *mut Word;
}

/// The state of the running task.
pub(crate) fn pending() -> Pending {
    // SAFETY: each is the address of a variable of this thread, which has the size of a pointer.
    unsafe {
        Pending { error: *drawloom_pluto_error(), kind: *drawloom_pluto_error_type(), task: *drawloom_pluto_task() }
    }
}

/// Makes this the state of the running task.
pub(crate) fn set_pending(state: Pending) {
    // SAFETY: as in `pending`.
    unsafe {
        *drawloom_pluto_error() = state.error;
        *drawloom_pluto_error_type() = state.kind;
        *drawloom_pluto_task() = state.task;
    }
}

/// The collector's functions that concern stacks. `low` and `high` are the bounds of memory that stays readable.
pub(crate) fn gc_register(low: usize, high: usize) {
    // SAFETY: whoever calls vouches for the memory.
    unsafe { __pluto_gc_register_fiber_stack(low as *mut c_char, high - low) }
}

pub(crate) fn gc_forget(index: c_int) {
    // SAFETY: it takes a number.
    unsafe { __pluto_gc_mark_fiber_complete(index) }
}

/// The stack with this index runs, and its end is `bottom`.
pub(crate) fn gc_on(index: c_int, bottom: usize) {
    // SAFETY: both are setters; the bottom is the end of the stack that runs next.
    unsafe {
        __pluto_gc_set_current_fiber(index);
        __pluto_gc_init(bottom as *mut c_void);
    }
}

pub(crate) fn gc_scan_stacks(scan: bool) {
    // SAFETY: they are setters.
    unsafe { if scan { __pluto_gc_enable_fiber_scanning() } else { __pluto_gc_disable_fiber_scanning() } }
}
