//! What an invariant may say.

use std::fmt::Display;

/// The result of an invariant: `bool`, or a `Result` that says what is wrong, or nothing if it asserts.
pub trait Holds {
    /// What is wrong, if anything.
    fn broken(self) -> Option<String>;
}

impl Holds for () {
    fn broken(self) -> Option<String> {
        None
    }
}

impl Holds for bool {
    fn broken(self) -> Option<String> {
        (!self).then(String::new)
    }
}

impl<E: Display> Holds for Result<(), E> {
    fn broken(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}
