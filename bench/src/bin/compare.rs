//! The contestants side by side: time and allocations, and the gates drawloom must pass.
//!
//! They take turns in one process, many short turns each, and each one's best turn counts. So
//! a slow minute of the machine hits all of them, and the ratios stand where the absolute
//! times wander.

use std::process::ExitCode;
use std::time::Duration;

use drawloom_bench::contestant::{CONTESTANTS, Contestant, DRAWLOOM, LOOM, SHUTTLE};
use drawloom_bench::measure::{CountingAllocator, allocations, cpu_time};
use drawloom_bench::programs::Program;
use drawloom_bench::table;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// An op of shuttle costs at least this many of drawloom's.
const PER_OP_TIMES_FASTER_THAN_SHUTTLE: f64 = 5.0;
/// drawloom runs the smallest test at least this many times as often as shuttle.
const SMALLEST_TEST_TIMES_FASTER_THAN_SHUTTLE: f64 = 5.0;
/// drawloom runs the smallest test at least this many times as often as loom.
const SMALLEST_TEST_TIMES_FASTER_THAN_LOOM: f64 = 20.0;
/// Allocations of drawloom per step once it is warm.
const ALLOCATIONS_PER_STEP_AT_MOST: f64 = 0.0;

/// Turns of each contestant, unless the command line says otherwise.
const ROUNDS: usize = 15;
/// The least CPU time of one turn; the clock's resolution vanishes in it.
const TURN: Duration = Duration::from_millis(20);
/// Executions before a contestant counts as warm when allocations are counted.
const WARM_UP_EXECUTIONS: u64 = 100;

/// The measurements of one contestant in one program.
struct Score {
    name: &'static str,
    ns_per_execution: f64,
    /// The median turn over the best: how much the machine disturbed.
    noise: f64,
    allocations_per_execution: f64,
    /// None if the contestant does not count its steps or cannot run a longer program.
    allocations_per_step: Option<f64>,
}

/// A program and the scores of those who ran it.
struct Row {
    program: Program,
    scores: Vec<Score>,
}

impl Row {
    fn score(&self, name: &str) -> Option<&Score> {
        self.scores.iter().find(|score| score.name == name)
    }

    /// How many times drawloom's time the contestant takes.
    fn times_drawloom(&self, name: &str) -> Option<f64> {
        let (theirs, ours) = self.score(name).zip(self.score(DRAWLOOM))?;
        Some(theirs.ns_per_execution / ours.ns_per_execution)
    }
}

fn main() -> ExitCode {
    let rounds = match std::env::args().nth(1).map(|text| text.parse()) {
        None => ROUNDS,
        Some(Ok(rounds)) if rounds > 0 => rounds,
        Some(_) => {
            eprintln!("usage: compare [ROUNDS]");
            return ExitCode::from(2);
        }
    };
    let loops: Vec<Row> = Program::LOOPS.iter().map(|&program| measure(program, rounds)).collect();
    let smallest = measure(Program::SMALLEST, rounds);

    println!("ns per op, and how many times drawloom's\n");
    print_times(loops.iter().chain([&smallest]));
    println!("\nThe smallest test: {}\n", smallest.program);
    print_executions(&smallest);
    println!("\nAllocations per step in steady state\n");
    print_allocations(&loops);
    let scores = loops.iter().chain([&smallest]).flat_map(|row| &row.scores);
    let noise = scores.map(|score| score.noise).fold(1.0, f64::max);
    println!("\nNoise: the median turn took up to {noise:.2} × the best.\n");

    if judge(&loops, &smallest) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Lets everyone who can run the program take turns.
fn measure(program: Program, rounds: usize) -> Row {
    let entrants: Vec<_> = CONTESTANTS.iter().filter(|contestant| contestant.can_run(program)).collect();
    let turns: Vec<u64> = entrants.iter().map(|contestant| executions_of_a_turn(contestant, program)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); entrants.len()];
    for _ in 0..rounds {
        for (index, contestant) in entrants.iter().enumerate() {
            let (time, tally) = cpu_time(|| contestant.run(program, turns[index]));
            times[index].push(time.as_nanos() as f64 / tally.executions as f64);
        }
    }
    let scores = entrants.iter().zip(times).map(|(contestant, mut times)| {
        times.sort_by(f64::total_cmp);
        Score {
            name: contestant.name,
            ns_per_execution: times[0],
            noise: times[times.len() / 2] / times[0],
            allocations_per_execution: warm_execution(contestant, program).allocations,
            allocations_per_step: allocations_per_step(contestant, program),
        }
    });
    Row { program, scores: scores.collect() }
}

/// Doubles the number of executions until a turn is long enough.
fn executions_of_a_turn(contestant: &Contestant, program: Program) -> u64 {
    let mut executions = 1;
    while cpu_time(|| contestant.run(program, executions)).0 < TURN {
        executions *= 2;
    }
    executions
}

/// The mean execution of a warm contestant.
struct WarmExecution {
    allocations: f64,
    steps: Option<f64>,
}

/// The same seed makes a short run the beginning of a longer one, so their difference is
/// exactly the warm part.
fn warm_execution(contestant: &Contestant, program: Program) -> WarmExecution {
    let (few, start) = allocations(|| contestant.run(program, WARM_UP_EXECUTIONS));
    let (many, end) = allocations(|| contestant.run(program, 2 * WARM_UP_EXECUTIONS));
    let executions = (end.executions - start.executions) as f64;
    WarmExecution {
        allocations: (many as f64 - few as f64) / executions,
        steps: end.steps.zip(start.steps).map(|(end, start)| (end - start) as f64 / executions),
    }
}

/// What executions of twice the length allocate more, by the steps they have more. What an
/// execution allocates however short it is (spawning, the program's own vector) cancels.
fn allocations_per_step(contestant: &Contestant, program: Program) -> Option<f64> {
    let longer = Program { ops_per_task: 2 * program.ops_per_task, ..program };
    if !contestant.can_run(longer) {
        return None;
    }
    let (short, long) = (warm_execution(contestant, program), warm_execution(contestant, longer));
    Some((long.allocations - short.allocations) / (long.steps? - short.steps?))
}

fn print_times<'a>(rows: impl Iterator<Item = &'a Row>) {
    let mut heading = vec!["workload".to_string()];
    for contestant in CONTESTANTS {
        heading.push(contestant.name.to_string());
        if contestant.name != DRAWLOOM {
            heading.push("×".to_string());
        }
    }
    let rows = rows.map(|row| {
        let mut cells = vec![row.program.to_string()];
        for contestant in CONTESTANTS {
            let score = row.score(contestant.name);
            let per_op = score.map(|score| score.ns_per_execution / row.program.ops() as f64);
            cells.push(cell(per_op, 1));
            if contestant.name != DRAWLOOM {
                cells.push(cell(row.times_drawloom(contestant.name), 2));
            }
        }
        cells
    });
    table::print(&heading, &rows.collect::<Vec<_>>());
}

fn print_executions(row: &Row) {
    let heading = ["", "executions/s", "µs/execution", "× drawloom", "allocations/execution"];
    let rows = row.scores.iter().map(|score| {
        vec![
            score.name.to_string(),
            cell(Some(1e9 / score.ns_per_execution), 0),
            cell(Some(score.ns_per_execution / 1e3), 2),
            cell(row.times_drawloom(score.name), 2),
            cell(Some(score.allocations_per_execution), 1),
        ]
    });
    table::print(&heading.map(str::to_string), &rows.collect::<Vec<_>>());
}

fn print_allocations(rows: &[Row]) {
    let names = rows[0].scores.iter().map(|score| score.name.to_string());
    let heading: Vec<String> = ["workload".to_string()].into_iter().chain(names).collect();
    let rows = rows.iter().map(|row| {
        let per_step = row.scores.iter().map(|score| cell(score.allocations_per_step, 4));
        [row.program.to_string()].into_iter().chain(per_step).collect()
    });
    table::print(&heading, &rows.collect::<Vec<_>>());
}

fn cell(number: Option<f64>, decimals: usize) -> String {
    number.map_or("–".to_string(), |number| format!("{number:.decimals$}"))
}

/// Prints every gate with its verdict; true if none failed.
fn judge(loops: &[Row], smallest: &Row) -> bool {
    if Contestant::named(DRAWLOOM).is_none() {
        println!("Gates: not judged, drawloom is not compiled in.");
        return true;
    }
    let at_least = |what: String, measured: Option<f64>, gate: f64| {
        let measured = measured.expect("both sides ran");
        verdict(measured >= gate, &format!("{what}: {measured:.2} × (gate: ≥ {gate} ×)"))
    };
    let mut passed = true;
    for row in loops {
        passed &= at_least(
            format!("{}, per op against shuttle", row.program),
            row.times_drawloom(SHUTTLE),
            PER_OP_TIMES_FASTER_THAN_SHUTTLE,
        );
    }
    for (name, gate) in
        [(SHUTTLE, SMALLEST_TEST_TIMES_FASTER_THAN_SHUTTLE), (LOOM, SMALLEST_TEST_TIMES_FASTER_THAN_LOOM)]
    {
        let what = format!("smallest test, executions per second against {name}");
        passed &= at_least(what, smallest.times_drawloom(name), gate);
    }
    for row in loops {
        let ours = row.score(DRAWLOOM).expect("drawloom runs every program");
        let measured = ours.allocations_per_step.expect("drawloom counts its steps");
        passed &= verdict(
            measured <= ALLOCATIONS_PER_STEP_AT_MOST,
            &format!("{}, allocations per step: {measured} (gate: ≤ {ALLOCATIONS_PER_STEP_AT_MOST})", row.program),
        );
    }
    passed
}

fn verdict(passed: bool, what: &str) -> bool {
    println!("{}  {what}", if passed { "PASS" } else { "FAIL" });
    passed
}
