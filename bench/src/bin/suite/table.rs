//! Every program with every strategy.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use drawloom_bench::table;
use drawloom_suite::{Bug, Program, Trials, catalogue, geometric_mean, schedules_to_first_bug};

use crate::{Section, rounded, verdict};

/// Strategies with the heads of their columns.
pub const STRATEGIES: [(&str, &str); 13] = [
    ("random", "random"),
    ("sticky", "sticky"),
    ("delay bounded", "delay_bounded"),
    ("pct 3", "pct(depth = 3)"),
    ("pct 10", "pct(depth = 10)"),
    ("idpct", "idpct"),
    ("fair pct", "fair_pct"),
    ("pos", "pos"),
    ("urw", "urw"),
    ("surw", "surw"),
    ("race directed", "race_directed"),
    ("corpus", "corpus"),
    ("auto", "auto"),
];

const SURW_AT_MOST: f64 = 5.5;
const AUTO_AT_MOST: f64 = 8.0;
const WORST_AT_MOST: f64 = 120.0;

/// Trials of a program, and executions after which each is given up.
pub fn effort(program: &Program) -> (u64, u64) {
    match program.body.name {
        "reorder_50" | "reorder_100" | "twostage_50" | "twostage_100" => (5, 1_000),
        "reorder_10" | "reorder_20" | "twostage_20" => (20, 3_000),
        "needle" | "pct_label" | "stale_read" => (60, 10_000),
        "safe_stack" => (2, 10_000),
        _ => (200, 10_000),
    }
}

/// Whether enough trials can be made of a program for a mean over programs: not of the largest ones.
fn is_sampled_well(program: &Program) -> bool {
    effort(program).0 >= 20
}

/// All cells, with the geometric means and the gates below them.
pub fn measure() -> Section {
    let programs: Vec<&Program> = catalogue().iter().filter(|program| program.bug != Bug::Always).collect();
    let cells: Vec<(usize, usize)> =
        (0..programs.len()).flat_map(|program| (0..STRATEGIES.len()).map(move |column| (program, column))).collect();
    let results = over_all_cores(cells.len(), |at| {
        let (program, column) = cells[at];
        trials(programs[program], STRATEGIES[column].1)
    });
    let cell = |program: usize, column: usize| &results[program * STRATEGIES.len() + column];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        let mut row = vec![program.body.name.to_owned(), program.tasks.to_string()];
        row.extend((0..STRATEGIES.len()).map(|column| show(cell(at, column))));
        rows.push(row);
    }
    let mean_of = |column: usize, counts: fn(&Program) -> bool| {
        let counted = (0..programs.len()).filter(|at| counts(programs[*at]));
        geometric_mean(counted.map(|at| at_least(cell(at, column))))
    };
    let mut means = vec!["geometric mean".to_owned(), String::new()];
    means.extend((0..STRATEGIES.len()).map(|column| rounded(mean_of(column, is_sampled_well))));
    rows.push(means);
    let heading: Vec<String> =
        ["program", "tasks"].into_iter().chain(STRATEGIES.map(|(head, _)| head)).map(str::to_owned).collect();
    let column = |name: &str| STRATEGIES.iter().position(|(head, _)| *head == name).expect("a column");
    let (surw, auto) = (mean_of(column("surw"), is_sampled_well), mean_of(column("auto"), is_sampled_well));
    let worst = (0..programs.len())
        .filter(|at| is_sampled_well(programs[*at]))
        .map(|at| (at_least(cell(at, column("auto"))), programs[at].body.name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there are programs");
    let gates = [
        (surw <= SURW_AT_MOST, format!("geometric mean of `surw`: {surw:.2} (gate: ≤ {SURW_AT_MOST})")),
        (auto <= AUTO_AT_MOST, format!("geometric mean of `auto`: {auto:.2} (gate: ≤ {AUTO_AT_MOST})")),
        (worst.0 <= WORST_AT_MOST, format!("worst of `auto`: {:.0}, {} (gate: ≤ {WORST_AT_MOST})", worst.0, worst.1)),
    ];
    let lines: Vec<String> = gates.iter().map(|(passed, what)| verdict(*passed, what)).collect();
    Section {
        text: format!("{}\n{}\n", table::render(&heading, &rows), lines.join("  \n")),
        passed: gates.iter().all(|(passed, _)| *passed),
    }
}

/// Some columns of the table alone, for who has changed these strategies: no gates.
pub fn columns(strategies: &[&str]) -> Section {
    let programs: Vec<&Program> = catalogue().iter().filter(|program| program.bug != Bug::Always).collect();
    let results = over_all_cores(programs.len() * strategies.len(), |at| {
        trials(programs[at / strategies.len()], strategies[at % strategies.len()])
    });
    let cells = || programs.iter().zip(results.chunks(strategies.len().max(1)));
    let row = |(program, cells): (&&Program, &[Trials])| {
        [program.body.name.to_owned()].into_iter().chain(cells.iter().map(show)).collect()
    };
    let mut rows: Vec<Vec<String>> = cells().map(row).collect();
    let counted = || cells().filter(|(program, _)| is_sampled_well(program));
    let mean_of = |column: usize| geometric_mean(counted().map(|(_, cells)| at_least(&cells[column])));
    let means = (0..strategies.len()).map(|column| format!("{:.2}", mean_of(column)));
    rows.push(["geometric mean".to_owned()].into_iter().chain(means).collect());
    let heading: Vec<String> = ["program"].iter().chain(strategies).map(|head| (*head).to_owned()).collect();
    Section { text: table::render(&heading, &rows), passed: true }
}

fn trials(program: &Program, strategy: &str) -> Trials {
    let (count, cut) = effort(program);
    let mut trials = Trials::default();
    for trial in 0..count {
        trials.add(schedules_to_first_bug(&program.body, strategy, trial, cut), cut);
    }
    trials
}

/// The mean; where the bug was never found, all executions that were tried.
fn at_least(trials: &Trials) -> f64 {
    trials.mean().unwrap_or(trials.executions as f64)
}

fn show(trials: &Trials) -> String {
    match trials.mean() {
        None => "–".to_owned(),
        Some(mean) if trials.found == trials.trials => rounded(mean),
        Some(mean) => format!("{} ({}/{})", rounded(mean), trials.found, trials.trials),
    }
}

/// The results of `count` pieces of work, in order.
pub fn over_all_cores<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let result = work(at);
                    results.lock().expect("no worker panics").push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panics");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
