//! The programs, each written once over the API that the libraries share with std.
//!
//! The module that declares this one has to offer a library as `library`. So the same text is compiled for
//! drawloom and for the reference model here, and for peers in `bench/`.
//!
//! Every access to a `Var`, every lock and unlock is a step. What the originals do to plain
//! memory is done to atomics, with sequential consistency: what is looked for are orders of steps.

mod buffers;
mod deadlocks;
mod kernel;
mod orders;
mod own;
mod safe_stack;
mod words;
mod work_stealing;

/// The two versions of a program over one library.
#[derive(Clone, Copy)]
pub struct Body {
    /// The name, as in the catalogue.
    pub name: &'static str,
    /// One execution of the program with its bug.
    pub buggy: fn(),
    /// One execution of the program without it.
    pub fixed: fn(),
}

macro_rules! bodies {
    ($($name:literal $module:ident::$function:ident($($size:literal),*))*) => {
        /// All programs, in the order of the catalogue.
        pub static BODIES: &[Body] = &[$(Body {
            name: $name,
            buggy: || $module::$function($($size,)* false),
            fixed: || $module::$function($($size,)* true),
        }),*];
    };
}

bodies! {
    "account" orders::account()
    "bluetooth" orders::bluetooth()
    "carter01" deadlocks::carter01()
    "circular_buffer" buffers::circular_buffer()
    "deadlock01" deadlocks::deadlock01()
    "lazy01" orders::lazy01()
    "queue" buffers::queue()
    "reorder_3" orders::reorder(2, 1)
    "reorder_4" orders::reorder(3, 1)
    "reorder_5" orders::reorder(4, 1)
    "reorder_10" orders::reorder(9, 1)
    "reorder_20" orders::reorder(10, 10)
    "reorder_50" orders::reorder(40, 10)
    "reorder_100" orders::reorder(99, 1)
    "stack" buffers::stack()
    "twostage" orders::twostage(1, 1)
    "twostage_20" orders::twostage(10, 10)
    "twostage_50" orders::twostage(40, 10)
    "twostage_100" orders::twostage(99, 1)
    "stringbuffer" orders::stringbuffer()
    "bounded_buffer" buffers::bounded_buffer()
    "wsq_lock" work_stealing::wsq_lock()
    "wsq_spin" work_stealing::wsq_spin()
    "wsq_state" work_stealing::wsq_state()
    "cve_2009_3547" kernel::cve_2009_3547()
    "cve_2015_7550" kernel::cve_2015_7550()
    "cve_2016_1972" kernel::cve_2016_1972()
    "cve_2016_7911" kernel::cve_2016_7911()
    "cve_2016_9806" kernel::cve_2016_9806()
    "cve_2017_6346" kernel::cve_2017_6346()
    "lost_update" own::lost_update(0)
    "lost_update_pad" own::lost_update(20)
    "stale_read" own::stale_read()
    "needle" own::needle()
    "pct_label" own::pct_label()
    "safe_stack" safe_stack::safe_stack()
    "arithmetic_prog" deadlocks::arithmetic_prog()
    "phase01" deadlocks::phase01()
    "sync01" deadlocks::sync_waits(2, 1)
    "sync02" deadlocks::sync_waits(1, 2)
}
