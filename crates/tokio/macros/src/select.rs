//! `select!`: waits for the first of several futures, and drops the others.
//!
//! Which of the enabled branches is polled first is a choice, unless it is `biased`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Block, Expr, Ident, Pat, Token, token};

use crate::local;

struct Select {
    biased: bool,
    branches: Vec<Branch>,
    otherwise: Option<TokenStream>,
}

struct Branch {
    pattern: Pat,
    future: Expr,
    condition: Option<Expr>,
    handler: TokenStream,
}

mod keyword {
    syn::custom_keyword!(biased);
}

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let biased = input.peek(keyword::biased) && input.peek2(Token![;]);
        if biased {
            input.parse::<keyword::biased>()?;
            input.parse::<Token![;]>()?;
        }
        let (mut branches, mut otherwise) = (Vec::new(), None);
        while !input.is_empty() {
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                input.parse::<Token![=>]>()?;
                otherwise = Some(handler(input)?);
                if !input.is_empty() {
                    return Err(input.error("the `else` branch is the last one"));
                }
                break;
            }
            branches.push(input.parse()?);
        }
        if branches.is_empty() && otherwise.is_none() {
            return Err(input.error("select! requires at least one branch."));
        }
        if branches.len() > 64 {
            return Err(input.error("up to 64 branches supported"));
        }
        Ok(Select { biased, branches, otherwise })
    }
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=]>()?;
        let future = input.parse()?;
        let mut condition = None;
        if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            condition = Some(input.parse()?);
        }
        input.parse::<Token![=>]>()?;
        Ok(Branch { pattern, future, condition, handler: handler(input)? })
    }
}

/// A block, or an expression that a comma ends.
fn handler(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    if input.peek(token::Brace) {
        let block: Block = input.parse()?;
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        return Ok(block.into_token_stream());
    }
    let expression: Expr = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(expression.into_token_stream())
}

/// The path of the crate, which `macro_rules` puts in front, and the rest.
pub(crate) fn split_crate(input: TokenStream) -> (TokenStream, TokenStream) {
    let mut tokens = input.into_iter();
    let krate = match tokens.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        other => other.into_token_stream(),
    };
    (krate, tokens.collect())
}

pub(crate) fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let (krate, input) = split_crate(input);
    let Select { biased, branches, otherwise } = Select::parse.parse2(input)?;
    let count = branches.len();
    let indices: Vec<usize> = (0..count).collect();
    let variants: Vec<Ident> = indices.iter().map(|i| format_ident!("_{i}")).collect();
    let futures: Vec<Ident> = indices.iter().map(|i| Ident::new(&format!("future{i}"), Span::mixed_site())).collect();
    let expressions = branches.iter().map(|branch| &branch.future);
    let conditions = branches.iter().zip(&indices).filter_map(|(branch, i)| {
        let condition = branch.condition.as_ref()?;
        Some(local! {
            if !(#condition) {
                disabled |= 1_u64 << #i;
            }
        })
    });
    // Declared in reverse, so that they are dropped in the order in which they are written.
    let pins = futures
        .iter()
        .rev()
        .map(|future| local!(let mut #future = ::core::pin::pin!(::core::future::IntoFuture::into_future(#future));));
    let first = match biased {
        true => local!(0_usize),
        false => local!(#krate::__private::first_branch(disabled, #count)),
    };
    let polls =
        branches.iter().zip(&indices).zip(futures.iter().zip(&variants)).map(|((branch, i), (future, variant))| {
            let pattern = without_bindings(branch.pattern.to_token_stream());
            local! {
                #i => {
                    if disabled & (1_u64 << #i) != 0 {
                        continue;
                    }
                    let output = match ::core::future::Future::poll(::core::pin::Pin::as_mut(&mut #future), context) {
                        ::core::task::Poll::Ready(output) => output,
                        ::core::task::Poll::Pending => {
                            pending = true;
                            continue;
                        }
                    };
                    disabled |= 1_u64 << #i;
                    #[allow(unused_variables, unused_mut, unreachable_patterns, clippy::all)]
                    match &output {
                        #pattern => {}
                        _ => continue,
                    }
                    return ::core::task::Poll::Ready(__Selected::#variant(output));
                }
            }
        });
    let handlers = branches
        .iter()
        .zip(&variants)
        .map(|(Branch { pattern, handler, .. }, variant)| local!(__Selected::#variant(#pattern) => #handler,));
    let otherwise =
        otherwise.unwrap_or_else(|| local!(::core::panic!("all branches are disabled and there is no else branch")));
    if branches.is_empty() {
        return Ok(otherwise);
    }
    let selected = Ident::new("selected", Span::mixed_site());
    Ok(local! {{
        #[doc(hidden)]
        enum __Selected<#(#variants),*> {
            #(#variants(#variants),)*
            None,
        }
        #[allow(unused_mut)]
        let mut #selected = {
            let mut disabled = 0_u64;
            #(#conditions)*
            let (#(#futures,)*) = (#(#expressions,)*);
            #(#pins)*
            ::core::future::poll_fn(|context| {
                if #krate::__private::poll_budget(context).is_pending() {
                    return ::core::task::Poll::Pending;
                }
                let mut pending = false;
                let first = #first;
                for offset in 0..#count {
                    #[allow(clippy::modulo_one)]
                    match (first + offset) % #count {
                        #(#polls)*
                        _ => ::core::unreachable!(),
                    }
                }
                match pending {
                    true => ::core::task::Poll::Pending,
                    false => ::core::task::Poll::Ready(__Selected::None),
                }
            })
            .await
        };
        #[allow(unreachable_patterns)]
        match #selected {
            #(#handlers)*
            __Selected::None => #otherwise,
            _ => ::core::unreachable!("what was selected has matched its pattern"),
        }
    }})
}

/// The pattern without `ref` and `mut`, so that it can be matched with a reference, which moves nothing.
fn without_bindings(pattern: TokenStream) -> TokenStream {
    pattern
        .into_iter()
        .filter(|token| !matches!(token, TokenTree::Ident(word) if word == "mut" || word == "ref"))
        .map(|token| match token {
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), without_bindings(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        })
        .collect()
}
