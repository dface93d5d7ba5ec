//! The compiler's tokens. Only the compiler can make them, so that tests use those of a crate that looks the same.

#[cfg(not(test))]
pub(crate) use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
#[cfg(test)]
pub(crate) use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

pub(crate) fn is_word(ident: &Ident, word: &str) -> bool {
    ident.to_string().as_str() == word
}
