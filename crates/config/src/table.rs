//! Every name of the grammar. A new strategy or argument is one row here.

mod strategies;

use super::argument::{Argument, Field};
use super::{Clock, Config, MIN_STACK_SIZE_BYTES, Memory, Shrink, StrategySpec, Teardown, Until};

pub(super) use strategies::STRATEGIES;

/// A strategy: its name, what it is good for, and the arguments that only it knows.
pub(super) struct Strategy {
    pub name: &'static str,
    pub doc: &'static str,
    /// The strategy with the defaults of its own arguments.
    pub start: fn() -> StrategySpec,
    pub arguments: &'static [Argument<StrategySpec>],
    /// The one of `arguments` without which it makes no sense.
    pub required: Option<&'static str>,
}

/// The arguments that only say how often and with which luck to draw: written in the parentheses of
/// a randomised strategy.
pub(super) const SAMPLING: [&str; 3] = ["iterations", "until", "seed"];

/// The arguments of every strategy. A row's `most` is what its field holds, so no `as` below loses
/// anything.
pub(super) const SHARED: &[Argument<Config>] = &[
    Argument {
        name: "iterations",
        doc: "executions to try, if the strategy is randomised",
        field: Field::Whole {
            least: 1,
            most: u64::MAX,
            get: |config| Some(config.iterations),
            set: |config, number| config.iterations = number,
        },
    },
    Argument {
        name: "until",
        doc: "`saturated`: stop when executions show hardly any new behaviour",
        field: Field::Choice {
            names: &Until::NAMES,
            get: |config| Some(config.until as usize),
            set: |config, index| config.until = Until::ALL[index],
        },
    },
    Argument {
        name: "seed",
        doc: "seed of randomised strategies; 0x5eed by default",
        field: Field::Whole {
            least: 0,
            most: u64::MAX,
            get: |config| config.seed,
            set: |config, number| config.seed = Some(number),
        },
    },
    Argument {
        name: "max_steps",
        doc: "steps of one execution before it is cut off",
        field: Field::Whole {
            least: 1,
            most: u64::MAX,
            get: |config| Some(config.max_steps),
            set: |config, number| config.max_steps = number,
        },
    },
    Argument {
        name: "progress_bound",
        doc: "yields without progress before a livelock is reported",
        field: Field::Whole {
            least: 1,
            most: u64::MAX,
            get: |config| Some(config.progress_bound),
            set: |config, number| config.progress_bound = number,
        },
    },
    Argument {
        name: "spin_rounds",
        doc: "equal rounds of a spin loop before `exhaustive` cuts it",
        field: Field::Whole {
            least: 1,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.spin_rounds)),
            set: |config, number| config.spin_rounds = number as u32,
        },
    },
    Argument {
        name: "timeout",
        doc: "wall-clock time limit for the whole exploration; none by default",
        field: Field::Time { get: |config| config.timeout, set: |config, time| config.timeout = Some(time) },
    },
    Argument {
        name: "threads",
        doc: "executions at the same time; 0 for one per core",
        field: Field::Whole {
            least: 0,
            most: usize::MAX as u64,
            get: |config| Some(config.threads as u64),
            set: |config, number| config.threads = number as usize,
        },
    },
    Argument {
        name: "stack_size",
        doc: "stack of each task",
        field: Field::Size {
            least: MIN_STACK_SIZE_BYTES as u64,
            get: |config| Some(config.stack_size as u64),
            set: |config, bytes| config.stack_size = bytes,
        },
    },
    Argument {
        name: "max_tasks",
        doc: "tasks of one execution before it is cut off",
        field: Field::Whole {
            least: 1,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.max_tasks)),
            set: |config, number| config.max_tasks = number as u32,
        },
    },
    Argument {
        name: "keep_going",
        doc: "continue after a finding and collect all distinct ones",
        field: Field::Flag { get: |config| Some(config.keep_going), set: |config, flag| config.keep_going = flag },
    },
    Argument {
        name: "allow_no_choice",
        doc: "pass even if no execution had a choice, as with a single task",
        field: Field::Flag {
            get: |config| Some(config.allow_no_choice),
            set: |config, flag| config.allow_no_choice = flag,
        },
    },
    Argument {
        name: "spurious_wakeups",
        doc: "maximum spurious wake-ups per execution",
        field: Field::Whole {
            least: 0,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.spurious_wakeups)),
            set: |config, number| config.spurious_wakeups = number as u32,
        },
    },
    Argument {
        name: "weak_failures",
        doc: "maximum spurious failures of weak compare-exchanges per execution",
        field: Field::Whole {
            least: 0,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.weak_failures)),
            set: |config, number| config.weak_failures = number as u32,
        },
    },
    Argument {
        name: "clock",
        doc: "virtual time advances when no task can run; with `explore`, at any time",
        field: Field::Choice {
            names: &Clock::NAMES,
            get: |config| Some(config.clock as usize),
            set: |config, index| config.clock = Clock::ALL[index],
        },
    },
    Argument {
        name: "early_fires",
        doc: "maximum early timers per execution, with `clock = explore`",
        field: Field::Whole {
            least: 0,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.early_fires)),
            set: |config, number| config.early_fires = number as u32,
        },
    },
    Argument {
        name: "memory",
        doc: "the memory model; only sequential consistency so far",
        field: Field::Choice {
            names: &Memory::NAMES,
            get: |config| Some(config.memory as usize),
            set: |config, index| config.memory = Memory::ALL[index],
        },
    },
    Argument {
        name: "leaks",
        doc: "report values that are never dropped",
        field: Field::Flag { get: |config| Some(config.leaks), set: |config, flag| config.leaks = flag },
    },
    Argument {
        name: "unjoined",
        doc: "report tasks that are never joined",
        field: Field::Flag { get: |config| Some(config.unjoined), set: |config, flag| config.unjoined = flag },
    },
    Argument {
        name: "teardown",
        doc: "unwind unfinished tasks, or, with `leak`, abandon them",
        field: Field::Choice {
            names: &Teardown::NAMES,
            get: |config| Some(config.teardown as usize),
            set: |config, index| config.teardown = Teardown::ALL[index],
        },
    },
    Argument {
        name: "shrink",
        doc: "minimise the schedule of a finding; `full`: without a budget",
        field: Field::Choice {
            names: &Shrink::NAMES,
            get: |config| Some(config.shrink as usize),
            set: |config, index| config.shrink = Shrink::ALL[index],
        },
    },
    Argument {
        name: "fixes",
        doc: "schedules to try each proposed fix with; 0: do not try fixes",
        field: Field::Whole {
            least: 0,
            most: u64::MAX,
            get: |config| Some(config.fixes),
            set: |config, number| config.fixes = number,
        },
    },
    Argument {
        name: "regressions",
        doc: "save failing schedules in a file, and replay them first",
        field: Field::Flag { get: |config| Some(config.regressions), set: |config, flag| config.regressions = flag },
    },
    Argument {
        name: "trace",
        doc: "write a trace file for each finding",
        field: Field::Flag { get: |config| Some(config.trace), set: |config, flag| config.trace = flag },
    },
    Argument {
        name: "name",
        doc: "name of the test in reports; its path by default",
        field: Field::Text { get: |config| config.name.as_deref(), set: |config, text| config.name = Some(text) },
    },
];

/// The row of the strategy called `name`.
pub(super) fn strategy(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|row| row.name == name)
}

/// The row of the shared argument called `name`.
pub(super) fn shared(name: &str) -> Option<&'static Argument<Config>> {
    SHARED.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_and_its_strategy_have_one_name() {
        for row in STRATEGIES {
            assert_eq!((row.start)().name(), row.name);
        }
    }

    #[test]
    fn a_strategy_finds_its_own_arguments() {
        for row in STRATEGIES {
            for argument in row.arguments {
                assert!(argument.written(&(row.start)()).is_some(), "{}", argument.name);
            }
            if let Some(required) = row.required {
                assert!(row.arguments.iter().any(|argument| argument.name == required));
            }
        }
    }

    #[test]
    fn no_name_means_two_things() {
        let mut names: Vec<_> = STRATEGIES.iter().map(|row| row.name).collect();
        names.extend(SHARED.iter().map(|row| row.name));
        names.extend(STRATEGIES.iter().flat_map(|row| row.arguments).map(|row| row.name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn sampling_arguments_are_shared_ones() {
        assert!(SAMPLING.iter().all(|name| shared(name).is_some()));
    }
}
