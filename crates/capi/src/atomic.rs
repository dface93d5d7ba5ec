//! Atomics: memory of the caller's, of 1, 2, 4 or 8 bytes. All of it is sequentially consistent; weaker orders are counted, so
//! that what is proved says so.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, outcome};
use drawloom_fiber::Seen;

use crate::execution::{Here, here};
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// As C's `memory_order_relaxed`, and so on.
pub const DRAWLOOM_RELAXED: i32 = 0;
/// As C's `memory_order_consume`.
pub const DRAWLOOM_CONSUME: i32 = 1;
/// As C's `memory_order_acquire`.
pub const DRAWLOOM_ACQUIRE: i32 = 2;
/// As C's `memory_order_release`.
pub const DRAWLOOM_RELEASE: i32 = 3;
/// As C's `memory_order_acq_rel`.
pub const DRAWLOOM_ACQ_REL: i32 = 4;
/// As C's `memory_order_seq_cst`.
pub const DRAWLOOM_SEQ_CST: i32 = 5;

/// Of a read-modify-write: exchanges it.
pub const DRAWLOOM_EXCHANGE: u32 = 0;
/// Adds, and wraps around.
pub const DRAWLOOM_ADD: u32 = 1;
/// Subtracts, and wraps around.
pub const DRAWLOOM_SUB: u32 = 2;
/// Bitwise and.
pub const DRAWLOOM_AND: u32 = 3;
/// Bitwise or.
pub const DRAWLOOM_OR: u32 = 4;
/// Bitwise exclusive or.
pub const DRAWLOOM_XOR: u32 = 5;

/// An atomic of the caller's.
#[derive(Clone, Copy)]
struct Atomic {
    address: *mut c_void,
    size: usize,
}

macro_rules! by_size {
    ($atomic:expr, $it:ident => $do:expr) => {
        // SAFETY: the address is not null and aligned, which `atomic_at` has looked at; that so many bytes are there the caller
        // vouches for. Tasks run one at a time.
        unsafe {
            match $atomic.size {
                1 => {
                    let $it = AtomicU8::from_ptr($atomic.address.cast());
                    let found = $do;
                    found as u64
                }
                2 => {
                    let $it = AtomicU16::from_ptr($atomic.address.cast());
                    let found = $do;
                    found as u64
                }
                4 => {
                    let $it = AtomicU32::from_ptr($atomic.address.cast());
                    let found = $do;
                    found as u64
                }
                _ => {
                    let $it = AtomicU64::from_ptr($atomic.address.cast());
                    let found = $do;
                    found as u64
                }
            }
        }
    };
}

impl Atomic {
    fn load(self) -> u64 {
        by_size!(self, it => it.load(SeqCst))
    }

    fn store(self, value: u64) {
        by_size!(self, it => {
            it.store(value as _, SeqCst);
            0
        });
    }

    /// A value, as far as there is room for it.
    fn cut(self, value: u64) -> u64 {
        if self.size == WORD { value } else { value & ((1 << (8 * self.size)) - 1) }
    }
}

const WORD: usize = 8;

impl Here {
    /// The atomic at an address, and the resource that it is.
    fn atomic_at(&self, address: *const c_void, size: usize, orders: &[i32], site: Site) -> (Atomic, ResourceId) {
        if address.is_null() || !matches!(size, 1 | 2 | 4 | 8) || address as usize % size != 0 {
            self.misuse("misuse: an atomic has 1, 2, 4 or 8 bytes, and an address that is a multiple".into(), site);
        }
        if orders.iter().any(|order| !(DRAWLOOM_RELAXED..=DRAWLOOM_SEQ_CST).contains(order)) {
            self.misuse("misuse: this is not a memory order".into(), site);
        }
        if orders.iter().any(|order| *order != DRAWLOOM_SEQ_CST) {
            self.control().weaker_access(site);
        }
        let known = self.state().memory.get(&(address as usize)).copied();
        let id = known.unwrap_or_else(|| {
            let id = self.control().create(ResourceKind::Atomic, State::Plain, site);
            self.name_by_symbol(id, address as usize);
            self.state().memory.insert(address as usize, id);
            id
        });
        (Atomic { address: address.cast_mut(), size }, id)
    }
}

/// Reads the atomic of `size` bytes at `address`. Outside of a session it does nothing else.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_atomic_load(
    address: *const c_void,
    size: usize,
    order: i32,
    at: *const drawloom_loc,
) -> u64 {
    let Ok(here) = here() else { return Atomic { address: address.cast_mut(), size }.load() };
    let (atomic, id) = here.atomic_at(address, size, &[order], site(at));
    here.control().access(Operation::new(OpKind::Load, id, site(at)), || {
        let value = atomic.load();
        (value, Seen { value, other: 0, outcome: outcome::OK })
    })
}

/// Writes `value` to the atomic of `size` bytes at `address`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_atomic_store(
    address: *mut c_void,
    size: usize,
    value: u64,
    order: i32,
    at: *const drawloom_loc,
) {
    let Ok(here) = here() else { return Atomic { address, size }.store(value) };
    let (atomic, id) = here.atomic_at(address, size, &[order], site(at));
    here.control().access(Operation::new(OpKind::Store, id, site(at)), || {
        let found = atomic.load();
        atomic.store(value);
        ((), Seen { value: atomic.cut(value), other: found, outcome: outcome::OK })
    });
}

/// Reads and writes the atomic of `size` bytes at `address`: what was there. `what` is `DRAWLOOM_EXCHANGE`, `DRAWLOOM_ADD` …
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_atomic_rmw(
    address: *mut c_void,
    size: usize,
    what: u32,
    operand: u64,
    order: i32,
    at: *const drawloom_loc,
) -> u64 {
    let modify = |atomic: Atomic| {
        by_size!(atomic, it => match what {
            DRAWLOOM_EXCHANGE => it.swap(operand as _, SeqCst),
            DRAWLOOM_ADD => it.fetch_add(operand as _, SeqCst),
            DRAWLOOM_SUB => it.fetch_sub(operand as _, SeqCst),
            DRAWLOOM_AND => it.fetch_and(operand as _, SeqCst),
            DRAWLOOM_OR => it.fetch_or(operand as _, SeqCst),
            _ => it.fetch_xor(operand as _, SeqCst),
        })
    };
    let Ok(here) = here() else { return modify(Atomic { address, size }) };
    if what > DRAWLOOM_XOR {
        here.misuse(format!("misuse: there is no read-modify-write {what}"), site(at));
    }
    let (atomic, id) = here.atomic_at(address, size, &[order], site(at));
    here.control().access(Operation::new(OpKind::Rmw, id, site(at)), || {
        let found = modify(atomic);
        (found, Seen { value: found, other: atomic.load(), outcome: outcome::OK })
    })
}

/// Writes `desired` to the atomic if `*expected` is there, and says so (not 0); else `*expected` becomes what is there. A `weak`
/// one (not 0) may fail although it need not, as often as the configuration allows (`weak_failures`).
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_atomic_compare_exchange(
    address: *mut c_void,
    size: usize,
    expected: *mut u64,
    desired: u64,
    weak: i32,
    success: i32,
    failure: i32,
    at: *const drawloom_loc,
) -> i32 {
    if expected.is_null() {
        return 0;
    }
    // SAFETY: the caller vouches for the pointer, which is not null.
    let wanted = unsafe { *expected };
    let exchange = |atomic: Atomic| {
        let found = atomic.load();
        let equal = found == atomic.cut(wanted);
        if equal {
            atomic.store(desired);
        }
        (equal, found)
    };
    let (equal, found) = match here() {
        Err(_) => {
            let atomic = Atomic { address, size };
            let wanted = atomic.cut(wanted);
            let found = by_size!(atomic, it => match it.compare_exchange(wanted as _, desired as _, SeqCst, SeqCst) {
                Ok(found) | Err(found) => found,
            });
            (found == wanted, found)
        }
        Ok(here) => {
            let (atomic, id) = here.atomic_at(address, size, &[success, failure], site(at));
            let wanted = atomic.cut(wanted);
            if weak != 0 && here.control().fails_spuriously(site(at)) {
                let load = Operation::new(OpKind::Load, id, site(at));
                let found = here.control().access(load, || {
                    let value = atomic.load();
                    (value, Seen { value, other: 0, outcome: outcome::OK })
                });
                (false, found)
            } else {
                here.control().access(Operation::new(OpKind::Cas, id, site(at)).with_arg(wanted), || {
                    let (equal, found) = exchange(atomic);
                    let seen = match equal {
                        true => Seen { value: found, other: atomic.cut(desired), outcome: outcome::OK },
                        false => Seen { value: found, other: wanted, outcome: outcome::REFUSED },
                    };
                    ((equal, found), seen)
                })
            }
        }
    };
    // SAFETY: as above.
    unsafe { *expected = found };
    i32::from(equal)
}

/// A memory fence. No step of its own comes of it: memory is sequentially consistent.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_atomic_fence(_order: i32, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.control().step(Operation::new(OpKind::Fence, ResourceId::NONE, site(at)));
    DRAWLOOM_OK
}
