//! How EDN writes values.

use std::borrow::Cow;

use crate::format::parse::{Brackets, Error, Grammar, Parser, Result, Scalar};

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

/// The grammar of EDN.
pub(super) struct EdnGrammar;

impl Grammar for EdnGrammar {
    const CONTROLS_IN_STRINGS: bool = true;

    /// Passes over blanks, commas, comments, discarded forms and tags.
    fn space(parser: &mut Parser<'_, Self>) -> Result<()> {
        loop {
            match parser.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x0C) => parser.at += 1,
                Some(b';') => {
                    let rest = &parser.text[parser.at..];
                    parser.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                Some(b'#') => match parser.text.get(parser.at + 1) {
                    Some(b'_') => {
                        parser.at += 2;
                        parser.nested(|parser| parser.pass())?;
                    }
                    // A set, a pattern, a number that is none.
                    Some(b'{' | b'"' | b'#') | None => return Ok(()),
                    Some(_) => {
                        parser.at += 1;
                        word(parser);
                    }
                },
                _ => return Ok(()),
            }
        }
    }

    fn scalar<'de>(parser: &mut Parser<'de, Self>) -> Result<Scalar<'de>> {
        match parser.peek() {
            None => parser.error("a value is missing"),
            Some(b'"') => parser.string().map(Scalar::Text),
            Some(b'\\') => {
                // The character itself may be one that ends a word.
                let start = parser.at + 1;
                parser.at = (start + 1).min(parser.text.len());
                word(parser);
                let name = parser.utf8(&parser.text[start.min(parser.at)..parser.at])?;
                Ok(Scalar::Text(Cow::Borrowed(match name {
                    "newline" => "\n",
                    "space" => " ",
                    "tab" => "\t",
                    "return" => "\r",
                    other => other,
                })))
            }
            Some(b'}' | b']' | b')') => parser.error("a closing bracket has no opening bracket"),
            Some(first) => {
                let start = parser.at;
                let word = word(parser);
                if let Some(number) = short_number(word) {
                    return Ok(Scalar::Int(number));
                }
                let wrong = |reason: &str| Err(Error { at: start, reason: reason.to_owned() });
                let word = parser.utf8(word)?;
                let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
                if digits.starts_with(|c: char| c.is_ascii_digit()) {
                    return number(word).map_or_else(|| wrong("a word that starts like a number is not a number"), Ok);
                }
                Ok(match word {
                    "nil" => Scalar::Nil,
                    "true" => Scalar::Bool(true),
                    "false" => Scalar::Bool(false),
                    "##Inf" => Scalar::Float(f64::INFINITY),
                    "##-Inf" => Scalar::Float(f64::NEG_INFINITY),
                    "##NaN" => Scalar::Float(f64::NAN),
                    ":" | "#" | "" => return wrong(&format!("{:?} is not a value", char::from(first))),
                    _ if first == b'#' => return wrong("a value that begins with '#' is unknown"),
                    _ => Scalar::Text(Cow::Borrowed(word.strip_prefix(':').unwrap_or(word))),
                })
            }
        }
    }

    fn between(_: &mut Parser<'_, Self>) -> Result<()> {
        Ok(())
    }

    fn after_key(_: &mut Parser<'_, Self>) -> Result<()> {
        Ok(())
    }

    fn opens(parser: &mut Parser<'_, Self>) -> Option<Brackets> {
        let (brackets, length) = match (parser.peek()?, parser.text.get(parser.at + 1)) {
            (b'{', _) => (Brackets::Map, 1),
            (b'[', _) => (Brackets::List(b']'), 1),
            (b'(', _) => (Brackets::List(b')'), 1),
            (b'#', Some(b'{')) => (Brackets::Set, 2),
            _ => return None,
        };
        parser.at += length;
        Some(brackets)
    }

    fn is_key(_: u8) -> bool {
        true
    }
}

/// Passes over what a word consists of, and returns it.
fn word<'de>(parser: &mut Parser<'de, EdnGrammar>) -> &'de [u8] {
    let rest = &parser.text[parser.at..];
    let len = rest.iter().position(|byte| ENDS_WORD[*byte as usize]).unwrap_or(rest.len());
    parser.at += len;
    &rest[..len]
}

/// A whole number without a sign that certainly fits, which is what files are full of.
fn short_number(word: &[u8]) -> Option<i64> {
    if word.is_empty() || word.len() > 18 {
        return None;
    }
    word.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn number(word: &str) -> Option<Scalar<'static>> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = word.strip_suffix(['N', 'M']).unwrap_or(word);
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    if digits(unsigned) {
        return Some(Scalar::whole(plain));
    }
    if unsigned.split_once('/').is_some_and(|(above, below)| digits(above) && digits(below)) {
        return Some(Scalar::Number(plain.strip_prefix('+').unwrap_or(plain).to_owned()));
    }
    // `parse` would take `inf` and the like as well.
    let is_decimal = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    let float = plain.bytes().all(is_decimal).then(|| plain.parse::<f64>().ok()).flatten()?;
    // A decimal of any length, or one that is too large, can only be compared, which its text does.
    let exact = word.ends_with('M') || !float.is_finite();
    Some(if exact { Scalar::Number(plain.to_owned()) } else { Scalar::Float(float) })
}
