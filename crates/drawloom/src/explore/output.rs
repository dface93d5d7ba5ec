//! Findings, printed and kept.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_report::{PageOptions, Record, RenderOptions, Shown, page, render as render_record};

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
    let options = RenderOptions { colour, sources: &source, trace_file, page, ..RenderOptions::default() };
    render_record(record, &options)
}

/// A source file: its name is relative to the workspace, while tests run in their package.
fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|directory| std::fs::read_to_string(directory.join(file)).ok())
}

/// Writes the record to files of its own, for tools and as a page to look at, and returns where they are.
pub(super) fn keep(record: &Record) -> std::io::Result<Kept> {
    let kind = record.finding.kind.replace(' ', "-");
    let trace = file_of(&record.meta.test, &format!("{kind}.json"));
    replace(&trace, record.write().as_bytes())?;
    let html = file_of(&record.meta.test, &format!("{kind}.html"));
    let options = PageOptions { sources: &source, ..PageOptions::default() };
    replace(&html, page(&[Shown { label: "failing", record }], &options).as_bytes())?;
    Ok(Kept { trace: shown(&trace), page: shown(&html) })
}

/// The file of a test that is called `what`.
pub(super) fn file_of(test: &str, what: &str) -> PathBuf {
    let test = if test.is_empty() { "exploration" } else { test };
    let plain: String = test.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    directory().join(format!("{plain}.{what}"))
}

/// Writes a file, and returns it so that more can be appended. It is written beside and renamed, so
/// that a full disk or a kill leaves no half a file.
pub(super) fn replace(file: &Path, content: &[u8]) -> std::io::Result<File> {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = file.with_extension(format!("{}.{number}.tmp", std::process::id()));
    let write = || {
        let mut written = File::create(&draft)?;
        written.write_all(content)?;
        std::fs::rename(&draft, file)?;
        Ok(written)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&draft)))
}

/// `DRAWLOOM_DIR`, else `drawloom` in the target directory that the running test binary lies in.
fn directory() -> PathBuf {
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
