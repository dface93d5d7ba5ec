//! From the annotated function to the test.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemFn, ReturnType, Signature};

use crate::arguments::Arguments;

pub(crate) fn test(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)
        .map_err(|error| syn::Error::new(error.span(), "`#[drawloom::test]` belongs on a function"))?;
    function.modifiers.require_empty()?;
    check(&function)?;
    Ok(expand(&Arguments::parse(arguments)?, &function))
}

/// The body becomes a function of its own, inside of the test and with the test's name: any other
/// name could hide one that the body uses, and a closure could not return `impl Trait`.
fn expand(Arguments { config, krate }: &Arguments, function: &ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let name = &sig.ident;
    let output = &sig.output;
    let mut config = config.clone();
    // What is found there is what the test is for, and no regression.
    config.regressions &= !attrs.iter().any(|attribute| attribute.path().is_ident("should_panic"));
    let config = config.to_string();
    // If the returned type cannot be judged, that is where the compiler shall point.
    let blamed = match output {
        ReturnType::Default => name.span(),
        ReturnType::Type(_, returned) => returned.span(),
    };
    let run = quote_spanned!(blamed=> #krate::__private::run_test);
    let body = match &sig.asyncness {
        None => quote!(fn #name() #output #block),
        Some(asyncness) => quote! {
            fn #name() #output {
                #asyncness fn #name() #output #block
                #krate::future::run(#name())
            }
        },
    };
    quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
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
fn check(function: &ItemFn) -> syn::Result<()> {
    let Signature { constness, safety, abi, generics, inputs, .. } = &function.sig;
    if !inputs.is_empty() {
        return refuse(inputs, "a test takes no parameters\nhelp: make the values inside the function");
    }
    if !generics.params.is_empty() {
        return refuse(generics, "a test cannot be generic\nhelp: call the generic function from a test");
    }
    let qualifiers = quote!(#constness #safety #abi);
    if !qualifiers.is_empty() {
        return refuse(qualifiers, "a test is a plain `fn`");
    }
    match function.attrs.iter().find(|attr| attr.path().is_ident("test")) {
        Some(attribute) => {
            refuse(attribute, "`#[drawloom::test]` makes the function a test already\nhelp: remove `#[test]`")
        }
        None => Ok(()),
    }
}

fn refuse(tokens: impl ToTokens, message: &str) -> syn::Result<()> {
    Err(syn::Error::new_spanned(tokens, message))
}
