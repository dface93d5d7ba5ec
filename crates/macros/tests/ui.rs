//! What the compiler says when the attribute is used wrongly: every message, as a person sees it.

#[test]
fn misuse_is_explained_at_the_token_that_is_wrong() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
