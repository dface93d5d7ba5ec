//! The names that generated code calls. Each hands on its arguments and, behind them, the address that it returns to: the place
//! of the call. Generated code has no lines, but each of its functions has a name.

use std::arch::global_asm;

use crate::{chance, channel, collector, ending, print, run, rwlock, select, task, time};

#[cfg(target_arch = "x86_64")]
macro_rules! hand_on {
    (@register 0) => { "rdi" };
    (@register 1) => { "rsi" };
    (@register 2) => { "rdx" };
    (@register 3) => { "rcx" };
    ($($name:literal / $arguments:tt => $function:path;)*) => {$(
        global_asm!(
            ".text",
            concat!(".globl ", $name), concat!(".type ", $name, ",@function"), concat!($name, ":"),
            concat!("mov ", hand_on!(@register $arguments), ", qword ptr [rsp]"),
            "jmp {function}",
            concat!(".size ", $name, ", .-", $name),
            function = sym $function,
        );
    )*};
}
#[cfg(target_arch = "aarch64")]
macro_rules! hand_on {
    (@register 0) => { "x0" };
    (@register 1) => { "x1" };
    (@register 2) => { "x2" };
    (@register 3) => { "x3" };
    ($($name:literal / $arguments:tt => $function:path;)*) => {$(
        global_asm!(
            ".text",
            concat!(".globl ", $name), concat!(".type ", $name, ",@function"), concat!($name, ":"),
            concat!("mov ", hand_on!(@register $arguments), ", x30"),
            "b {function}",
            concat!(".size ", $name, ", .-", $name),
            function = sym $function,
        );
    )*};
}

// The number is that of the function's arguments.
hand_on! {
    "__pluto_task_spawn" / 1 => task::spawn;
    "__pluto_task_get" / 1 => task::get;
    "__pluto_task_detach" / 1 => task::detach;
    "__pluto_task_cancel" / 1 => task::cancel;
    "__pluto_chan_create" / 1 => channel::create;
    "__pluto_chan_send" / 2 => channel::send;
    "__pluto_chan_recv" / 1 => channel::receive;
    "__pluto_chan_try_send" / 2 => channel::try_send;
    "__pluto_chan_try_recv" / 1 => channel::try_receive;
    "__pluto_chan_close" / 1 => channel::close;
    "__pluto_chan_sender_inc" / 1 => channel::add_sender;
    "__pluto_chan_sender_dec" / 1 => channel::drop_sender;
    "__pluto_select" / 3 => select::select;
    "__pluto_rwlock_init" / 0 => rwlock::new;
    "__pluto_rwlock_rdlock" / 1 => rwlock::read;
    "__pluto_rwlock_wrlock" / 1 => rwlock::write;
    "__pluto_rwlock_unlock" / 1 => rwlock::unlock;
    "__pluto_time_ns" / 0 => time::now;
    "__pluto_time_wall_ns" / 0 => time::wall;
    "__pluto_time_sleep_ns" / 1 => time::sleep;
    "drawloom_pluto_exit" / 1 => ending::exit;
}

/// Functions without a place are called by their names at once. This list keeps the linker from taking them for unused, and
/// says what there is.
#[used]
static NAMES: Names = Names(
    run::__pluto_test_run,
    chance::__pluto_random_seed,
    chance::__pluto_random_int,
    chance::__pluto_random_float,
    print::__pluto_print_int,
    print::__pluto_print_float,
    print::__pluto_print_string,
    print::__pluto_print_bool,
    print::__pluto_print_string_no_newline,
    (run::__pluto_test_start, run::__pluto_test_pass, run::__pluto_test_summary, collector::begin),
);

type Word = crate::foreign::Word;
type Pointer = *mut std::ffi::c_void;

#[allow(dead_code, reason = "it is a list")]
struct Names(
    extern "C" fn(Word, Word, Word, Word),
    extern "C" fn(Word),
    extern "C" fn() -> Word,
    extern "C" fn() -> f64,
    extern "C" fn(Word),
    extern "C" fn(f64),
    extern "C" fn(Pointer),
    extern "C" fn(std::ffi::c_int),
    extern "C" fn(Pointer),
    (extern "C" fn(Pointer), extern "C" fn(), extern "C" fn(Word), fn()),
);
