//! The attribute's arguments: a configuration, and the path of the crate.

use crate::error::Error;
use crate::text::Text;
use crate::tokens::{Ident, TokenStream, TokenTree, is_word};
use drawloom_config::{Config, ConfigError};

pub(crate) struct Arguments {
    pub config: Config,
    /// The crate `drawloom`, as the test's code can name it.
    pub krate: TokenStream,
}

impl Arguments {
    pub fn parse(tokens: TokenStream) -> Result<Self, Error> {
        let mut rest = TokenStream::new();
        let mut krate = None;
        for argument in split_after_commas(tokens) {
            match crate_keyword(&argument) {
                None => rest.extend(argument),
                Some(keyword) if krate.is_some() => {
                    let message = "argument `crate` is given twice\nhelp: keep one of them";
                    return Err(Error::at(keyword.span(), message));
                }
                Some(keyword) => krate = Some(crate_path(&keyword, argument)?),
            }
        }
        let text = Text::of(rest);
        let config = text.as_str().parse().map_err(|error: ConfigError| text.error(error.span(), &said(&error)))?;
        Ok(Self { config, krate: krate.unwrap_or_else(|| "::drawloom".parse().expect("a path")) })
    }
}

/// The message, and the help on a line of its own.
fn said(error: &ConfigError) -> String {
    let message = error.message();
    match error.help() {
        Some(help) => format!("{message}\nhelp: {help}"),
        None => message,
    }
}

/// The arguments, each with the comma that ends it, so that the parser can point at a stray one.
fn split_after_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.split_inclusive(is_comma).map(|argument| argument.iter().cloned().collect()).collect()
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

/// The word `crate`, if the argument begins with it.
fn crate_keyword(argument: &TokenStream) -> Option<Ident> {
    match argument.clone().into_iter().next() {
        Some(TokenTree::Ident(ident)) if is_word(&ident, "crate") => Some(ident),
        _ => None,
    }
}

/// The path in `crate = path`.
fn crate_path(keyword: &Ident, argument: TokenStream) -> Result<TokenStream, Error> {
    let mut value = argument.into_iter().skip(1);
    let equals = value.next();
    let path: TokenStream = value.take_while(|token| !is_comma(token)).collect();
    let is_assignment = matches!(equals, Some(TokenTree::Punct(punct)) if punct.as_char() == '=');
    if is_assignment && is_path(&path) {
        return Ok(path);
    }
    let message = "`crate` takes a path\nhelp: write it as `crate = ::my::drawloom`";
    Err(Error::at(keyword.span(), message))
}

/// Whether these are names with `::` between them, and maybe before them.
fn is_path(tokens: &TokenStream) -> bool {
    let text: String = tokens.clone().into_iter().map(|token| token.to_string()).collect();
    let is_name = |name: &str| {
        let name = name.strip_prefix("r#").unwrap_or(name);
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let no_literals =
        tokens.clone().into_iter().all(|token| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_)));
    no_literals && text.strip_prefix("::").unwrap_or(&text).split("::").all(is_name)
}
