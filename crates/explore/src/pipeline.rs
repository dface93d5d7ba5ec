//! What is made of a finding before anybody reads it, one step after the other:
//!
//! 1. *minimise*: replay simpler schedules (`shrink`), of smaller scenarios if there is one (`scenario`);
//! 2. *retell*: among actors, replay it once more and write down what messages say (`retell`);
//! 3. *learn*: make a few more executions, to see what others do (`learn`);
//! 4. *explain*: say why it failed, from its record and what was learned (`drawloom_report::explain`);
//! 5. *try fixes*: see which explanation stands, and whether what could be done about it helps (`fixes`).
//!
//! All of it happens on the worker that has explored.

use drawloom_engine::config::Shrink;
use drawloom_engine::finding::FindingKind;
use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::Replay;
use drawloom_report::explain_all;

use super::exploration::Failure;
use super::learn::learn;
use super::output::source;
use super::program::Program;
use super::retell::retell;
use super::worker::Worker;
use super::{fixes, shrink};

/// Minimises what was found and explains what is left of it, as far as the plan says.
pub(super) fn work_out<P: Program>(worker: &mut Worker<'_, P>, failures: &mut [Failure]) {
    failures.iter_mut().for_each(|failure| minimise(worker, failure));
    explain(worker, failures);
}

/// The same, of schedules that are to stay as they are.
pub(super) fn explain<P: Program>(worker: &mut Worker<'_, P>, failures: &mut [Failure]) {
    // What no order of steps has brought about is not explained by one.
    for failure in failures.iter_mut().filter(|failure| failure.comes_back()) {
        retell(worker, failure);
        // Who does not want it simple wants it at once: the rest can wait until somebody reads it.
        if worker.plan().shrink == Shrink::Off || worker.is_spent() {
            failure.record.explain_when_read();
            continue;
        }
        let also_said = also_said(worker, failure);
        let knowledge = learn(worker, failure).unwrap_or_default();
        let explanations = explain_all(failure.record.get(), &knowledge, &source);
        if let Some(mut explanation) = fixes::choose(worker, failure, explanations) {
            if let Some(said) = also_said {
                explanation.also_said(&said, failure.record.get());
            }
            failure.record.get_mut().explained(explanation);
        }
    }
}

/// What a panic says when its schedule is followed again, if that is something else: then the program keeps something from one
/// execution to the next, or reads something that no schedule decides, and the failure may be no more than that.
fn also_said<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure) -> Option<String> {
    let FindingKind::Panic(before) = &failure.finding.kind else { return None };
    if worker.plan().settings.leak || worker.has_leaked() {
        return None;
    }
    let schedule = Schedule::from_token(failure.token(), &worker.plan().name).ok()?;
    let settings = worker.plan().replay_settings(schedule.spin_rounds);
    let again = worker.replay(Box::new(Replay::new(schedule, P::line_of)), &settings, false).ok()??;
    match again.kind {
        FindingKind::Panic(after) if without_addresses(&after.message) != without_addresses(&before.message) => {
            Some(after.message)
        }
        _ => None,
    }
}

/// Nobody expects an address to be the same again.
fn without_addresses(message: &str) -> String {
    let mut parts = message.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "0x";
        text += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    text
}

fn minimise<P: Program>(worker: &mut Worker<'_, P>, failure: &mut Failure) {
    if !shrink::is_wanted(worker.plan()) || worker.is_spent() || !failure.comes_back() {
        return;
    }
    let simpler = shrink::in_a_smaller_scenario(worker, failure).or_else(|| shrink::one(worker, failure));
    if let Some(simpler) = simpler {
        *failure = simpler;
    }
}
