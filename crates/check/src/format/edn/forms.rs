//! Cuts a stream of EDN into its outermost forms, without looking into them.

use std::io::BufRead;

use crate::format::{BYTE_ORDER_MARK, ReadError};

/// A form longer than this is an error, so that a file that never closes a bracket cannot fill the memory.
const LONGEST_FORM: usize = 16 << 20;

/// Bytes that mean nothing within brackets, outside of strings and comments.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let special = b"{}[]()\"\\;\n";
    let mut at = 0;
    while at < special.len() {
        plain[special[at] as usize] = false;
        at += 1;
    }
    plain
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Nothing,
    Text,
    Comment,
}

/// The outermost forms of a stream, or the elements of its only vector.
#[derive(Debug)]
pub(super) struct Forms<B> {
    source: B,
    text: Vec<u8>,
    /// Where the form began.
    line: u64,
    column: u64,
    /// Where the stream is.
    at_line: u64,
    /// Bytes before the line that it is at, and before what is read next.
    line_start: u64,
    consumed: u64,
    /// What closes the vector around all forms.
    outer: Outer,
    /// What closes the brackets that are open in the form.
    open: Vec<u8>,
    /// Whether the rest of the line belongs to a form with an error.
    skips_line: bool,
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outer {
    NotSeen,
    None,
    ClosedBy(u8, u64),
    Closed,
}

impl<B: BufRead> Forms<B> {
    pub(super) fn new(source: B) -> Forms<B> {
        Forms {
            source,
            text: Vec::new(),
            line: 1,
            column: 1,
            at_line: 1,
            line_start: 0,
            consumed: 0,
            outer: Outer::NotSeen,
            open: Vec::new(),
            skips_line: false,
            over: false,
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn column(&self) -> u64 {
        self.column
    }

    /// Goes to the next form. Is `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.text.clear();
        if self.over {
            return Ok(false);
        }
        let (mut within, mut escaped) = (Within::Nothing, false);
        self.open.clear();
        if std::mem::take(&mut self.skips_line) {
            within = Within::Comment;
        }
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.over = true;
                    return Err(ReadError::new(self.at_line, format!("cannot be read: {error}")));
                }
            };
            if chunk.is_empty() {
                self.over = true;
                return self.at_the_end(within);
            }
            // Bytes of this chunk that belong to the form begin here.
            let mut from = if self.text.is_empty() { None } else { Some(0) };
            let mut ends_at = None;
            for (at, &byte) in chunk.iter().enumerate() {
                // Most bytes are within brackets, and none of those that matter.
                if PLAIN[byte as usize] && within == Within::Nothing && !self.open.is_empty() && !escaped {
                    continue;
                }
                if from.is_none() && within != Within::Comment {
                    match byte {
                        b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x0C => {}
                        _ if BYTE_ORDER_MARK.get(self.consumed as usize + at) == Some(&byte) => {}
                        b'[' | b'(' if self.outer == Outer::NotSeen => {
                            let closer = if byte == b'[' { b']' } else { b')' };
                            self.outer = Outer::ClosedBy(closer, self.at_line);
                        }
                        b']' | b')' if matches!(self.outer, Outer::ClosedBy(closer, _) if closer == byte) => {
                            self.outer = Outer::Closed;
                        }
                        b';' => within = Within::Comment,
                        _ => {
                            if self.outer == Outer::NotSeen {
                                self.outer = Outer::None;
                            }
                            from = Some(at);
                            let column = self.consumed + at as u64 - self.line_start + 1;
                            (self.line, self.column) = (self.at_line, column);
                        }
                    }
                }
                let mut ends = false;
                if let Some(from) = from {
                    let first = self.text.is_empty() && at == from;
                    match within {
                        _ if escaped => escaped = false,
                        Within::Text => match byte {
                            b'\\' => escaped = true,
                            b'"' => {
                                within = Within::Nothing;
                                ends = self.open.is_empty();
                            }
                            _ => {}
                        },
                        Within::Comment => {}
                        Within::Nothing => match byte {
                            b'\\' => escaped = true,
                            b'"' => within = Within::Text,
                            b';' => within = Within::Comment,
                            b'{' => self.open.push(b'}'),
                            b'[' => self.open.push(b']'),
                            b'(' => self.open.push(b')'),
                            b'}' | b']' | b')' if self.open.is_empty() => {
                                // It closes the vector around, or nothing: then it is a form of its own, and wrong.
                                if !first {
                                    ends_at = Some(at);
                                    break;
                                }
                                ends = true;
                            }
                            b'}' | b']' | b')' => {
                                // A wrong bracket ends the form, which is an error; the next line is tried again.
                                self.skips_line = self.open.pop() != Some(byte);
                                ends = self.open.is_empty() || self.skips_line;
                            }
                            b' ' | b'\t' | b'\r' | b'\n' | b',' if self.open.is_empty() => {
                                // A tag or a discard belongs to the form that follows.
                                let opening = self.text.first().copied().unwrap_or(chunk[from]);
                                if opening != b'#' {
                                    ends_at = Some(at);
                                    break;
                                }
                            }
                            _ => {}
                        },
                    }
                }
                if byte == b'\n' {
                    if within == Within::Comment {
                        within = Within::Nothing;
                    }
                    self.at_line += 1;
                    self.line_start = self.consumed + at as u64 + 1;
                }
                if ends {
                    ends_at = Some(at + 1);
                    break;
                }
            }
            let used = ends_at.unwrap_or(chunk.len());
            if let Some(from) = from {
                self.text.extend_from_slice(&chunk[from..used]);
            }
            self.source.consume(used);
            self.consumed += used as u64;
            if self.text.len() > LONGEST_FORM {
                self.over = true;
                return Err(ReadError::new(self.line, format!("the form is longer than {LONGEST_FORM} bytes")));
            }
            if ends_at.is_some() {
                if self.outer == Outer::Closed {
                    self.over = true;
                    return Err(ReadError::new(self.line, "more text after the end of the vector"));
                }
                return Ok(true);
            }
        }
    }

    fn at_the_end(&mut self, within: Within) -> Result<bool, ReadError> {
        let error = |line, column, what: &str| {
            Err(ReadError { line, column: Some(column), reason: format!("{what} is not closed when the file ends") })
        };
        if within == Within::Text {
            return error(self.line, self.column, "a string in the form that begins here");
        }
        if !self.open.is_empty() {
            return error(self.line, self.column, "the form that begins here");
        }
        if !self.text.is_empty() {
            return Ok(true);
        }
        match self.outer {
            Outer::ClosedBy(_, line) => error(line, 1, "the vector that begins here"),
            Outer::NotSeen | Outer::None | Outer::Closed => Ok(false),
        }
    }
}
