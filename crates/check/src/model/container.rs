//! Queue, stack and priority queue: insert and remove, which differ in what is removed.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::marker::PhantomData;

use super::{Access, Call, Datum, Model, Next, Shape};

/// An object that elements are inserted into and removed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<V, D> {
    /// How many elements fit; `None` if there is no bound.
    pub capacity: Option<usize>,
    discipline: PhantomData<(V, D)>,
}

/// First in, first out. If no value is inserted twice, checked in near-linear time.
pub type FifoQueue<V> = Container<V, Fifo>;
/// Last in, first out. If no value is inserted twice, checked in near-linear time.
pub type LifoStack<V> = Container<V, Lifo>;
/// The smallest element first.
pub type PriorityQueue<V> = Container<V, Priority>;

/// The operations of a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContainerOp<V> {
    /// Inserts an element.
    Insert(V),
    /// Removes an element.
    Remove,
}

/// The results of operations of a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContainerRet<V> {
    /// To an insert.
    Inserted,
    /// To an insert: there was no room.
    Full,
    /// To a remove.
    Removed(V),
    /// To a remove: there was nothing.
    Empty,
}

/// Where elements go. The next one to be removed is always the first.
pub trait Discipline<V> {
    /// Its words for insert and remove.
    const WORDS: (&'static str, &'static str);

    /// Puts an element where it belongs.
    fn insert(elements: &mut VecDeque<V>, value: V);

    /// What kind of object it is.
    fn shape() -> Shape<'static> {
        Shape::Generic
    }

    /// Whether an element inserted later can be removed before `first`.
    fn overtakes(first: &V, later: &V) -> bool;
}

/// First in, first out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fifo;

/// Last in, first out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifo;

/// The smallest first; equal ones cannot be distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Priority;

impl<V> Discipline<V> for Fifo {
    const WORDS: (&'static str, &'static str) = ("enqueue", "dequeue");

    fn insert(elements: &mut VecDeque<V>, value: V) {
        elements.push_back(value);
    }

    fn shape() -> Shape<'static> {
        Shape::Queue
    }

    fn overtakes(_: &V, _: &V) -> bool {
        false
    }
}

impl<V> Discipline<V> for Lifo {
    const WORDS: (&'static str, &'static str) = ("push", "pop");

    fn insert(elements: &mut VecDeque<V>, value: V) {
        elements.push_front(value);
    }

    fn shape() -> Shape<'static> {
        Shape::Stack
    }

    fn overtakes(_: &V, _: &V) -> bool {
        true
    }
}

impl<V: Ord> Discipline<V> for Priority {
    const WORDS: (&'static str, &'static str) = ("insert", "remove-min");

    fn shape() -> Shape<'static> {
        Shape::Container
    }

    fn insert(elements: &mut VecDeque<V>, value: V) {
        let at = elements.partition_point(|other| *other < value);
        elements.insert(at, value);
    }

    fn overtakes(first: &V, later: &V) -> bool {
        later < first
    }
}

impl<V, D> Default for Container<V, D> {
    fn default() -> Self {
        Container { capacity: None, discipline: PhantomData }
    }
}

impl<V, D> Container<V, D> {
    /// An empty container without a bound.
    pub fn new() -> Self {
        Container::default()
    }

    /// An empty container for so many elements.
    pub fn bounded(capacity: usize) -> Self {
        Container { capacity: Some(capacity), discipline: PhantomData }
    }
}

impl<V: Datum, D: Discipline<V>> Model for Container<V, D> {
    /// The elements, the next to be removed first.
    type State = VecDeque<V>;
    type Op = ContainerOp<V>;
    type Ret = ContainerRet<V>;

    fn init(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn step(&self, state: &VecDeque<V>, op: &Self::Op, ret: Option<&Self::Ret>, next: &mut Next<VecDeque<V>>) {
        let full = self.capacity.is_some_and(|capacity| state.len() >= capacity);
        match (op, ret) {
            (ContainerOp::Insert(value), None | Some(ContainerRet::Inserted)) if !full => {
                D::insert(next.copy(state), value.clone());
            }
            (ContainerOp::Insert(_), None | Some(ContainerRet::Full)) => next.unchanged_if(full),
            (ContainerOp::Remove, Some(ContainerRet::Empty)) => next.unchanged_if(state.is_empty()),
            (ContainerOp::Remove, Some(ContainerRet::Removed(value))) if state.front() == Some(value) => {
                next.copy(state).pop_front();
            }
            (ContainerOp::Remove, None) if state.is_empty() => next.unchanged(),
            (ContainerOp::Remove, None) => drop(next.copy(state).pop_front()),
            _ => {}
        }
    }

    fn observer(&self, _: &Self::Op, ret: Option<&Self::Ret>) -> bool {
        matches!(ret, Some(ContainerRet::Full | ContainerRet::Empty))
    }

    fn hopeless<'a, I>(&self, state: &VecDeque<V>, op: &'a Self::Op, ret: &'a Self::Ret, others: I) -> bool
    where
        I: Iterator<Item = Call<'a, Self>> + Clone,
    {
        let removes = |value: &V| {
            others.clone().any(|(other, ret)| match (other, ret) {
                (ContainerOp::Remove, None) => true,
                (_, Some(ContainerRet::Removed(removed))) => removed == value,
                _ => false,
            })
        };
        match (op, ret) {
            (ContainerOp::Remove, ContainerRet::Empty) => state.iter().any(|value| !removes(value)),
            (ContainerOp::Remove, ContainerRet::Removed(wanted)) => {
                let inserted = |(other, _): Call<'a, Self>| matches!(other, ContainerOp::Insert(v) if v == wanted);
                let there = state.iter().position(|value| value == wanted);
                let reachable = there.is_some_and(|at| state.iter().take(at).all(removes));
                let overtaken = |first: &V| D::overtakes(first, wanted) || removes(first);
                !(reachable || others.clone().any(inserted) && state.iter().all(overtaken))
            }
            _ => false,
        }
    }

    fn heap(&self, state: &VecDeque<V>) -> usize {
        state.len() * size_of::<V>()
    }

    fn explain(&self, state: &VecDeque<V>, op: &Self::Op, _: &Self::Ret) -> String {
        match (op, state.front()) {
            (ContainerOp::Remove, None) => "it is empty".to_owned(),
            (ContainerOp::Remove, Some(first)) => format!("{first:?} is next, it holds {state:?}"),
            (ContainerOp::Insert(_), _) => format!("it holds {} elements", state.len()),
        }
    }

    fn describe(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> String {
        let text = match op {
            ContainerOp::Insert(value) => format!("{} {value:?}", D::WORDS.0),
            ContainerOp::Remove => D::WORDS.1.to_owned(),
        };
        match ret {
            None => text + " → ?",
            Some(ContainerRet::Inserted) => text,
            Some(ContainerRet::Full) => text + " → full",
            Some(ContainerRet::Removed(value)) => format!("{text} → {value:?}"),
            Some(ContainerRet::Empty) => text + " → empty",
        }
    }

    fn shape(&self) -> Shape<'_> {
        if self.capacity.is_none() { D::shape() } else { Shape::Generic }
    }

    fn access<'a>(&self, op: &'a Self::Op, ret: Option<&'a Self::Ret>) -> Access<'a> {
        let token = match (op, ret) {
            (ContainerOp::Insert(value), None | Some(ContainerRet::Inserted)) => value.token().map(Access::Insert),
            (ContainerOp::Remove, Some(ContainerRet::Removed(value))) => {
                value.token().map(|token| Access::Remove(Some(token)))
            }
            (ContainerOp::Remove, Some(ContainerRet::Empty)) => Some(Access::Remove(None)),
            (ContainerOp::Remove, None) => Some(Access::RemoveUnknown),
            _ => None,
        };
        token.unwrap_or(Access::Other)
    }
}
