//! What `cargo test` prints: which binary it runs, and what became of each test.

use std::path::Path;

use super::{Event, Verdict};
use crate::project::Target;

/// The executable of the line that says which one is run next.
pub(crate) fn running(line: &str) -> Option<&Path> {
    let rest = line.trim_start().strip_prefix("Running ")?;
    let (_, path) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    Some(Path::new(path))
}

/// Reads the output of `cargo test`, line by line.
pub(super) struct Reader<'a> {
    targets: &'a [Target],
    current: Option<usize>,
    /// The test whose output is being printed, and what there is of it so far.
    output: Option<(String, String)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(targets: &'a [Target]) -> Reader<'a> {
        Reader { targets, current: None, output: None }
    }

    /// What a line says, if it says something.
    pub(super) fn line(&mut self, line: &str) -> Option<Event> {
        if let Some(executable) = running(line) {
            self.current = self.targets.iter().position(|target| target.is_at(executable));
            self.output = None;
            return None;
        }
        let target = self.current?;
        let heading = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(path) = heading {
            let before = self.output.replace((path.to_owned(), String::new()));
            return before.map(|(path, output)| Event::Output { target, path, output });
        }
        if line == "failures:" || line.starts_with("test result: ") {
            let before = self.output.take();
            return before.map(|(path, output)| Event::Output { target, path, output });
        }
        if let Some((_, output)) = &mut self.output {
            output.push_str(line);
            output.push('\n');
            return None;
        }
        let (path, said) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let path = path.strip_suffix(" - should panic").unwrap_or(path).to_owned();
        let verdict = match said.split(',').next().unwrap_or_default().trim() {
            "ok" => Verdict::Passed,
            "FAILED" => Verdict::Failed,
            "ignored" => Verdict::Ignored,
            _ => return None,
        };
        Some(Event::Ended { target, path, verdict, output: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::TargetKind;

    #[test]
    fn verdicts_and_outputs_are_read_from_the_lines_of_the_harness() {
        let targets = [Target {
            package: "bank".into(),
            kind: TargetKind::Test,
            name: "accounts".into(),
            executable: "/target/debug/deps/accounts-0123".into(),
        }];
        let text = "     Running tests/accounts.rs (target/debug/deps/accounts-0123)

running 4 tests
test one ... ok
test two - should panic ... ok
test three ... ignored, it never ends
test four ... FAILED

failures:

---- four stdout ----
test one ... FAILED
failed because

failures:
    four

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let mut reader = Reader::new(&targets);
        let events: Vec<Event> = text.lines().filter_map(|line| reader.line(line)).collect();
        let ended = |path: &str, verdict| Event::Ended { target: 0, path: path.into(), verdict, output: None };
        let output = "test one ... FAILED\nfailed because\n\n".into();
        assert_eq!(
            events,
            [
                ended("one", Verdict::Passed),
                ended("two", Verdict::Passed),
                ended("three", Verdict::Ignored),
                ended("four", Verdict::Failed),
                Event::Output { target: 0, path: "four".into(), output },
            ]
        );
    }
}
