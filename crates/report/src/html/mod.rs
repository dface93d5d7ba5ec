//! Records as one page to look at: the viewer.
//!
//! The page is a single file without network access. What it shows is worked out here: the words of
//! every step (those of the terminal report), who held what when, what each resource came to, which steps
//! happened before which. The script in `viewer/` only lays it out, and moves through it.

mod data;
mod excerpt;
mod order;
mod sentence;
pub(crate) mod walk;

use std::path::Path;

use crate::json;
use crate::printable::printable;
use crate::record::Record;

/// Steps that a page shows of a record at most: beyond, its beginning is left out, and that is said.
const MOST_STEPS: usize = 50_000;

const STYLE: &str = include_str!("viewer.css");
/// One script in several rooms; each only needs what stands before it.
const SCRIPT: &[&str] = &[
    include_str!("viewer/trace.js"),
    include_str!("viewer/elements.js"),
    include_str!("viewer/drawing.js"),
    include_str!("viewer/overview.js"),
    include_str!("viewer/timeline.js"),
    include_str!("viewer/inspector.js"),
    include_str!("viewer/compare.js"),
    include_str!("viewer/filter.js"),
    include_str!("viewer/search.js"),
    include_str!("viewer/main.js"),
];
const SKELETON: &str = include_str!("viewer.html");

/// A record with the word that the page has for it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What the switch between records says: "original", "minimised", "passing" …
    pub label: &'a str,
    /// The record.
    pub record: &'a Record,
}

/// How to make a page.
#[derive(Clone, Copy)]
pub struct PageOptions<'a> {
    /// Reads a source file, by the name that places give it.
    pub sources: &'a dyn Fn(&str) -> Option<String>,
    /// The sentence to begin with, where somebody knows a better one than the finding's own.
    pub sentence: Option<&'a str>,
    /// Steps to show of a record at most; the last ones, where there are more.
    pub max_steps: usize,
    /// Where names of source files begin, as a path from the folder of the page: then places are links into an editor.
    pub root: Option<&'a str>,
    /// The editor: the name of one ([`ENV_EDITOR`] lists them), or an address with `{path}`, `{line}` and `{column}`; what the
    /// variable says if it is none.
    pub editor: Option<&'a str>,
}

/// The environment variable with the editor that pages link into: `vscode` (the default), `vscodium`, `cursor`, `zed`, `idea`,
/// `none`, or an address such as `myeditor://open?file={path}&line={line}`.
pub const ENV_EDITOR: &str = "DRAWLOOM_EDITOR";

/// The address that opens a place in the editor of that name; none if it is none.
fn editor(name: &str) -> Option<String> {
    let address = match name.trim() {
        "" | "vscode" => "vscode://file{path}:{line}:{column}",
        "vscodium" => "vscodium://file{path}:{line}:{column}",
        "cursor" => "cursor://file{path}:{line}:{column}",
        "zed" => "zed://file{path}:{line}:{column}",
        "idea" => "idea://open?file={path}&line={line}&column={column}",
        other => other,
    };
    // An address that runs a script, or a word that means nothing, is no editor.
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let runs = ["javascript", "data", "vbscript"].contains(&scheme.as_str());
    (is_scheme && !runs && address.contains("{path}")).then(|| address.to_owned())
}

/// Where names of source files begin, as a path from the folder of the page that is to be written, for [`PageOptions::root`]:
/// tests run in their package, while names are relative to the workspace around it.
pub fn way_to_sources(page: &Path, record: &Record) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let file = record.places.iter().filter(|place| place.is_the_users()).map(|place| Path::new(&place.file));
    let file = file.into_iter().find(|file| file.is_relative())?;
    let root = here.ancestors().find(|folder| folder.join(file).is_file())?;
    way(std::path::absolute(page).ok()?.parent()?, root)
}

/// The path that leads from one folder to another, with slashes; none if they are not on one disk.
fn way(from: &Path, to: &Path) -> Option<String> {
    let (mut from, mut to) = (from.components().peekable(), to.components().peekable());
    let mut common = false;
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
        common = true;
    }
    let up = from.map(|_| "..".to_owned());
    let down = to.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    common.then(|| if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

impl Default for PageOptions<'_> {
    /// No sources, the finding's own sentence, 50,000 steps, links only to files that are named in full.
    fn default() -> Self {
        PageOptions { sources: &|_| None, sentence: None, max_steps: MOST_STEPS, root: None, editor: None }
    }
}

/// A page that shows `records`: the first one at once, the others by a switch, and any two side by side.
///
/// ```
/// # use drawloom_engine::{Engine, TaskId, finding::{Finding, FindingKind}};
/// use drawloom_report::{Meta, PageOptions, Record, Shown, page};
///
/// # let engine = Engine::new();
/// # let finding = Finding { kind: FindingKind::NothingExplored, task: TaskId::MAIN, step: 0 };
/// # let record = Record::of(&engine, &finding, Meta::default(), &|_site| None);
/// let sources = |file: &str| std::fs::read_to_string(file).ok();
/// let options = PageOptions { sources: &sources, ..PageOptions::default() };
/// let html = page(&[Shown { label: "failing", record: &record }], &options);
/// assert!(html.starts_with("<!doctype html>"));
/// ```
pub fn page(records: &[Shown<'_>], options: &PageOptions<'_>) -> String {
    let chosen = options.editor.map(str::to_owned).or_else(|| std::env::var(ENV_EDITOR).ok());
    let plain = |shown: &Shown<'_>| (printable(shown.label).into_owned(), shown.record.printable());
    let plain: Vec<(String, Record)> = records.iter().map(plain).collect();
    let records: Vec<Shown<'_>> = plain.iter().map(|(label, record)| Shown { label, record }).collect();
    let data = Data {
        records: records.iter().map(|shown| data::record(shown, options)).collect(),
        sources: excerpt::of(&records, options.sources),
        root: options.root,
        editor: editor(chosen.as_deref().unwrap_or_default()),
    };
    let json = json::text(&data);
    let title = records.first().map_or("drawloom", |shown| shown.record.meta.test.as_str());
    let parts = [
        ("{{title}}", html_escaped(title)),
        ("{{style}}", STYLE.to_owned()),
        ("{{data}}", embed(&json)),
        ("{{script}}", SCRIPT.concat()),
    ];
    fill(SKELETON, &parts)
}

/// All that the script is given.
struct Data<'a> {
    records: Vec<data::RecordData<'a>>,
    sources: Vec<excerpt::File<'a>>,
    root: Option<&'a str>,
    editor: Option<String>,
}

crate::json::written! {
    Data<'a> { records, sources, root, editor }
}

/// Puts each part in its place. What a part contains is never looked at, so data cannot pose as a place.
fn fill(skeleton: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::with_capacity(skeleton.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = skeleton;
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).expect("the skeleton has its places in this order");
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page + rest
}

/// JSON as it can stand in a script element: nothing in it can end the element or open a comment, and no
/// character is a line break to one reader and none to another.
fn embed(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Text as it can stand in an element or an attribute of a page.
pub fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_up_and_down() {
        let way = |from: &str, to: &str| way(Path::new(from), Path::new(to));
        assert_eq!(way("/a/target/drawloom", "/a").as_deref(), Some("../.."));
        assert_eq!(way("/a/b", "/a/c d/e").as_deref(), Some("../c d/e"));
        assert_eq!(way("/a", "/a").as_deref(), Some("."));
    }

    #[test]
    fn an_editor_is_known_by_its_name_or_its_address_and_runs_nothing() {
        assert_eq!(editor("").as_deref(), Some("vscode://file{path}:{line}:{column}"));
        assert_eq!(editor("my://{path}").as_deref(), Some("my://{path}"));
        for none in
            ["none", "emacs", "javascript:alert({path})", "JavaScript:{path}", "data:text/html,{path}", "my://x"]
        {
            assert_eq!(editor(none), None, "{none}");
        }
    }
}
