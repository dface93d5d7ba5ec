//! What is wrong, and where: an error of the compiler at the user's tokens.

use crate::tokens::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

#[derive(Debug)]
pub(crate) struct Error {
    from: Span,
    to: Span,
    message: String,
}

impl Error {
    pub fn at(span: Span, message: &str) -> Error {
        Error { from: span, to: span, message: message.to_owned() }
    }

    /// At all of some tokens.
    pub fn over(tokens: &TokenStream, message: &str) -> Error {
        let mut spans = tokens.clone().into_iter().map(|token| token.span());
        let from = spans.next().unwrap_or_else(Span::call_site);
        Error { from, to: spans.last().unwrap_or(from), message: message.to_owned() }
    }

    /// Spans cannot be joined on stable Rust. But the compiler points at an invocation from its first token to its last one,
    /// which may have spans of their own.
    pub fn into_compile_error(self) -> TokenStream {
        let Error { from, to, message } = self;
        let at = |span, token: TokenTree| {
            let mut token = token;
            token.set_span(span);
            token
        };
        let path: TokenStream = "::core::compile_error!".parse().expect("a path");
        let text = at(to, Literal::string(&message).into());
        let braces = Group::new(Delimiter::Brace, TokenStream::from(text));
        path.into_iter().map(|token| at(from, token)).chain([at(to, braces.into())]).collect()
    }
}
