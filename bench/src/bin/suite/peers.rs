//! drawloom's default beside shuttle's strategies, on the same text: schedules and CPU time to the first bug.
//!
//! The contestants take turns, trial by trial, in one process and on one thread.

use std::time::Duration;

use drawloom_bench::measure::{Silenced, cpu_time};
use drawloom_bench::suite_on_shuttle::{self, Strategy};
use drawloom_bench::table;
use drawloom_suite::{Bug, Trials, catalogue, configuration, first_bug, geometric_mean};

use crate::table::effort;
use crate::{Section, rounded, verdict};

const OURS: &str = "auto";
const THEIRS: [(&str, Strategy); 3] =
    [("random", Strategy::Random), ("PCT 3", Strategy::Pct(3)), ("URW", Strategy::Urw)];

/// Share of programs on which ours must be ahead of the best of theirs.
const AHEAD_AT_LEAST: f64 = 0.8;
/// Their best CPU time over ours, in the geometric mean.
const TIMES_FASTER: f64 = 5.0;
/// Trials; each is one exploration.
const TRIALS_AT_MOST: u64 = 100;
/// Executions after which a trial is given up.
const CUT_AT_MOST: u64 = 1_000;

/// What a contestant came to on a program.
#[derive(Default)]
struct Score {
    trials: Trials,
    time: Duration,
}

impl Score {
    fn take_turn(&mut self, cut: u64, turn: impl FnOnce() -> Option<u64>) {
        let (time, found) = cpu_time(turn);
        self.time += time;
        self.trials.add(found, cut);
    }

    /// Executions for each bug found; all of them if there was none.
    fn schedules(&self) -> f64 {
        self.trials.mean().unwrap_or(self.trials.executions as f64)
    }

    /// CPU time in microseconds for each bug found.
    fn micros(&self) -> f64 {
        self.time.as_secs_f64() * 1e6 / self.trials.found.max(1) as f64
    }

    fn show(&self) -> [String; 2] {
        let never = if self.trials.found == 0 { "> " } else { "" };
        [format!("{never}{}", rounded(self.schedules())), format!("{never}{}", rounded(self.micros()))]
    }
}

/// All programs that can fail or not.
pub fn measure() -> Section {
    // shuttle says on stderr what it finds, and cannot be told not to: nobody reads it, so that it costs little.
    let stderr = Silenced::begin();
    let section = compare();
    drop(stderr);
    section
}

fn compare() -> Section {
    let mut heading = vec!["program".to_owned()];
    for (name, _) in [(OURS, Strategy::Random)].iter().chain(&THEIRS) {
        heading.extend([(*name).to_owned(), "µs".to_owned()]);
    }
    heading.extend(["schedules ×".to_owned(), "CPU time ×".to_owned()]);
    // shuttle's panic hook prints. The later hook is asked first: were it shuttle's, it would print ours, too.
    let smoke = suite_on_shuttle::program("arithmetic_prog").expect("the same text");
    suite_on_shuttle::schedules_to_first_bug(smoke, Strategy::Random, 0, 1);
    let mut rows = Vec::new();
    let mut ratios: Vec<(f64, f64)> = Vec::new();
    let mut theirs_best: Vec<f64> = Vec::new();
    for program in catalogue().iter().filter(|program| program.bug != Bug::Always && program.body.name != "safe_stack")
    {
        let (trials, cut) = effort(program);
        let (trials, cut) = (trials.min(TRIALS_AT_MOST), cut.min(CUT_AT_MOST));
        let theirs = suite_on_shuttle::program(program.body.name).expect("the same text");
        let mut our_score = Score::default();
        let mut scores = THEIRS.map(|_| Score::default());
        for trial in 0..=trials {
            // The first is not counted: whatever is done once in a process has been done by then.
            if trial == 1 {
                our_score = Score::default();
                scores = THEIRS.map(|_| Score::default());
            }
            let config = configuration(&program.body, OURS, trial, cut);
            our_score.take_turn(cut, || first_bug(&program.body, config));
            for ((_, strategy), score) in THEIRS.iter().zip(&mut scores) {
                score.take_turn(cut, || suite_on_shuttle::schedules_to_first_bug(theirs, *strategy, trial, cut));
            }
        }
        let best = |of: fn(&Score) -> f64| scores.iter().map(of).fold(f64::INFINITY, f64::min);
        let ratio = (best(Score::schedules) / our_score.schedules(), best(Score::micros) / our_score.micros());
        ratios.push(ratio);
        theirs_best.push(best(Score::micros));
        let mut row = vec![program.body.name.to_owned()];
        row.extend([&our_score].into_iter().chain(&scores).flat_map(Score::show));
        row.extend([rounded(ratio.0), rounded(ratio.1)]);
        rows.push(row);
    }
    let panic = panic_alone();
    let bound = geometric_mean(theirs_best.iter().map(|micros| micros / panic));
    let count = ratios.len() as f64;
    let share = |of: fn(&(f64, f64)) -> f64| ratios.iter().filter(|r| of(r) > 1.0).count() as f64 / count;
    let mean = |of: fn(&(f64, f64)) -> f64| geometric_mean(ratios.iter().map(of));
    let (in_schedules, in_time) = (share(|r| r.0), share(|r| r.1));
    let (schedules, time) = (mean(|r| r.0), mean(|r| r.1));
    let gates = [
        (
            in_schedules.min(in_time) >= AHEAD_AT_LEAST,
            format!(
                "ahead of the best of shuttle's on {:.0} % of {count} programs by CPU time, on {:.0} % by schedules (gate: ≥ {:.0} %)",
                in_time * 100.0,
                in_schedules * 100.0,
                AHEAD_AT_LEAST * 100.0
            ),
        ),
        (
            time >= TIMES_FASTER,
            format!(
                "best of shuttle's over ours, geometric mean: {time:.1} × CPU time (gate: ≥ {TIMES_FASTER} ×), {schedules:.2} × schedules"
            ),
        ),
    ];
    let lines: Vec<String> = gates.iter().map(|(passed, what)| verdict(*passed, what)).collect();
    let floor = format!(
        "A failed assertion alone, caught at once, takes {panic:.1} µs here. An exploration that cost no more than \
         that would be {bound:.1} × ahead."
    );
    Section {
        text: format!("{}\n{}\n\n{floor}\n", table::render(&heading, &rows), lines.join("  \n")),
        passed: gates.iter().all(|(passed, _)| *passed),
    }
}

/// CPU time in microseconds of a failed assertion that is caught at once: what finding a bug takes at least, on
/// both sides. An exploration comes before each, as before every trial.
fn panic_alone() -> f64 {
    const TIMES: u64 = 300;
    let smoke = suite_on_shuttle::program("arithmetic_prog").expect("the same text");
    let mut time = Duration::ZERO;
    for trial in 0..TIMES {
        suite_on_shuttle::schedules_to_first_bug(smoke, Strategy::Random, trial, 1);
        let fail = || assert_eq!(std::hint::black_box(1), 2, "an update was lost");
        time += cpu_time(|| std::panic::catch_unwind(fail).is_err()).0;
    }
    time.as_secs_f64() * 1e6 / TIMES as f64
}
