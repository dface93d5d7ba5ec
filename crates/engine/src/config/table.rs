//! Every name of the grammar. A new strategy or argument is one row here.

use super::argument::{Argument, Field};
use super::{
    Clock, Config, DEFAULT_MAX_SCHEDULES, DEFAULT_MEMORY_BUDGET_BYTES, DEFAULT_STICKINESS, MAX_STICKINESS,
    MIN_STACK_SIZE_BYTES, StrategySpec, Teardown,
};

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

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "sequential",
        doc: "runs each task until it blocks or ends",
        start: || StrategySpec::Sequential,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "round_robin",
        doc: "gives each step to the next task in turn",
        start: || StrategySpec::RoundRobin,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "random",
        doc: "gives each step to a task drawn uniformly",
        start: || StrategySpec::Random,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "sticky",
        doc: "draws too, but seldom leaves the current task",
        start: || StrategySpec::Sticky { stickiness: DEFAULT_STICKINESS },
        arguments: &[Argument {
            name: "stickiness",
            doc: "stay with probability 1 - 2^-stickiness",
            field: Field::Whole {
                least: 0,
                most: MAX_STICKINESS as u64,
                get: |spec| match spec {
                    StrategySpec::Sticky { stickiness } => Some(u64::from(*stickiness)),
                    _ => None,
                },
                set: |spec, number| {
                    if let StrategySpec::Sticky { stickiness } = spec {
                        *stickiness = number as u32;
                    }
                },
            },
        }],
        required: None,
    },
    Strategy {
        name: "exhaustive",
        doc: "explores every behaviour once, and says when all are",
        start: || StrategySpec::Exhaustive {
            max_schedules: DEFAULT_MAX_SCHEDULES,
            max_depth: 0,
            resume: true,
            memory_budget: DEFAULT_MEMORY_BUDGET_BYTES,
        },
        arguments: &[
            Argument {
                name: "max_schedules",
                doc: "executions after which it gives up",
                field: Field::Whole {
                    least: 1,
                    most: u64::MAX,
                    get: |spec| match spec {
                        StrategySpec::Exhaustive { max_schedules, .. } => Some(*max_schedules),
                        _ => None,
                    },
                    set: |spec, number| {
                        if let StrategySpec::Exhaustive { max_schedules, .. } = spec {
                            *max_schedules = number;
                        }
                    },
                },
            },
            Argument {
                name: "max_depth",
                doc: "steps after which an execution is cut; 0 for no limit",
                field: Field::Whole {
                    least: 0,
                    most: u64::MAX,
                    get: |spec| match spec {
                        StrategySpec::Exhaustive { max_depth, .. } => Some(*max_depth),
                        _ => None,
                    },
                    set: |spec, number| {
                        if let StrategySpec::Exhaustive { max_depth, .. } = spec {
                            *max_depth = number;
                        }
                    },
                },
            },
            Argument {
                name: "resume",
                doc: "a test that was cut short goes on when run again",
                field: Field::Flag {
                    get: |spec| match spec {
                        StrategySpec::Exhaustive { resume, .. } => Some(*resume),
                        _ => None,
                    },
                    set: |spec, flag| {
                        if let StrategySpec::Exhaustive { resume, .. } = spec {
                            *resume = flag;
                        }
                    },
                },
            },
            Argument {
                name: "memory_budget",
                doc: "for what is left to explore; frugal mode beyond it",
                field: Field::Size {
                    least: 0,
                    get: |spec| match spec {
                        StrategySpec::Exhaustive { memory_budget, .. } => Some(*memory_budget as u64),
                        _ => None,
                    },
                    set: |spec, bytes| {
                        if let StrategySpec::Exhaustive { memory_budget, .. } = spec {
                            *memory_budget = bytes;
                        }
                    },
                },
            },
        ],
        required: None,
    },
    Strategy {
        name: "replay",
        doc: "repeats the schedule of a report",
        start: || StrategySpec::Replay { token: String::new(), lenient: false },
        arguments: &[
            Argument {
                name: "token",
                doc: "the schedule, as the report printed it",
                field: Field::Text {
                    get: |spec| match spec {
                        StrategySpec::Replay { token, .. } => Some(token),
                        _ => None,
                    },
                    set: |spec, text| {
                        if let StrategySpec::Replay { token, .. } = spec {
                            *token = text;
                        }
                    },
                },
            },
            Argument {
                name: "lenient",
                doc: "go on where the program no longer fits the schedule",
                field: Field::Flag {
                    get: |spec| match spec {
                        StrategySpec::Replay { lenient, .. } => Some(*lenient),
                        _ => None,
                    },
                    set: |spec, flag| {
                        if let StrategySpec::Replay { lenient, .. } = spec {
                            *lenient = flag;
                        }
                    },
                },
            },
        ],
        required: Some("token"),
    },
];

/// The arguments that only say how often and with which luck to draw: written in the parentheses of
/// a randomised strategy.
pub(super) const SAMPLING: [&str; 2] = ["iterations", "seed"];

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
        name: "seed",
        doc: "where randomised strategies begin to draw; 0x5eed unless given",
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
        doc: "yields without progress that make a livelock",
        field: Field::Whole {
            least: 1,
            most: u64::MAX,
            get: |config| Some(config.progress_bound),
            set: |config, number| config.progress_bound = number,
        },
    },
    Argument {
        name: "timeout",
        doc: "wall-clock time for the whole exploration; none unless given",
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
        doc: "go on after a finding and collect all distinct ones",
        field: Field::Flag { get: |config| Some(config.keep_going), set: |config, flag| config.keep_going = flag },
    },
    Argument {
        name: "behaviours",
        doc: "count distinct behaviours",
        field: Field::Flag { get: |config| Some(config.behaviours), set: |config, flag| config.behaviours = flag },
    },
    Argument {
        name: "spurious_wakeups",
        doc: "condition variables that may wake unasked, per execution",
        field: Field::Whole {
            least: 0,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.spurious_wakeups)),
            set: |config, number| config.spurious_wakeups = number as u32,
        },
    },
    Argument {
        name: "weak_failures",
        doc: "weak compare-exchanges that may fail unasked, per execution",
        field: Field::Whole {
            least: 0,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.weak_failures)),
            set: |config, number| config.weak_failures = number as u32,
        },
    },
    Argument {
        name: "clock",
        doc: "virtual time moves when nothing else can, or, with `explore`, at any time",
        field: Field::Choice {
            names: &Clock::NAMES,
            get: |config| Some(config.clock as usize),
            set: |config, index| config.clock = Clock::ALL[index],
        },
    },
    Argument {
        name: "early_fires",
        doc: "timers that may fire early, per execution, with `clock = explore`",
        field: Field::Whole {
            least: 0,
            most: u32::MAX as u64,
            get: |config| Some(u64::from(config.early_fires)),
            set: |config, number| config.early_fires = number as u32,
        },
    },
    Argument {
        name: "leaks",
        doc: "report what is never dropped",
        field: Field::Flag { get: |config| Some(config.leaks), set: |config, flag| config.leaks = flag },
    },
    Argument {
        name: "unjoined",
        doc: "report tasks that are never joined",
        field: Field::Flag { get: |config| Some(config.unjoined), set: |config, flag| config.unjoined = flag },
    },
    Argument {
        name: "teardown",
        doc: "unfinished tasks are unwound, or, with `leak`, given up",
        field: Field::Choice {
            names: &Teardown::NAMES,
            get: |config| Some(config.teardown as usize),
            set: |config, index| config.teardown = Teardown::ALL[index],
        },
    },
    Argument {
        name: "trace",
        doc: "write a trace file for each finding",
        field: Field::Flag { get: |config| Some(config.trace), set: |config, flag| config.trace = flag },
    },
    Argument {
        name: "name",
        doc: "what reports call the test; its path unless given",
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
