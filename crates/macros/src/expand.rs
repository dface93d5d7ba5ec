//! From the annotated function to the test.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::function::Function;

pub(crate) fn test(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let function = Function::parse(item)?;
    check(&function)?;
    Ok(expand(&Arguments::parse(arguments)?, &function))
}

/// The body becomes a function of its own, inside of the test and with the test's name: any other
/// name could hide one that the body uses, and a closure could not return `impl Trait`.
fn expand(Arguments { config, krate }: &Arguments, function: &Function) -> TokenStream {
    let Function { attributes, visibility, asyncness, name, output, returned, body, .. } = function;
    let mut config = config.clone();
    // What is found there is what the test is for, and no regression.
    config.regressions &= function.attribute("should_panic").is_none();
    let config = config.to_string();
    // If the returned type cannot be judged, that is where the compiler shall point.
    let blamed = returned.clone().into_iter().next().map_or(name.span(), |first| first.span());
    let run = quote_spanned!(blamed=> #krate::__private::run_test);
    let body = match asyncness {
        None => quote!(fn #name() #output #body),
        Some(asyncness) => quote! {
            fn #name() #output {
                #asyncness fn #name() #output #body
                #krate::future::run(#name())
            }
        },
    };
    quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #visibility fn #name() {
            #body
            #run(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                #krate::__private::this_crate!(),
                #config,
                #name,
            )
        }
    }
}

/// Refuses what a test cannot be.
fn check(function: &Function) -> Result<(), Error> {
    let Function { inputs, generics, qualifiers, .. } = function;
    if !inputs.stream().is_empty() {
        return refuse(&inputs.stream(), "a test takes no parameters\nhelp: make the values inside the function");
    }
    if !generics.is_empty() {
        return refuse(generics, "a test cannot be generic\nhelp: call the generic function from a test");
    }
    if !qualifiers.is_empty() {
        return refuse(qualifiers, "a test is a plain `fn`");
    }
    match function.attribute("test") {
        Some(attribute) => {
            refuse(attribute, "`#[drawloom::test]` makes the function a test already\nhelp: remove `#[test]`")
        }
        None => Ok(()),
    }
}

fn refuse(tokens: &TokenStream, message: &str) -> Result<(), Error> {
    Err(Error::over(tokens, message))
}
