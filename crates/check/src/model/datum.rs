//! What models hold.

use std::fmt::{self, Debug};
use std::hash::Hash;

use crate::history::Value;

/// A value in a model: a register's content, an element of a queue, a key.
///
/// For a type of your own an empty `impl` will do.
pub trait Datum: Clone + Eq + Hash + Debug {
    /// The value as a simple one: equal values have equal tokens, different values different ones. Faster algorithms
    /// and partitions need it.
    fn token(&self) -> Option<Token<'_>> {
        None
    }

    /// Appends another value, and says whether that is possible.
    fn append(&mut self, other: &Self) -> bool {
        let _ = other;
        false
    }

    /// Whether appending something to `other` could give this value. `true` is always right.
    fn begins(&self, other: &Self) -> bool {
        let _ = other;
        true
    }

    /// Whether appending `other` to something could give this value. `true` is always right.
    fn ends(&self, other: &Self) -> bool {
        let _ = other;
        true
    }

    /// Whether appending `next` to `base`, and then something, could give this value. `true` is always right.
    fn follows(&self, base: &Self, next: &Self) -> bool {
        let _ = next;
        self.begins(base)
    }
}

/// A simple value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token<'a> {
    /// Nothing.
    Nil,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(i64),
    /// A whole number beyond 64 bits, or any other exact one.
    Digits(&'a str),
    /// A text.
    Text(&'a str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Nil => f.write_str("nil"),
            Token::Bool(value) => write!(f, "{value}"),
            Token::Number(value) => write!(f, "{value}"),
            Token::Digits(text) => f.write_str(text),
            Token::Text(text) => write!(f, "{text:?}"),
        }
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Datum for $number {
            fn token(&self) -> Option<Token<'_>> {
                i64::try_from(*self).ok().map(Token::Number)
            }
        }
    )*};
}

numbers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl Datum for bool {
    fn token(&self) -> Option<Token<'_>> {
        Some(Token::Bool(*self))
    }
}

impl Datum for String {
    fn token(&self) -> Option<Token<'_>> {
        Some(Token::Text(self))
    }

    fn append(&mut self, other: &String) -> bool {
        self.push_str(other);
        true
    }

    fn begins(&self, other: &String) -> bool {
        self.starts_with(other.as_str())
    }

    fn ends(&self, other: &String) -> bool {
        self.ends_with(other.as_str())
    }

    fn follows(&self, base: &String, next: &String) -> bool {
        self.strip_prefix(base.as_str()).is_some_and(|rest| rest.starts_with(next.as_str()))
    }
}

impl Datum for &'static str {
    fn token(&self) -> Option<Token<'_>> {
        Some(Token::Text(self))
    }
}

impl<T: Datum> Datum for Option<T> {
    fn token(&self) -> Option<Token<'_>> {
        // `Some(None)` would be confused with `None`.
        match self {
            None => Some(Token::Nil),
            Some(value) => value.token().filter(|token| *token != Token::Nil),
        }
    }
}

impl<T: Datum> Datum for Vec<T> {
    fn append(&mut self, other: &Vec<T>) -> bool {
        self.extend_from_slice(other);
        true
    }

    fn begins(&self, other: &Vec<T>) -> bool {
        self.starts_with(other)
    }

    fn ends(&self, other: &Vec<T>) -> bool {
        self.ends_with(other)
    }

    fn follows(&self, base: &Vec<T>, next: &Vec<T>) -> bool {
        self.strip_prefix(base.as_slice()).is_some_and(|rest| rest.starts_with(next))
    }
}

impl Datum for Value {
    fn token(&self) -> Option<Token<'_>> {
        match self {
            Value::Nil => Some(Token::Nil),
            Value::Bool(value) => Some(Token::Bool(*value)),
            Value::Int(value) => Some(Token::Number(*value)),
            Value::Number(text) => Some(Token::Digits(text)),
            Value::Text(text) => Some(Token::Text(text)),
            Value::Float(_) | Value::List(_) | Value::Set(_) | Value::Map(_) => None,
        }
    }

    fn append(&mut self, other: &Value) -> bool {
        match (self, other) {
            (Value::Text(text), Value::Text(more)) => text.push_str(more),
            (Value::List(list), Value::List(more)) => list.extend_from_slice(more),
            _ => return false,
        }
        true
    }

    fn begins(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Text(text), Value::Text(other)) => text.starts_with(other.as_str()),
            (Value::List(list), Value::List(other)) => list.starts_with(other),
            _ => self == other,
        }
    }

    fn ends(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Text(text), Value::Text(other)) => text.ends_with(other.as_str()),
            (Value::List(list), Value::List(other)) => list.ends_with(other),
            _ => self == other,
        }
    }

    fn follows(&self, base: &Value, next: &Value) -> bool {
        match (self, base, next) {
            (Value::Text(text), Value::Text(base), Value::Text(next)) => text.follows(base, next),
            (Value::List(list), Value::List(base), Value::List(next)) => list.follows(base, next),
            _ => false,
        }
    }
}
