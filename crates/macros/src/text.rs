//! Tokens as text, with the way back from bytes of the text to the tokens.
//!
//! The compiler's own printing of tokens gives no such map and may change its spacing, so the text
//! is put together here, token by token.

use std::ops::Range;

use crate::error::Error;
use crate::tokens::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};

#[derive(Default)]
pub(crate) struct Text {
    text: String,
    pieces: Vec<(Range<usize>, Span)>,
}

impl Text {
    pub fn of(tokens: TokenStream) -> Self {
        let mut text = Self::default();
        text.push_all(tokens);
        text
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// An error at the tokens that the bytes `range` came from. At the end of the text, where
    /// something is missing, that is the last token.
    pub fn error(&self, range: Range<usize>, message: &str) -> Error {
        let is_blamed = |piece: &Range<usize>| piece.start < range.end && range.start < piece.end;
        let mut blamed: Vec<Span> =
            self.pieces.iter().filter(|(piece, _)| is_blamed(piece)).map(|(_, span)| *span).collect();
        if blamed.is_empty() {
            blamed.extend(self.pieces.last().map(|(_, span)| *span));
        }
        // Which tokens these are does not matter.
        let blamed: TokenStream = blamed.into_iter().map(|span| TokenTree::from(Ident::new("blamed", span))).collect();
        Error::over(&blamed, message)
    }

    fn push_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        // What a `macro_rules` variable stands for: no character of its own.
                        Delimiter::None => {
                            self.push_all(group.stream());
                            continue;
                        }
                    };
                    self.push(open, group.span_open());
                    self.push_all(group.stream());
                    self.push(close, group.span_close());
                }
                TokenTree::Literal(literal) => self.push(&written(&literal), literal.span()),
                other => self.push(&other.to_string(), other.span()),
            }
        }
    }

    /// Adds one token, with a space where leaving it out would glue two words together. A `-` is
    /// glued on purpose: then `-5` is one ill-typed number to the parser, not stray punctuation.
    fn push(&mut self, token: &str, span: Span) {
        let glued_left = self.text.is_empty() || self.text.ends_with(['(', '-']);
        if !glued_left && !token.starts_with([',', '(', ')', '-']) {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(token);
        self.pieces.push((start..self.text.len(), span));
    }
}

/// A literal as the grammar writes it. Raw strings are written again, since the grammar has none.
fn written(literal: &Literal) -> String {
    let text = literal.to_string();
    let raw = text.strip_prefix('r').map(|raw| raw.trim_matches('#'));
    match raw.and_then(|raw| raw.strip_prefix('"')?.strip_suffix('"')) {
        Some(string) => format!("{string:?}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        Text::of(source.parse().unwrap()).as_str().to_owned()
    }

    #[test]
    fn tokens_are_written_as_a_person_would() {
        for source in ["", "random", "random(iterations = 1_000, seed = 0x2a), timeout = 60s, name = \"a \\\"b\\\"\""] {
            assert_eq!(text(source), source);
        }
    }

    #[test]
    fn raw_strings_become_plain_ones() {
        assert_eq!(text("name = r#\"a\"b\"#"), "name = \"a\\\"b\"");
    }

    #[test]
    fn a_minus_sticks_to_its_neighbours() {
        assert_eq!(text("seed = - 5"), "seed =-5");
        assert_eq!(text("round-robin"), "round-robin");
    }
}
