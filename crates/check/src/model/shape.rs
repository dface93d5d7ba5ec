//! Objects for which there is a faster algorithm.

use super::Token;

/// What kind of object a model is, as far as faster algorithms care. They apply only to histories that they
/// understand (say, no value written twice), and leave the others to the general search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// Any other.
    Generic,
    /// Reads return the last written value, or this value before the first write.
    Register(Token<'a>),
    /// First in, first out; empty at the beginning, without a bound.
    Queue,
    /// Last in, first out; empty at the beginning, without a bound.
    Stack,
    /// Elements go in and come out in any order; empty at the beginning, without a bound.
    Container,
    /// A sum with this value at the beginning, to which amounts are added.
    Counter(i64),
    /// Held by at most one owner; free at the beginning.
    Mutex,
}

/// An operation in the words of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access<'a> {
    /// Register: writes a value.
    Write(Token<'a>),
    /// Register: reads a value.
    Read(Token<'a>),
    /// Queue, stack, container: inserts a value.
    Insert(Token<'a>),
    /// Queue, stack, container: removes a value, or finds nothing.
    Remove(Option<Token<'a>>),
    /// Queue, stack, container: removes a value or finds nothing, or does not happen; nobody knows.
    RemoveUnknown,
    /// Counter: adds an amount.
    Add(i64),
    /// Counter: reads the sum.
    Sum(i64),
    /// Mutex: this owner takes it.
    Acquire(u64),
    /// Mutex: this owner gives it back.
    Release(u64),
    /// Anything else: the faster algorithm does not apply.
    Other,
}
