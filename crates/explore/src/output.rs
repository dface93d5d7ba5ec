//! Findings, printed and kept.

use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_report::{
    PageOptions, Record, RenderOptions, Shown, cause, kept, page, plain_name, render as render_record, way_to_sources,
};

use super::exploration::Failure;

/// A larger trace file is not read.
pub(super) const MOST_TRACE_BYTES: u64 = 256 << 20;
/// A larger source file is not shown.
const MOST_SOURCE_BYTES: u64 = 16 << 20;

/// Where traces are kept, if not below the target directory.
const DIRECTORY_VARIABLE: &str = "DRAWLOOM_DIR";

/// Where a record is kept.
pub(super) struct Kept {
    trace: String,
    page: String,
}

/// The text of a record, for the terminal or log that this process writes to.
pub(super) fn render(record: &Record, kept: Option<&Kept>) -> String {
    let colour = std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal();
    let (trace_file, page) = (kept.map(|kept| kept.trace.as_str()), kept.map(|kept| kept.page.as_str()));
    let options =
        RenderOptions { width: width(), colour, sources: &source, trace_file, page, ..RenderOptions::default() };
    render_record(record, &options)
}

static COLUMNS: OnceLock<fn() -> Option<usize>> = OnceLock::new();

/// Says how many columns the terminal has to which reports go, if it is one: to ask it takes a system call, which is the front
/// end's to make.
pub fn ask_for_columns(columns: fn() -> Option<usize>) {
    let _ = COLUMNS.set(columns);
}

/// The columns of the terminal, if this is one; `COLUMNS` says otherwise.
pub(super) fn width() -> usize {
    /// Less leaves no room for a trace.
    const LEAST: usize = 60;
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    asked.or_else(|| COLUMNS.get()?()).map_or(RenderOptions::default().width, |columns: usize| columns.max(LEAST))
}

/// A source file: its name is relative to the workspace, while tests run in their package.
pub(super) fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|directory| kept::read(&directory.join(file), MOST_SOURCE_BYTES).ok())
}

/// Writes records to files of their own, and returns where they are: the first for tools, all of them as a
/// page to look at.
pub(super) fn keep(records: &[Shown<'_>], number: usize) -> std::io::Result<Kept> {
    let record = records.first().expect("there is one to be kept").record;
    let (trace, html) = files_of(record, number);
    replace(&trace, record.write().as_bytes())?;
    let root = way_to_sources(&html, record);
    let options = PageOptions { sources: &source, root: root.as_deref(), ..PageOptions::default() };
    replace(&html, page(records, &options).as_bytes())?;
    Ok(Kept { trace: shown(&trace), page: shown(&html) })
}

/// Removes what an earlier run has kept of the kind of `record` beyond the `number`th: it is none of this run's.
pub(super) fn remove_beyond(record: &Record, number: usize) {
    let later = (number + 1..).map(|number| files_of(record, number)).take_while(|(trace, _)| trace.is_file());
    later.for_each(|(trace, page)| [trace, page].iter().for_each(|file| drop(std::fs::remove_file(file))));
}

/// Which one of its kind a finding is that was met in a replay: the one that is kept with the same cause, else one more. What
/// else is kept was not looked for, and stays.
pub(super) fn number_of(record: &Record) -> usize {
    let mut number = 1;
    let wanted = cause(record);
    while let Ok(text) = kept::read(&files_of(record, number).0, MOST_TRACE_BYTES) {
        if Record::glance(&text).is_ok_and(|known| known.cause == wanted) {
            break;
        }
        number += 1;
    }
    number
}

/// The files of a record, the `number`th of its kind from 1: the trace and the page.
pub(super) fn files_of(record: &Record, number: usize) -> (PathBuf, PathBuf) {
    let kind = record.finding.kind.replace(' ', "-");
    let kind = if number > 1 { format!("{kind}-{number}") } else { kind };
    let file = |extension: &str| file_of(&record.meta.test, &format!("{kind}.{extension}"));
    (file("json"), file("html"))
}

/// The records of a failure: as it is reported, as it was met, and an execution to compare it with.
pub(super) fn shown_of(failure: &Failure) -> Vec<Shown<'_>> {
    let label = if failure.original.is_some() { "minimised" } else { "failing" };
    let others = [("original", &failure.original), ("passing", &failure.passing)];
    let others = others.into_iter().filter_map(|(label, record)| Some((label, record.as_deref()?)));
    let all = std::iter::once((label, failure.record())).chain(others);
    all.map(|(label, record)| Shown { label, record }).collect()
}

/// The file of a test that is called `what`.
pub(super) fn file_of(test: &str, what: &str) -> PathBuf {
    directory().join(format!("{}.{what}", plain_name(test)))
}

/// Writes a file, and returns it so that more can be appended. It is written beside and renamed, so
/// that a full disk or a kill leaves no half a file.
pub(super) fn replace(file: &Path, content: &[u8]) -> std::io::Result<File> {
    kept::replace(file, &file.with_extension(format!("{}.tmp", unique())), content)
}

/// A part of the name of a draft that no other draft has.
pub(super) fn unique() -> String {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    format!("{}.{}", std::process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed))
}

/// `DRAWLOOM_DIR`, else `drawloom` in the target directory that the running test binary lies in.
pub(super) fn directory() -> PathBuf {
    if let Some(directory) = std::env::var_os(DIRECTORY_VARIABLE) {
        return directory.into();
    }
    let binary = std::env::current_exe().unwrap_or_default();
    let target = binary.ancestors().find(|path| path.join("CACHEDIR.TAG").is_file());
    target.map_or_else(|| PathBuf::from("target"), Path::to_path_buf).join("drawloom")
}

/// Relative to where the user is, if it lies below.
pub(super) fn shown(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).display().to_string()
}

/// Relative to the workspace that it lies in, as the compiler names source files: tests run in their package, users need not.
pub(super) fn shown_in_workspace(file: &Path) -> String {
    let root = file.ancestors().find(|directory| directory.join("Cargo.lock").is_file());
    match root.and_then(|root| file.strip_prefix(root).ok()) {
        Some(within) => within.display().to_string(),
        None => shown(file),
    }
}
