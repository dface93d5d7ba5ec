//! Orders of turns: one that is followed, and what comes of those that were made.

use drawloom_engine::finding::{Divergence, Finding, FindingKind};
use drawloom_engine::strategy::{Strategy, View};
use drawloom_engine::{Ending, Engine, OpKind, Site, Status, Step, TaskId};
use pyo3::prelude::*;

use super::{CONTENDED, Markers};
use crate::world::{aside, place, world};

/// A task, what it is about, the word for that, and the place.
pub(super) type Standing = (String, &'static str, String, String, u32);

pub(super) fn name_of(engine: &Engine, task: TaskId) -> String {
    engine.task(task).name.as_deref().unwrap_or_default().to_owned()
}

/// Tells the script of the turns that it does not know of; whether the last one is what it has.
pub(super) fn tell_script(steps: &[Step], name: impl Fn(TaskId) -> String) -> bool {
    // SAFETY: whoever runs has the interpreter's lock.
    let py = unsafe { Python::assume_gil_acquired() };
    let Some(markers) = &mut world().markers else { return true };
    let Some(script) = markers.script.as_ref().map(|script| script.clone_ref(py)) else { return true };
    let known = std::mem::replace(&mut markers.told, steps.len());
    let turns: Vec<(String, String)> = steps
        .iter()
        .skip(known)
        .filter(|step| markers.is_turn(step.kind, step.resource) && markers.own.contains(&step.task))
        .map(|step| (name(step.task), markers.word(step.arg).to_owned()))
        .collect();
    let passed = |turn| aside(|| script.call_method1(py, "passed", turn)).and_then(|told| told.extract::<bool>(py));
    turns.into_iter().fold(true, |_, turn| passed(turn).unwrap_or(false))
}

/// Follows an order that the Python side has.
pub(crate) struct Follows;

impl Strategy for Follows {
    fn begin(&mut self, _seed: u64) {}

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        // SAFETY: whoever runs has the interpreter's lock.
        let py = unsafe { Python::assume_gil_acquired() };
        let name = |task: TaskId| view.task(task).name.as_deref().unwrap_or_default().to_owned();
        tell_script(view.steps(), name);
        let mut able: Vec<TaskId> = view.ready().iter().copied().filter(|task| !view.is_environment(*task)).collect();
        able.sort();
        let (mut asked, mut script) = (Vec::new(), None);
        if let Some(markers) = &world().markers {
            let is_own_turn = |task: TaskId| {
                let pending = view.pending(task);
                markers.is_turn(pending.kind, pending.resource) && markers.own.contains(&task)
            };
            // The order is one of turns of its own threads; nobody else waits for it.
            if let Some(other) = able.iter().find(|task| !is_own_turn(**task)) {
                return Ok(*other);
            }
            asked.extend(able.iter().map(|task| (name(*task), markers.word(view.pending(*task).arg).to_owned())));
            script = markers.script.as_ref().map(|script| script.clone_ref(py));
        }
        let found = script.and_then(|script| aside(|| script.call_method1(py, "find", (asked,))).ok());
        let found = found.and_then(|found| found.extract::<Option<usize>>(py).ok()).flatten();
        // Else time may pass for somebody who is on the way.
        let clock = || view.ready().iter().find(|task| view.is_environment(**task));
        match found.and_then(|at| able.get(at)).or_else(clock) {
            Some(task) => Ok(*task),
            None => {
                let (expected, found) =
                    ("the next turn of the order".to_owned(), "nobody who could take it".to_owned());
                Err(Box::new(Divergence { step: view.steps().len() as u64, expected, found, task: None }))
            }
        }
    }

    fn end(&mut self, view: &View<'_>, _ending: &Ending) {
        note_standing(view);
    }
}

/// Takes note of how tasks stand, unless that was done.
pub(super) fn note_standing(view: &View<'_>) {
    if let Some(markers) = world().markers.as_mut().filter(|markers| markers.stood.is_empty()) {
        markers.stood = markers.own.iter().map(|task| standing(markers, view, *task)).collect();
    }
}

fn located(site: Site) -> (String, u32) {
    place(site).map_or((String::new(), 0), |place| (place.file, place.line))
}

fn standing(markers: &Markers, view: &View<'_>, task: TaskId) -> Standing {
    let (t, pending) = (view.task(task), view.pending(task));
    let (file, line) = located(pending.site);
    let name = t.name.as_deref().unwrap_or_default().to_owned();
    let (state, word) = match (t.status, pending.kind) {
        (Status::Finished, _) => ("ended", String::new()),
        (_, kind) if markers.is_turn(kind, pending.resource) => ("turn", markers.word(pending.arg).to_owned()),
        (_, kind) => waiting_in(kind),
    };
    (name, state, word, file, line)
}

fn waiting_in(kind: OpKind) -> (&'static str, String) {
    match kind {
        OpKind::Lock | OpKind::Acquire => ("lock", String::new()),
        kind => ("waits", kind.word().to_owned()),
    }
}

/// What an execution came to, for the Python side: a word unless all is well, the turns that were taken, and how threads stood.
pub(crate) fn ended(py: Python<'_>, body: &Py<PyAny>, engine: &Engine, ending: &Ending, in_the_way: bool) {
    let Some(markers) = &mut world().markers else { return };
    if in_the_way && markers.script.is_none() && world().knowledge.facts.insert(CONTENDED.to_owned()) {
        // Executions before did not vary who begins: they are made anew.
        world().grown = true;
        return;
    }
    let found = ending.finding().filter(|_| markers.stood.is_empty());
    if let Some(Finding { kind: FindingKind::Deadlock(deadlock), .. }) = found {
        let blocked = deadlock.blocked.iter().filter(|blocked| markers.own.contains(&blocked.task));
        markers.stood = blocked
            .map(|blocked| {
                let ((file, line), (state, word)) = (located(blocked.site), waiting_in(blocked.kind));
                (name_of(engine, blocked.task), state, word, file, line)
            })
            .collect();
    }
    let passed: Vec<(String, String, String, u32)> = engine
        .steps()
        .iter()
        .filter(|step| markers.is_turn(step.kind, step.resource) && markers.own.contains(&step.task))
        .map(|step| {
            let (file, line) = located(step.site);
            (name_of(engine, step.task), markers.word(step.arg).to_owned(), file, line)
        })
        .collect();
    let found = (!ending.is_done()).then(|| ending.word());
    let stood = std::mem::take(&mut markers.stood);
    let enough = aside(|| body.call_method1(py, "ended", (found, passed, stood)));
    match enough.and_then(|enough| enough.extract::<bool>(py)) {
        Ok(enough) => world().markers.iter_mut().for_each(|markers| markers.enough |= enough),
        Err(error) => error.print(py),
    }
}
