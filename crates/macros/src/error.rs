//! What is wrong, and where: an error of the compiler at the user's tokens.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

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
    pub fn over(tokens: &impl ToTokens, message: &str) -> Error {
        let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
        let from = spans.next().unwrap_or_else(Span::call_site);
        Error { from, to: spans.last().unwrap_or(from), message: message.to_owned() }
    }

    /// Spans cannot be joined on stable Rust. But the compiler points at an invocation from its first token to its last one,
    /// which may have spans of their own.
    pub fn into_compile_error(self) -> TokenStream {
        let Error { from, to, message } = self;
        let mut error = quote_spanned!(from=> ::core::);
        error.extend(Ident::new("compile_error", from).into_token_stream());
        error.extend(quote_spanned!(from=> !));
        error.extend(quote_spanned!(to=> { #message }));
        error
    }
}
