//! The record of a replay in which nothing was found: to be compared with the execution that failed.

use drawloom_engine::config::Config;
use drawloom_engine::schedule::Schedule;
use drawloom_report::{Meta, Record};

use super::plan::Plan;
use super::program::Program;
use super::worker::Worker;

/// Makes the execution once more and records it; none if `config` is no replay.
pub(super) fn record<P: Program>(config: &Config, program: &P) -> Option<Record> {
    let plan = Plan::of::<P>(config).ok().filter(Plan::is_replay)?;
    let mut worker = Worker::new(&plan, program);
    if worker.replay(plan.strategy(), &plan.settings, true) != Ok(None) {
        return None;
    }
    let token = Schedule::of(worker.engine(), &plan.name, P::line_of).token();
    let (test, strategy) = (plan.name.clone(), plan.strategy_text.clone());
    let meta = Meta { test, strategy, iteration: 1, executions: 1, token, language: P::LANGUAGE, ..Meta::default() };
    Some(Record::passed(worker.engine(), meta, &P::place))
}
