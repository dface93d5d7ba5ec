//! Everything that users read in Rust, the command line and the documentation is in plain English: no phrase of
//! `.ci/plain-english.txt` is in it. `python/tests/test_words.py` does the same for Python.

mod support;

use std::path::{Path, PathBuf};

use support::{INSIDE, all_pages, files, prose, root, text};

/// The phrases, with better ones.
fn phrases() -> Vec<(String, String)> {
    let list = text(&root().join(".ci/plain-english.txt"));
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(phrase, better)| (phrase.to_owned(), better.to_owned()))
        .collect()
}

/// A text without code, as lower-case words with a blank at both ends.
fn words(text: &str) -> String {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" code ");
    // What a message says there is put in later.
    let plain: Vec<&str> = plain.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect();
    let plain = plain.join(" code ");
    let words = plain.split(|c: char| !(c.is_alphanumeric() || "'’-".contains(c))).filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" ").to_lowercase())
}

/// The string literals of a source file, and the comments that document public items.
#[derive(Default)]
struct Read {
    strings: Vec<(usize, String)>,
    docs: Vec<(usize, String)>,
}

fn read(source: &str, is_root: bool) -> Read {
    let mut read = Read::default();
    let lines: Vec<&str> = source.lines().collect();
    let mut at = 0;
    while at < lines.len() && lines[at].trim() != "mod tests {" {
        let line = lines[at].trim();
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
        if let Some(mark) = mark {
            let end = (at..lines.len()).find(|i| !lines[*i].trim().starts_with(mark)).unwrap_or(lines.len());
            let code = |line: &str| line.starts_with("#[") || line.starts_with(")]");
            let item = lines[end..].iter().find(|line| !code(line.trim())).copied().unwrap_or_default();
            // The module's own text is read where the module is.
            let is_module = mark == "//!" && is_root;
            let is_variant = item.starts_with("    ") && item.trim().starts_with(char::is_uppercase);
            if is_module || item.trim().starts_with("pub ") || item.starts_with("macro_rules!") || is_variant {
                let text: Vec<&str> = lines[at..end].iter().map(|line| &line.trim()[3..]).collect();
                read.docs.push((at + 1, prose(&text.join("\n"))));
            }
            at = end;
            continue;
        }
        let mut rest = lines[at];
        if !line.starts_with("//") {
            // A string may go on in the next line: what is between two quotation marks is enough to be found.
            while let Some((_, after)) = rest.split_once('"') {
                let mut end = after.len();
                let mut escaped = false;
                for (i, c) in after.char_indices() {
                    if c == '"' && !escaped {
                        end = i;
                        break;
                    }
                    escaped = c == '\\' && !escaped;
                }
                read.strings.push((at + 1, after[..end].to_owned()));
                rest = after.get(end + 1..).unwrap_or_default();
            }
        }
        at += 1;
    }
    read
}

/// Crates whose sources print nothing that users read.
const SILENT: &[&str] = &["suite"];
/// Crates whose documentation users read.
const DOCUMENTED: &[&str] = &["drawloom", "check", "config", "sim"];

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

#[test]
#[ignore = "a matter of style: run it when you have written a page or a message, and before a release"]
fn everything_that_users_read_is_in_plain_english() {
    let phrases = phrases();
    let mut found = Vec::new();
    let mut look = |path: &Path, line: usize, text: &str| {
        let words = words(text);
        for (phrase, better) in phrases.iter().filter(|(phrase, _)| words.contains(&format!(" {phrase} "))) {
            let path = path.strip_prefix(root()).unwrap_or(path).display();
            found.push(format!("{path}:{line}: \"{phrase}\"; say: {better}"));
        }
    };
    // Those who work on the repository read the others.
    let for_users = |page: &&PathBuf| !page.starts_with(root().join("docs")) && !page.ends_with("ARCHITECTURE.md");
    for page in all_pages().iter().filter(for_users) {
        for (i, line) in prose(&text(page)).lines().enumerate() {
            look(page, i + 1, line);
        }
    }
    let sources: Vec<PathBuf> = files(&root().join("crates"), "rs").into_iter().filter(|path| !is_test(path)).collect();
    for path in sources {
        let mut parts = path.strip_prefix(root().join("crates")).expect("a source of a crate").components();
        let krate = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
        if SILENT.contains(&krate.as_str()) || parts.next().is_none_or(|part| part.as_os_str() != "src") {
            continue;
        }
        let inside = INSIDE.iter().any(|inside| path.display().to_string().contains(&format!("drawloom/src/{inside}")));
        let Read { strings, docs } = read(&text(&path), path.ends_with("lib.rs") || path.ends_with("mod.rs"));
        // Messages have three words; what has fewer is a name.
        strings
            .iter()
            .filter(|(_, text)| text.split(' ').count() > 2)
            .for_each(|(line, text)| look(&path, *line, text));
        if (DOCUMENTED.contains(&krate.as_str()) && !inside) || path.ends_with("cli/src/args.rs") {
            docs.iter().for_each(|(line, text)| look(&path, *line, text));
        }
    }
    assert!(found.is_empty(), "{} places\n{}", found.len(), found.join("\n"));
}
