//! Tests for findings: a pytest, or a `#[drawloom::test]`, that fails if the suspected interleaving is possible.

use std::path::{Path, PathBuf};

use drawloom_analyze::{Analysis, Finding};

use crate::error::Error;

/// What a test for Python needs of its surroundings, before what is particular to the finding.
const PYTHON: &str = concat!(
    include_str!("scaffold/head.py"),
    include_str!("scaffold/stand_ins.py"),
    include_str!("scaffold/loading.py"),
    include_str!("scaffold/running.py"),
);

/// Writes a test for each finding; the files.
pub(super) fn scaffold(analyses: &[Analysis], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(folder).map_err(|error| Error::Unwritable { file: folder.to_owned(), error })?;
    let mut written = Vec::new();
    for analysis in analyses {
        for finding in &analysis.findings {
            let (name, text) = match analysis.target.language {
                "python" => (
                    format!("test_drawloom_{}.py", finding.fingerprint),
                    python(analysis, finding).unwrap_or_else(|why| format!("# No test could be written: {why}.\n")),
                ),
                _ => (format!("drawloom_{}.rs", finding.fingerprint), rust(finding)),
            };
            let file = folder.join(name);
            std::fs::write(&file, text).map_err(|error| Error::Unwritable { file: file.clone(), error })?;
            written.push(file);
        }
    }
    Ok(written)
}

/// A test of a finding in Python; why there is none, if there is none.
pub(super) fn python(analysis: &Analysis, finding: &Finding) -> Result<String, String> {
    let cancels = finding.rule == "DL009";
    let trace = &finding.evidence.trace;
    let own: Vec<_> = trace.iter().filter(|step| step.task == "Task A").collect();
    let theirs = trace.iter().find(|step| step.task == "Task B");
    if theirs.is_none() && !cancels {
        return Err("nobody comes in".to_owned());
    }
    let (first, last) = (own.first().ok_or("it has no steps")?, own.last().ok_or("it has no steps")?);
    // The functions themselves, if the window lies in one: what runs them may need more.
    let together = own.iter().all(|step| step.function == first.function);
    let name = if together { &first.function } else { &first.runs };
    let other = theirs.map_or(name, |theirs| &theirs.function);
    for name in [name, other] {
        let callable =
            !name.is_empty() && name != "main program" && name.split('.').count() <= 2 && !name.contains('<');
        if !callable {
            return Err(format!("`{name}` cannot be called from outside"));
        }
    }
    let file = std::fs::canonicalize(&analysis.target.path).map_err(|error| error.to_string())?;
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    Ok(PYTHON
        .replace("@SENTENCE@", &finding.sentence.replace('\\', "").replace("\"\"\"", ""))
        .replace("@FILE@", &quoted(&file.display().to_string()))
        .replace("@FIRST@", &quoted(name))
        .replace("@SECOND@", &quoted(other))
        .replace("@OPENS@", &first.place.line.to_string())
        .replace("@INTRUDES@", &theirs.map_or(0, |theirs| theirs.place.line).to_string())
        .replace("@CANCELS@", if cancels { "True" } else { "False" })
        .replace("@CLOSES@", &last.place.line.to_string())
        .replace("@STATE@", &quoted(&finding.state))
        .replace("@BACKEND@", if analysis.target.frameworks.contains(&"trio") { "\"trio\"" } else { "\"asyncio\"" })
        .replace(
            "@FILLED@",
            if matches!(finding.rule, "DL004" | "DL006" | "DL007" | "DL008") { "True" } else { "False" },
        )
        .replace("@NAME@", &finding.fingerprint))
}

/// A test of a finding in Rust: a model of its window, to be replaced by the calls themselves.
fn rust(finding: &Finding) -> String {
    let steps: String = finding
        .evidence
        .trace
        .iter()
        .map(|step| format!("//   [{}] {}. {} ({}: {})\n", step.task, step.n, step.text, step.place, step.source))
        .collect();
    format!(
        "// {rule} {title}: {sentence}.\n//\n{steps}//\n// This models the window. Put the calls of `{function}` in place of `step`: the test passes when the window is closed.\n\
use drawloom::sync::Arc;\nuse drawloom::sync::atomic::{{AtomicU32, Ordering}};\nuse drawloom::thread;\n\n\
fn step(state: &AtomicU32) {{\n    let seen = state.load(Ordering::SeqCst);\n    state.store(seen + 1, Ordering::SeqCst);\n}}\n\n\
#[drawloom::test]\nfn nobody_comes_in_between() {{\n    let state = Arc::new(AtomicU32::new(0));\n    let theirs = state.clone();\n    let other = thread::spawn(move || step(&theirs));\n    step(&state);\n    other.join().unwrap();\n    assert_eq!(state.load(Ordering::SeqCst), 2);\n}}\n",
        rule = finding.rule,
        title = finding.title,
        sentence = finding.sentence,
        function = finding.function,
    )
}
