//! The command `check`: files in, verdicts, pages and exit codes out.

use std::path::PathBuf;

use drawloom_cli::check::{Answer, Options, check};

/// A file of its own for every test.
fn file(name: &str, content: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("drawloom-check-{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    path
}

fn run(name: &str, content: &str, model: Option<&str>, consistency: Option<&str>) -> Result<Answer, String> {
    let file = file(name, content);
    let owned = |name: Option<&str>| name.map(str::to_owned);
    let options =
        Options { file: file.clone(), model: owned(model), consistency: owned(consistency), ..Options::default() };
    let answer = check(&options).map_err(|error| error.to_string().replace(&file.display().to_string(), "FILE"));
    std::fs::remove_file(file).unwrap();
    answer
}

const STALE: &str = r#"{"meta":{"model":"cas-register","init":0}}
{"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"ok","f":"write","value":1}
{"process":1,"type":"invoke","f":"read"}
{"process":1,"type":"ok","f":"read","value":0}
"#;

#[test]
fn operations_are_checked_against_the_model_that_the_file_names() {
    let answer = run("stale.jsonl", STALE, None, None).unwrap();
    assert_eq!(answer.code, 1);
    insta::assert_snapshot!(answer.text, @r"
    illegal: the history is not linearizable
      2 operations of a register
      not linearizable: read → 0 cannot be placed
        2 of 2 operations are enough to see it

        process 0  ├ write 1 ──┤
        process 1                ├ read → 0 ━━✗

        1. write 1 ⟨1⟩, then not read → 0: the value is 1
    ");
    let answer = run("sequential.jsonl", STALE, None, Some("sequential")).unwrap();
    assert_eq!((answer.code, &answer.json["verdict"]), (0, &"ok".into()));
}

const SESSIONS: &str = "
{:process 0, :type :ok, :f :write, :key x, :value 1}
{:process 0, :type :ok, :f :write, :key x, :value 2}
{:process 1, :type :ok, :f :read, :key x, :value 2}
{:process 1, :type :ok, :f :read, :key x, :value 1}
";

#[test]
fn causal_consistency_and_session_guarantees_can_be_asked_for() {
    let model = Some("register");
    let answer = run("causal.edn", SESSIONS, model, Some("causal-convergence")).unwrap();
    assert_eq!(answer.code, 1, "{}", answer.text);
    let answer = run("session.edn", SESSIONS, model, Some("session-guarantees")).unwrap();
    insta::assert_snapshot!(answer.text, @r#"
    illegal: the history is not session-guarantees
      4 operations of a register
      monotonic-reads: process 1: #3 (r "x" 2); then #4 (r "x" 1) returned #1 (w "x" 1), which is older
    "#);
    assert_eq!(run("ryw.edn", SESSIONS, model, Some("read-your-writes")).unwrap().code, 0);
}

const SKEW: &str = r#"{"process":0,"type":"ok","f":"txn","value":[["r","x",[]],["append","y",1]]}
{"process":1,"type":"ok","f":"txn","value":[["r","y",[]],["append","x",2]]}
"#;

#[test]
fn transactions_are_checked_for_the_level_that_is_asked_for() {
    let model = Some("list-append");
    assert_eq!(run("skew.jsonl", SKEW, model, None).unwrap().code, 1);
    assert_eq!(run("skew-si.jsonl", SKEW, model, Some("snapshot-isolation")).unwrap().code, 0);
    // Write skew, and two blind writes: nobody knows which came first.
    let blind = r#"{"process":0,"type":"ok","f":"txn","value":[["r","x",null],["w","y",1]]}
{"process":1,"type":"ok","f":"txn","value":[["r","y",null],["w","x",2]]}
{"process":2,"type":"ok","f":"txn","value":[["w","z",1]]}
{"process":3,"type":"ok","f":"txn","value":[["w","z",2]]}
{"process":4,"type":"ok","f":"txn","value":[["r","z",1]]}
"#;
    let answer = run("blind.jsonl", blind, Some("rw-register"), Some("snapshot-isolation")).unwrap();
    assert_eq!(answer.code, 2, "{}", answer.text);
    insta::assert_snapshot!(answer.text, @r#"
    unknown: no violation of snapshot-isolation was found, but the search was incomplete
      5 transactions committed, 0 aborted, 0 of unknown end; 5 sessions, 3 keys
      violates: repeatable-read
      strongest level still possible: strong-snapshot-isolation
      not decided (consistent-view, strong-read-uncommitted and stronger): the order of versions is unknown for 1 of 3 keys

    G2-item: write skew: a cycle with reads of replaced versions next to each other, 1 found
      T1 = process 0, line 1: r "x" null, w "y" 1
      T2 = process 1, line 2: r "y" null, w "x" 2
        - T1 comes before T2 (rw): T1 read "x" without 2 (r "x" null), which T2 wrote (w "x" 2)
        - T2 comes before T1 (rw): T2 read "y" without 1 (r "y" null), which T1 wrote (w "y" 1)
    "#);
    assert_eq!(run("causal.jsonl", blind, Some("rw-register"), Some("causal")).unwrap().code, 0);
    // Without the skew, some order explains all of it.
    let harmless: String = blind.lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(run("harmless.jsonl", &harmless, Some("rw-register"), None).unwrap().code, 0);
    // One transaction that sees halves of two others.
    let torn = r#"{"process":0,"type":"ok","f":"txn","value":[["w","x",1],["w","y",1]]}
{"process":1,"type":"ok","f":"txn","value":[["w","x",2],["w","y",2]]}
{"process":2,"type":"ok","f":"txn","value":[["r","x",1],["r","y",2]]}
"#;
    let answer = run("torn.jsonl", torn, Some("rw-register"), None).unwrap();
    assert_eq!(answer.code, 1);
    insta::assert_snapshot!(answer.text, @r#"
    illegal: the history is not serializable
      3 transactions committed, 0 aborted, 0 of unknown end; 3 sessions, 2 keys
      violates: read-atomic, consistent-view
      strongest level still possible: session-read-committed, strong-read-committed
      not decided (strong-read-uncommitted and stronger): the order of versions is unknown for 2 of 2 keys

    not read-atomic, consistent-view:
      T1 = process 0, line 1: w "x" 1, w "y" 1
      T2 = process 1, line 2: w "x" 2, w "y" 2
      T3 = process 2, line 3: r "x" 1, r "y" 2
        - T1 comes before T2: T3 read "y" (r "y" 2) from T2, though T1 was visible to it, which also wrote it (w "y" 1)
        - T2 comes before T1: T3 read "x" (r "x" 1) from T1, though T2 was visible to it, which also wrote it (w "x" 2)
    "#);
}

#[test]
fn what_cannot_be_checked_says_why() {
    let error = |name: &str, content: &str, model: Option<&str>, level: Option<&str>| {
        run(name, content, model, level).unwrap_err()
    };
    let model = error("a.jsonl", STALE, Some("tree"), None);
    assert!(model.starts_with("the model \"tree\" is unknown; known are register, cas-register, "), "{model}");
    let level = error("b.jsonl", STALE, None, Some("quick"));
    assert!(level.starts_with("the level \"quick\" is unknown; known are linearizable, sequential, "), "{level}");
    assert!(error("c.jsonl", SKEW, None, None).starts_with("the file does not name its model"));
    let mixed = error("d.jsonl", SKEW, Some("rw-register"), None);
    assert_eq!(mixed, "FILE: it is not a history of rw-register");
    let broken = error("e.jsonl", &SKEW.replace("]]}", "]}"), Some("list-append"), None);
    assert!(broken.starts_with("FILE:\nline 1, column 74: "), "{broken}");
    let missing = check(&Options { file: "no-such-file".into(), ..Options::default() }).unwrap_err().to_string();
    assert!(missing.starts_with("no-such-file: "), "{missing}");
}

#[test]
fn a_page_shows_the_cycle() {
    let (source, page) = (file("page.jsonl", SKEW), file("page.html", ""));
    let model = Some("list-append".to_owned());
    check(&Options { file: source.clone(), model, html: Some(page.clone()), ..Options::default() }).unwrap();
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<svg") && html.contains("G2-item") && html.contains("T1 comes before T2 (rw)"), "{html}");
    assert!(!html.contains("http"), "nothing is loaded from elsewhere");
    [source, page].iter().for_each(|path| std::fs::remove_file(path).unwrap());
}
