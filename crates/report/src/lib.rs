//! Reports: what people and programs read of a finding.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! - [`Record`]: a finding with its whole execution as an owned value, and as a trace file;
//! - [`render`]: a record as the text that a failing test prints;
//! - [`TestResult`]: what a test came to, as a line for other programs;
//! - [`markdown`]: its explanation as Markdown;
//! - [`page`]: records as a page to look at, the viewer;
//! - [`explain`](mod@explain): why it failed: the race window, the class of the mistake, and what could be done;
//! - [`SourceFiles`]: which source files are shown; [`kept`]: how files are read and written;
//! - `ci` (a feature): findings as JUnit, SARIF and GitHub's annotations and summaries;
//! - [`cause`]: the key by which findings of the same bug are told to be the same, and [`same_bug`].
//!
//! No front end is known here but by the [`Language`] of its programs, a table of [`language`] that it passes in. A place
//! in the user's source is resolved by a function that the front end passes to [`Record::of`], and a source file is read
//! by one that is passed to [`render`] and [`page`].
//!
//! Every test compiles this crate, so what only those need who read trace files, or have processes, is left out without the features
//! for it: where such code is called stands `if cfg!(feature = …)`, and what nobody calls then is not translated.
#![forbid(unsafe_code)]
#![cfg_attr(not(all(feature = "processes", feature = "read")), allow(dead_code, reason = "what these features call"))]

mod cause;
#[cfg(feature = "ci")]
pub mod ci;
pub mod explain;
mod html;
mod json;
pub mod kept;
pub mod language;
mod markdown;
mod names;
mod paste;
mod printable;
mod processes;
mod record;
mod result;
pub mod sections;
mod source;
mod standing;
mod terminal;

pub use cause::{cause, same_bug};
pub use explain::{Explanation, Explanations, Knowledge, explain, explain_all};
pub use html::{ENV_EDITOR, PageOptions, Shown, html_escaped, page, way_to_sources};
pub use language::Language;
pub use markdown::markdown;
pub use names::resource_names;
pub use paste::{fits_a_line, is_token, replay_by_command, replay_command, replay_without_file as replay_line};
pub use printable::{is_printable, printable, printable_colours, printable_json, printable_lines};
pub use record::{
    AccessRecord, BlockedRecord, Blocker, Details, Extent, FindingRecord, FrameRecord, Glance, HappenedRecord,
    HeldRecord, LeakRecord, Meta, Minimised, OUR_SOURCES, PASSED, Place, ProcessRecord, ProcessesRecord, ReadError,
    Record, ResourceRecord, SaidRecord, StandingRecord, StepRecord, StuckRecord, TURN, TaskRecord, TestTarget,
    TieRecord, VERSION, WATCH, Window,
};
pub use result::{
    Departure, ENV_REPLAY_WITH, ENV_RESULTS, FoundResult, OutdatedSchedule, RESULT_VERSION, ResultOutcome, TestResult,
    assumed_of,
};
pub use source::SourceFiles;
pub use standing::{STANDINGS, Standing, Standings, plain_name};
pub use terminal::{RenderOptions, render};
