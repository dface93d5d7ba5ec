//! Where a future is awaited.

use std::panic::Location;
use std::path::Path;

use drawloom_report::OUR_SOURCES;

/// The line with the `.await`, asked for in a `poll` that is `#[track_caller]`: the compiler counts it as the caller there.
///
/// A future may also be polled by another one, or as a `dyn Future`. Then the caller is in a library, and `made_at` says more.
#[doc(hidden)]
#[track_caller]
pub fn awaited_at(made_at: &'static Location<'static>) -> &'static Location<'static> {
    let caller = Location::caller();
    if is_of_a_library(caller.file()) { made_at } else { caller }
}

/// A build names the files of its workspace by relative paths, and those of dependencies by absolute ones.
fn is_of_a_library(file: &str) -> bool {
    const LIBRARIES: [&str; 3] = ["/rustc/", "/registry/src/", "/git/checkouts/"];
    if Path::new(file).is_relative() {
        return OUR_SOURCES.iter().any(|ours| file.starts_with(ours));
    }
    LIBRARIES.iter().chain(&OUR_SOURCES).any(|path| file.contains(path))
}

#[cfg(test)]
mod tests {
    use super::is_of_a_library;

    #[test]
    fn lines_of_the_user_are_told_from_those_of_libraries() {
        for users in ["src/lib.rs", "tests/jobs.rs", "crates/jobs/src/lib.rs", "/home/me/jobs/src/lib.rs"] {
            assert!(!is_of_a_library(users), "{users}");
        }
        let libraries = [
            "/rustc/59807616/library/core/src/future/future.rs",
            "/home/me/.cargo/registry/src/index/futures-util-0.3.31/src/future/join_all.rs",
            "/home/me/.cargo/git/checkouts/tower-1/2/tower/src/lib.rs",
            "/home/me/drawloom/crates/tokio/src/time/timeout.rs",
            "crates/drawloom/src/future/drive.rs",
        ];
        for library in libraries {
            assert!(is_of_a_library(library), "{library}");
        }
    }
}
