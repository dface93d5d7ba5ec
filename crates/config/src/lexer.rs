//! Text to tokens, each with its bytes.
//!
//! The tokens are those that Rust's own lexer makes of an attribute's arguments, so that one text
//! means the same in `#[drawloom::test(…)]` and in an environment variable. It is more lenient in
//! two places, only to give better errors: `round-robin` is one (unknown) word and `-5` and `1.5`
//! are (ill-typed) numbers.

use std::ops::Range;

use super::error::{ConfigError, Problem};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// Digits with whatever is glued to them: `1_000`, `0x2a`, `60s`.
    Number,
    /// A string in double quotes, its escapes resolved.
    Text(String),
    Open,
    Close,
    Comma,
    Equals,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub span: Range<usize>,
}

pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, ConfigError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = token(source, at, first)?;
        let span = at..at + length;
        tokens.push(Token { kind, text: &source[span.clone()], span });
        at += length;
    }
    Ok(tokens)
}

/// The kind and the length of the token at `at`, which begins with `first`.
fn token(source: &str, at: usize, first: char) -> Result<(Kind, usize), ConfigError> {
    let rest = &source[at..];
    let kind = match first {
        '(' => Kind::Open,
        ')' => Kind::Close,
        ',' => Kind::Comma,
        '=' => Kind::Equals,
        '"' => {
            let (text, length) = string(source, at)?;
            return Ok((Kind::Text(text), length));
        }
        _ if starts_number(rest) => return Ok((Kind::Number, glued(rest, &['-', '.']))),
        _ if first.is_alphabetic() || first == '_' => return Ok((Kind::Word, glued(rest, &['-']))),
        _ => {
            let problem = Problem::Unexpected { expected: "a strategy or an argument", found: format!("`{first}`") };
            return Err(ConfigError::new(problem, at..at + first.len_utf8()));
        }
    };
    Ok((kind, first.len_utf8()))
}

fn starts_number(rest: &str) -> bool {
    rest.strip_prefix('-').unwrap_or(rest).starts_with(|first: char| first.is_ascii_digit())
}

/// The bytes up to the first character that is neither of a word nor one of `also`.
fn glued(rest: &str, also: &[char]) -> usize {
    rest.find(|next: char| !(next.is_alphanumeric() || next == '_' || also.contains(&next))).unwrap_or(rest.len())
}

/// The string whose opening quote is at `at`, and its length with both quotes.
fn string(source: &str, at: usize) -> Result<(String, usize), ConfigError> {
    let body = &source[at + 1..];
    let mut text = String::new();
    let mut rest = body;
    while let Some(next) = rest.chars().next() {
        match next {
            '"' => return Ok((text, 1 + body.len() - rest.len() + 1)),
            '\\' => {
                let (meant, length) = escape(rest).map_err(|length| {
                    let start = at + 1 + body.len() - rest.len();
                    let problem = Problem::UnknownEscape(rest[..length].to_owned());
                    ConfigError::new(problem, start..start + length)
                        .with_help(r#"known are `\"`, `\\`, `\'`, `\n`, `\r`, `\t`, `\0`, `\x7f` and `\u{1f9f5}`"#)
                })?;
                text.push(meant);
                rest = &rest[length..];
            }
            _ => {
                text.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    Err(ConfigError::new(Problem::UnclosedString, at..source.len()).with_help("end it with `\"`"))
}

/// What the escape at the start of `rest` stands for and its length, or the length of what is not
/// an escape.
fn escape(rest: &str) -> Result<(char, usize), usize> {
    let Some(letter) = rest[1..].chars().next() else {
        return Err(1);
    };
    let simple = match letter {
        '"' | '\\' | '\'' => letter,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        'x' => {
            let digits = rest.get(2..4).filter(|digits| is_hex(digits)).ok_or(2_usize)?;
            let byte = u8::from_str_radix(digits, 16).map_err(|_| 4_usize)?;
            return if byte.is_ascii() { Ok((char::from(byte), 4)) } else { Err(4) };
        }
        'u' => {
            let digits = rest[2..].strip_prefix('{').ok_or(2_usize)?;
            let digits = &digits[..digits.find('}').ok_or(2_usize)?];
            let length = "\\u{}".len() + digits.len();
            return Some(digits)
                .filter(|digits| is_hex(digits))
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .and_then(char::from_u32)
                .map(|meant| (meant, length))
                .ok_or(length);
        }
        _ => return Err(1 + letter.len_utf8()),
    };
    Ok((simple, 2))
}

/// `from_str_radix` alone would take a sign as well.
fn is_hex(digits: &str) -> bool {
    digits.chars().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind> {
        tokens(source).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn tokens_know_their_bytes() {
        let tokens = tokens("seed = 0x2A").unwrap();
        let spans: Vec<_> = tokens.iter().map(|token| token.span.clone()).collect();
        assert_eq!(spans, [0..4, 5..6, 7..11]);
    }

    #[test]
    fn what_is_glued_together_is_one_token() {
        assert_eq!(kinds("round-robin"), [Kind::Word]);
        assert_eq!(kinds("-5"), [Kind::Number]);
        assert_eq!(kinds("1.5"), [Kind::Number]);
        assert_eq!(kinds("60s"), [Kind::Number]);
    }

    #[test]
    fn escapes_are_those_of_rust() {
        let text = kinds(r#""\"\\\n\r\t\0\x41\u{1f9f5}ä""#);
        assert_eq!(text, [Kind::Text("\"\\\n\r\t\0A🧵ä".to_owned())]);
    }

    #[test]
    fn a_bad_escape_is_pointed_at() {
        for (source, span) in [
            (r#""a\q""#, 2..4),
            (r#""\xZZ""#, 1..3),
            (r#""\xff""#, 1..5),
            (r#""\u{110000}""#, 1..11),
            (r#""\u{+1}""#, 1..7),
            (r#""\ü""#, 1..4),
        ] {
            assert_eq!(tokens(source).unwrap_err().span(), span, "{source}");
        }
    }

    #[test]
    fn an_open_string_is_an_error() {
        assert_eq!(tokens(r#"a = "b"#).unwrap_err().span(), 4..6);
        assert_eq!(tokens(r#""\"#).unwrap_err().span(), 1..2);
    }
}
