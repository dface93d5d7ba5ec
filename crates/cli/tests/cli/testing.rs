//! `drawloom test`.

use insta::assert_snapshot;

use crate::sample::{Sample, brief, sorted};

/// A search that would not end is given little time.
const BRIEFLY: [&str; 2] = ["--strategy", "timeout = 300ms"];

#[test]
fn a_run_has_a_line_for_each_test_the_reports_and_a_sum() {
    let sample = Sample::new("a_run");
    let answer = sample.test(&BRIEFLY);
    assert_snapshot!(brief(&sorted(&answer.out)));
    assert_eq!(answer.code, 1, "{}", answer.err);
}

#[test]
fn what_passes_is_zero() {
    let sample = Sample::new("what_passes");
    let answer = sample.test(&["passes"]);
    assert_snapshot!(sorted(&answer.out));
    assert_eq!(answer.code, 0, "{}", answer.err);
}

#[test]
fn programs_get_a_line_of_json_for_each_test_and_one_for_all() {
    let sample = Sample::new("json");
    let answer = sample.test(&["comes_in_between", "--json"]);
    let mut lines = answer.json();
    assert_eq!(answer.code, 1, "{}", answer.err);
    let summary = lines.pop().expect("a last line");
    let [test] = lines.as_mut_slice() else { panic!("one test: {lines:?}") };
    assert_eq!(
        (&summary["type"], &summary["failed"], &summary["exit_code"]),
        (&"summary".into(), &1.into(), &1.into())
    );
    let found = &test["exploration"]["findings"][0];
    assert!(std::fs::metadata(found["trace"].as_str().expect("a trace")).is_ok());
    // What differs from machine to machine is left out.
    test["exploration"]["binary"] = "[binary]".into();
    test["exploration"]["milliseconds"] = "[time]".into();
    assert!(found_why(test).is_some_and(|why| why.contains("account")), "{test}");
    test["exploration"]["findings"][0]["explanation"] = "[…]".into();
    for file in ["trace", "page"] {
        let name = test["exploration"]["findings"][0][file].as_str().expect("a path").to_owned();
        test["exploration"]["findings"][0][file] = name.rsplit('/').next().into();
    }
    assert_snapshot!(serde_json::to_string_pretty(test).expect("JSON"));
}

fn found_why(test: &serde_json::Value) -> Option<&str> {
    test["exploration"]["findings"][0]["explanation"].as_str()
}

#[test]
fn each_of_several_findings_has_a_trace_of_its_own() {
    let sample = Sample::new("several");
    let answer = sample.test(&["two_ways", "--json"]);
    let test = &answer.json()[0]["exploration"];
    let findings = test["findings"].as_array().expect("findings");
    let messages: Vec<String> = findings
        .iter()
        .map(|found| {
            let trace = std::fs::read_to_string(found["trace"].as_str().expect("a trace")).expect("it is there");
            let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
            assert_eq!(trace["meta"]["token"], found["token"]);
            found["message"].as_str().expect("a message").to_owned()
        })
        .collect();
    assert_eq!(messages, ["the other was first", "the other was in between"]);
    assert_eq!(sample.run(&["explain", "two_ways"]).code, 0, "the newer of the two");
    let ambiguous = sample.test(&["comes_in_between", "--quiet"]);
    assert_eq!(ambiguous.code, 1);
    let ambiguous = sample.run(&["explain", "fails"]);
    assert_eq!(ambiguous.code, 2);
    let candidates = "several tests: accounts::fails_in_two_ways, accounts::fails_when_a_deposit_comes_in_between";
    assert!(ambiguous.err.contains(candidates), "{}", ambiguous.err);
}

#[test]
fn arguments_of_the_command_line_win_over_those_of_the_test() {
    let sample = Sample::new("arguments");
    let arguments = ["as_far_as", "--strategy", "pct(depth = 2)", "--iterations", "7", "--seed", "0x2a", "--json"];
    let answer = sample.test(&arguments);
    let test = &answer.json()[0]["exploration"];
    assert_eq!(test["executions"], 7);
    assert_eq!(test["seed"], "0x2a");
    assert!(test["configuration"].as_str().is_some_and(|text| text.starts_with("pct(depth = 2,")), "{test}");
}

#[test]
fn a_time_budget_is_spent_on_what_can_still_find_something() {
    let sample = Sample::new("time");
    let answer = sample.test(&["--time", "5s", "--json"]);
    let lines = answer.json();
    let (summary, tests) = lines.split_last().expect("lines");
    assert!(summary["milliseconds"].as_u64().is_some_and(|time| (2_000..12_000).contains(&time)), "{summary}");
    let turns = |name: &str| {
        let test = tests.iter().find(|test| test["path"] == name).unwrap_or_else(|| panic!("no {name}"));
        (test["turns"].as_u64().unwrap_or_default(), test["exploration"]["executions"].as_u64().unwrap_or_default())
    };
    assert!(turns("passes_as_far_as_it_was_sampled").0 > 1, "samples go on");
    assert!(turns("passes_as_far_as_it_was_sampled").1 > 50, "and add up");
    assert!(turns("takes_for_ever").0 > 1, "a search goes on");
    assert_eq!(turns("passes_in_every_order"), (1, 2), "what is exhausted is done");
    assert_eq!(turns("fails_when_a_deposit_comes_in_between").0, 1, "so is what has failed");
    assert_eq!(tests.len(), 14, "each is told once");

    // The next run goes on where this one stopped.
    let again = sample.test(&["takes_for_ever", "--strategy", "timeout = 300ms", "--json"]);
    let remarks = again.json()[0]["exploration"]["remarks"].to_string();
    assert!(remarks.contains("resumed after"), "{remarks}");
}

#[test]
fn a_test_that_hangs_does_not_take_more_than_its_time() {
    let sample = Sample::new("hangs");
    let answer = sample.test(&["hangs", "--include-ignored", "--time", "500ms"]);
    assert_snapshot!(answer.out);
    assert_eq!(answer.code, 1, "{}", answer.err);
}

#[test]
fn a_test_that_hangs_in_a_later_turn_has_not_passed() {
    let sample = Sample::new("hangs_later");
    let answer = sample.test(&["waits_for_ever_with_another_seed", "--include-ignored", "--time", "1500ms", "--json"]);
    let lines = answer.json();
    assert_eq!(lines[0]["status"], "unfinished", "{}", lines[0]);
    assert_eq!((answer.code, lines.len()), (1, 2));
}

#[test]
fn an_ordinary_test_that_fails_shows_what_it_has_printed() {
    let sample = Sample::new("plainly");
    let answer = sample.test(&["goes_wrong_plainly", "--include-ignored"]);
    assert!(answer.out.contains("on the way") && answer.out.contains("plainly wrong"), "{}", answer.out);
    let lines = sample.test(&["goes_wrong_plainly", "--include-ignored", "--json"]).json();
    assert!(lines[0]["output"].as_str().is_some_and(|output| output.contains("on the way")), "{}", lines[0]);
    assert_eq!(lines[0]["exploration"], serde_json::Value::Null);
}

#[test]
fn a_test_that_crashes_is_said_to_have() {
    let sample = Sample::new("crashes");
    let answer = sample.test(&["crashes", "--include-ignored"]);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(answer.out.contains("test accounts::crashes ...................... NOT FINISHED"), "{}", answer.out);
    assert!(answer.out.contains("process didn't exit successfully"), "{}", answer.out);
}

#[test]
fn nextest_runs_the_tests_where_it_is_installed() {
    let sample = Sample::new("nextest");
    let installed = std::process::Command::new(env!("CARGO")).args(["nextest", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: cargo-nextest is not installed, so tests were run by cargo alone");
        return;
    }
    let by_nextest = sample.run(&[&["test", "--runner", "nextest"][..], &BRIEFLY].concat());
    let by_cargo = sample.test(&BRIEFLY);
    assert_eq!(sorted(&by_nextest.out), sorted(&by_cargo.out), "both say the same");
    assert_eq!(by_nextest.code, 1, "{}", by_nextest.err);
}

#[test]
fn cargo_finds_it_as_a_subcommand() {
    let sample = Sample::new("subcommand");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-drawloom"));
    let output = command.args(["drawloom", "list", "--dir"]).arg(&sample.store).output().expect("it is there");
    let answer = sample.answer(&output);
    assert_eq!(answer.out, "no findings are saved in [store]\n");
    assert_eq!(answer.code, 0);
}
