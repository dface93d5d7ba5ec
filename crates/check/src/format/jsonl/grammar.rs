//! How JSON writes values (RFC 8259).

use crate::format::parse::{Brackets, Error, Grammar, Parser, Result, Scalar};

/// The grammar of JSON.
pub(super) struct JsonGrammar;

impl Grammar for JsonGrammar {
    const CONTROLS_IN_STRINGS: bool = false;

    fn space(parser: &mut Parser<'_, Self>) -> Result<()> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = parser.peek() {
            parser.at += 1;
        }
        Ok(())
    }

    fn scalar<'de>(parser: &mut Parser<'de, Self>) -> Result<Scalar<'de>> {
        match parser.peek() {
            None => parser.error("a value is missing"),
            Some(b'"') => parser.string().map(Scalar::Text),
            Some(b'-' | b'0'..=b'9') => number(parser),
            Some(b'}' | b']') => parser.error("a closing bracket has no opening bracket"),
            Some(_) => {
                for (word, value) in [("null", None), ("true", Some(true)), ("false", Some(false))] {
                    if parser.text[parser.at..].starts_with(word.as_bytes()) {
                        parser.at += word.len();
                        return Ok(value.map_or(Scalar::Nil, Scalar::Bool));
                    }
                }
                parser.error("this is not a value")
            }
        }
    }

    fn between(parser: &mut Parser<'_, Self>) -> Result<()> {
        expect(parser, b',')?;
        match parser.peek() {
            Some(b'}' | b']') | None => parser.error("a value is missing after ','"),
            Some(_) => Ok(()),
        }
    }

    fn after_key(parser: &mut Parser<'_, Self>) -> Result<()> {
        expect(parser, b':')
    }

    fn opens(parser: &mut Parser<'_, Self>) -> Option<Brackets> {
        let brackets = match parser.peek()? {
            b'{' => Brackets::Map,
            b'[' => Brackets::List(b']'),
            _ => return None,
        };
        parser.at += 1;
        Some(brackets)
    }

    fn is_key(first: u8) -> bool {
        first == b'"'
    }
}

/// Passes over a byte, and over the space behind it.
fn expect(parser: &mut Parser<'_, JsonGrammar>, byte: u8) -> Result<()> {
    if parser.peek() != Some(byte) {
        return parser.error(format!("{:?} is missing", char::from(byte)));
    }
    parser.at += 1;
    JsonGrammar::space(parser)
}

/// `-`? digits without a leading zero, a fraction, an exponent.
fn number<'de>(parser: &mut Parser<'de, JsonGrammar>) -> Result<Scalar<'de>> {
    let start = parser.at;
    let text = parser.text;
    let digits = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let wrong = || Err(Error { at: start, reason: "a number is not written as JSON has it".to_owned() });
    let mut at = start + usize::from(text[start] == b'-');
    let whole = digits(at);
    if whole == 0 || (whole > 1 && text[at] == b'0') {
        return wrong();
    }
    at += whole;
    let end_of_whole = at;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return wrong();
        }
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return wrong();
        }
        at += exponent;
    }
    parser.at = at;
    let word = parser.utf8(&text[start..at])?;
    if at == end_of_whole {
        return Ok(Scalar::whole(word));
    }
    // A number that is too large for a float can only be compared, which its text does.
    Ok(match word.parse::<f64>() {
        Ok(float) if float.is_finite() => Scalar::Float(float),
        _ => Scalar::Number(word.to_owned()),
    })
}
