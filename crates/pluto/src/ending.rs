//! How a test fails: Pluto's runtime prints what is wrong, and calls `exit`. Both come here, where its object is joined with ours
//! under other names. What was printed becomes the finding, and the exploration goes on.

use std::ffi::{c_char, c_int, c_void};

use drawloom_capi as capi;

use crate::state::{self, COMPLAINED, Mode, REMARKS, is_first, mode};

unsafe extern "C" {
    static stderr: *mut c_void;
    #[link_name = "exit"]
    fn exit_process(status: c_int) -> !;
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut c_void;
    fn setvbuf(file: *mut c_void, room: *mut c_char, mode: c_int, size: usize) -> c_int;
}

/// What a file of the C library is made of.
#[repr(C)]
struct Functions {
    read: *const c_void,
    write: extern "C" fn(*mut c_void, *const c_char, usize) -> isize,
    seek: *const c_void,
    close: *const c_void,
}

const UNBUFFERED: c_int = 2;

/// Standard error of Pluto's runtime.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "it takes the place of C's `stderr`")]
static mut drawloom_pluto_stderr: *mut c_void = std::ptr::null_mut();

#[used]
#[unsafe(link_section = ".init_array")]
static OPEN: extern "C" fn() = open;

/// Before anything else runs.
extern "C" fn open() {
    let functions =
        Functions { read: std::ptr::null(), write: complain, seek: std::ptr::null(), close: std::ptr::null() };
    // SAFETY: nobody else runs yet; the functions that are missing may be.
    unsafe {
        let file = fopencookie(std::ptr::null_mut(), c"w".as_ptr(), functions);
        if file.is_null() {
            drawloom_pluto_stderr = stderr;
        } else {
            setvbuf(file, std::ptr::null_mut(), UNBUFFERED, 0);
            drawloom_pluto_stderr = file;
        }
    }
}

extern "C" fn complain(_: *mut c_void, bytes: *const c_char, length: usize) -> isize {
    // SAFETY: the C library hands over as many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
    match mode() {
        Mode::Outside => eprint!("{}", String::from_utf8_lossy(bytes)),
        _ => COMPLAINED.with_borrow_mut(|said| said.extend_from_slice(bytes)),
    }
    length as isize
}

/// Something to say that is no failure: what the first execution says is heard.
pub(crate) fn remark(remark: String) {
    match mode() {
        Mode::Outside => eprintln!("{remark}"),
        _ if is_first() => REMARKS.with_borrow_mut(|remarks| remarks.push(remark)),
        _ => {}
    }
}

/// What Pluto's runtime has said.
fn complaint() -> String {
    COMPLAINED.with_borrow(|said| String::from_utf8_lossy(said).trim_end().to_owned())
}

/// Pluto's runtime ends the process: within a test, the execution has failed.
pub(crate) extern "C" fn exit(status: c_int, returns_to: usize) -> ! {
    if mode() == Mode::Outside {
        end_process(status);
    }
    let why = match complaint() {
        said if said.is_empty() => format!("the program ended itself with status {status}"),
        said => said,
    };
    fail(why, capi::place::loc_of_address(returns_to))
}

/// The execution has failed. Nothing of ours is left on the stack that would have to be dropped: what comes does not return.
pub(crate) fn fail(why: String, at: *const capi::drawloom_loc) -> ! {
    let message = Message::of(&why);
    drop(why);
    capi::drawloom_fail(c"assertion".as_ptr(), message.0.as_ptr().cast(), at)
}

/// As much of a text as there is room for, with a zero at its end.
struct Message([u8; 1024]);

impl Message {
    fn of(text: &str) -> Message {
        let mut room = [0u8; 1024];
        let mut length = text.len().min(room.len() - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        Message(room)
    }
}

/// What the message of a livelock begins with.
pub(crate) const LIVELOCK: &str = "pluto: potential livelock";

/// A task has looked in vain: the execution has failed if that was one time too many.
pub(crate) fn looked_in_vain(at: *const capi::drawloom_loc) {
    if state::idles() {
        let bound = state::PROGRESS_BOUND.get();
        fail(format!("{LIVELOCK}: after {bound} yield points, no fiber has completed or passed on a message"), at);
    }
}

/// A task that runs to its end where it is spawned would have to wait for ever.
pub(crate) fn stuck(what: &str, returns_to: usize) -> ! {
    let why = format!("pluto: deadlock detected — {what} in sequential test mode");
    if mode() == Mode::Outside {
        eprintln!("{why}");
        end_process(1);
    }
    fail(why, capi::place::loc_of_address(returns_to))
}

/// Ends the process, in earnest.
pub(crate) fn end_process(status: c_int) -> ! {
    // SAFETY: it may be called at any time.
    unsafe { exit_process(status) }
}
