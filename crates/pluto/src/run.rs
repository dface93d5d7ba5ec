//! Running tests, as the program that the compiler makes does it: a start, a run and a pass for each, and a summary.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use drawloom_capi::{Session, drawloom_config, run as explore};
use drawloom_explore::{Checked, Choices};

use crate::foreign::{Word, text};
use crate::options::{Asked, Options, Strategy};
use crate::state::{self, CANCELLED, CANCELS, MODE, Mode};
use crate::verdict::Verdict;
use crate::{chance, collector, ending, owners, print, said};

/// What the stack of a task has room for: the collector looks at all of it.
const STACK_BYTES: u64 = 256 << 10;

/// What was tested so far.
#[derive(Default)]
struct Tested {
    name: String,
    passed: u64,
    failed: u64,
}

thread_local! {
    static TESTED: RefCell<Tested> = RefCell::new(Tested::default());
    /// What the running test is.
    static CODE: Cell<Word> = const { Cell::new(0) };
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_test_start(name: *mut c_void) {
    collector::begin();
    let name = text(name);
    let asked = Asked::new();
    if !asked.report && asked.runs(&name) {
        print::out(format!("test {name} ... ").as_bytes());
    }
    TESTED.with_borrow_mut(|tested| tested.name = name);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_test_pass() {
    let asked = Asked::new();
    if !asked.report && TESTED.with_borrow(|tested| asked.runs(&tested.name)) {
        print::out(b"ok\n");
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_test_summary(count: Word) {
    let (passed, failed) = TESTED.with_borrow(|tested| (tested.passed, tested.failed));
    let asked = Asked::new();
    if !asked.report {
        // All of them, unless one was asked for.
        let count = if asked.test.is_some() { passed } else { count.unsigned_abs() };
        return print::out(format!("\n{count} tests passed\n").as_bytes());
    }
    print::out(said::summary(passed, failed).as_bytes());
    if failed > 0 {
        ending::end_process(1);
    }
}

/// Tests what `code` does. It returns if the test has passed; else only where all tests are to be run.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __pluto_test_run(code: Word, strategy: Word, seed: Word, iterations: Word) {
    collector::begin();
    let (asked, options) = (Asked::new(), Options::new(strategy, seed, iterations));
    let name = TESTED.with_borrow(|tested| tested.name.clone());
    if !asked.runs(&name) {
        return;
    }
    CODE.set(code);
    chance::set_seed(options.seed);
    state::PROGRESS_BOUND.set(options.progress_bound);
    let checked = test(&name, &options, &asked);
    let printed = state::FIRST_PRINTED.take().unwrap_or_default();
    let verdict = match &checked {
        Ok(checked) => Verdict::of(&name, &options, checked, asked.file.as_deref()),
        Err(why) => Verdict::refused(&name, &options, why),
    };
    let output = match verdict.token() {
        Some(token) if asked.report => replayed(&name, &options, token),
        _ => printed,
    };
    let remarks = state::REMARKS.take();
    TESTED.with_borrow_mut(|tested| match verdict.failed() {
        true => tested.failed += 1,
        false => tested.passed += 1,
    });
    if asked.report {
        return print::out(said::report(&verdict, &output, asked.file.as_deref()).as_bytes());
    }
    print::out(&output);
    remarks.iter().for_each(|remark| eprintln!("{remark}"));
    eprint!("{}", said::plain(&verdict));
    if verdict.failed() {
        ending::end_process(1);
    }
}

/// What main runs.
extern "C" fn body(_: *mut c_void) {
    collector::check_stack();
    // SAFETY: it is the test's function, which takes nothing.
    let code = unsafe { std::mem::transmute::<Word, extern "C" fn()>(CODE.get()) };
    code();
}

fn test(name: &str, options: &Options, asked: &Asked) -> Result<Checked, String> {
    let config = config(options, asked)?;
    if options.strategy == Strategy::Sequential {
        return explored(name, &config, Mode::Inline);
    }
    CANCELLED.set(false);
    CANCELS.set(false);
    owners::begin_test();
    // Whether tasks are asked to end, and who sends, most tests show at once.
    explored(name, &pilot(), Mode::Fibers)?;
    loop {
        CANCELS.set(CANCELLED.get());
        owners::begin_exploration();
        let checked = explored(name, &config, Mode::Fibers)?;
        if CANCELS.get() == CANCELLED.get() && !owners::was_wrong() {
            return Ok(checked);
        }
    }
}

fn explored(name: &str, config: &drawloom_config, mode: Mode) -> Result<Checked, String> {
    state::begin_exploration();
    collector::explores(true);
    let before = MODE.replace(mode);
    let session = Session {
        name: name.to_owned(),
        body,
        arg: std::ptr::null_mut(),
        hooks: collector::hooks(),
        choices: Choices::Welcome,
    };
    let checked = explore(config, session);
    MODE.set(before);
    collector::explores(false);
    checked
}

/// What the execution of a schedule prints.
fn replayed(name: &str, options: &Options, token: &str) -> Vec<u8> {
    let mut config = pilot();
    let mode = if options.strategy == Strategy::Sequential { Mode::Inline } else { Mode::Fibers };
    if config.set("replay", token).is_err() || explored(name, &config, mode).is_err() {
        return Vec::new();
    }
    state::FIRST_PRINTED.take().unwrap_or_default()
}

fn config(options: &Options, asked: &Asked) -> Result<drawloom_config, String> {
    let mut config = drawloom_config::default();
    match options.strategy {
        Strategy::Sequential => config.set("strategy", "sequential")?,
        Strategy::RoundRobin => config.set("strategy", "round_robin")?,
        Strategy::Random => {
            config.set("strategy", "random")?;
            config.set("iterations", &options.iterations.to_string())?;
            config.set("seed", &options.seed.to_string())?;
        }
        Strategy::Exhaustive => {
            config.set("strategy", "exhaustive")?;
            config.set("max_schedules", &options.max_schedules.to_string())?;
            if let Some(depth) = options.max_depth {
                config.set("max_depth", &depth.to_string())?;
            }
        }
    }
    let goes_on = options.strategy == Strategy::Exhaustive || (options.strategy == Strategy::Random && asked.report);
    config.set("keep_going", if goes_on { "true" } else { "false" })?;
    config.set("stack_size", &STACK_BYTES.to_string())?;
    let keeps = std::env::var_os("DRAWLOOM_DIR").is_some();
    config.set("trace", if keeps { "true" } else { "false" })?;
    Ok(config)
}

/// One execution, of which nothing is told.
fn pilot() -> drawloom_config {
    let mut config = drawloom_config::default();
    let stack = STACK_BYTES.to_string();
    let keys = [
        ("strategy", "sequential"),
        ("environment", "false"),
        ("trace", "false"),
        ("shrink", "false"),
        ("fixes", "0"),
        ("stack_size", stack.as_str()),
    ];
    keys.iter().for_each(|(key, value)| config.set(key, value).expect("a key that there is"));
    config
}
