//! Small transactional histories, written down and made up.

use std::fmt::Write;

use drawloom_check::transactions::Transactions;

/// Splitmix64: the same numbers everywhere.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// How a transaction of a test ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Ok,
    Fail,
    Info,
}

/// What a transaction of a test does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    Write(usize, i64),
    Append(usize, i64),
    /// A register; 0 is the initial value.
    Read(usize, i64),
    ReadList(usize, Vec<i64>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Txn {
    pub session: usize,
    pub end: End,
    pub ops: Vec<Op>,
}

pub fn value(ops: &[Op]) -> String {
    let ops: Vec<String> = ops
        .iter()
        .map(|op| match op {
            Op::Write(key, value) => format!("[\"w\",{key},{value}]"),
            Op::Append(key, value) => format!("[\"append\",{key},{value}]"),
            Op::Read(key, 0) => format!("[\"r\",{key},null]"),
            Op::Read(key, value) => format!("[\"r\",{key},{value}]"),
            Op::ReadList(key, list) => format!("[\"r\",{key},{list:?}]"),
        })
        .collect();
    format!("[{}]", ops.join(","))
}

/// A file without calls: sessions are known, real time is not.
pub fn without_calls(txns: &[Txn]) -> String {
    let mut text = String::new();
    for txn in txns {
        line(&mut text, txn.session, word(txn.end), &txn.ops);
    }
    text
}

pub fn line(text: &mut String, process: usize, word: &str, ops: &[Op]) {
    let _ = writeln!(text, "{{\"process\":{process},\"type\":\"{word}\",\"f\":\"txn\",\"value\":{}}}", value(ops));
}

pub fn word(end: End) -> &'static str {
    match end {
        End::Ok => "ok",
        End::Fail => "fail",
        End::Info => "info",
    }
}

pub fn parse(text: &str) -> Transactions {
    Transactions::from_jsonl(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}
