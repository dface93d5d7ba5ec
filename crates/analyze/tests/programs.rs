//! Small programs whose labels were written before the rules were tuned: each says in its first line what must be found, and marks
//! the line that must be named. The others must be silent.

use std::path::{Path, PathBuf};

use drawloom_analyze::project::analyse_all;
use drawloom_analyze::{Analysis, Confidence, Options};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn analyse(file: &Path) -> Analysis {
    analyse_all(&[file.to_owned()], Options::default(), 1, &|_| {}).remove(0)
}

/// Whether a program gets the answer that it is labelled with; why not, if not.
fn judged(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).expect("a program");
    let label = text.lines().next().and_then(|line| line.split_once("expect: ")).expect("a label").1;
    let marked: Vec<u32> =
        (1..).zip(text.lines()).filter(|(_, line)| line.contains("HERE")).map(|(at, _)| at).collect();
    let analysis = analyse(file);
    let found: Vec<_> = analysis.findings.iter().filter(|it| it.evidence.confidence >= Confidence::Medium).collect();
    let said: Vec<String> =
        found.iter().map(|it| format!("{} {} at {}", it.class.word(), it.subkind, it.act)).collect();
    if label == "clean" {
        return if found.is_empty() { Ok(()) } else { Err(format!("must be silent, says {said:?}")) };
    }
    let (class, subkind) = label.split_once(' ').unwrap_or((label, ""));
    let fits = found.iter().any(|it| {
        let named = it.evidence.trace.iter().any(|step| marked.contains(&step.place.line));
        it.class.word() == class && (subkind.is_empty() || it.subkind == subkind) && named
    });
    if fits { Ok(()) } else { Err(format!("must say {label} at {marked:?}, says {said:?}")) }
}

#[test]
fn every_program_gets_the_answer_that_it_is_labelled_with() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder().join("programs"))
        .expect("programs")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() >= 30, "there are {} programs", files.len());
    let wrong: Vec<String> = files
        .iter()
        .filter_map(|file| {
            judged(file).err().map(|why| format!("{}: {why}", file.file_name().unwrap_or_default().display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn a_keyed_cache_of_managers_shows_its_five_marks_its_window_and_both_mistakes() {
    let file = folder().join("anchor.py");
    let text = std::fs::read_to_string(&file).expect("a program");
    let analysis = analyse(&file);
    let marks: Vec<(u32, String)> = analysis
        .checkpoints
        .iter()
        .map(|point| (point.place.as_ref().expect("a place").line, point.mark.clone()))
        .collect();
    for (line, source) in (1..).zip(text.lines()) {
        if let Some((_, mark)) = source.split_once("# MARK ") {
            assert!(marks.contains(&(line, mark.to_owned())), "L{line}: {mark}, in {marks:?}");
        }
    }
    let line_of = |mark: &str| {
        (1_u32..).zip(text.lines()).find(|(_, line)| line.contains(mark)).map(|(at, _)| at).expect("a mark")
    };
    let gap = analysis.findings.iter().find(|it| it.class.word() == "atomicity-gap").expect("the gap");
    let lines: Vec<u32> = gap.evidence.trace.iter().map(|step| step.place.line).collect();
    assert_eq!(lines[0], line_of("HERE gap opens"));
    assert_eq!(lines[1], line_of("async with manager"), "the end of the manager lies in the window");
    assert!(lines.contains(&line_of("HERE gap closes")));
    assert_eq!(gap.evidence.window.from_step, 1);
    let lifetime = analysis.findings.iter().find(|it| it.class.word() == "lifetime-mismatch").expect("the lifetime");
    assert_eq!(lifetime.act.line, line_of("HERE lifetime"));
}
