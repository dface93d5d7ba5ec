//! How a test of cargo is run again.

use drawloom_engine::config::ENV_REPLAY;

use crate::language::Replay;
use crate::record::{Meta, TestTarget};

pub(super) const REPLAY: Replay = Replay {
    takes_files: true,
    command: |_| None,
    line: |meta, quoted| format!("{ENV_REPLAY}={quoted} {}", cargo_test(meta)),
};

/// The command that runs one test. The path of a test begins with the name of its crate or test
/// binary, which the test harness leaves out.
fn cargo_test(Meta { test, package, target, .. }: &Meta) -> String {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let parts: Vec<&str> = test.split("::").collect();
    let cargo = match package.as_deref().filter(|package| is_cargos(package)) {
        None => "cargo test".to_owned(),
        Some(package) => match target {
            Some(TestTarget::Lib) => format!("cargo test -p {package} --lib"),
            Some(TestTarget::Test(name)) if is_cargos(name) => format!("cargo test -p {package} --test {name}"),
            Some(TestTarget::Test(_)) | None => format!("cargo test -p {package}"),
        },
    };
    match parts.as_slice() {
        // A text that somebody chose names no test that cargo knows.
        parts if !parts.iter().all(|part| is_name(part)) => cargo,
        [] | [_] => format!("{cargo} -- --exact {test}"),
        [_, rest @ ..] => format!("{cargo} -- --exact {}", rest.join("::")),
    }
}

/// Whether cargo could have a package or a target of this name.
fn is_cargos(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && name.chars().all(plain)
}
