//! How a test of pytest or a script is run again.

use crate::language::Replay;
use crate::paste::{quoted, words};

pub(super) const REPLAY: Replay = Replay {
    takes_files: false,
    command: known,
    line: |meta, _| format!("drawloom.explore(…, replay=\"{}\")", meta.token),
};

/// A command that runs one test of pytest, or a script of the project without arguments; none if `command` is something
/// else. What arguments do to a script nobody can tell from here.
fn known(command: &str) -> Option<String> {
    let words = words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["python", "-m", "pytest", node] if is_below(node.split("::").next()?) => {
            Some(format!("python -m pytest {}", quoted(node)))
        }
        ["python", script] if is_below(script) => Some(format!("python {}", quoted(script))),
        _ => None,
    }
}

/// Whether `file` is a source file of Python somewhere below the folder one is in.
fn is_below(file: &str) -> bool {
    let plain = file.chars().all(crate::printable::is_printable);
    let options = file.starts_with('-');
    let elsewhere =
        file.starts_with(['/', '\\', '~']) || file.contains(':') || file.split(['/', '\\']).any(|p| p == "..");
    plain && !options && !elsewhere && file.ends_with(".py")
}
