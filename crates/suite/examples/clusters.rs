//! The table of protocols: how many executions each strategy needs to find each bug, by the median of 20 seeds.
//!
//! `cargo run -p drawloom-suite --example clusters -- --write book/src/figures/clusters.md`

use std::fmt::Write;

use drawloom_suite::clusters::{Difficulty, PROTOCOLS, Protocol};

const STRATEGIES: &[&str] = &["auto", "random", "pct(depth = 3)", "pos", "surw", "urw", "race_directed"];
const SEEDS: u64 = 20;
/// Executions after which a strategy has not found the bug.
const MOST: u64 = 10_000;

const BEGIN: &str = "<!-- written by `clusters`: begin -->\n";
const END: &str = "<!-- written by `clusters`: end -->\n";

/// Executions until the bug was found.
fn needed(protocol: &Protocol, strategy: &str, seed: u64) -> Option<u64> {
    let config = format!("{strategy}, iterations = {MOST}, seed = {seed}, shrink = false, trace = false, threads = 1");
    let found = drawloom::explore(config.parse().expect("a configuration"), protocol.buggy);
    (!found.findings().is_empty()).then(|| found.executions())
}

fn cell(mut needed: Vec<Option<u64>>) -> String {
    needed.sort_by_key(|needed| needed.unwrap_or(u64::MAX));
    let found = needed.iter().flatten().count();
    let median = needed[(needed.len() - 1) / 2].map_or("–".to_owned(), |median| median.to_string());
    match needed.last() {
        Some(Some(worst)) => format!("{median} ({worst})"),
        _ => format!("{median} ({found}/{})", needed.len()),
    }
}

fn table() -> String {
    let mut table = "| protocol | bug | faults | |".to_owned();
    for strategy in STRATEGIES {
        let _ = write!(table, " {} |", strategy.split('(').next().unwrap_or(strategy));
    }
    table += "\n|---|---|---:|---|";
    table += &"---:|".repeat(STRATEGIES.len());
    table.push('\n');
    for protocol in PROTOCOLS {
        let hard = match protocol.difficulty {
            Difficulty::Easy => "E",
            Difficulty::Medium => "M",
        };
        let _ = write!(table, "| {} | {} | {} | {hard} |", protocol.name, protocol.bug, protocol.faults);
        for strategy in STRATEGIES {
            let _ = write!(table, " {} |", cell((0..SEEDS).map(|seed| needed(protocol, strategy, seed)).collect()));
        }
        table.push('\n');
        eprintln!("{}", table.lines().last().unwrap_or_default());
    }
    table
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let table = table();
    match &arguments[..] {
        [write, path] if write == "--write" => {
            let page = std::fs::read_to_string(path)?;
            let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
            let (before, after) = parts.expect("a page with the marks of this table");
            std::fs::write(path, format!("{before}{BEGIN}\n{table}\n{END}{after}"))
        }
        _ => {
            print!("{table}");
            Ok(())
        }
    }
}
