//! JSON lines: one event a line, the first line may describe the file.
//!
//! ```text
//! {"meta":{"model":"cas-register","init":0,"expect":"ok"}}
//! {"process":0,"type":"invoke","f":"write","value":3,"time":17}
//! {"process":0,"type":"ok","f":"write","value":3,"time":21}
//! ```
//!
//! `key`, `value` and `time` can be left out, other fields are passed over. A `process` that is a string is no
//! client but, say, a nemesis: its lines are [notes](Note).

use std::io::{self, BufRead, Read, Write};
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Entry, Log, Note, ReadError, Records, Syntax};
use crate::history::{Event, EventKind, Process, Value};

/// A line longer than this is an error, so that a file without line ends cannot fill the memory.
const LONGEST_LINE: u64 = 16 << 20;

/// Reads JSON lines from anything that can be read, one line at a time.
///
/// After an error it goes on with the next line; after an error of the source it ends.
#[derive(Debug)]
pub struct Reader<B> {
    source: B,
    line: u64,
    buffer: Vec<u8>,
    over: bool,
}

impl<B: BufRead> Reader<B> {
    /// Reads from here on.
    pub fn new(source: B) -> Reader<B> {
        Reader { source, line: 0, buffer: Vec::new(), over: false }
    }
}

impl<B: BufRead> Records for Reader<B> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        self.line += 1;
        let broken = |line, error: io::Error| ReadError::new(line, format!("cannot be read: {error}"));
        let read = (&mut self.source).take(LONGEST_LINE).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| {
            self.over = true;
            broken(self.line, error)
        })?;
        if read as u64 == LONGEST_LINE && self.buffer.last() != Some(&b'\n') {
            self.source.skip_until(b'\n').map_err(|error| broken(self.line, error))?;
            return Err(ReadError::new(self.line, format!("is longer than {LONGEST_LINE} bytes")));
        }
        self.over = read == 0;
        Ok(read > 0)
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn text(&self) -> (&[u8], Syntax) {
        (&self.buffer, Syntax::Json)
    }

    fn form<'de, S: DeserializeSeed<'de>>(&'de self, seed: S) -> Result<Option<S::Value>, ReadError> {
        if self.buffer.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let mut source = serde_json::Deserializer::from_slice(&self.buffer);
        let value = seed.deserialize(&mut source).and_then(|value| source.end().map(|()| value));
        value.map(Some).map_err(|error| {
            // The parser sees one line only; its own line number and its repetition at the end mislead.
            let text = error.to_string();
            let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_owned();
            let column = (error.column() > 0).then_some(error.column() as u64);
            ReadError { line: self.line, column, reason }
        })
    }
}

impl<B: BufRead> Iterator for Reader<B> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.over {
            match self.advance() {
                Ok(false) => return None,
                Ok(true) => match self.form(PhantomData::<Line>) {
                    Ok(None) => {}
                    Ok(Some(line)) => return Some(line.entry(self.line)),
                    Err(error) => return Some(Err(error)),
                },
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

/// Writes a log as JSON lines, in the order of its events.
pub fn write(log: &Log, mut to: impl Write) -> io::Result<()> {
    if !log.meta.is_nil() {
        writeln!(to, "{{\"meta\":{}}}", log.meta)?;
    }
    for event in &log.events {
        let Event { process, kind, f, key, value, time, line: _ } = event;
        write!(to, "{{\"process\":{process},\"type\":\"{}\",\"f\":{}", kind.word(), Value::Text(f.clone()))?;
        if let Some(key) = key {
            write!(to, ",\"key\":{key}")?;
        }
        write!(to, ",\"value\":{value}")?;
        if let Some(time) = time {
            write!(to, ",\"time\":{time}")?;
        }
        writeln!(to, "}}")?;
    }
    Ok(())
}

/// The fields of an event, whatever the format.
#[derive(serde::Deserialize)]
pub(super) struct Line {
    meta: Option<Value>,
    process: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<String>,
    f: Option<String>,
    key: Option<Value>,
    #[serde(default)]
    value: Value,
    time: Option<i64>,
}

impl Line {
    /// What the fields say together.
    pub(super) fn entry(self, line: u64) -> Result<Entry, ReadError> {
        if let Some(meta) = self.meta {
            return Ok(Entry::Meta(meta));
        }
        let missing = |field: &str| ReadError::new(line, format!("an event needs `{field}`"));
        let word = self.kind.ok_or_else(|| missing("type"))?;
        let f = self.f.ok_or_else(|| missing("f"))?;
        let process = match self.process.ok_or_else(|| missing("process"))? {
            Value::Int(number) if number >= 0 => Process(number as u64),
            Value::Text(who) => {
                return Ok(Entry::Note(Note { who, text: format!("{f} {}", self.value), after: 0, line }));
            }
            other => return Err(ReadError::new(line, format!("`process` is {other}, not a number from 0 up"))),
        };
        let kind = EventKind::from_word(&word)
            .ok_or_else(|| ReadError::new(line, format!("`type` is {word:?}, not invoke, ok, fail or info")))?;
        Ok(Entry::Event(Event { process, kind, f, key: self.key, value: self.value, time: self.time, line }))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value).map(Value::Int).map_err(|_| E::custom(format!("{value} does not fit 64 bits with a sign")))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = access.next_element()? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = access.next_entry::<String, Value>()? {
            pairs.push((Value::Text(key), value));
        }
        Ok(Value::Map(pairs))
    }
}
