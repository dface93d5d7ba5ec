//! The tests that README and book show, as tests that run: each block of Rust with a `#[drawloom::test]` becomes a module of
//! `tests/pages.rs`. A block that begins with `rust,fails` shows a bug, so its test has to fail. Of pages that have blocks in other
//! languages, which the documentation tests of `src/lib.rs` would take for Rust, all blocks of Rust become tests.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// From the root of the repository.
const PAGES: &[&str] = &[
    "README.md",
    "book/src/explanation/exhaustive.md",
    "book/src/how-to/agents.md",
    "book/src/how-to/distributed.md",
    "book/src/how-to/from-elixir.md",
    "book/src/how-to/from-loom.md",
    "book/src/how-to/from-shuttle.md",
    "book/src/how-to/from-turmoil-and-madsim.md",
    "book/src/how-to/writing-tests.md",
    "book/src/tutorials/actors.md",
    "book/src/tutorials/clusters.md",
    "book/src/tutorials/first-bug.md",
];

/// Of these, every block.
const MIXED: &[&str] = &["book/src/reference/checkers.md", "book/src/reference/viewer.md"];

fn main() {
    let mut out = String::new();
    for page in PAGES.iter().chain(MIXED) {
        let path = Path::new("..").join(page);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name: String =
            page.trim_end_matches(".md").chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        for (number, block) in text.split("\n```rust").skip(1).enumerate() {
            let (form, rest) = block.split_once('\n').expect("a block of code has lines");
            let code = rest.split("\n```").next().unwrap_or(rest);
            let is_test = code.contains("#[drawloom::test");
            if form == ",ignore" || (!is_test && !MIXED.contains(page)) {
                continue;
            }
            let mut code = as_tests(code, form == ",fails");
            if !is_test {
                let attribute = if form == ",no_run" { "" } else { "#[test]\n" };
                code = format!("{attribute}fn block() -> Result<(), Box<dyn std::error::Error>> {{\n{code}\n}}");
            }
            let _ = writeln!(out, "mod {}_{number} {{\n{code}\n}}", name.to_lowercase());
        }
    }
    let folder = env::var_os("OUT_DIR").expect("cargo names a folder");
    fs::write(Path::new(&folder).join("pages.rs"), out).expect("the folder can be written to");
}

/// Without the marks of hidden lines; a test leaves no files behind.
fn as_tests(code: &str, fails: bool) -> String {
    let lines = code.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let attribute = if fails { "#[should_panic(expected = \"replay: \")]\n" } else { "" };
    let quiet = "regressions = false, trace = false";
    let lines = lines.map(|line| match line.strip_prefix("#[drawloom::test") {
        Some("]") => format!("{attribute}#[drawloom::test({quiet})]"),
        Some(rest) => {
            let arguments = rest.trim_start_matches('(').trim_end_matches(']');
            let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
            format!("{attribute}#[drawloom::test({arguments}, {quiet})]")
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
