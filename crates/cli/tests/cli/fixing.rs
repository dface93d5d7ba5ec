//! The way from a finding to a fix: a replay that no longer fits, what passes now, stored schedules that are out of date.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::sample::{Answer, Sample, workspace};

const TEST: &str = "accounts::fails_when_a_deposit_comes_in_between";
const TRACE: &str = "accounts--fails_when_a_deposit_comes_in_between";

/// A sample with a finding, which somebody has fixed since: `run_fixed` runs the fixed program.
fn found(name: &str) -> Sample {
    let sample = Sample::new(name);
    assert_eq!(sample.test(&["comes_in_between", "--quiet"]).code, 1);
    sample
}

fn findings(answer: &Answer) -> Vec<serde_json::Value> {
    answer.json()[0]["findings"].as_array().expect("findings").clone()
}

#[test]
fn a_fix_passes_where_the_schedule_no_longer_fits_and_nothing_new_is_kept() {
    let sample = found("fix");
    let replay = sample.run_fixed(&["replay", "comes_in_between"]);
    assert_snapshot!(replay.out);
    assert_eq!(replay.code, 0, "{}", replay.err);
    let json = sample.run_fixed(&["replay", "comes_in_between", "--json"]).json();
    assert_eq!((&json[0]["status"], &json[0]["failed"]), (&"no_longer_fits".into(), &false.into()));
    assert_eq!(json[0]["exploration"]["departure"]["step"], 7);

    let strict = sample.run_fixed(&["replay", "comes_in_between", "--strict"]);
    assert_snapshot!(strict.out);
    assert_eq!(strict.code, 1, "{}", strict.err);
    let json = sample.run_fixed(&["replay", "comes_in_between", "--strict", "--json"]).json();
    assert_eq!((&json[0]["status"], &json[0]["failed"]), (&"diverged".into(), &true.into()));

    // The finding is the one that there was, and is still meant by the name of its test.
    let kept = findings(&sample.run(&["list", "--json"]));
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(sample.run(&["explain", "comes_in_between", "--json"]).code, 0);
    let again = sample.run(&["replay", "comes_in_between", "--json"]);
    assert_eq!((again.code, &again.json()[0]["status"]), (1, &"fails".into()), "without the fix");
}

#[test]
fn a_schedule_that_fits_and_passes_is_said_to() {
    let sample = found("fits");
    assert_eq!(sample.run_fixed(&["replay", "comes_in_between"]).code, 0);
    let passed = sample.store.join(format!("{TRACE}.passed.json"));
    let replay = sample.run_fixed(&["replay", passed.to_str().expect("a path"), "--json"]);
    assert_eq!((replay.code, &replay.json()[0]["status"]), (0, &"passes".into()), "{}", replay.err);
}

#[test]
fn what_passes_now_is_listed_as_such_until_it_fails_again_and_is_cleaned_alone() {
    let sample = found("passes-now");
    assert_eq!(sample.test(&["transfers_cross", "--quiet"]).code, 1);
    let passes = |sample: &Sample| findings(&sample.run(&["list", "deposit", "--json"]))[0]["passes_now"].clone();
    assert!(passes(&sample).is_null());

    // A replay shows it, and so does a run that explores everything.
    assert_eq!(sample.run_fixed(&["replay", "comes_in_between"]).code, 0);
    assert_snapshot!(sample.run(&["list"]).out);
    assert_eq!(sample.test(&["comes_in_between", "--quiet"]).code, 1);
    assert!(passes(&sample).is_null(), "it fails again");
    // One that samples another few schedules shows nothing.
    let sampled = ["test", "--runner", "cargo", "comes_in_between", "--strategy", "sequential"];
    assert_eq!(sample.run_fixed(&sampled).code, 0);
    assert!(passes(&sample).is_null(), "{}", passes(&sample));
    assert_eq!(sample.run_fixed(&["test", "--runner", "cargo", "comes_in_between"]).code, 0);
    assert!(passes(&sample).as_str().is_some_and(|how| how.contains("exhausted")), "{}", passes(&sample));

    assert_eq!(sample.run(&["clean", "--stale", "crossing"]).out, "no findings were saved in [store]\n");
    assert_eq!(sample.run(&["clean", "--stale"]).out, "removed 4 files from [store]\n", "the one that passed, too");
    let left = findings(&sample.run(&["list", "--json"]));
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["kind"], "deadlock");
}

#[test]
fn the_name_of_a_test_means_its_newest_finding_with_a_schedule() {
    let sample = Sample::new("newest");
    let both = ["fails_in_two_ways", "--quiet", "--strategy", "exhaustive, keep_going = true"];
    assert_eq!(sample.test(&both).code, 1);
    let kept = findings(&sample.run(&["list", "--json"]));
    assert_eq!(kept.len(), 2);
    let token = |finding: &serde_json::Value| finding["token"].as_str().expect("a token").to_owned();

    // One that cannot be replayed is not meant while there is another.
    let name = |what: &str| sample.store.join(format!("accounts--fails_in_two_ways.{what}.json"));
    let text = std::fs::read_to_string(name("panic")).expect("a trace");
    let without = text.replace(&token(&kept[0]), "").replace(&token(&kept[1]), "");
    std::fs::write(name("divergence"), without).expect("a trace without a schedule");
    // The second is replayed last, and neither is lost by that.
    for number in [0, 1] {
        let replay = sample.run(&["replay", &token(&kept[number]), "--json"]);
        assert_eq!(replay.code, 1, "{}", replay.err);
        assert_eq!(replay.json()[0]["exploration"]["findings"][0]["trace"], kept[number]["trace"]);
        let named = sample.run(&["replay", "fails_in_two_ways", "--json"]);
        assert_eq!(named.json()[0]["exploration"]["findings"][0]["token"], kept[number]["token"]);
    }
    assert_eq!(findings(&sample.run(&["list", "--json"])).len(), 3);
}

/// What is stored in the file of failing schedules.
fn stored(directory: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(directory.join("accounts.txt")).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn a_stored_schedule_that_no_longer_fits_is_told_once_and_renewed_or_removed_on_request() {
    let sample = Sample::new("stale");
    let committed: PathBuf = sample.store.join("committed");
    let run = |fixed: bool, arguments: &[&str]| {
        let mut command =
            sample.command(&[&["test", "--runner", "cargo", "comes_in_between", "--quiet"], arguments].concat());
        if fixed {
            command.env("SAMPLE_FIXED", "1");
        }
        sample.answer(&command.env("DRAWLOOM_REGRESSIONS", &committed).output().expect("it runs"))
    };
    assert_eq!(run(false, &[]).code, 1);
    let first = stored(&committed);
    assert_eq!(first.len(), 1);

    assert_snapshot!(run(true, &[]).out);
    let again = run(true, &[]);
    assert!(!again.out.contains("no longer fit"), "{}", again.out);
    assert_eq!(stored(&committed), first, "nobody has asked for anything");
    // Programs can always read it.
    let json = run(true, &["--json"]).json();
    assert_eq!(json[0]["exploration"]["outdated"][0]["departure"]["step"], 7);

    let renewed = run(true, &["--stale", "renew"]);
    assert!(renewed.out.contains("renewed the stored schedule [store]/committed/accounts.txt:3"), "{}", renewed.out);
    let second = stored(&committed);
    assert_eq!(second.len(), 1);
    assert_ne!(second, first);
    let comment = |line: &str| line.split_once(" # ").map(|(_, comment)| comment.to_owned());
    assert_eq!(comment(&second[0]), comment(&first[0]));
    assert!(run(true, &[]).out.contains("1 stored schedule passes"));

    // The bug is there again, and somebody removes what does not fit.
    assert_eq!(run(false, &[]).code, 1);
    assert_eq!(run(true, &["--stale", "remove"]).code, 0);
    assert!(stored(&committed).iter().all(|line| second.contains(line)), "{:?}", stored(&committed));
    assert!(run(true, &["--stale", "remove"]).out.contains("all stored schedules fit the program"));
}

#[test]
fn a_bug_that_is_stored_is_listed_once() {
    let sample = Sample::new("once");
    let committed = sample.store.join("committed");
    let run = |arguments: &[&str]| {
        let mut command = sample.command(arguments);
        sample.answer(&command.env("DRAWLOOM_REGRESSIONS", &committed).output().expect("it runs"))
    };
    assert_eq!(run(&["test", "--runner", "cargo", "comes_in_between", "--quiet"]).code, 1);
    let list = run(&["list"]).out;
    assert_eq!(list.matches(TEST).count(), 1, "{list}");
    assert!(list.contains("  stored: [store]/committed/accounts.txt:3, replayed first\n"), "{list}");
}

#[test]
fn a_token_that_is_too_long_for_a_line_is_replayed_by_its_file() {
    let sample = Sample::new("long");
    let test = sample.test(&["fails_after_many_steps", "--include-ignored"]);
    assert_eq!(test.code, 1, "{}", test.err);
    assert!(test.out.lines().all(|line| line.len() < 2000), "no line has the token");
    let file = "[store]/accounts--fails_after_many_steps.panic.json";
    assert!(test.out.contains(&format!("  replay: drawloom replay {file}\n")), "{}", test.out);
    let paste =
        format!("DRAWLOOM_REPLAY={file} cargo test -p sample --test accounts -- --exact fails_after_many_steps");
    assert!(test.out.contains(&paste), "{}", test.out);
    assert!(test.out.contains("more: drawloom view accounts::fails_after_many_steps\n"), "{}", test.out);
    let trace = sample.store.join("accounts--fails_after_many_steps.panic.json");
    let size = std::fs::metadata(trace).expect("the trace").len();
    assert!(size < 1 << 20, "65,000 steps and a long token are {size} bytes");

    let replay = sample.run(&["replay", "fails_after_many_steps", "--json"]);
    assert_eq!(replay.code, 1, "{}", replay.err);
    let found = &replay.json()[0]["exploration"]["findings"][0];
    assert!(found["token"].as_str().is_some_and(|token| token.len() > 128 << 10), "longer than what a variable may be");
    assert!(sample.run(&["list"]).out.lines().all(|line| line.len() < 2000));
}

#[test]
fn in_a_workspace_a_finding_is_replayed_from_any_package_in_its_own() {
    let sample = Sample::new("workspace");
    let run = |folder: &str, arguments: &[&str]| {
        let mut command = sample.command(arguments);
        sample.answer(&command.current_dir(workspace().join(folder)).output().expect("it runs"))
    };
    let test = run("two", &["test", "--runner", "cargo", "loses"]);
    assert_eq!(test.code, 1, "{}", test.err);
    assert!(test.out.contains(" cargo test -p two --test both-of -- --exact loses\n"), "{}", test.out);
    let test = run("two", &["test", "--runner", "cargo", "inside"]);
    assert!(test.out.contains(" cargo test -p two --lib -- --exact tests::inside\n"), "{}", test.out);
    // The other package has a target and a test of the same names, which passes.
    for folder in ["one", "two", ""] {
        let replay = run(folder, &["replay", "both_of::loses", "--json"]);
        assert_eq!(replay.code, 1, "from {folder}: {} {}", replay.out, replay.err);
        assert_eq!(replay.json()[0]["status"], "fails", "from {folder}");
        let replay = run(folder, &["replay", "tests::inside", "--json"]);
        assert_eq!((replay.code, &replay.json()[0]["status"]), (1, &"fails".into()), "{}", replay.err);
    }
    // What has no label is called as the source calls it, as in reports.
    let other = run("two", &["replay", "both_of::loses", "--package", "one", "--json"]);
    assert_eq!((other.code, &other.json()[0]["status"]), (0, &"passes".into()), "{}", other.err);
    let passed = sample.store.join("both_of--loses.passed.json");
    let diff = run("two", &["diff", "both_of::loses", passed.to_str().expect("a path")]).out;
    assert!(diff.contains("atomic `count`") && !diff.contains(" of task "), "{diff}");
}
