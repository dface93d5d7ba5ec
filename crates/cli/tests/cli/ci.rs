//! `drawloom test` in CI: JUnit, SARIF, GitHub's annotations and summary.

use serde_json::Value;

use crate::sample::{Answer, Sample, project};

/// A run of one test that passes and one that fails, with a file for each form.
struct Ran {
    answer: Answer,
    junit: String,
    sarif: Value,
    summary: String,
}

fn run(name: &str, more: &[&str], github: bool) -> Ran {
    let sample = Sample::new(name);
    let file = |name: &str| sample.store.join(name).display().to_string();
    let (junit, sarif, summary) = (file("junit.xml"), file("found.sarif"), file("summary.md"));
    std::fs::create_dir_all(&sample.store).expect("a directory");
    std::fs::write(&summary, "what was there\n").expect("a file");
    let manifest = project().join("Cargo.toml").display().to_string();
    let arguments = ["test", "--manifest-path", &manifest, "--junit", &junit, "--sarif", &sarif, "--runner", "cargo"];
    let mut command = sample.command(&[&arguments[..], more].concat());
    command.env_remove("GITHUB_WORKSPACE").env("GITHUB_STEP_SUMMARY", &summary);
    if github {
        command.env("GITHUB_ACTIONS", "true");
    }
    let answer = sample.answer(&command.output().expect("the binary is there"));
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let sarif = serde_json::from_str(&read(&sarif)).expect("JSON");
    Ran { answer, junit: read(&junit), sarif, summary: read(&summary) }
}

/// The elements of a well-formed document, as `name attributes`: every one is closed where it was opened.
fn elements(xml: &str) -> Vec<String> {
    let (declaration, rest) = xml.split_once("?>").expect("a declaration");
    assert_eq!(declaration, "<?xml version=\"1.0\" encoding=\"UTF-8\"");
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for piece in rest.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("every tag ends");
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "{entity}");
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        all.push(tag.trim_end_matches('/').to_owned());
        if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a name").to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

#[test]
fn junit_has_a_case_for_each_test_with_its_failure() {
    let ran = run("ci_junit", &["passes_in_every_order"], false);
    assert_eq!(ran.answer.code, 0, "{}", ran.answer.err);
    let all = elements(&ran.junit);
    assert!(
        all[0].starts_with("testsuites name=\"drawloom\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""),
        "{all:?}"
    );

    let ran = run("ci_junit_fails", &["comes_in_between"], false);
    assert_eq!(ran.answer.code, 1, "{}", ran.answer.err);
    let all = elements(&ran.junit);
    assert!(all[1].starts_with("testsuite name=\"sample::accounts\" tests=\"1\" failures=\"1\""), "{all:?}");
    let case = "testcase classname=\"sample::accounts\" name=\"fails_when_a_deposit_comes_in_between\" time=\"";
    assert!(all[2].starts_with(case), "{all:?}");
    assert!(all[3].starts_with("failure message=\"") && all[3].ends_with("type=\"panic\""), "{all:?}");
    assert!(ran.junit.contains("a deposit was lost") && ran.junit.contains("DRAWLOOM_REPLAY='dl1"), "{}", ran.junit);
    assert!(!ran.answer.err.contains("::error"), "nobody asked for annotations: {}", ran.answer.err);
    assert_eq!(ran.summary, "what was there\n");
}

#[test]
fn sarif_has_a_result_for_each_finding_at_its_line() {
    let Ran { sarif, .. } = run("ci_sarif", &["comes_in_between"], false);
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "drawloom");
    let [result] = run["results"].as_array().expect("results").as_slice() else { panic!("one finding: {sarif:#}") };
    let rule = result["ruleIndex"].as_u64().expect("an index") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    assert_eq!(result["level"], "error");
    let text = result["message"]["text"].as_str().expect("a text");
    assert!(text.contains("a deposit was lost") && text.contains("account"), "{text}");
    let place = &result["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().expect("a file");
    assert!(uri.ends_with("tests/accounts.rs") && !uri.starts_with('/'), "relative to the repository: {uri}");
    let line = place["region"]["startLine"].as_u64().expect("a line") as usize;
    let source = std::fs::read_to_string(project().join("tests/accounts.rs")).expect("the source");
    assert!(source.lines().nth(line - 1).expect("the line").contains("a deposit was lost"));
    assert!(!result["relatedLocations"].as_array().expect("places").is_empty(), "{result:#}");
    assert!(result["partialFingerprints"]["drawloomCause/v1"].is_string());
}

#[test]
fn sarif_of_a_run_without_findings_has_no_results() {
    let Ran { sarif, .. } = run("ci_sarif_none", &["passes_in_every_order"], false);
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn on_github_a_finding_is_an_annotation_and_the_step_has_a_summary() {
    let ran = run("ci_github", &["comes_in_between", "--json"], true);
    assert!(ran.answer.json().len() == 2, "stdout is for programs: {}", ran.answer.out);
    let [line] = ran.answer.err.lines().filter(|line| line.starts_with("::")).collect::<Vec<_>>()[..] else {
        panic!("one annotation: {}", ran.answer.err)
    };
    assert!(line.starts_with("::error file=") && line.contains("tests/accounts.rs,line="), "{line}");
    assert!(
        line.contains(",title=panic in fails_when_a_deposit_comes_in_between::assertion `left == right` failed"),
        "{line}"
    );
    assert!(line.contains("%0Areplay: drawloom replay dl1"), "{line}");
    assert!(ran.summary.starts_with("what was there\n## Drawloom: 0 passed, 1 failed\n"), "{}", ran.summary);
    assert!(ran.summary.contains("| `fails_when_a_deposit_comes_in_between` | ✗ failed |"), "{}", ran.summary);
    assert!(ran.summary.contains("### Fixes"), "{}", ran.summary);

    let ran = run("ci_github_never", &["comes_in_between", "--github", "never"], true);
    assert!(!ran.answer.err.contains("::error"), "{}", ran.answer.err);
    assert_eq!(ran.summary, "what was there\n");
}
