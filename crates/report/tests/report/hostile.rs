//! Trace files of a stranger: whatever is in them, nothing panics or hangs, nothing steers the terminal, no file from
//! outside is shown, and nothing foreign is a line to paste.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use drawloom_report::{
    Knowledge, PageOptions, Record, RenderOptions, Shown, SourceFiles, explain, is_printable, markdown, page, render,
};
use serde_json::{Value, json};

use crate::screens::{data_race, livelock, lost_wakeup, panic, producer_consumer, two_locks};

/// What stands in files that no trace may show.
const SECRET: &str = "the-secret-of-this-machine";
/// Files that are mutated in a run; `DRAWLOOM_FUZZ` says otherwise.
const FILES: u64 = 1_500;
/// For all of them: far more than they need.
const LIMIT: Duration = Duration::from_secs(600);

const TEXTS: [&str; 24] = [
    "",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;cm0gLXJmIH4=\u{1b}\\",
    "\u{9b}31m\u{90}\u{9d}",
    "\u{202e}gnp.exe\u{2066}\u{200f}\u{61c}",
    "\u{0}\u{8}\u{7f}\u{85}\u{2028}\u{feff}\u{e0041}",
    "x\nreplay: rm -rf ~\nPANIC",
    "x\r\nok\r",
    "x; rm -rf ~ #",
    "$(id)`id`'\"\\",
    "</script><script>alert(1)</script><!--",
    "| a | ``` ![](http://x) [y](z)",
    "/etc/passwd",
    "../outside/secret.rs",
    "link.rs",
    "clock",
    "0",
    "0.1",
    "18446744073709551615",
    "-1",
    "deadlock",
    "nothing explored",
    "unlock",
    "ä日本👩‍💻",
];

/// A source of chance that is the same everywhere.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A folder with a project, and a secret beside it that only a link, a `..` or an absolute path leads to.
struct Machine {
    folder: PathBuf,
    sources: SourceFiles,
}

impl Machine {
    fn new(name: &str) -> Machine {
        let folder = std::env::temp_dir().join(format!("drawloom-hostile-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let (project, outside) = (folder.join("project"), folder.join("outside"));
        let source: String = (1..40).map(|n| format!("    let x{n} = y.lock(); \u{1b}]0;\u{7} \u{202e}\n")).collect();
        for (file, text) in [(project.join("src/x.rs"), source.as_str()), (outside.join("secret.rs"), SECRET)] {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        }
        std::fs::write(project.join(".env"), SECRET).expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.join("secret.rs"), project.join("link.rs")).expect("a link");
        Machine { sources: SourceFiles::below([&project], []), folder }
    }

    fn secret(&self) -> String {
        self.folder.join("outside/secret.rs").display().to_string()
    }

    /// Everything that is shown of a trace file, if it can be read; checked.
    fn show(&self, text: &str) -> Option<String> {
        let sources = |file: &str| self.sources.read(file);
        let mut record = match Record::read(text) {
            Ok(record) => record,
            Err(error) => {
                check(&drawloom_report::printable_lines(&error.to_string()), false);
                return None;
            }
        };
        let mut all = self.rendered(&record);
        if let Some(explanation) = explain(&record, &Knowledge::default(), &sources) {
            record.explained(explanation);
            all.push_str(&self.rendered(&record));
        }
        assert!(!all.contains(SECRET), "a secret is shown");
        Some(all)
    }

    fn rendered(&self, record: &Record) -> String {
        let sources = |file: &str| self.sources.read(file);
        let options = RenderOptions { sources: &sources, trace_file: Some("a\u{1b}b"), ..RenderOptions::default() };
        let plain = render(record, &options);
        check(&plain, false);
        for line in plain.lines().filter_map(|line| line.strip_prefix("replay: ")) {
            let fits =
                ["DRAWLOOM_REPLAY='dl1", "drawloom replay dl1", "drawloom replay --tokio dl1", "drawloom.explore("];
            assert!(fits.iter().any(|begin| line.starts_with(begin)), "a line to paste: {line}");
            assert!(!line.contains("rm -rf") && !line.contains("$("), "a line to paste: {line}");
        }
        check(&render(record, &RenderOptions { colour: true, ..options }), true);
        let markdown = markdown(record, &sources).unwrap_or_default();
        check(&markdown, false);
        let foreign = outside_of_code(&markdown);
        assert!(!foreign.contains("![](") && !foreign.contains("[y]("), "an image from elsewhere: {foreign}");
        let html =
            page(&[Shown { label: "failing", record }], &PageOptions { sources: &sources, ..PageOptions::default() });
        check(&html, false);
        assert_eq!(html.matches("</script").count(), 2, "the data has ended its element");
        plain + &markdown + &html
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Nothing but lines, tabs and our own colours steers whoever shows it.
fn check(text: &str, colours: bool) {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !is_printable(c) && !matches!(c, '\n' | '\t')) {
        rest = &rest[at..];
        let ours =
            ["\u{1b}[1;31m", "\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"].into_iter().find(|ink| rest.starts_with(ink));
        let task = (32..=36).map(|code| format!("\u{1b}[{code}m")).find(|ink| rest.starts_with(ink.as_str()));
        let ours = ours.map(str::len).or(task.map(|task| task.len())).filter(|_| colours);
        let shown: String = rest.chars().take(40).collect();
        rest = &rest[ours.unwrap_or_else(|| panic!("a character that steers: {shown:?}"))..];
    }
}

/// Markdown without its blocks and spans of code, and without what is escaped.
fn outside_of_code(markdown: &str) -> String {
    let mut fence: Option<String> = None;
    let mut outside = String::new();
    for line in markdown.lines() {
        let ticks: String = line.trim_start().chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line.trim() == open.as_str() => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => outside.extend(line.replace("\\`", "").replace("\\[", "").split('`').step_by(2).chain(["\n"])),
        }
    }
    outside
}

/// Records of every kind, as they are and explained.
fn seeds() -> Vec<Value> {
    let records = [panic(), producer_consumer(), two_locks(0), lost_wakeup(), livelock(), data_race(vec![], vec![])];
    let sources = |_: &str| None;
    let mut seeds = Vec::new();
    for mut record in records {
        seeds.push(serde_json::from_str(&record.write()).expect("JSON"));
        if let Some(explanation) = explain(&record, &Knowledge::default(), &sources) {
            record.explained(explanation);
            seeds.push(serde_json::from_str(&record.write()).expect("JSON"));
        }
    }
    seeds
}

/// How many values there are in `value`, itself included.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(all) => all.values().map(size).sum::<usize>(),
        _ => 0,
    }
}

/// The `n`th value in `value`.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(all) => all.iter_mut().find_map(|value| nth(value, n)),
        Value::Object(all) => all.values_mut().find_map(|value| nth(value, n)),
        _ => None,
    }
}

fn mutate(value: &mut Value, chance: &mut Chance, secret: &str) {
    let mut at = chance.below(size(value));
    let Some(value) = nth(value, &mut at) else { return };
    let numbers =
        [0, 1, 2, 255, 65_535, 65_536, 1 << 31, u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 53, u64::MAX - 1];
    match chance.below(40) {
        0 => *value = Value::Null,
        1 => *value = json!(*chance.of(&numbers)),
        2 => *value = json!(u64::MAX),
        3 => *value = json!(*chance.of(&[-1i64, i64::MIN, 1_000_000])),
        4 => *value = json!(1e308),
        5 => *value = json!(*chance.of(&TEXTS)),
        6 => *value = json!(secret),
        7 => (0..chance.below(200)).for_each(|_| *value = json!([value.take()])),
        _ => match value {
            Value::String(text) if chance.below(8) == 0 => *text = secret.to_owned(),
            Value::String(text) => *text = (*chance.of(&TEXTS)).to_owned(),
            Value::Number(number) => {
                let known = number.as_u64().unwrap_or(0);
                let near = [known.wrapping_add(1), known.wrapping_sub(1), known / 2, *chance.of(&numbers)];
                *value = json!(*chance.of(&near));
            }
            Value::Bool(known) => *known = !*known,
            Value::Array(all) if !all.is_empty() => {
                let (one, other) = (chance.below(all.len()), chance.below(all.len()));
                match chance.below(4) {
                    0 => drop(all.remove(one)),
                    1 => all.swap(one, other),
                    2 => all.push(all[one].clone()),
                    _ => (0..chance.below(60)).for_each(|_| all.insert(one, all[one].clone())),
                }
            }
            Value::Object(all) if !all.is_empty() => {
                let key = chance.of(&all.keys().cloned().collect::<Vec<_>>()).clone();
                match chance.below(12) {
                    0 => drop(all.remove(&key)),
                    1 => drop(all.insert(key, json!(*chance.of(&TEXTS)))),
                    _ => drop(all.insert((*chance.of(&TEXTS)).to_owned(), json!(1))),
                }
            }
            other => *other = json!({}),
        },
    }
}

/// Mutated bytes: cut, doubled, changed; the text may be none of JSON any more.
fn scramble(text: &str, chance: &mut Chance) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=chance.below(3) {
        let at = chance.below(bytes.len());
        match chance.below(4) {
            0 => bytes.truncate(at),
            1 => bytes[at] = *chance.of(b"0919\"{}[],:-e\\n\x1b\x00\xff"),
            2 => drop(bytes.remove(at)),
            _ => bytes.insert(at, *chance.of(b"0919\"{}[],:-e\\n")),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs `what` in a thread of its own, and fails if it takes longer than [`LIMIT`].
fn within_the_limit(what: impl FnOnce() + Send + 'static) {
    let (done, end) = channel();
    let running = std::thread::spawn(move || {
        what();
        done.send(()).expect("somebody waits");
    });
    match end.recv_timeout(LIMIT) {
        Ok(()) => {}
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
            running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it takes longer than {LIMIT:?}"),
    }
}

#[test]
fn mutated_trace_files_are_shown_or_refused() {
    within_the_limit(|| {
        let files = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(FILES);
        let machine = Machine::new("fuzz");
        let (secret, seeds) = (machine.secret(), seeds());
        let (mut shown, mut failed) = (0, Vec::new());
        for number in 1..=files {
            let mut chance = Chance(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut value = chance.of(&seeds).clone();
            (0..=chance.below(3)).for_each(|_| mutate(&mut value, &mut chance, &secret));
            let mut text = value.to_string();
            if chance.below(8) == 0 {
                text = scramble(&text, &mut chance);
            }
            let result = catch_unwind(std::panic::AssertUnwindSafe(|| machine.show(&text)));
            match result {
                Ok(whole) => shown += u64::from(whole.is_some()),
                Err(panic) => {
                    let said = panic.downcast_ref::<String>().cloned();
                    let said = said.or(panic.downcast_ref::<&str>().map(|said| (*said).to_owned())).unwrap_or_default();
                    failed.push(format!("file {number}: {said}\n  {}", text.chars().take(3000).collect::<String>()));
                }
            }
        }
        println!("{files} files: {shown} shown, {} failed", failed.len());
        assert!(
            failed.is_empty(),
            "{} failed:\n{}",
            failed.len(),
            failed.iter().take(5).cloned().collect::<Vec<_>>().join("\n")
        );
        assert!(shown > files / 10, "{shown} of {files} could be read: the mutations are too rough to show anything");
    });
}
