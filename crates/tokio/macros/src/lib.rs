//! The macros of drawloom-tokio; use them through that crate, which re-exports them.

mod entry;
mod join;
mod select;

use proc_macro::TokenStream;

/// As `quote!`, with local variables that the code around does not see, and the other way round.
macro_rules! local {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

use local;

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Makes an async function a test that is explored under many schedules, as `#[tokio::test]` makes it one
/// that is run under one.
///
/// It takes tokio's arguments (`flavor`, `worker_threads`, `start_paused`, `crate` …), and `explore = "…"`, a
/// configuration as `#[drawloom::test]` takes it.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(entry::test(arguments.into(), item.into()))
}

/// Runs an async function on a runtime, as `#[tokio::main]`.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(entry::main(arguments.into(), item.into()))
}

/// `select!`, with the path of the crate in front.
#[doc(hidden)]
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    expanded(select::expand(input.into()))
}

/// `join!`, with the path of the crate in front.
#[doc(hidden)]
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    expanded(join::expand(input.into(), join::Kind::All))
}

/// `try_join!`, with the path of the crate in front.
#[doc(hidden)]
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    expanded(join::expand(input.into(), join::Kind::UntilError))
}
