//! A number of permits.

use super::{LockRet, Model, Next};

/// A semaphore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Semaphore {
    /// How many permits there are at the beginning.
    pub permits: u64,
}

/// The operations of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermitOp {
    /// Takes so many permits; waits until there are enough.
    Acquire(u64),
    /// Takes so many permits if there are enough.
    TryAcquire(u64),
    /// Gives so many permits back, whichever process took them.
    Release(u64),
}

impl Model for Semaphore {
    /// Permits that are left.
    type State = u64;
    type Op = PermitOp;
    type Ret = LockRet;

    fn init(&self) -> u64 {
        self.permits
    }

    fn step(&self, state: &u64, op: &PermitOp, ret: Option<&LockRet>, next: &mut Next<u64>) {
        match (op, ret) {
            (PermitOp::Acquire(n) | PermitOp::TryAcquire(n), None | Some(LockRet::Done)) if n <= state => {
                next.push(state - n);
            }
            (PermitOp::TryAcquire(n), None | Some(LockRet::Busy)) => next.unchanged_if(n > state),
            (PermitOp::Release(n), None | Some(LockRet::Done)) => next.push(state.saturating_add(*n)),
            _ => {}
        }
    }

    fn observer(&self, _: &PermitOp, ret: Option<&LockRet>) -> bool {
        matches!(ret, Some(LockRet::Busy))
    }

    fn explain(&self, state: &u64, _: &PermitOp, _: &LockRet) -> String {
        format!("{state} permits are left")
    }

    fn describe(&self, op: &PermitOp, ret: Option<&LockRet>) -> String {
        let text = match op {
            PermitOp::Acquire(n) => format!("acquire {n}"),
            PermitOp::TryAcquire(n) => format!("try-acquire {n}"),
            PermitOp::Release(n) => format!("release {n}"),
        };
        match ret {
            None => text + " → ?",
            Some(LockRet::Done) => text,
            Some(LockRet::Busy) => text + " → busy",
        }
    }
}
