//! A language is a table: no other file knows one by its name.

use std::fs;
use std::path::{Path, PathBuf};

use drawloom_report::{ReadError, Record};

use crate::screens::panic;

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

/// A text without its tests, which end a file.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn no_file_beside_the_tables_names_a_language() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &mut all);
    let others: Vec<_> = all.iter().filter(|path| !path.starts_with(root.join("language"))).collect();
    assert!(others.len() > 50 && others.len() < all.len(), "the sources are looked for in the wrong place");
    let words = |line: &str| line.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect::<Vec<_>>();
    let names = |line: &&str| words(line).iter().any(|word| word == "python" || word == "rust");
    for path in others {
        let text = fs::read_to_string(path).expect("a source file");
        let naming: Vec<&str> = code(&text).lines().filter(names).collect();
        assert!(naming.is_empty(), "{} names a language: {naming:#?}", path.display());
    }
}

#[test]
fn a_trace_file_in_an_unknown_language_is_refused_in_plain_words() {
    let mut file: serde_json::Value = serde_json::from_str(&panic().write()).expect("JSON");
    file["meta"]["language"] = "cobol\u{1b}[2J".into();
    let error = Record::read(&file.to_string()).expect_err("nobody knows it");
    assert!(matches!(error, ReadError::Language { .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("of a program in `cobol") && said.contains("knows rust, python"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
    file["meta"]["language"] = 3.into();
    assert!(matches!(Record::read(&file.to_string()), Err(ReadError::Damaged(_))));
}
