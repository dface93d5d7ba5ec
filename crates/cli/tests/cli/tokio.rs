//! `--tokio`: a project that knows nothing of drawloom, and a crate that it is built on, are put under control, and no
//! file of theirs is touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use crate::sample::{Answer, Sample, brief, sorted};

/// A copy of a project, with these files of it.
struct Project {
    directory: PathBuf,
    sample: Sample,
}

impl Project {
    fn new(name: &str, from: &str, files: &[&str]) -> Project {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tokio").join(name);
        let _ = std::fs::remove_dir_all(&directory);
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
        for file in files {
            let to = directory.join(file);
            std::fs::create_dir_all(to.parent().expect("it lies in the project")).expect("a directory");
            std::fs::copy(from.join(file), to).expect("a file of the project");
        }
        let store = directory.with_extension("store");
        let _ = std::fs::remove_dir_all(&store);
        Project { directory, sample: Sample { store } }
    }

    /// The sample, with the versions of the workspace: those are here already.
    fn sample(name: &str) -> Project {
        let project = Project::new(name, "tests/tokio_sample", &["Cargo.toml", "src/lib.rs", "tests/jobs.rs"]);
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        std::fs::copy(lock, project.directory.join("Cargo.lock")).expect("the lock file of the workspace");
        // Cargo takes out what is not needed.
        let mut command = Command::new(env!("CARGO"));
        command.args(["metadata", "--offline", "--format-version", "1"]).current_dir(&project.directory);
        assert!(command.output().expect("cargo is there").status.success());
        project
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        let mut command = self.sample.command(arguments);
        self.sample.answer(&command.current_dir(&self.directory).output().expect("the binary is there"))
    }

    /// All files, with what is in them.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut left = vec![self.directory.clone()];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
                match entry.path().is_dir() {
                    true => left.push(entry.path()),
                    false => drop(files.insert(entry.path(), std::fs::read(entry.path()).expect("a file"))),
                }
            }
        }
        files
    }
}

/// `cargo test -p drawloom-cli --test cli tokio -- --ignored`
#[test]
#[ignore = "builds a project and its dependencies, which takes a minute"]
fn tests_that_know_nothing_of_drawloom_explore_and_nothing_is_touched() {
    let project = Project::sample("jobs");
    let before = project.files();

    let answer = project.run(&["test", "--tokio", "--runner", "cargo"]);
    assert_eq!(answer.code, 1, "{}{}", answer.out, answer.err);
    assert_snapshot!(brief(&sorted(&answer.out)));

    // A replay is under control as well, and says so.
    let replayed = project.run(&["replay", "--tokio", "both_deposits", "--json"]);
    assert_eq!((replayed.code, &replayed.json()[0]["failed"]), (1, &Value::Bool(true)), "{}", replayed.err);
    let listed = project.run(&["list"]);
    assert!(listed.out.contains("replay: drawloom replay --tokio dl1"), "{}", listed.out);

    assert_eq!(project.files(), before, "the project is as it was");
}

#[test]
fn what_cannot_be_put_under_control_is_refused_with_a_reason() {
    let project = Project::sample("refused");
    let manifest = project.directory.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    let refused = |text: &str, why: &str| {
        std::fs::write(&manifest, text).expect("it is written");
        let answer = project.run(&["test", "--tokio", "--json"]);
        assert_eq!((answer.code, &answer.json()[0]["code"]), (2, &Value::from("no_tokio")), "{}", answer.err);
        assert!(answer.out.contains(why), "{}", answer.out);
    };
    refused(&text.replace("version = \"1\"", "version = \"=1.54.1\""), "required by package `jobs v0.1.0");
    refused(&text.replace("\"sync\"]", "\"sync\", \"telepathy\"]"), "`tokio` does not have that feature");
    std::fs::write(project.directory.join("Cargo.lock"), "version = 4\n").expect("it is written");
    refused(text.split("[dependencies]").next().unwrap_or_default(), "the project does not depend on it");

    let mut elsewhere = project.sample.command(&["test", "--tokio"]);
    elsewhere.current_dir(&project.directory).env("DRAWLOOM_SOURCE", "/nowhere");
    let answer = project.sample.answer(&elsewhere.output().expect("the binary is there"));
    assert_snapshot!(answer.err);
}

/// Cargo keeps what a lock file says, and quietly leaves the package out where that is older than what drawloom needs.
#[cfg(unix)]
#[test]
fn what_is_too_old_for_drawloom_is_brought_up_to_date() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::sample("old");
    let add = |file: &str, old: &str, new: &str| {
        let file = project.directory.join(file);
        let text = std::fs::read_to_string(&file).expect("it is there");
        assert!(text.contains(old), "{text}");
        std::fs::write(file, text.replacen(old, new, 1)).expect("it is written");
    };
    add("Cargo.toml", "[dependencies]\n", "[dependencies]\nlibc = \"0.2\"\n");
    add(
        "Cargo.lock",
        "name = \"jobs\"\nversion = \"0.1.0\"\ndependencies = [\n",
        concat!(
            "name = \"libc\"\nversion = \"0.2.98\"\n",
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
            "checksum = \"320cfe77175da3a483efed4bc0adc1968ca050b098ce4f2f1c13a56626128790\"\n\n[[package]]\n",
            "name = \"jobs\"\nversion = \"0.1.0\"\ndependencies = [\n \"libc\",\n",
        ),
    );
    // Nothing has to be built for this.
    let cargo = project.directory.join("cargo");
    let script = format!("#!/bin/sh\ncase $1 in test) exit 7;; esac\nexec '{}' \"$@\"\n", env!("CARGO"));
    std::fs::write(&cargo, script).expect("it is written");
    std::fs::set_permissions(&cargo, PermissionsExt::from_mode(0o755)).expect("it is its owner's");
    let before = project.files();

    let mut command = project.sample.command(&["test", "--tokio", "--runner", "cargo", "--json"]);
    command.current_dir(&project.directory).env("CARGO", &cargo);
    let output =
        command.env("CARGO_TARGET_DIR", project.directory.join("target")).output().expect("the binary is there");
    let answer = project.sample.answer(&output);
    assert!(!answer.out.contains("no_tokio"), "{}{}", answer.out, answer.err);
    let is_lock_file =
        |file: &PathBuf| file.ends_with("Cargo.lock") && file.components().any(|part| part.as_os_str() == "mirror");
    let after = project.files();
    let (_, lock) = after.iter().find(|(file, _)| is_lock_file(file)).expect("the lock file of the mirror");
    let lock = String::from_utf8_lossy(lock);
    assert!(lock.contains("\"1.999.0\"") && !lock.contains("\"0.2.98\""), "{lock}");
    for (file, text) in before {
        assert_eq!(after.get(&file), Some(&text), "{} is as it was", file.display());
    }
}

/// `cargo test -p drawloom-cli --test cli tokio -- --ignored`
#[test]
#[ignore = "builds a project and its dependencies, which takes minutes"]
fn crates_of_others_are_controlled_as_they_are() {
    let project = Project::new("zero_edit", "../tokio/tests/zero_edit", &["Cargo.toml", "lib.rs", "tests/crates.rs"]);
    let before = project.files();
    let answer = project.run(&["test", "--tokio", "--runner", "cargo", "--json"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    let explored = answer.json().iter().filter(|line| line["exploration"]["executions"].as_u64().is_some()).count();
    assert_eq!(explored, 9, "{}", answer.out);
    assert_eq!(project.files(), before, "the project is as it was");
}

/// What a project with the actors of another crate comes to: for each test what explains its finding, or the schedules that exhausted it.
fn explored_actors(name: &str, test: &str, exhausted: &[&str]) -> String {
    let project = Project::new(name, &format!("../../examples/{name}"), &["Cargo.toml", "src/lib.rs", test]);
    let before = project.files();
    let run = |filter: &str, strategy: &str| {
        let answer = project.run(&["test", "--tokio", "--runner", "cargo", "--json", "--strategy", strategy, filter]);
        let said = |line: &Value| {
            let exploration = &line["exploration"];
            let why = exploration["findings"][0]["explanation"].as_str();
            let why = why.or(exploration["summary"].as_str()).unwrap_or("not explored");
            format!("{}: {why}\n", line["path"].as_str().unwrap_or_default())
        };
        answer.json().iter().filter(|line| line["type"] == "test").map(said).collect::<String>()
    };
    let mut all = run("by_two_messages", "auto");
    all.extend(exhausted.iter().map(|filter| run(filter, "exhaustive")));
    assert_eq!(project.files(), before, "the project is as it was");
    all
}

/// `cargo test -p drawloom-cli --test cli tokio -- --ignored`
#[test]
#[ignore = "builds a project and its dependencies, which takes minutes"]
fn actors_of_ractor_are_controlled_as_they_are() {
    assert_snapshot!(explored_actors("with_ractor", "tests/account.rs", &["by_one_message", "is_stopped"]));
}

/// `cargo test -p drawloom-cli --test cli tokio -- --ignored`
#[test]
#[ignore = "builds a project and its dependencies, which takes minutes"]
fn actors_of_kameo_are_controlled_as_they_are() {
    assert_snapshot!(explored_actors("with_kameo", "tests/tickets.rs", &["by_one_message"]));
}
