//! Tokens as text, with the way back from bytes of the text to the tokens.
//!
//! The compiler's own printing of tokens gives no such map and may change its spacing, so the text
//! is put together here, token by token.

use std::ops::Range;

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::ToTokens;

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
    pub fn error(&self, range: Range<usize>, message: impl std::fmt::Display) -> syn::Error {
        let mut blamed: Vec<Span> = self
            .pieces
            .iter()
            .filter(|(piece, _)| piece.start < range.end && range.start < piece.end)
            .map(|(_, span)| *span)
            .collect();
        if blamed.is_empty() {
            blamed.extend(self.pieces.last().map(|(_, span)| *span));
        }
        // Spans cannot be joined on stable Rust, but `syn` reaches from the first token to the
        // last; which tokens these are does not matter to it.
        let blamed: TokenStream =
            blamed.into_iter().map(|span| Ident::new("blamed", span).into_token_stream()).collect();
        syn::Error::new_spanned(blamed, message)
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

/// A literal as the grammar writes it. Strings are written anew, since the grammar has no raw ones.
fn written(literal: &Literal) -> String {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(string) => format!("{:?}", string.value()),
        _ => literal.to_string(),
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
