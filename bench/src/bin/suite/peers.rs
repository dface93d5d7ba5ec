//! drawloom's default beside shuttle's strategies, on the same text: schedules and CPU time to the first bug.
//!
//! The contestants take turns in one process and on one thread: stretches of many trials each, as if the others were not
//! there; or, to see what that is worth, trial by trial, where each finds the caches full of what the others have left.

use std::time::Duration;

use drawloom_bench::measure::{Silenced, cpu_time};
use drawloom_bench::suite_on_shuttle::{self, Strategy};
use drawloom_bench::table;
use drawloom_suite::{Bug, Program, catalogue, configuration, first_bug, geometric_mean};

use crate::score::{Measure, Score, watch_panics};
use crate::table::effort;
use crate::{Section, verdict};

const OURS: &str = "auto";
const THEIRS: [(&str, Strategy); 3] =
    [("random", Strategy::Random), ("PCT 3", Strategy::Pct(3)), ("URW", Strategy::Urw)];
const MEASURES: [Measure; 3] = [Measure::Schedules, Measure::Whole, Measure::ToBug];

/// Share of programs on which ours must be ahead of theirs.
const AHEAD_AT_LEAST: f64 = 0.8;
/// Their CPU time to the first bug over ours, in the geometric mean.
const TIMES_FASTER: f64 = 5.0;
/// Trials of all but the large programs; each is one exploration.
const TRIALS: u64 = 1_000;
/// Executions after which a trial is given up.
const CUT_AT_MOST: u64 = 1_000;

/// Trials that a contestant makes in a row: many, since the first of them finds the caches full of what others have left.
const STRETCH: u64 = 250;

/// What is to be measured.
pub struct Comparison<'a> {
    /// Trials of all but the large programs, which have fewer.
    pub trials: u64,
    /// Of these programs; of all that can fail or not, if there are none.
    pub names: &'a [&'a str],
    /// Trials that a contestant makes in a row.
    pub stretch: u64,
}

impl Comparison<'_> {
    /// All programs, as the page has them.
    pub const WHOLE: Self = Comparison { trials: TRIALS, names: &[], stretch: STRETCH };

    /// All of it, with the gates.
    pub fn measure(&self) -> Section {
        // shuttle says on stderr what it finds, and cannot be told not to: nobody reads it, so that it costs little.
        let stderr = Silenced::begin();
        let section = self.compare();
        drop(stderr);
        section
    }

    /// All programs once more, the contestants taking turns after every trial; only what it comes to in the mean.
    pub fn measure_turns() -> Section {
        let stderr = Silenced::begin();
        let all = Comparison { stretch: 1, ..Comparison::WHOLE }.scores();
        drop(stderr);
        Section { text: readings(&all).0, passed: true }
    }
}

/// What everybody came to on a program.
struct Scores {
    name: &'static str,
    ours: Score,
    theirs: [Score; THEIRS.len()],
}

impl Scores {
    fn of(program: &Program, comparison: &Comparison<'_>) -> Scores {
        let (trials, cut) = effort(program);
        let trials = if trials < 100 { trials.min(comparison.trials) } else { comparison.trials };
        let cut = cut.min(CUT_AT_MOST);
        let theirs = suite_on_shuttle::program(program.body.name).expect("the same text");
        let begin =
            || Scores { name: program.body.name, ours: Score::default(), theirs: THEIRS.map(|_| Score::default()) };
        let mut scores = begin();
        let mut next = 0;
        while next <= trials {
            // The first is not counted: whatever is done once in a process has been done by then.
            if next == 1 {
                scores = begin();
            }
            let length = if next == 0 { 1 } else { comparison.stretch };
            let turn = next..(next + length).min(trials + 1);
            next = turn.end;
            for trial in turn.clone() {
                let config = configuration(&program.body, OURS, trial, cut);
                scores.ours.take_turn(cut, || first_bug(&program.body, config));
            }
            for ((_, strategy), score) in THEIRS.iter().zip(&mut scores.theirs) {
                for trial in turn.clone() {
                    score.take_turn(cut, || suite_on_shuttle::schedules_to_first_bug(theirs, *strategy, trial, cut));
                }
            }
        }
        scores
    }

    /// The best of theirs over ours.
    fn best_over_ours(&self, measure: Measure) -> f64 {
        (0..THEIRS.len()).map(|at| self.over_ours(at, measure)).fold(f64::INFINITY, f64::min)
    }

    /// One of theirs over ours.
    fn over_ours(&self, at: usize, measure: Measure) -> f64 {
        // Where ours does not panic, its clock runs to the end; so then does theirs.
        let measure = if measure == Measure::ToBug && !self.ours.panics() { Measure::Whole } else { measure };
        self.theirs[at].of(measure) / self.ours.of(measure)
    }

    fn row(&self) -> Vec<String> {
        let mut row = vec![self.name.to_owned()];
        for score in [&self.ours].into_iter().chain(&self.theirs) {
            let never = if score.trials.found == 0 { "> " } else { "" };
            row.extend([Measure::Schedules, Measure::Whole].map(|of| format!("{never}{}", rounded(score.of(of)))));
        }
        row.extend(MEASURES.map(|measure| rounded(self.best_over_ours(measure))));
        row
    }
}

/// Theirs over ours on all programs, by all measures, in one reading of what "theirs" is.
struct Reading {
    what: String,
    /// Of [`MEASURES`], each: the share of programs on which ours is ahead, and the geometric mean.
    ahead: [f64; MEASURES.len()],
    times: [f64; MEASURES.len()],
}

impl Reading {
    fn new(what: String, all: &[Scores], ratio: impl Fn(&Scores, Measure) -> f64) -> Reading {
        let ratios = |measure| all.iter().map(|scores| ratio(scores, measure)).collect::<Vec<f64>>();
        let ahead = |ratios: &[f64]| ratios.iter().filter(|ratio| **ratio > 1.0).count() as f64 / ratios.len() as f64;
        let of = MEASURES.map(ratios);
        Reading {
            what,
            ahead: of.each_ref().map(|ratios| ahead(ratios)),
            times: of.each_ref().map(|ratios| geometric_mean(ratios.iter().copied())),
        }
    }

    fn row(&self) -> Vec<String> {
        let mut row = vec![self.what.clone()];
        row.extend(self.ahead.map(|share| format!("{:.0} %", share * 100.0)));
        row.extend(self.times.map(|times| format!("{times:.2} ×")));
        row
    }

    /// Both gates, by this reading: of schedules and of CPU time to the first bug. Whole explorations are in the table.
    fn gates(&self) -> Vec<(bool, String)> {
        let (share, times) = (AHEAD_AT_LEAST * 100.0, TIMES_FASTER);
        let [schedules, whole, to_bug] = self.ahead.map(|share| share * 100.0);
        vec![
            (
                self.ahead.iter().all(|ahead| *ahead >= AHEAD_AT_LEAST),
                format!(
                    "ahead of {} on {schedules:.0} % of programs by schedules, {to_bug:.0} % by CPU time to the first \
                     bug, {whole:.0} % by that of whole explorations (gate: ≥ {share:.0} %)",
                    self.what
                ),
            ),
            (
                self.times[2] >= times,
                format!(
                    "{} over ours: {:.2} × CPU time to the first bug (gate: ≥ {times} ×)",
                    self.what, self.times[2]
                ),
            ),
        ]
    }
}

/// A number with as many decimals as are needed to tell two of them apart.
fn rounded(number: f64) -> String {
    let decimals = usize::from(number < 99.95) + usize::from(number < 9.995);
    format!("{number:.decimals$}")
}

impl Comparison<'_> {
    fn scores(&self) -> Vec<Scores> {
        // shuttle's panic hook prints. The later hook is asked first: were it shuttle's, it would print ours, too.
        let smoke = suite_on_shuttle::program("arithmetic_prog").expect("the same text");
        suite_on_shuttle::schedules_to_first_bug(smoke, Strategy::Random, 0, 1);
        let ours = Program::named("lost_update").expect("a program");
        first_bug(&ours.body, configuration(&ours.body, OURS, 0, 1));
        watch_panics();
        let asked_for = |name: &&str| self.names.is_empty() || self.names.contains(name);
        let counts = |program: &&Program| {
            program.bug != Bug::Always && program.body.name != "safe_stack" && asked_for(&program.body.name)
        };
        catalogue().iter().filter(counts).map(|program| Scores::of(program, self)).collect()
    }

    fn compare(&self) -> Section {
        let mut heading = vec!["program".to_owned()];
        for (name, _) in [(OURS, Strategy::Random)].iter().chain(&THEIRS) {
            heading.extend([(*name).to_owned(), "µs".to_owned()]);
        }
        heading.extend(["schedules ×", "CPU time ×", "to the bug ×"].map(str::to_owned));
        let all = self.scores();
        let rows: Vec<Vec<String>> = all.iter().map(Scores::row).collect();
        let (readings, gates) = readings(&all);
        let lines: Vec<String> = gates.iter().map(|(passed, what)| verdict(*passed, what)).collect();
        let panic = panic_alone();
        Section {
            text: format!(
                "{}\n{readings}\n{}\n\nA failed assertion alone, caught at once, takes {panic:.1} µs here.\n",
                table::render(&heading, &rows),
                lines.join("  \n")
            ),
            passed: gates.iter().all(|(passed, _)| *passed),
        }
    }
}

/// All programs together, by each reading of what "theirs" is; and the gates.
fn readings(all: &[Scores]) -> (String, Vec<(bool, String)>) {
    let each = |at: usize| Reading::new(THEIRS[at].0.to_owned(), all, |scores, measure| scores.over_ours(at, measure));
    let singles: Vec<Reading> = (0..THEIRS.len()).map(each).collect();
    let oracle = Reading::new("the best of three on each program".to_owned(), all, Scores::best_over_ours);
    let best_single = singles.iter().min_by(|a, b| a.times[1].total_cmp(&b.times[1])).expect("three");
    let head = ["theirs", "ahead by schedules", "CPU time", "to the bug", "schedules", "CPU time", "to the bug"];
    let rows: Vec<Vec<String>> = singles.iter().chain([&oracle]).map(Reading::row).collect();
    let gates = oracle.gates().into_iter().chain(best_single.gates()).collect();
    (table::render(&head.map(str::to_owned), &rows), gates)
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
