//! JSON lines: one event a line, the first line may describe the file.
//!
//! ```text
//! {"meta":{"model":"cas-register","init":0,"expect":"ok"}}
//! {"process":0,"type":"invoke","f":"write","value":3,"time":17}
//! {"process":0,"type":"ok","f":"write","value":3,"time":21}
//! ```
//!
//! `key`, `value` and `time` can be left out, other fields are passed over. A `process` that is a string is no
//! client but, say, a nemesis: its lines are [notes](super::Note).

mod grammar;

use std::io::{self, BufRead, Read, Write};
use std::marker::PhantomData;

use serde::de::DeserializeSeed;

use self::grammar::JsonGrammar;
use super::line::Line;
use super::parse::Parser;
use super::{BYTE_ORDER_MARK, Entry, Log, ReadError, Records, Syntax};
use crate::history::{Event, Value};

/// A line longer than this is an error, so that a file without line ends cannot fill the memory.
const LONGEST_LINE: u64 = 16 << 20;

/// Reads JSON lines from anything that can be read, one line at a time.
///
/// After an error it continues with the next line; after an error of the source it ends.
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
        if self.line == 1 && self.buffer.starts_with(&BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(read > 0)
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn text(&self) -> (&[u8], Syntax) {
        (&self.buffer, Syntax::Json)
    }

    fn form<'de, S: DeserializeSeed<'de>>(&'de self, seed: S) -> Result<Option<S::Value>, ReadError> {
        Parser::<JsonGrammar>::new(&self.buffer).whole(seed).map_err(|error| ReadError {
            line: self.line,
            column: Some(error.at.min(self.buffer.len()) as u64 + 1),
            reason: error.reason,
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
