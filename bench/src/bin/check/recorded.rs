//! Porcupine's 108 recorded histories, beside the CPU time that Porcupine 55508eb took for them (Go 1.19, 2.1 GHz).

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drawloom_check::Budget;
use drawloom_check::format::{JsonLines, Log};
use drawloom_check::history::Value;
use drawloom_check::linearizable::Checker;
use drawloom_check::model::{KeyValue, Readable, Register, history_from_log};

use crate::section::{Section, best, ms};

/// CPU time of Porcupine, in milliseconds.
const PORCUPINE: [(&str, f64); 7] = [
    ("etcd", 589.0),
    ("c01-ok", 0.09),
    ("c01-bad", 0.03),
    ("c10-ok", 0.75),
    ("c10-bad", 0.54),
    ("c50-ok", 193.0),
    ("c50-bad", 13.6),
];

/// The hardest of the etcd logs, of which Porcupine's time is known.
const HARDEST: (&str, f64) = ("etcd_002", 220.0);

pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/check/tests/data");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the recorded histories are there")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

pub fn read(path: &Path) -> Log {
    let file = BufReader::new(File::open(path).expect("it can be opened"));
    Log::read(JsonLines::new(file)).expect("it can be read")
}

fn time<M: Readable>(log: &Log) -> (Duration, &'static str) {
    let model = M::from_meta(&log.meta).expect("the model is described");
    let history = history_from_log::<M>(log).expect("the history fits the model");
    let mut checker = Checker::new();
    best(|| checker.check(&model, &history, Budget::default()).word())
}

pub fn measure() -> Section {
    let mut times: Vec<(String, Duration)> = Vec::new();
    let mut wrong = 0;
    for path in files() {
        let log = read(&path);
        let text = |name: &str| log.meta.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
        let (taken, verdict) = match text("model").as_str() {
            "kv" => time::<KeyValue<Value, Value>>(&log),
            _ => time::<Register<Value>>(&log),
        };
        wrong += usize::from(verdict != text("expect"));
        times.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), taken));
    }
    let mut section = Section::new(&["histories", "Porcupine ms", "drawloom ms", "ratio"]);
    let (mut all, mut reference) = (Duration::ZERO, 0.0);
    let mut never_slower = true;
    let mut thrice = true;
    let mut etcd = 0.0;
    for (name, porcupine) in PORCUPINE {
        let sum: Duration = times.iter().filter(|(file, _)| file.starts_with(name)).map(|(_, time)| *time).sum();
        let ratio = porcupine / (sum.as_secs_f64() * 1e3);
        if name == "etcd" {
            etcd = ratio;
        } else if porcupine > 1.0 {
            never_slower &= ratio >= 1.0;
            thrice &= ratio >= 3.0;
        }
        all += sum;
        reference += porcupine;
        section.row(&[name.to_owned(), porcupine.to_string(), ms(sum), format!("{ratio:.1}×")]);
    }
    let hardest = times.iter().find(|(file, _)| file == HARDEST.0).map_or(Duration::ZERO, |(_, time)| *time);
    let ratio = HARDEST.1 / (hardest.as_secs_f64() * 1e3);
    never_slower &= ratio >= 1.0;
    thrice &= ratio >= 3.0;
    section.row(&[HARDEST.0.to_owned(), HARDEST.1.to_string(), ms(hardest), format!("{ratio:.1}×")]);
    let total = reference / (all.as_secs_f64() * 1e3);
    section.row(&["all 108".to_owned(), format!("{reference:.0}"), ms(all), format!("{total:.1}×")]);
    section.gate("verdicts that are wrong", wrong.to_string(), ("0", wrong == 0), ("0", wrong == 0));
    section.gate("all 108 together", format!("{total:.1}×"), ("10×", total >= 10.0), ("20×", total >= 20.0));
    section.gate("etcd together", format!("{etcd:.1}×"), ("100×", etcd >= 100.0), ("200×", etcd >= 200.0));
    let worst = if never_slower { "none slower" } else { "one is slower" };
    section.gate("each above 1 ms", worst.to_owned(), ("not slower", never_slower), ("3×", thrice));
    section
}
