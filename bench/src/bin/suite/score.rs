//! What a contestant needs until it has found a bug: schedules, and CPU time by two clocks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use drawloom_bench::measure::{cpu_time, process_cpu_clock};
use drawloom_suite::Trials;

/// CPU time of this process at the first panic since it was last asked, in nanoseconds; 0 if there was none.
static FIRST_PANIC: AtomicU64 = AtomicU64::new(0);

/// What reading the clock adds to a stretch of time between two readings, in the mean.
fn clock_cost() -> Duration {
    static COST: OnceLock<Duration> = OnceLock::new();
    const TIMES: u32 = 10_000;
    *COST.get_or_init(|| (0..TIMES).map(|_| cpu_time(|| ()).0).sum::<Duration>() / TIMES)
}

/// From now on the time of the first panic is taken, before anybody else hears of it.
pub fn watch_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if FIRST_PANIC.load(Ordering::Relaxed) == 0 {
            FIRST_PANIC.store(process_cpu_clock().as_nanos() as u64, Ordering::Relaxed);
        }
        before(info);
    }));
}

/// What a contestant came to on a program.
#[derive(Default)]
pub struct Score {
    /// Schedules.
    pub trials: Trials,
    /// Whole explorations.
    whole: Duration,
    /// Explorations up to the first panic; whole ones where there was none.
    to_bug: Duration,
    /// Trials with a panic.
    panicked: u64,
}

/// What contestants are compared by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Executions.
    Schedules,
    /// CPU time of whole explorations.
    Whole,
    /// CPU time until the assertion fails, or the deadlock is reported.
    ToBug,
}

impl Score {
    /// Adds a trial of at most `cut` executions.
    pub fn take_turn(&mut self, cut: u64, turn: impl FnOnce() -> Option<u64>) {
        FIRST_PANIC.store(0, Ordering::Relaxed);
        let began = process_cpu_clock();
        let found = turn();
        let ended = process_cpu_clock();
        let (panicked, readings) = match FIRST_PANIC.load(Ordering::Relaxed) {
            0 => (ended, 1),
            nanos => (Duration::from_nanos(nanos), 2),
        };
        self.whole += (ended - began).saturating_sub(readings * clock_cost());
        self.to_bug += (panicked - began).saturating_sub(clock_cost());
        self.panicked += u64::from(readings > 1);
        self.trials.add(found, cut);
    }

    /// Whether what was found shows itself by a panic, as it does not where tasks wait for each other.
    pub fn panics(&self) -> bool {
        self.panicked > 0
    }

    /// For each bug found; where there was none, all that was spent. Times are in microseconds.
    pub fn of(&self, measure: Measure) -> f64 {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / self.trials.found.max(1) as f64;
        match measure {
            Measure::Schedules => self.trials.mean().unwrap_or(self.trials.executions as f64),
            Measure::Whole => micros(self.whole),
            Measure::ToBug => micros(self.to_bug),
        }
    }
}
