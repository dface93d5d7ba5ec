//! Exhaustive exploration side by side: executions and CPU time until everything has been explored,
//! what an execution costs, what a second worker brings, and the largest programs.
//!
//! As in `compare`, everybody takes turns in one process, and only ratios of one run count.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use drawloom_bench::cases::Case;
use drawloom_bench::exhaust::{self, SHUTTLE_CAP};
use drawloom_bench::measure::{cpu_time, peak_memory_kib, wall_time};
use drawloom_bench::table;

/// loom's CPU time over drawloom's, in the geometric mean.
const TIMES_FASTER_THAN_LOOM: f64 = 100.0;
/// An execution of `exhaustive` over one of `random`.
const COST_AT_MOST: f64 = 2.0;
/// One worker's wall-clock time over that of two.
const SPEED_UP_AT_LEAST: f64 = 1.7;
/// CPU time of the largest programs together.
const BIG_SECONDS_AT_MOST: f64 = 60.0;

/// Turns of each contestant; the best counts.
const ROUNDS: usize = 7;
/// Turns where a turn takes seconds.
const FEW_ROUNDS: usize = 3;
/// The least CPU time of one turn; the clock's resolution vanishes in it.
const TURN: Duration = Duration::from_millis(10);
/// Who takes longer than this has only one turn.
const LONG: Duration = Duration::from_secs(1);

const BEGIN: &str = "<!-- written by `exhaust --write`: begin -->";
const END: &str = "<!-- written by `exhaust --write`: end -->";

/// A part of the report, and whether all its gates were passed.
struct Section {
    text: String,
    passed: bool,
}

const SECTIONS: [(&str, fn() -> Section); 4] =
    [("peers", side_by_side), ("cost", cost), ("workers", speed_up), ("big", big)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (only, target) = match args[..] {
        [] => (None, None),
        ["--write", path] => (None, Some(path)),
        ["--big", number] => return explore_big(number),
        [name] if SECTIONS.iter().any(|(known, _)| *known == name) => (Some(name), None),
        _ => {
            eprintln!("usage: exhaust [peers | cost | workers | big | --write FILE]");
            return ExitCode::from(2);
        }
    };
    let mut sections = Vec::new();
    for (_, measure) in SECTIONS.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        let section = measure();
        println!("{}", section.text);
        sections.push(section);
    }
    if let Some(path) = target {
        let text: Vec<&str> = sections.iter().map(|section| section.text.as_str()).collect();
        if let Err(error) = write_between_markers(Path::new(path), &text.join("\n")) {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    }
    if sections.iter().all(|section| section.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// drawloom, loom and shuttle until each has explored everything.
fn side_by_side() -> Section {
    let heading = [
        "program",
        "classes",
        "drawloom: executions",
        "CPU time",
        "loom: executions",
        "CPU time",
        "× drawloom",
        "shuttle DFS: executions",
        "CPU time",
    ];
    // shuttle's panic hook prints, and loom ends its tasks by panics that its own hook keeps quiet. The
    // later hook is asked first: were it shuttle's, loom would pay for millions of lines.
    exhaust::shuttle(Case::SHARED[0]);
    let mut rows = Vec::new();
    let mut logarithms = Vec::new();
    for case in Case::SHARED {
        let mut ours = Turns::of(|| exhaust::drawloom(case, 1));
        let mut looms = Turns::of(|| exhaust::loom(case));
        for _ in 1..ROUNDS {
            ours.take();
            looms.take();
        }
        let (shuttles_time, shuttles) = cpu_time(|| exhaust::shuttle(case));
        let times = looms.best.as_secs_f64() / ours.best.as_secs_f64();
        logarithms.push(times.ln());
        let capped = if shuttles >= SHUTTLE_CAP { ">" } else { "" };
        rows.push(vec![
            case.to_string(),
            grouped(case.classes),
            grouped(ours.executions),
            time(ours.best),
            grouped(looms.executions),
            time(looms.best),
            grouped_times(times),
            format!("{capped}{}", grouped(shuttles)),
            format!("{capped}{}", time(shuttles_time)),
        ]);
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    let verdict = verdict(
        mean >= TIMES_FASTER_THAN_LOOM,
        format!(
            "loom's CPU time over drawloom's, geometric mean of {} programs: {mean:.0} × (gate: ≥ {TIMES_FASTER_THAN_LOOM} ×)",
            rows.len()
        ),
    );
    section("Side by side", &heading, &rows, vec![verdict])
}

/// `exhaustive` against `random`, as many executions of each.
fn cost() -> Section {
    let heading = ["program", "executions", "exhaustive: µs/execution", "random: µs/execution", "ratio"];
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    for case in Case::COST {
        let mut exhaustive = Turns::of(|| exhaust::drawloom(case, 1));
        let mut random = Turns::of(|| exhaust::random(case));
        for _ in 1..ROUNDS {
            exhaustive.take();
            random.take();
        }
        let per_execution = |best: Duration| best.as_secs_f64() * 1e6 / case.classes as f64;
        let ratio = exhaustive.best.as_secs_f64() / random.best.as_secs_f64();
        rows.push(vec![
            case.to_string(),
            grouped(case.classes),
            format!("{:.2}", per_execution(exhaustive.best)),
            format!("{:.2}", per_execution(random.best)),
            format!("{ratio:.2}"),
        ]);
        verdicts.push(verdict(
            ratio <= COST_AT_MOST,
            format!("{case}, an execution of exhaustive over one of random: {ratio:.2} × (gate: ≤ {COST_AT_MOST} ×)"),
        ));
    }
    section("What an execution costs", &heading, &rows, verdicts)
}

/// Two workers against one, by the clock on the wall.
fn speed_up() -> Section {
    let heading = ["program", "executions", "1 worker", "2 workers", "speed-up"];
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    for case in Case::SPREAD {
        let mut best = [Duration::MAX; 2];
        for _ in 0..FEW_ROUNDS {
            for (best, workers) in best.iter_mut().zip(1..) {
                let (took, executions) = wall_time(|| exhaust::drawloom(case, workers));
                assert_eq!(executions, case.classes, "{case} with {workers} workers");
                *best = took.min(*best);
            }
        }
        let ratio = best[0].as_secs_f64() / best[1].as_secs_f64();
        rows.push(vec![case.to_string(), grouped(case.classes), time(best[0]), time(best[1]), format!("{ratio:.2}")]);
        verdicts.push(verdict(
            ratio >= SPEED_UP_AT_LEAST,
            format!("{case}, two workers: {ratio:.2} × (gate: ≥ {SPEED_UP_AT_LEAST} ×)"),
        ));
    }
    section("What a second worker brings", &heading, &rows, verdicts)
}

/// The largest programs, each in a process of its own, so that its peak of memory is its own.
fn big() -> Section {
    let heading = ["program", "classes", "executions", "CPU time", "peak memory"];
    let mut rows = Vec::new();
    let mut total = Duration::ZERO;
    for (number, case) in Case::BIG.into_iter().enumerate() {
        let this = std::env::current_exe().expect("a running program has a file");
        let child = Command::new(this).args(["--big", &number.to_string()]).output().expect("it can be started");
        assert!(child.status.success(), "{case}: {}", String::from_utf8_lossy(&child.stderr));
        let numbers: Vec<u64> =
            String::from_utf8_lossy(&child.stdout).split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [executions, nanoseconds, kib] = numbers[..] else { panic!("{case}: three numbers, not {numbers:?}") };
        let took = Duration::from_nanos(nanoseconds);
        total += took;
        rows.push(vec![
            case.to_string(),
            grouped(case.classes),
            grouped(executions),
            time(took),
            format!("{:.1} MiB", kib as f64 / 1024.0),
        ]);
    }
    let seconds = total.as_secs_f64();
    let verdict = verdict(
        seconds <= BIG_SECONDS_AT_MOST,
        format!("the five together: {seconds:.1} s of CPU time (gate: ≤ {BIG_SECONDS_AT_MOST} s)"),
    );
    section("The largest programs", &heading, &rows, vec![verdict])
}

/// The child's part of [`big`]: executions, nanoseconds of CPU time, KiB at the peak.
fn explore_big(number: &str) -> ExitCode {
    let Some(case) = number.parse().ok().and_then(|number: usize| Case::BIG.get(number)) else {
        eprintln!("no program {number}");
        return ExitCode::from(2);
    };
    let (took, executions) = cpu_time(|| exhaust::drawloom(*case, 1));
    println!("{executions} {} {}", took.as_nanos(), peak_memory_kib().unwrap_or(0));
    ExitCode::SUCCESS
}

/// One contestant's turns at one program.
struct Turns<F> {
    explore: F,
    executions: u64,
    /// Explorations of a turn.
    repeated: u32,
    /// The least time of an exploration.
    best: Duration,
    is_long: bool,
}

impl<F: Fn() -> u64> Turns<F> {
    /// Takes the first turn, and finds out how many explorations make one.
    fn of(explore: F) -> Self {
        let (mut took, executions) = cpu_time(&explore);
        let mut turns = Turns { explore, executions, repeated: 1, best: took, is_long: took > LONG };
        while took < TURN {
            turns.repeated *= 2;
            took = turns.turn();
        }
        turns
    }

    fn turn(&mut self) -> Duration {
        let (took, ()) = cpu_time(|| {
            for _ in 0..self.repeated {
                assert_eq!((self.explore)(), self.executions, "an exploration is the same each time");
            }
        });
        self.best = self.best.min(took / self.repeated);
        took
    }

    fn take(&mut self) {
        if !self.is_long {
            self.turn();
        }
    }
}

fn section(title: &str, heading: &[&str], rows: &[Vec<String>], verdicts: Vec<(bool, String)>) -> Section {
    let heading: Vec<String> = heading.iter().map(|cell| cell.to_string()).collect();
    let lines: Vec<String> = verdicts.iter().map(|(_, line)| format!("    {line}\n")).collect();
    Section {
        text: format!("### {title}\n\n{}\n{}", table::render(&heading, rows), lines.concat()),
        passed: verdicts.iter().all(|(passed, _)| *passed),
    }
}

fn verdict(passed: bool, what: String) -> (bool, String) {
    (passed, format!("{}  {what}", if passed { "PASS" } else { "FAIL" }))
}

/// A duration with three digits that count.
fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (number, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.decimals$} {unit}")
}

fn grouped_times(times: f64) -> String {
    if times < 100.0 { format!("{times:.1}") } else { grouped(times.round() as u64) }
}

/// A number with its thousands set apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

/// Replaces what is between the markers of a page.
fn write_between_markers(path: &Path, text: &str) -> Result<(), String> {
    let page = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (before, rest) = page.split_once(BEGIN).ok_or(format!("no line `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).ok_or(format!("no line `{END}`"))?;
    let page = format!("{before}{BEGIN}\n\n{text}\n{END}{after}");
    std::fs::write(path, page).map_err(|error| error.to_string())
}
