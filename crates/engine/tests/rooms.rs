//! The engine's own rules about itself: what is known of a primitive stands in its room, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use drawloom_engine::OpKind;

/// The most files beside the rooms and the one list that may name a kind: those that make such operations themselves.
const MOST_FILES: usize = 3;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The engine's files beside the rooms and the one list of kinds, without tests, each with its text.
fn others() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &mut all);
    let is_other = |path: &PathBuf| {
        let path = path.strip_prefix(&root).expect("a file of the sources");
        !path.starts_with("resource") && path != Path::new("operation.rs") && !path.ends_with("tests.rs")
    };
    all.into_iter().filter(is_other).map(|path| (path.clone(), fs::read_to_string(path).expect("a text"))).collect()
}

fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn names(text: &str, kind: OpKind) -> bool {
    let name = format!("OpKind::{kind:?}");
    let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    code(text).any(|line| line.match_indices(&name).any(|(at, _)| is_whole(&line[at + name.len()..])))
}

#[test]
fn a_kind_of_operation_is_named_in_its_room_and_in_hardly_any_other_file() {
    let others = others();
    for kind in OpKind::ALL {
        let naming: Vec<_> = others.iter().filter(|(_, text)| names(text, kind)).map(|(path, _)| path).collect();
        assert!(naming.len() <= MOST_FILES, "{kind:?} is named in {naming:#?}");
    }
}

#[test]
fn kinds_are_not_imported_one_by_one() {
    for (path, text) in others() {
        assert!(
            !code(&text).any(|line| line.contains("use OpKind::")),
            "{} hides which kinds it names",
            path.display()
        );
    }
}

#[test]
fn no_file_knows_of_threads() {
    const OF_THREADS: [&str; 6] = ["thread", "Mutex", "RwLock", "Condvar", "sync::atomic", "spin_loop"];
    let means = |line: &str, word: &str| match word {
        // Those of the programs under test are named as kinds of operations and resources.
        "Mutex" | "RwLock" | "Condvar" => line.contains("std::sync::") && line.contains(word),
        "thread" => line.contains("std::thread"),
        _ => line.contains(word),
    };
    for (path, text) in others() {
        let known: Vec<_> = OF_THREADS.iter().filter(|word| code(&text).any(|line| means(line, word))).collect();
        assert!(known.is_empty(), "{} knows of {known:?}", path.display());
    }
}
