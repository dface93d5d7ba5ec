//! Histories that were recorded from real systems, with known verdicts (`tests/data`, from Porcupine).

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use drawloom_check::format::{JsonLines, Log};
use drawloom_check::history::Value;
use drawloom_check::linearizable;
use drawloom_check::model::{KeyValue, Readable, Register, history_from_log};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> Log {
    let file = BufReader::new(File::open(path).expect("it can be opened"));
    Log::read(JsonLines::new(file)).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()))
}

fn verdict<M: Readable>(log: &Log) -> &'static str {
    let model = M::from_meta(&log.meta).expect("the first line describes the model");
    let history = history_from_log::<M>(log).unwrap_or_else(|errors| panic!("{errors}"));
    linearizable::check(&model, &history).word()
}

#[test]
fn all_108_recorded_histories_get_the_known_verdict() {
    let files = files();
    assert_eq!(files.len(), 108);
    for path in files {
        let log = read(&path);
        let text = |name: &str| log.meta.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
        let given = match text("model").as_str() {
            "casreg" => verdict::<Register<Value>>(&log),
            "kv" => verdict::<KeyValue<Value, Value>>(&log),
            other => panic!("{} is for the model {other}", path.display()),
        };
        assert_eq!(given, text("expect"), "{}", path.display());
    }
}

#[test]
fn written_logs_are_read_back_unchanged() {
    for path in files().into_iter().step_by(20) {
        let log = read(&path);
        let mut written = Vec::new();
        drawloom_check::format::write_jsonl(&log, &mut written).expect("a vector takes everything");
        assert_eq!(Log::read(JsonLines::new(written.as_slice())), Ok(log), "{}", path.display());
    }
}
