//! Accesses to memory, as compilers announce them under `-fsanitize=thread`: the names are those of the sanitizer's runtime, of
//! which nothing else is needed. Atomics are carried out here, and are sequentially consistent whatever order they ask for.

use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::objects::At;

type Pointer = *mut c_void;

/// The place behind a call.
fn place(returns_to: usize) -> At {
    capi::place::loc_of_address(returns_to)
}

/// A new thread runs on a stack that another may have had: what was there is nobody's any more.
pub(crate) fn begin_thread() {
    let marker = 0u8;
    let here = &raw const marker as usize;
    // What lies above is ours; what lies below nobody has used since.
    let below = here.saturating_sub(STACK);
    capi::drawloom_memory_forget(below as *const c_void, here - below);
}

/// Stacks of tasks are not deeper in use.
const STACK: usize = 64 << 10;

extern "C" fn read(address: Pointer, size: usize, returns_to: usize) {
    capi::drawloom_read(address, size, place(returns_to));
}

extern "C" fn write(address: Pointer, size: usize, returns_to: usize) {
    capi::drawloom_write(address, size, place(returns_to));
}

/// `__tsan_read4(address)` and the like: the size is in the name.
#[cfg(target_arch = "x86_64")]
macro_rules! sized {
    ($($name:literal => $function:ident($size:literal);)*) => {$(
        std::arch::global_asm!(
            ".text", concat!(".globl ", $name), concat!(".type ", $name, ",@function"), concat!($name, ":"),
            concat!("mov esi, ", $size), "mov rdx, qword ptr [rsp]", "jmp {function}",
            concat!(".size ", $name, ", .-", $name),
            function = sym $function,
        );
    )*};
}
#[cfg(target_arch = "aarch64")]
macro_rules! sized {
    ($($name:literal => $function:ident($size:literal);)*) => {$(
        std::arch::global_asm!(
            ".text", concat!(".globl ", $name), concat!(".type ", $name, ",@function"), concat!($name, ":"),
            concat!("mov x1, #", $size), "mov x2, x30", "b {function}",
            concat!(".size ", $name, ", .-", $name),
            function = sym $function,
        );
    )*};
}

sized! {
    "__tsan_read1" => read("1");
    "__tsan_read2" => read("2");
    "__tsan_read4" => read("4");
    "__tsan_read8" => read("8");
    "__tsan_read16" => read("16");
    "__tsan_write1" => write("1");
    "__tsan_write2" => write("2");
    "__tsan_write4" => write("4");
    "__tsan_write8" => write("8");
    "__tsan_write16" => write("16");
    "__tsan_unaligned_read2" => read("2");
    "__tsan_unaligned_read4" => read("4");
    "__tsan_unaligned_read8" => read("8");
    "__tsan_unaligned_read16" => read("16");
    "__tsan_unaligned_write2" => write("2");
    "__tsan_unaligned_write4" => write("4");
    "__tsan_unaligned_write8" => write("8");
    "__tsan_unaligned_write16" => write("16");
    "__tsan_volatile_read1" => read("1");
    "__tsan_volatile_read2" => read("2");
    "__tsan_volatile_read4" => read("4");
    "__tsan_volatile_read8" => read("8");
    "__tsan_volatile_write1" => write("1");
    "__tsan_volatile_write2" => write("2");
    "__tsan_volatile_write4" => write("4");
    "__tsan_volatile_write8" => write("8");
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_entry(_: Pointer) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_exit() {}

/// A thread's place is not known here: this one is seldom called.
#[unsafe(no_mangle)]
extern "C" fn __tsan_read_range(address: Pointer, size: usize) {
    capi::drawloom_read(address, size, std::ptr::null());
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_write_range(address: Pointer, size: usize) {
    capi::drawloom_write(address, size, std::ptr::null());
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_read(address: *mut Pointer) {
    capi::drawloom_read(address.cast(), size_of::<Pointer>(), std::ptr::null());
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_update(address: *mut Pointer, _: Pointer) {
    capi::drawloom_write(address.cast(), size_of::<Pointer>(), std::ptr::null());
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: c_int) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(order: c_int) {
    capi::drawloom_atomic_fence(order, std::ptr::null());
}

/// Before a function of the C library moves bytes, in code of clang's.
#[unsafe(no_mangle)]
extern "C" fn __tsan_memcpy(to: Pointer, from: Pointer, size: usize) -> Pointer {
    capi::drawloom_read(from, size, std::ptr::null());
    capi::drawloom_write(to, size, std::ptr::null());
    // SAFETY: as the program vouches.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), size) };
    to
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_memmove(to: Pointer, from: Pointer, size: usize) -> Pointer {
    capi::drawloom_read(from, size, std::ptr::null());
    capi::drawloom_write(to, size, std::ptr::null());
    // SAFETY: as the program vouches.
    unsafe { std::ptr::copy(from.cast::<u8>(), to.cast(), size) };
    to
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_memset(to: Pointer, value: c_int, size: usize) -> Pointer {
    capi::drawloom_write(to, size, std::ptr::null());
    // SAFETY: as the program vouches.
    unsafe { std::ptr::write_bytes(to.cast::<u8>(), value as u8, size) };
    to
}

/// What the sanitizer calls an order, without what is in higher bits.
fn order(order: c_int) -> c_int {
    match order & 0xFF {
        known @ 0..=5 => known,
        _ => capi::DRAWLOOM_SEQ_CST,
    }
}

/// Functions that hand on the address that they return to, behind so many arguments.
#[cfg(target_arch = "x86_64")]
macro_rules! placed {
    (@register 2) => { "rdx" };
    (@register 3) => { "rcx" };
    (@register 5) => { "r9" };
    ($($name:literal / $arguments:tt => $function:ident;)*) => {$(
        std::arch::global_asm!(
            ".text", concat!(".globl ", $name), concat!(".type ", $name, ",@function"), concat!($name, ":"),
            concat!("mov ", placed!(@register $arguments), ", qword ptr [rsp]"), "jmp {function}",
            concat!(".size ", $name, ", .-", $name),
            function = sym $function,
        );
    )*};
}
#[cfg(target_arch = "aarch64")]
macro_rules! placed {
    (@register 2) => { "x2" };
    (@register 3) => { "x3" };
    (@register 5) => { "x5" };
    ($($name:literal / $arguments:tt => $function:ident;)*) => {$(
        std::arch::global_asm!(
            ".text", concat!(".globl ", $name), concat!(".type ", $name, ",@function"), concat!($name, ":"),
            concat!("mov ", placed!(@register $arguments), ", x30"), "b {function}",
            concat!(".size ", $name, ", .-", $name),
            function = sym $function,
        );
    )*};
}

/// The atomics of a size: a function each, and one with its place behind the arguments.
macro_rules! atomics {
    ($($type:ty: $load:literal $store:literal $exchange:literal $add:literal $sub:literal $and:literal $or:literal $xor:literal
        $strong:literal $weak:literal, $module:ident;)*) => {$(
        mod $module {
            use super::*;

            const SIZE: usize = size_of::<$type>();

            extern "C" fn load(address: Pointer, ordering: c_int, returns_to: usize) -> $type {
                capi::drawloom_atomic_load(address, SIZE, order(ordering), place(returns_to)) as $type
            }

            extern "C" fn store(address: Pointer, value: $type, ordering: c_int, returns_to: usize) {
                capi::drawloom_atomic_store(address, SIZE, value as u64, order(ordering), place(returns_to));
            }

            fn modify(address: Pointer, what: u32, value: $type, ordering: c_int, returns_to: usize) -> $type {
                capi::drawloom_atomic_rmw(address, SIZE, what, value as u64, order(ordering), place(returns_to)) as $type
            }

            extern "C" fn exchange(address: Pointer, value: $type, ordering: c_int, returns_to: usize) -> $type {
                modify(address, capi::DRAWLOOM_EXCHANGE, value, ordering, returns_to)
            }

            extern "C" fn add(address: Pointer, value: $type, ordering: c_int, returns_to: usize) -> $type {
                modify(address, capi::DRAWLOOM_ADD, value, ordering, returns_to)
            }

            extern "C" fn sub(address: Pointer, value: $type, ordering: c_int, returns_to: usize) -> $type {
                modify(address, capi::DRAWLOOM_SUB, value, ordering, returns_to)
            }

            extern "C" fn and(address: Pointer, value: $type, ordering: c_int, returns_to: usize) -> $type {
                modify(address, capi::DRAWLOOM_AND, value, ordering, returns_to)
            }

            extern "C" fn or(address: Pointer, value: $type, ordering: c_int, returns_to: usize) -> $type {
                modify(address, capi::DRAWLOOM_OR, value, ordering, returns_to)
            }

            extern "C" fn xor(address: Pointer, value: $type, ordering: c_int, returns_to: usize) -> $type {
                modify(address, capi::DRAWLOOM_XOR, value, ordering, returns_to)
            }

            fn compare(address: Pointer, expected: *mut $type, new: $type, weak: i32, orders: [c_int; 2], returns_to: usize) -> c_int {
                // SAFETY: the compiler passes the address of a variable.
                let mut wanted = unsafe { *expected } as u64;
                let (won, lost) = (order(orders[0]), order(orders[1]));
                let place_of_old = &raw mut wanted;
                let done = capi::drawloom_atomic_compare_exchange(
                    address, SIZE, place_of_old, new as u64, weak, won, lost, place(returns_to),
                );
                // SAFETY: as above.
                unsafe { *expected = wanted as $type };
                done
            }

            extern "C" fn strong(address: Pointer, expected: *mut $type, new: $type, won: c_int, lost: c_int, returns_to: usize) -> c_int {
                compare(address, expected, new, 0, [won, lost], returns_to)
            }

            extern "C" fn weak(address: Pointer, expected: *mut $type, new: $type, won: c_int, lost: c_int, returns_to: usize) -> c_int {
                compare(address, expected, new, 1, [won, lost], returns_to)
            }

            placed! {
                $load / 2 => load;
                $store / 3 => store;
                $exchange / 3 => exchange;
                $add / 3 => add;
                $sub / 3 => sub;
                $and / 3 => and;
                $or / 3 => or;
                $xor / 3 => xor;
                $strong / 5 => strong;
                $weak / 5 => weak;
            }
        }
    )*};
}

atomics! {
    u8: "__tsan_atomic8_load" "__tsan_atomic8_store" "__tsan_atomic8_exchange" "__tsan_atomic8_fetch_add" "__tsan_atomic8_fetch_sub"
        "__tsan_atomic8_fetch_and" "__tsan_atomic8_fetch_or" "__tsan_atomic8_fetch_xor" "__tsan_atomic8_compare_exchange_strong"
        "__tsan_atomic8_compare_exchange_weak", of_8;
    u16: "__tsan_atomic16_load" "__tsan_atomic16_store" "__tsan_atomic16_exchange" "__tsan_atomic16_fetch_add"
        "__tsan_atomic16_fetch_sub" "__tsan_atomic16_fetch_and" "__tsan_atomic16_fetch_or" "__tsan_atomic16_fetch_xor"
        "__tsan_atomic16_compare_exchange_strong" "__tsan_atomic16_compare_exchange_weak", of_16;
    u32: "__tsan_atomic32_load" "__tsan_atomic32_store" "__tsan_atomic32_exchange" "__tsan_atomic32_fetch_add"
        "__tsan_atomic32_fetch_sub" "__tsan_atomic32_fetch_and" "__tsan_atomic32_fetch_or" "__tsan_atomic32_fetch_xor"
        "__tsan_atomic32_compare_exchange_strong" "__tsan_atomic32_compare_exchange_weak", of_32;
    u64: "__tsan_atomic64_load" "__tsan_atomic64_store" "__tsan_atomic64_exchange" "__tsan_atomic64_fetch_add"
        "__tsan_atomic64_fetch_sub" "__tsan_atomic64_fetch_and" "__tsan_atomic64_fetch_or" "__tsan_atomic64_fetch_xor"
        "__tsan_atomic64_compare_exchange_strong" "__tsan_atomic64_compare_exchange_weak", of_64;
}
