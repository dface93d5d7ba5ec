//! Explorations: many executions of one program, until the strategy is done, a budget is spent or
//! something is found. What runs them is the front end's.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! - `program` is what a front end brings: a program, and what runs it;
//! - `plan` turns a [`Config`] into what an executor is run with;
//! - `worker` runs single executions and judges them;
//! - `crew` is who decides what is run next, and who runs it: workers on OS threads;
//! - `spread` decides on samples, with the same result on many threads as on one;
//! - `exhaust` decides on every behaviour; `sharing` is how workers have its tree in common;
//! - `levels` explores what needs few preemptions before what needs more;
//! - `events` is what happens, for whoever listens; `progress` listens, and shows how far it has come;
//! - `rounds` says what each execution is drawn with;
//! - `scenario` makes what clients were chosen to call as little as can be;
//! - `shrink` makes the schedule of a finding as simple as can be;
//! - `learn` makes a few more executions, to see why one failed;
//! - `fixes` tries out what could be done about it;
//! - `pipeline` does all that with each finding: minimise, learn, explain, try fixes;
//! - `following` replays a schedule of a program that may have changed since;
//! - `regressions` keeps failing schedules, and replays them first;
//! - `corpus` keeps executions that have shown something new, for the next run;
//! - `resume` goes on where an earlier process stopped;
//! - `attempt` is what `auto` does where a program is small;
//! - `saturation` says when behaviours repeat themselves;
//! - `verdict` is what may be claimed when nothing was found;
//! - `lazy_record` puts a finding into words, when asked;
//! - `exploration` is what comes of it;
//! - `output` prints findings and keeps their traces;
//! - `passing` records a replay in which nothing was found;
//! - `standing` notes under which schedules a test fails or passes now;
//! - `results` tells other programs what a test came to;
//! - `harness` is what a test does around an exploration.

mod attempt;
mod corpus;
mod crew;
mod events;
mod exhaust;
mod exploration;
mod fixes;
mod following;
mod harness;
mod lazy_record;
mod learn;
mod levels;
mod memory;
mod output;
mod passing;
mod pipeline;
mod plan;
mod program;
mod progress;
mod regressions;
mod results;
mod resume;
mod retell;
mod rounds;
mod saturation;
mod scenario;
mod sharing;
mod shrink;
mod spread;
mod standing;
mod verdict;
mod worker;

use std::sync::Arc;

use drawloom_engine::config::Config;
use drawloom_engine::strategy::Strategy;

use progress::Progress;

pub use events::{Event, Listener};
pub use exploration::{Exploration, Failure};
pub use fixes::try_fix;
pub use harness::{Checked, Choices, Crate, Target, Test, check, conduct};
pub use output::ask_for_columns;
pub use program::{Executor, Program};
pub use progress::show_progress_on;
pub use scenario::Layout;
pub use sharing::SHARING;

/// Explores `program` as `config` says. Never panics because of what it finds.
pub fn explore<P: Program>(config: &Config, program: &P) -> Exploration {
    explore_heard_by(config, program, &Progress::new())
}

/// As [`explore`]; `listener` hears what happens. Nothing is shown but what it shows.
pub fn explore_heard_by<P: Program>(config: &Config, program: &P, listener: &dyn Listener) -> Exploration {
    spread::explore(config, None, program, None, listener)
}

/// As [`explore`], with the choices of a strategy of the user's own: `strategy` makes one for each OS thread.
pub fn explore_with<P: Program>(
    config: &Config,
    strategy: impl Fn() -> Box<dyn Strategy> + Send + Sync + 'static,
    program: &P,
) -> Exploration {
    spread::explore(config, Some(Arc::new(strategy)), program, None, &Progress::new())
}
