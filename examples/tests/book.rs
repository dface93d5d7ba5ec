//! The book is complete, and its links lead somewhere. So do those of the other pages of the repository.

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use support::{all_pages, book, files, prose, root, text};

const OURS: &str = "https://github.com/drawloom/drawloom/";

/// The pages in a folder, and in those below it.
fn pages(folder: &Path) -> BTreeSet<PathBuf> {
    files(folder, "md")
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

#[test]
fn the_code_of_every_page_is_compiled() {
    let compiled = text(&root().join("examples/src/lib.rs")) + &text(&root().join("examples/build.rs"));
    for page in pages(&book()) {
        let path = page.strip_prefix(root()).expect("a page of ours").display().to_string();
        // What is ignored here needs another crate, and is tested where that is.
        let code = text(&page).lines().any(|line| line.starts_with("```rust") && line != "```rust,ignore");
        assert!(
            !code || compiled.contains(&path),
            "{path} is not among the documents of examples/src/lib.rs, nor in examples/build.rs"
        );
    }
}

#[test]
fn figures_have_their_date_and_their_command() {
    for page in pages(&book().join("figures")) {
        let said = text(&page);
        let line = said.lines().find(|line| line.starts_with('*') && line.contains(" on 20")).unwrap_or_default();
        assert!(
            line.contains("ommand"),
            "{} does not begin with the date and the command of its figures",
            page.display()
        );
    }
}
