//! Tokens to items, without knowing a single name.
//!
//! ```text
//! config   = [ item { "," item } [ "," ] ]
//! item     = strategy | argument
//! strategy = WORD [ "(" [ argument { "," argument } [ "," ] ] ")" ]
//! argument = WORD "=" value
//! value    = NUMBER | STRING | WORD
//! ```
//!
//! Which words are strategies, and what an argument takes, is the tables' business ([`table`](super::table)):
//! a new strategy never changes the grammar.

use std::ops::Range;

use super::error::{ConfigError, Problem};
use super::lexer::{self, Kind, Token};

#[derive(Debug)]
pub(super) struct Name<'a> {
    pub text: &'a str,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub(super) enum Item<'a> {
    Strategy { name: Name<'a>, arguments: Vec<Assignment<'a>> },
    Argument(Assignment<'a>),
}

#[derive(Debug)]
pub(super) struct Assignment<'a> {
    pub name: Name<'a>,
    pub value: Token<'a>,
}

pub(super) fn items(source: &str) -> Result<Vec<Item<'_>>, ConfigError> {
    let mut reader = Reader { tokens: lexer::tokens(source)?.into_iter().peekable(), end: source.len() };
    let mut items = Vec::new();
    while reader.tokens.peek().is_some() {
        items.push(reader.item()?);
        if reader.tokens.peek().is_some() {
            reader.expect(Kind::Comma, "`,` between arguments")?;
        }
    }
    Ok(items)
}

struct Reader<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token<'a>>>,
    end: usize,
}

impl<'a> Reader<'a> {
    fn item(&mut self) -> Result<Item<'a>, ConfigError> {
        let name = self.name("a strategy or an argument")?;
        match self.tokens.peek().map(|token| &token.kind) {
            Some(Kind::Equals) => self.assignment(name).map(Item::Argument),
            Some(Kind::Open) => {
                let arguments = self.arguments(&name)?;
                Ok(Item::Strategy { name, arguments })
            }
            _ => Ok(Item::Strategy { name, arguments: Vec::new() }),
        }
    }

    fn arguments(&mut self, strategy: &Name<'a>) -> Result<Vec<Assignment<'a>>, ConfigError> {
        let open = self.expect(Kind::Open, "`(`")?;
        let mut arguments = Vec::new();
        loop {
            if self.tokens.next_if(|next| next.kind == Kind::Close).is_some() {
                return Ok(arguments);
            }
            if self.tokens.peek().is_none() {
                let problem = Problem::Unclosed(strategy.text.to_owned());
                let span = strategy.span.start..open.span.end;
                return Err(ConfigError::new(problem, span).with_help("close it with `)`"));
            }
            let name = self.name("an argument or `)`")?;
            arguments.push(self.assignment(name)?);
            match self.tokens.peek().map(|token| &token.kind) {
                None | Some(Kind::Close) => {}
                Some(_) => {
                    self.expect(Kind::Comma, "`,` or `)` after an argument")?;
                }
            }
        }
    }

    fn assignment(&mut self, name: Name<'a>) -> Result<Assignment<'a>, ConfigError> {
        let equals = self.tokens.next_if(|next| next.kind == Kind::Equals);
        let value = equals
            .and_then(|_| self.tokens.next_if(|next| matches!(next.kind, Kind::Word | Kind::Number | Kind::Text(_))));
        match value {
            Some(value) => Ok(Assignment { name, value }),
            None => {
                let problem = Problem::NoValue(name.text.to_owned());
                Err(ConfigError::new(problem, name.span).with_help(format!("write `{} = …`", name.text)))
            }
        }
    }

    fn name(&mut self, expected: &'static str) -> Result<Name<'a>, ConfigError> {
        let Token { text, span, .. } = self.expect(Kind::Word, expected)?;
        Ok(Name { text, span })
    }

    fn expect(&mut self, kind: Kind, expected: &'static str) -> Result<Token<'a>, ConfigError> {
        match self.tokens.next() {
            Some(token) if token.kind == kind => Ok(token),
            found => {
                let (found, span) = match found {
                    Some(token) => (format!("`{}`", token.text), token.span),
                    None => ("the end".to_owned(), self.end..self.end),
                };
                Err(ConfigError::new(Problem::Unexpected { expected, found }, span))
            }
        }
    }
}
