//! A list that only grows.

use std::marker::PhantomData;

use super::{Call, Datum, Model, Next};

/// A list that is empty at the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppendList<V>(PhantomData<V>);

/// The operations of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListOp<V> {
    /// Appends an element.
    Append(V),
    /// Returns the whole list.
    Read,
}

/// The results of operations of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListRet<V> {
    /// To an append.
    Appended,
    /// To a read.
    Elements(Vec<V>),
}

impl<V> AppendList<V> {
    /// An empty list.
    pub fn new() -> AppendList<V> {
        AppendList(PhantomData)
    }
}

impl<V: Datum> Model for AppendList<V> {
    type State = Vec<V>;
    type Op = ListOp<V>;
    type Ret = ListRet<V>;

    fn init(&self) -> Vec<V> {
        Vec::new()
    }

    fn step(&self, state: &Vec<V>, op: &ListOp<V>, ret: Option<&ListRet<V>>, next: &mut Next<Vec<V>>) {
        match (op, ret) {
            (ListOp::Append(value), None | Some(ListRet::Appended)) => next.copy(state).push(value.clone()),
            (ListOp::Read, Some(ListRet::Elements(elements))) => next.unchanged_if(state == elements),
            (ListOp::Read, None) => next.unchanged(),
            _ => {}
        }
    }

    fn observer(&self, op: &ListOp<V>, _: Option<&ListRet<V>>) -> bool {
        matches!(op, ListOp::Read)
    }

    fn hopeless<'a, I>(&self, state: &Vec<V>, _: &'a ListOp<V>, ret: &'a ListRet<V>, others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
    {
        let ListRet::Elements(elements) = ret else { return false };
        let appended = |value: &V| others.clone().any(|(op, _)| matches!(op, ListOp::Append(other) if other == value));
        match elements.strip_prefix(state.as_slice()) {
            Some(rest) => rest.iter().any(|value| !appended(value)),
            None => true,
        }
    }

    fn heap(&self, state: &Vec<V>) -> usize {
        state.len() * size_of::<V>()
    }

    fn explain(&self, state: &Vec<V>, _: &ListOp<V>, _: &ListRet<V>) -> String {
        format!("the list is {state:?}")
    }

    fn describe(&self, op: &ListOp<V>, ret: Option<&ListRet<V>>) -> String {
        match (op, ret) {
            (ListOp::Append(value), None) => format!("append {value:?} → ?"),
            (ListOp::Append(value), Some(_)) => format!("append {value:?}"),
            (ListOp::Read, Some(ListRet::Elements(elements))) => format!("read → {elements:?}"),
            (ListOp::Read, _) => "read → ?".to_owned(),
        }
    }
}
