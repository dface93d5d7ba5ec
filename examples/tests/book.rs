//! The book is complete, and its links lead somewhere. So do those of the other pages of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const OURS: &str = "https://github.com/drawloom/drawloom/";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages in a folder, and in those below it.
fn pages(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => pages(&path),
            Some(ext) if ext == "md" => BTreeSet::from([path]),
            _ => BTreeSet::new(),
        })
        .collect()
}

fn book() -> PathBuf {
    root().join("book/src")
}

/// All pages that people read: the book, those at the root, and those for contributors.
fn all_pages() -> BTreeSet<PathBuf> {
    let top = fs::read_dir(root()).expect("the root").map(|entry| entry.expect("an entry").path());
    let top = top.filter(|path| path.extension().is_some_and(|ext| ext == "md"));
    let folders = ["book/src", "docs", "bench", ".github"].map(|folder| root().join(folder));
    let below = folders.iter().flat_map(|folder| if folder.ends_with("bench") { bench() } else { pages(folder) });
    top.chain(below).collect()
}

/// Not its target folder.
fn bench() -> BTreeSet<PathBuf> {
    BTreeSet::from([root().join("bench/README.md")])
}

/// The page without blocks of code and without code in lines.
fn prose(page: &str) -> String {
    let mut fence = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fence ^= is_fence;
        !fence && !is_fence && !line.starts_with("    ")
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// The targets of links and pictures.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let rest = prose.split("](").skip(1);
    rest.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// What can stand behind `#`: headings as mdBook and GitHub name them, and explicit anchors.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut fence = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        fence ^= line.trim_start().starts_with("```");
        if !fence && line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
        found.extend(line.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    }
    found
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = links(&text(&book().join("SUMMARY.md")));
    let listed: BTreeSet<PathBuf> = summary.iter().map(|target| book().join(target)).collect();
    let mut there = pages(&book());
    there.remove(&book().join("SUMMARY.md"));
    assert_eq!(listed, there);
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in all_pages() {
        for link in links(&text(&page)) {
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if let Some(ours) = target.strip_prefix(OURS) {
                // `blob/main/…`, `tree/main/…`; a page of GitHub's own is not looked at.
                match ours.splitn(3, '/').collect::<Vec<_>>()[..] {
                    ["blob" | "tree", "main", path] => root().join(path),
                    _ => continue,
                }
            } else if target.contains("://") {
                continue;
            } else if target.is_empty() {
                page.clone()
            } else {
                page.parent().expect("a folder").join(target)
            };
            let leaves_the_book = page.starts_with(book()) && !target.contains("://") && {
                path.canonicalize().is_ok_and(|path| !path.starts_with(book().canonicalize().expect("the book")))
            };
            let lost = !anchor.is_empty() && path.is_file() && !anchors(&text(&path)).contains(anchor);
            if !path.exists() || lost || leaves_the_book {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn packages_are_named_and_not_linked() {
    let hosts = ["crates.io", "docs.rs", "pypi.org", "npmjs.com", "hex.pm"];
    for page in all_pages() {
        let text = text(&page);
        let found = hosts.iter().find(|host| text.contains(&format!("://{host}")));
        assert_eq!(found, None, "{}", page.display());
    }
}

/// Phrases that readers have stumbled over, with what the pages say instead.
const PLAIN: &[(&str, &str)] = &[
    ("told apart", "distinguished"),
    ("unasked", "spuriously"),
    ("came to", "the result"),
    ("comes to", "the result"),
    ("in vain", "without effect"),
    ("bring about", "an event that no running task can produce"),
    ("by turns", "alternately"),
    ("begins anew", "starts again"),
    ("goes on", "continues"),
    ("is none", "is not one"),
];

#[test]
#[ignore = "a matter of style: run it when you have written a page, and before a release"]
fn the_book_is_in_plain_english() {
    let mut found = Vec::new();
    for page in pages(&book()) {
        let prose = prose(&text(&page)).split_whitespace().collect::<Vec<_>>().join(" ");
        for (phrase, instead) in PLAIN.iter().filter(|(phrase, _)| prose.contains(&format!(" {phrase} "))) {
            found.push(format!("{}: \"{phrase}\"; say: {instead}", page.display()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
