//! The attribute `#[drawloom::test]`; use it through the crate `drawloom`, which re-exports it.
//!
//! The attribute has no grammar of its own: it hands its arguments, as text, to the parser of
//! [`drawloom_config`] and only maps what that parser points at back to the source. So a
//! text that works here works in `DRAWLOOM_STRATEGY` as well, and a mistake is found when the test
//! is compiled, at the token that is wrong.

mod arguments;
mod error;
mod expand;
mod function;
mod template;
mod text;
mod tokens;

use proc_macro::TokenStream;

/// Makes a function a test that is explored under many schedules.
///
/// ```ignore
/// #[drawloom::test]
/// fn two_increments_are_two() {
///     let counter = Arc::new(AtomicU32::new(0));
///     // …
/// }
///
/// #[drawloom::test(sticky(iterations = 10_000), max_steps = 5_000)]
/// #[should_panic]
/// fn a_lost_update_is_found() {
///     // …
/// }
/// ```
///
/// The arguments are a configuration in the grammar of [`drawloom_config`]: at most one
/// strategy, and any shared arguments around or inside it. One more argument belongs to the
/// attribute alone: `crate = ::my::drawloom` names the crate `drawloom` where it goes by another
/// path.
///
/// The function takes no parameters. It returns `()`, a `Result`, or whatever else `drawloom` knows
/// to judge. `#[should_panic]`, `#[ignore]`, `#[cfg(…)]` and docs work as they do with `#[test]`.
#[cfg_attr(not(test), expect(clippy::useless_conversion, reason = "tests have other tokens than the compiler's"))]
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(arguments.into(), item.into()).unwrap_or_else(error::Error::into_compile_error).into()
}
