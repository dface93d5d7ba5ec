//! Transactional histories of a simulated serializable store, the same for the same seed.

use std::fmt::Write;

/// Splitmix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

/// What a history is like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub lists: bool,
    pub txns: u64,
    pub sessions: u64,
    pub keys: u64,
    /// Micro-operations of a transaction, on average.
    pub ops: u64,
    pub seed: u64,
}

/// How a history is written down.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON lines: ends only.
    Ends,
    /// JSON lines: calls and ends, so that real time is known.
    Calls,
    /// EDN: calls and ends.
    Edn,
}

enum Op {
    Read(u64, Vec<u64>),
    Write(u64, u64),
}

/// The text of a history, and how many micro-operations it has.
pub fn text(shape: Shape, format: Format) -> (String, u64) {
    let mut rng = Rng(shape.seed);
    let mut store: Vec<Vec<u64>> = vec![Vec::new(); shape.keys as usize];
    let (mut next, mut next_of_key) = (0, vec![0; shape.keys as usize]);
    let mut text = String::new();
    let mut count = 0;
    for number in 0..shape.txns {
        let session = rng.below(shape.sessions);
        let mut ops = Vec::new();
        let mut own: Vec<(u64, Vec<u64>)> = Vec::new();
        for _ in 0..1 + rng.below(2 * shape.ops - 1) {
            let key = rng.below(shape.keys);
            let mine = own.iter().position(|(other, _)| *other == key);
            if rng.below(100) < 50 {
                let list = mine.map_or(&store[key as usize], |at| &own[at].1);
                let seen = if shape.lists { list.clone() } else { list.last().copied().into_iter().collect() };
                ops.push(Op::Read(key, seen));
            } else {
                let value = if shape.lists { &mut next_of_key[key as usize] } else { &mut next };
                *value += 1;
                let at = mine.unwrap_or_else(|| {
                    let base = if shape.lists { store[key as usize].clone() } else { Vec::new() };
                    own.push((key, base));
                    own.len() - 1
                });
                own[at].1.push(*value);
                ops.push(Op::Write(key, *value));
            }
        }
        for (key, list) in own {
            match shape.lists {
                true => store[key as usize] = list,
                false => store[key as usize] = list.last().copied().into_iter().collect(),
            }
        }
        count += ops.len() as u64;
        if format != Format::Ends {
            event(&mut text, shape, format, (session, "invoke", number * 2), &ops);
        }
        event(&mut text, shape, format, (session, "ok", number * 2 + 1), &ops);
    }
    (text, count)
}

fn event(text: &mut String, shape: Shape, format: Format, (session, word, index): (u64, &str, u64), ops: &[Op]) {
    let is_edn = format == Format::Edn;
    let (quote, end, comma) = if is_edn { (":", "", " ") } else { ("\"", "\"", ",") };
    let head = match is_edn {
        true => format!("{{:index {index}, :type :{word}, :process {session}, :f :txn, :value ["),
        false => format!("{{\"process\":{session},\"type\":\"{word}\",\"f\":\"txn\",\"value\":["),
    };
    text.push_str(&head);
    for (at, op) in ops.iter().enumerate() {
        if at > 0 {
            text.push_str(comma);
        }
        let (f, key) = match op {
            Op::Read(key, _) => ("r", key),
            Op::Write(key, _) => (if shape.lists { "append" } else { "w" }, key),
        };
        let _ = write!(text, "[{quote}{f}{end}{comma}{key}{comma}");
        match op {
            Op::Write(_, value) => {
                let _ = write!(text, "{value}");
            }
            Op::Read(..) if word == "invoke" => text.push_str(if is_edn { "nil" } else { "null" }),
            Op::Read(_, list) if shape.lists => {
                text.push('[');
                for (at, value) in list.iter().enumerate() {
                    let _ = write!(text, "{}{value}", if at == 0 { "" } else { comma });
                }
                text.push(']');
            }
            Op::Read(_, list) => match list.first() {
                Some(value) => {
                    let _ = write!(text, "{value}");
                }
                None => text.push_str(if is_edn { "nil" } else { "null" }),
            },
        }
        text.push(']');
    }
    text.push_str("]}\n");
}
