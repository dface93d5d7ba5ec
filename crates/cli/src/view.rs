//! `drawloom view`: findings as a page in the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drawloom_report::{PageOptions, Shown, page, way_to_sources};
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
    /// The same as an address.
    url: String,
    opened: bool,
    /// Why nothing opens it, if something was to.
    why_not: Option<String>,
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
    let file = match (&arguments.write, found.as_slice()) {
        (Some(file), _) => file.clone(),
        (None, [one]) => one.file.with_extension("html"),
        (None, several) => {
            several.first().map_or_else(|| PathBuf::from("drawloom.html"), |s| s.file.with_extension("compared.html"))
        }
    };
    let root = found.first().and_then(|stored| way_to_sources(&file, &stored.record));
    let options = PageOptions { sources: &sources, root: root.as_deref(), ..PageOptions::default() };
    store::write(&file, &page(&shown, &options))?;
    let page = std::path::absolute(&file).unwrap_or(file);
    let why_not = if arguments.write.is_some() { None } else { open(&page).err() };
    let opened = arguments.write.is_none() && why_not.is_none();
    Ok(Viewed { r#type: "view", url: url(&page), page, opened, why_not })
}

/// What the switch between records says: each once.
fn labels(found: &[Stored]) -> Vec<String> {
    match found {
        [_] => vec!["failing".to_owned()],
        several => (1..).zip(several).map(|(i, stored)| format!("{i}: {}", stored.record.kind_in_words())).collect(),
    }
}

/// Hands the page to whatever opens pages here, or says why that is not possible.
fn open(page: &Path) -> Result<(), String> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let browser = set("BROWSER");
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        // Without a display `xdg-open` finds a browser for terminals, or nothing, and says neither.
        _ if browser.is_none() && set("DISPLAY").is_none() && set("WAYLAND_DISPLAY").is_none() => {
            return Err("there is no display here".to_owned());
        }
        _ => ("xdg-open", &[]),
    };
    let first = if browser.is_some() { &[] } else { first };
    let program = browser.unwrap_or_else(|| program.into());
    let mut command = Command::new(&program);
    command.args(first).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error| format!("{} cannot be run: {error}", program.to_string_lossy());
    command.spawn().map(drop).map_err(failed)
}

/// The address of a file.
fn url(page: &Path) -> String {
    let path = page.to_string_lossy().replace('\\', "/");
    let written = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b':' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    let path: String = path.bytes().map(written).collect();
    format!("file://{}{path}", if path.starts_with('/') { "" } else { "/" })
}

impl Answer for Viewed {
    fn text(&self) -> String {
        let page = self.page.display();
        match (&self.why_not, self.opened) {
            (Some(why), _) => format!("{page}\nIt was not opened: {why}. Open it in a browser: {}\n", self.url),
            (None, true) => format!("{page}\n"),
            (None, false) => format!("{page}\nOpen it in a browser: {}\n", self.url),
        }
    }
}
