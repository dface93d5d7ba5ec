//! One record as a source of serde, whatever its grammar.
//!
//! What JSON and EDN have in common is here: brackets, strings, where an error is. A [`Grammar`] says the rest. serde
//! has no sets and no exact numbers: a set travels as a newtype struct around a list, and a number that neither an `i64`
//! nor a `f64` holds as the bytes of its text. Neither format has these two otherwise.
//!
//! Errors name what stands there by its kind. The file may be somebody's, and no history: its words are not repeated.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use crate::history::Value;

/// How deep brackets may be nested, so that a hostile file cannot use up the stack.
const DEEPEST: u32 = 100;

/// What is wrong with a record, and where.
#[derive(Debug)]
pub(super) struct Error {
    /// Bytes from the beginning of the record.
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

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Error {
        let kind = match found {
            Unexpected::Bool(_) => "true or false",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) | Unexpected::Bytes(_) => "a number",
            Unexpected::Str(_) | Unexpected::Char(_) => "a word",
            Unexpected::Unit | Unexpected::Option => "null",
            Unexpected::Seq => "a list",
            Unexpected::NewtypeStruct => "a set",
            Unexpected::Map => "a map",
            _ => "something else",
        };
        Error::custom(format_args!("{kind} where {expected} is expected"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Error {
        Error::invalid_type(found, expected)
    }
}

pub(super) type Result<T> = std::result::Result<T, Error>;

/// How a format writes values.
pub(super) trait Grammar: Sized {
    /// Whether control characters may stand in strings as they are.
    const CONTROLS_IN_STRINGS: bool;

    /// Passes over what means nothing between values.
    fn space(parser: &mut Parser<'_, Self>) -> Result<()>;

    /// A value without brackets.
    fn scalar<'de>(parser: &mut Parser<'de, Self>) -> Result<Scalar<'de>>;

    /// Passes over what stands between two elements.
    fn between(parser: &mut Parser<'_, Self>) -> Result<()>;

    /// Passes over what stands between a key and its value.
    fn after_key(parser: &mut Parser<'_, Self>) -> Result<()>;

    /// What opens here, if something does; passes over it.
    fn opens(parser: &mut Parser<'_, Self>) -> Option<Brackets>;

    /// Whether a value may be a key.
    fn is_key(first: u8) -> bool;
}

/// What brackets stand around.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Brackets {
    /// A list, closed by this.
    List(u8),
    Set,
    Map,
}

/// What can be a key or an element without brackets.
pub(super) enum Scalar<'de> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Any other number, as [`Value::Number`] has it.
    Number(String),
    Text(Cow<'de, str>),
}

impl Scalar<'_> {
    pub(super) fn whole(text: &str) -> Scalar<'static> {
        match Value::whole(text) {
            Value::Number(text) => Scalar::Number(text),
            value => Scalar::Int(value.as_int().unwrap_or_default()),
        }
    }
}

/// Reads one record.
pub(super) struct Parser<'de, G> {
    pub(super) text: &'de [u8],
    pub(super) at: usize,
    depth: u32,
    grammar: PhantomData<G>,
}

impl<'de, G: Grammar> Parser<'de, G> {
    pub(super) fn new(text: &'de [u8]) -> Parser<'de, G> {
        Parser { text, at: 0, depth: 0, grammar: PhantomData }
    }

    /// The record, which must be all of the text; `None` if there is nothing but space.
    pub(super) fn whole<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        G::space(self)?;
        if self.at == self.text.len() {
            return Ok(None);
        }
        let result = seed.deserialize(&mut *self);
        let value = result.map_err(|error| Error { at: error.at.min(self.at), ..error })?;
        G::space(self)?;
        match self.at == self.text.len() {
            true => Ok(Some(value)),
            false => self.error("more text after the end"),
        }
    }

    pub(super) fn error<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error { at: self.at, reason: reason.into() })
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return self.error(format!("brackets are nested more than {DEEPEST} deep"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Passes over a value.
    pub(super) fn pass(&mut self) -> Result<()> {
        <de::IgnoredAny as de::Deserialize>::deserialize(&mut *self).map(|_| ())
    }

    pub(super) fn utf8(&self, bytes: &'de [u8]) -> Result<&'de str> {
        std::str::from_utf8(bytes).or_else(|_| self.error("the text is not UTF-8"))
    }

    /// A string, which begins here.
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>> {
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
                    let (c, length) = self.escape(at + 1)?;
                    so_far.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    at += 1 + length;
                }
                0..=0x1F if !G::CONTROLS_IN_STRINGS => {
                    self.at = at;
                    return self.error("a control character in a string");
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
            Some(bytes) => String::from_utf8(bytes).map(Cow::Owned).or_else(|_| self.error("the text is not UTF-8")),
        }
    }

    /// The character of an escape, and how many bytes it takes after the backslash.
    fn escape(&self, at: usize) -> Result<(char, usize)> {
        let c = match self.text.get(at) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'u') => {
                let unit = |at: usize| {
                    let digits = self.text.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
                    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
                };
                let low =
                    |at: usize| self.text.get(at..at + 2).filter(|next| *next == b"\\u").and_then(|_| unit(at + 2));
                // A character beyond 16 bits takes two escapes.
                let units = unit(at + 1).map(|first| (first, low(at + 5)));
                let decoded = units.and_then(|(first, second)| {
                    let mut decoded = char::decode_utf16([first].into_iter().chain(second));
                    decoded.next()?.ok()
                });
                let Some(c) = decoded else { return self.error("\\u needs four hexadecimal digits of a character") };
                return Ok((c, if c.len_utf16() == 2 { 11 } else { 5 }));
            }
            _ => return self.error("an escape in a string is not known"),
        };
        Ok((c, 1))
    }

    /// Whether a list continues; passes over what closes it.
    fn goes_on(&mut self, closer: u8, first: bool) -> Result<bool> {
        G::space(self)?;
        match self.peek() {
            None => self.error(format!("{:?} is missing", char::from(closer))),
            Some(byte) if byte == closer => {
                self.at += 1;
                Ok(false)
            }
            Some(byte @ (b'}' | b']' | b')')) => {
                self.error(format!("{:?} where {:?} is missing", char::from(byte), char::from(closer)))
            }
            Some(_) if first => Ok(true),
            Some(_) => G::between(self).map(|()| true),
        }
    }

    fn list<V: Visitor<'de>>(&mut self, closer: u8, visitor: V) -> Result<V::Value> {
        self.nested(|parser| {
            let mut elements = Elements { parser, closer, first: true, done: false };
            let value = visitor.visit_seq(&mut elements)?;
            elements.finish()?;
            Ok(value)
        })
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.nested(|parser| {
            let mut entries = Elements { parser, closer: b'}', first: true, done: false };
            let value = visitor.visit_map(&mut entries)?;
            entries.finish()?;
            Ok(value)
        })
    }

    /// The name that a key is: a word, or the text of whatever else it is, which is nobody's name.
    fn name(&mut self) -> Result<Cow<'de, str>> {
        G::space(self)?;
        let start = self.at;
        match self.peek() {
            Some(b':' | b'"') => match G::scalar(self)? {
                Scalar::Text(text) => Ok(text),
                _ => self.error("a key is missing"),
            },
            _ => {
                self.pass()?;
                self.utf8(&self.text[start..self.at]).map(Cow::Borrowed)
            }
        }
    }
}

/// A set, on its way through serde.
struct SetOf<'p, 'de, G>(&'p mut Parser<'de, G>);

impl<'de, G: Grammar> de::Deserializer<'de> for SetOf<'_, 'de, G> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.list(b'}', visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, G: Grammar> de::Deserializer<'de> for &mut Parser<'de, G> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        G::space(self)?;
        let start = self.at;
        let visited = match G::opens(self) {
            Some(Brackets::Map) => return self.map(visitor),
            Some(Brackets::List(closer)) => return self.list(closer, visitor),
            Some(Brackets::Set) => return visitor.visit_newtype_struct(SetOf(self)),
            None => match G::scalar(self)? {
                Scalar::Nil => visitor.visit_unit(),
                Scalar::Bool(value) => visitor.visit_bool(value),
                Scalar::Int(value) => visitor.visit_i64(value),
                Scalar::Float(value) => visitor.visit_f64(value),
                Scalar::Number(text) => visitor.visit_bytes(text.as_bytes()),
                Scalar::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
                Scalar::Text(Cow::Owned(text)) => visitor.visit_string(text),
            },
        };
        visited.map_err(|error: Error| Error { at: error.at.min(start), ..error })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        G::space(self)?;
        let before = self.at;
        if self.peek() == Some(b'n') {
            if let Scalar::Nil = G::scalar(self)? {
                return visitor.visit_none();
            }
            self.at = before;
        }
        visitor.visit_some(self)
    }

    /// Names of fields.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.name()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum ignored_any
    }
}

struct Elements<'p, 'de, G> {
    parser: &'p mut Parser<'de, G>,
    closer: u8,
    first: bool,
    done: bool,
}

impl<G: Grammar> Elements<'_, '_, G> {
    /// Whether there is another element, which begins here then.
    fn goes_on(&mut self) -> Result<bool> {
        let first = std::mem::take(&mut self.first);
        self.done = self.done || !self.parser.goes_on(self.closer, first)?;
        Ok(!self.done)
    }

    /// A visitor may have stopped before the closing bracket. Only those of lists do.
    fn finish(&mut self) -> Result<()> {
        while self.goes_on()? {
            self.parser.pass()?;
        }
        Ok(())
    }
}

impl<'de, G: Grammar> SeqAccess<'de> for &mut Elements<'_, 'de, G> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.goes_on()? {
            true => seed.deserialize(&mut *self.parser).map(Some),
            false => Ok(None),
        }
    }
}

impl<'de, G: Grammar> MapAccess<'de> for &mut Elements<'_, 'de, G> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.goes_on()? {
            return Ok(None);
        }
        match self.parser.peek() {
            Some(first) if G::is_key(first) => seed.deserialize(&mut *self.parser).map(Some),
            _ => self.parser.error("a key is missing"),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let parser = &mut *self.parser;
        G::space(parser)?;
        if parser.peek().is_none_or(|byte| matches!(byte, b'}' | b']' | b')')) {
            return parser.error("a key has no value");
        }
        G::after_key(parser)?;
        seed.deserialize(parser)
    }
}
