//! Checks of transactions: 100,000 of them, with reading the file, beside what AWDIT and Elle were recorded to take.
//!
//! Every measurement is a process of its own, so that its peak of memory is its own, too; the least CPU time of three
//! rounds counts. AWDIT's times are those of the same shape of history on the same kind of machine, reading included;
//! Elle's figure is its authors'.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use drawloom_bench::{measure, page, table};
use drawloom_check::transactions::{Isolation, Model, Transactions, check, check_isolation};

use self::generator::{Format, Shape};

mod generator;

/// CPU milliseconds that AWDIT was recorded to take for reading and checking.
const AWDIT: [(Isolation, &str, f64); 3] = [
    (Isolation::ReadCommitted, "read committed", 273.0),
    (Isolation::ReadAtomic, "read atomic", 424.0),
    (Isolation::Causal, "causal", 2161.0),
];
/// Transactions per second: the best that is quoted of Elle, on many cores, and our own aim.
const LISTS_AT_LEAST: f64 = 160_000.0;
const LISTS_AIM: f64 = 500_000.0;
/// How much faster than AWDIT we want to be, and with how much memory.
const AIM: f64 = 3.0;
const MEMORY_AIM_MB: f64 = 100.0;
const ROUNDS: usize = 3;
const TXNS: u64 = 100_000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args[..] {
        ["--one", what, path] => return one(what, Path::new(path)),
        [] => compare(None),
        ["--write", path] => compare(Some(Path::new(path))),
        _ => Err("usage: transactions [--write FILE]".to_owned()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// What a child process measured.
struct Measured {
    read: f64,
    check: f64,
    peak_mb: f64,
}

impl Measured {
    fn total(&self) -> f64 {
        self.read + self.check
    }
}

/// Reads and checks a file in this process, and prints milliseconds and megabytes.
fn one(what: &str, path: &Path) -> ExitCode {
    let (mut read, mut judge) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let (took, history) = measure::cpu_time(|| {
            let source = BufReader::with_capacity(1 << 16, File::open(path).expect("the file was just written"));
            match path.extension().is_some_and(|extension| extension == "edn") {
                true => Transactions::from_edn(source),
                false => Transactions::from_jsonl(source),
            }
            .expect("the file is well-formed")
        });
        read = read.min(took);
        let (took, legal) = measure::cpu_time(|| match AWDIT.iter().find(|(_, name, _)| *name == what) {
            Some((level, ..)) => check_isolation(&history, *level).expect("values are distinct").is_none(),
            None => !check(&history).expect("values are distinct").ruled_out.contains(Model::StrictSerializable),
        });
        judge = judge.min(took);
        assert!(legal, "the store is serializable");
    }
    let peak = measure::peak_memory_kib().unwrap_or(0);
    println!("{} {} {peak}", read.as_secs_f64() * 1e3, judge.as_secs_f64() * 1e3);
    ExitCode::SUCCESS
}

fn measured(what: &str, path: &Path) -> Result<Measured, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(this).args(["--one", what]).arg(path).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [read, check, kib] if output.status.success() => Ok(Measured { read, check, peak_mb: kib / 1024.0 }),
        _ => Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Everything, printed; and written into a page. Is `false` if a gate is missed.
fn compare(target: Option<&Path>) -> Result<bool, String> {
    let scratch = Scratch::new()?;
    let mut text = String::new();
    let mut passed = true;
    let mut verdict = |gate: bool, line: String, text: &mut String| {
        passed &= gate;
        // What is in brackets is an aim, not a gate.
        let word = match gate {
            _ if line.starts_with('(') => "",
            true => "pass: ",
            false => "MISS: ",
        };
        text.push_str(&format!("    {word}{line}\n"));
    };

    text.push_str("### Registers: read committed, read atomic, causal\n\n");
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for keys in [100, 10_000] {
        let shape = Shape { lists: false, txns: TXNS, sessions: 50, keys, ops: 4, seed: 1 };
        let (path, ops) = scratch.write(shape, Format::Ends)?;
        for (_, name, awdit) in AWDIT {
            let measured = measured(name, &path)?;
            rows.push(vec![
                format!("{name}, {} k operations, {keys} keys", ops / 1000),
                format!("{:.0}", measured.read),
                format!("{:.0}", measured.check),
                format!("{:.0}", measured.total()),
                format!("{awdit:.0}"),
                format!("{:.1}", awdit / measured.total()),
                format!("{:.0}", measured.peak_mb),
            ]);
            let ratio = awdit / measured.total();
            lines.push((ratio >= 1.0, format!("{name}, {keys} keys: {ratio:.1} times AWDIT's speed, at least 1")));
            let aim = ratio >= AIM && measured.peak_mb < MEMORY_AIM_MB;
            if !aim {
                lines.push((true, format!("(but the aim is {AIM} times and less than {MEMORY_AIM_MB} MB)")));
            }
        }
    }
    let heading = ["100,000 transactions, 50 sessions", "read ms", "check ms", "both", "AWDIT", "times", "peak MB"];
    text.push_str(&render(&heading, &rows));
    text.push('\n');
    lines.into_iter().for_each(|(gate, line)| verdict(gate, line, &mut text));

    text.push_str("\n### Lists: all anomalies and levels\n\n");
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (name, keys, format) in [
        ("32 appends a key", 6_250, Format::Ends),
        ("32 appends a key, calls", 6_250, Format::Calls),
        ("32 appends a key, calls, EDN", 6_250, Format::Edn),
        ("100 appends a key, calls", 2_000, Format::Calls),
    ] {
        let shape = Shape { lists: true, txns: TXNS, sessions: 50, keys, ops: 4, seed: 1 };
        let (path, _) = scratch.write(shape, format)?;
        let measured = measured("lists", &path)?;
        let per_second = TXNS as f64 / measured.total() * 1e3;
        rows.push(vec![
            name.to_owned(),
            format!("{:.0}", measured.read),
            format!("{:.0}", measured.check),
            format!("{:.0}", measured.total()),
            format!("{:.0}", per_second / 1e3),
            format!("{:.0}", measured.peak_mb),
        ]);
        let line = format!("{name}: {:.0} k per second, at least {:.0} k", per_second / 1e3, LISTS_AT_LEAST / 1e3);
        lines.push((per_second >= LISTS_AT_LEAST, line));
        if per_second < LISTS_AIM {
            lines.push((true, format!("(but the aim is {:.0} k per second)", LISTS_AIM / 1e3)));
        }
    }
    let heading = ["100,000 transactions, 50 sessions", "read ms", "check ms", "both", "k txn/s", "peak MB"];
    text.push_str(&render(&heading, &rows));
    text.push('\n');
    lines.into_iter().for_each(|(gate, line)| verdict(gate, line, &mut text));

    println!("{text}");
    if let Some(path) = target {
        page::write_part(path, "transactions", &text)?;
    }
    Ok(passed)
}

fn render(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    table::render(&heading, rows)
}

/// A folder of files that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("drawloom-transactions-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Scratch(path))
    }

    fn write(&self, shape: Shape, format: Format) -> Result<(PathBuf, u64), String> {
        let (text, ops) = generator::text(shape, format);
        let path = self.0.join(if format == Format::Edn { "history.edn" } else { "history.jsonl" });
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        Ok((path, ops))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
