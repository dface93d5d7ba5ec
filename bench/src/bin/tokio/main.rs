//! drawloom-tokio beside shuttle-tokio: the same programs, operations and steps per second of CPU time; and
//! what a step of a future costs beside a step of a thread.

mod programs;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use drawloom::{Config, StrategySpec};
use drawloom_bench::measure::cpu_time;
use shuttle::scheduler::{RandomScheduler, Schedule, Scheduler, Task, TaskId};

/// Operations of a program's user in one execution: messages, or permits taken.
const OPERATIONS: u64 = 600;
const EXECUTIONS: u64 = 500;
/// The best of so many counts: others use the machine, too.
const RUNS: usize = 5;

struct Row {
    operations_per_second: f64,
    steps_per_second: f64,
}

fn row(mut run: impl FnMut() -> u64) -> Row {
    let mut best = Row { operations_per_second: 0.0, steps_per_second: 0.0 };
    for _ in 0..RUNS {
        let (time, steps) = cpu_time(&mut run);
        let rate = (EXECUTIONS * OPERATIONS) as f64 / time.as_secs_f64();
        if rate > best.operations_per_second {
            best = Row { operations_per_second: rate, steps_per_second: steps as f64 / time.as_secs_f64() };
        }
    }
    best
}

fn under_drawloom(body: fn()) -> u64 {
    // Without spurious wake-ups, which programs that park in turn do not stand, and shuttle does not make.
    let config = Config::new().strategy(StrategySpec::Random).iterations(EXECUTIONS);
    let config = config.max_steps(10_000_000).spurious_wakeups(0);
    let exploration = drawloom::explore(config, body);
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    exploration.steps()
}

fn under_shuttle(body: fn()) -> u64 {
    let steps = Arc::new(AtomicU64::new(0));
    let mut config = shuttle::Config::new();
    config.max_steps = shuttle::MaxSteps::None;
    let scheduler = Counting { inner: RandomScheduler::new(EXECUTIONS as usize), steps: steps.clone() };
    shuttle::Runner::new(scheduler, config).run(body);
    steps.load(Relaxed)
}

/// A strategy of shuttle's, and how often it was asked.
struct Counting {
    inner: RandomScheduler,
    steps: Arc<AtomicU64>,
}

impl Scheduler for Counting {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.inner.new_execution()
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.steps.fetch_add(1, Relaxed);
        self.inner.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

fn compare(name: &str, ours: fn(), theirs: fn()) {
    let (ours, theirs) = (row(|| under_drawloom(ours)), row(|| under_shuttle(theirs)));
    println!(
        "{name:<12} drawloom-tokio {:>12.0} operations/s {:>12.0} steps/s   shuttle-tokio {:>10.0} operations/s {:>12.0} steps/s   {:.1}x operations, {:.1}x steps",
        ours.operations_per_second,
        ours.steps_per_second,
        theirs.operations_per_second,
        theirs.steps_per_second,
        ours.operations_per_second / theirs.operations_per_second,
        ours.steps_per_second / theirs.steps_per_second,
    );
}

/// Nanoseconds of CPU time for a step.
fn nanos_per_step(body: fn()) -> f64 {
    1e9 / row(|| under_drawloom(body)).steps_per_second
}

/// Our programs by name.
const OURS: [(&str, fn()); 6] = [
    ("ping-pong", programs::ours::ping_pong),
    ("semaphore", programs::ours::semaphore_loop),
    ("park", programs::threads_park),
    ("wake", programs::futures_wake),
    ("thread-lock", programs::threads_lock),
    ("lock", programs::futures_lock),
];

fn main() {
    // With a name one program runs and nothing else, for tools that watch a whole process (callgrind).
    if let Some(name) = std::env::args().nth(1) {
        match OURS.iter().find(|(known, _)| *known == name) {
            Some((_, body)) => println!("{} steps", under_drawloom(*body)),
            None => eprintln!("one of: {}", OURS.map(|(name, _)| name).join(", ")),
        }
        return;
    }
    compare("ping-pong", programs::ours::ping_pong, programs::theirs::ping_pong);
    compare("semaphore", programs::ours::semaphore_loop, programs::theirs::semaphore_loop);

    let (thread, future) = (nanos_per_step(programs::threads_park), nanos_per_step(programs::futures_wake));
    println!("a step that waits and wakes: thread {thread:.0} ns, future {future:.0} ns, {:.2}x", future / thread);
    let (thread, future) = (nanos_per_step(programs::threads_lock), nanos_per_step(programs::futures_lock));
    println!("a step of a mutex:           thread {thread:.0} ns, future {future:.0} ns, {:.2}x", future / thread);

    let hour = (0..RUNS).map(|_| cpu_time(programs::an_hour_of_ticks).0).min().unwrap_or(Duration::ZERO);
    println!("an hour of ticks of a second among 5 idle tasks: {:.1} ms", hour.as_secs_f64() * 1e3);
}
