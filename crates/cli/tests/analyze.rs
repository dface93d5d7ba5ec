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

/// A package in whose tests a scaffolded test lies, built where the command line's own sample is.
fn package_of(scaffold: &str) -> PathBuf {
    let folder = folder("compiled", &[]);
    std::fs::create_dir_all(folder.join("tests")).expect("a folder");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let drawloom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drawloom").display().to_string();
    let manifest = format!(
        "[package]\nname = \"scaffolded\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
drawloom = {{ path = {drawloom:?}, features = [\"controlled\"] }}\n\n[profile.dev]\ndebug = false\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    std::fs::write(folder.join("src/lib.rs"), "").expect("a library");
    std::fs::write(folder.join("tests/scaffolded.rs"), scaffold).expect("a test");
    folder
}

#[test]
fn a_test_that_is_written_for_rust_compiles_and_fails_as_long_as_the_window_is_open() {
    let written = folder("scaffold-rust", &[]);
    let target = programs().join("threads_permits_oversold.rs");
    drawloom(&written, &["analyze", "--scaffold", "tests", &target.display().to_string()]);
    let file = std::fs::read_dir(written.join("tests")).expect("tests").next().expect("one").expect("a file").path();
    let package = package_of(&std::fs::read_to_string(file).expect("a test"));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["test", "--offline", "--test", "scaffolded"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("sample"))
        .env("DRAWLOOM_DIR", package.join("store"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let said = format!("{}{}", text(&output), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("Running tests/scaffolded.rs"), "it compiles: {said}");
    assert!(said.contains("nobody_comes_in_between") && !output.status.success(), "the window is open: {said}");
}

/// What the schema of SARIF 2.1.0 allows in the objects that are written, and what they need.
const SARIF: [(&str, &[&str], &[&str]); 18] = [
    ("log", &["version", "runs"], &["$schema"]),
    ("run", &["tool"], &["results", "columnKind", "originalUriBaseIds", "properties", "invocations"]),
    ("tool", &["driver"], &[]),
    ("driver", &["name"], &["informationUri", "version", "semanticVersion", "rules", "organization"]),
    (
        "rule",
        &["id"],
        &["name", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "properties"],
    ),
    (
        "result",
        &["message"],
        &[
            "ruleId",
            "ruleIndex",
            "level",
            "rank",
            "locations",
            "relatedLocations",
            "codeFlows",
            "partialFingerprints",
            "properties",
            "fixes",
        ],
    ),
    ("location", &[], &["id", "physicalLocation", "message", "logicalLocations"]),
    ("physical", &["artifactLocation"], &["region", "contextRegion"]),
    ("artifact", &["uri"], &["uriBaseId"]),
    ("region", &["startLine"], &["startColumn", "endLine", "endColumn", "snippet"]),
    ("flow", &["threadFlows"], &["message"]),
    ("thread", &["locations"], &["id", "message"]),
    ("step", &["location"], &["executionOrder", "kinds", "importance", "nestingLevel"]),
    ("message", &["text"], &["markdown"]),
    ("help", &["text"], &["markdown"]),
    ("configuration", &[], &["level", "enabled"]),
    ("invocation", &["executionSuccessful"], &["toolExecutionNotifications", "exitCode"]),
    ("notification", &["message"], &["level", "locations"]),
];

fn fits(value: &Value, kind: &str) {
    let (_, needed, allowed) = SARIF.iter().find(|(name, ..)| *name == kind).expect("a kind");
    let object = value.as_object().unwrap_or_else(|| panic!("{kind} is an object: {value}"));
    for key in *needed {
        assert!(object.contains_key(*key), "{kind} needs {key}: {value}");
    }
    for key in object.keys() {
        assert!(needed.contains(&key.as_str()) || allowed.contains(&key.as_str()), "{kind} knows no {key}");
    }
    let all = |key: &str, kind: &str| value[key].as_array().into_iter().flatten().for_each(|it| fits(it, kind));
    let one = |key: &str, kind: &str| value.get(key).into_iter().for_each(|it| fits(it, kind));
    match kind {
        "log" => all("runs", "run"),
        "run" => {
            one("tool", "tool");
            all("results", "result");
            all("invocations", "invocation");
            let rules = value["tool"]["driver"]["rules"].as_array().expect("rules");
            for result in value["results"].as_array().expect("results") {
                let at = result["ruleIndex"].as_u64().expect("an index") as usize;
                assert_eq!(rules[at]["id"], result["ruleId"]);
            }
        }
        "invocation" => all("toolExecutionNotifications", "notification"),
        "notification" => {
            one("message", "message");
            all("locations", "location");
        }
        "tool" => one("driver", "driver"),
        "driver" => all("rules", "rule"),
        "rule" => {
            one("shortDescription", "message");
            one("fullDescription", "message");
            one("help", "help");
            one("defaultConfiguration", "configuration");
        }
        "result" => {
            one("message", "message");
            all("locations", "location");
            all("relatedLocations", "location");
            all("codeFlows", "flow");
            assert!(["none", "note", "warning", "error"].contains(&value["level"].as_str().expect("a level")));
            assert!((0.0..=100.0).contains(&value["rank"].as_f64().expect("a rank")));
            let ids = value["relatedLocations"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_u64());
            let ids: Vec<u64> = ids.collect();
            assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        }
        "location" => {
            one("physicalLocation", "physical");
            one("message", "message");
        }
        "physical" => {
            one("artifactLocation", "artifact");
            one("region", "region");
        }
        "artifact" => {
            let uri = value["uri"].as_str().expect("a text");
            assert!(!uri.contains('\\') && !uri.contains(' ') && !uri.starts_with('/'), "{uri}");
        }
        "region" => {
            for key in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(
                    value.get(key).is_none_or(|number| number.as_u64().is_some_and(|number| number > 0)),
                    "{value}"
                );
            }
        }
        "flow" => all("threadFlows", "thread"),
        "thread" => {
            assert!(value["locations"].as_array().is_some_and(|all| !all.is_empty()));
            all("locations", "step");
            one("message", "message");
        }
        "step" => one("location", "location"),
        _ => {}
    }
}

#[test]
fn sarif_is_what_its_schema_allows() {
    let sarif: Value =
        serde_json::from_str(&text(&drawloom(&programs(), &["analyze", "--format", "sarif", "."]))).expect("JSON");
    assert!(sarif["runs"][0]["results"].as_array().expect("results").len() > 40);
    fits(&sarif, "log");
}

#[test]
fn the_answer_is_the_same_wherever_the_project_lies() {
    let files: Vec<(String, String)> = ["asyncio_login.py", "trio_registry.py", "threads_seats.rs"]
        .into_iter()
        .map(|name| (name.to_owned(), std::fs::read_to_string(programs().join(name)).expect("a program")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let (one, other) = (folder("checkout-one", &files), folder("another-checkout", &files));
    for format in ["json", "sarif", "md", "term", "page"] {
        let said = drawloom(&one, &["analyze", "--format", format, "."]).stdout;
        assert!(!said.is_empty() && said == drawloom(&other, &["analyze", "--format", format, "."]).stdout, "{format}");
    }
}

/// `DRAWLOOM_PYTHON=… cargo test -p drawloom-cli --test analyze -- --ignored`: an interpreter with the package `drawloom`, and trio.
#[test]
#[ignore = "needs an interpreter with the Python package"]
fn suspected_interleavings_of_python_are_run_and_none_of_a_fixed_program() {
    let confirmed = |file: &Path| {
        let output = drawloom(&programs(), &["analyze", "--confirm", "--format", "json", &file.display().to_string()]);
        let said: Value = serde_json::from_str(&text(&output)).unwrap_or_default();
        let findings = said.pointer("/files").or(said.pointer("/analyses")).cloned().unwrap_or_default();
        let findings = findings.as_array().into_iter().flatten().flat_map(|it| it["findings"].as_array().cloned());
        let mut replays = Vec::new();
        for finding in findings.flatten() {
            if finding["confirmation"]["status"] == "confirmed" {
                replays.push(finding["confirmation"]["replay"].as_str().expect("a command").to_owned());
            }
        }
        replays
    };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(programs()).expect("programs").map(|it| it.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "py"));
    files.sort();
    let mut wrong = 0;
    for file in files {
        let label = std::fs::read_to_string(&file).expect("a program");
        let replays = confirmed(&file);
        if label.starts_with("# expect: clean") {
            assert!(replays.is_empty(), "{} is fixed: {replays:?}", file.display());
        } else if let Some(replay) = replays.first() {
            wrong += 1;
            let mut words = replay.split(' ');
            let mut command = Command::new(words.next().expect("an interpreter"));
            let again = command.args(words).output().expect("it runs");
            assert!(text(&again).contains("\"fails\""), "{replay}: {}", text(&again));
        }
    }
    assert!(wrong >= 10, "{wrong} were confirmed");
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
