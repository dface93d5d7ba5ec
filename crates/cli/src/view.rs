//! `drawloom view`: findings as a page in the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drawloom_report::{PageOptions, Shown, page};
use serde::Serialize;

use crate::answer::Answer;
use crate::args::ViewArguments;
use crate::error::Error;
use crate::store::{self, Store, Stored};

/// The page, and whether it was opened.
#[derive(Debug, Serialize)]
pub(crate) struct Viewed {
    r#type: &'static str,
    page: PathBuf,
    opened: bool,
}

/// Writes the page of findings, and opens it unless a file was named.
pub(crate) fn view(arguments: &ViewArguments) -> Result<Viewed, Error> {
    let mut found: Vec<Stored> = Vec::new();
    let mut last = None;
    for text in &arguments.findings {
        let store = Store::for_finding(text, &arguments.place)?;
        found.push(store.find(text)?);
        last = Some(store);
    }
    let sources = |file: &str| last.as_ref().and_then(|store| store.source(file));
    let labels = labels(&found);
    let shown: Vec<Shown<'_>> =
        labels.iter().zip(&found).map(|(label, stored)| Shown { label, record: &stored.record }).collect();
    let html = page(&shown, &PageOptions { sources: &sources, ..PageOptions::default() });
    let file = match (&arguments.write, found.as_slice()) {
        (Some(file), _) => file.clone(),
        (None, [one]) => one.file.with_extension("html"),
        (None, several) => {
            several.first().map_or_else(|| PathBuf::from("drawloom.html"), |s| s.file.with_extension("compared.html"))
        }
    };
    store::write(&file, &html)?;
    let page = std::path::absolute(&file).unwrap_or(file);
    let opened = arguments.write.is_none() && open(&page);
    Ok(Viewed { r#type: "view", page, opened })
}

/// What the switch between records says: each once.
fn labels(found: &[Stored]) -> Vec<String> {
    match found {
        [_] => vec!["failing".to_owned()],
        several => (1..).zip(several).map(|(i, stored)| format!("{i}: {}", stored.record.finding.kind)).collect(),
    }
}

/// Hands the page to whatever opens pages here.
fn open(page: &Path) -> bool {
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(std::env::var_os("BROWSER").unwrap_or_else(|| program.into()));
    if std::env::var_os("BROWSER").is_none() {
        command.args(first);
    }
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}

impl Answer for Viewed {
    fn text(&self) -> String {
        let hint = if self.opened { "" } else { " (open it in a browser)" };
        format!("{}{hint}\n", self.page.display())
    }
}
