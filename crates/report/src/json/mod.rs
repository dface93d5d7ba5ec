//! JSON, written and read: what serde derives meets the form of the files here.
//!
//! Whoever tests a program links this crate. `serde_json` would do the same, but it lets every number be compared to its own
//! `Value`, and then `assert_eq!(items, vec![])` no longer says what the list is of: tests of the user's would not compile
//! any more, though they never name it. So there is only what our files need: no floating point numbers, and no tree of values.

mod read;
mod write;

pub(crate) use read::{from_str, from_str_with};
pub(crate) use write::{to_string, to_string_pretty};

/// What is wrong with a text, or with a value that is to be one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Error {
    reason: String,
    /// Where in the text, if it was read: line and column, from 1.
    place: Option<(usize, usize)>,
    at_its_end: bool,
}

impl Error {
    /// Whether the text ends too early.
    pub(crate) fn is_eof(&self) -> bool {
        self.at_its_end
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        match self.place {
            Some((line, column)) => write!(f, " at line {line} column {column}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(reason: String) -> Error {
        Error { reason, place: None, at_its_end: false }
    }
}

impl serde::ser::Error for Error {
    fn custom<T: std::fmt::Display>(reason: T) -> Error {
        reason.to_string().into()
    }
}

impl serde::de::Error for Error {
    fn custom<T: std::fmt::Display>(reason: T) -> Error {
        reason.to_string().into()
    }
}

#[cfg(test)]
mod tests;
