//! What the modules of both faces ask the scheduler. In production there is none.

use std::any::Any;
use std::panic::resume_unwind;

pub(crate) use crate::chance::any_of;

pub(crate) fn unwind(payload: Box<dyn Any + Send>) -> ! {
    resume_unwind(payload)
}

pub(crate) fn caught() {}
