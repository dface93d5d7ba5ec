//! From the annotated function to the test, or to `main`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, ItemFn, Lit, LitStr, Meta, Path, ReturnType, Token};

struct Arguments {
    /// What becomes of the runtime's builder.
    runtime: Runtime,
    /// The crate, as the function's code can name it.
    krate: TokenStream,
    /// How to explore.
    explore: String,
}

struct Runtime {
    flavor: &'static str,
    workers: Option<Expr>,
    paused: Option<Expr>,
    name: Option<Expr>,
}

impl Arguments {
    fn parse(tokens: TokenStream, flavor: &'static str) -> syn::Result<Self> {
        let runtime = Runtime { flavor, workers: None, paused: None, name: None };
        let mut arguments = Arguments { runtime, krate: default_crate(), explore: String::new() };
        for meta in Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)? {
            arguments.apply(&meta)?;
        }
        Ok(arguments)
    }

    fn apply(&mut self, meta: &Meta) -> syn::Result<()> {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let value = match meta {
            Meta::NameValue(pair) => &pair.value,
            _ => return Err(syn::Error::new_spanned(meta, format!("`{name}` takes a value, as in `{name} = …`"))),
        };
        match name.as_str() {
            "flavor" => {
                let flavor = string(value)?;
                self.runtime.flavor = match flavor.value().as_str() {
                    "multi_thread" => "MultiThread",
                    "current_thread" => "CurrentThread",
                    "local" => "Local",
                    other => {
                        let message =
                            format!("no such runtime flavor `{other}`: `current_thread`, `multi_thread`, `local`");
                        return Err(syn::Error::new_spanned(flavor, message));
                    }
                };
            }
            "worker_threads" => self.runtime.workers = Some(value.clone()),
            "start_paused" => self.runtime.paused = Some(value.clone()),
            "explore" => self.explore = string(value)?.value(),
            "crate" => {
                self.krate = match value {
                    Expr::Path(path) => path.to_token_stream(),
                    other => string(other)?.parse::<Path>()?.to_token_stream(),
                }
            }
            "name" => self.runtime.name = Some(value.clone()),
            // Nothing of what it is about is different here.
            "unhandled_panic" => {}
            _ => {
                let message = format!(
                    "unknown attribute `{name}`: expected `flavor`, `worker_threads`, `start_paused`, `crate`, \
                     `unhandled_panic`, `name`, `explore`"
                );
                return Err(syn::Error::new_spanned(meta, message));
            }
        }
        Ok(())
    }

    /// A runtime that runs `body`.
    fn run(&self, body: &TokenStream, span: Span) -> TokenStream {
        let Arguments { runtime: Runtime { flavor, workers, paused, name }, krate, .. } = self;
        let option = |value: &Option<Expr>| match value {
            Some(value) => quote!(::core::option::Option::Some(#value)),
            None => quote!(::core::option::Option::None),
        };
        let (workers, name, flavor) = (option(workers), option(name), Ident::new(flavor, Span::call_site()));
        let paused = paused.as_ref().map_or_else(|| quote!(false), ToTokens::to_token_stream);
        quote_spanned!(span=> #krate::__private::run(
            &#krate::__private::On {
                flavor: #krate::__private::Flavor::#flavor,
                workers: #workers,
                paused: #paused,
                name: #name,
            },
            #body,
        ))
    }
}

fn string(value: &Expr) -> syn::Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) => Ok(string.clone()),
        other => Err(syn::Error::new_spanned(other, "expected a string")),
    }
}

/// What the crate is called where the attribute stands: by its own name if the manifest has a dependency of
/// that name, and `tokio` otherwise.
fn default_crate() -> TokenStream {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let manifest = std::env::var("CARGO_MANIFEST_DIR").map(|folder| std::path::Path::new(&folder).join("Cargo.toml"));
    let manifest = manifest.ok().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let is_dependency = |line: &str| {
        let rest = line.trim().strip_prefix("drawloom-tokio");
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    if package == "drawloom-tokio" || manifest.lines().any(is_dependency) {
        quote!(::drawloom_tokio)
    } else {
        quote!(::tokio)
    }
}

fn async_function(item: TokenStream, attribute: &str) -> syn::Result<ItemFn> {
    let function: ItemFn = syn::parse2(item)
        .map_err(|error| syn::Error::new(error.span(), format!("`{attribute}` belongs on a function")))?;
    if function.sig.asyncness.is_none() {
        let message = "the `async` keyword is missing from the function declaration";
        return Err(syn::Error::new_spanned(function.sig.fn_token, message));
    }
    Ok(function)
}

pub(crate) fn test(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments = Arguments::parse(arguments, "CurrentThread")?;
    let function = async_function(item, "#[tokio::test]")?;
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    if !sig.inputs.is_empty() {
        return Err(syn::Error::new_spanned(&sig.inputs, "the test function cannot accept arguments"));
    }
    if let Some(attribute) = attrs.iter().find(|attribute| attribute.path().is_ident("test")) {
        let message =
            "second test attribute is supplied, consider removing or changing the order of your test attributes";
        return Err(syn::Error::new_spanned(attribute, message));
    }
    let (name, output, krate) = (&sig.ident, &sig.output, &arguments.krate);
    let mut explore = arguments.explore.clone();
    if attrs.iter().any(|attribute| attribute.path().is_ident("should_panic")) {
        // What is found there is what the test is for, and no regression.
        explore.push_str(if explore.is_empty() { "regressions = false" } else { ", regressions = false" });
    }
    // If the returned type cannot be judged, that is where the compiler shall point.
    let blamed = match output {
        ReturnType::Default => name.span(),
        ReturnType::Type(_, returned) => returned.span(),
    };
    let body = arguments.run(&quote!(#name()), name.span());
    let run_test = quote_spanned!(blamed=> #krate::__private::run_test);
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            fn #name() #output {
                async fn #name() #output #block
                #body
            }
            #run_test(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                #krate::__private::this_crate!(),
                #explore,
                #name,
            )
        }
    })
}

pub(crate) fn main(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments = Arguments::parse(arguments, "MultiThread")?;
    let mut function = async_function(item, "#[tokio::main]")?;
    let ItemFn { attrs, vis, sig, block, .. } = &mut function;
    sig.asyncness = None;
    let body = quote!(async #block);
    let body = arguments.run(&body, Span::call_site());
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            #body
        }
    })
}
