//! A set; each element is a part of its own, unless somebody reads the whole set.

use std::marker::PhantomData;

use super::{Call, Datum, Model, Next, Token};

/// A set that is empty at the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set<V>(PhantomData<V>);

/// The operations of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetOp<V> {
    /// Adds an element.
    Add(V),
    /// Removes an element.
    Remove(V),
    /// Whether an element is there.
    Contains(V),
    /// All elements. One such operation, and the set cannot be checked element by element.
    Elements,
}

/// The results of operations of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetRet<V> {
    /// To an add or a remove: whether it changed the set. To `Contains`: whether it is there.
    Answer(bool),
    /// To an add or a remove that does not say.
    Done,
    /// To `Elements`, in any order.
    Elements(Vec<V>),
}

impl<V> Set<V> {
    /// An empty set.
    pub fn new() -> Set<V> {
        Set(PhantomData)
    }
}

impl<V: Datum + Ord> Model for Set<V> {
    /// The elements, sorted.
    type State = Vec<V>;
    type Op = SetOp<V>;
    type Ret = SetRet<V>;

    fn init(&self) -> Vec<V> {
        Vec::new()
    }

    fn step(&self, state: &Vec<V>, op: &SetOp<V>, ret: Option<&SetRet<V>>, next: &mut Next<Vec<V>>) {
        let fits = |answer: bool| match ret {
            None | Some(SetRet::Done) => true,
            Some(SetRet::Answer(given)) => *given == answer,
            Some(SetRet::Elements(_)) => false,
        };
        match op {
            SetOp::Add(value) => match state.binary_search(value) {
                Ok(_) => next.unchanged_if(fits(false)),
                Err(at) if fits(true) => next.copy(state).insert(at, value.clone()),
                Err(_) => {}
            },
            SetOp::Remove(value) => match state.binary_search(value) {
                Ok(at) if fits(true) => drop(next.copy(state).remove(at)),
                Ok(_) => {}
                Err(_) => next.unchanged_if(fits(false)),
            },
            SetOp::Contains(value) => match ret {
                Some(SetRet::Answer(given)) => next.unchanged_if(*given == state.binary_search(value).is_ok()),
                Some(_) => {}
                None => next.unchanged(),
            },
            SetOp::Elements => match ret {
                Some(SetRet::Elements(elements)) => next.unchanged_if(same(state, elements)),
                Some(_) => {}
                None => next.unchanged(),
            },
        }
    }

    fn observer(&self, op: &SetOp<V>, ret: Option<&SetRet<V>>) -> bool {
        match op {
            SetOp::Contains(_) | SetOp::Elements => true,
            SetOp::Add(_) | SetOp::Remove(_) => matches!(ret, Some(SetRet::Answer(false))),
        }
    }

    fn partition<'a>(&self, op: &'a SetOp<V>) -> Option<Token<'a>> {
        match op {
            SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value) => value.token(),
            SetOp::Elements => None,
        }
    }

    fn hopeless<'a, I>(&self, state: &Vec<V>, op: &'a SetOp<V>, ret: &'a SetRet<V>, mut others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
    {
        let (value, wanted) = match (op, ret) {
            (SetOp::Add(value), SetRet::Answer(added)) => (value, !added),
            (SetOp::Remove(value) | SetOp::Contains(value), SetRet::Answer(there)) => (value, *there),
            (SetOp::Elements, SetRet::Elements(elements)) => {
                // Every element that is missing must be added by somebody.
                let added = |value: &V, mut others: I| {
                    others.any(|(other, _)| matches!(other, SetOp::Add(added) if added == value))
                };
                let missing = |value: &&V| state.binary_search(value).is_err();
                return elements.iter().filter(missing).any(|value| !added(value, others.clone()));
            }
            _ => return false,
        };
        state.binary_search(value).is_ok() != wanted
            && !others.any(|(other, ret)| match (other, ret) {
                (_, Some(SetRet::Answer(false))) => false,
                (SetOp::Add(added), _) => wanted && added == value,
                (SetOp::Remove(removed), _) => !wanted && removed == value,
                _ => false,
            })
    }

    fn heap(&self, state: &Vec<V>) -> usize {
        state.len() * size_of::<V>()
    }

    fn explain(&self, state: &Vec<V>, op: &SetOp<V>, _: &SetRet<V>) -> String {
        match op {
            SetOp::Add(value) | SetOp::Remove(value) | SetOp::Contains(value) => {
                format!("{value:?} is {}", if state.binary_search(value).is_ok() { "there" } else { "not there" })
            }
            SetOp::Elements => format!("the elements are {state:?}"),
        }
    }

    fn describe(&self, op: &SetOp<V>, ret: Option<&SetRet<V>>) -> String {
        let text = match op {
            SetOp::Add(value) => format!("add {value:?}"),
            SetOp::Remove(value) => format!("remove {value:?}"),
            SetOp::Contains(value) => format!("contains {value:?}"),
            SetOp::Elements => "elements".to_owned(),
        };
        match ret {
            None => text + " → ?",
            Some(SetRet::Done) => text,
            Some(SetRet::Answer(answer)) => format!("{text} → {answer}"),
            Some(SetRet::Elements(elements)) => format!("{text} → {elements:?}"),
        }
    }
}

/// Whether a list, in any order, holds exactly the elements of a sorted set.
fn same<V: Ord>(state: &[V], elements: &[V]) -> bool {
    elements.len() == state.len() && {
        let mut seen: Vec<&V> = elements.iter().collect();
        seen.sort_unstable();
        seen.into_iter().eq(state)
    }
}
