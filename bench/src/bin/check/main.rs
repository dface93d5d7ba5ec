//! Checkers of histories: the gates, as CPU time of the check alone, beside what Porcupine took for the same
//! histories and what other Rust checkers take in the same run.
//!
//!     cargo run --release --bin check [--write ../book/src/reference/checkers.md] [recorded | stress | long | small | peers]
//!
//! Peers need `--features check-peers`.

use std::path::Path;
use std::process::ExitCode;

use drawloom_bench::measure::CountingAllocator;
use drawloom_bench::page;

mod generator;
mod long;
mod peers;
mod recorded;
mod section;
mod small;
mod stress;

use section::Section;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const SECTIONS: [(&str, fn() -> Section); 5] = [
    ("recorded", recorded::measure),
    ("stress", stress::measure),
    ("long", long::measure),
    ("small", small::measure),
    ("peers", peers::measure),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let known = |name: &str| SECTIONS.iter().any(|(known, _)| *known == name);
    let (only, target) = match args[..] {
        [] => (None, None),
        ["--write", path] => (None, Some(path)),
        ["--write", path, name] if known(name) => (Some(name), Some(path)),
        ["--peer", peer, file] => return peers::check_one(peer, Path::new(file)),
        [name] if known(name) => (Some(name), None),
        _ => {
            eprintln!("usage: check [--write FILE] [recorded | stress | long | small | peers]");
            return ExitCode::from(2);
        }
    };
    let mut passed = true;
    for (name, measure) in SECTIONS.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        let section = measure();
        println!("{}", section.text());
        passed &= section.passed();
        let written = target.map(|path| page::write_part(Path::new(path), &format!("check {name}"), &section.text()));
        if let Some(Err(error)) = written {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
