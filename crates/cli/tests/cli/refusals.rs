//! What cannot be done: said in one line, with what to do about it, and exit code 2.

use insta::assert_snapshot;

use crate::sample::Sample;

#[test]
fn every_refusal_says_what_is_wrong_and_what_to_do() {
    let sample = Sample::new("refusals");
    std::fs::create_dir_all(&sample.store).expect("a store");
    let file = |name: &str, text: &str| {
        let file = sample.store.join(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    };
    let cut = file("cut.json", "{\"version\":1,\"meta\":{\"te");
    let newer = file("newer.json", "{\"version\":99}");
    let other = file("other.json", "[1, 2, 3]");
    let missing = sample.store.join("missing.json").display().to_string();
    // Of the sample's test `deadlocks_when_transfers_cross`, with another name.
    let foreign = "dl1V373XAIBAAIAAQEDAAMBFwEFEwkABRMKACLbmnA";
    let mut said = String::new();
    for arguments in [
        &["test", "--strategy", "radnom"][..],
        &["test", "--seed", "lucky"],
        &["test", "--time", "soon"],
        &["test", "no_test_is_called_so"],
        &["test", "--manifest-path", "/nowhere/Cargo.toml"],
        &["replay", "dl1AAAA"],
        &["replay", foreign],
        &["replay", "nothing_is_called_so"],
        &["explain", &cut],
        &["explain", &newer],
        &["explain", &other],
        &["explain", &missing],
        &["view", &missing],
        &["diff", &missing, &cut],
        &["man", "nothing"],
        &["nonsense"],
    ] {
        let answer = sample.run(arguments);
        assert_eq!(answer.code, 2, "{arguments:?}: {}", answer.out);
        assert_eq!(answer.out, "", "{arguments:?}");
        let shown = arguments.join(" ").replace(&sample.store.display().to_string(), "[store]");
        // What cargo says before is its own business.
        let error = answer.err.find("error: ").map_or("", |at| &answer.err[at..]);
        said.push_str(&format!("$ drawloom {shown}\n{}\n\n", error.trim()));
    }
    assert_snapshot!(said);
}

#[test]
fn a_project_that_does_not_compile_shows_what_the_compiler_says() {
    let sample = Sample::new("broken");
    let answer = sample.test(&["--features", "broken"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("error: this project does not compile"), "{}", answer.err);
    assert!(answer.err.ends_with("error: the tests do not compile\nhelp: see the compiler's messages above\n"));

    let answer = sample.test(&["--features", "broken", "--json"]);
    assert_eq!(answer.json()[0]["code"], "does_not_compile");
    assert!(answer.json()[0]["output"].as_str().is_some_and(|text| text.contains("src/lib.rs:6")));
}

#[test]
fn a_directory_without_a_project_is_named() {
    let sample = Sample::new("no_project");
    let mut command = sample.command(&["test", "--json"]);
    let answer = sample.answer(&command.current_dir("/").output().expect("it runs"));
    assert_eq!(answer.code, 2);
    assert_eq!(answer.json()[0]["code"], "no_project");
}
