//! The sections of the report, each a measurement.

use std::process::{Command, ExitCode};
use std::time::Duration;

use drawloom_bench::cases::Case;
use drawloom_bench::exhaust::{self, SHUTTLE_CAP};
use drawloom_bench::measure::{cpu_time, peak_memory_kib, wall_time};
use drawloom_bench::texts::{Came, Peer, Text};

use crate::report::{Section, grouped, grouped_times, note, section, time, verdict};
use crate::turns::Turns;

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
/// Turns where two contestants are close to each other.
const MANY_ROUNDS: usize = 25;
/// Turns where a turn takes seconds.
const FEW_ROUNDS: usize = 3;
/// CPU time after which a peer's search is given up.
const PEERS_CAP: Duration = Duration::from_secs(2);

/// drawloom, loom and shuttle until each has explored everything.
pub fn side_by_side() -> Section {
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

/// The programs of the literature: drawloom's executions are as many as there are classes.
pub fn classes() -> Section {
    let heading = [
        "program",
        "classes",
        "drawloom: executions",
        "CPU time",
        "loom: executions",
        "CPU time",
        "shuttle DFS: executions",
        "CPU time",
    ];
    let mut rows = Vec::new();
    let mut finished = [0; 2];
    let mut logarithms = Vec::new();
    for text in Text::all() {
        let ours = Turns::of(|| text.drawloom());
        let mut row = vec![text.name().into(), grouped(text.classes()), grouped(ours.executions), time(ours.best)];
        for (peer, finished) in [Peer::Loom, Peer::Shuttle].into_iter().zip(&mut finished) {
            match text.beside(peer, PEERS_CAP) {
                Came::ToTheEnd { executions, took } => {
                    row.extend([grouped(executions), time(took)]);
                    *finished += 1;
                    if peer == Peer::Loom {
                        logarithms.push((took.as_secs_f64() / ours.best.as_secs_f64()).ln());
                    }
                }
                Came::ToTheCap { executions } => {
                    row.extend([format!(">{}", grouped(executions)), format!(">{}", time(PEERS_CAP))]);
                }
                Came::Nowhere(reason) => row.extend([reason.into(), "–".into()]),
            }
        }
        rows.push(row);
    }
    let all = rows.len();
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    let verdicts = vec![
        verdict(true, format!("drawloom: {all} of {all} programs exhausted, executions = classes in each of them")),
        note(format!("loom finishes {} of them, shuttle {}", finished[0], finished[1])),
        note(format!("loom's CPU time over drawloom's, geometric mean of what it finishes: {mean:.0} ×")),
    ];
    section("The programs of the literature", &heading, &rows, verdicts)
}

/// The child's part of [`classes`].
pub fn explore_beside(peer: &str, name: &str, cap: &str) -> ExitCode {
    let text = Text::all().into_iter().find(|text| text.name() == name);
    let (Some(peer), Some(text), Ok(cap)) = (Peer::named(peer), text, cap.parse()) else {
        eprintln!("no peer {peer}, no program {name} or no time {cap}");
        return ExitCode::from(2);
    };
    text.run_beside(peer, Duration::from_millis(cap));
    ExitCode::SUCCESS
}

/// Exhausts one of the programs of [`cost`] and does nothing else, for tools that watch a whole process (callgrind).
pub fn explore_case(name: &str) -> ExitCode {
    let Some(case) = Case::COST.into_iter().find(|case| case.to_string() == name) else {
        eprintln!("one of: {}", Case::COST.map(|case| case.to_string()).join("; "));
        return ExitCode::from(2);
    };
    exhaust::drawloom(case, 1);
    ExitCode::SUCCESS
}

/// `exhaustive` against `random`, as many executions of each.
pub fn cost() -> Section {
    let heading = ["program", "executions", "exhaustive: µs/execution", "random: µs/execution", "ratio"];
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    for case in Case::COST {
        let mut exhaustive = Turns::of(|| exhaust::drawloom(case, 1));
        let mut random = Turns::of(|| exhaust::random(case));
        for _ in 1..MANY_ROUNDS {
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

/// Two workers against one, by the clock on the wall. That is worth nothing if others use the cores at the
/// same time, so the CPU time of the busier worker stands beside it: two idle cores would need as long. And so does
/// what the cores have to give: the same of two explorations with a worker each, which have nothing to do with each other.
pub fn speed_up() -> Section {
    let heading = [
        "program",
        "executions",
        "1 worker: wall",
        "2 workers: wall",
        "speed-up",
        "of two apart",
        "1 worker: CPU",
        "the busier of 2: CPU",
        "speed-up",
    ];
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    for case in Case::SPREAD {
        let mut wall = [Duration::MAX; 2];
        let mut cpu = [Duration::MAX; 2];
        let mut apart = Duration::MAX;
        for _ in 0..FEW_ROUNDS {
            for workers in 1..=2 {
                let (took, _) = wall_time(|| exhaust::drawloom(case, workers));
                wall[workers - 1] = took.min(wall[workers - 1]);
                cpu[workers - 1] = exhaust::busiest_worker(case, workers).min(cpu[workers - 1]);
            }
            let two = || (0..2).map(|_| std::thread::spawn(move || exhaust::drawloom(case, 1))).collect::<Vec<_>>();
            let (took, _) =
                wall_time(|| two().into_iter().for_each(|one| assert!(one.join().is_ok(), "it is exhausted")));
            apart = took.min(apart);
        }
        let ratio = |times: [Duration; 2]| times[0].as_secs_f64() / times[1].as_secs_f64();
        let ceiling = ratio([wall[0] * 2, apart]);
        rows.push(vec![
            case.to_string(),
            grouped(case.classes),
            time(wall[0]),
            time(wall[1]),
            format!("{:.2}", ratio(wall)),
            format!("{ceiling:.2}"),
            time(cpu[0]),
            time(cpu[1]),
            format!("{:.2}", ratio(cpu)),
        ]);
        verdicts.push(verdict(
            ratio(wall) >= SPEED_UP_AT_LEAST,
            format!(
                "{case}, two workers: {:.2} × by the wall (two that have nothing to do with each other: {ceiling:.2} ×), {:.2} × \
                 by CPU time (gate: ≥ {SPEED_UP_AT_LEAST} × by the wall)",
                ratio(wall),
                ratio(cpu)
            ),
        ));
    }
    section("What a second worker brings", &heading, &rows, verdicts)
}

/// The largest programs, each in a process of its own, so that its peak of memory is its own.
pub fn big() -> Section {
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
pub fn explore_big(number: &str) -> ExitCode {
    let Some(case) = number.parse().ok().and_then(|number: usize| Case::BIG.get(number)) else {
        eprintln!("no program {number}");
        return ExitCode::from(2);
    };
    let (took, executions) = cpu_time(|| exhaust::drawloom(*case, 1));
    println!("{executions} {} {}", took.as_nanos(), peak_memory_kib().unwrap_or(0));
    ExitCode::SUCCESS
}
