//! Jepsen's EDN: maps one after the other, or one vector of them; a map may take several lines.
//!
//! ```text
//! {:index 0, :type :invoke, :process 0, :f :write, :value 3, :time 17}
//! {:index 1, :type :ok, :process 0, :f :write, :value 3, :time 21}
//! ```
//!
//! Keywords and symbols are strings without their colon; tags such as `#jepsen.history.Op` are passed over; a
//! `:process` that is no number, such as `:nemesis`, makes a [note](super::Note). The text is read form by form
//! ([`forms`]), and a form is a serde source ([`super::parse`]), so that events of both formats are made by the same code.

mod forms;
mod grammar;

use std::io::BufRead;

use serde::de::DeserializeSeed;

use self::forms::Forms;
use self::grammar::EdnGrammar;
use super::line::Line;
use super::parse::Parser;
use super::{Entry, ReadError, Records, Syntax};

/// Reads EDN from anything that can be read, one form at a time.
///
/// After an error it continues with the next form; after an error of the source, or a form without an end, it ends.
#[derive(Debug)]
pub struct Reader<B> {
    forms: Forms<B>,
}

impl<B: BufRead> Reader<B> {
    /// Reads from here on.
    pub fn new(source: B) -> Reader<B> {
        Reader { forms: Forms::new(source) }
    }
}

impl<B: BufRead> Records for Reader<B> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.forms.advance()
    }

    fn line(&self) -> u64 {
        self.forms.line()
    }

    fn text(&self) -> (&[u8], Syntax) {
        (self.forms.text(), Syntax::Edn)
    }

    fn form<'de, S: DeserializeSeed<'de>>(&'de self, seed: S) -> Result<Option<S::Value>, ReadError> {
        let text = self.forms.text();
        let mut parser = Parser::<EdnGrammar>::new(text);
        parser.whole(seed).map_err(|error| {
            let before = &text[..error.at.min(text.len())];
            let breaks = before.iter().filter(|byte| **byte == b'\n').count() as u64;
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let indent = if breaks == 0 { self.forms.column() } else { 1 };
            ReadError {
                line: self.line() + breaks,
                column: Some((before.len() - start) as u64 + indent),
                reason: error.reason,
            }
        })
    }
}

impl<B: BufRead> Iterator for Reader<B> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance() {
                Ok(false) => return None,
                Ok(true) => {}
                Err(error) => return Some(Err(error)),
            }
            match self.form(std::marker::PhantomData::<Line>) {
                Ok(None) => {}
                Ok(Some(line)) => return Some(line.entry(self.line())),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
