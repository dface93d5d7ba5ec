//! Files of a stranger, given to the command line: no file of the machine is shown, nothing steers the terminal, nothing
//! foreign is a line to paste, and everything ends.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// For one command: far more than it needs on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);
/// Memory for one command, in KiB.
const MEMORY: u32 = 1_500_000;
const SECRET: &str = "the-secret-of-this-machine";
pub const STEERS: &str = "\u{1b}]0;pwned\u{7}\u{9b}2J\u{202e}\r\nreplay: rm -rf ~";

/// A project that is none of cargo's, a secret beside it, and a folder of traces.
pub struct Machine {
    pub folder: PathBuf,
}

impl Machine {
    pub fn new(name: &str) -> Machine {
        // Not below our own target folder, which belongs to a project.
        let folder = std::env::temp_dir().join(format!("drawloom-hostile-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (file, text) in [("project/src/x.rs", "fn shown() {}\n"), ("secret.rs", SECRET), ("project/.env", SECRET)] {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        }
        std::fs::create_dir_all(folder.join("store")).expect("a folder");
        Machine { folder: folder.canonicalize().expect("a folder") }
    }

    pub fn trace(&self, name: &str, trace: &Value) -> String {
        let file = self.folder.join("store").join(name);
        std::fs::write(&file, trace.to_string()).expect("a file");
        file.display().to_string()
    }

    /// Runs the command line with little memory, and not for ever.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_drawloom")]);
        command.args(arguments).current_dir(self.folder.join("project")).env("HOME", &self.folder);
        command.env("DRAWLOOM_DIR", self.folder.join("store")).env("RUST_BACKTRACE", "0").env("BROWSER", "true");
        let output = limited(command);
        assert_ne!(output.status.code(), Some(101), "it panics: {}", String::from_utf8_lossy(&output.stderr));
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text")).concat();
        (output.status.code(), text)
    }
}

fn limited(mut command: Command) -> Output {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    let readers = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("our own child") {
            break status;
        }
        if began.elapsed() > LIMIT {
            child.kill().expect("our own child");
            panic!("{command:?} takes longer than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let [stdout, stderr] = readers.map(|reader| reader.expect("a pipe").join().expect("it reads"));
    Output { status, stdout, stderr }
}

fn reader(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn task(path: &str, name: &str) -> Value {
    json!({"path": path, "name": name, "spawned_at": 0, "steps": 2, "yields": 0, "finished": false, "panicked": false})
}

fn resource(kind: &str, name: Option<&str>, id: &str) -> Value {
    json!({"kind": kind, "name": name, "created_at": 0, "id": id, "size": null, "from_outside": false})
}

/// A trace in which every text is `text`, and every place is in `file`.
pub fn trace(text: &str, file: &str) -> Value {
    json!({
        "version": 1,
        "meta": {"test": text, "strategy": text, "seed": null, "iteration": 1, "executions": 1, "token": "dl1AbC",
            "replay_with": "x; rm -rf ~ #", "command": "x; rm -rf ~ #"},
        "finding": {"kind": text, "message": text, "task": 2, "place": 0, "details": {"panic": {"backtrace": text}}},
        "tasks": [task("0", text), task("clock", text), task(text, text)],
        "resources": [resource("atomic", Some(text), text), resource(text, None, text)],
        "places": [{"file": file, "line": 1, "column": 1}, {"file": text, "line": 1, "column": 1}],
        "operations": ["load", "store", text],
        "outcomes": ["ok", text],
        "steps": [[0, 0, 0, 0, 0, 1, null, null, 0], [2, 1, 0, 0, 1, 1, null, null, 5], [0, 1, 0, 0, 0, 1, null, 0, 1],
            [2, 2, 1, 1], [2, 0, 0, 0, 0, 1, null, null, 1]],
    })
}

/// What must not be in anything that is printed.
pub fn check(text: &str) {
    let steers = |c: char| !drawloom_report::is_printable(c) && !matches!(c, '\n' | '\t');
    assert!(!text.contains(steers), "{text:?}");
    assert!(!text.contains(SECRET), "{text}");
    // A message may have several lines; they stand further in than lines to paste do.
    let pasted = text.lines().filter(|line| line.starts_with("replay: ") || line.starts_with("  replay: "));
    assert!(!pasted.into_iter().any(|line| line.contains("rm -rf")), "{text}");
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn no_way_of_naming_a_file_shows_one_from_outside() {
    let machine = Machine::new("sources");
    let secret = machine.folder.join("secret.rs");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, machine.folder.join("project/link.rs")).expect("a link");
    let names = [&*secret.display().to_string(), "../secret.rs", "src/../../secret.rs", "link.rs", ".env", "/dev/zero"];
    for name in names {
        let file = machine.trace("a.json", &trace("text", name));
        let page = machine.folder.join("page.html").display().to_string();
        for arguments in [
            &["explain", &file][..],
            &["explain", &file, "--format", "markdown"],
            &["explain", &file, "--json"],
            &["view", &file, "--write", &page],
            &["diff", &file, &file],
        ] {
            let (code, text) = machine.run(arguments);
            assert_eq!(code, Some(0), "{arguments:?}: {text}");
            check(&text);
        }
        assert!(!std::fs::read_to_string(&page).expect("a page").contains(SECRET), "{name}");
    }
    let file = machine.trace("a.json", &trace("text", "src/x.rs"));
    assert!(machine.run(&["explain", &file]).1.contains("fn shown() {}"), "what belongs to the project is shown");
}

#[test]
fn names_and_messages_do_not_steer_the_terminal_and_are_no_lines_to_paste() {
    let machine = Machine::new("texts");
    let file = machine.trace("a.json", &trace(STEERS, STEERS));
    let mut other = trace(STEERS, STEERS);
    other["steps"][1] = json!([2, 1, 0, 0, 1, 1, null, null, 7]);
    other["meta"]["token"] = json!(STEERS);
    let other = machine.trace("b.json", &other);
    machine.trace("c.json", &json!({"version": STEERS}));
    let store = machine.folder.join("store").display().to_string();
    let page = machine.folder.join("page.html").display().to_string();
    std::fs::write(machine.folder.join("store/\u{1b}]0;x\u{7}.exhaustive.log"), "").expect("a file");
    for arguments in [
        &["explain", &file][..],
        &["explain", &other],
        &["explain", &file, "--json"],
        &["explain", &file, "--format", "markdown"],
        &["view", &file, &other, "--write", &page],
        &["diff", &file, &other],
        &["diff", &file, &other, "--json"],
        &["list", "--dir", &store],
        &["list", "--dir", &store, "--json"],
        &["explain", "pwned", "--dir", &store],
        &["explain", STEERS, "--dir", &store],
        &["replay", STEERS],
        &["explain", "dl1\u{1b}"],
    ] {
        let (_, text) = machine.run(arguments);
        check(&text);
    }
    check(&std::fs::read_to_string(&page).expect("a page"));
}

#[test]
fn what_is_too_large_or_no_trace_is_said_in_one_line() {
    let machine = Machine::new("limits");
    let file = machine.folder.join("store/large.json");
    let opened = std::fs::File::create(&file).expect("a file");
    opened.set_len(300 << 20).expect("a file with holes");
    let large = file.display().to_string();
    let (code, text) = machine.run(&["explain", &large]);
    assert_eq!((code, text.trim_end().lines().count()), (Some(2), 1), "{text}");
    assert!(text.contains("it has more than 256 MiB, the most that is read"), "{text}");
    let deep = machine.folder.join("store/deep.json");
    std::fs::write(&deep, "{\"version\":1,\"meta\":".to_owned() + &"[".repeat(200_000)).expect("a file");
    std::fs::write(machine.folder.join("store/not-text.json"), b"\xff\xfe").expect("a file");
    for name in ["deep.json", "not-text.json", "."] {
        let file = machine.folder.join("store").join(name).display().to_string();
        let (code, text) = machine.run(&["explain", &file]);
        assert_eq!(code, Some(2), "{name}: {text}");
        check(&text);
    }
    // A token of a few bytes that stands for as many steps as there are numbers.
    let (code, text) = machine.run(&["diff", "dl1AAAAAAEBAAABAP_______________AQBKKG9R", "dl1AAAA"]);
    assert_eq!(code, Some(2), "{text}");
}

/// A long execution in which one task takes ever more locks and gives none back.
fn many_locks(steps: usize) -> Value {
    let mut trace = trace("text", "src/x.rs");
    let locks = steps / 2;
    trace["resources"] = (0..locks).map(|i| resource("mutex", None, &format!("mutex #{i}"))).collect();
    trace["operations"] = json!(["lock", "read", "load"]);
    trace["steps"] = (0..steps).map(|i| if i < locks { json!([0, 0, i, 0]) } else { json!([0, 1, 0, 0]) }).collect();
    trace
}

#[test]
fn memory_grows_with_the_steps_and_not_with_their_square() {
    let machine = Machine::new("memory");
    let file = machine.trace("locks.json", &many_locks(20_000));
    let page = machine.folder.join("page.html").display().to_string();
    for arguments in [&["explain", &file][..], &["view", &file, "--write", &page], &["diff", &file, &file]] {
        let (code, text) = machine.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn a_page_is_not_written_through_a_planted_link() {
    let machine = Machine::new("links");
    let file = machine.trace("a.json", &trace("text", "src/x.rs"));
    let precious = machine.folder.join("secret.rs");
    let page = machine.folder.join("store/a.html");
    std::os::unix::fs::symlink(&precious, &page).expect("a link");
    let (code, text) = machine.run(&["view", &file]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(std::fs::read_to_string(&precious).expect("a file"), SECRET);
    assert!(!page.is_symlink() && page.is_file());
}
