//! `corpus`: what has shown something new is changed, and kept for the next run.

use std::path::{Path, PathBuf};
use std::process::Command;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{explore, thread};

#[derive(Default)]
struct Windows {
    a: AtomicU32,
    b: AtomicU32,
    c: AtomicU32,
    d: AtomicU32,
    e: AtomicU32,
}

/// Windows that one task opens and closes again, and that another must hit one after the other. To have hit the
/// first ones shows, since only then are the later ones looked at.
fn windows() {
    let open = Arc::new(Windows::default());
    let theirs = open.clone();
    let opens = thread::spawn(move || {
        theirs.a.store(1, SeqCst);
        theirs.a.store(2, SeqCst);
        theirs.a.store(3, SeqCst);
        theirs.b.store(1, SeqCst);
        theirs.b.store(2, SeqCst);
        theirs.b.store(3, SeqCst);
        theirs.c.store(1, SeqCst);
        theirs.c.store(2, SeqCst);
        theirs.c.store(3, SeqCst);
        theirs.d.store(1, SeqCst);
        theirs.d.store(2, SeqCst);
        theirs.d.store(3, SeqCst);
        theirs.e.store(1, SeqCst);
        theirs.e.store(2, SeqCst);
        theirs.e.store(3, SeqCst);
    });
    // Each on a line of its own: places are what is told apart.
    let hit = open.a.load(SeqCst) == 2;
    let hit = hit && open.b.load(SeqCst) == 2;
    let hit = hit && open.c.load(SeqCst) == 2;
    let hit = hit && open.d.load(SeqCst) == 2;
    let hit = hit && open.e.load(SeqCst) == 2;
    assert!(!hit, "all of them were hit");
    opens.join().unwrap();
}

/// What other processes run.
#[drawloom::test(corpus(iterations = 250), shrink = false, trace = false)]
fn hits_windows() {
    if std::env::var_os("DRAWLOOM_TEST_WINDOWS").is_some() {
        windows();
    } else {
        thread::spawn(|| ()).join().unwrap();
        let both = Arc::new(AtomicU32::new(0));
        let theirs = both.clone();
        let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
        both.fetch_add(1, SeqCst);
        other.join().unwrap();
    }
}

/// Runs of `hits_windows` in other processes, with a directory for their corpus.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("corpus-{name}"));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).expect("a directory");
        Place(directory)
    }

    fn file(&self) -> PathBuf {
        self.0.join("corpus--hits_windows.corpus.txt")
    }

    fn run(&self, config: &str) -> String {
        let output = Command::new(std::env::current_exe().expect("the running test"))
            .args(["--exact", "hits_windows", "--nocapture"])
            .envs([
                ("DRAWLOOM_DIR", self.0.as_os_str()),
                ("DRAWLOOM_REGRESSIONS", "off".as_ref()),
                ("DRAWLOOM_TEST_WINDOWS", "1".as_ref()),
                ("DRAWLOOM_STRATEGY", config.as_ref()),
            ])
            .output()
            .expect("another process");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }
}

/// "explored 123 executions".
fn executions(text: &str) -> u64 {
    let number = text.split("explored ").nth(1).and_then(|rest| rest.split(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn what_shows_something_new_leads_further_than_luck() {
    let found = |strategy: &str| {
        let needed = |seed: u64| {
            let config = format!("{strategy}(iterations = 3000, seed = {seed}), threads = 1, shrink = false");
            explore(config.parse().expect("a configuration"), windows).executions()
        };
        (0..5).map(needed).sum::<u64>() / 5
    };
    let (corpus, pos) = (found("corpus"), found("pos"));
    assert!(2 * corpus < pos, "{corpus} executions with a memory, {pos} without");
}

#[test]
fn a_second_run_begins_where_the_first_one_ended() {
    let whole = executions(&Place::new("whole").run("corpus(iterations = 3000), threads = 1"));
    let place = Place::new("second");
    let part = whole * 2 / 3;
    let first = place.run(&format!("corpus(iterations = {part}), threads = 1"));
    assert!(first.contains("nothing found"), "{first}");
    let stored = std::fs::read_to_string(place.file()).expect("a corpus");
    assert!(stored.starts_with("drawloom corpus 1 of corpus::hits_windows\n"), "{stored}");
    let second = place.run("corpus(iterations = 3000), threads = 1");
    assert!(second.contains("executions saved by earlier runs"), "{second}");
    assert!(second.contains("all of them were hit") && executions(&second) < whole / 2, "{whole}: {second}");
}

#[test]
fn a_run_follows_from_its_seed_and_the_corpus() {
    let run = |name: &str, threads: u32| {
        let place = Place::new(name);
        let config = format!("corpus(iterations = 150), threads = {threads}");
        let first = place.run(&config);
        let again = place.run(&config);
        (executions(&first), executions(&again), std::fs::read_to_string(place.file()).expect("a corpus"))
    };
    let alone = run("alone", 1);
    assert_eq!(alone, run("once more", 1));
    assert_eq!(alone, run("three", 3));
}

#[test]
fn what_is_no_corpus_is_told_and_left_alone() {
    let place = Place::new("foreign");
    for (content, reason) in [
        ("not a corpus", "it does not start like a corpus"),
        ("drawloom corpus 1 of another\n5eed\n", "it belongs to the test `another`"),
        ("drawloom corpus 1 of corpus::hits_windows\n5eed\n1:\n", "line 3: this is not a recipe of an execution"),
    ] {
        std::fs::write(place.file(), content).expect("a file");
        let text = place.run("corpus(iterations = 50), threads = 1");
        assert!(text.contains(reason) && text.contains("remove it to start a new one"), "{text}");
        assert_eq!(std::fs::read_to_string(place.file()).expect("a file"), content);
    }
}

#[test]
fn what_was_not_looked_at_again_is_not_lost() {
    let place = Place::new("cut");
    place.run("corpus(iterations = 100), threads = 1");
    let before = std::fs::read_to_string(place.file()).expect("a corpus");
    assert!(before.lines().count() > 5, "{before}");
    place.run("corpus(iterations = 3), threads = 1");
    let after = std::fs::read_to_string(place.file()).expect("a corpus");
    assert!(before.lines().all(|line| after.lines().any(|other| other == line)), "{before}\n{after}");
}
