//! The reader of JSON against serde_json: it reads the same lines, and the same values but for large numbers.

use drawloom_check::format::{Entry, JsonLines};
use serde_json::Value;

#[path = "support/rng.rs"]
mod rng;

use rng::Rng;

const ATOMS: [&str; 24] = [
    "null",
    "true",
    "false",
    "0",
    "-1",
    "12",
    "1.5",
    "-0.25",
    "1e3",
    "2E-2",
    "1e+2",
    "\"\"",
    "\"a\"",
    "\"é\"",
    "\"\\n\\t\\\\\\\"\\/\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "9223372036854775807",
    "-9223372036854775808",
    "[]",
    "{}",
    "\"😀\"",
    "\"\\b\\f\"",
    "123456789",
];

fn value(rng: &mut Rng, depth: usize) -> String {
    let space = |rng: &mut Rng| ["", "", "", " ", "\t", "  "][rng.below(6)];
    match rng.below(if depth == 0 { 4 } else { 8 }) {
        0..=3 => ATOMS[rng.below(ATOMS.len())].to_owned(),
        4 | 5 => {
            let elements: Vec<String> = (0..rng.below(4)).map(|_| value(rng, depth - 1)).collect();
            format!("[{}{}]", space(rng), elements.join(&format!("{},{}", space(rng), space(rng))))
        }
        _ => {
            let pairs: Vec<String> = (0..rng.below(4))
                .map(|at| {
                    format!(
                        "\"{}{at}\"{}:{}{}",
                        ["a", "b", "é"][rng.below(3)],
                        space(rng),
                        space(rng),
                        value(rng, depth - 1)
                    )
                })
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
    }
}

const NASTY: [&str; 26] = [
    ",", ":", "[", "]", "{", "}", "\"", "\\", "\\u", "0", "00", "-", "+", ".", "e", "E", "1", "nul", "tru", " ",
    "\u{1}", "\\ud800", "\\x", "01", "é", "\t",
];

fn mutated(rng: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..rng.below(3) {
        let at = rng.below(chars.len() + 1);
        match rng.below(3) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 => chars.truncate(at),
            _ => drop(chars.splice(at..at, NASTY[rng.below(NASTY.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

/// Whether two values are the same; serde_json reads decimals a little off, and minus zero as one.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= a.abs() * 1e-12
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Compares so many lines; says how many were read by both, and by none.
fn compare(lines: u64) -> [u32; 2] {
    let mut counts = [0; 2];
    for seed in 0..lines {
        let mut rng = Rng(seed);
        let plain = value(&mut rng, 3);
        let text = mutated(&mut rng, &plain);
        let line = format!("{{\"process\":0,\"type\":\"ok\",\"f\":\"x\",\"value\":{text}}}");
        if line.contains('\n') {
            continue;
        }
        let theirs: Result<Value, _> = serde_json::from_str(&line);
        let ours = JsonLines::new(line.as_bytes()).next().expect("a line");
        match (&ours, &theirs) {
            (Ok(Entry::Event(event)), Ok(theirs)) => {
                let shown: Value = serde_json::from_str(&event.value.to_string()).expect("a value is shown as JSON");
                assert!(same(&shown, &theirs["value"]), "{line}\n{shown}\n{theirs}");
                counts[0] += 1;
            }
            (Ok(entry), Ok(_)) => panic!("{line} is an event, not {entry:?}"),
            (Err(_), Err(_)) => counts[1] += 1,
            // Fields twice are an error here, and the range of numbers is larger.
            (Err(error), Ok(_)) => assert!(error.reason.contains("duplicate field"), "{line}: {error}"),
            (Ok(_), Err(error)) => assert!(error.to_string().contains("out of range"), "{line}: {error}"),
        }
    }
    counts
}

#[test]
fn lines_are_read_as_serde_json_reads_them() {
    let counts = compare(20_000);
    assert!(counts.iter().all(|count| *count > 2_000), "{counts:?}");
}

#[test]
#[ignore = "a million lines: run in release"]
fn a_million_lines_are_read_as_serde_json_reads_them() {
    println!("read and not: {:?}", compare(1_000_000));
}
