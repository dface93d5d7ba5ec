//! Mutexes and semaphores.

use super::{Readable, begins_empty, count, number, unknown};
use crate::history::{Event, Outcome, Value};
use crate::model::{LockOp, LockRet, Mutex, PermitOp, Semaphore};

impl Readable for Mutex {
    const NAME: &'static str = "mutex";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        begins_empty(meta, "mutex", "free")?;
        Ok(Mutex)
    }

    fn op(event: &Event) -> Result<LockOp, String> {
        let owner = event.process.0;
        match event.f.as_str() {
            "acquire" | "lock" => Ok(LockOp::Acquire(owner)),
            "try-acquire" | "try-lock" => Ok(LockOp::TryAcquire(owner)),
            "release" | "unlock" => Ok(LockOp::Release(owner)),
            _ => unknown("mutex", "acquire, try-acquire and release"),
        }
    }

    fn ret(_: &LockOp, _: &Event) -> Result<LockRet, String> {
        Ok(LockRet::Done)
    }

    fn failed(op: &LockOp) -> Outcome<LockRet> {
        match op {
            LockOp::TryAcquire(_) => Outcome::Ok(LockRet::Busy),
            LockOp::Acquire(_) | LockOp::Release(_) => Outcome::Fail,
        }
    }
}

impl Readable for Semaphore {
    const NAME: &'static str = "semaphore";

    fn from_meta(meta: &Value) -> Result<Self, String> {
        begins_empty(meta, "semaphore", "with `permits`")?;
        Ok(Semaphore { permits: count(meta, "permits")?.unwrap_or(1) })
    }

    fn op(event: &Event) -> Result<PermitOp, String> {
        let permits = match &event.value {
            Value::Nil => 1,
            value => {
                let kind = value.kind();
                u64::try_from(number(value)?).map_err(|_| format!("`value` is {kind}, not a number of permits"))?
            }
        };
        match event.f.as_str() {
            "acquire" => Ok(PermitOp::Acquire(permits)),
            "try-acquire" => Ok(PermitOp::TryAcquire(permits)),
            "release" => Ok(PermitOp::Release(permits)),
            _ => unknown("semaphore", "acquire, try-acquire and release"),
        }
    }

    fn ret(_: &PermitOp, _: &Event) -> Result<LockRet, String> {
        Ok(LockRet::Done)
    }

    fn failed(op: &PermitOp) -> Outcome<LockRet> {
        match op {
            PermitOp::TryAcquire(_) => Outcome::Ok(LockRet::Busy),
            PermitOp::Acquire(_) | PermitOp::Release(_) => Outcome::Fail,
        }
    }
}
