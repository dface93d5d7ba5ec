//! Lines to paste: made from checked parts only.
//!
//! Who reads a report pastes its last line into a shell. The parts of that line are in the trace file, which somebody else
//! may have written, so none of them is taken over as it stands: a token has the letters of a token, a command is one that
//! we know, and the name of a test is quoted. Where a part is something else, a line without it is shown, or none.

use drawloom_engine::config::ENV_REPLAY;

use crate::record::{Meta, Record};

/// The commands that take a token, with which drawloom has tests run by somebody else than plain cargo.
const COMMANDS: [&str; 2] = ["drawloom replay", "drawloom replay --tokio"];

/// A longer token is not printed: what nobody can read or copy is replayed by the name of its trace file.
const LONGEST_TOKEN: usize = 1000;

/// Whether a token is short enough to be printed in a line to paste.
pub fn fits_a_line(token: &str) -> bool {
    token.len() <= LONGEST_TOKEN
}

/// The line that replays a finding by the command line: by its token, or where that is too long by its trace file.
pub fn replay_by_command(command: Option<&str>, token: &str, trace: Option<&str>) -> String {
    let what = match trace {
        Some(trace) if !fits_a_line(token) => quoted(trace),
        _ => token.to_owned(),
    };
    format!("{} {what}", replay_command(command))
}

/// The known command that `given` is; the first one if none is given or it is another.
pub fn replay_command(given: Option<&str>) -> &'static str {
    given.and_then(known_command).unwrap_or(COMMANDS[0])
}

fn known_command(given: &str) -> Option<&'static str> {
    COMMANDS.into_iter().find(|known| *known == given)
}

/// Whether `text` has the form of a replay token, and so nothing that a shell would take for something else.
pub fn is_token(text: &str) -> bool {
    let rest = text.strip_prefix("dl1");
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
}

/// The same with what may follow a token: names of what its steps are about, which stand in quotes.
fn is_quotable_token(text: &str) -> bool {
    let (token, names) = text.split_once('~').unwrap_or((text, ""));
    let inside_quotes = |c: char| crate::printable::is_printable(c) && !matches!(c, '\'' | '"' | '`' | '\\');
    is_token(token) && names.chars().all(inside_quotes)
}

/// The line to paste that replays a record, wherever it is kept; none if it cannot be replayed by one.
pub fn replay_without_file(record: &Record) -> Option<String> {
    replay_line(record, None)
}

/// The line to paste that replays the execution, if it can be replayed; `trace` is the file that it is kept in.
pub(crate) fn replay_line(record: &Record, trace: Option<&str>) -> Option<String> {
    let Meta { token, replay_with, language, command, test, own, .. } = &record.meta;
    let known = |command: &str| if *own { as_words(command) } else { (language.replay.command)(command) };
    if !is_quotable_token(token) {
        return None;
    }
    if !fits_a_line(token) && language.replay.takes_files {
        let command = replay_with.as_deref().and_then(known_command);
        return Some(match (trace, command) {
            (Some(trace), Some(command)) => format!("{command} {}", quoted(trace)),
            (Some(trace), None) => (language.replay.line)(&record.meta, &quoted(trace)),
            (None, command) => format!("{} {}", command.unwrap_or(COMMANDS[0]), quoted(test)),
        });
    }
    if let Some(command) = replay_with.as_deref().and_then(known_command).filter(|_| is_token(token)) {
        return Some(format!("{command} {token}"));
    }
    Some(match command.as_deref().and_then(known) {
        Some(command) => format!("{ENV_REPLAY}='{token}' {command}"),
        None => (language.replay.line)(&record.meta, &format!("'{token}'")),
    })
}

/// A command that was given to this process, if it has nothing in it but words.
fn as_words(command: &str) -> Option<String> {
    words(command).map(|words| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// The words of a command in which every word is plain or in single quotes, as `shlex.quote` writes it; none of any other.
pub(crate) fn words(command: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut rest = command;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let word = words.last_mut()?;
        match c {
            ' ' => words.push(String::new()),
            // A single quote within single quotes is written as `'"'"'`.
            '\'' | '"' => {
                let (inside, after) = rest.split_once(c)?;
                if c == '"' && inside != "'" {
                    return None;
                }
                word.push_str(inside);
                rest = after;
            }
            c if is_plain(c) => word.push(c),
            _ => return None,
        }
    }
    Some(words)
}

/// What no shell takes for something else.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c)
}

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let shown = crate::printable::printable(word);
    format!("'{}'", shown.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::PYTHON;
    use crate::record::TestTarget;

    fn line(meta: Meta) -> Option<String> {
        let engine = drawloom_engine::Engine::new();
        let kind = drawloom_engine::finding::FindingKind::NothingExplored;
        let finding = drawloom_engine::finding::Finding { kind, task: drawloom_engine::TaskId::MAIN, step: 0 };
        let meta = Meta { token: if meta.token.is_empty() { "dl1AbC-d_9".into() } else { meta.token }, ..meta };
        replay_line(&Record::of(&engine, &finding, meta, &|_| None), Some("target/drawloom/it's.json"))
    }

    #[test]
    fn the_package_and_the_target_are_named_if_cargo_could_know_them() {
        let of = |package: &str, target| {
            let (test, package) = ("bank::tests::transfer".into(), Some(package.into()));
            let line = line(Meta { test, package, target, ..Meta::default() }).expect("a line");
            line.strip_prefix("DRAWLOOM_REPLAY='dl1AbC-d_9' ").expect("the token first").to_owned()
        };
        assert_eq!(of("my-bank", Some(TestTarget::Lib)), "cargo test -p my-bank --lib -- --exact tests::transfer");
        let named = |name: &str| Some(TestTarget::Test(name.into()));
        assert_eq!(of("bank", named("it-all")), "cargo test -p bank --test it-all -- --exact tests::transfer");
        assert_eq!(of("bank", named("x; reboot")), "cargo test -p bank -- --exact tests::transfer");
        assert_eq!(of("bank", None), "cargo test -p bank -- --exact tests::transfer");
        for foreign in ["--config=x", "a b", "$(id)", "", "-p"] {
            assert_eq!(of(foreign, Some(TestTarget::Lib)), "cargo test -- --exact tests::transfer", "{foreign}");
        }
    }

    #[test]
    fn a_token_that_nobody_could_copy_is_replayed_by_its_file_or_its_test() {
        let long =
            || Meta { token: format!("dl1{}", "A".repeat(5000)), test: "bank::transfer".into(), ..Meta::default() };
        let file = r#"'target/drawloom/it'"'"'s.json'"#;
        assert_eq!(line(long()), Some(format!("DRAWLOOM_REPLAY={file} cargo test -- --exact transfer")));
        let tokio = Meta { replay_with: Some("drawloom replay --tokio".into()), ..long() };
        assert_eq!(line(tokio), Some(format!("drawloom replay --tokio {file}")));
        let engine = drawloom_engine::Engine::new();
        let kind = drawloom_engine::finding::FindingKind::NothingExplored;
        let finding = drawloom_engine::finding::Finding { kind, task: drawloom_engine::TaskId::MAIN, step: 0 };
        let record = Record::of(&engine, &finding, long(), &|_| None);
        assert_eq!(replay_line(&record, None).as_deref(), Some("drawloom replay bank::transfer"));
        assert_eq!(replay_by_command(None, "dl1A", Some("x.json")), "drawloom replay dl1A");
        assert_eq!(replay_by_command(None, &long().token, Some("x.json")), "drawloom replay x.json");
    }

    #[test]
    fn no_part_of_a_line_to_paste_is_taken_over_unchecked() {
        let plain = Some("DRAWLOOM_REPLAY='dl1AbC-d_9' cargo test -- --exact transfer".to_owned());
        let test = || Meta { test: "bank::transfer".into(), ..Meta::default() };
        assert_eq!(line(test()), plain);
        for foreign in ["x; rm -rf ~ #", "drawloom replay --tokio;", "drawloom  replay", "", "$(reboot)"] {
            assert_eq!(line(Meta { replay_with: Some(foreign.into()), ..test() }), plain, "{foreign}");
            assert_eq!(line(Meta { command: Some(foreign.into()), ..test() }), plain, "{foreign}");
        }
        let tokio = Meta { replay_with: Some("drawloom replay --tokio".into()), ..test() };
        assert_eq!(line(tokio).as_deref(), Some("drawloom replay --tokio dl1AbC-d_9"));
        let python = Meta { token: "dl1Ab~1000;x,y;a b;$(id);;".into(), language: PYTHON, ..Meta::default() };
        assert_eq!(line(python).as_deref(), Some("drawloom.explore(…, replay=\"dl1Ab~1000;x,y;a b;$(id);;\")"));
        for token in ["dl1Ab~'; id #", "dl1Ab~\"", "dl1Ab~\\", "dl1Ab~\n"] {
            assert_eq!(line(Meta { token: token.into(), ..test() }), None, "{token}");
        }
        for token in ["dl1'; rm -rf ~ #", "x", "dl1 a", "dl1\n", "dl1é"] {
            assert_eq!(line(Meta { token: token.into(), ..test() }), None, "{token}");
        }
        let named = line(Meta { test: "bank::a; rm -rf ~".into(), ..Meta::default() });
        assert_eq!(named.as_deref(), Some("DRAWLOOM_REPLAY='dl1AbC-d_9' cargo test"));
    }

    #[test]
    fn a_test_of_pytest_is_quoted_and_nothing_else_is_run_by_python() {
        let python = |command: &str| {
            let meta = Meta { language: PYTHON, command: Some(command.into()), ..Meta::default() };
            line(meta).expect("a line")
        };
        let unknown = "drawloom.explore(…, replay=\"dl1AbC-d_9\")";
        for (command, wanted) in [
            ("python -m pytest tests/test_a.py::test_b", Some("python -m pytest tests/test_a.py::test_b")),
            ("python -m pytest 'test_a.py::test_b[x y]'", Some("python -m pytest 'test_a.py::test_b[x y]'")),
            ("python -m pytest 'test_a.py::t['\"'\"'$x]'", Some("python -m pytest 'test_a.py::t['\"'\"'$x]'")),
            ("python bank.py", Some("python bank.py")),
            ("python bank.py --drop-all", None),
            ("python -c 'import os'", None),
            ("python /tmp/evil.py", None),
            ("python ../evil.py", None),
            ("python -m pytest ../evil.py::test", None),
            ("python -m pytest -p evil.py", None),
            ("python -m pytest --rootdir=x.py", None),
            ("python -m pytest a.py::t; rm -rf ~", None),
            ("python -m pytest a.py::t `id`", None),
            ("python -m pytest 'a.py::t", None),
            ("python -m pytest \"a.py::$(id)\"", None),
            ("sh evil.py", None),
        ] {
            let wanted = wanted.map_or(unknown.to_owned(), |line| format!("DRAWLOOM_REPLAY='dl1AbC-d_9' {line}"));
            assert_eq!(python(command), wanted, "{command}");
        }
    }
}
