//! What a task has done that would end the process, as a finding: a bad address, a division by zero, an abort.

use drawloom_engine::Site;
use drawloom_engine::finding::About;
use drawloom_fiber::Crash;

use crate::execution::running;
use crate::place::{self, loc_of_address, site};

/// An address below this is an offset from null.
const PAGE: usize = 4096;

/// The running task fails by `crash`.
pub(crate) fn fail(crash: Crash) -> ! {
    let Some(here) = running() else { std::process::abort() };
    here.fail(told(&crash), About::Anything, at(&crash))
}

fn told(crash: &Crash) -> String {
    match crash.signal {
        libc::SIGABRT => "crash: the program called abort (SIGABRT)".into(),
        libc::SIGFPE => "crash: a division by zero or an overflow (SIGFPE)".into(),
        libc::SIGILL => "crash: an instruction that there is not, or a trap (SIGILL)".into(),
        signal => {
            let name = if signal == libc::SIGBUS { "SIGBUS" } else { "SIGSEGV" };
            // An address differs from run to run, and a report must not.
            match crash.address {
                0 => format!("crash: a null pointer was used ({name})"),
                offset @ 1..PAGE => format!("crash: a null pointer was used, at offset {offset} ({name})"),
                _ => format!("crash: an address was used that is not the program's (segmentation fault, {name})"),
            }
        }
    }
}

/// The innermost place in the program's own source.
fn at(crash: &Crash) -> Site {
    let code = crash.frames.iter().take_while(|code| **code != 0);
    // The first is the instruction itself; the others are where calls return to.
    let sites = code.enumerate().map(|(depth, code)| site(loc_of_address(code + usize::from(depth == 0))));
    let is_users = |site: &Site| place::place(*site).is_some_and(|at| at.line > 0 && !is_the_systems(&at.file));
    let mut sites = sites.filter(is_users);
    sites.next().unwrap_or(Site::UNKNOWN)
}

/// Sources of the C library and of compilers, where debug information of them is installed.
fn is_the_systems(file: &str) -> bool {
    file.starts_with("./") || file.starts_with("../") || file.starts_with("/rustc/") || file.contains("/glibc")
}
