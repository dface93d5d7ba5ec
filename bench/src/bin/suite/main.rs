//! The bug suite: how many executions each strategy needs until it has found the bug of each program, the
//! same beside shuttle's strategies, and whether the fixed twins stay silent.
//!
//! Trials have fixed seeds: everything but times is the same on every machine.

mod peers;
mod score;
mod start;
mod table;
mod twins;

use std::path::Path;
use std::process::ExitCode;

use drawloom_bench::page;

use self::peers::Comparison;

/// A part of the report, and whether all its gates were passed.
struct Section {
    text: String,
    passed: bool,
}

const USAGE: &str = "usage: suite table | peers [TRIALS [PROGRAM...]] | turns | twins [EXECUTIONS [STRATEGY...]]
       and then --write FILE, to write into a page
       suite columns STRATEGY...
       suite start EXPLORATIONS PROGRAM...";

fn main() -> ExitCode {
    // Every failing execution of a peer would print its panic; ours are caught before a hook sees them.
    std::panic::set_hook(Box::new(|_| {}));
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (command, page) = match args[..] {
        [ref command @ .., "--write", page] => (command, Some(page)),
        ref command => (command, None),
    };
    let section = match *command {
        ["table"] => table::measure(),
        ["columns", ref strategies @ ..] => table::columns(strategies),
        ["peers"] => Comparison::WHOLE.measure(),
        ["peers", trials, ref names @ ..] if trials.parse::<u64>().is_ok() => {
            Comparison { trials: trials.parse().unwrap_or_default(), names, ..Comparison::WHOLE }.measure()
        }
        ["turns"] => Comparison::measure_turns(),
        ["twins"] => twins::measure(10_000, &[]),
        ["twins", executions, ref strategies @ ..] if executions.parse::<u64>().is_ok() => {
            twins::measure(executions.parse().unwrap_or_default(), strategies)
        }
        ["start", explorations, ref names @ ..] if explorations.parse::<u64>().is_ok() => {
            start::measure(explorations.parse().unwrap_or_default(), names)
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    println!("{}", section.text);
    if let Some(path) = page {
        let part = format!("suite {}", command[0]);
        if let Err(error) = page::write_part(Path::new(path), &part, &section.text) {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    if section.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A gate in words, with its verdict before it.
fn verdict(passed: bool, what: &str) -> String {
    format!("{}  {what}", if passed { "PASS" } else { "FAIL" })
}

/// A number with as many decimals as can count.
fn rounded(number: f64) -> String {
    let decimals = usize::from(number < 99.95);
    format!("{number:.decimals$}")
}
