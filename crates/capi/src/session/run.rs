//! Running a session.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_explore::{Checked, Choices, Test, conduct};

use super::config::{Executor, drawloom_config};
use super::fibers::Fibers;
use super::result::{drawloom_result, verdict};
use crate::execution::{SESSIONS, is_running, running};
use crate::hooks::{Hooks, drawloom_hooks, set_session};
use crate::speak::text;
use crate::status::*;
use crate::thread_local;

/// What a session runs: for front ends that stand on this one.
pub struct Session {
    /// The name of the test.
    pub name: String,
    /// What main runs.
    pub body: extern "C" fn(*mut c_void),
    /// What it is called with.
    pub arg: *mut c_void,
    /// What the runtime of its language is told.
    pub hooks: Hooks,
    /// Whether it fails if there was never a choice.
    pub choices: Choices,
}

thread_local! {
    static ASKED_AGAIN: Cell<bool> = const { Cell::new(false) };
}

/// Something was learnt that changes what executions do: the exploration is made again.
pub fn ask_again() {
    if let Some(here) = running() {
        here.state().asked_again = true;
    }
}

/// Whether the running exploration is made [again](ask_again).
pub fn is_made_again() -> bool {
    running().is_some_and(|here| here.state().made_again)
}

pub(super) fn note_asked_again() {
    ASKED_AGAIN.set(true);
}

/// Which executor, in the environment.
const EXECUTOR: &str = "DRAWLOOM_EXECUTOR";

/// Fibers share the variables of their thread: a program that has such is not explored as if each task had its own, unless it asks for that. A
/// runtime that is told of switches keeps them by itself.
fn refuse_variables_of_threads(
    config: &drawloom_config,
    hooks: Hooks,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let asked = match variable(EXECUTOR) {
        Some(text) => Executor::of(text.trim()).map_err(|error| format!("{EXECUTOR}: {error}"))?,
        None => config.executor,
    };
    match asked {
        Executor::Auto if !hooks.hear_switches() && thread_local::has_the_program() => Err(REFUSED.into()),
        _ => Ok(()),
    }
}

const REFUSED: &str = "not explored: the program has variables of threads (`_Thread_local`, or the library of C++ within it), and tasks are \
    fibers of one thread, which would share them. DRAWLOOM_EXECUTOR=fibers explores it all the same.";

/// Runs a session on the calling thread.
///
/// # Errors
///
/// Why nothing could be explored.
pub fn run(config: &drawloom_config, session: Session) -> Result<Checked, String> {
    if is_running() {
        return Err("a session cannot be begun within a session".into());
    }
    let Session { name, body, arg, hooks, choices } = session;
    let test = Test { name, path: None, krate: None, choices };
    let variable = |name: &str| std::env::var(name).ok().filter(|_| config.environment);
    refuse_variables_of_threads(config, hooks, variable)?;
    SESSIONS.fetch_add(1, Ordering::Relaxed);
    let before = set_session(hooks);
    hooks.begin_session();
    let program = Fibers { body, arg, hooks, made_again: false, weaker: AtomicU64::new(0) };
    let mut checked = conduct(config.config().clone(), &test, &program, variable);
    if ASKED_AGAIN.take() {
        let program = Fibers { made_again: true, weaker: AtomicU64::new(0), ..program };
        checked = conduct(config.config().clone(), &test, &program, variable);
        ASKED_AGAIN.set(false);
    }
    hooks.end_session();
    set_session(before);
    SESSIONS.fetch_sub(1, Ordering::Relaxed);
    checked
}

/// Explores `body(arg)` as the test `name`. `config`, `hooks` and `result` may be null. What there is to say is printed, to the hook
/// `write` or to standard error.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_run(
    config: *const drawloom_config,
    name: *const c_char,
    body: Option<extern "C" fn(*mut c_void)>,
    arg: *mut c_void,
    hooks: *const drawloom_hooks,
    result: *mut drawloom_result,
) -> drawloom_verdict {
    // SAFETY: each is null or what its type says, as the caller vouches.
    let (config, hooks, mut result) = unsafe { (config.as_ref(), hooks.as_ref(), result.as_mut()) };
    let mut refuse = |why: &str| {
        if let Some(result) = result.as_mut().filter(|result| result.size == size_of::<drawloom_result>()) {
            result.refuse(why);
        }
        drawloom_verdict::DRAWLOOM_ERROR
    };
    let Some(body) = body else { return refuse("the body is null") };
    let Some(hooks) = hooks.map_or(Some(Hooks::NONE), Hooks::of) else {
        return refuse("the hooks have an unknown size, or a frame that is too large");
    };
    let default = drawloom_config::default();
    let config = config.unwrap_or(&default);
    let session =
        Session { name: text(name).unwrap_or_else(|| "test".into()), body, arg, hooks, choices: Choices::Needed };
    let checked = match run(config, session) {
        Ok(checked) => checked,
        Err(why) => {
            hooks.write(1, &why);
            return refuse(&why);
        }
    };
    let (level, report) = match &checked.said {
        Ok(lines) => (0, lines.join("\n")),
        Err(report) => (1, report.clone()),
    };
    if !config.quiet {
        hooks.write(level, &report);
    }
    if let Some(result) = result.filter(|result| result.size == size_of::<drawloom_result>()) {
        result.fill(&checked, &report);
    }
    verdict(&checked)
}
