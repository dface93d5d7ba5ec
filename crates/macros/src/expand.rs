//! From the annotated function to the test.

use crate::arguments::Arguments;
use crate::error::Error;
use crate::function::Function;
use crate::template::fill;
use crate::tokens::{Literal, TokenStream, TokenTree};

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
    // If the returned type cannot be judged, that is where the compiler shall point.
    let blamed = returned.clone().into_iter().next().map_or(name.span(), |first| first.span());
    let run = fill("KRATE::__private::run_test", &[("KRATE", krate.clone())]).into_iter().map(|mut token| {
        token.set_span(blamed);
        token
    });
    let places = [
        ("ATTRIBUTES", attributes.iter().cloned().collect()),
        ("VISIBILITY", visibility.clone()),
        ("ASYNC", asyncness.clone().map(TokenTree::from).into_iter().collect()),
        ("NAME", TokenTree::from(name.clone()).into()),
        ("OUTPUT", output.clone()),
        ("BODY", TokenTree::from(body.clone()).into()),
        ("KRATE", krate.clone()),
        ("RUN", run.collect()),
        ("CONFIG", TokenTree::from(Literal::string(&config.to_string())).into()),
    ];
    let explored = if asyncness.is_none() { "fn NAME() OUTPUT BODY" } else { ASYNC };
    fill(&TEST.replace("EXPLORED", explored), &places)
}

const TEST: &str = r#"
    ATTRIBUTES
    #[::core::prelude::v1::test]
    VISIBILITY fn NAME() {
        EXPLORED
        RUN(
            ::core::concat!(::core::module_path!(), "::", ::core::stringify!(NAME)),
            KRATE::__private::this_crate!(),
            CONFIG,
            NAME,
        )
    }
"#;

const ASYNC: &str = "
    fn NAME() OUTPUT {
        ASYNC fn NAME() OUTPUT BODY
        KRATE::future::run(NAME())
    }
";

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
