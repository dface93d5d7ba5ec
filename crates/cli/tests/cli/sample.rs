//! The sample project, and the command line run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Where the sample lies: a copy, so that nothing is written among the sources.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("project")
}

/// Where the sample is built: once for all tests, and kept from run to run.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("sample")
}

/// A place for traces of its own, and the command line that keeps them there.
pub struct Sample {
    pub store: PathBuf,
}

/// What the command line did.
pub struct Answer {
    pub code: i32,
    /// Without what differs from run to run.
    pub out: String,
    pub err: String,
    raw: String,
}

impl Answer {
    /// Each line as JSON.
    pub fn json(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.raw.lines().map(read).collect()
    }
}

impl Sample {
    /// A sample whose store is called after the test that uses it, and empty.
    pub fn new(name: &str) -> Sample {
        built();
        let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stores").join(name);
        let _ = std::fs::remove_dir_all(&store);
        Sample { store }
    }

    /// A sample that is not needed.
    pub fn unbuilt() -> Sample {
        std::fs::create_dir_all(project()).expect("a place to run in");
        Sample { store: PathBuf::from("/nowhere") }
    }

    /// The command line, about to be run in the sample.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drawloom"));
        command.current_dir(project()).args(arguments).stdin(Stdio::null());
        environment(&mut command).env("DRAWLOOM_DIR", &self.store);
        command
    }

    /// Runs the command line to its end.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.answer(&self.command(arguments).output().expect("the binary is there"))
    }

    /// The same, after somebody has fixed the deposit.
    pub fn run_fixed(&self, arguments: &[&str]) -> Answer {
        self.answer(&self.command(arguments).env("SAMPLE_FIXED", "1").output().expect("the binary is there"))
    }

    /// Runs the sample's tests by cargo, which is there everywhere.
    pub fn test(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["test", "--runner", "cargo"], arguments].concat())
    }

    pub fn answer(&self, output: &Output) -> Answer {
        let raw = String::from_utf8_lossy(&output.stdout).into_owned();
        let code = output.status.code().expect("it ends by itself");
        Answer { code, out: self.plain(&raw), err: self.plain(&String::from_utf8_lossy(&output.stderr)), raw }
    }

    /// The text without paths, times, and counts that depend on the machine.
    fn plain(&self, text: &str) -> String {
        let text = text.replace(&self.store.display().to_string(), "[store]");
        let text = text.replace(&project().display().to_string(), "[sample]");
        let lines = text.lines().map(|line| {
            let on_the_clock = line.contains("takes_for_ever") || line.contains("from an earlier run");
            // How a finding is explained is the business of other tests.
            let line = if line.starts_with("  why: ") { "  why: […]" } else { line };
            let line = if on_the_clock { without_numbers(line) } else { line.to_owned() };
            without_seconds(&line)
        });
        lines.map(|line| line + "\n").collect()
    }
}

/// A workspace of two packages, of which one fails: where it lies.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("workspace")
}

/// A program of two tasks in which a count may end up as 1.
fn counts_to(expected: u32) -> String {
    format!(
        "use drawloom::sync::{{Arc, atomic::{{AtomicU32, Ordering::SeqCst}}}};
pub fn twice() {{
    let count = Arc::new(AtomicU32::new(0));
    let theirs = count.clone();
    let other = drawloom::thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    count.store(count.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    assert!(count.load(SeqCst) >= {expected});
}}
#[cfg(test)]
mod tests {{
    #[drawloom::test]
    fn inside() {{
        super::twice();
    }}
}}
"
    )
}

/// Writes the workspace. Targets and tests of its packages have the same names.
fn write_workspace() -> std::io::Result<()> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drawloom").canonicalize()?;
    let root = "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n[profile.dev]\ndebug = false\n";
    refresh(&workspace().join("Cargo.toml"), root)?;
    for (package, expected) in [("one", 1), ("two", 2)] {
        let manifest = format!(
            "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [dependencies]\ndrawloom = {{ path = {library:?}, features = [\"controlled\"] }}\n"
        );
        let outside = format!("#[drawloom::test]\nfn loses() {{\n    {package}::twice();\n}}\n");
        let folder = workspace().join(package);
        refresh(&folder.join("Cargo.toml"), &manifest)?;
        refresh(&folder.join("src/lib.rs"), &counts_to(expected))?;
        refresh(&folder.join("tests/both-of.rs"), &outside)?;
    }
    lock(&workspace())
}

/// Gives a project the workspace's lock file: the versions are those that are here already.
fn lock(project: &Path) -> std::io::Result<()> {
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock"))?;
    // Cargo takes out what the project does not need: only a new one is of interest.
    if refresh(&project.join("workspace.lock"), &lock)? {
        std::fs::write(project.join("Cargo.lock"), &lock)?;
    }
    Ok(())
}

/// What the tests are run with: nothing of the surrounding run, and no network.
fn environment(command: &mut Command) -> &mut Command {
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUST_BACKTRACE", "CI", "GITHUB_ACTIONS"]
    {
        command.env_remove(name);
    }
    let target = target();
    command.env("CARGO", env!("CARGO")).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    command.env("DRAWLOOM_REGRESSIONS", "off").env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never")
}

/// Copies the sample.
fn copied() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sample = here.join("tests/sample");
    for file in ["Cargo.toml", "src/lib.rs", "tests/accounts.rs"] {
        let text = std::fs::read_to_string(sample.join(file))?;
        let library = here.join("../drawloom").canonicalize()?;
        refresh(&project().join(file), &text.replace("../../../drawloom", &library.display().to_string()))?;
    }
    lock(&project())
}

/// Writes a file unless it is there already: what is not touched is not built again.
fn refresh(file: &Path, text: &str) -> std::io::Result<bool> {
    if std::fs::read_to_string(file).is_ok_and(|there| there == text) {
        return Ok(false);
    }
    std::fs::create_dir_all(file.parent().expect("it lies in the project"))?;
    std::fs::write(file, text).map(|()| true)
}

/// Builds the sample and the workspace, so that no test is slowed down by it.
fn built() {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        copied().and_then(|()| write_workspace()).expect("the sample can be copied");
        for folder in [project(), workspace()] {
            let mut command = Command::new(env!("CARGO"));
            command.current_dir(folder).args(["test", "--tests", "--no-run"]);
            let output = environment(&mut command).output().expect("cargo is there");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    });
}

/// Every number is `N`.
fn without_numbers(line: &str) -> String {
    let mut plain = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' if plain.ends_with('N') => {}
            '0'..='9' => plain.push('N'),
            c => plain.push(c),
        }
    }
    plain
}

/// `(1.2 s)` is `([time])`.
fn without_seconds(line: &str) -> String {
    match (line.rfind('('), line.strip_suffix(" s)")) {
        (Some(open), Some(_)) => format!("{}([time])", &line[..open]),
        _ => line.to_owned(),
    }
}

/// Lines in the order of the alphabet, each with what is indented beneath it: tests end in any order.
pub fn sorted(text: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let (tests, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    for line in tests.lines() {
        match blocks.last_mut() {
            Some(block) if line.starts_with(' ') => block.push_str(&format!("{line}\n")),
            _ => blocks.push(format!("{line}\n")),
        }
    }
    blocks.sort();
    format!("{}\n{rest}", blocks.concat())
}

/// The text with the reports in it cut to their first lines: what they say is the business of other tests.
pub fn brief(text: &str) -> String {
    let mut brief = String::new();
    let mut of_report = None;
    for line in text.lines() {
        let ends = ["replay: ", "iteration ", "seed ", "more: "].iter().any(|end| line.starts_with(end));
        match &mut of_report {
            Some(_) if ends => of_report = None,
            Some(shown) if *shown >= FIRST_LINES => continue,
            Some(shown) => *shown += 1,
            None if is_headline(line) => of_report = Some(1),
            None => {}
        }
        brief.push_str(line);
        brief.push('\n');
        if of_report == Some(FIRST_LINES) {
            brief.push_str("[…]\n");
        }
    }
    brief
}

const FIRST_LINES: usize = 1;

/// `DEADLOCK in test "…`
fn is_headline(line: &str) -> bool {
    line.split_once(" in test \"").is_some_and(|(kind, _)| kind.chars().all(|c| c.is_uppercase() || c == ' '))
}
