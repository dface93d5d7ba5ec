//! Among actors a person wants to read what messages say. To put them into words is their types' own code, so it is done for the
//! one execution that is shown: it is made once more, by its schedule, and what was said goes into the record.

use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::Replay;

use super::exploration::Failure;
use super::program::Program;
use super::worker::Worker;

/// Adds what messages say to the record of a failure, if there were actors or nodes and the same is shown again.
pub(super) fn retell<P: Program>(worker: &mut Worker<'_, P>, failure: &mut Failure) {
    if !failure.record.has_processes() || worker.is_spent() {
        return;
    }
    let Ok(schedule) = Schedule::from_token(failure.token(), &worker.plan().name) else { return };
    let mut settings = worker.plan().replay_settings(schedule.spin_rounds);
    settings.limits.notes = true;
    let kind = &failure.finding.kind;
    let again = worker.replay(Box::new(Replay::new(schedule, P::line_of)), &settings, kind.is_found_afterwards());
    let Ok(Some(finding)) = again else { return };
    // A `Debug` that takes steps has changed the execution.
    if finding.kind.word() != kind.word() || worker.engine().steps().len() != failure.record.steps().len() {
        return;
    }
    let told = worker.describe(finding, failure.iteration() - 1);
    failure.record.get_mut().processes = told.record.get().processes.clone();
}
