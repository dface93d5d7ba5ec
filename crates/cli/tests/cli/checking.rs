//! `drawloom check`: histories in files, with no project around.

use std::path::Path;

use insta::assert_snapshot;

use crate::sample::Sample;

pub const STALE: &str = r#"{"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"ok","f":"write","value":1}
{"process":1,"type":"invoke","f":"cas","value":[1,2]}
{"process":1,"type":"ok","f":"cas","value":[1,2]}
{"process":0,"type":"invoke","f":"read","value":null}
{"process":0,"type":"ok","f":"read","value":1}
"#;

#[test]
fn a_history_is_right_or_wrong_or_cannot_be_judged() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checking");
    std::fs::create_dir_all(&directory).expect("a directory");
    let sample = Sample { store: directory.clone() };
    let file = |name: &str, text: &str| {
        let file = directory.join(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    };
    let stale = file("stale.jsonl", STALE);
    let right = file("right.jsonl", &STALE.replace("\"read\",\"value\":1", "\"read\",\"value\":2"));
    let cut = file("cut.jsonl", &STALE[..STALE.len() - 20]);
    let page = directory.join("page.html").display().to_string();
    let mut said = String::new();
    for arguments in [
        &["check", &right, "--model", "cas-register"][..],
        &["check", &stale, "--model", "cas-register", "--html", &page],
        &["check", &stale, "--model", "cas-register", "--consistency", "sequential"],
        &["check", &stale, "--model", "cas-register", "--json"],
        &["check", &cut, "--model", "cas-register"],
        &["check", &stale],
        &["check", &stale, "--model", "toaster", "--json"],
        &["check", "missing.edn", "--model", "register"],
    ] {
        let answer = sample.command(arguments).current_dir(&directory).output().expect("the binary is there");
        let answer = sample.answer(&answer);
        let shown = arguments.join(" ").replace(&directory.display().to_string(), "[store]");
        said.push_str(&format!("$ drawloom {shown}\n{}{}exit code {}\n\n", answer.out, answer.err, answer.code));
    }
    assert_snapshot!(said);
    let page = std::fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("<html") && page.contains("read → 1"), "{page}");
}

#[test]
fn a_search_ends_where_its_budget_does() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checking-budget");
    std::fs::create_dir_all(&directory).expect("a directory");
    let sample = Sample { store: directory.clone() };
    // Enqueues that nobody saw end, and a dequeue of what nobody has put there: every order is tried.
    let pending: String = (0..24)
        .map(|i| format!("{{\"process\":{i},\"type\":\"invoke\",\"f\":\"write\",\"value\":{}}}\n", i % 3))
        .collect();
    let seen: String = (0..12)
        .map(|i| {
            let line =
                |kind: &str| format!("{{\"process\":99,\"type\":\"{kind}\",\"f\":\"read\",\"value\":{}}}\n", i % 3);
            line("invoke") + &line("ok")
        })
        .collect();
    let file = directory.join("pending.jsonl");
    std::fs::write(&file, pending + &seen).expect("a file");
    let file = file.display().to_string();
    let code = |limits: &[&str]| {
        let arguments: Vec<&str> = ["check", &file, "--model", "register", "--consistency", "sequential"]
            .iter()
            .chain(limits)
            .copied()
            .collect();
        let answer = sample.command(&arguments).current_dir(&directory).output().expect("the binary is there");
        sample.answer(&answer).code
    };
    assert_eq!(code(&["--steps", "1"]), 2, "nobody can say anything after one step");
    assert_eq!(code(&["--bytes", "1"]), 2, "nor in one byte");
    assert_eq!(code(&["--steps", "many"]), 2, "it is no number");
}

#[test]
fn a_history_is_read_from_standard_input() {
    use std::io::Write;
    use std::process::Stdio;
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checking-stdin");
    std::fs::create_dir_all(&directory).expect("a directory");
    let sample = Sample { store: directory.clone() };
    let fed = |history: &str, arguments: &[&str]| {
        let mut command = sample.command(&[&["check", "-"][..], arguments].concat());
        command.current_dir(&directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary is there");
        child.stdin.take().expect("a pipe").write_all(history.as_bytes()).expect("it reads");
        let answer = sample.answer(&child.wait_with_output().expect("it ends"));
        format!("{}{}exit code {}", answer.out, answer.err, answer.code)
    };
    // The model is in the first line: the content is looked at more than once.
    let named = format!("{{\"meta\":{{\"model\":\"cas-register\"}}}}\n{STALE}");
    let wrong = fed(&named, &[]);
    assert!(wrong.starts_with("illegal: the history is not linearizable\n  3 operations"), "{wrong}");
    assert!(wrong.ends_with("exit code 1"), "{wrong}");
    let edn = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n";
    let right = fed(edn, &["--model", "register"]);
    assert_eq!(right, "ok: the history is linearizable\n  1 operations of a register\nexit code 0");
    let empty = fed("", &["--model", "register"]);
    assert_eq!(empty, "error: standard input: it holds no operations, so there is nothing to check\nexit code 2");
    let nonsense = fed("nonsense", &["--model", "register"]);
    assert!(nonsense.starts_with("error: standard input:\nline 1, column 1: "), "{nonsense}");
}
