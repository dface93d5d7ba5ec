//! The fixed twins: nothing must be found in them, whatever the strategy.

use drawloom_bench::table;
use drawloom_suite::{catalogue, explore};

use crate::table::{STRATEGIES, over_all_cores};
use crate::{Section, verdict};

/// Every fixed twin with these strategies, or all, for `executions` executions each.
pub fn measure(executions: u64, strategies: &[&str]) -> Section {
    let programs = catalogue();
    let all = STRATEGIES.map(|(_, strategy)| strategy);
    let strategies = if strategies.is_empty() { &all[..] } else { strategies };
    let found = over_all_cores(programs.len() * strategies.len(), |at| {
        let (program, strategy) = (&programs[at / strategies.len()], strategies[at % strategies.len()]);
        let explored = explore(&format!("{strategy}, iterations = {executions}"), program.body.fixed);
        let first = explored.findings().first();
        first.map(|failure| (program.body.name, strategy, failure.kind(), failure.message().to_owned()))
    });
    let rows: Vec<Vec<String>> = found
        .iter()
        .flatten()
        .map(|(name, strategy, kind, message)| {
            vec![(*name).into(), (*strategy).into(), (*kind).into(), message.clone()]
        })
        .collect();
    let what = format!(
        "fixed twins: {} programs × {} strategies × {executions} executions, {} findings",
        programs.len(),
        strategies.len(),
        rows.len()
    );
    let heading = ["program", "strategy", "finding", "message"].map(str::to_owned);
    let details = if rows.is_empty() { String::new() } else { table::render(&heading, &rows) };
    Section { text: format!("{details}{}\n", verdict(rows.is_empty(), &what)), passed: rows.is_empty() }
}
