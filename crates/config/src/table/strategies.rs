//! The strategies.

use super::super::argument::{Argument, Field};
use super::super::{
    DEFAULT_CONSTRAINTS, DEFAULT_DEEPEST, DEFAULT_DELAYS, DEFAULT_DEPTH, DEFAULT_MAX_SCHEDULES,
    DEFAULT_MEMORY_BUDGET_BYTES, DEFAULT_SHALLOWEST, DEFAULT_STICKINESS, MAX_STICKINESS, StrategySpec,
};
use super::Strategy;

/// A number of 32 bits that is the field of one variant, under its own name.
macro_rules! whole {
    ($variant:ident, $field:ident, $least:expr, $doc:expr) => {
        Argument {
            name: stringify!($field),
            doc: $doc,
            field: Field::Whole {
                least: $least,
                most: u32::MAX as u64,
                get: |spec| match spec {
                    StrategySpec::$variant { $field, .. } => Some(u64::from(*$field)),
                    _ => None,
                },
                set: |spec, number| {
                    if let StrategySpec::$variant { $field, .. } = spec {
                        *$field = number as u32;
                    }
                },
            },
        }
    };
}

pub(in super::super) const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "auto",
        doc: "cycles through `surw`, `urw`, `race_directed`, `pos` and `pct`",
        start: || StrategySpec::Auto,
        arguments: &[],
        required: None,
    },
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
        doc: "random walk that rarely leaves the current task",
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
        name: "pos",
        doc: "gives operations random priorities, and new ones where they race",
        start: || StrategySpec::Pos,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "surw",
        doc: "makes all orders of accesses to one resource equally likely",
        start: || StrategySpec::Surw,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "urw",
        doc: "makes all interleavings almost equally likely",
        start: || StrategySpec::Urw,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "race_directed",
        doc: "forces races between pairs of places that use one resource",
        start: || StrategySpec::RaceDirected { constraints: DEFAULT_CONSTRAINTS },
        arguments: &[whole!(RaceDirected, constraints, 0, "pairs in one execution, at most")],
        required: None,
    },
    Strategy {
        name: "pct",
        doc: "gives tasks random priorities with few changes; has a probability bound",
        start: || StrategySpec::Pct { depth: DEFAULT_DEPTH },
        arguments: &[whole!(Pct, depth, 1, "number of ordering constraints of the targeted bugs")],
        required: None,
    },
    Strategy {
        name: "idpct",
        doc: "runs `pct`, cycling through depths 2 to 6",
        start: || StrategySpec::Idpct { shallowest: DEFAULT_SHALLOWEST, deepest: DEFAULT_DEEPEST },
        arguments: &[whole!(Idpct, shallowest, 1, "the least depth"), whole!(Idpct, deepest, 1, "the greatest depth")],
        required: None,
    },
    Strategy {
        name: "fair_pct",
        doc: "runs `pct`, then a random walk when an execution gets long",
        start: || StrategySpec::FairPct { fair_depth: DEFAULT_DEPTH },
        arguments: &[whole!(FairPct, fair_depth, 1, "as `depth` of `pct`")],
        required: None,
    },
    Strategy {
        name: "delay_bounded",
        doc: "runs tasks in order, with a few of them delayed",
        start: || StrategySpec::DelayBounded { delays: DEFAULT_DELAYS },
        arguments: &[whole!(DelayBounded, delays, 1, "delays in one execution, at most")],
        required: None,
    },
    Strategy {
        name: "corpus",
        doc: "coverage-guided `pos`: mutates schedules that reached new behaviour",
        start: || StrategySpec::Corpus,
        arguments: &[],
        required: None,
    },
    Strategy {
        name: "exhaustive",
        doc: "explores every behaviour once, and reports when it is done",
        start: || StrategySpec::Exhaustive {
            max_schedules: DEFAULT_MAX_SCHEDULES,
            max_depth: 0,
            resume: true,
            memory_budget: DEFAULT_MEMORY_BUDGET_BYTES,
            preemptions: None,
        },
        arguments: &[
            Argument {
                name: "max_schedules",
                doc: "executions before it stops",
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
                doc: "the next run resumes an unfinished search",
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
                doc: "memory for unexplored branches; frugal mode beyond it",
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
            Argument {
                name: "preemptions",
                doc: "explores schedules with 0, 1, … up to this many preemptions",
                field: Field::Bound {
                    most: u32::MAX as u64,
                    get: |spec| match spec {
                        StrategySpec::Exhaustive { preemptions, .. } => Some(preemptions.map(u64::from)),
                        _ => None,
                    },
                    set: |spec, bound| {
                        if let StrategySpec::Exhaustive { preemptions, .. } = spec {
                            *preemptions = bound.map(|number| number as u32);
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
                doc: "continue where the program no longer fits the schedule",
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
