//! The heap: what a program frees stays as it is until the execution is over, so that whoever uses it afterwards is found.
//!
//! The library's own memory takes another way, past the names that the linker leads here.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

use drawloom_capi as capi;

use crate::state;

/// More than this is given back before the execution is over, what was freed first first.
const MOST_BYTES: usize = 32 << 20;

/// Blocks that were freed in the running execution.
#[derive(Default)]
pub(crate) struct Freed {
    blocks: std::collections::VecDeque<(usize, usize)>,
    bytes: usize,
}

impl Freed {
    pub(crate) fn clear(&mut self) {
        while self.give_back().is_some() {}
    }

    fn give_back(&mut self) -> Option<(usize, usize)> {
        let (address, size) = self.blocks.pop_front()?;
        self.bytes -= size;
        // SAFETY: the program has freed it, and we have not.
        unsafe { __libc_free(address as *mut c_void) };
        Some((address, size))
    }
}

unsafe extern "C" {
    fn malloc_usable_size(address: *mut c_void) -> usize;
    #[cfg_attr(target_env = "musl", link_name = "malloc")]
    fn __libc_malloc(size: usize) -> *mut c_void;
    #[cfg_attr(target_env = "musl", link_name = "calloc")]
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    #[cfg_attr(target_env = "musl", link_name = "realloc")]
    fn __libc_realloc(address: *mut c_void, size: usize) -> *mut c_void;
    #[cfg_attr(target_env = "musl", link_name = "free")]
    fn __libc_free(address: *mut c_void);
}

/// The allocator of this library.
struct Own;

#[global_allocator]
static OWN: Own = Own;

/// What `malloc` gives is a multiple of this.
const ALIGN: usize = 16;

/// Before memory that has to be a multiple of more, the address that is to be given back. Sanitizers have the C library's function for it, and
/// not the others.
unsafe fn alloc_aligned(layout: Layout) -> *mut u8 {
    let room = layout.align() + size_of::<usize>();
    // SAFETY: so many bytes more are there, and the address before the aligned one is among them.
    unsafe {
        let start = __libc_malloc(layout.size() + room).cast::<u8>();
        if start.is_null() {
            return start;
        }
        let aligned = start.add(room - (start as usize + room) % layout.align());
        aligned.cast::<usize>().sub(1).write(start as usize);
        aligned
    }
}

// SAFETY: these are the C library's functions, under the names that it has for itself.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller vouches.
        unsafe { if layout.align() <= ALIGN { __libc_malloc(layout.size()).cast() } else { alloc_aligned(layout) } }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches; `alloc_aligned` has written it.
        unsafe {
            let start = if layout.align() <= ALIGN { address as usize } else { address.cast::<usize>().sub(1).read() };
            __libc_free(start as *mut c_void);
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGN {
            // SAFETY: as the caller vouches.
            return unsafe { __libc_calloc(1, layout.size()).cast() };
        }
        // SAFETY: as the caller vouches; so many bytes are there.
        unsafe {
            let address = self.alloc(layout);
            if !address.is_null() {
                address.write_bytes(0, layout.size());
            }
            address
        }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= ALIGN {
            // SAFETY: as the caller vouches.
            return unsafe { __libc_realloc(address.cast(), size).cast() };
        }
        // SAFETY: as the caller vouches; so many bytes are in both.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(address, layout.size().min(size));
                self.dealloc(address, layout);
            }
            new
        }
    }
}

fn release(address: *mut c_void, at: crate::objects::At) {
    if address.is_null() {
        return;
    }
    // SAFETY: the program vouches for an address that it has from `malloc`. One that it has freed in this execution is still there.
    let size = unsafe { malloc_usable_size(address) };
    capi::drawloom_memory_free(address, size, at);
    let too_much = state::with(|state| {
        state.freed.blocks.push_back((address as usize, size));
        state.freed.bytes += size;
        state.freed.bytes > MOST_BYTES
    });
    while too_much && state::with(|state| state.freed.bytes > MOST_BYTES) {
        if let Some((address, size)) = state::with(|state| state.freed.give_back()) {
            capi::drawloom_memory_forget(address as *const c_void, size);
        }
    }
}

define! {
    free/1(address: *mut c_void) -> () |at| { release(address, at) }
    realloc/2(address: *mut c_void, size: usize) -> *mut c_void |at| {
        // SAFETY: the program vouches for an address that it has from `malloc`, or null; so many bytes are in both.
        unsafe {
            let new = __libc_malloc(size);
            if !new.is_null() && !address.is_null() {
                new.cast::<u8>().copy_from_nonoverlapping(address.cast(), malloc_usable_size(address).min(size));
                release(address, at);
            }
            new
        }
    }
}
