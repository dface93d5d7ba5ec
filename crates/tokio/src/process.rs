//! `tokio::process`: not under control; every call fails with an error that names it.

use std::ffi::OsStr;
use std::io;
use std::process::{ExitStatus, Output};

use crate::uncontrolled::error;

/// A command that cannot be run under control.
#[derive(Debug)]
pub struct Command(());

/// A process that cannot be made under control.
#[derive(Debug)]
pub enum Child {}

impl Command {
    /// A command.
    pub fn new(_program: impl AsRef<OsStr>) -> Command {
        Command(())
    }

    /// With one more argument.
    pub fn arg(&mut self, _argument: impl AsRef<OsStr>) -> &mut Command {
        self
    }

    /// With more arguments.
    pub fn args<I, S>(&mut self, _arguments: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self
    }

    /// Fails.
    pub fn spawn(&mut self) -> io::Result<Child> {
        Err(error("process::Command::spawn"))
    }

    /// Fails.
    pub async fn output(&mut self) -> io::Result<Output> {
        Err(error("process::Command::output"))
    }

    /// Fails.
    pub async fn status(&mut self) -> io::Result<ExitStatus> {
        Err(error("process::Command::status"))
    }
}
