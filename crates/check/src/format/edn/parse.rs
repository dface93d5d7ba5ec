//! One form of EDN as a source of serde.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// How deep brackets may be nested, so that a hostile file cannot use up the stack.
const DEEPEST: u32 = 100;

/// Bytes that end a word.
const ENDS_WORD: [bool; 256] = {
    let mut ends = [false; 256];
    let special = b" \t\r\n,\x0C{}[]()\";";
    let mut at = 0;
    while at < special.len() {
        ends[special[at] as usize] = true;
        at += 1;
    }
    ends
};

/// What is wrong with a form, and where.
#[derive(Debug)]
pub(super) struct Error {
    /// Bytes from the beginning of the form.
    pub(super) at: usize,
    pub(super) reason: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(reason: T) -> Error {
        Error { at: usize::MAX, reason: reason.to_string() }
    }
}

type Result<T> = std::result::Result<T, Error>;

pub(super) struct Parser<'de> {
    text: &'de [u8],
    at: usize,
    depth: u32,
}

/// What can be a key or an element without brackets.
enum Scalar<'de> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'de, str>),
}

impl<'de> Parser<'de> {
    pub(super) fn new(text: &'de [u8]) -> Parser<'de> {
        Parser { text, at: 0, depth: 0 }
    }

    /// The form, which must be all of the text; `None` if there is nothing but comments.
    pub(super) fn whole<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.space()?;
        if self.at == self.text.len() {
            return Ok(None);
        }
        let result = seed.deserialize(&mut *self);
        let value = result.map_err(|error| Error { at: error.at.min(self.at), ..error })?;
        self.space()?;
        match self.at == self.text.len() {
            true => Ok(Some(value)),
            false => self.error("more text after the form"),
        }
    }

    fn error<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error { at: self.at, reason: reason.into() })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Passes over blanks, commas, comments, discarded forms and tags.
    fn space(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x0C) => self.at += 1,
                Some(b';') => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                Some(b'#') => match self.text.get(self.at + 1) {
                    Some(b'_') => {
                        self.at += 2;
                        self.nested(|parser| parser.pass())?;
                    }
                    Some(b'{' | b'"') | None => return Ok(()),
                    Some(_) => {
                        self.at += 1;
                        self.word();
                    }
                },
                _ => return Ok(()),
            }
        }
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return self.error(format!("brackets are nested more than {DEEPEST} deep"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Passes over a form.
    fn pass(&mut self) -> Result<()> {
        <de::IgnoredAny as de::Deserialize>::deserialize(&mut *self).map(|_| ())
    }

    /// Passes over what a word consists of, and returns it.
    fn word(&mut self) -> &'de [u8] {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|byte| ENDS_WORD[*byte as usize]).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn utf8(&self, bytes: &'de [u8]) -> Result<&'de str> {
        std::str::from_utf8(bytes).or_else(|_| self.error("is not UTF-8"))
    }

    fn scalar(&mut self) -> Result<Scalar<'de>> {
        match self.peek() {
            None => self.error("a value is missing"),
            Some(b'"') => self.string().map(Scalar::Text),
            Some(b'\\') => {
                // The character itself may be one that ends a word.
                let start = self.at + 1;
                self.at = (start + 1).min(self.text.len());
                self.word();
                let name = self.utf8(&self.text[start.min(self.at)..self.at])?;
                Ok(Scalar::Text(Cow::Borrowed(match name {
                    "newline" => "\n",
                    "space" => " ",
                    "tab" => "\t",
                    "return" => "\r",
                    other => other,
                })))
            }
            Some(b'}' | b']' | b')') => self.error("a bracket closes what is not open"),
            Some(first) => {
                let start = self.at;
                let word = self.word();
                if let Some(number) = short_number(word) {
                    return Ok(Scalar::Int(number));
                }
                let word = self.utf8(word)?;
                let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
                if digits.starts_with(|c: char| c.is_ascii_digit()) {
                    return Parser::number(word)
                        .ok_or_else(|| Error { at: start, reason: format!("{word} is not a number") });
                }
                Ok(match word {
                    "nil" => Scalar::Nil,
                    "true" => Scalar::Bool(true),
                    "false" => Scalar::Bool(false),
                    ":" | "#" | "" => {
                        return Err(Error { at: start, reason: format!("{:?} is not a value", char::from(first)) });
                    }
                    _ => Scalar::Text(Cow::Borrowed(word.strip_prefix(':').unwrap_or(word))),
                })
            }
        }
    }

    fn number(word: &'de str) -> Option<Scalar<'de>> {
        let plain = word.strip_suffix(['N', 'M']).unwrap_or(word);
        if let Ok(number) = plain.parse::<i64>() {
            return Some(Scalar::Int(number));
        }
        // Larger ones and ratios can only be compared, which their text does.
        let whole = plain.strip_prefix(['-', '+']).unwrap_or(plain);
        if whole.bytes().all(|byte| byte.is_ascii_digit()) || is_ratio(whole) {
            return Some(Scalar::Text(Cow::Borrowed(plain)));
        }
        plain.parse::<f64>().ok().map(Scalar::Float)
    }

    fn string(&mut self) -> Result<Cow<'de, str>> {
        let start = self.at + 1;
        let mut at = start;
        let mut owned: Option<Vec<u8>> = None;
        loop {
            let Some(&byte) = self.text.get(at) else { return self.error("a string is not closed") };
            match byte {
                b'"' => break,
                b'\\' => {
                    let so_far = owned.get_or_insert_with(|| self.text[start..at].to_vec());
                    self.at = at;
                    let escape = self.text.get(at + 1).copied();
                    at += 2;
                    match escape {
                        Some(b'n') => so_far.push(b'\n'),
                        Some(b't') => so_far.push(b'\t'),
                        Some(b'r') => so_far.push(b'\r'),
                        Some(byte @ (b'"' | b'\\' | b'/')) => so_far.push(byte),
                        Some(b'u') => {
                            let digits = self.text.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
                            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                            let Some(c) = code.and_then(char::from_u32) else {
                                return self.error("\\u needs four hexadecimal digits of a character");
                            };
                            so_far.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                            at += 4;
                        }
                        _ => return self.error("an escape in a string is not known"),
                    }
                }
                _ => {
                    if let Some(so_far) = &mut owned {
                        so_far.push(byte);
                    }
                    at += 1;
                }
            }
        }
        self.at = at + 1;
        match owned {
            None => self.utf8(&self.text[start..at]).map(Cow::Borrowed),
            Some(bytes) => String::from_utf8(bytes).map(Cow::Owned).or_else(|_| self.error("is not UTF-8")),
        }
    }

    /// Whether a list goes on; passes over what closes it.
    fn goes_on(&mut self, closer: u8) -> Result<bool> {
        self.space()?;
        match self.peek() {
            None => self.error(format!("{:?} is missing", char::from(closer))),
            Some(byte) if byte == closer => {
                self.at += 1;
                Ok(false)
            }
            Some(byte @ (b'}' | b']' | b')')) => {
                self.error(format!("{:?} where {:?} is missing", char::from(byte), char::from(closer)))
            }
            Some(_) => Ok(true),
        }
    }
}

/// A whole number without a sign that certainly fits, which is what files are full of.
fn short_number(word: &[u8]) -> Option<i64> {
    if word.is_empty() || word.len() > 18 {
        return None;
    }
    word.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn is_ratio(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('/').is_some_and(|(above, below)| digits(above) && digits(below))
}

impl<'de> de::Deserializer<'de> for &mut Parser<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.space()?;
        let closer = match (self.peek(), self.text.get(self.at + 1)) {
            (Some(b'{'), _) => {
                self.at += 1;
                return self.nested(|parser| {
                    let mut entries = Elements { parser, closer: b'}', done: false };
                    let value = visitor.visit_map(&mut entries)?;
                    entries.finish()?;
                    Ok(value)
                });
            }
            (Some(b'['), _) => b']',
            (Some(b'('), _) => b')',
            (Some(b'#'), Some(b'{')) => {
                self.at += 1;
                b'}'
            }
            _ => {
                let start = self.at;
                let visited = match self.scalar()? {
                    Scalar::Nil => visitor.visit_unit(),
                    Scalar::Bool(value) => visitor.visit_bool(value),
                    Scalar::Int(value) => visitor.visit_i64(value),
                    Scalar::Float(value) => visitor.visit_f64(value),
                    Scalar::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
                    Scalar::Text(Cow::Owned(text)) => visitor.visit_string(text),
                };
                return visited.map_err(|error: Error| Error { at: error.at.min(start), ..error });
            }
        };
        self.at += 1;
        self.nested(|parser| {
            let mut elements = Elements { parser, closer, done: false };
            let value = visitor.visit_seq(&mut elements)?;
            elements.finish()?;
            Ok(value)
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.space()?;
        let rest = &self.text[self.at..];
        if rest.starts_with(b"nil") {
            let before = self.at;
            if self.word() == b"nil" {
                return visitor.visit_none();
            }
            self.at = before;
        }
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Elements<'p, 'de> {
    parser: &'p mut Parser<'de>,
    closer: u8,
    done: bool,
}

impl Elements<'_, '_> {
    /// A visitor may have stopped before the closing bracket.
    fn finish(&mut self) -> Result<()> {
        while !self.done && self.parser.goes_on(self.closer)? {
            self.parser.pass()?;
        }
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if self.done || !self.parser.goes_on(self.closer)? {
            self.done = true;
            return Ok(None);
        }
        seed.deserialize(&mut *self.parser).map(Some)
    }
}

impl<'de> MapAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.done || !self.parser.goes_on(b'}')? {
            self.done = true;
            return Ok(None);
        }
        let parser = &mut *self.parser;
        let start = parser.at;
        let is_word = matches!(parser.peek(), Some(b':' | b'"'));
        let key = match is_word {
            true => match parser.scalar()? {
                Scalar::Text(text) => text,
                _ => return parser.error("a key is missing"),
            },
            // Numbers and collections are keys in EDN; we know them by their text.
            false => {
                parser.pass()?;
                Cow::Borrowed(parser.utf8(&parser.text[start..parser.at])?)
            }
        };
        match key {
            Cow::Borrowed(text) => seed.deserialize(BorrowedStrDeserializer::new(text)),
            Cow::Owned(text) => seed.deserialize(StringDeserializer::new(text)),
        }
        .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        if !self.parser.goes_on(b'}')? {
            self.parser.at -= 1;
            return self.parser.error("a key has no value");
        }
        seed.deserialize(&mut *self.parser)
    }
}
