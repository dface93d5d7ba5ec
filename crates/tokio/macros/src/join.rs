//! `join!` and `try_join!`: wait for several futures on one task.
//!
//! As in tokio, each poll begins with another one of them, in turn, unless it is `biased`.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Token};

use crate::local;
use crate::select::split_crate;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Until all are ready.
    All,
    /// Until all are ready, or one has failed.
    UntilError,
}

struct Join {
    biased: bool,
    futures: Punctuated<Expr, Token![,]>,
}

mod keyword {
    syn::custom_keyword!(biased);
}

impl Parse for Join {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let biased = input.peek(keyword::biased) && input.peek2(Token![;]);
        if biased {
            input.parse::<keyword::biased>()?;
            input.parse::<Token![;]>()?;
        }
        Ok(Join { biased, futures: Punctuated::parse_terminated(input)? })
    }
}

pub(crate) fn expand(input: TokenStream, kind: Kind) -> syn::Result<TokenStream> {
    let (_, input) = split_crate(input);
    let Join { biased, futures: expressions } = Join::parse.parse2(input)?;
    let count = expressions.len();
    if count == 0 {
        return Ok(match kind {
            Kind::All => local!(async {}.await),
            Kind::UntilError => local!(async { ::core::result::Result::Ok(()) }.await),
        });
    }
    let named = |prefix: &str| -> Vec<Ident> {
        (0..count).map(|i| Ident::new(&format!("{prefix}{i}"), Span::mixed_site())).collect()
    };
    let (futures, outputs) = (named("future"), named("output"));
    let indices: Vec<usize> = (0..count).collect();
    let expressions = expressions.iter();
    let pins = futures.iter().rev().map(|future| {
        let made = local!(::core::future::IntoFuture::into_future(#future));
        local!(let mut #future = ::core::pin::pin!(::core::option::Option::Some(#made));)
    });
    let ready = match kind {
        Kind::All => local!(output),
        Kind::UntilError => local! {
            match output {
                ::core::result::Result::Ok(output) => output,
                ::core::result::Result::Err(error) => {
                    return ::core::task::Poll::Ready(::core::result::Result::Err(error));
                }
            }
        },
    };
    let polls = indices.iter().zip(futures.iter().zip(&outputs)).map(|(i, (future, slot))| {
        local! {
            #i => {
                let ::core::option::Option::Some(running) = ::core::option::Option::as_pin_mut(::core::pin::Pin::as_mut(&mut #future))
                else {
                    continue;
                };
                match ::core::future::Future::poll(running, context) {
                    ::core::task::Poll::Pending => pending = true,
                    ::core::task::Poll::Ready(output) => {
                        ::core::pin::Pin::set(&mut #future, ::core::option::Option::None);
                        #slot = ::core::option::Option::Some(#ready);
                    }
                }
            }
        }
    });
    let all = local!((#(#outputs.take().expect("all are ready"),)*));
    let all = match kind {
        Kind::All => all,
        Kind::UntilError => local!(::core::result::Result::Ok(#all)),
    };
    let turn = match biased {
        true => local!(),
        false => local!(first = (first + 1) % #count;),
    };
    Ok(local! {{
        let (#(#futures,)*) = (#(#expressions,)*);
        #(#pins)*
        #(let mut #outputs = ::core::option::Option::None;)*
        #[allow(unused_mut)]
        let mut first = 0_usize;
        ::core::future::poll_fn(move |context| {
            let mut pending = false;
            let begin = first;
            #turn
            for offset in 0..#count {
                #[allow(clippy::modulo_one)]
                match (begin + offset) % #count {
                    #(#polls)*
                    _ => ::core::unreachable!(),
                }
            }
            match pending {
                true => ::core::task::Poll::Pending,
                false => ::core::task::Poll::Ready(#all),
            }
        })
        .await
    }})
}
