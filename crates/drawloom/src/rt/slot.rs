//! The slot: where an object keeps the name by which the current execution knows it.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_engine::Abandoned;
use drawloom_fiber::RESOURCE_BITS;

use super::{Handle, ResourceId, ResourceKind, State, current, interference, site};

/// An object's identity under control.
///
/// `new` is `const`, as std's constructors are, so an object cannot be registered when it is made. It
/// is when it is first announced, and the slot remembers under which number and in which execution.
/// The place of creation is known even in a `const`, and is what reports name the object by.
pub(crate) struct Slot {
    /// The execution's number in the upper 40 bits, the resource's in the lower 24.
    word: AtomicU64,
    created_at: &'static Location<'static>,
}

const ID_BITS: u32 = RESOURCE_BITS;
const ID_MASK: u64 = (1 << ID_BITS) - 1;

impl Slot {
    #[track_caller]
    pub(crate) const fn new() -> Slot {
        Slot { word: AtomicU64::new(0), created_at: Location::caller() }
    }

    /// The resource that this object is in the current execution; `state` says what it begins as.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn resource(&self, rt: Handle, kind: ResourceKind, state: impl FnOnce() -> State) -> ResourceId {
        // What is left of the word of this execution is the number; of any other, more than that.
        let id = self.word.load(Ordering::Relaxed) ^ rt.mark();
        if id <= ID_MASK {
            return ResourceId(id as u32);
        }
        self.register(rt, kind, state())
    }

    /// Whether the current execution has met this object.
    pub(crate) fn is_known(&self, rt: Handle) -> bool {
        self.word.load(Ordering::Relaxed) >> ID_BITS == rt.epoch()
    }

    #[cold]
    #[inline(never)]
    fn register(&self, rt: Handle, kind: ResourceKind, state: State) -> ResourceId {
        let before = self.word.load(Ordering::Acquire);
        if before != 0 {
            interference::check(rt, before >> ID_BITS);
        }
        let id = rt.create_resource(kind, state, site(self.created_at));
        assert!(u64::from(id.0) < ID_MASK, "more than {ID_MASK} objects in one execution");
        if before != 0 {
            rt.with_engine(|engine| engine.mark_from_outside(id));
        }
        let claim = rt.mark() | u64::from(id.0);
        if self.word.compare_exchange(before, claim, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // Another execution has claimed it in this very moment.
            rt.abandon(Abandoned::Interference);
        }
        id
    }
}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        let word = *self.word.get_mut();
        if word != 0 {
            if let Some(rt) = current() {
                if word >> ID_BITS == rt.epoch() {
                    rt.with_engine(|engine| engine.drop_resource(ResourceId((word & ID_MASK) as u32)));
                }
            }
        }
    }
}
