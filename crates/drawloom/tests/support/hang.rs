//! Programs that may never end, in another process that is ended in any case.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Set for the process that is to run a program.
const CHILD: &str = "DRAWLOOM_TEST_HANGS";
/// Far more than any of them takes on a busy machine.
const LONGEST: Duration = Duration::from_secs(300);

/// Whether this is the process that is to run the program.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// `file:line` of the line of `source` that has the comment `// here: {name}`.
pub fn line_of(source: &str, file: &str, name: &str) -> String {
    let comment = format!("// here: {name}");
    let at = source.lines().position(|line| line.ends_with(&comment)).expect("the comment is there");
    format!("{file}:{}", at + 1)
}

/// What came of a program.
pub struct Child {
    /// Its exit code; none if it was killed, by a signal or after [`LONGEST`].
    pub code: Option<i32>,
    /// All that it has printed.
    pub text: String,
}

impl Child {
    /// Runs the test `program` of this binary.
    pub fn of(program: &str) -> Child {
        Child::of_all(&[program])
    }

    /// Runs several tests of this binary in one process.
    pub fn of_all(programs: &[&str]) -> Child {
        let traces = std::env::temp_dir().join(format!("drawloom-hangs-{}", std::process::id()));
        let mut child = Command::new(std::env::current_exe().expect("the running test"))
            .args(["--exact", "--ignored"])
            .args(programs)
            .env(CHILD, "1")
            .env("DRAWLOOM_DIR", &traces)
            .env_remove("RUST_BACKTRACE")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the same binary in another process");
        let read = |mut from: Box<dyn Read + Send>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = from.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        };
        let (out, err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let texts = [read(Box::new(out)), read(Box::new(err))];
        let began = Instant::now();
        let status = loop {
            match child.try_wait().expect("a child") {
                Some(status) => break Some(status),
                None if began.elapsed() > LONGEST => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let text = texts.map(|text| text.join().expect("a text")).concat();
        let _ = std::fs::remove_dir_all(traces);
        Child { code: status.and_then(|status| status.code()), text }
    }

    /// Fails unless it has printed `what`.
    #[track_caller]
    pub fn says(&self, what: &str) {
        assert!(self.text.contains(what), "not printed: {what}\n{}", self.text);
    }

    /// The report, without what differs from run to run.
    pub fn report(&self) -> String {
        let lines = self.text.lines().skip_while(|line| !line.contains(" in test \""));
        // How a panic is explained is for other tests.
        let ends = |line: &str| ["note: ", "failures:", "Task `"].iter().any(|end| line.starts_with(end));
        let report = lines.take_while(|line| !ends(line));
        let stable = |line: &str| match line {
            _ if line.starts_with("trace: ") => "trace: …".to_owned(),
            _ if line.starts_with("replay: ") => "replay: …".to_owned(),
            _ if line.contains("has not made a step for") => {
                let (before, after) = line.split_once(" for ").expect("the words are there");
                let unit = after.split_once(' ').map_or("", |(_, unit)| unit);
                format!("{before} for N {unit}")
            }
            _ => line.to_owned(),
        };
        report.map(|line| without_line_numbers(&stable(line))).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }
}

/// Where a line of a test is in its file changes with every edit.
fn without_line_numbers(line: &str) -> String {
    let mut parts = line.split(".rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + ".rs:N" + part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'))
}
