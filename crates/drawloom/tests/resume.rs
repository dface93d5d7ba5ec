//! An exhaustive test that is cut short, by a budget or by a kill, goes on when it is run again.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{explore, thread};

/// Milliseconds that each execution of the test takes in another process.
const PAUSE: &str = "DRAWLOOM_TEST_PAUSE";
/// How many times each task of the test counts.
const ROUNDS: &str = "DRAWLOOM_TEST_ROUNDS";
/// The test fails where it is set.
const FAILS: &str = "DRAWLOOM_TEST_FAILS";

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Two tasks count, and lose counts.
fn count(rounds: u64) -> u32 {
    let cell = Arc::new(AtomicU32::new(0));
    let tasks = [0, 1].map(|_| {
        let cell = cell.clone();
        thread::spawn(move || (0..rounds).for_each(|_| cell.store(cell.load(SeqCst) + 1, SeqCst)))
    });
    tasks.into_iter().for_each(|task| task.join().unwrap());
    cell.load(SeqCst)
}

/// What the other processes run.
#[drawloom::test(exhaustive)]
fn counted() {
    std::thread::sleep(Duration::from_millis(number(PAUSE).unwrap_or(0)));
    let counted = count(number(ROUNDS).unwrap_or(3));
    assert!(counted != 2 || number(FAILS).is_none(), "only 2 were counted");
    assert!(counted != 5 || number(FAILS).is_none(), "only 5 were counted");
}

/// Runs of `counted` in other processes, with a directory for their logs.
struct Place {
    directory: PathBuf,
    program: PathBuf,
}

impl Place {
    fn new(name: &str) -> Place {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("resume-{name}"));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).expect("a directory");
        Place { directory, program: std::env::current_exe().expect("the running test") }
    }

    fn log(&self) -> PathBuf {
        self.directory.join("resume--counted.exhaustive.log")
    }

    fn command(&self, config: &str, pause: u64) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["--exact", "counted", "--nocapture"])
            .envs([
                ("DRAWLOOM_DIR", self.directory.as_os_str()),
                ("NO_COLOR", "1".as_ref()),
                ("DRAWLOOM_REGRESSIONS", "off".as_ref()),
            ])
            .envs([("DRAWLOOM_STRATEGY", config), (PAUSE, &pause.to_string()), (FAILS, "1")])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, config: &str, pause: u64) -> String {
        text(self.command(config, pause).output().expect("another process"))
    }

    /// Leaves the log of an exploration that was cut short.
    fn with_a_log(name: &str) -> Place {
        static LOG: OnceLock<Vec<u8>> = OnceLock::new();
        let log = LOG.get_or_init(|| {
            let place = Place::new("first");
            let text = place.run("exhaustive(max_schedules = 60), threads = 1", 20);
            assert!(text.contains("the next run of this test resumes here"), "{text}");
            std::fs::read(place.log()).expect("the log")
        });
        let place = Place::new(name);
        std::fs::write(place.log(), log).expect("the log");
        place
    }

    /// Runs on for a moment, and checks that it starts over for that reason.
    fn starts_over(&self, config: &str, reason: &str) {
        let log = std::fs::read(self.log()).expect("the log");
        let text = self.run(config, 0);
        let expected = ["starts over, since the log of an earlier run", reason, "exhaustive.log.old"];
        assert!(expected.iter().all(|part| text.contains(part)), "{reason}\n{text}");
        assert!(text.contains("explored 30 executions"), "{text}");
        let aside = self.log().with_extension("log.old");
        assert!(std::fs::read(aside).expect("the old log") == log, "it is kept as it was");
        std::fs::write(self.log(), log).expect("the log back in its place");
    }
}

fn text(output: Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The line that says what an uninterrupted exploration comes to, and a report for each cause.
fn expected() -> Vec<String> {
    let exploration = explore("exhaustive".parse().expect("a configuration"), || {
        let counted = count(3);
        assert!(counted != 2, "only 2 were counted");
        assert!(counted != 5, "only 5 were counted");
    });
    assert!(exploration.exhausted() && exploration.findings().len() == 2);
    let occurrences = exploration.findings().iter().map(|f| format!("in {} executions", f.occurrences()));
    let messages = exploration.findings().iter().map(|f| f.message().to_owned());
    occurrences.chain(messages).chain([exploration.summary()]).collect()
}

fn assert_complete(text: &str) {
    for line in expected() {
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[test]
fn a_test_that_is_killed_finishes_with_the_same_counts() {
    let place = Place::new("killed");
    for life in 0..2 {
        let mut child = place.command("exhaustive, threads = 2", 25).spawn().expect("another process");
        let length = || std::fs::metadata(place.log()).map_or(0, |log| log.len());
        let (before, began) = (length(), Instant::now());
        // Until it has written twice: everything that it knows, and something more.
        let mut seen = vec![before];
        while seen.len() < 3 {
            std::thread::sleep(Duration::from_millis(5));
            assert!(began.elapsed() < Duration::from_secs(60), "life {life}: {seen:?}");
            if seen.last() != Some(&length()) {
                seen.push(length());
            }
        }
        child.kill().expect("the kill");
        child.wait().expect("its end");
    }
    let text = place.run("exhaustive, threads = 2", 0);
    assert!(text.contains("resumed after"), "{text}");
    assert_complete(&text);
    assert!(!place.log().exists(), "what is finished leaves no log");
    assert_complete(&place.run("exhaustive", 0));
}

#[test]
fn a_test_whose_budget_is_spent_goes_on_in_the_next_run() {
    let place = Place::with_a_log("budget");
    let text = place.run("exhaustive(max_schedules = 100), threads = 2", 0);
    assert!(text.contains("resumed after 60 executions") && text.contains("explored 160 executions"), "{text}");
    let text = place.run("exhaustive, timeout = 1ns", 0);
    assert!(text.contains("resumed after 160 executions") && text.contains("out of time after 16"), "{text}");
    assert_complete(&place.run("exhaustive", 0));
    assert!(!place.log().exists());
}

#[test]
fn what_is_over_in_a_moment_leaves_no_log() {
    let place = Place::new("moment");
    assert_complete(&place.run("exhaustive", 0));
    assert!(!place.log().exists(), "what is finished leaves no log");
    let began = Instant::now();
    let text = place.run("exhaustive(max_schedules = 5)", 0);
    assert!(text.contains("explored 5 executions"), "{text}");
    // On a busy machine even this may take longer than a moment; a whole process takes longer still.
    assert!(!place.log().exists() || began.elapsed() >= Duration::from_secs(1), "{text}");
}

#[test]
fn whoever_does_not_want_it_starts_from_the_beginning() {
    let place = Place::with_a_log("unwanted");
    assert_complete(&place.run("exhaustive(resume = false)", 0));
    assert!(place.log().exists(), "nobody has touched it");
}

#[test]
fn a_log_that_is_of_no_use_is_put_aside() {
    const SOME: &str = "exhaustive(max_schedules = 30)";
    let mut place = Place::with_a_log("useless");
    place.starts_over("exhaustive(max_schedules = 30), spurious_wakeups = 0", "the configuration has changed");
    let log = std::fs::read(place.log()).expect("the log");
    let mut altered = log.clone();
    altered[log.len() - 9] ^= 1;
    for (content, reason) in [
        (altered, "it is damaged"),
        (log[..60].to_vec(), "it ends before it says anything"),
        (b"{ \"not\": \"a log\" }".to_vec(), "not a log"),
    ] {
        std::fs::write(place.log(), content).expect("another content");
        place.starts_over(SOME, reason);
    }
    // Cut off later, it is used as far as it goes.
    std::fs::write(place.log(), &log[..log.len() - 3]).expect("a shorter content");
    let text = place.run("exhaustive", 0);
    assert!(text.contains("resumed after"), "{text}");
    assert_complete(&text);
    // The same program, built anew.
    std::fs::write(place.log(), log).expect("the log");
    let rebuilt = place.directory.join("rebuilt");
    let mut program = std::fs::read(&place.program).expect("the program");
    program.push(0);
    std::fs::copy(&place.program, &rebuilt).expect("a copy that can be run");
    std::fs::write(&rebuilt, program).expect("a byte more");
    place.program = rebuilt;
    place.starts_over(SOME, "the program has been rebuilt since");
}

#[test]
fn a_program_that_has_changed_is_explored_from_the_beginning() {
    let place = Place::with_a_log("changed");
    let shorter = text(place.command("exhaustive", 0).env(ROUNDS, "2").output().expect("another process"));
    assert!(shorter.contains("the program has changed: its first execution is different"), "{shorter}");
    assert!(shorter.contains("explored 34 executions"), "{shorter}");
    // Its operations are the same, but nothing fails any more.
    let place = Place::with_a_log("mended");
    let mended = text(place.command("exhaustive", 0).env_remove(FAILS).output().expect("another process"));
    assert!(mended.contains("a recorded failure no longer happens"), "{mended}");
    assert!(mended.contains("nothing found (exhausted)"), "{mended}");
}
