//! Panics of tasks: caught, kept with their place, and reported if nobody receives them.

use std::any::Any;
use std::backtrace::BacktraceStatus;
use std::ffi::OsStr;
use std::panic::{PanicHookInfo, resume_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use drawloom_engine::TaskId;
use drawloom_engine::finding::{Backtrace, FindingKind, Panic};

use crate::runtime::{Handle, current};

/// The payload by which a left-over task is unwound.
pub struct ForcedUnwind;

/// A panic that a task ended with.
#[derive(Clone, Debug)]
pub(crate) struct TaskPanic {
    /// Who panicked.
    pub(crate) task: TaskId,
    /// How.
    pub(crate) panic: Panic,
}

#[derive(Default)]
pub(crate) struct Panics {
    /// Tasks that are unwinding now. Few at a time.
    unwinding: Vec<TaskId>,
    /// What the hook saw last, by task.
    seen: Vec<TaskPanic>,
    /// Panics that ended a task and that nobody has received yet.
    unreceived: Vec<TaskPanic>,
    /// Panics that were received by a join.
    received: Vec<TaskPanic>,
}

/// What is said of a panic that began by `resume_unwind`.
const UNSEEN: &str = "a panic that no hook saw";

fn unseen(task: TaskId) -> TaskPanic {
    TaskPanic { task, panic: Panic { message: UNSEEN.into(), ..Panic::default() } }
}

impl Panics {
    pub(crate) fn clear(&mut self) {
        self.unwinding.clear();
        self.seen.clear();
        self.unreceived.clear();
        self.received.clear();
    }

    #[inline]
    pub(crate) fn is_panicking(&mut self, task: TaskId) -> bool {
        if self.unwinding.is_empty() {
            // Nobody is known to unwind; if somebody does, it began by `resume_unwind`, which no hook
            // sees, and it is whoever runs.
            if std::thread::panicking() {
                self.unwinding.push(task);
            }
            return !self.unwinding.is_empty();
        }
        // Whoever caught a panic on its own did not tell us; but then nobody unwinds any more.
        if !std::thread::panicking() {
            self.unwinding.clear();
        }
        self.unwinding.contains(&task)
    }

    pub(crate) fn begin_forced(&mut self, task: TaskId) {
        self.unwinding.push(task);
    }

    pub(crate) fn end(&mut self, task: TaskId) {
        self.unwinding.retain(|t| *t != task);
    }

    /// What really happened, if `panic` only passes on that of another task: `join().unwrap()` hides it behind
    /// `Any { .. }`, and of `resume_unwind` nothing is known.
    fn behind(&self, panic: TaskPanic) -> TaskPanic {
        let message = panic.panic.message.as_str();
        if !(message.ends_with("Any { .. }") || message == "a scoped thread panicked" || message == UNSEEN) {
            return panic;
        }
        let others = self.received.iter().chain(&self.unreceived);
        others
            .filter(|other| other.panic.message != UNSEEN)
            .find(|other| other.task != panic.task)
            .cloned()
            .unwrap_or(panic)
    }

    fn begin(&mut self, panic: TaskPanic) {
        self.unwinding.push(panic.task);
        self.seen.retain(|p| p.task != panic.task);
        self.seen.push(panic);
    }
}

impl Handle {
    /// Whether the running task is unwinding, as `std::thread::panicking` would say it.
    #[inline]
    pub fn is_panicking(self) -> bool {
        let inner = self.inner();
        let me = inner.running;
        inner.panics.is_panicking(me)
    }

    /// Unwinds the running task with `payload`, which no hook sees; who catches it says
    /// [`caught`](Self::caught).
    pub fn unwind(self, payload: Box<dyn Any + Send>) -> ! {
        let inner = self.inner();
        inner.panics.begin_forced(inner.running);
        resume_unwind(payload);
    }

    /// The running task does not unwind any more, and nobody is to hear of it.
    pub fn caught(self) {
        let inner = self.inner();
        inner.panics.end(inner.running);
    }

    /// A panic has left the running task's closure, for its handle to receive. `detached` if there
    /// is no handle any more.
    pub fn panicked(self, detached: bool) {
        let inner = self.inner();
        let me = inner.running;
        inner.panics.end(me);
        if inner.engine.is_tearing_down() {
            return;
        }
        let at = inner.panics.seen.iter().rposition(|p| p.task == me);
        let panic = at.map_or_else(|| unseen(me), |at| inner.panics.seen.remove(at));
        inner.panics.unreceived.push(panic);
        if detached {
            self.report_panic(me);
        }
    }

    /// A join has received the panic of `task`: it is handled.
    pub fn received_panic(self, task: TaskId) {
        let panics = &mut self.inner().panics;
        if let Some(at) = panics.unreceived.iter().position(|p| p.task == task) {
            let panic = panics.unreceived.remove(at);
            panics.received.push(panic);
        }
    }

    /// Nobody can receive the panic of `task` any more.
    pub fn detached(self, task: TaskId) {
        if self.inner().panics.unreceived.iter().any(|p| p.task == task) {
            self.report_panic(task);
        }
    }

    /// Makes the panic of `task` the finding of this execution.
    pub(crate) fn report_panic(self, task: TaskId) {
        let inner = self.inner();
        let lists = [&inner.panics.unreceived, &inner.panics.seen];
        let mine = lists.into_iter().flatten().find(|p| p.task == task).cloned();
        let culprit = inner.panics.behind(mine.unwrap_or_else(|| unseen(task)));
        inner.engine.fail(FindingKind::Panic(Box::new(culprit.panic)), culprit.task);
    }

    /// At the end of an execution: a panic that nobody has received, or that still unwinds its task.
    pub(crate) fn unreceived_panic(self) -> Option<TaskPanic> {
        let panics = &mut self.inner().panics;
        if !std::thread::panicking() {
            panics.unwinding.clear();
        }
        let unwinding = panics.seen.iter().find(|p| panics.unwinding.contains(&p.task));
        let panic = panics.unreceived.first().or(unwinding).cloned()?;
        Some(panics.behind(panic))
    }
}

/// Puts our panic hook before the one that is there, once in a process.
///
/// Under control a panic is recorded, not printed: it may be received by a join, and if it is not,
/// the report shows it.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| match current() {
            Some(handle) if !handle.inner().quitting => {
                let inner = handle.inner();
                let me = inner.running;
                if inner.engine.is_tearing_down() && inner.panics.is_panicking(me) {
                    eprintln!(
                        "drawloom: a destructor panicked while an execution was being torn down; Rust will \
                         abort the process. `teardown = leak` leaves left-over tasks alone instead."
                    );
                    previous(info);
                }
                inner.panics.begin(describe(info, me));
            }
            _ => previous(info),
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>, task: TaskId) -> TaskPanic {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic whose payload is not a text".into());
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let captured = std::backtrace::Backtrace::capture();
    let backtrace = (captured.status() == BacktraceStatus::Captured)
        .then(|| Backtrace::new(move || users_frames(&captured.to_string())));
    TaskPanic { task, panic: Panic { message, location, backtrace } }
}

/// Whether a place in a backtrace, `./src/x.rs:1:2`, is in one of our own crates. They lie beside this one, in our
/// repository as in the folder of a registry.
fn is_ours(place: &str) -> bool {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let here = || std::env::current_dir().unwrap_or_default();
    let path = place.strip_prefix("./").map_or_else(|| place.into(), |inside| here().join(inside));
    let below = beside.and_then(|beside| path.strip_prefix(beside).ok());
    let mut parts = below.into_iter().flat_map(Path::iter).filter_map(OsStr::to_str);
    let (name, folder) = (parts.next().unwrap_or_default(), parts.next());
    let known = ["drawloom", "engine", "explore", "fiber", "gates", "report", "tokio"].contains(&name);
    folder == Some("src") && (known || name.starts_with("drawloom-"))
}

/// The frames of a backtrace that are the user's: neither of the panic machinery above them nor of the
/// executor below.
fn users_frames(backtrace: &str) -> String {
    let not_theirs = [
        "std::",
        "core::",
        "alloc::",
        "__rust",
        "rust_begin",
        "<core::",
        "<alloc::",
        "<std::",
        "drawloom",
        "<drawloom",
        "tokio::",
        "<tokio::",
    ];
    let mut shown = String::new();
    let mut lines = backtrace.lines().peekable();
    while let Some(line) = lines.next() {
        let place = lines.next_if(|next| next.trim_start().starts_with("at "));
        let symbol = line.split_once(": ").map_or(line, |(_, symbol)| symbol.trim());
        if symbol.starts_with("drawloom_fiber::runtime") {
            break;
        }
        // With little debug information what was inlined has no path in its name, but std's sources have theirs.
        let of_std = place.is_some_and(|place| place.trim_start().starts_with("at /rustc/"));
        let ours = place.is_some_and(|place| is_ours(place.trim_start().trim_start_matches("at ")));
        if !of_std && !ours && !not_theirs.iter().any(|prefix| symbol.starts_with(prefix)) {
            shown.push_str(&format!("{symbol}\n"));
            shown.push_str(&place.map(|place| format!("    {}\n", place.trim())).unwrap_or_default());
        }
    }
    shown
}
