//! Failing schedules are kept in a file, and replayed first when their test is run again: each run is another
//! process.

use std::path::{Path, PathBuf};
use std::process::Command;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::thread;

/// Which version of the program the test runs.
const VERSION: &str = "DRAWLOOM_TEST_VERSION";

/// What the other processes run.
#[drawloom::test(random(iterations = 50))]
fn counted() {
    let version = std::env::var(VERSION).unwrap_or_default();
    let count = Arc::new(AtomicU32::new(0));
    let tasks = [0, 1].map(|_| {
        let (count, version) = (count.clone(), version.clone());
        thread::spawn(move || match version.as_str() {
            "loses" => count.store(count.load(SeqCst) + 1, SeqCst),
            // The same steps, and nothing goes wrong.
            "forgives" => count.store(2 - count.load(SeqCst) % 2, SeqCst),
            // Other steps, and it still goes wrong.
            "loses, and looks again" => {
                count.store(count.load(SeqCst) + 1, SeqCst);
                count.load(SeqCst);
            }
            _ => drop(count.fetch_add(1, SeqCst)),
        })
    });
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

struct Place {
    directory: PathBuf,
}

impl Place {
    fn new(name: &str) -> Place {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("regressions-{name}"));
        let _ = std::fs::remove_dir_all(&directory);
        Place { directory }
    }

    fn command(&self, version: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("the running test"));
        command
            .args(["--exact", "counted", "--nocapture"])
            .envs([(VERSION, version), ("NO_COLOR", "1"), ("RUST_BACKTRACE", "0"), ("CI", "")])
            .envs([("DRAWLOOM_REGRESSIONS", &self.directory), ("DRAWLOOM_DIR", &self.directory.join("traces"))])
            .env_remove("DRAWLOOM_STRATEGY");
        command
    }

    fn run(&self, version: &str) -> String {
        text(self.command(version))
    }

    fn file(&self) -> PathBuf {
        self.directory.join("regressions.txt")
    }

    fn stored(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }
}

fn text(mut command: Command) -> String {
    let output = command.output().expect("the same test in another process");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The line with which a run says what it did.
fn line<'t>(text: &'t str, beginning: &str) -> &'t str {
    let found = text.lines().map(|line| line.strip_prefix("drawloom: ").unwrap_or(line));
    found.into_iter().find(|line| line.starts_with(beginning)).unwrap_or_else(|| panic!("no `{beginning}` in\n{text}"))
}

#[test]
fn a_failing_schedule_is_stored_once_and_replayed_first() {
    let place = Place::new("first");
    let first = place.run("loses");
    line(&first, "stored in ");
    let stored = place.stored();
    let lines: Vec<&str> = stored.lines().collect();
    assert_eq!(lines.len(), 3, "{stored}");
    assert!(lines[0].starts_with("# Failing schedules") && lines[1].starts_with("# Commit this file"));
    let (token, comment) = lines[2].split_once(" # ").expect("a token and a comment");
    assert!(first.contains(&format!("DRAWLOOM_REPLAY='{token}'")), "{first}");
    assert!(comment.starts_with("regressions::counted: panic at crates/drawloom/tests/regressions.rs:"), "{comment}");

    let second = place.run("loses");
    assert!(line(&second, "this is the stored schedule ").ends_with("regressions.txt:3"), "{second}");
    line(&second, "iteration 1 of the stored schedules, ");
    line(&second, "explored 1 execution, 1 failing");
    assert_eq!(place.stored(), stored, "it is not stored again");
}

#[test]
fn a_schedule_that_passes_is_said_to_pass_and_kept() {
    let place = Place::new("passes");
    place.run("loses");
    let stored = place.stored();
    let text = place.run("forgives");
    line(&text, "1 stored schedule passes (");
    line(&text, "explored 50 executions, 4 distinct behaviours, nothing found");
    assert_eq!(place.stored(), stored);
}

#[test]
fn a_schedule_that_no_longer_fits_is_reported_and_kept() {
    let place = Place::new("outdated");
    place.run("loses");
    let stored = place.stored();
    let text = place.run("counts");
    let remark = line(&text, "1 stored schedule no longer fits the program: ");
    assert!(remark.contains("regressions.txt:3 from step "), "{remark}");
    assert!(remark.contains(" (expected `"), "{remark}");
    assert!(remark.contains(", found `"), "{remark}");
    line(&text, "explored 50 executions, ");
    assert_eq!(place.stored(), stored);
}

#[test]
fn a_schedule_that_no_longer_fits_may_still_lead_to_the_bug() {
    let place = Place::new("leads");
    place.run("loses");
    let text = place.run("loses, and looks again");
    line(&text, "1 stored schedule no longer fits the program: ");
    line(&text, "iteration 1 of the stored schedules, ");
    assert!(text.contains("an update was lost"), "{text}");
    assert_eq!(place.stored().lines().count(), 4, "the schedule that fits is added");
}

#[test]
fn what_cannot_be_stored_is_printed() {
    let place = Place::new("unwritable");
    std::fs::create_dir_all(place.file()).expect("a directory where the file should be");
    let text = place.run("loses");
    line(&text, "the stored schedules in ");
    assert!(line(&text, "it could not be stored (").contains("add this line to "), "{text}");
    assert!(line(&text, "dl1").contains(" # regressions::counted: panic at "), "{text}");
    assert!(text.contains("an update was lost"), "the finding is shown all the same\n{text}");
}

#[test]
fn a_damaged_line_is_named_and_the_others_are_replayed() {
    let place = Place::new("damaged");
    place.run("loses");
    let stored = format!("dl1nonsense # mine\n{}", place.stored().trim_end());
    std::fs::write(place.file(), &stored).expect("the file");
    let text = place.run("loses");
    assert!(text.contains("regressions.txt:1: this replay token is damaged"), "{text}");
    assert!(line(&text, "this is the stored schedule ").ends_with(":4"), "{text}");
    assert_eq!(place.stored(), stored);
}

/// Runs the test, which must be refused with `reason`: a remark of a test that passes is seen by nobody.
fn refused(place: &Place, reason: &str) {
    let output = place.command("counts").output().expect("the same test in another process");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("stored schedules cannot be replayed: ") && text.contains(reason), "{text}");
}

#[test]
fn what_is_stored_and_cannot_be_read_fails_a_test_that_would_pass() {
    let place = Place::new("unreadable");
    std::fs::create_dir_all(&place.directory).expect("a directory");
    for (content, reason) in [
        (&b"dl1nonsense # mine\n"[..], "regressions.txt:1: this replay token is damaged"),
        (b"# comment\n<<<<<<< HEAD\n", "regressions.txt:2: this is not a replay token"),
        (b"\x1b]0;x\x07", "regressions.txt:1: this is not a replay token"),
        (b"# \xff\xfe\n", "regressions.txt: it is not text: byte 2 is not UTF-8"),
    ] {
        std::fs::write(place.file(), content).expect("the file");
        refused(&place, reason);
        assert_eq!(std::fs::read(place.file()).expect("the file"), content);
    }
    // Nor is anything added to what cannot be read.
    let text = place.run("loses");
    assert!(text.contains("cannot be replayed") || text.contains("could not be stored"), "{text}");
    assert_eq!(std::fs::read(place.file()).expect("the file"), b"# \xff\xfe\n");
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    let place = Place::new("empty");
    std::fs::create_dir_all(&place.directory).expect("a directory");
    std::fs::write(place.file(), "").expect("the file");
    let text = place.run("counts");
    assert!(text.contains("regressions.txt is empty: no schedule is stored there"), "{text}");
}

#[test]
#[cfg(unix)]
fn nothing_is_stored_through_a_link() {
    let place = Place::new("link");
    std::fs::create_dir_all(&place.directory).expect("a directory");
    let precious = place.directory.join("precious");
    std::fs::write(&precious, "# mine\n").expect("a file");
    std::os::unix::fs::symlink(&precious, place.file()).expect("a link");
    let text = place.run("loses");
    assert!(line(&text, "it could not be stored (it is a symbolic link").contains("add this line to "), "{text}");
    assert_eq!(std::fs::read_to_string(&precious).expect("the file"), "# mine\n");
}

#[test]
fn nothing_is_stored_where_that_is_turned_off_or_a_token_is_replayed() {
    let place = Place::new("off");
    let mut off = place.command("loses");
    off.env("DRAWLOOM_REGRESSIONS", "off");
    let printed = text(off);
    let mut by_argument = place.command("loses");
    by_argument.env("DRAWLOOM_STRATEGY", "regressions = false");
    text(by_argument);
    let token = line(&printed, "replay: ").split('\'').nth(1).expect("a token").to_owned();
    let mut replay = place.command("loses");
    replay.env("DRAWLOOM_REPLAY", token);
    assert!(text(replay).contains("iteration 1 of replay"));
    assert!(!place.file().exists());
}

#[test]
fn in_ci_the_line_is_printed_and_no_file_is_written() {
    let manifest = Place::new("ci").directory;
    std::fs::create_dir_all(&manifest).expect("a directory");
    let mut command = Place::new("ci").command("loses");
    // The crate's own directory, where nothing must appear.
    command.env("CI", "true").env("DRAWLOOM_REGRESSIONS", "");
    let text = text(command);
    let remark = line(&text, "to have it replayed first, add this line to ");
    assert!(remark.ends_with(" crates/drawloom/drawloom-regressions/regressions.txt:"), "{remark}");
    line(&text, "dl1");
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("drawloom-regressions").exists());
}
