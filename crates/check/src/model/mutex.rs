//! A lock that knows its owner.

use super::{Access, Model, Next, Shape};

/// A mutex that is free at the beginning. Only its owner can release it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutex;

/// The operations of a mutex, with their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockOp {
    /// Takes it; waits until it is free.
    Acquire(u64),
    /// Takes it if it is free.
    TryAcquire(u64),
    /// Gives it back.
    Release(u64),
}

/// The results of operations of a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockRet {
    /// It was done.
    Done,
    /// To `TryAcquire`: it is held.
    Busy,
}

impl Model for Mutex {
    /// The owner.
    type State = Option<u64>;
    type Op = LockOp;
    type Ret = LockRet;

    fn init(&self) -> Option<u64> {
        None
    }

    fn step(&self, state: &Option<u64>, op: &LockOp, ret: Option<&LockRet>, next: &mut Next<Option<u64>>) {
        match (op, ret) {
            (LockOp::Acquire(owner) | LockOp::TryAcquire(owner), None | Some(LockRet::Done)) if state.is_none() => {
                next.push(Some(*owner));
            }
            (LockOp::TryAcquire(_), None | Some(LockRet::Busy)) => next.unchanged_if(state.is_some()),
            (LockOp::Release(owner), None | Some(LockRet::Done)) if *state == Some(*owner) => next.push(None),
            _ => {}
        }
    }

    fn observer(&self, _: &LockOp, ret: Option<&LockRet>) -> bool {
        matches!(ret, Some(LockRet::Busy))
    }

    fn explain(&self, state: &Option<u64>, _: &LockOp, _: &LockRet) -> String {
        match state {
            None => "it is free".to_owned(),
            Some(owner) => format!("{owner} holds it"),
        }
    }

    fn describe(&self, op: &LockOp, ret: Option<&LockRet>) -> String {
        let text = match op {
            LockOp::Acquire(owner) => format!("acquire by {owner}"),
            LockOp::TryAcquire(owner) => format!("try-acquire by {owner}"),
            LockOp::Release(owner) => format!("release by {owner}"),
        };
        match ret {
            None => text + " → ?",
            Some(LockRet::Done) => text,
            Some(LockRet::Busy) => text + " → busy",
        }
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Mutex
    }

    fn access<'a>(&self, op: &'a LockOp, ret: Option<&'a LockRet>) -> Access<'a> {
        match (op, ret) {
            (LockOp::Acquire(owner), None | Some(LockRet::Done)) => Access::Acquire(*owner),
            (LockOp::TryAcquire(owner), Some(LockRet::Done)) => Access::Acquire(*owner),
            (LockOp::Release(owner), None | Some(LockRet::Done)) => Access::Release(*owner),
            _ => Access::Other,
        }
    }
}
