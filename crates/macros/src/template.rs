//! Code from a text with places to be filled in.
//!
//! The crates that make a macro of this (`quote`, `proc-macro2`) take longer to compile than this crate, in each project that has
//! one test.

use crate::tokens::{Group, TokenStream, TokenTree};

/// The tokens of `text`, with those of `places` where their names stand. What the text itself says has the span of the
/// attribute, and what it names is looked up there.
pub(crate) fn fill(text: &str, places: &[(&str, TokenStream)]) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("a template is written in tokens");
    filled(tokens, places)
}

fn filled(tokens: TokenStream, places: &[(&str, TokenStream)]) -> TokenStream {
    let fill_in = |token| match token {
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), filled(group.stream(), places));
            inside.set_span(group.span());
            TokenTree::from(inside).into()
        }
        TokenTree::Ident(name) => {
            let name_text = name.to_string();
            match places.iter().find(|(place, _)| *place == name_text) {
                Some((_, tokens)) => tokens.clone(),
                None => TokenTree::from(name).into(),
            }
        }
        other => other.into(),
    };
    tokens.into_iter().map(fill_in).collect::<Vec<TokenStream>>().into_iter().collect()
}
