//! What the attribute has to know of the function under it, read from its tokens.
//!
//! A parser of the whole language would take longer to compile than all else in this crate, in each project that has one test. The
//! attribute repeats the signature and the body as they are, so that only their beginnings and ends matter here. What is
//! wrong with them otherwise, the compiler says when it reads what the attribute has made.

use crate::error::Error;
use crate::tokens::{self, Delimiter, Group, Ident, Span, TokenStream, TokenTree};

pub(crate) struct Function {
    /// Each with its `#`.
    pub attributes: Vec<TokenStream>,
    pub visibility: TokenStream,
    /// `const`, `unsafe`, `extern "C"`: what a test cannot be.
    pub qualifiers: TokenStream,
    pub asyncness: Option<Ident>,
    pub name: Ident,
    /// With their angle brackets; empty if there are none between them.
    pub generics: TokenStream,
    pub inputs: Group,
    /// `-> T`, or nothing.
    pub output: TokenStream,
    /// The `T` of it.
    pub returned: TokenStream,
    pub body: Group,
}

impl Function {
    pub fn parse(item: TokenStream) -> Result<Function, Error> {
        let mut rest = Rest { tokens: plain(item).into_iter().collect(), at: 0 };
        let mut attributes = Vec::new();
        while rest.is_punct('#') {
            attributes.push(rest.take(2));
        }
        let mut visibility = TokenStream::new();
        if rest.is_ident("pub") {
            visibility.extend(rest.take(1));
            if matches!(rest.next(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis) {
                visibility.extend(rest.take(1));
            }
        }
        let (mut qualifiers, mut asyncness) = (TokenStream::new(), None);
        while !rest.is_ident("fn") {
            match rest.next() {
                Some(TokenTree::Ident(ident)) if tokens::is_word(ident, "async") => asyncness = Some(ident.clone()),
                Some(TokenTree::Ident(ident))
                    if ["const", "unsafe", "safe", "extern"].iter().any(|q| tokens::is_word(ident, q)) =>
                {
                    qualifiers.extend([TokenTree::from(ident.clone())]);
                }
                Some(TokenTree::Literal(abi)) => qualifiers.extend([TokenTree::from(abi.clone())]),
                _ => return Err(rest.error()),
            }
            rest.at += 1;
        }
        rest.at += 1;
        let Some(TokenTree::Ident(name)) = rest.next().cloned() else { return Err(rest.error()) };
        rest.at += 1;
        let generics = rest.generics();
        let Some(TokenTree::Group(inputs)) = rest.next().cloned() else { return Err(rest.error()) };
        rest.at += 1;
        let mut output = rest.rest();
        let Some(TokenTree::Group(body)) = output.pop() else { return Err(rest.error()) };
        if body.delimiter() != Delimiter::Brace {
            return Err(rest.error());
        }
        output.truncate(output.iter().position(|token| is_word(token, "where")).unwrap_or(output.len()));
        let returned = output.iter().skip(2).cloned().collect();
        let output = output.into_iter().collect();
        Ok(Function { attributes, visibility, qualifiers, asyncness, name, generics, inputs, output, returned, body })
    }

    /// The attribute of that name, with its `#`.
    pub fn attribute(&self, name: &str) -> Option<&TokenStream> {
        self.attributes.iter().find(|attribute| {
            let Some(TokenTree::Group(group)) = (*attribute).clone().into_iter().nth(1) else { return false };
            let mut path = plain(group.stream()).into_iter();
            let is_it = path.next().is_some_and(|first| is_word(&first, name));
            is_it && !matches!(path.next(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
        })
    }
}

/// The tokens without the groups that variables of `macro_rules` leave: these have no character of their own.
fn plain(tokens: TokenStream) -> TokenStream {
    let flat = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => plain(group.stream()),
        token => TokenStream::from(token),
    };
    tokens.into_iter().map(flat).collect::<Vec<TokenStream>>().into_iter().collect()
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if tokens::is_word(ident, word))
}

struct Rest {
    tokens: Vec<TokenTree>,
    at: usize,
}

impl Rest {
    fn next(&self) -> Option<&TokenTree> {
        self.tokens.get(self.at)
    }

    fn is_ident(&self, word: &str) -> bool {
        self.next().is_some_and(|token| is_word(token, word))
    }

    fn is_punct(&self, wanted: char) -> bool {
        matches!(self.next(), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
    }

    fn take(&mut self, count: usize) -> TokenStream {
        let taken = self.tokens.iter().skip(self.at).take(count).cloned().collect();
        self.at += count;
        taken
    }

    fn rest(&self) -> Vec<TokenTree> {
        self.tokens.get(self.at..).unwrap_or_default().to_vec()
    }

    /// The generic parameters, up to the bracket that closes the first one. That of an arrow closes nothing.
    fn generics(&mut self) -> TokenStream {
        if !self.is_punct('<') {
            return TokenStream::new();
        }
        let (mut depth, mut after_minus, from) = (0, false, self.at);
        while let Some(token) = self.next() {
            let punct = if let TokenTree::Punct(punct) = token { punct.as_char() } else { ' ' };
            match punct {
                '<' => depth += 1,
                '>' if !after_minus => depth -= 1,
                _ => {}
            }
            after_minus = punct == '-';
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let all = &self.tokens[from..self.at];
        if all.len() <= 2 { TokenStream::new() } else { all.iter().cloned().collect() }
    }

    /// Here is no function.
    fn error(&self) -> Error {
        let here = self.next().or(self.tokens.last()).map_or_else(Span::call_site, TokenTree::span);
        Error::at(here, "`#[drawloom::test]` belongs on a function")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(source: &str) -> Function {
        Function::parse(source.parse().expect("tokens")).unwrap_or_else(|_| panic!("{source} is a function"))
    }

    #[test]
    fn what_a_function_is_made_of_is_told_apart() {
        let function = parsed(
            "/// Doc. { }\n#[should_panic(expected = \"x\")] #[a::test] pub(crate) async fn name() -> Result<(), [u8; { 2 }]> \
             where u8: Copy { body() }",
        );
        assert_eq!(function.attributes.len(), 3);
        assert!(function.attribute("should_panic").is_some() && function.attribute("test").is_none());
        assert!(function.attribute("a").is_none() && function.attribute("expected").is_none());
        assert_eq!(function.visibility.to_string().replace(' ', ""), "pub(crate)");
        assert!(function.asyncness.is_some() && function.qualifiers.is_empty() && function.generics.is_empty());
        assert_eq!(function.name, "name");
        assert!(function.inputs.stream().is_empty());
        assert_eq!(function.output.to_string().replace(' ', ""), "->Result<(),[u8;{2}]>");
        assert_eq!(function.returned.to_string().replace(' ', ""), "Result<(),[u8;{2}]>");
        assert_eq!(function.body.to_string().replace(' ', ""), "{body()}");
    }

    #[test]
    fn arrows_close_no_generics() {
        let function = parsed("unsafe extern \"C\" fn f<F: Fn(Vec<u8>) -> Vec<u8>, const N: usize>(f: F) {}");
        assert_eq!(function.generics.to_string().replace(' ', ""), "<F:Fn(Vec<u8>)->Vec<u8>,constN:usize>");
        assert_eq!(function.inputs.to_string().replace(' ', ""), "(f:F)");
        assert_eq!(function.qualifiers.to_string(), "unsafe extern \"C\"");
        assert!(function.output.is_empty() && parsed("fn f<>() {}").generics.is_empty());
    }

    #[test]
    fn other_items_are_no_functions() {
        for source in
            ["struct Counter;", "", "fn", "fn f", "fn f()", "fn f() -> u8;", "pub(crate) mod m { fn f() {} }", "#[a]"]
        {
            assert!(Function::parse(source.parse().expect("tokens")).is_err(), "{source}");
        }
    }
}
