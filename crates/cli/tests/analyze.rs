//! `drawloom analyze` and `drawloom lsp`, as they are run.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../analyze/tests/programs")
}

fn drawloom(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drawloom"));
    command.args(arguments).current_dir(folder).env("DRAWLOOM_ASCII", "1").env("NO_COLOR", "1");
    command.output().expect("drawloom runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// A folder of its own, with the files in it.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("analyze-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    folder
}

#[test]
fn exit_codes_say_whether_something_was_found() {
    let found = drawloom(&programs(), &["analyze", "asyncio_login.py"]);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found));
    assert!(text(&found).contains("DL001") && text(&found).contains("1 finding in 1 file"), "{}", text(&found));
    assert_eq!(drawloom(&programs(), &["analyze", "asyncio_login_locked.py"]).status.code(), Some(0));
    assert_eq!(drawloom(&programs(), &["analyze", "--fail-on", "never", "asyncio_login.py"]).status.code(), Some(0));
    for wrong in
        ["no_such_file.py", "asyncio_login.py:0", "asyncio_login.py:9-2", "asyncio_login.py::nobody", "::nobody_at_all"]
    {
        let refused = drawloom(&programs(), &["analyze", wrong]);
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
        assert!(!refused.stderr.is_empty(), "{wrong}");
    }
}

#[test]
fn a_target_limits_what_is_said() {
    for target in [
        "asyncio_login.py::login",
        "asyncio_login.py::Client.login",
        "asyncio_login.py:12",
        "asyncio_login.py:10-15",
        "::Client.login",
    ] {
        let folder = folder(
            "targets",
            &[("asyncio_login.py", &std::fs::read_to_string(programs().join("asyncio_login.py")).expect("a program"))],
        );
        let found = drawloom(&folder, &["analyze", target]);
        assert_eq!(found.status.code(), Some(1), "{target}: {}", text(&found));
    }
    assert_eq!(drawloom(&programs(), &["analyze", "asyncio_login.py::main"]).status.code(), Some(0));
    let folder = folder("ambiguous", &[("one.py", "def same(): pass\n"), ("two.py", "def same(): pass\n")]);
    let refused = drawloom(&folder, &["analyze", "::same"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && said.contains("one.py::same") && said.contains("two.py::same"),
        "{said}"
    );
}

#[test]
fn markdown_has_every_heading_once_and_in_order() {
    for file in ["asyncio_login.py", "asyncio_login_locked.py"] {
        let said = text(&drawloom(&programs(), &["analyze", "--format", "md", file]));
        let headings: Vec<&str> =
            said.lines().filter(|line| line.starts_with("## ") || line.starts_with("### ")).collect();
        let title = format!("## Concurrency analysis: `{file}`");
        assert_eq!(
            headings,
            [
                title.as_str(),
                "### Shared state",
                "### Checkpoints",
                "### Race trace",
                "### Classification",
                "### Fixes"
            ]
        );
    }
    let clean = text(&drawloom(&programs(), &["analyze", "--format", "md", "asyncio_login_locked.py"]));
    assert!(clean.contains("No unserialisable interleaving found.") && clean.contains("None needed"), "{clean}");
}

#[test]
fn the_answer_is_the_same_on_every_run() {
    for format in ["json", "sarif", "md", "term", "page"] {
        let one = drawloom(&programs(), &["analyze", "--format", format, "."]);
        let other = drawloom(&programs(), &["analyze", "--format", format, "--jobs", "1", "."]);
        assert_eq!(one.stdout, other.stdout, "{format}");
        assert!(!one.stdout.is_empty());
    }
}

#[test]
fn sarif_has_a_thread_flow_for_each_task_and_their_common_order() {
    let sarif: Value =
        serde_json::from_str(&text(&drawloom(&programs(), &["analyze", "--format", "sarif", "trio_registry.py"])))
            .expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "DL004");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    assert_eq!(flows.len(), 2, "one for each task");
    let mut order: Vec<u64> = flows
        .iter()
        .flat_map(|flow| flow["locations"].as_array().expect("locations"))
        .map(|location| location["executionOrder"].as_u64().expect("an order"))
        .collect();
    order.sort_unstable();
    assert_eq!(order, (1..=order.len() as u64).collect::<Vec<_>>());
    assert!(result["partialFingerprints"]["drawloom/v1"].is_string());
}

#[test]
fn a_broken_file_is_reported_and_the_others_are_analysed() {
    let login = std::fs::read_to_string(programs().join("asyncio_login.py")).expect("a program");
    let folder = folder(
        "broken",
        &[("bad.py", "def f(:\n"), ("bad.rs", "fn main( {"), ("good.py", &login), ("data.py", "\u{0}\u{1}")],
    );
    let found = drawloom(&folder, &["analyze", "."]);
    assert_eq!(found.status.code(), Some(1));
    let said = text(&found);
    assert!(
        said.contains("warning: bad.py:1") && said.contains("warning: bad.rs:1") && said.contains("DL001"),
        "{said}"
    );
}

#[test]
fn a_comment_with_a_reason_leaves_a_finding_out_and_one_without_does_not() {
    let login = std::fs::read_to_string(programs().join("asyncio_login.py")).expect("a program");
    let with = login.replace("# HERE", "# drawloom: ignore[DL001] tokens are interchangeable");
    let without = login.replace("# HERE", "# drawloom: ignore[DL001]");
    let folder = folder("ignore", &[("with.py", &with), ("without.py", &without)]);
    let left_out = drawloom(&folder, &["analyze", "with.py"]);
    assert_eq!(left_out.status.code(), Some(0));
    assert!(text(&left_out).contains("1 ignored by comments"), "{}", text(&left_out));
    let kept = drawloom(&folder, &["analyze", "without.py"]);
    assert_eq!(kept.status.code(), Some(1));
    assert!(text(&kept).contains("name the rule and a reason"), "{}", text(&kept));
}

#[test]
fn a_baseline_accepts_what_is_there_and_nothing_else() {
    let login = std::fs::read_to_string(programs().join("asyncio_login.py")).expect("a program");
    let folder = folder("baseline", &[("a.py", &login)]);
    drawloom(&folder, &["analyze", "--write-baseline", "known.json", "."]);
    // Lines may move.
    std::fs::write(folder.join("a.py"), format!("\n\n{login}")).expect("a file");
    let known = drawloom(&folder, &["analyze", "--baseline", "known.json", "."]);
    assert_eq!(known.status.code(), Some(0), "{}", text(&known));
    assert!(text(&known).contains("1 in the baseline"));
    let total = std::fs::read_to_string(programs().join("trio_total.py")).expect("a program");
    std::fs::write(folder.join("b.py"), total).expect("a file");
    assert_eq!(drawloom(&folder, &["analyze", "--baseline", "known.json", "."]).status.code(), Some(1));
}

#[test]
fn without_a_target_what_has_changed_is_analysed() {
    let login = std::fs::read_to_string(programs().join("asyncio_login.py")).expect("a program");
    let folder = folder("changed", &[("a.py", &login), ("b.py", &login)]);
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(&folder)
            .output();
        assert!(done.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    assert!(text(&drawloom(&folder, &["analyze"])).starts_with("0 findings in 0 files"));
    std::fs::write(folder.join("a.py"), login.replace("fresh", "newest")).expect("a file");
    let found = drawloom(&folder, &["analyze"]);
    assert_eq!(found.status.code(), Some(1));
    assert!(text(&found).contains("a.py:") && !text(&found).contains("b.py:"), "{}", text(&found));
}

#[test]
fn a_test_is_written_for_each_finding() {
    let folder = folder("scaffold", &[]);
    let target = programs().join("asyncio_login.py");
    drawloom(&folder, &["analyze", "--scaffold", "tests", &target.display().to_string()]);
    let target = programs().join("threads_atomic_gate.rs");
    drawloom(&folder, &["analyze", "--scaffold", "tests", &target.display().to_string()]);
    let mut names: Vec<String> = std::fs::read_dir(folder.join("tests"))
        .expect("tests")
        .map(|it| it.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].ends_with(".rs") && names[1].starts_with("test_drawloom_"), "{names:?}");
    let python = std::fs::read_to_string(folder.join("tests").join(&names[1])).expect("a test");
    assert!(!python.contains("= @"), "every place is filled in");
}

/// A client of the language server.
struct Editor {
    child: std::process::Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Editor {
    fn begin() -> Editor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drawloom"));
        let mut child = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server");
        let out = BufReader::new(child.stdout.take().expect("stdout"));
        Editor { child, out }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.child.stdin.as_mut().expect("stdin"), "Content-Length: {}\r\n\r\n{text}", text.len())
            .expect("sent");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.out.read_line(&mut line).expect("a line"), 0, "the server is gone");
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.out.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }
}

#[test]
fn an_editor_sees_findings_as_diagnostics_and_checkpoints_as_hints() {
    let login = std::fs::read_to_string(programs().join("asyncio_login.py")).expect("a program");
    let mut editor = Editor::begin();
    editor.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }));
    assert_eq!(editor.receive()["result"]["capabilities"]["inlayHintProvider"], true);
    editor.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    let uri = "file:///project/login.py";
    let open = |text: &str| json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": { "uri": uri, "languageId": "python", "version": 1, "text": text } } });
    editor.send(&open(&login));
    let told = editor.receive();
    assert_eq!(told["method"], "textDocument/publishDiagnostics");
    let diagnostics = told["params"]["diagnostics"].as_array().expect("a list");
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0]["code"], "DL001");
    assert_eq!(diagnostics[0]["range"]["start"]["line"], 13);
    editor.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "textDocument/inlayHint", "params": { "textDocument": { "uri": uri }, "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } } }));
    let hints = editor.receive();
    let hints = hints["result"].as_array().expect("a list");
    assert!(hints.iter().any(|hint| hint["position"]["line"] == 12 && hint["label"] == "← CHECKPOINT"), "{hints:?}");
    // While somebody types, a file is often broken.
    let half = json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": { "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": "class C:\n    def (" }] } });
    editor.send(&half);
    assert_eq!(editor.receive()["params"]["diagnostics"][0]["severity"], 3);
    editor.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "shutdown" }));
    assert_eq!(editor.receive()["result"], Value::Null);
    editor.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert!(editor.child.wait().expect("an end").success());
}
