//! What an exploration costs beside its executions: the CPU time of many short ones.
//!
//! Made to be run under a profiler, too: nobody but drawloom runs.

use drawloom_bench::measure::cpu_time;
use drawloom_bench::table;
use drawloom_suite::{Trials, catalogue, configuration, first_bug};

use crate::{Section, rounded};

/// Executions after which a trial is given up.
const CUT: u64 = 1_000;

/// The programs of these names, each explored `explorations` times by `auto`.
pub fn measure(explorations: u64, names: &[&str]) -> Section {
    let heading = ["program", "executions", "µs for each exploration"].map(str::to_owned);
    let mut rows = Vec::new();
    for program in catalogue().iter().filter(|program| names.contains(&program.body.name)) {
        let configurations: Vec<_> =
            (0..explorations).map(|trial| configuration(&program.body, "auto", trial, CUT)).collect();
        let mut trials = Trials::default();
        let (time, ()) = cpu_time(|| {
            configurations.into_iter().for_each(|config| trials.add(first_bug(&program.body, config), CUT));
        });
        let count = explorations.max(1) as f64;
        let means = [trials.executions as f64 / count, time.as_secs_f64() * 1e6 / count];
        rows.push([program.body.name.to_owned()].into_iter().chain(means.map(rounded)).collect());
    }
    Section { text: table::render(&heading, &rows), passed: !rows.is_empty() }
}
