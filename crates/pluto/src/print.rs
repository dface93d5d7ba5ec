//! What a test prints: one execution's is shown, that of the others is not.

use std::ffi::{c_char, c_int, c_void};

use crate::foreign::{Word, text};
use crate::state::{Mode, PRINTED, mode};

unsafe extern "C" {
    static stdout: *mut c_void;
    fn fwrite(bytes: *const c_void, size: usize, count: usize, file: *mut c_void) -> usize;
    fn fflush(file: *mut c_void) -> c_int;
    fn snprintf(to: *mut c_char, room: usize, format: *const c_char, ...) -> c_int;
}

/// Prints to the program's standard output, which the C library may hold some of.
pub(crate) fn out(text: &[u8]) {
    // SAFETY: the bytes are there, and the file is open as long as the program has one.
    unsafe {
        fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
        fflush(stdout);
    }
}

fn print(text: &[u8]) {
    match mode() {
        Mode::Outside => out(text),
        _ => PRINTED.with_borrow_mut(|printed| printed.extend_from_slice(text)),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_print_int(value: Word) {
    print(format!("{value}\n").as_bytes());
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_print_float(value: f64) {
    let mut room = [0u8; 64];
    // SAFETY: no more than there is room for is written, and a number in this format is shorter.
    let length = unsafe { snprintf(room.as_mut_ptr().cast(), room.len(), c"%.15g\n".as_ptr(), value) };
    print(&room[..usize::try_from(length).unwrap_or_default().min(room.len())]);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_print_string(string: *mut c_void) {
    print(format!("{}\n", text(string)).as_bytes());
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_print_bool(value: c_int) {
    print(if value != 0 { b"true\n" } else { b"false\n" });
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_print_string_no_newline(string: *mut c_void) {
    print(text(string).as_bytes());
}
