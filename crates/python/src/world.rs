//! What the whole process knows: codes that were analysed, places, what is written while tasks run side by side.

use std::cell::{Cell, UnsafeCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex};

use drawloom_engine::{Mix, ResourceId, Site, TaskId};
use drawloom_gates::Baton;
use drawloom_report::Place;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use crate::announced::Seen;
use crate::calling::Calling;
use crate::code::Code;
use crate::containers::Containers;
use crate::effects::Effect;
use crate::guests::Piece;
use crate::leftovers::{self, Leftovers};
use crate::locals;
use crate::markers::{self, Markers};
use crate::native::{self, Shadow};

pub(crate) type Addressed<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;
pub(crate) type Addresses = HashSet<usize, BuildHasherDefault<Mix>>;

/// What this exploration has seen, and by what it decides which accesses are steps. It only ever grows; an execution
/// in which it does is given up, and the exploration begins anew, so that all its executions are made alike.
pub(crate) struct Knowledge {
    /// Names of attributes, globals and cells that are written while tasks run side by side, by address.
    pub(crate) written: Addresses,
    /// Those of them that are written on classes: an access to such a name touches all objects.
    pub(crate) of_classes: Addresses,
    pub(crate) containers: Containers,
    /// Attributes are written of which it is not known which: any may be.
    pub(crate) any_name: bool,
    /// Somebody looks at all attributes of an object at once.
    pub(crate) whole_objects: bool,
    /// Of what is outside: files, peers, databases.
    pub(crate) facts: BTreeSet<String>,
    /// Where locks are made that one thread takes and another one releases.
    pub(crate) handed_over: BTreeSet<String>,
    /// Threads are waited for with a timeout.
    pub(crate) timed_joins: bool,
    /// No two readings of a clock are the same, so that it can be told who read first.
    pub(crate) ticking: bool,
    /// Something happened of which it is not known what it touches: everything is one resource. Why.
    pub(crate) opaque: Option<String>,
}

impl Knowledge {
    pub(crate) fn new() -> Knowledge {
        Knowledge {
            written: Addresses::default(),
            of_classes: Addresses::default(),
            containers: Containers::default(),
            any_name: false,
            whole_objects: false,
            facts: BTreeSet::new(),
            handed_over: BTreeSet::new(),
            timed_joins: false,
            ticking: false,
            opaque: None,
        }
    }
}

/// How far an execution has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Main has not spawned anybody.
    Before,
    /// Tasks run side by side.
    Parallel,
    /// Main has joined all there were.
    After,
}

/// Types and slots of the interpreter that decide what an operation touches.
#[derive(Default)]
pub(crate) struct Types {
    /// Whose values never change, or are changed by Python code alone.
    pub(crate) pure: Addresses,
    /// Mutable containers besides lists and dicts.
    pub(crate) containers: Addresses,
    /// Iterators and views: what they refer to is what they read.
    pub(crate) views: Addresses,
    /// Those of them that look at the items that they have from others.
    pub(crate) deep_views: Addresses,
    /// What never changes, and holds others, as a tuple does.
    pub(crate) holders: Addresses,
    /// Attributes by which objects of a type show themselves, by their names.
    pub(crate) shown: Addressed<usize, Vec<usize>>,
    /// `types.SimpleNamespace`.
    pub(crate) namespace: usize,
    /// A class with every special method, in Python.
    pub(crate) probe: usize,
    /// The type of special methods that are bound to an object.
    pub(crate) bound_slot: usize,
    /// `functools.partial`.
    pub(crate) partial: usize,
    /// What `functools.lru_cache` makes.
    pub(crate) cached: usize,
    /// The function of that name.
    pub(crate) sorted: usize,
    /// What is resumed by an `await`, and runs Python code alone.
    pub(crate) resumed: Addresses,
    /// Thread-local data of the interpreter.
    pub(crate) locals: Addresses,
    /// Code of ours, in Python, in place of what runs no Python code.
    pub(crate) at_once: Addresses,
    /// The type of cells.
    pub(crate) cell: usize,
    /// Types of weak proxies.
    pub(crate) proxies: Addresses,
    /// That of read-only views of dicts.
    pub(crate) mapping_proxy: usize,
    /// The base of all types of C, if `ctypes` is there; and of those that are functions.
    pub(crate) c_data: usize,
    pub(crate) c_function: usize,
    /// Those of them that are reentrant.
    pub(crate) reentrant: usize,
}

/// A resource of the running execution.
pub(crate) struct Known {
    pub(crate) id: ResourceId,
    pub(crate) owner: usize,
    pub(crate) part: usize,
    /// The part is a name, by its address.
    pub(crate) is_named: bool,
}

/// Everything that callbacks need, behind the interpreter's lock.
pub(crate) struct World {
    pub(crate) codes: Addressed<usize, Box<Code>>,
    pub(crate) analyse: Option<Py<PyAny>>,
    pub(crate) classify: Option<Py<PyAny>>,
    /// Says what is called instead of a function that does not obey.
    pub(crate) substitute: Option<Py<PyAny>>,
    /// Says what an exception is, and where it was raised.
    pub(crate) describe: Option<Py<PyAny>>,
    pub(crate) torn_down: Option<Py<PyAny>>,
    /// A function in Python that does nothing.
    pub(crate) probe: Option<Py<PyAny>>,
    /// Whether an object is of a framework.
    pub(crate) of_framework: Option<Py<PyAny>>,
    /// What a callback returns so as not to be called again.
    pub(crate) disable: Option<Py<PyAny>>,
    /// What callbacks have seen, while that is held against the truth.
    pub(crate) seen: Option<Seen>,
    pub(crate) exploring: bool,
    /// By function or type, and whose method it is.
    pub(crate) effects: Addressed<(usize, usize), Effect>,
    pub(crate) types: Types,
    pub(crate) knowledge: Knowledge,
    /// Knowledge has grown: the exploration is to begin anew.
    pub(crate) grown: bool,
    /// Knowledge is being gathered, and may grow.
    pub(crate) rehearsing: bool,
    pub(crate) phase: Phase,
    /// Counts executions, so that an object left from an earlier one is recognised.
    pub(crate) epoch: u64,
    /// What keeps the exploration from saying anything.
    pub(crate) unsupported: Option<String>,
    /// What was waited for that nobody in the exploration brings about.
    pub(crate) uncontrolled: Option<String>,
    /// That is a thread beside an event loop, whose tasks must then be explored as a thread's.
    pub(crate) needs_threads: bool,
    /// Where a thread was given up, since it stood still.
    pub(crate) stuck: Option<String>,
    /// How an execution stood that did not end by itself.
    pub(crate) unending: Option<String>,
    /// It was one like others: only the time was up.
    pub(crate) was_cut_short: bool,
    /// Says where a thread is, and who has called that.
    pub(crate) locate: Option<Py<PyAny>>,
    pub(crate) stack: Option<Py<PyAny>>,
    /// Says who waits for what, when nobody can go on.
    pub(crate) waits: Option<Py<PyAny>>,
    /// A function that does nothing.
    pub(crate) nothing: Option<Py<PyAny>>,
    /// Of the execution that runs.
    pub(crate) baton: Option<Baton>,
    /// Executions of this exploration that may have left garbage: what was before it is none of its.
    pub(crate) uncollected: u64,
    /// Executions that were made, since the exploration began anew.
    pub(crate) made: u64,
    /// Resources of this execution, by owner and part.
    pub(crate) resources: Addressed<(usize, usize), ResourceId>,
    pub(crate) known: Vec<Known>,
    /// Those of them that are outside the program, by name.
    pub(crate) outside: HashMap<String, ResourceId>,
    /// What stands for locks of the interpreter, by address.
    pub(crate) shadows: Addressed<usize, Shadow>,
    /// Thread-local data that main has touched, and what it found there.
    pub(crate) locals: Vec<(Py<PyAny>, Py<pyo3::types::PyDict>)>,
    /// The same that other tasks have touched, by address.
    pub(crate) own_locals: Vec<(TaskId, usize)>,
    /// Objects that must live as long as the execution, since their addresses name resources.
    pub(crate) kept: Vec<usize>,
    /// Dictionaries that hold the attributes of an object, by address: the object.
    pub(crate) attributes_of: Addressed<usize, usize>,
    /// Numbers of keys: a dict.
    pub(crate) keys: Option<Py<PyAny>>,
    /// Of lines, by the address of a file's name, or of a code.
    pub(crate) sites: Addressed<(usize, usize), Site>,
    /// Those of code that is passed on: what is done there, who calls it does.
    pub(crate) passed_on: Addresses,
    /// Code of a framework was met.
    pub(crate) met_framework: bool,
    /// What remembers results of functions of the program: it has forgotten them when the next execution begins.
    pub(crate) caches: Vec<Py<PyAny>>,
    /// Names of files, which are kept.
    pub(crate) files: HashMap<&'static str, usize>,
    /// The name that the dict of every module has.
    pub(crate) builtins: usize,
    /// The dict of names that all modules have.
    pub(crate) builtins_names: usize,
    /// Names that came up as values, and are kept.
    pub(crate) names: Addresses,
    /// Tasks spawned in this execution.
    pub(crate) tasks: usize,
    /// Those of them that are workers.
    pub(crate) workers: Vec<u32>,
    /// By task: what those wait for who wait for its end for a while only.
    /// Of each task: the frames whose instructions touch something, and may call Python code in the midst of it.
    pub(crate) calling: Vec<Vec<Calling>>,
    pub(crate) ends: Addressed<usize, ResourceId>,
    /// What the piece of a guest that runs has touched so far.
    pub(crate) piece: Piece,
    /// Who has read a clock in this execution; and whether several have, in one of this exploration.
    pub(crate) reader: Option<TaskId>,
    pub(crate) several_readers: bool,
    /// Nanoseconds by which clocks are ahead: what was ahead without waiting for it, and readings that are told apart.
    pub(crate) ahead: u64,
    /// Instructions since somebody made a step, in a rehearsal.
    pub(crate) stretch: u32,
    /// How threads take turns, where they do so at markers.
    pub(crate) markers: Option<Markers>,
    /// What is taken for granted in this exploration, by its kind: where that was first.
    pub(crate) assumptions: BTreeMap<&'static str, String>,
    pub(crate) leftovers: Leftovers,
}

struct Guarded(UnsafeCell<Option<World>>);

// SAFETY: only threads that hold the interpreter's lock get at it.
unsafe impl Sync for Guarded {}

static WORLD: Guarded = Guarded(UnsafeCell::new(None));

/// The world. To be called with the interpreter's lock, and not to be held while Python code runs.
#[inline]
pub(crate) fn world() -> &'static mut World {
    // SAFETY: the interpreter's lock makes the caller the only one; references are short-lived.
    unsafe { (*WORLD.0.get()).get_or_insert_with(World::new) }
}

impl World {
    fn new() -> World {
        World {
            codes: Addressed::default(),
            analyse: None,
            classify: None,
            substitute: None,
            describe: None,
            torn_down: None,
            probe: None,
            disable: None,
            of_framework: None,
            seen: None,
            exploring: false,
            effects: Addressed::default(),
            types: Types::default(),
            knowledge: Knowledge::new(),
            grown: false,
            rehearsing: false,
            phase: Phase::Before,
            epoch: 0,
            unsupported: None,
            uncontrolled: None,
            needs_threads: false,
            stuck: None,
            unending: None,
            was_cut_short: false,
            locate: None,
            stack: None,
            waits: None,
            nothing: None,
            baton: None,
            uncollected: 0,
            made: 0,
            resources: Addressed::default(),
            known: Vec::new(),
            outside: HashMap::new(),
            shadows: Addressed::default(),
            locals: Vec::new(),
            own_locals: Vec::new(),
            kept: Vec::new(),
            attributes_of: Addressed::default(),
            keys: None,
            sites: Addressed::default(),
            passed_on: Addresses::default(),
            met_framework: false,
            caches: Vec::new(),
            files: HashMap::new(),
            builtins: 0,
            builtins_names: 0,
            names: Addresses::default(),
            tasks: 0,
            workers: Vec::new(),
            calling: Vec::new(),
            ends: Addressed::default(),
            piece: Piece::default(),
            reader: None,
            several_readers: false,
            ahead: 0,
            stretch: 0,
            markers: None,
            assumptions: BTreeMap::new(),
            leftovers: Leftovers::default(),
        }
    }

    fn begin_execution(&mut self) {
        self.resources.clear();
        self.known.clear();
        self.outside.clear();
        self.attributes_of.clear();
        self.knowledge.containers.begin_execution();
        self.phase = Phase::Before;
        self.epoch += 1;
        self.tasks = 0;
        self.workers.clear();
        self.calling.iter_mut().for_each(Vec::clear);
        self.ends.clear();
        self.own_locals.clear();
        self.piece = Piece::default();
        (self.ahead, self.stretch, self.reader) = (0, 0, None);
        let kept = std::mem::take(&mut self.kept);
        for object in kept {
            // SAFETY: a reference was taken when it was kept; this may run destructors, and nothing is borrowed.
            unsafe { pyo3::ffi::Py_DECREF(object as *mut PyObject) };
        }
    }

    /// `cache`, which was called, is to begin the next execution as it begins this one.
    pub(crate) fn remember_to_forget(&mut self, cache: *mut PyObject) {
        if !self.caches.iter().any(|known| known.as_ptr() == cache) {
            // SAFETY: the caller has a live object, and the interpreter's lock.
            let cache = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), cache) };
            self.caches.push(cache.unbind());
        }
    }

    pub(crate) fn keep(&mut self, object: *mut PyObject) {
        // SAFETY: the caller has a live object, and the interpreter's lock.
        unsafe { pyo3::ffi::Py_INCREF(object) };
        self.kept.push(object as usize);
    }

    /// The site of a line of a file, which is known by what it says: code that is compiled anew has the same sites.
    pub(crate) fn site(&mut self, file: &str, line: usize) -> Site {
        let known = self.files.get(file).copied();
        let kept = known.unwrap_or_else(|| {
            let kept: &'static str = Box::leak(file.to_owned().into_boxed_str());
            self.files.insert(kept, kept.as_ptr() as usize);
            kept.as_ptr() as usize
        });
        *self.sites.entry((kept, line)).or_insert_with(|| new_site(file, line as u32))
    }
}

/// Forgets the last execution's objects; those that were there before are again what they were.
pub(crate) fn begin_execution() {
    native::restore();
    locals::restore();
    markers::begin_execution();
    forget_caches();
    let ended = world().epoch;
    world().begin_execution();
    leftovers::settle(ended);
}

fn forget_caches() {
    // SAFETY: executions are begun by Python code.
    let py = unsafe { Python::assume_gil_acquired() };
    for cache in std::mem::take(&mut world().caches) {
        if let Err(error) = aside(|| cache.call_method0(py, "cache_clear")) {
            error.print(py);
        }
    }
}

thread_local! {
    static ASIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls Python code of our own, which is no code under test.
pub(crate) fn aside<R>(call: impl FnOnce() -> R) -> R {
    let before = ASIDE.replace(true);
    let result = without_tracing(call);
    ASIDE.set(before);
    result
}

/// Whether the calling thread runs Python code of our own. Each thread has its own answer: the interpreter may let others
/// run in the midst of such code, and what these do is to be seen.
#[inline]
pub(crate) fn is_aside() -> bool {
    ASIDE.get()
}

#[cfg(all(Py_3_11, not(Py_3_12)))]
unsafe extern "C" {
    fn PyThreadState_EnterTracing(thread: *mut pyo3::ffi::PyThreadState);
    fn PyThreadState_LeaveTracing(thread: *mut pyo3::ffi::PyThreadState);
}

#[cfg(all(Py_3_11, not(Py_3_12)))]
fn without_tracing<R>(call: impl FnOnce() -> R) -> R {
    // SAFETY: the caller runs Python code, so it has a state; what is entered is left.
    unsafe {
        let thread = pyo3::ffi::PyThreadState_Get();
        PyThreadState_EnterTracing(thread);
        let result = call();
        PyThreadState_LeaveTracing(thread);
        result
    }
}

/// Calls code under test from within a callback, where it would not be seen otherwise.
#[cfg(all(Py_3_11, not(Py_3_12)))]
pub(crate) fn call_seen<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: callbacks of tracing have entered it; what is left is entered again.
    unsafe {
        let thread = pyo3::ffi::PyThreadState_Get();
        PyThreadState_LeaveTracing(thread);
        let result = function.call0();
        PyThreadState_EnterTracing(thread);
        result
    }
}

/// The same. On 3.11 `sys.call_tracing` does not turn tracing on.
#[cfg(not(all(Py_3_11, not(Py_3_12))))]
pub(crate) fn call_seen<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let nothing = pyo3::types::PyTuple::empty(py);
    py.import(pyo3::intern!(py, "sys"))?.call_method1(pyo3::intern!(py, "call_tracing"), (function, nothing))
}

/// There is no way to say so, or there is no tracing.
#[cfg(not(all(Py_3_11, not(Py_3_12))))]
fn without_tracing<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// A place in a Python file.
#[derive(Clone)]
pub(crate) struct Line {
    file: Arc<str>,
    line: u32,
}

/// Sites are numbers of entries, from 1.
static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

fn new_site(file: &str, line: u32) -> Site {
    let mut lines = LINES.lock().unwrap_or_else(|e| e.into_inner());
    lines.push(Line { file: file.into(), line });
    Site(lines.len())
}

fn line(site: Site) -> Option<Line> {
    let lines = LINES.lock().unwrap_or_else(|e| e.into_inner());
    lines.get(site.0.checked_sub(1)?).cloned()
}

/// The place that a site stands for.
pub(crate) fn place(site: Site) -> Option<Place> {
    line(site).map(|l| Place { file: l.file.to_string(), line: l.line, column: 1 })
}

/// The line of a site, for schedules.
pub(crate) fn line_of(site: Site) -> u32 {
    line(site).map_or(0, |l| l.line)
}
