//! Files that are not what they should be: every error names its line, and nothing panics. A hundred thousand mutations
//! with `cargo test --release -p drawloom-check --test corrupt -- --ignored`.

use std::path::Path;

use drawloom_check::format::{JsonLines, Log, ReadError};
use drawloom_check::history::Value;
use drawloom_check::model::{FifoQueue, KeyValue, Mutex, Readable, Register, Set, history_from_log};

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).expect("it is there")
}

#[path = "support/rng.rs"]
mod rng;

use rng::Rng;

const NASTY: [&[u8]; 16] = [
    b"\n",
    b"\r",
    b"{",
    b"}",
    b"[",
    b"\"",
    b"\\u",
    b"\xff\xfe",
    b"null",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"invoke",
    b"\0",
    b",",
    b"{\"meta\":3}",
];

fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len());
        match rng.below(6) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            2 => drop(bytes.splice(at..at, NASTY[rng.below(NASTY.len())].iter().copied())),
            3 => drop(bytes.drain(at..(at + 1 + rng.below(40)).min(bytes.len()))),
            4 => {
                // A line twice, or one out of order.
                let lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                if !lines.is_empty() {
                    let line = lines[rng.below(lines.len())].clone();
                    let start = lines[..rng.below(lines.len())].iter().map(Vec::len).sum::<usize>();
                    bytes.splice(start..start, line);
                }
            }
            _ => bytes.push(rng.below(256) as u8),
        }
        if bytes.is_empty() {
            bytes.push(b'{');
        }
    }
}

/// Reads as a model would, and looks at every error.
fn read<M: Readable>(bytes: &[u8]) -> Option<usize> {
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    let fits = |errors: &[ReadError]| {
        for error in errors {
            assert!((1..=lines).contains(&error.line), "line {} of {lines}", error.line);
            assert!(!error.reason.is_empty());
        }
    };
    let log = match Log::read(JsonLines::new(bytes)) {
        Ok(log) => log,
        Err(errors) => {
            fits(&errors.first);
            return None;
        }
    };
    let _ = M::from_meta(&log.meta);
    match history_from_log::<M>(&log) {
        Ok(history) => Some(history.len()),
        Err(errors) => {
            fits(&errors.first);
            None
        }
    }
}

fn mutations(count: u64) {
    let logs = [recorded("etcd_002.jsonl"), recorded("c01-ok.jsonl")];
    let mut survived = 0;
    for seed in 0..count {
        let mut rng = Rng(seed);
        let mut bytes = logs[rng.below(2)].clone();
        bytes.truncate(200 + rng.below(3000));
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(whole);
        mutate(&mut bytes, &mut rng);
        let read = match rng.below(5) {
            0 => read::<Register<Value>>(&bytes),
            1 => read::<KeyValue<Value, Value>>(&bytes),
            2 => read::<FifoQueue<Value>>(&bytes),
            3 => read::<Set<Value>>(&bytes),
            _ => read::<Mutex>(&bytes),
        };
        survived += u64::from(read.is_some());
    }
    eprintln!("{count} mutated files, {survived} of which could be read");
}

#[test]
fn mutated_files_give_errors_with_lines_and_never_panic() {
    mutations(1_000);
}

#[test]
#[ignore = "a hundred thousand mutations: run in release"]
fn a_hundred_thousand_mutated_files_give_errors_with_lines_and_never_panic() {
    mutations(100_000);
}

#[test]
fn a_truncated_file_of_ten_megabytes_gives_the_line_where_it_ends() {
    let mut bytes = b"{\"meta\":{\"model\":\"register\"}}\n".to_vec();
    let mut line = 1;
    while bytes.len() < 10 << 20 {
        bytes.extend_from_slice(b"{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":1,\"time\":1}\n");
        bytes.extend_from_slice(b"{\"process\":0,\"type\":\"ok\",\"f\":\"write\",\"value\":1,\"time\":2}\n");
        line += 2;
    }
    bytes.truncate(bytes.len() - 10);
    let errors = Log::read(JsonLines::new(bytes.as_slice())).unwrap_err();
    assert_eq!(errors.count, 1);
    assert_eq!(errors.to_string(), format!("line {line}, column 48: a value is missing after ','"));
}

/// The errors of a file, as they are shown.
fn errors(text: &str) -> String {
    match Log::read(JsonLines::new(text.as_bytes())) {
        Err(errors) => errors.to_string(),
        Ok(log) => history_from_log::<Register<Value>>(&log).unwrap_err().to_string(),
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let event = |process: &str, kind: &str, f: &str| format!(r#"{{"process":{process},"type":"{kind}","f":"{f}"}}"#);
    assert_eq!(errors("\n\n{\"process\":0,\"type\":\"ok\",\"f\":1}\n"), "line 3: `f` is a number, not a word");
    assert_eq!(errors("\n\n7\n"), "line 3, column 1: a number where an event, which is a map, is expected");
    assert_eq!(errors(&event("-1", "ok", "read")), "line 1: `process` is a number below 0, not a number from 0 up");
    assert_eq!(errors(&event("0", "okay", "read")), "line 1: `type` is not invoke, ok, fail or info");
    assert_eq!(errors("{\"process\":0,\"type\":\"ok\"}"), "line 1: an event needs `f`");
    assert_eq!(errors(&event("0", "ok", "read")), "line 1: process 0 ends an operation, but has none open");
    let twice = [event("0", "invoke", "read"), event("1", "invoke", "read"), event("0", "invoke", "read")].join("\n");
    assert_eq!(errors(&twice), "line 3: process 0 calls an operation, but its operation of line 1 is still open");
    assert_eq!(
        errors(&event("0", "invoke", "increment")),
        "line 1: `f` is not an operation of a register, which has read, write and cas"
    );
    let many = vec!["{"; 30].join("\n");
    assert!(errors(&many).ends_with("\n… and 10 more"), "{}", errors(&many));
}
