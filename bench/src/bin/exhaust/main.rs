//! Exhaustive exploration side by side: executions and CPU time until everything has been explored, the
//! programs of the literature, what an execution costs, what a second worker brings, and the largest
//! programs.
//!
//! As in `compare`, everybody takes turns in one process, and only ratios of one run count.

use std::path::Path;
use std::process::ExitCode;

use drawloom_bench::page;

use self::report::Section;

mod report;
mod sections;
mod turns;

const SECTIONS: [(&str, fn() -> Section); 5] = [
    ("peers", sections::side_by_side),
    ("classes", sections::classes),
    ("cost", sections::cost),
    ("workers", sections::speed_up),
    ("big", sections::big),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (only, target) = match args[..] {
        [] => (None, None),
        ["--write", path] => (None, Some(path)),
        ["--write", path, name] if is_section(name) => (Some(name), Some(path)),
        ["--case", name] => return sections::explore_case(name),
        ["--big", number] => return sections::explore_big(number),
        ["--peer", peer, name, cap] => return sections::explore_beside(peer, name, cap),
        [name] if is_section(name) => (Some(name), None),
        _ => {
            eprintln!("usage: exhaust [--write FILE] [peers | classes | cost | workers | big]");
            return ExitCode::from(2);
        }
    };
    let mut passed = true;
    for (name, measure) in SECTIONS.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        let section = measure();
        println!("{}", section.text);
        passed &= section.passed;
        if let Some(Err(error)) =
            target.map(|path| page::write_part(Path::new(path), &format!("exhaust {name}"), &section.text))
        {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|(known, _)| *known == name)
}
