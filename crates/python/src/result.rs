//! Explorations, and what comes of them.

use std::collections::BTreeSet;
use std::time::Duration;

use drawloom_engine::config::{Clock, Config, StrategySpec};
use drawloom_engine::finding::FindingKind;
use drawloom_engine::schedule::{Schedule, TokenError};
use drawloom_engine::strategy::{Sequential, Strategy};
use drawloom_engine::{Budget, Budgets, Ending, Limits, Outcome, Settings, Stop};
use drawloom_explore::{Exploration, Failure, Program};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::os::fd::FromRawFd;

use crate::assumptions;
use crate::instrument::{start_tracing_thread, stop_tracing_thread};
use crate::leftovers;
use crate::markers::{self, Follows, Markers};
use crate::preload;
use crate::program::Threads;
use crate::watch::{self, RealTime};
use crate::world::{Knowledge, begin_execution, world};

/// Explorations of one program begin anew at most so often.
const MOST_BEGINNINGS: u32 = 200;

/// Explores `body` as `config` says, with what is `known` of it, in a program that `command` runs. `real_time` says
/// for how many seconds a thread may stand still, whether Ctrl-C ends the exploration, and which signal wakes its thread.
/// A dict of what came of it.
#[pyfunction]
fn explore<'py>(
    py: Python<'py>,
    body: Py<PyAny>,
    config: &str,
    name: &str,
    known: Option<&str>,
    command: &str,
    real_time: (f64, bool, i32),
) -> PyResult<Bound<'py, PyDict>> {
    let config: Config = config.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
    // One worker is as good a program as several, and who comes first makes no difference.
    let config = config.name(name).leaks(false).allow_no_choice(true);
    let looking = begin(real_time, config.timeout, None)?;
    let program = Threads::new(body);
    // What is done but once in a process, and then remembered, is not what matters.
    rehearse(&program);
    world().knowledge = Knowledge::new();
    match known {
        Some(known) => world().knowledge.read(py, known),
        None => rehearse(&program),
    }
    let mut exploration = repeatedly(&config, &program);
    if let Some(failing) = with_ticking_clocks(&config, &exploration, &program) {
        exploration = failing;
    }
    stop_looking(looking);
    if config.clock == Clock::Explore {
        assumptions::none_of_time();
    }
    let told = tell(py, &exploration, program.body(), command);
    end();
    let told = told?;
    told.set_item("foreign", is_foreign(&config, name))?;
    Ok(told)
}

/// Tries all orders in which the threads of `body` pass their markers, which `gates` tells of each code. `limits` are
/// how many seconds an execution may take, and how many threads that are no part of it. A dict of what came of it.
#[pyfunction]
fn explore_markers<'py>(
    py: Python<'py>,
    body: Py<PyAny>,
    gates: Py<PyAny>,
    limits: (Option<f64>, Option<f64>),
    real_time: (f64, bool, i32),
) -> PyResult<Bound<'py, PyDict>> {
    let config = format!("exhaustive(max_schedules = {}, keep_going = true, shrink = false, fixes = 0)", u32::MAX);
    let config: Config = config.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
    let looking = begin(real_time, None, Some(Markers::new(gates, false, None, limits)))?;
    let program = Threads::new(body);
    let exploration = repeatedly(&config.name("markers").leaks(false), &program);
    stop_looking(looking);
    let told = PyDict::new(py);
    let diverged = exploration.findings().iter().find_map(|failure| match &failure.finding.kind {
        FindingKind::Divergence(divergence) => Some(format!("{}, not {}", divergence.found, divergence.expected)),
        _ => None,
    });
    told.set_item("diverged", diverged)?;
    told.set_item("exhausted", exploration.exhausted())?;
    tell_in_real_time(&told, exploration.stopped_by())?;
    end();
    Ok(told)
}

/// Runs `body` once, with its threads in the order that `script` has. `gates` tells of the places at which they stop; those are
/// all instructions, if `every_instruction`.
#[pyfunction]
fn run_in_order<'py>(
    py: Python<'py>,
    body: Py<PyAny>,
    gates: Py<PyAny>,
    script: Py<PyAny>,
    every_instruction: bool,
    limits: (Option<f64>, Option<f64>),
    real_time: (f64, bool, i32),
) -> PyResult<Bound<'py, PyDict>> {
    let looking = begin(real_time, None, Some(Markers::new(gates, every_instruction, Some(script), limits)))?;
    // Whatever becomes known, it is not begun anew.
    world().rehearsing = true;
    // If nobody is next, time may pass for those who wait for that.
    let budgets = Budgets::NONE.with(Budget::EarlyFires, u32::MAX);
    let limits = Limits { max_steps: u64::MAX, starvation_bound: u64::MAX, budgets, ..Limits::default() };
    let ending = once(&Threads::new(body), Box::new(Follows), limits);
    stop_looking(looking);
    let told = PyDict::new(py);
    let stop = if let Ending::Stopped(stop) = &ending { Some(stop) } else { None };
    tell_in_real_time(&told, stop)?;
    end();
    Ok(told)
}

/// Whether it is the schedule of another test that is to be replayed.
fn is_foreign(config: &Config, name: &str) -> bool {
    let StrategySpec::Replay { token, .. } = &config.strategy else { return false };
    matches!(Schedule::from_token(token, name), Err(TokenError::Foreign(_)))
}

fn begin(
    real_time: (f64, bool, i32),
    timeout: Option<Duration>,
    markers: Option<Markers>,
) -> PyResult<preload::Looking> {
    if drawloom_gates::baton().is_some() || world().exploring {
        return Err(PyRuntimeError::new_err("an exploration cannot be started from within an exploration"));
    }
    world().exploring = true;
    (world().knowledge, world().unsupported, world().keys) = (Knowledge::new(), None, None);
    (world().uncontrolled, world().needs_threads, world().stuck, world().made) = (None, false, None, 0);
    (world().uncollected, world().markers) = (0, markers);
    world().assumptions.clear();
    world().several_readers = false;
    (world().unending, world().was_cut_short) = (None, false);
    // What is known from the beginning need not be found out.
    world().knowledge.timed_joins = world().markers.is_some();
    let looking = preload::look();
    let (patience, interruptible, wakes) = real_time;
    watch::begin(&RealTime { patience, interruptible, wakes, timeout });
    start_tracing_thread();
    Ok(looking)
}

fn stop_looking(looking: preload::Looking) {
    stop_tracing_thread();
    watch::end();
    drop(looking);
}

fn end() {
    begin_execution();
    leftovers::end();
    (world().exploring, world().markers) = (false, None);
}

/// One execution whose only purpose is to see what is shared; and to have imported what is imported.
fn rehearse(program: &Threads) {
    world().rehearsing = true;
    // Who goes round and round has been seen to long before.
    let limits = Limits { max_steps: 100_000, progress_bound: 100, ..Limits::default() };
    once(program, Box::new(Sequential), limits);
}

/// One execution with the choices of `strategy`.
fn once(program: &Threads, strategy: Box<dyn Strategy>, limits: Limits) -> Ending {
    let mut executor = program.executor(strategy);
    let settings = Settings { limits, ..Settings::default() };
    let Outcome { ending, .. } = program.run(&mut executor, &settings, 0);
    (world().rehearsing, world().grown) = (false, false);
    ending
}

/// Explores until nothing more becomes known on the way.
fn repeatedly(config: &Config, program: &Threads) -> Exploration {
    for _ in 1..MOST_BEGINNINGS {
        world().made = 0;
        markers::begin_exploration(program.body());
        let exploration = drawloom_explore::explore(&within_time(config), program);
        if !std::mem::take(&mut world().grown) || world().unsupported.is_some() || world().unending.is_some() {
            return exploration;
        }
        if watch::left().is_some_and(|left| left.is_zero()) {
            world().unending = Some("the time was up before the shared objects were known".to_owned());
            return exploration;
        }
    }
    world().unsupported.get_or_insert_with(|| "the set of written names differs between executions".to_owned());
    drawloom_explore::explore(config, program)
}

/// Executions in which no two readings of a clock are the same, where several tasks read one and all would be said to hold
/// while clocks stand still. All orders of all readings would be too many: these are samples.
const TICKING_EXECUTIONS: u64 = 100;

/// What those have found, if anything.
fn with_ticking_clocks(config: &Config, found: &Exploration, program: &Threads) -> Option<Exploration> {
    let holds = found.exhausted() && found.findings().is_empty() && found.stopped_by().is_none();
    if !holds || !world().several_readers || config.clock == Clock::Explore || world().unsupported.is_some() {
        return None;
    }
    let made = world().made;
    world().knowledge.ticking = true;
    let sampling = config.clone().strategy(StrategySpec::Random).iterations(TICKING_EXECUTIONS);
    let sampled = repeatedly(&sampling, program);
    let has_failed = sampled.stopped_by().is_none() && sampled.findings().iter().any(Failure::is_certain);
    if has_failed {
        return Some(sampled);
    }
    (world().knowledge.ticking, world().made) = (false, made);
    None
}

/// The same, in what is left of the time.
fn within_time(config: &Config) -> Config {
    match watch::left() {
        Some(left) => config.clone().timeout(left),
        None => config.clone(),
    }
}

fn tell<'py>(
    py: Python<'py>,
    exploration: &Exploration,
    body: &Py<PyAny>,
    command: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (more_known, unknown): (String, Option<String>) = body.call_method0(py, "known")?.extract(py)?;
    let told = PyDict::new(py);
    told.set_item("executions", exploration.executions())?;
    told.set_item("steps", exploration.steps())?;
    told.set_item("behaviours", exploration.behaviours())?;
    told.set_item("failing", exploration.failing_executions())?;
    told.set_item("exhausted", exploration.exhausted())?;
    told.set_item("timed_out", exploration.timed_out())?;
    told.set_item("summary", exploration.summary())?;
    told.set_item("error", exploration.error())?;
    tell_in_real_time(&told, exploration.stopped_by())?;
    told.set_item("assumptions", world().assumptions.clone())?;
    told.set_item("left_over", world().leftovers.found.clone())?;
    told.set_item("needs_threads", world().needs_threads)?;
    told.set_item("made", world().made)?;
    told.set_item("opaque", world().knowledge.opaque.clone().or(unknown))?;
    let mut findings = Vec::new();
    for failure in exploration.findings() {
        let found = PyDict::new(py);
        found.set_item("kind", kind_of(failure))?;
        found.set_item("certain", failure.is_certain())?;
        found.set_item("message", failure.message())?;
        found.set_item("occurrences", failure.occurrences())?;
        found.set_item("preemptions", failure.preemptions())?;
        found.set_item("iteration", failure.iteration())?;
        let mut record = failure.record().clone();
        if !record.meta.token.is_empty() {
            record.meta.token = format!("{}~{}{more_known}", record.meta.token, world().knowledge.write(py));
        }
        record.meta.command = Some(command.to_owned());
        record.meta.own = true;
        found.set_item("token", &record.meta.token)?;
        let schedule: Vec<&str> =
            record.steps.iter().map(|step| record.tasks[step.task as usize].path.as_str()).collect();
        found.set_item("schedule", schedule)?;
        found.set_item("record", record.write())?;
        findings.push(found);
    }
    told.set_item("findings", findings)?;
    Ok(told)
}

/// The kind of a finding, as Python would say it.
fn kind_of(failure: &Failure) -> &'static str {
    match failure.finding.kind {
        FindingKind::Panic(_) if failure.record().is_broken_invariant() => "invariant",
        FindingKind::Panic(_) => "exception",
        _ => failure.kind(),
    }
}

/// What has kept it from being under control, if something has; and `stop`, if that has ended it.
fn tell_in_real_time(told: &Bound<'_, PyDict>, stop: Option<&Stop>) -> PyResult<()> {
    let refused = stop.and_then(|stop| if let Stop::Unsupported(what) = stop { Some(what.to_string()) } else { None });
    told.set_item("unsupported", world().unsupported.clone().or(refused))?;
    told.set_item("uncontrolled", world().uncontrolled.clone())?;
    told.set_item("stuck", world().stuck.clone())?;
    told.set_item("unending", world().unending.clone())?;
    told.set_item("was_cut_short", world().was_cut_short)?;
    told.set_item("interrupted", watch::is_interrupted())
}

/// What is known, in words: it belongs to a token, since it decides what is a step.
impl Knowledge {
    fn write(&self, py: Python<'_>) -> String {
        let names = |of: &crate::world::Addresses| {
            // SAFETY: names are live strings, kept for good.
            let text =
                |name: &usize| unsafe { Bound::from_borrowed_ptr(py, *name as *mut pyo3::ffi::PyObject).to_string() };
            let mut names: Vec<String> = of.iter().map(text).collect();
            names.sort();
            names.join(",")
        };
        let flags = [self.whole_objects, self.opaque.is_some(), self.any_name, self.timed_joins, self.ticking];
        let flags = String::from_iter(flags.map(|flag| if flag { '1' } else { '0' }));
        let texts = |of: &BTreeSet<String>| of.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        let (written, of_classes) = (names(&self.written), names(&self.of_classes));
        let (containers, facts, handed_over) = (self.containers.write(), texts(&self.facts), texts(&self.handed_over));
        format!("{flags};{written};{of_classes};{containers};{facts};{handed_over}")
    }

    fn read(&mut self, py: Python<'_>, text: &str) {
        let mut parts = text.split(';');
        let flags = parts.next().unwrap_or_default().as_bytes();
        let flag = |n: usize| flags.get(n) == Some(&b'1');
        (self.whole_objects, self.any_name, self.timed_joins) = (flag(0), flag(2), flag(3));
        self.ticking = flag(4);
        self.opaque = flag(1).then(|| "as in the exploration that found it".to_owned());
        for into in [&mut self.written, &mut self.of_classes] {
            for name in parts.next().unwrap_or_default().split(',').filter(|name| !name.is_empty()) {
                let name = PyString::intern(py, name);
                into.insert(name.as_ptr() as usize);
                std::mem::forget(name.unbind());
            }
        }
        self.containers.read(parts.next().unwrap_or_default());
        for into in [&mut self.facts, &mut self.handed_over] {
            let texts = parts.next().unwrap_or_default().split(',').filter(|text| !text.is_empty());
            into.extend(texts.map(str::to_owned));
        }
    }
}

/// From now on progress is shown on this file, which is ours then; or on stderr, if it is none.
#[pyfunction]
fn show_progress_on(file: i32) {
    // SAFETY: the caller has given the file away.
    let file = (file >= 0).then(|| unsafe { std::fs::File::from_raw_fd(file) });
    drawloom_explore::show_progress_on(file);
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(show_progress_on, module)?)?;
    module.add_function(wrap_pyfunction!(explore, module)?)?;
    module.add_function(wrap_pyfunction!(explore_markers, module)?)?;
    module.add_function(wrap_pyfunction!(run_in_order, module)?)
}
