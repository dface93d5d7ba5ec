//! What ARCHITECTURE.md says of the house is true of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The arrows of the picture: of each crate, those of ours that it depends on.
const ARROWS: &[(&str, &[&str])] = &[
    ("analyze", &["report", "syntax"]),
    ("capi", &["engine", "explore", "fiber", "report"]),
    ("check", &[]),
    ("cli", &["analyze", "check", "engine", "report"]),
    ("config", &[]),
    ("drawloom", &["check", "engine", "explore", "fiber", "macros", "report", "sim"]),
    ("engine", &["config"]),
    ("explore", &["engine", "report"]),
    ("fiber", &["engine"]),
    ("gates", &["engine", "explore"]),
    ("macros", &["config"]),
    ("pluto", &["capi", "explore", "report"]),
    ("posix", &["capi"]),
    ("preload", &[]),
    ("python", &["engine", "explore", "gates", "report"]),
    ("report", &["engine"]),
    ("sim", &[]),
    ("suite", &["drawloom"]),
    ("syntax", &[]),
    ("tokio", &["drawloom"]),
];

/// Those of our crates that a manifest names among its dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let table = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = table.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| name.starts_with("drawloom"));
    let names = names.map(|name| name.strip_prefix("drawloom-").unwrap_or(name).to_owned());
    // The macros of a crate are a part of it.
    names.filter(|name| name != "tokio-macros").collect()
}

#[test]
fn the_arrows_of_the_picture_are_all_there_are() {
    let told: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let folder = entry.expect("a crate").path();
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let found = dependencies(&text(folder.join("Cargo.toml")));
        let told = told.get(name.as_str()).unwrap_or_else(|| panic!("crates/{name} is not in the picture"));
        assert_eq!(found, *told, "what crates/{name} depends on");
    }
}

#[test]
fn what_a_test_links_does_not_decide_what_its_own_lines_mean() {
    // It lets every number be compared to its own value, and the type of an empty `vec![]` is ambiguous then.
    for name in ["config", "engine", "fiber", "report", "explore", "macros", "drawloom", "tokio"] {
        let manifest = text(format!("crates/{name}/Cargo.toml"));
        let table = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
        let lines = table.take_while(|line| !line.starts_with('['));
        for line in lines.filter(|line| line.starts_with("serde_json")) {
            assert!(line.contains("optional = true"), "crates/{name}: {line}");
        }
    }
}

#[test]
fn it_is_short_enough_to_be_read_to_the_end() {
    assert!(text("ARCHITECTURE.md").lines().count() <= 250);
}

/// Whether a file or folder of that name, told from a crate or its sources on, exists.
fn exists(told: &str) -> bool {
    let crates = fs::read_dir(root().join("crates")).expect("the crates").map(|entry| entry.expect("a crate").path());
    let told = told.trim_end_matches('/');
    let in_crate = |folder: PathBuf| folder.join(told).exists() || folder.join("src").join(told).exists();
    root().join(told).exists() || root().join("crates").join(told).exists() || crates.into_iter().any(in_crate)
}

#[test]
fn the_files_that_it_names_are_there() {
    let inside = fs::read_dir(root().join("docs/inside")).expect("pages").map(|entry| entry.expect("a page").path());
    for page in inside.chain([root().join("ARCHITECTURE.md")]) {
        let page_text = text(&page);
        let named = page_text.split('`').skip(1).step_by(2);
        let is_file = |name: &&str| {
            (name.ends_with(".rs") || name.ends_with('/')) && !name.contains(['<', '…', ' ', '*']) && name.len() > 1
        };
        let missing: Vec<&str> = named.filter(is_file).filter(|name| !exists(name) && !anywhere(name)).collect();
        assert!(missing.is_empty(), "{} names {missing:?}", page.display());
    }
}

/// Whether a file of that name lies in any folder of our sources.
fn anywhere(told: &str) -> bool {
    fn search(folder: &Path, told: &str) -> bool {
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()).any(|path| {
            let is_it = path.to_str().is_some_and(|path| path.ends_with(&format!("/{}", told.trim_end_matches('/'))));
            is_it || path.is_dir() && search(&path, told)
        })
    }
    search(&root().join("crates"), told)
}
