//! A process whose lines are read as they come, and which ends when the user or the clock says so.
//!
//! It gets a process group of its own, so that a signal reaches everybody in it once: cargo, the runner and
//! the tests. It is asked to end first, and made to a while later.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::interrupt;

/// How often is looked whether to go on.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// From the request to end to the end.
const GRACE: Duration = Duration::from_secs(5);

/// Why a process is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It has ended by itself.
    Exited(ExitStatus),
    /// The user has ended it.
    Interrupted,
    /// The deadline has passed.
    Late,
}

/// Which of its outputs a line is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    Out,
    Err,
    /// Both, in the order in which they were written.
    Merged,
}

/// How outputs are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outputs {
    Apart,
    Merged,
}

/// Runs `command` to its end, and hands its lines to `line`.
pub(crate) fn run(
    mut command: Command,
    outputs: Outputs,
    deadline: Option<Instant>,
    mut line: impl FnMut(Stream, &str),
) -> Result<End, Error> {
    command.stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let (sender, lines) = channel();
    let mut child = match outputs {
        Outputs::Apart => {
            let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let mut child = spawned.map_err(Error::NoCargo)?;
            child.stdout.take().into_iter().for_each(|pipe| read(pipe, Stream::Out, sender.clone()));
            child.stderr.take().into_iter().for_each(|pipe| read(pipe, Stream::Err, sender.clone()));
            child
        }
        Outputs::Merged => {
            let (reader, writer) = std::io::pipe().map_err(Error::NoCargo)?;
            let other = writer.try_clone().map_err(Error::NoCargo)?;
            let child = command.stdout(writer).stderr(other).spawn().map_err(Error::NoCargo)?;
            // The command holds the writing ends; the reader would wait for ever.
            drop(command);
            read(reader, Stream::Merged, sender.clone());
            child
        }
    };
    drop(sender);
    follow(&mut child, &lines, deadline, &mut line)
}

/// Hands over lines until the process is over.
fn follow(
    child: &mut Child,
    lines: &Receiver<(Stream, String)>,
    deadline: Option<Instant>,
    line: &mut dyn FnMut(Stream, &str),
) -> Result<End, Error> {
    let mut asked: Option<(End, Instant)> = None;
    loop {
        match lines.recv_timeout(LOOK_EVERY) {
            Ok((stream, text)) => line(stream, &text),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                // Nobody writes any more, but the process may still be there.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        if let Some(status) = child.try_wait().map_err(Error::NoCargo)? {
            // What is in the pipes already; somebody it has left behind may hold them open.
            let until = Instant::now() + Duration::from_millis(200);
            while let Ok((stream, text)) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                line(stream, &text);
            }
            return Ok(asked.map_or(End::Exited(status), |(why, _)| why));
        }
        match asked {
            None if interrupt::requested() => asked = Some((ask(child, End::Interrupted), Instant::now())),
            None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                asked = Some((ask(child, End::Late), Instant::now()));
            }
            Some((_, since)) if since.elapsed() > GRACE || interrupt::times() > 1 => kill(child),
            _ => {}
        }
    }
}

fn read(pipe: impl Read + Send + 'static, stream: Stream, to: Sender<(Stream, String)>) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut bytes = Vec::new();
        // Tests may print what is no text.
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes);
            if to.send((stream, text.trim_end_matches(['\n', '\r']).to_owned())).is_err() {
                return;
            }
            bytes.clear();
        }
    });
}

#[cfg(unix)]
fn ask(child: &mut Child, why: End) -> End {
    signal(child, nix::sys::signal::Signal::SIGINT);
    why
}

#[cfg(unix)]
fn kill(child: &mut Child) {
    signal(child, nix::sys::signal::Signal::SIGKILL);
}

#[cfg(unix)]
fn signal(child: &Child, signal: nix::sys::signal::Signal) {
    if let Ok(group) = i32::try_from(child.id()) {
        // If it is gone already, so much the better.
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), signal);
    }
}

#[cfg(not(unix))]
fn ask(child: &mut Child, why: End) -> End {
    kill(child);
    why
}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}
