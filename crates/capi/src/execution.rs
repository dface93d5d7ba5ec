//! What is known of the running execution: its tasks and objects, by number.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use drawloom_engine::finding::{About, FindingKind, Panic};
use drawloom_engine::{ResourceId, ResourceKind, Site, State, TaskId};

use crate::channel::Channel;
use crate::control::Control;
use crate::handle::{self, Kind};
use crate::hooks::Hooks;
use crate::looks::Looks;
use crate::place;
use crate::status::{DRAWLOOM_E_HOOK, DRAWLOOM_E_NO_SESSION, DRAWLOOM_E_THREAD, drawloom_handle, drawloom_status};

thread_local! {
    static RUNNING: Cell<*mut Execution> = const { Cell::new(ptr::null_mut()) };
    /// A hook runs: the execution is there all the same.
    static IN_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Sessions that run, on whatever thread.
pub(crate) static SESSIONS: AtomicUsize = AtomicUsize::new(0);
/// Executions are numbered, so that a handle of an earlier one is known as such. No choice depends on the number.
static EXECUTIONS: AtomicU32 = AtomicU32::new(1);

/// The running execution, as its tasks see it.
///
/// All of them run one at a time, and no reference into it is held across a step, nor while code of the user runs; so each
/// short-lived `&mut` is the only one at its time.
#[derive(Clone, Copy)]
pub(crate) struct Here(NonNull<Execution>);

pub(crate) struct Execution {
    pub(crate) number: u32,
    pub(crate) control: Control,
    /// What main runs.
    pub(crate) body: extern "C" fn(*mut c_void),
    pub(crate) arg: *mut c_void,
    pub(crate) hooks: Hooks,
    pub(crate) tasks: Vec<Task>,
    pub(crate) objects: Vec<Object>,
    /// Memory that is known, by its address.
    pub(crate) memory: HashMap<usize, ResourceId, ByAddress>,
    pub(crate) cells: crate::memory::Cells,
    pub(crate) freed: crate::memory::Freed,
    /// What stands for an object of somebody else's, by its address.
    pub(crate) by_address: HashMap<usize, drawloom_handle, ByAddress>,
    /// Something was learnt that changes what executions do.
    pub(crate) asked_again: bool,
    /// The exploration is made once more, because something was learnt.
    pub(crate) made_again: bool,
    /// What a front end keeps that stands on this one.
    front: Option<Box<dyn Any>>,
}

/// What is known of a task besides what the engine knows.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) entry: extern "C" fn(*mut c_void),
    pub(crate) arg: *mut c_void,
    /// Whom others tell that it is to end; created when somebody does or asks.
    pub(crate) cancellation: ResourceId,
    pub(crate) cancelled: bool,
    /// Somebody has joined or detached it.
    pub(crate) given_up: bool,
    pub(crate) local: *mut c_void,
    pub(crate) looks: Looks,
}

/// What an object is: the resource, and what the engine does not know.
pub(crate) struct Object {
    pub(crate) resource: ResourceId,
    pub(crate) kind: Kind,
    pub(crate) destroyed: bool,
    pub(crate) data: Data,
}

pub(crate) enum Data {
    Nothing,
    Mutex { kind: u32, owner: TaskId, count: u32 },
    Channel(Box<Channel>),
    RwLock { preference: u64 },
    Timer { deadline: u64 },
}

extern "C" fn nothing(_: *mut c_void) {}

impl Task {
    pub(crate) fn new(entry: extern "C" fn(*mut c_void), arg: *mut c_void) -> Task {
        let local = ptr::null_mut();
        Task {
            entry,
            arg,
            cancellation: ResourceId::NONE,
            cancelled: false,
            given_up: false,
            local,
            looks: Looks::default(),
        }
    }
}

impl Execution {
    pub(crate) fn new(control: Control, body: extern "C" fn(*mut c_void), arg: *mut c_void, hooks: Hooks) -> Self {
        Execution {
            number: 0,
            control,
            body,
            arg,
            hooks,
            tasks: Vec::new(),
            objects: Vec::new(),
            memory: HashMap::default(),
            cells: Default::default(),
            freed: Default::default(),
            by_address: HashMap::default(),
            asked_again: false,
            made_again: false,
            front: None,
        }
    }

    /// Another execution begins: nothing is left of the one before but room.
    pub(crate) fn begin(&mut self, control: Control) {
        self.control = control;
        // Never 0: a handle is never 0.
        self.number = loop {
            let number = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
            if number != 0 {
                break number;
            }
        };
        self.tasks.clear();
        self.objects.clear();
        self.memory.clear();
        self.cells.clear();
        self.freed.clear();
        self.by_address.clear();
        self.tasks.push(Task::new(self.body, self.arg));
    }
}

/// What a front end keeps with the running execution, whichever thread its tasks are on: made when it is first asked for, and kept for the
/// executions that follow. `act` calls nothing of this library, nor of the program. None outside of one.
pub fn with_front<T: Default + 'static, R>(act: impl FnOnce(&mut T) -> R) -> Option<R> {
    let here = running()?;
    let front = &mut here.state().front;
    if front.as_ref().is_none_or(|front| !front.is::<T>()) {
        *front = Some(Box::<T>::default());
    }
    front.as_mut()?.downcast_mut().map(act)
}

/// Makes `execution` the running one of this thread, and says which was before.
pub(crate) fn set_running(execution: *mut Execution) -> *mut Execution {
    RUNNING.replace(execution)
}

/// Whether a session runs on this thread.
pub(crate) fn is_running() -> bool {
    !RUNNING.get().is_null()
}

/// The running execution of this thread, for somebody who is not a part of it.
pub(crate) fn running() -> Option<Here> {
    NonNull::new(RUNNING.get()).map(Here)
}

/// The execution that the caller is a task of.
#[inline(always)]
pub(crate) fn here() -> Result<Here, drawloom_status> {
    match NonNull::new(RUNNING.get()) {
        Some(execution) if !IN_HOOK.get() => Ok(Here(execution)),
        _ => Err(why_not_here()),
    }
}

#[cold]
fn why_not_here() -> drawloom_status {
    if is_running() {
        DRAWLOOM_E_HOOK
    } else if SESSIONS.load(Ordering::Relaxed) > 0 {
        DRAWLOOM_E_THREAD
    } else {
        DRAWLOOM_E_NO_SESSION
    }
}

/// Calls a hook: what it calls of ours is refused.
pub(crate) fn in_hook<R>(call: impl FnOnce() -> R) -> R {
    let before = IN_HOOK.replace(true);
    let result = call();
    IN_HOOK.set(before);
    result
}

impl Here {
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(crate) fn state(&self) -> &mut Execution {
        // SAFETY: it is the running one, which lives as long as the session; and the reference is the only one at its time, as
        // `Here` explains.
        unsafe { &mut *self.0.as_ptr() }
    }

    #[inline(always)]
    pub(crate) fn control(&self) -> Control {
        self.state().control
    }

    #[inline(always)]
    pub(crate) fn running(&self) -> TaskId {
        self.control().running()
    }

    /// A new object, with a resource of its own.
    pub(crate) fn add(&self, kind: Kind, of: ResourceKind, state: State, data: Data, site: Site) -> drawloom_handle {
        let resource = self.control().create(of, state, site);
        self.add_object(Object { resource, kind, destroyed: false, data })
    }

    pub(crate) fn add_object(&self, object: Object) -> drawloom_handle {
        let kind = object.kind;
        let execution = self.state();
        execution.objects.push(object);
        handle::handle(execution.number, kind, execution.objects.len() - 1)
    }

    /// The object that `handle` stands for. Whatever else the number is, is a finding.
    #[inline(always)]
    pub(crate) fn object(&self, handle: drawloom_handle, kind: Kind, site: Site) -> &mut Object {
        let execution = self.state();
        match handle::index(execution.number, kind, handle).and_then(|at| execution.objects.get_mut(at)) {
            Some(object) if object.kind == kind && !object.destroyed => object,
            found => {
                let destroyed = found.is_some_and(|object| object.destroyed);
                self.no_such_object(handle, kind, destroyed, site)
            }
        }
    }

    /// The resource that `handle` stands for.
    #[inline(always)]
    pub(crate) fn resource(&self, handle: drawloom_handle, kind: Kind, site: Site) -> ResourceId {
        self.object(handle, kind, site).resource
    }

    #[cold]
    fn no_such_object(&self, handle: drawloom_handle, kind: Kind, destroyed: bool, site: Site) -> ! {
        match destroyed {
            true => self.misuse(format!("misuse: this {} was destroyed", kind.word()), site),
            false => self.misuse(handle::complaint(self.state().number, kind, handle), site),
        }
    }

    /// The task that `handle` stands for.
    pub(crate) fn task(&self, handle: drawloom_handle, site: Site) -> TaskId {
        let execution = self.state();
        match handle::index(execution.number, Kind::Task, handle).filter(|at| *at < execution.tasks.len()) {
            Some(at) => TaskId(at as u32),
            None => self.misuse(handle::complaint(execution.number, Kind::Task, handle), site),
        }
    }

    pub(crate) fn handle_of(&self, task: TaskId) -> drawloom_handle {
        handle::handle(self.state().number, Kind::Task, task.index())
    }

    /// What no correct program does: it fails by it.
    #[cold]
    pub(crate) fn misuse(&self, what: String, site: Site) -> ! {
        self.fail(what, About::Anything, site)
    }

    /// The execution has failed by what `message` says, at `site`.
    #[cold]
    pub(crate) fn fail(&self, message: String, about: About, site: Site) -> ! {
        let panic = Panic { message, location: place::text(site), about, ..Panic::default() };
        self.control().fail(FindingKind::Panic(Box::new(panic)))
    }
}

/// Addresses are spread well by one multiplication. The order of such a table is never looked at.
pub(crate) type ByAddress = BuildHasherDefault<AddressHasher>;

#[derive(Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = (self.0 ^ address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

/// What stands where there is no entry.
pub(crate) const NO_ENTRY: extern "C" fn(*mut c_void) = nothing;
