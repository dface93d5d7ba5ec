//! What a session came to, for C.

use std::ffi::{CString, c_char};

use drawloom_explore::Checked;

use crate::status::*;

/// What a session came to. All texts are its own, until it is freed; those that there are not are null.
#[repr(C)]
#[derive(Debug)]
pub struct drawloom_result {
    /// `sizeof(drawloom_result)`, set by the caller.
    pub size: usize,
    /// Executions that were made.
    pub executions: u64,
    /// Steps that were made in all of them.
    pub steps: u64,
    /// Executions that failed.
    pub failing: u64,
    /// Different causes that were found.
    pub findings: u64,
    /// Not 0 if all behaviours have been explored.
    pub exhausted: i32,
    /// Not 0 if the wall-clock time was over before.
    pub timed_out: i32,
    /// The number of the execution that failed first, from 1; 0 if none did.
    pub iteration: u64,
    /// Of the first finding: its kind in a word.
    pub kind: *const c_char,
    /// What happened.
    pub message: *const c_char,
    /// The schedule: `drawloom_config_set(config, "replay", token)` repeats it.
    pub token: *const c_char,
    /// One line that says what was done, and what was not.
    pub summary: *const c_char,
    /// All that is printed.
    pub report: *const c_char,
}

impl drawloom_result {
    pub(super) fn clear(&mut self) {
        *self = drawloom_result {
            size: size_of::<drawloom_result>(),
            executions: 0,
            steps: 0,
            failing: 0,
            findings: 0,
            exhausted: 0,
            timed_out: 0,
            iteration: 0,
            kind: std::ptr::null(),
            message: std::ptr::null(),
            token: std::ptr::null(),
            summary: std::ptr::null(),
            report: std::ptr::null(),
        };
    }

    pub(super) fn fill(&mut self, checked: &Checked, report: &str) {
        let exploration = &checked.exploration;
        self.clear();
        self.executions = exploration.executions();
        self.steps = exploration.steps();
        self.failing = exploration.failing_executions();
        self.findings = exploration.findings().len() as u64;
        self.exhausted = i32::from(exploration.exhausted());
        self.timed_out = i32::from(exploration.timed_out());
        if let Some(failure) = exploration.findings().first() {
            self.iteration = failure.iteration();
            self.kind = owned(failure.kind());
            self.message = owned(failure.message());
            self.token = owned(failure.token());
        }
        self.summary = owned(&exploration.summary());
        self.report = owned(report);
    }

    pub(super) fn refuse(&mut self, why: &str) {
        self.clear();
        self.message = owned(why);
        self.report = owned(why);
    }
}

fn owned(text: &str) -> *const c_char {
    CString::new(text.replace('\0', " ")).map_or(std::ptr::null(), |text| text.into_raw().cast_const())
}

/// Frees the texts of a result, which can be used again. It may be null.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_result_free(result: *mut drawloom_result) {
    // SAFETY: it is null or one that a session was told to write to, as the caller vouches.
    let Some(result) = (unsafe { result.as_mut() }) else { return };
    for text in [result.kind, result.message, result.token, result.summary, result.report] {
        if !text.is_null() {
            // SAFETY: `owned` has made it, and nobody has freed it.
            drop(unsafe { CString::from_raw(text.cast_mut()) });
        }
    }
    result.clear();
}

/// What a session came to, in a word.
pub(super) fn verdict(checked: &Checked) -> drawloom_verdict {
    let exploration = &checked.exploration;
    if exploration.error().is_some() {
        drawloom_verdict::DRAWLOOM_ERROR
    } else if checked.said.is_err() || !exploration.findings().is_empty() {
        drawloom_verdict::DRAWLOOM_FAILED
    } else if exploration.timed_out() || exploration.stopped_by().is_some() {
        drawloom_verdict::DRAWLOOM_LIMIT
    } else {
        drawloom_verdict::DRAWLOOM_PASSED
    }
}
