//! `drawloom check`: what it says of files.
//!
//! `verdicts` and `pages` are what users see. The rest are edges: huge numbers, nested values, initial values, nulls, lines
//! that are nobody's. Every file there once got a wrong verdict, or none.

mod files;
mod initial;
mod leaks;
mod pages;
mod values;
mod verdicts;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use drawloom_cli::check::{Answer, Options, check};

static FILES: AtomicU32 = AtomicU32::new(0);

/// What the command says of a file with this content. The ending of the name is all that matters of it.
pub fn said(name: &str, content: impl AsRef<[u8]>, model: Option<&str>, level: Option<&str>) -> Result<Answer, String> {
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path: PathBuf = std::env::temp_dir().join(format!("drawloom-edges-{}-{number}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    let owned = |name: Option<&str>| name.map(str::to_owned);
    let options = Options { file: path.clone(), model: owned(model), consistency: owned(level), ..Options::default() };
    let answer = check(&options).map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"));
    std::fs::remove_file(path).unwrap();
    answer
}

/// The verdict on operations, one after the other in one process, in JSON lines: pairs of a name and a value.
pub fn json(model: &str, operations: &[(&str, &str)]) -> String {
    let mut file = String::new();
    for (f, value) in operations {
        for kind in ["invoke", "ok"] {
            file += &format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n");
        }
    }
    word(said("a.jsonl", file, Some(model), None))
}

/// The same in EDN.
pub fn edn(model: &str, operations: &[(&str, &str)]) -> String {
    let mut file = String::new();
    for (f, value) in operations {
        for kind in ["invoke", "ok"] {
            file += &format!("{{:process 0, :type :{kind}, :f :{f}, :value {value}}}\n");
        }
    }
    word(said("a.edn", file, Some(model), None))
}

/// The verdict as a word, or the error.
pub fn word(answer: Result<Answer, String>) -> String {
    answer.map_or_else(|error| error, |answer| answer.json["verdict"].as_str().unwrap_or("?").to_owned())
}
