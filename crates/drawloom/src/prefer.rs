//! Whom a reader–writer lock lets in first.

#[cfg(feature = "controlled")]
use std::sync::Arc;

/// Whom a reader–writer lock lets in first.
///
/// ```
/// use drawloom::Prefer;
/// use drawloom::sync::RwLock;
///
/// let lock = RwLock::new(0);
/// drawloom::prefer(&lock, Prefer::Writers);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefer {
    /// The task that came first.
    Nobody,
    /// Readers, whenever no writer holds it. A writer that is passed over for ever, in a schedule that lets everybody
    /// continue, is found as a starvation.
    Readers,
    /// Writers, before all readers that wait.
    Writers,
}

/// Has a reader–writer lock prefer one side under control, from now on: as one that the program uses elsewhere does.
/// Say it before the lock is shared. In production, and outside of an exploration, it changes nothing.
///
/// ```
/// use drawloom::sync::RwLock;
///
/// let lock = RwLock::new(0);
/// drawloom::prefer(&lock, drawloom::Prefer::Readers);
/// ```
#[cfg(feature = "controlled")]
pub fn prefer<L: Prefers + ?Sized>(lock: &L, whom: Prefer) {
    use drawloom_engine::Preference;
    let preference = match whom {
        Prefer::Nobody => Preference::Fair,
        Prefer::Readers => Preference::Readers,
        Prefer::Writers => Preference::Writers,
    };
    lock.prefer(preference.operand() as u8);
}

/// Would have a lock prefer one side. In production it does nothing.
#[cfg(not(feature = "controlled"))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn prefer<L: ?Sized>(_lock: &L, _whom: Prefer) {}

/// The locks that [`prefer`] takes: reader–writer locks.
///
/// ```
/// use drawloom::sync::{Arc, RwLock};
///
/// let lock = Arc::new(RwLock::new(0)); // an `Arc` of a lock will do
/// drawloom::prefer(&lock, drawloom::Prefer::Readers);
/// ```
#[cfg(feature = "controlled")]
pub trait Prefers {
    #[doc(hidden)]
    fn prefer(&self, operand: u8);
}

#[cfg(feature = "controlled")]
impl<L: Prefers + ?Sized> Prefers for &L {
    fn prefer(&self, operand: u8) {
        (**self).prefer(operand);
    }
}

#[cfg(feature = "controlled")]
impl<L: Prefers + ?Sized> Prefers for Arc<L> {
    fn prefer(&self, operand: u8) {
        (**self).prefer(operand);
    }
}
