//! The written form as users meet it: what is accepted, what is refused and how, and the way back.

mod accepted;
mod environment;
mod refusals;
mod written_back;

use super::*;

fn parsed(source: &str) -> Config {
    source.parse().unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn refused(source: &str) -> ConfigError {
    match source.parse::<Config>() {
        Ok(config) => panic!("{source}: parsed as {config}"),
        Err(error) => error,
    }
}

/// Asserts the message and that the span covers exactly `piece`.
#[track_caller]
fn assert_refused(source: &str, piece: &str, message: &str) {
    let error = refused(source);
    assert_eq!(error.message(), message);
    assert_eq!(&source[error.span()], piece, "{error}");
}
