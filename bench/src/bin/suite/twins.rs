//! The fixed twins: nothing must be found in them, whatever the strategy.

use drawloom_bench::table;
use drawloom_suite::{catalogue, explore};

use crate::table::{STRATEGIES, over_all_cores};
use crate::{Section, verdict};

/// Every fixed twin with every strategy, for `executions` executions each.
pub fn measure(executions: u64) -> Section {
    let programs = catalogue();
    let found = over_all_cores(programs.len() * STRATEGIES.len(), |at| {
        let (program, (_, strategy)) = (&programs[at / STRATEGIES.len()], STRATEGIES[at % STRATEGIES.len()]);
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
        STRATEGIES.len(),
        rows.len()
    );
    let heading = ["program", "strategy", "finding", "message"].map(str::to_owned);
    let details = if rows.is_empty() { String::new() } else { table::render(&heading, &rows) };
    Section { text: format!("{details}{}\n", verdict(rows.is_empty(), &what)), passed: rows.is_empty() }
}
