//! Clusters of several simulators, and what they cost.
//!
//! Each binary runs one scenario with one simulator, and prints CPU seconds and what was done in them.

use std::time::Duration;

/// What is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scenario {
    /// So many requests in all, each with its reply, by all hosts but one to that one.
    Echo { hosts: usize, requests: usize },
    /// Every host sends to every other one, every 100 ms, for so many seconds.
    Heartbeats { hosts: usize, seconds: u64 },
    /// So many runs of a cluster in which each host but one sends one request.
    Tiny { hosts: usize, runs: usize },
}

/// How often hosts send heartbeats.
pub const PERIOD: Duration = Duration::from_millis(100);

impl Scenario {
    /// As the command line says: `echo 2 50000`, `heartbeats 5 3600`, `tiny 10 5000`.
    ///
    /// # Panics
    ///
    /// If it says something else.
    pub fn of_arguments() -> Scenario {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let number = |at: usize| arguments[at].parse::<usize>().expect("a number");
        match arguments[0].as_str() {
            "echo" => Scenario::Echo { hosts: number(1), requests: number(2) },
            "heartbeats" => Scenario::Heartbeats { hosts: number(1), seconds: number(2) as u64 },
            "tiny" => Scenario::Tiny { hosts: number(1), runs: number(2) },
            other => panic!("{other} is no scenario: echo, heartbeats, tiny"),
        }
    }

    /// Messages of all runs.
    pub fn messages(self) -> usize {
        match self {
            Scenario::Echo { requests, .. } => 2 * requests,
            Scenario::Heartbeats { hosts, seconds } => hosts * (hosts - 1) * seconds as usize * 10,
            Scenario::Tiny { hosts, runs } => 2 * (hosts - 1) * runs,
        }
    }

    /// Runs it so many times, and prints what one of them cost.
    pub fn measure(self, simulator: &str, times: usize, run: impl FnOnce()) {
        let before = cpu_seconds();
        run();
        let seconds = (cpu_seconds() - before) / times as f64;
        let (what, rate) = match self {
            Scenario::Tiny { runs, .. } => ("runs", runs as f64 / seconds),
            _ => ("messages", self.messages() as f64 / seconds),
        };
        println!(
            "{simulator} {self:?}: {seconds:.3} CPU s, {rate:.0} {what}/CPU s, {} MiB at most",
            most_memory() / 1024
        );
    }
}

fn usage() -> libc::rusage {
    // SAFETY: all zeroes is a valid `rusage`, and the call fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    }
}

/// CPU time of this process so far, of the user and of the system.
pub fn cpu_seconds() -> f64 {
    let usage = usage();
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The most memory that this process has had, in KiB.
pub fn most_memory() -> i64 {
    usage().ru_maxrss
}
