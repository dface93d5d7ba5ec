//! One builder method per field of [`Config`], for configurations that are made by code.

use std::time::Duration;

use super::{Clock, Config, MIN_STACK_SIZE_BYTES, Memory, Shrink, StrategySpec, Teardown, Until};

impl Config {
    /// Sets [`strategy`](Self#structfield.strategy).
    #[must_use]
    pub fn strategy(mut self, strategy: StrategySpec) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets [`iterations`](Self#structfield.iterations), raised to its least value.
    #[must_use]
    pub fn iterations(mut self, iterations: u64) -> Self {
        self.iterations = iterations.max(1);
        self
    }

    /// Sets [`until`](Self#structfield.until).
    #[must_use]
    pub fn until(mut self, until: Until) -> Self {
        self.until = until;
        self
    }

    /// Sets [`seed`](Self#structfield.seed).
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets [`max_steps`](Self#structfield.max_steps), raised to its least value.
    #[must_use]
    pub fn max_steps(mut self, max_steps: u64) -> Self {
        self.max_steps = max_steps.max(1);
        self
    }

    /// Sets [`spin_rounds`](Self#structfield.spin_rounds), raised to its least value.
    #[must_use]
    pub fn spin_rounds(mut self, spin_rounds: u32) -> Self {
        self.spin_rounds = spin_rounds.max(1);
        self
    }

    /// Sets [`progress_bound`](Self#structfield.progress_bound), raised to its least value.
    #[must_use]
    pub fn progress_bound(mut self, progress_bound: u64) -> Self {
        self.progress_bound = progress_bound.max(1);
        self
    }

    /// Sets [`timeout`](Self#structfield.timeout), raised to its least value.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout.max(Duration::from_nanos(1)));
        self
    }

    /// Sets [`threads`](Self#structfield.threads).
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`stack_size`](Self#structfield.stack_size), raised to its least value.
    #[must_use]
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = stack_size.max(MIN_STACK_SIZE_BYTES);
        self
    }

    /// Sets [`max_tasks`](Self#structfield.max_tasks), raised to its least value.
    #[must_use]
    pub fn max_tasks(mut self, max_tasks: u32) -> Self {
        self.max_tasks = max_tasks.max(1);
        self
    }

    /// Sets [`allow_no_choice`](Self#structfield.allow_no_choice).
    #[must_use]
    pub fn allow_no_choice(mut self, allow: bool) -> Self {
        self.allow_no_choice = allow;
        self
    }

    /// Sets [`keep_going`](Self#structfield.keep_going).
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Sets [`spurious_wakeups`](Self#structfield.spurious_wakeups).
    #[must_use]
    pub fn spurious_wakeups(mut self, spurious_wakeups: u32) -> Self {
        self.spurious_wakeups = spurious_wakeups;
        self
    }

    /// Sets [`weak_failures`](Self#structfield.weak_failures).
    #[must_use]
    pub fn weak_failures(mut self, weak_failures: u32) -> Self {
        self.weak_failures = weak_failures;
        self
    }

    /// Sets [`clock`](Self#structfield.clock).
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets [`early_fires`](Self#structfield.early_fires).
    #[must_use]
    pub fn early_fires(mut self, early_fires: u32) -> Self {
        self.early_fires = early_fires;
        self
    }

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`leaks`](Self#structfield.leaks).
    #[must_use]
    pub fn leaks(mut self, leaks: bool) -> Self {
        self.leaks = leaks;
        self
    }

    /// Sets [`unjoined`](Self#structfield.unjoined).
    #[must_use]
    pub fn unjoined(mut self, unjoined: bool) -> Self {
        self.unjoined = unjoined;
        self
    }

    /// Sets [`teardown`](Self#structfield.teardown).
    #[must_use]
    pub fn teardown(mut self, teardown: Teardown) -> Self {
        self.teardown = teardown;
        self
    }

    /// Sets [`fixes`](Self#structfield.fixes).
    #[must_use]
    pub fn fixes(mut self, schedules: u64) -> Self {
        self.fixes = schedules;
        self
    }

    /// Sets [`shrink`](Self#structfield.shrink).
    #[must_use]
    pub fn shrink(mut self, shrink: Shrink) -> Self {
        self.shrink = shrink;
        self
    }

    /// Sets [`regressions`](Self#structfield.regressions).
    #[must_use]
    pub fn regressions(mut self, regressions: bool) -> Self {
        self.regressions = regressions;
        self
    }

    /// Sets [`trace`](Self#structfield.trace).
    #[must_use]
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// Sets [`name`](Self#structfield.name).
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}
