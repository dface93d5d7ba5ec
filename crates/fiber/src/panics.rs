//! Panics of tasks: caught, kept with their place, and reported if nobody receives them.

use std::any::Any;
use std::backtrace::BacktraceStatus;
use std::panic::{PanicHookInfo, resume_unwind, set_hook, take_hook};
use std::sync::Once;

use drawloom_engine::TaskId;
use drawloom_engine::finding::{About, Backtrace, FindingKind, Panic};

use crate::overflow::print_at_once;
use crate::runtime::{Handle, current};
use crate::watchdog::{CAN_LEAVE, users_frames};

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
    /// What the hook saw before what it saw last of the same task.
    earlier: Vec<TaskPanic>,
    /// What somebody is about to panic about.
    about: Option<(TaskId, About)>,
    /// The panic that Rust is about to abort the process for.
    pub(crate) fatal: Option<Fatal>,
}

/// A panic that cannot go on.
pub(crate) struct Fatal {
    /// The panic to blame.
    pub(crate) panic: Panic,
    /// What came of it.
    pub(crate) sentence: String,
    /// Both, for a process that ends before anybody else can say so.
    pub(crate) text: String,
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
        self.earlier.clear();
        self.about = None;
        self.fatal = None;
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
    /// `Any { .. }`, `handle.await.unwrap()` behind a `JoinError`, and of `resume_unwind` nothing is known.
    fn behind(&self, panic: TaskPanic) -> TaskPanic {
        let message = panic.panic.message.as_str();
        let repeats = message.contains("JoinError");
        let hides = message.ends_with("Any { .. }") || message == "a scoped thread panicked" || message == UNSEEN;
        if !hides && !repeats {
            return panic;
        }
        let known = |other: &&TaskPanic| other.panic.message != UNSEEN && other.task != panic.task;
        let others = || self.received.iter().chain(&self.unreceived).filter(known);
        // Who repeats the message says which one it is.
        let same = others().find(|other| message.contains(first_line(&other.panic.message)));
        let culprit = if repeats { same } else { others().next() };
        culprit.cloned().unwrap_or(panic)
    }

    fn begin(&mut self, panic: TaskPanic) {
        self.unwinding.push(panic.task);
        if let Some(at) = self.seen.iter().position(|p| p.task == panic.task) {
            self.earlier.push(self.seen.remove(at));
        }
        self.seen.push(panic);
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

impl Handle {
    /// Whether the running task is unwinding, as `std::thread::panicking` would say it.
    #[inline]
    pub fn is_panicking(self) -> bool {
        let inner = self.inner();
        let me = inner.running;
        inner.panics.is_panicking(me)
    }

    /// The next panic of the running task is about this.
    pub fn panics_about(self, about: About) {
        let inner = self.inner();
        inner.panics.about = Some((inner.running, about));
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
        inner.engine.panicked(me, first_line(&panic.panic.message));
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
                let mut panic = describe(info, me);
                if let Some((_, about)) = inner.panics.about.take_if(|(task, _)| *task == me) {
                    panic.panic.about = about;
                }
                if ABORTS.contains(&panic.panic.message.as_str()) {
                    handle.will_abort(me);
                } else {
                    inner.panics.begin(panic);
                }
            }
            _ => previous(info),
        }));
    });
}

/// What the hook is told when a panic cannot go on, and Rust is about to abort the process.
const ABORTS: [&str; 2] = ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

impl Handle {
    /// Puts together what there is to say of a panic of `task` that cannot go on.
    #[cold]
    fn will_abort(self, task: TaskId) {
        let inner = self.inner();
        let of_task = |panics: &[TaskPanic]| panics.iter().rev().find(|p| p.task == task).map(|p| p.panic.clone());
        let last = of_task(&inner.panics.seen).unwrap_or_else(|| unseen(task).panic);
        let who = inner.engine.path(task);
        let shown = |panic: &Panic| format!("at {}: {}", panic.location, panic.message);
        let (panic, sentence) = if inner.engine.is_tearing_down() {
            let sentence = format!(
                "When the execution was over and task {who} was unwound, a destructor panicked {}.\n`teardown = leak` leaves \
                 left-over tasks alone instead.",
                shown(&last)
            );
            (last, sentence)
        } else {
            match of_task(&inner.panics.earlier) {
                Some(first) => {
                    let sentence = format!(
                        "While that panic unwound the task, a destructor panicked {}.\nOutside of drawloom this aborts the \
                         process.",
                        shown(&last)
                    );
                    (first, sentence)
                }
                None => {
                    (last, "It met a function that cannot unwind. Outside of drawloom this aborts the process.".into())
                }
            }
        };
        let test = std::thread::current().name().map(|name| format!(" of `{name}`")).unwrap_or_default();
        let found = match inner.engine.finding().map(|finding| &finding.kind) {
            Some(FindingKind::Panic(panic)) => format!("Found before: a panic {}\n", shown(panic)),
            Some(kind) => format!("Found before: a {}\n", kind.word()),
            None => String::new(),
        };
        let text = format!("\ndrawloom: task {who}{test} panicked {}\n{sentence}\n{found}", shown(&panic));
        if !CAN_LEAVE {
            print_at_once(&text);
        }
        inner.panics.fatal = Some(Fatal { panic, sentence, text });
    }
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
    TaskPanic { task, panic: Panic { message, location, backtrace, ..Panic::default() } }
}
