//! The tests of a project, as the test binaries list them.

use super::{Project, Target, cargo};
use crate::error::Error;
use crate::run::child::{self, End, Outputs};
use crate::run::libtest;

/// A test that a binary has listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    /// The index of its target.
    pub(crate) target: usize,
    /// What the harness calls it.
    pub(crate) path: String,
}

impl Project {
    /// The tests of `targets` whose paths contain `filter`.
    pub(crate) fn list(&self, targets: &[Target], filter: Option<&str>) -> Result<Vec<Listed>, Error> {
        let mut command = cargo();
        command.args(["test", "--tests", "--no-fail-fast", "--color", "never"]).args(self.selection());
        command.args(["--", "--list", "--format", "terse"]).args(filter);
        command.env("CARGO_TERM_QUIET", "false");
        let mut listed = Vec::new();
        let mut current = None;
        let end = child::run(command, Outputs::Merged, None, |_, line| {
            if let Some(executable) = libtest::running(line) {
                current = targets.iter().position(|target| target.is_at(executable));
            } else if let (Some(target), Some(path)) = (current, line.strip_suffix(": test")) {
                listed.push(Listed { target, path: path.to_owned() });
            }
        })?;
        match end {
            End::Interrupted | End::Late => Err(Error::Interrupted),
            // A harness of its own may not know `--list`; its tests are run all the same.
            End::Exited(_) => Ok(listed),
        }
    }
}
