//! How text becomes values: from left to right, without a tree, and without trust. A text may be somebody else's, so nothing in
//! it decides how deep a stack becomes.

use std::borrow::Cow;

use super::{Readable, Slot};

/// What is not read is passed over up to this depth; our own files have a tenth of it.
const DEEPEST: usize = 128;

/// What is wrong with a text.
#[derive(Debug)]
pub(crate) struct Fault {
    what: String,
    line: usize,
    column: usize,
    /// Whether the text ended too early.
    pub(crate) at_end: bool,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at line {} column {}", self.what, self.line, self.column)
    }
}

/// Reads a whole text.
pub(crate) fn read<T: Readable>(text: &str) -> Result<T, Fault> {
    let mut from = Reader::of(text);
    let value = T::read(&mut from)?;
    from.end()?;
    Ok(value)
}

/// A text, and how far it was read.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether an object or array was opened just now.
    is_first: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn of(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, is_first: false }
    }

    /// How far it was read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// A fault at the place that is being read.
    pub(crate) fn fault(&self, what: String) -> Fault {
        let before = &self.text.as_bytes()[..self.at];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        Fault { what, line, column, at_end: self.at == self.text.len() }
    }

    fn expected(&mut self, what: &str) -> Fault {
        match self.peek() {
            Some(_) => self.fault(format!("expected {what}")),
            None => self.fault(format!("it ends where {what} was expected")),
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("something follows the end".to_owned())),
        }
    }

    /// The next character that is no blank.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Passes over a character, if it comes next.
    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted as u8);
        self.at += usize::from(is_there);
        is_there
    }

    fn word(&mut self, word: &str) -> bool {
        self.peek();
        let is_there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// Whether a text comes next.
    pub(crate) fn is_text(&mut self) -> bool {
        self.peek() == Some(b'"')
    }

    pub(crate) fn is_null(&mut self) -> bool {
        self.word("null")
    }

    /// Begins an object or array.
    pub(crate) fn open(&mut self, bracket: char, what: &str) -> Result<(), Fault> {
        if !self.take(bracket) {
            return Err(self.expected(what));
        }
        self.is_first = true;
        Ok(())
    }

    /// Reads an object into the places of its fields, each with its name, and whether it has to be there.
    pub(crate) fn object(&mut self, fields: &mut [(&str, bool, &mut dyn Slot)]) -> Result<(), Fault> {
        self.open('{', "an object")?;
        while let Some(name) = self.field()? {
            match fields.iter_mut().find(|(field, ..)| *field == name) {
                Some((_, _, slot)) => slot.fill(self)?,
                None => self.skip()?,
            }
        }
        for (name, is_required, slot) in fields {
            if *is_required && !slot.settle() {
                return Err(self.fault(format!("missing field `{name}`")));
            }
        }
        Ok(())
    }

    /// The name of the next field of the object that is open; none, if the object is over.
    pub(crate) fn field(&mut self) -> Result<Option<Cow<'a, str>>, Fault> {
        if self.closes('}')? {
            return Ok(None);
        }
        let name = self.string()?;
        if !self.take(':') {
            return Err(self.expected("`:`"));
        }
        Ok(Some(name))
    }

    /// Whether another element follows in the array that is open.
    pub(crate) fn element(&mut self) -> Result<bool, Fault> {
        Ok(!self.closes(']')?)
    }

    fn closes(&mut self, bracket: char) -> Result<bool, Fault> {
        let is_first = std::mem::take(&mut self.is_first);
        if self.take(bracket) {
            return Ok(true);
        }
        if is_first || self.take(',') { Ok(false) } else { Err(self.expected(&format!("`,` or `{bracket}`"))) }
    }

    /// A text; one without escapes is not copied.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        if !self.take('"') {
            return Err(self.expected("a text"));
        }
        let mut copied: Option<String> = None;
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ') else {
                self.at = self.text.len();
                return Err(self.fault("it ends within a text".to_owned()));
            };
            let (plain, special) = (&rest[..end], rest.as_bytes()[end]);
            self.at += end + 1;
            match special {
                b'"' => {
                    return Ok(match copied {
                        None => Cow::Borrowed(plain),
                        Some(copied) => Cow::Owned(copied + plain),
                    });
                }
                b'\\' => {
                    let copied = copied.get_or_insert_default();
                    copied.push_str(plain);
                    copied.push(self.escaped()?);
                }
                _ => return Err(self.fault("a control character in a text".to_owned())),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, Fault> {
        let Some(letter) = self.text.as_bytes().get(self.at) else {
            return Err(self.fault("it ends within a text".to_owned()));
        };
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(*letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                let mut code = self.four_digits()?;
                // Beyond the first plane a character is written as two halves; half of one is no character.
                if (0xd800..0xdc00).contains(&code) && self.text.as_bytes()[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.four_digits()?;
                    if (0xdc00..0xe000).contains(&low) {
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    }
                }
                return char::from_u32(code).ok_or_else(|| self.fault("half a character".to_owned()));
            }
            _ => return Err(self.fault("no such escape".to_owned())),
        };
        self.at += 1;
        Ok(plain)
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(digits) = digits else {
            return Err(self.fault("expected four hexadecimal digits".to_owned()));
        };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or_default())
    }

    /// The characters of a number.
    pub(crate) fn number(&mut self) -> Result<&'a str, Fault> {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|b| !(b.is_ascii_digit() || b"+-.eE".contains(&b))).unwrap_or(rest.len());
        let number = &rest[..end];
        let digits = number.strip_prefix('-').unwrap_or(number);
        let has_zeros = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        if !digits.starts_with(|c: char| c.is_ascii_digit()) || has_zeros {
            return Err(self.expected("a number"));
        }
        self.at += end;
        Ok(number)
    }

    fn whole<T: std::str::FromStr>(&mut self) -> Result<T, Fault> {
        let number = self.number()?;
        number.parse().map_err(|_| self.fault(format!("`{number}` is no whole number that fits here")))
    }

    /// Passes over a value, whatever it is.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        // What is open, without recursion.
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    self.is_first = true;
                    open.push(bracket);
                    if open.len() > DEEPEST {
                        return Err(self.fault("it is nested too deeply".to_owned()));
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b't') if self.word("true") => {}
                Some(b'f') if self.word("false") => {}
                Some(b'n') if self.word("null") => {}
                _ => {
                    let number = self.number()?;
                    if number.parse::<f64>().is_err() {
                        return Err(self.fault(format!("`{number}` is no number")));
                    }
                }
            }
            // To the next value inside.
            loop {
                let goes_on = match open.last() {
                    None => return Ok(()),
                    Some(b'{') => self.field()?.is_some(),
                    Some(_) => self.element()?,
                };
                if goes_on {
                    break;
                }
                open.pop();
            }
        }
    }
}

impl Readable for String {
    fn read(from: &mut Reader<'_>) -> Result<String, Fault> {
        from.string().map(Cow::into_owned)
    }
}

impl Readable for bool {
    fn read(from: &mut Reader<'_>) -> Result<bool, Fault> {
        if from.word("true") {
            return Ok(true);
        }
        if from.word("false") { Ok(false) } else { Err(from.expected("true or false")) }
    }
}

macro_rules! whole {
    ($($number:ty),*) => { $(
        impl Readable for $number {
            fn read(from: &mut Reader<'_>) -> Result<$number, Fault> {
                from.whole()
            }
        }
    )* };
}
whole!(u32, u64, usize, i64);

impl<T: Readable> Readable for Option<T> {
    fn read(from: &mut Reader<'_>) -> Result<Option<T>, Fault> {
        if from.is_null() { Ok(None) } else { T::read(from).map(Some) }
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

impl<T: Readable> Readable for Box<T> {
    fn read(from: &mut Reader<'_>) -> Result<Box<T>, Fault> {
        T::read(from).map(Box::new)
    }
}

impl<T: Readable> Readable for Vec<T> {
    fn read(from: &mut Reader<'_>) -> Result<Vec<T>, Fault> {
        from.open('[', "a list")?;
        let mut all = Vec::new();
        while from.element()? {
            all.push(T::read(from)?);
        }
        Ok(all)
    }
}

impl<A: Readable, B: Readable> Readable for (A, B) {
    fn read(from: &mut Reader<'_>) -> Result<(A, B), Fault> {
        from.open('[', "a pair")?;
        let one = if from.element()? { Some(A::read(from)?) } else { None };
        let other = if one.is_some() && from.element()? { Some(B::read(from)?) } else { None };
        match (one, other) {
            (Some(one), Some(other)) if !from.element()? => Ok((one, other)),
            _ => Err(from.fault("expected a pair".to_owned())),
        }
    }
}
