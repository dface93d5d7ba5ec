//! Markers: places in the code at which threads take turns, and are looked at nowhere else.
//!
//! Which places these are the Python side says of each code. Passing one is a turn (`drawloom_gates`): the trace of an execution
//! has nothing but turns in it, so that exhaustive exploration makes one execution for each order of them. Where an
//! order is given, a strategy of the engine asks the Python side, which has it, who is next.

mod order;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use drawloom_engine::finding::{Divergence, FindingKind};
use drawloom_engine::{Engine, OpKind, Operation, ResourceId, ResourceKind, Site, State, Stop, TaskId, outcome};
use drawloom_gates::{Baton, GOES_ON, TornDown, baton};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

pub(crate) use self::order::{Follows, ended};
use self::order::{Standing, name_of, note_standing, tell_script};
use crate::code::{Kind, Op};
use crate::layout::Operands;
use crate::raise::here;
use crate::steps::NotDone;
use crate::workers::{self, New};
use crate::world::{Addressed, aside, world};
use crate::{native, watch};

/// What a turn is for, besides those that [go on](GOES_ON): the operand of its step. Markers come after these.
const BEGINS: u64 = 1;
const INSTRUCTION: u64 = 2;
const WORDS: [&str; 3] = ["(goes on)", "(begins)", "instruction"];

/// That it matters who begins first: threads are in each other's way.
const CONTENDED: &str = "contended";

/// Of the marker that gates a line: its number, and the last offset at which a `with` is entered.
type Lines = HashMap<usize, (u64, Option<i64>)>;

/// How threads take turns at markers.
pub(crate) struct Markers {
    /// Says which lines of a code are gated by what; none, if nothing of it is.
    gates: Py<PyAny>,
    /// Each instruction of such a code is one more place.
    every_instruction: bool,
    /// What has the order that is given; none, if all are explored.
    script: Option<Py<PyAny>>,
    /// How long an execution may take.
    limit: Option<Duration>,
    /// How long those may take who are no part of it, if there are any.
    patience: Option<Duration>,
    codes: Addressed<usize, Option<Lines>>,
    /// By number, what turns are for.
    words: Vec<String>,
    /// Enough was explored.
    pub(crate) enough: bool,
    /// What follows is of the execution that runs: what turns are steps on, whose they are, how many steps the script
    /// knows of, how far the code has come, and how tasks stood when it was over.
    resource: ResourceId,
    own: Vec<TaskId>,
    told: usize,
    until: Option<Instant>,
    instructions: u32,
    stood: Vec<Standing>,
}

impl Markers {
    pub(crate) fn new(
        gates: Py<PyAny>,
        every_instruction: bool,
        script: Option<Py<PyAny>>,
        (limit, patience): (Option<f64>, Option<f64>),
    ) -> Markers {
        let duration = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        Markers {
            gates,
            every_instruction,
            script,
            limit: limit.map(duration),
            patience: patience.map(duration),
            codes: Addressed::default(),
            words: WORDS.map(str::to_owned).to_vec(),
            enough: false,
            resource: ResourceId::NONE,
            own: Vec::new(),
            told: 0,
            until: None,
            instructions: 0,
            stood: Vec::new(),
        }
    }

    fn begin_execution(&mut self) {
        (self.resource, self.told, self.instructions) = (ResourceId::NONE, 0, 0);
        self.own.clear();
        self.stood.clear();
        self.until = self.limit.map(|limit| Instant::now() + limit);
    }

    fn word(&self, what: u64) -> &str {
        self.words.get(what as usize).map_or("", String::as_str)
    }

    fn is_turn(&self, kind: OpKind, resource: ResourceId) -> bool {
        kind == OpKind::CellWrite && resource == self.resource
    }
}

/// Whether threads take turns at markers, and nothing else is looked at.
#[inline]
pub(crate) fn are_on() -> bool {
    world().markers.is_some()
}

/// Whether there is but the one execution, in an order that is given.
pub(crate) fn is_run_once() -> bool {
    world().markers.as_ref().is_some_and(|markers| markers.script.is_some())
}

/// An exploration begins, maybe anew.
pub(crate) fn begin_exploration(body: &Py<PyAny>) {
    if are_on() {
        // SAFETY: explorations are started by Python code.
        let py = unsafe { Python::assume_gil_acquired() };
        if let Err(error) = aside(|| body.call_method0(py, "begin")) {
            error.print(py);
        }
    }
}

/// An execution begins.
pub(crate) fn begin_execution() {
    if let Some(markers) = &mut world().markers {
        markers.begin_execution();
    }
}

/// From now on threads take turns.
#[pyfunction]
fn take_turns() -> PyResult<()> {
    let baton = current()?;
    let make =
        |engine: &mut Engine| engine.create_resource(TaskId::MAIN, ResourceKind::Cell, State::Plain, Site::UNKNOWN);
    let resource = baton.with_engine(make);
    if let Some(markers) = &mut world().markers {
        markers.resource = resource;
        baton.take_turns(resource);
    }
    Ok(())
}

/// Starts a thread that takes turns at markers, under the name that orders have for it. Its number.
#[pyfunction]
fn spawn_marked(py: Python<'_>, body: Py<PyAny>, name: &str) -> PyResult<u32> {
    workers::spawn(
        py,
        body,
        Vec::new(),
        New { name: Some(name), site: here(), daemon: false, is_marked: true, is_worker: true },
    )
}

/// A thread begins: those that others have started by a turn; those of the order by one, where it matters who is first.
pub(crate) fn begins(baton: Baton, is_marked: bool) -> Result<(), TornDown> {
    let Some(markers) = &mut world().markers else { return Ok(()) };
    if is_marked {
        markers.own.push(baton.running());
    }
    let matters = !is_marked || is_run_once() || world().knowledge.facts.contains(CONTENDED);
    if matters { turn(baton, BEGINS, Site::UNKNOWN) } else { Ok(()) }
}

fn current() -> PyResult<Baton> {
    baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))
}

/// A turn of the running thread; the end of all, if it is not what the script has.
fn turn(baton: Baton, what: u64, site: Site) -> Result<(), TornDown> {
    baton.turn(what, site)?;
    let as_told = baton.with_engine(|engine| tell_script(engine.steps(), |task| name_of(engine, task)));
    if as_told {
        return Ok(());
    }
    stand(baton);
    let step = baton.with_engine(|engine| engine.steps().len() as u64);
    let (expected, found) = ("the next turn of the order".to_owned(), "another one".to_owned());
    let divergence = Divergence { step, expected, found, task: None };
    Err(baton.fail(FindingKind::Divergence(Box::new(divergence))))
}

/// Takes note of how threads stand, before those who unwind come to stand elsewhere.
fn stand(baton: Baton) {
    baton.with_engine(|engine| note_standing(&engine.view()));
}

/// Has the running thread take a turn, if a marker gates the line that it has come to. Whether any line of the code is gated.
pub(crate) fn line(code: *mut PyObject, line: usize) -> Result<bool, NotDone> {
    let Some(gated) = lines_of(code) else { return Ok(false) };
    let Some((what, entered)) = gated.get(&line).copied() else { return Ok(true) };
    let Some(baton) = baton().filter(|baton| takes_turns(*baton)) else { return Ok(true) };
    if entered.is_some_and(|entered| offset() > entered) {
        return Ok(true); // A `with` is met again when it is left.
    }
    let path = file_of(code);
    let site = world().site(&path, line);
    turn(baton, what, site)?;
    Ok(true)
}

/// Whether any line of a code is gated.
#[cfg(not(Py_3_12))]
pub(crate) fn gates_lines_of(code: *mut PyObject) -> bool {
    are_on() && lines_of(code).is_some()
}

fn takes_turns(baton: Baton) -> bool {
    let is_own = world().markers.as_ref().is_some_and(|markers| markers.own.contains(&baton.running()));
    is_own && !baton.is_tearing_down()
}

unsafe extern "C" {
    fn PyEval_GetFrame() -> *mut PyObject;
}

/// How far the running frame has come.
fn offset() -> i64 {
    // SAFETY: callbacks run with the interpreter's lock, within a live frame.
    let frame = unsafe { Bound::from_borrowed_ptr_or_opt(Python::assume_gil_acquired(), PyEval_GetFrame()) };
    frame.and_then(|frame| frame.getattr("f_lasti").ok()?.extract().ok()).unwrap_or(0)
}

fn file_of(code: *mut PyObject) -> String {
    // SAFETY: callbacks run with the interpreter's lock, and are given live codes.
    let code = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), code) };
    code.getattr("co_filename").and_then(|file| file.extract()).unwrap_or_default()
}

/// What gates the lines of a code, which the Python side is asked for once.
fn lines_of(code: *mut PyObject) -> Option<&'static Lines> {
    let markers = world().markers.as_mut()?;
    if !markers.codes.contains_key(&(code as usize)) {
        // Its address is its name, as long as it is known.
        crate::code::code_at(code);
        // SAFETY: as above.
        let py = unsafe { Python::assume_gil_acquired() };
        // SAFETY: as above.
        let object = unsafe { Bound::from_borrowed_ptr(py, code) };
        let asked = markers.gates.clone_ref(py);
        let told = aside(|| asked.call1(py, (object,)));
        let told = told.and_then(|told| told.extract::<Option<HashMap<usize, (String, Option<i64>)>>>(py));
        let lines = told.unwrap_or_else(|error| {
            error.print(py);
            None
        });
        let markers = world().markers.as_mut()?;
        let mut number = |word: String| {
            let known = markers.words.iter().skip(WORDS.len()).position(|known| *known == word);
            known.map_or_else(
                || {
                    markers.words.push(word);
                    markers.words.len() - 1
                },
                |at| at + WORDS.len(),
            ) as u64
        };
        let lines =
            lines.map(|lines| lines.into_iter().map(|(line, (word, with))| (line, (number(word), with))).collect());
        markers.codes.insert(code as usize, lines);
    }
    world().markers.as_ref()?.codes.get(&(code as usize))?.as_ref()
}

/// Instructions between two looks at the clock.
const LOOK_EACH: u32 = 256;

/// Before each instruction of any code: where each is a place of its own, it is a turn.
pub(crate) fn before_instruction(code: *mut PyObject) -> Result<(), NotDone> {
    let Some(markers) = &mut world().markers else { return Ok(()) };
    markers.instructions = markers.instructions.wrapping_add(1);
    let looks = markers.instructions % LOOK_EACH == 0;
    let is_late = looks && (watch::is_interrupted() || markers.until.is_some_and(|until| Instant::now() > until));
    let is_gated = markers.every_instruction && lines_of(code).is_some();
    let Some(baton) = baton().filter(|baton| (is_late || is_gated) && !baton.is_tearing_down()) else { return Ok(()) };
    if is_late && baton.running() != TaskId::MAIN {
        stand(baton);
        let why = if watch::is_interrupted() { Stop::Interrupted } else { Stop::OutOfTime };
        return Err(baton.stop(why).into());
    }
    if is_gated && takes_turns(baton) {
        turn(baton, INSTRUCTION, here())?;
    }
    Ok(())
}

/// What the instruction `op` is about to do to locks is done by turns; nothing else is looked at.
pub(crate) fn instruction(baton: Baton, op: &Op, operands: &Operands) -> Result<(), NotDone> {
    if matches!(op.kind, Kind::Call | Kind::CallEx | Kind::Enter) {
        if let Some((lock, lock_op)) = crate::access::touched(op, operands).lock {
            native::step(baton, lock, lock_op, None, op, operands)?;
        }
    }
    Ok(())
}

/// Between two looks at what those have done who are no part of the execution, by our clock and by that of the world.
const LOOKED_AFTER: u64 = 1_000_000;

/// A request for a lock that threads may give back which are no part of the execution: `was_given_back` says whether one has.
/// When nobody else can go on they are waited for, for real, but not for ever.
pub(crate) fn request(
    baton: Baton,
    request: Operation,
    nanos: Option<u64>,
    was_given_back: impl Fn() -> bool,
) -> Result<u32, TornDown> {
    let others = world().markers.as_ref().and_then(|markers| markers.patience);
    let patience = match nanos {
        Some(_) if !is_run_once() => None,
        Some(nanos) => others.map(|patience| patience.min(Duration::from_nanos(nanos))),
        None => others,
    };
    let until = patience.map(|patience| Instant::now() + patience);
    while until.is_some_and(|until| Instant::now() < until) && !watch::is_interrupted() {
        if baton.step_with_timeout(request, LOOKED_AFTER)? == outcome::OK {
            return Ok(outcome::OK);
        }
        if was_given_back() {
            world().uncontrolled.get_or_insert_with(|| "a thread that gives a lock back".to_owned());
            baton.step(Operation { kind: OpKind::Release, ..request })?;
        } else {
            // SAFETY: whoever runs has the interpreter's lock.
            let py = unsafe { Python::assume_gil_acquired() };
            py.allow_threads(|| std::thread::sleep(Duration::from_nanos(LOOKED_AFTER)));
        }
    }
    match nanos {
        Some(nanos) => baton.step_with_timeout(request, nanos),
        None => baton.step(request),
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("GOES_ON", WORDS[GOES_ON as usize])?;
    module.add("BEGINS", WORDS[BEGINS as usize])?;
    module.add_function(wrap_pyfunction!(take_turns, module)?)?;
    module.add_function(wrap_pyfunction!(spawn_marked, module)?)
}
