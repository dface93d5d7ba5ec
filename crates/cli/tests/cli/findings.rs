//! `replay`, `shrink`, `explain`, `view`, `diff`, `list`, `clean`: what is done with what was found.

use insta::assert_snapshot;

use crate::sample::{Sample, brief};

/// A sample in whose store there are two findings.
fn with_findings(name: &str) -> Sample {
    let sample = Sample::new(name);
    assert_eq!(sample.test(&["comes_in_between", "--quiet"]).code, 1);
    assert_eq!(sample.test(&["transfers_cross", "--quiet"]).code, 1);
    sample
}

fn token(sample: &Sample, test: &str) -> String {
    let list = sample.run(&["list", test, "--json"]);
    list.json()[0]["findings"][0]["token"].as_str().expect("a token").to_owned()
}

#[test]
fn what_is_kept_is_listed_and_cleaned() {
    let sample = with_findings("list");
    assert_snapshot!(sample.run(&["list"]).out);
    assert_eq!(sample.run(&["list", "transfers", "--json"]).json()[0]["findings"].as_array().map(Vec::len), Some(1));

    std::fs::write(sample.store.join("package.json"), "{}").expect("somebody else's file");
    assert_eq!(
        sample.run(&["clean", "transfers"]).out,
        "removed 3 files from [store]\n",
        "a trace, a page and what became of it"
    );
    assert_eq!(sample.run(&["clean"]).out, "removed 4 files from [store]\n");
    assert_eq!(sample.run(&["list"]).out, "no findings are saved in [store]\n");
    assert!(sample.store.join("package.json").is_file(), "which is not ours to remove");
}

#[test]
fn what_users_commit_is_listed_and_replayed_first() {
    let sample = Sample::new("regressions");
    let committed = sample.store.join("committed");
    let run = |arguments: &[&str]| {
        let mut command = sample.command(arguments);
        sample.answer(&command.env("DRAWLOOM_REGRESSIONS", &committed).output().expect("it runs"))
    };
    assert_eq!(run(&["test", "comes_in_between", "--quiet"]).code, 1);
    let again = run(&["test", "comes_in_between", "--json"]).json();
    assert!(again[0]["exploration"]["remarks"].to_string().contains("this is the stored schedule"), "{again:?}");
    assert_eq!(run(&["clean"]).code, 0);
    assert_snapshot!(run(&["list"]).out);
}

#[test]
fn a_finding_is_replayed_by_its_token_its_file_or_its_test() {
    let sample = with_findings("replay");
    let token = token(&sample, "comes_in_between");
    let by_token = sample.run(&["replay", &token]);
    assert_snapshot!(brief(&by_token.out));
    assert_eq!(by_token.code, 1, "{}", by_token.err);
    let file = sample.store.join("accounts--fails_when_a_deposit_comes_in_between.panic.json");
    for finding in [file.to_str().expect("a path"), "fails_when_a_deposit_comes_in_between", "comes_in_between"] {
        let answer = sample.run(&["replay", finding, "--json"]);
        assert_eq!(answer.code, 1, "{}", answer.err);
        assert_eq!(answer.json()[0]["exploration"]["findings"][0]["token"], token, "{finding}");
    }
}

#[test]
fn a_schedule_is_minimised() {
    let sample = Sample::new("shrink");
    assert_eq!(sample.test(&["comes_in_between", "--quiet", "--strategy", "random, shrink = false"]).code, 1);
    let before = token(&sample, "comes_in_between");
    let answer = sample.run(&["shrink", "comes_in_between", "--json"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let minimised = &answer.json()[0]["minimised"];
    assert_eq!(minimised["original"], before);
    assert_eq!(minimised["after"]["preemptions"], 1);
}

#[test]
fn a_finding_is_explained_to_people_and_to_programs() {
    let sample = with_findings("explain");
    assert_snapshot!(brief(&sample.run(&["explain", "transfers_cross"]).out));
    let json = sample.run(&["explain", "transfers_cross", "--json"]).json();
    assert!(json[0]["sentence"].as_str().is_some_and(|sentence| sentence.contains("two")), "{json:?}");
    let markdown = sample.run(&["explain", "comes_in_between", "--format", "markdown"]).out;
    for heading in ["## Concurrency analysis", "### Shared state", "### Race trace", "### Classification", "### Fixes"]
    {
        assert!(markdown.contains(heading), "{markdown}");
    }
}

#[test]
fn a_finding_is_written_as_a_page() {
    let sample = with_findings("view");
    let file = sample.store.join("both.html");
    let file = file.to_str().expect("a path");
    let answer = sample.run(&["view", "comes_in_between", "transfers_cross", "--write", file]);
    assert_eq!(answer.out, "[store]/both.html\nOpen it in a browser: file://[store]/both.html\n");
    let page = std::fs::read_to_string(file).expect("the page");
    assert!(page.contains("1: panic") && page.contains("2: deadlock"));
}

#[test]
fn two_executions_are_compared_where_they_part() {
    let sample = Sample::new("diff");
    assert_eq!(sample.test(&["comes_in_between", "--quiet"]).code, 1);
    let name = "accounts--fails_when_a_deposit_comes_in_between.panic.json";
    let minimised = sample.store.join("minimised.json");
    std::fs::rename(sample.store.join(name), &minimised).expect("a trace");
    assert_eq!(sample.test(&["comes_in_between", "--quiet", "--strategy", "random, shrink = false"]).code, 1);
    let (one, other) = (minimised.display().to_string(), sample.store.join(name).display().to_string());
    let answer = sample.run(&["diff", &one, &other]);
    assert_snapshot!(answer.out);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(sample.run(&["diff", &one, &one]).out, "the same: 13 steps, in the same order\n");

    // A token is enough: then only the order of tasks is known.
    std::fs::remove_file(&other).expect("a trace");
    let tokens = sample.run(&["diff", &one, "dl1eXfEhAIBAAIAAQECAAIBDAEFEw8ABBMQAPN2wKw", "--json"]);
    assert_eq!(tokens.code, 2, "and this one is damaged: {}", tokens.out);
}

#[test]
fn a_replay_that_passes_can_be_compared_with_the_one_that_failed() {
    let sample = with_findings("fixed");
    let token = token(&sample, "comes_in_between");
    let fixed = sample.run_fixed(&["replay", &token]);
    assert_snapshot!(fixed.out);
    assert_eq!(fixed.code, 0, "{}", fixed.err);
    let passed = sample.store.join("accounts--fails_when_a_deposit_comes_in_between.passed.json");
    let diff = sample.run(&["diff", "comes_in_between", &passed.display().to_string()]);
    assert_snapshot!(diff.out);
    assert_eq!(sample.run(&["list", "--json"]).json()[0]["findings"].as_array().map(Vec::len), Some(2));
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let sample = Sample::new("man");
    for (arguments, part) in [
        (&["completions", "bash"][..], "_drawloom()"),
        (&["completions", "fish"], "complete -c drawloom"),
        (&["man"], ".TH drawloom 1"),
        (&["man", "test"], "\\-\\-iterations"),
    ] {
        let answer = sample.run(arguments);
        assert!(answer.out.contains(part), "{arguments:?}: {}", answer.out);
        assert_eq!(answer.code, 0);
    }
}

/// What pytest has left of a finding of Python.
const OF_PYTHON: &str = include_str!("python.json");

#[test]
fn findings_of_pytest_are_known_by_name_where_there_is_no_cargo() {
    let folder = std::env::temp_dir().join(format!("drawloom-of-pytest-{}", std::process::id()));
    std::fs::create_dir_all(folder.join(".drawloom")).expect("a directory");
    std::fs::create_dir_all(folder.join("tests")).expect("a directory");
    std::fs::write(folder.join(".drawloom/test_it.py-test_racy.x.json"), OF_PYTHON).expect("a file");
    let sample = Sample { store: folder.clone() };
    let run = |arguments: &[&str]| {
        let mut command = sample.command(arguments);
        let command = command.current_dir(folder.join("tests")).env_remove("DRAWLOOM_DIR");
        sample.answer(&command.output().expect("the binary is there"))
    };
    let explained = run(&["explain", "test_racy"]);
    assert!(explained.out.contains("BROKEN INVARIANT in test \"test_it.py::test_racy\""), "{}", explained.err);
    let listed = run(&["list"]).out;
    assert!(listed.contains("test_it.py::test_racy: broken invariant: "), "{listed}");
    let replayed = run(&["replay", "test_racy"]);
    assert_eq!(replayed.code, 2);
    assert!(replayed.err.contains("DRAWLOOM_REPLAY='dl1"), "{}", replayed.err);
    assert!(replayed.err.contains("python -m pytest"), "{}", replayed.err);
    std::fs::remove_dir_all(folder).expect("it was made here");
}

#[test]
fn without_a_display_the_page_is_written_and_its_address_told() {
    let sample = with_findings("no_display");
    let run = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = sample.command(&[&["view", "comes_in_between"][..], more].concat());
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("BROWSER");
        command.envs(variables.iter().copied());
        sample.answer(&command.output().expect("the binary is there"))
    };
    if cfg!(target_os = "linux") {
        let answer = run(&[], &[]);
        let last = answer.out.lines().last().expect("a line");
        assert!(
            last.starts_with("It was not opened: there is no display here. Open it in a browser: file://"),
            "{}",
            answer.out
        );
        assert!(last.ends_with(".html"), "{last}");
        let json = &run(&[], &["--json"]).json()[0];
        assert_eq!((&json["opened"], &json["why_not"]), (&false.into(), &"there is no display here".into()));
        assert!(json["url"].as_str().is_some_and(|url| url.starts_with("file:///")), "{json}");
    }
    let answer = run(&[("BROWSER", "/no/such/browser")], &[]);
    assert!(answer.out.contains("It was not opened: /no/such/browser cannot be run"), "{}", answer.out);
}
