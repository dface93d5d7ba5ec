//! Text becomes values. Whoever wrote the text may be a stranger: nothing in it can make the reader panic, or go deeper than
//! its stack.

use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::Error;

/// How deep lists and objects may lie in each other.
const DEEPEST: u32 = 128;

/// What becomes of a text, by the key that it has.
pub(crate) type Clean = fn(Option<&str>, &str) -> Option<String>;

/// The value that `text` says.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_str_with(text, |_, _| None)
}

/// As [`from_str`], with another text for each that `clean` has one for.
pub(crate) fn from_str_with<T: DeserializeOwned>(text: &str, clean: Clean) -> Result<T, Error> {
    let mut reader = Reader { text, at: 0, depth: 0, key: None, clean };
    let read = T::deserialize(&mut reader).and_then(|value| match reader.peek() {
        None => Ok(value),
        Some(_) => Err("something comes after its end".to_owned().into()),
    });
    read.map_err(|error| Error { place: Some(reader.place()), ..error })
}

struct Reader<'de> {
    text: &'de str,
    /// So much has been read.
    at: usize,
    depth: u32,
    /// The key of the value that comes next.
    key: Option<Cow<'de, str>>,
    clean: Clean,
}

impl<'de> Reader<'de> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes on behind `byte`, if it comes next.
    fn skip(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, words: &str) -> Result<(), Error> {
        if self.skip(byte) { Ok(()) } else { Err(self.expected(words)) }
    }

    fn expected(&self, words: &str) -> Error {
        match self.at < self.text.len() {
            true => format!("expected {words}").into(),
            false => cut(words),
        }
    }

    /// Line and column of what was read last.
    fn place(&self) -> (usize, usize) {
        let read = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line = read.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = read.iter().rev().take_while(|byte| **byte != b'\n').count();
        (line, column)
    }

    fn word(&mut self, word: &str) -> Result<(), Error> {
        let rest = &self.text[self.at..];
        match rest.starts_with(word) {
            true => self.at += word.len(),
            // `tr`, and then nothing.
            false if word.starts_with(rest) => {
                self.at = self.text.len();
                return Err(cut("a value"));
            }
            false => return Err(self.expected("a value")),
        }
        Ok(())
    }

    /// Between quotes; `self.at` is at the first.
    fn quoted(&mut self) -> Result<Cow<'de, str>, Error> {
        self.at += 1;
        let mut whole: Option<String> = None;
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) else {
                self.at = self.text.len();
                return Err(cut("a closing quote"));
            };
            self.at += plain + 1;
            match (rest.as_bytes()[plain], &mut whole) {
                (b'"', None) => return Ok(Cow::Borrowed(&rest[..plain])),
                (b'"', Some(whole)) => return Ok(Cow::Owned(std::mem::take(whole) + &rest[..plain])),
                (b'\\', _) => {
                    let whole = whole.get_or_insert_default();
                    whole.push_str(&rest[..plain]);
                    whole.push(self.escaped()?);
                }
                _ => return Err("a control character in a text".to_owned().into()),
            }
        }
    }

    /// What a backslash and the following stand for.
    fn escaped(&mut self) -> Result<char, Error> {
        let Some(letter) = self.text[self.at..].chars().next() else { return Err(cut("a closing quote")) };
        self.at += letter.len_utf8();
        Ok(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let mut units = vec![self.unit()?];
                if matches!(units[0], 0xd800..0xdc00) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    units.push(self.unit()?);
                }
                let mut chars = char::decode_utf16(units);
                match (chars.next(), chars.next()) {
                    (Some(Ok(c)), None) => c,
                    _ => return Err("half a character in a text".to_owned().into()),
                }
            }
            _ => return Err(format!("`\\{letter}` in a text").into()),
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u16, Error> {
        let Some(digits) = self.text.as_bytes().get(self.at..self.at + 4) else {
            self.at = self.text.len();
            return Err(cut("a closing quote"));
        };
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let value = digits.iter().try_fold(0, |value, byte| Some(value << 4 | digit(byte)?));
        self.at += 4;
        value.map(|value| value as u16).ok_or_else(|| "a character by a number that is none".to_owned().into())
    }

    /// A text that is a value, not a key.
    fn value(&mut self) -> Result<Cow<'de, str>, Error> {
        let key = self.key.take();
        let text = self.quoted()?;
        Ok((self.clean)(key.as_deref(), &text).map_or(text, Cow::Owned))
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|b| !matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let number = &rest[..end.unwrap_or(rest.len())];
        self.at += number.len();
        let digits = number.strip_prefix('-').unwrap_or(number);
        let well_formed = !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
        match (number.parse::<u64>(), number.parse::<i64>()) {
            (Ok(number), _) if well_formed => visitor.visit_u64(number),
            (_, Ok(number)) if well_formed => visitor.visit_i64(number),
            // Nothing of ours has one, and what is of others is passed over.
            _ => match number.parse() {
                Ok(number) if digits.starts_with(|c: char| c.is_ascii_digit()) && is_float(digits) => {
                    visitor.visit_f64(number)
                }
                _ if self.at == self.text.len() => Err(cut("a digit")),
                _ => Err(format!("`{number}` is no number").into()),
            },
        }
    }

    /// Everything within a list or an object, whose first bracket was read.
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.key = None;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".to_owned().into());
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// The text ends where `words` should be.
fn cut(words: &str) -> Error {
    Error { at_its_end: true, ..format!("it ends where {words} should be").into() }
}

/// Whether digits with a point or an exponent are as JSON has them; not a whole number that begins with 0.
fn is_float(digits: &str) -> bool {
    let whole = digits.split(['.', 'e', 'E']).next().unwrap_or_default();
    let point_stands_alone =
        digits.split_once('.').is_some_and(|(_, after)| !after.starts_with(|c: char| c.is_ascii_digit()));
    (whole == "0" || !whole.starts_with('0')) && !point_stands_alone
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'"') => match self.value()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Some(b'[') => {
                self.at += 1;
                self.inside(|reader| {
                    let value = visitor.visit_seq(Several { reader, first: true })?;
                    reader.expect(b']', "`,` or `]`")?;
                    Ok(value)
                })
            }
            Some(b'{') => {
                self.at += 1;
                self.inside(|reader| {
                    let value = visitor.visit_map(Several { reader, first: true })?;
                    reader.expect(b'}', "`,` or `}`")?;
                    Ok(value)
                })
            }
            Some(b'n') => self.word("null").and_then(|()| visitor.visit_unit()),
            Some(b't') => self.word("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.word("false").and_then(|()| visitor.visit_bool(false)),
            Some(b'-' | b'0'..=b'9') => self.number(visitor),
            _ => Err(self.expected("a value")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'n') => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'"') => visitor.visit_enum(StrDeserializer::new(&self.quoted()?)),
            Some(b'{') => {
                self.at += 1;
                self.inside(|reader| {
                    let value = visitor.visit_enum(Variant { reader })?;
                    reader.expect(b'}', "`}`")?;
                    Ok(value)
                })
            }
            _ => Err(self.expected("a text or an object")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// What is in a list or an object.
struct Several<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
}

impl Several<'_, '_> {
    /// Whether one more comes, which ends with `bracket` if not.
    fn more(&mut self, bracket: u8) -> bool {
        let first = std::mem::replace(&mut self.first, false);
        // After a comma something has to come; what does not is noticed by who reads it.
        if first { self.reader.peek() != Some(bracket) } else { self.reader.skip(b',') }
    }
}

impl<'de> SeqAccess<'de> for Several<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if !self.more(b']') {
            return Ok(None);
        }
        self.reader.key = None;
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> MapAccess<'de> for Several<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if !self.more(b'}') {
            return Ok(None);
        }
        let key = self.reader.keyed()?;
        let read = seed.deserialize(StrDeserializer::<Error>::new(&key)).map(Some);
        self.reader.key = Some(key);
        read
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> Reader<'de> {
    /// `"key":`
    fn keyed(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key"));
        }
        let key = self.quoted()?;
        self.expect(b':', "`:`")?;
        Ok(key)
    }
}

/// `{"variant": …}`, from the key on.
struct Variant<'a, 'de> {
    reader: &'a mut Reader<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let key = self.reader.keyed()?;
        let variant = seed.deserialize(StrDeserializer::<Error>::new(&key))?;
        self.reader.key = Some(key);
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        serde::Deserialize::deserialize(self.reader)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.reader.deserialize_any(visitor)
    }
}
