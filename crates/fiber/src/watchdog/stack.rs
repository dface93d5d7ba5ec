//! Stacks, as the standard library prints them: whose functions are on them.

use std::path::{Path, PathBuf};

use drawloom_engine::finding::Frame;

/// Functions that are neither the user's nor drawloom's.
const OF_STD: [&str; 8] = ["std::", "core::", "alloc::", "__rust", "rust_begin", "<core::", "<alloc::", "<std::"];
/// Drawloom's own, under the names of its packages.
const OURS: [&str; 4] = ["drawloom", "<drawloom", "tokio::", "<tokio::"];
/// What stands below every task.
const ROOT: &str = "drawloom_fiber::runtime";
/// The same by its functions: what was inlined has no path in its name.
const ROOTS: [&str; 2] = ["run_tasks", "outlive"];
/// Packages of drawloom that a task may be in, by the names of their folders.
const PACKAGES: [&str; 6] = ["drawloom", "engine", "explore", "fiber", "sim", "tokio"];

/// Whose code a task is in.
#[cfg_attr(not(unix), allow(dead_code))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// In the user's, or in what it has called of std or of C.
    Users,
    /// In what the user has called of a front end.
    FrontEnd,
    /// In the middle of printing or allocating: what it holds there others need.
    Busy,
    /// In the engine, which the user's code has called: a strategy, say.
    EngineForUser,
    /// In the engine.
    Engine,
}

/// One function of a printed stack.
struct Printed<'a> {
    symbol: &'a str,
    /// What follows `at `.
    place: Option<&'a str>,
}

impl Printed<'_> {
    /// With little debug information what was inlined has no path in its name, but std's sources have theirs.
    fn is_std(&self) -> bool {
        let of_rustc = |place: &str| place.starts_with("/rustc/") || place.contains("/lib/rustlib/src/");
        OF_STD.iter().any(|prefix| self.symbol.starts_with(prefix)) || self.place.is_some_and(of_rustc)
    }

    fn is_ours(&self) -> bool {
        OURS.iter().any(|prefix| self.symbol.starts_with(prefix)) || self.own_file().is_some()
    }

    /// Its package and file, if it is in drawloom's sources: these lie side by side where we were built, in `fiber/` and
    /// `drawloom/`, or in `drawloom-fiber-0.1.0/` and `drawloom-0.1.0/`. A place may be given from the working directory on.
    fn own_file(&self) -> Option<(String, String)> {
        let (packages, _) = env!("CARGO_MANIFEST_DIR").rsplit_once('/')?;
        let place = match self.place?.strip_prefix("./") {
            Some(inside) => std::env::current_dir().ok()?.join(inside).to_str()?.to_owned(),
            None => self.place?.to_owned(),
        };
        let (folder, file) = place.strip_prefix(packages)?.strip_prefix('/')?.split_once('/')?;
        let package = match folder.strip_prefix("drawloom-") {
            Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => "drawloom",
            Some(rest) => rest.split('-').next()?,
            None => folder,
        };
        (PACKAGES.contains(&package) && file.starts_with("src/")).then(|| (package.to_owned(), file.to_owned()))
    }

    fn is_in(&self, package: &str, start: &str) -> bool {
        self.own_file().is_some_and(|(own, file)| own == package && file.starts_with(start))
    }

    fn is_root(&self) -> bool {
        self.symbol.starts_with(ROOT) || ROOTS.contains(&self.symbol) && self.is_in("fiber", "src/runtime.rs")
    }

    fn is_handler(&self) -> bool {
        self.symbol.contains("watchdog::signal::on_signal") || self.is_in("fiber", "src/watchdog/signal.rs")
    }

    fn is_engine(&self) -> bool {
        self.symbol.contains("drawloom_engine::") || self.is_in("engine", "src/")
    }

    /// Whether it may hold what is the process's or the thread's own: others would wait for it in vain.
    fn holds_much(&self) -> bool {
        const MODULES: [&str; 4] = ["io", "env", "panicking", "backtrace"];
        let is_in = |module: &&str| {
            self.symbol.contains(&format!("std::{module}::"))
                || self.place.is_some_and(|place| place.contains(&format!("/std/src/{module}")))
        };
        MODULES.iter().any(is_in) || self.symbol.contains("alloc") && !self.is_std()
    }

    /// The C library, where it has lines.
    fn is_c(&self) -> bool {
        self.place.is_some_and(|place| place.starts_with("./") || place.contains("/glibc"))
    }

    fn is_users(&self) -> bool {
        !self.is_std() && !self.is_ours() && !self.is_c() && self.symbol != "<unknown>" && self.symbol != "__restore_rt"
    }
}

/// The functions of a task: those below it are the executor's.
fn functions(backtrace: &str) -> (Vec<Printed<'_>>, bool) {
    let mut found = Vec::new();
    let mut lines = backtrace.lines().peekable();
    while let Some(line) = lines.next() {
        let place =
            lines.next_if(|next| next.trim_start().starts_with("at ")).map(|at| &at.trim_start()["at ".len()..]);
        let symbol = line.split_once(": ").map_or(line, |(_, symbol)| symbol.trim());
        let without_address = symbol.split_once(" - ").filter(|(address, _)| address.trim().starts_with("0x"));
        let printed = Printed { symbol: without_address.map_or(symbol, |(_, symbol)| symbol), place };
        if printed.is_root() {
            return (found, true);
        }
        found.push(printed);
    }
    (found, false)
}

/// The frames of a panic's backtrace that are the user's: neither of the panic machinery above them nor of the executor
/// below.
pub(crate) fn users_frames(backtrace: &str) -> String {
    let mut shown = String::new();
    for Printed { symbol, place } in functions(backtrace).0.into_iter().filter(|f| !f.is_std() && !f.is_ours()) {
        shown.push_str(&format!("{symbol}\n"));
        shown.push_str(&place.map(|place| format!("    at {place}\n")).unwrap_or_default());
    }
    shown
}

/// The stack of a task that a signal has interrupted, as `{:#}` prints it: the user's frames, and whose code it is in.
/// If it is not known to be that `of_a_task`, it has to be seen.
#[cfg_attr(not(unix), allow(dead_code))]
pub(super) fn read(backtrace: &str, of_a_task: bool) -> (Vec<Frame>, Standing) {
    let (all, has_root) = functions(backtrace);
    // The handler and what it has called come first.
    let interrupted = all.iter().rposition(Printed::is_handler).map_or(0, |at| at + 1);
    let all = &all[interrupted..];
    let innermost = all.iter().position(|f| f.is_users() && f.place.is_some()).unwrap_or(all.len());
    let above = &all[..innermost];
    let standing = if above.iter().any(Printed::is_engine) || !(of_a_task || has_root) {
        Standing::Engine
    } else if all.iter().any(Printed::is_engine) {
        Standing::EngineForUser
    } else if above.iter().any(Printed::holds_much) {
        Standing::Busy
    } else if above.iter().any(Printed::is_ours) {
        Standing::FrontEnd
    } else {
        Standing::Users
    };
    let root = workspace();
    let lines = all.iter().filter(|f| f.is_users() && f.place.is_some());
    let frame = |f: &Printed<'_>| Frame {
        function: plain(f.symbol).to_owned(),
        location: relative(f.place.unwrap_or_default(), root.as_deref()),
    };
    (lines.map(frame).collect(), standing)
}

/// A symbol without the hash at its end.
fn plain(symbol: &str) -> &str {
    let is_hash =
        |hash: &&str| hash.len() == 17 && hash.starts_with('h') && hash[1..].bytes().all(|b| b.is_ascii_hexdigit());
    symbol.rsplit_once("::").filter(|(_, hash)| is_hash(hash)).map_or(symbol, |(name, _)| name)
}

/// Cargo compiles in the directory of the lock file, and places in programs are relative to it.
fn workspace() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|directory| directory.join("Cargo.lock").is_file()).map(Path::to_path_buf)
}

fn relative(place: &str, root: Option<&Path>) -> String {
    let below = root.and_then(|root| place.strip_prefix(root.to_str()?)).map(|below| below.trim_start_matches('/'));
    below.unwrap_or(place).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPINS: &str = "\
   0: std::backtrace::Backtrace::force_capture::h0123456789abcdef
             at /rustc/59807616e/library/std/src/backtrace.rs:313:9
   1: drawloom_fiber::watchdog::signal::on_signal
             at /code/crates/fiber/src/watchdog/signal.rs:90:5
   2: <unknown>
   3: core::num::<impl u64>::wrapping_add
             at /rustc/59807616e/library/core/src/num/mod.rs:1:1
   4:     0x55f8924cc327 - worker::poll::h0123456789abcdef
             at /elsewhere/worker.rs:12:9
   5: drawloom::future::drive::drive
   6: worker::run::{{closure}}
             at /elsewhere/worker.rs:30:5
   7: drawloom_fiber::runtime::run_tasks
   8: worker::main
             at /elsewhere/worker.rs:99:5
";

    #[test]
    fn the_users_lines_are_told_from_those_around_them() {
        let (frames, standing) = read(SPINS, true);
        let shown: Vec<_> = frames.iter().map(|f| format!("{} {}", f.function, f.location)).collect();
        assert_eq!(
            shown,
            ["worker::poll /elsewhere/worker.rs:12:9", "worker::run::{{closure}} /elsewhere/worker.rs:30:5"]
        );
        assert_eq!(standing, Standing::Users);
    }

    #[test]
    fn a_task_in_the_middle_of_something_is_told_from_one_that_can_be_left() {
        let within = |symbol: &str| read(&SPINS.replace("core::num::<impl u64>::wrapping_add", symbol), true).1;
        assert_eq!(within("drawloom::sync::mutex::Mutex<T>::lock"), Standing::FrontEnd);
        assert_eq!(within("drawloom_engine::engine::Engine::next"), Standing::Engine);
        assert_eq!(within("std::io::stdio::_print"), Standing::Busy);
        let inlined = SPINS.replace("core::num::<impl u64>::wrapping_add", "_print");
        let inlined = inlined.replace("library/core/src/num/mod.rs", "library/std/src/io/stdio.rs");
        assert_eq!(read(&inlined, true).1, Standing::Busy);
        let strategy = SPINS.replace("drawloom::future::drive::drive", "drawloom_engine::engine::choose::pick");
        assert_eq!(read(&strategy, true).1, Standing::EngineForUser);
    }
}
