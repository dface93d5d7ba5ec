//! Reports: what people and programs read of a finding.
//!
//! - [`Record`]: a finding with its whole execution as an owned value, and as a trace file;
//! - [`render`]: a record as the text that a failing test prints;
//! - [`cause`]: the key by which findings of the same bug are told to be the same.
//!
//! No front end is known here. A place in the user's source is resolved by a function that the front
//! end passes to [`Record::of`], and a source file is read by one that is passed to [`render`].
#![forbid(unsafe_code)]

mod cause;
mod names;
mod record;
mod terminal;

pub use cause::cause;
pub use record::{
    AccessRecord, BlockedRecord, Blocker, Details, FindingRecord, LeakRecord, Meta, Place, ReadError, Record,
    ResourceRecord, StepRecord, TaskRecord, VERSION,
};
pub use terminal::{RenderOptions, render};
